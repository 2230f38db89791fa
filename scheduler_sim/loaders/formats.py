"""Formats of tables, and how files of such are called."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.output.packed import packing_named

TABLES = {"csv": "csv", "tsv": "csv", "parquet": "parquet", "jsonl": "jsonl", "ndjson": "jsonl"}
"""Formats of tables, by how such files are called, ``.gz`` and ``.zst`` aside."""


FORMATS = tuple(dict.fromkeys(TABLES.values()))
"""Each of them once."""


def table_kind(path: str | Path) -> str | None:
    """Return which format of tables the name of a file tells, None if none of them."""
    suffixes = [suffix.lower().lstrip(".") for suffix in Path(path).suffixes]
    packed = bool(suffixes) and packing_named(path) is not None
    suffixes = suffixes[:-1] if packed else suffixes
    kind = TABLES.get(suffixes[-1]) if suffixes else None
    return None if packed and kind == "parquet" else kind  # which packs by itself
