"""Reading and writing job traces in our own formats, chosen by the suffix of their name."""

from __future__ import annotations

import os
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

#: How dumps of sacct are called; as ``.txt``, too, if they begin with the header of one.
SACCT_SUFFIXES = ("sacct", "psv")
#: How files of events of the Slurm simulators are called.
EVENTS_SUFFIX = "events"
_TEXT_FORMATS = ("swf", "mwf", "csv")


def read_native(path: str | Path, format: str | None = None, on_error: str = "stop") -> Workload:
    """Read a trace in a format that holds our columns; the suffix tells the format unless it is given.

    ``on_error`` is ``stop``, or ``skip`` to leave out and count lines that cannot be read (of ``LINES``).
    Raises TraceError for anything that cannot be read as that format.
    """
    kind = trace_format(path, format)
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

    kind = trace_format(path, format, writing=True)
    with whole_file(path, None if force else TRACES[kind]) as out:
        notes: list[str] = _function(_WRITERS[kind])(workload, out, str(path))
        return notes


def trace_format(path: str | Path, format: str | None = None, *, writing: bool = False) -> str:
    """Return the format of a trace: the one given, else by its suffix (``.gz`` and ``.zst`` aside).

    Of ``.txt`` only a dump of sacct tells by itself what it is. Raises TraceError for any other,
    and for sacct where ``writing``, as it is only read; of a file that is not there it says so.
    """
    suffixes = [suffix.lower().lstrip(".") for suffix in Path(path).suffixes]
    packed = bool(suffixes) and packing_named(path) is not None
    suffixes = suffixes[:-1] if packed else suffixes
    suffix = suffixes[-1] if suffixes else ""
    kind = format.lower() if format else suffix
    if not format and (suffix in SACCT_SUFFIXES or (suffix == "txt" and not writing and _is_sacct(path))):
        kind = "sacct"
    if not format and suffix == EVENTS_SUFFIX and not writing:
        kind = "slurm-sim-events"
    if kind not in (_WRITERS if writing else _READERS) or (packed and kind == "parquet"):
        if not (writing or format or os.path.exists(path)):  # of a name that is too long, too, it says no
            raise TraceError("no such file", file=path)
        only_read = () if writing else ("tsv", "jsonl", *SACCT_SUFFIXES, EVENTS_SUFFIX)
        suffixes = [f".{name}" for name in (*_TEXT_FORMATS, *only_read)]
        named = "the format" if writing else "the format, or a source of public data such as pbs,"
        raise TraceError(
            "sacct is read, not written" if kind == "sacct" else "unknown trace format",
            file=path,
            found=format or Path(path).name,
            allowed=f"{', '.join(suffixes)}, each also .gz or .zst, or .parquet; or {named} given by name",
        )
    return kind


def _is_sacct(path: str | Path) -> bool:
    from scheduler_sim.workload.sacct_lines import has_header

    return has_header(path)


def _function(home: str) -> Any:
    file, _, name = home.rpartition(".")
    return getattr(import_module(f"{__package__}.{file}"), name)
