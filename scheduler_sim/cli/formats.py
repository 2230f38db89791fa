"""What the name of a file tells, and the formats of traces by name, for files whose name does not."""

from __future__ import annotations

import argparse

from scheduler_sim.errors import InputError, did_you_mean

FORMATS = ("swf", "mwf", "parquet", "csv")
SYSTEMS = (".yaml", ".yml", ".conf")
TRACES = (
    ".swf",
    ".mwf",
    ".csv",
    ".tsv",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".sacct",
    ".psv",
    ".txt",
    ".events",
)
"""Endings of names that tell a system from a trace, ``.gz`` and ``.zst`` aside."""

READABLE = (*FORMATS, "jsonl", "sacct", "slurm-sim-events")


def add_reading(parser: argparse.ArgumentParser, trace: str) -> None:
    """Add the options that say what the trace is, and how it is read."""
    known = ", ".join(READABLE)
    parser.add_argument(
        "--from",
        dest="read_as",
        metavar="F",
        help=f"format of {trace}, if its first lines do not show it: {known}; or a named source of public"
        " data, such as pm100 (the reference page on tables and named sources lists them)",
    )
    parser.add_argument(
        "--columns",
        metavar="FILE",
        help=f"column map (YAML): from columns of {trace} to ours; with a named source, only what differs"
        " from its own map",
    )
    parser.add_argument(
        "--on-error",
        metavar="WHAT",
        default="stop",
        help="stop (default) at lines or rows that cannot be read, in run also at jobs that cannot be"
        " simulated, or skip and count them",
    )


def format_named(option: str, name: str | None, formats: tuple[str, ...] = READABLE) -> str | None:
    """Return the format that an option gives, None without. Raises InputError for an unknown one."""
    if name is None or name.lower() in formats:
        return name
    if formats == READABLE:
        from scheduler_sim.loaders.sources import source_names

        formats = (*formats, *source_names())
        if name.lower() in formats:
            return name
    raise InputError(
        f"{option}: unknown format {name!r}; allowed: {', '.join(formats)}{did_you_mean(name, formats)}"
    )
