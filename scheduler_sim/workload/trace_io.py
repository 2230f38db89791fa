"""Reading and writing job traces in our own formats, chosen by the suffix of their name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from scheduler_sim.errors import TraceError
from scheduler_sim.output.packed import packing_named
from scheduler_sim.output.whole import whole_file
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.table import Workload

_READERS = {
    "swf": "swf.read_swf",
    "mwf": "mwf.read_mwf",
    "parquet": "table_files.read_parquet",
    "csv": "table_files.read_csv",
    "sacct": "sacct.read_sacct",
    "slurm-sim-events": "slurm_events.read_slurm_events",
}
"""By format; each is imported for a trace of that format."""

NATIVE = tuple(_READERS)
"""Formats that hold our columns, by name."""

LINES = ("swf", "mwf", "sacct", "slurm-sim-events")
"""Those whose records are lines, of which some may be left out."""

_WRITERS = {
    "swf": "swf_writer.write_swf",
    "mwf": "mwf_writer.write_mwf",
    "parquet": "table_files.write_parquet",
    "csv": "table_files.write_csv",
}


def read_native(path: str | Path, kind: str, on_error: str = "stop") -> Workload:
    """Read a trace in a format that holds our columns, one of ``NATIVE``.

    ``on_error`` is ``stop``, or ``skip`` to leave out and count lines that cannot be read (of ``LINES``).
    Raises TraceError for anything that cannot be read as that format.
    """
    reader = _function(_READERS[kind])
    workload: Workload = (
        reader(path, LeftOut(skips=True)) if on_error == "skip" and kind in LINES else reader(path)
    )
    return workload


def write_trace(
    workload: Workload, path: str | Path, format: str | None = None, *, force: bool = True
) -> list[str]:
    """Write a workload, as a whole or not at all; the suffix determines the format unless it is given.

    An existing regular file is replaced, without ``force`` only if it has the same format; a device or pipe
    is written to, a link is followed.

    A workload read from SWF or MWF is written in the same format with its header, comments, skipped records,
    field counts and spelling; a file written by this function is reproduced byte for byte, also compressed.
    From one format to another, what both can express is carried over (see the writers of each format); the
    notes list what is lost.

    Returns
    -------
    notes : one sentence for each thing that the format cannot express; empty if nothing was lost
    """
    from scheduler_sim.workload.kinds import TRACES

    kind = trace_format(path, format)
    with whole_file(path, None if force else TRACES[kind]) as out:
        notes: list[str] = _function(_WRITERS[kind])(workload, out, str(path))
        return notes


def trace_format(path: str | Path, format: str | None = None) -> str:
    """Return the format in which a trace is written: the one given, else by its suffix.

    ``.gz`` and ``.zst`` aside. Raises TraceError for any other, and for sacct, as it is only read.
    """
    suffixes = [suffix.lower().lstrip(".") for suffix in Path(path).suffixes]
    packed = bool(suffixes) and packing_named(path) is not None
    suffixes = suffixes[:-1] if packed else suffixes
    kind = format.lower() if format else suffixes[-1] if suffixes else ""
    if kind not in _WRITERS or (packed and kind == "parquet"):
        raise TraceError(
            "sacct is read, not written" if kind in ("sacct", "psv") else "unknown trace format",
            file=path,
            found=format or Path(path).name,
            allowed=".swf, .mwf, .csv, each also .gz or .zst, or .parquet; or the format given by name",
        )
    return kind


def _function(home: str) -> Any:
    file, _, name = home.rpartition(".")
    return getattr(import_module(f"{__package__}.{file}"), name)
