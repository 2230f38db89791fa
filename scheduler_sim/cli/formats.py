"""What the name of a file tells, and the formats of traces by name, for files whose name does not."""

from __future__ import annotations

import argparse

from scheduler_sim.errors import InputError, did_you_mean

FORMATS = ("swf", "mwf", "parquet", "csv")
SYSTEMS = (".yaml", ".yml", ".conf")
TRACES = (".swf", ".mwf", ".csv", ".parquet", ".sacct", ".psv", ".txt", ".events")
"""Endings of names that tell a system from a trace, ``.gz`` and ``.zst`` aside."""

READABLE = (*FORMATS, "sacct", "slurm-sim-events")


def add_from(parser: argparse.ArgumentParser, trace: str) -> None:
    """Add the option that says what the trace is."""
    known = ", ".join(READABLE)
    told = f"format of {trace}, where its name does not tell: {known}"
    parser.add_argument("--from", dest="read_as", metavar="F", help=told)


def format_named(option: str, name: str | None, formats: tuple[str, ...] = READABLE) -> str | None:
    """Return the format that an option gives, None without. Raises InputError for an unknown one."""
    if name is None or name.lower() in formats:
        return name
    raise InputError(
        f"{option}: unknown format {name!r}; allowed: {', '.join(formats)}{did_you_mean(name, formats)}"
    )
