"""Formats of traces, and how files of such are called."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.output.packed import packing_named

TABLES = {"csv": "csv", "tsv": "csv", "parquet": "parquet", "jsonl": "jsonl", "ndjson": "jsonl"}
"""Formats of tables, by how such files are called, ``.gz`` and ``.zst`` aside."""

FORMATS = tuple(dict.fromkeys(TABLES.values()))
"""Each of them once."""

_OTHERS = {
    "swf": "swf", "mwf": "mwf", "sacct": "sacct", "psv": "sacct", "events": "slurm-sim-events",
}  # fmt: skip


def format_named(path: str | Path) -> str | None:
    """Return which format the name of a file tells, None if none."""
    suffixes = [suffix.lower().lstrip(".") for suffix in Path(path).suffixes]
    packed = bool(suffixes) and packing_named(path) is not None
    suffixes = suffixes[:-1] if packed else suffixes
    kind = (TABLES | _OTHERS).get(suffixes[-1]) if suffixes else None
    return None if packed and kind == "parquet" else kind  # which packs by itself


def table_kind(path: str | Path) -> str | None:
    """Return which format of tables the name of a file tells, None if none of them."""
    kind = format_named(path)
    return kind if kind in FORMATS else None
