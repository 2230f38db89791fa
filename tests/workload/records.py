"""Records of the two formats for tests: a plain one, with some positions changed."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa


def swf(changes: Mapping[int, object] | None = None) -> str:
    """Return an SWF record: job 1, submitted at 10, 60 s on 4 processors, limit 100; positions changed."""
    fields = [
        "1",
        "10",
        "-1",
        "60",
        "4",
        "-1",
        "-1",
        "4",
        "100",
        "-1",
        "1",
        "7",
        "8",
        "9",
        "2",
        "-1",
        "-1",
        "-1",
    ]
    return " ".join(_changed(fields, changes or {}))


def mwf(changes: Mapping[int, object] | None = None, count: int = 42) -> str:
    """Return an MWF record: job 1 on 4 nodes of CM, submitted at 10, 60 s, limit 100; positions changed."""
    fields = ["-1"] * 42
    start = {
        1: 1,
        2: 1,
        3: "job1",
        4: 10,
        6: 100,
        8: 1,
        9: "c1",
        11: 60,
        12: 0,
        14: "CM",
        15: 4,
        16: 1,
        17: 1,
        40: "NA",
    }
    fields = _changed(fields, {**start, **(changes or {})})
    kept = {42: range(42), 41: range(41), 40: (place for place in range(42) if place not in (19, 33))}[count]
    return ";".join(fields[place] for place in kept)


def write(path: Path, lines: Iterable[str] | bytes) -> Path:
    """Write lines, or bytes as they are, packed if the name ends so."""
    data = lines if isinstance(lines, bytes) else "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(packed(data, path.suffix))
    return path


def packed(data: bytes, suffix: str) -> bytes:
    """Return what a file whose name ends so has to hold."""
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    return pa.Codec("zstd").compress(data, asbytes=True) if suffix == ".zst" else data


def _changed(fields: list[str], changes: Mapping[int, object]) -> list[str]:
    for position, value in changes.items():
        fields[position - 1] = str(value)
    return fields
