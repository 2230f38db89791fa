"""Reading and writing job traces by the suffix of their name."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.errors import TraceError
from scheduler_sim.workload import mwf, mwf_writer, swf, swf_writer, table_files
from scheduler_sim.workload.table import Workload

_READERS = {
    "swf": swf.read_swf,
    "mwf": mwf.read_mwf,
    "parquet": table_files.read_parquet,
    "csv": table_files.read_csv,
}
_WRITERS = {
    "swf": swf_writer.write_swf,
    "mwf": mwf_writer.write_mwf,
    "parquet": table_files.write_parquet,
    "csv": table_files.write_csv,
}

FORMATS = tuple(_READERS)


def read_trace(path: str | Path, format: str | None = None) -> Workload:
    """Read a trace as a :class:`Workload`; the suffix tells the format unless it is given.

    Parameters
    ----------
    path : ``.swf``, ``.mwf`` or ``.csv``, each also ``.gz``, or ``.parquet``
    format : ``swf``, ``mwf``, ``csv`` or ``parquet``, where the suffix does not tell

    Raises
    ------
    TraceError
        for anything that cannot be read as that format, dependencies included, with the file,
        line, field, value and what is allowed.
    """
    kind = trace_format(path, format)
    try:
        workload = _READERS[kind](path)
        workload.dependencies()
    except MemoryError:
        raise TraceError("too large for the memory of this machine; split the trace", file=path) from None
    return workload


def write_trace(workload: Workload, path: str | Path, format: str | None = None) -> list[str]:
    """Write a workload, whole or not at all; the suffix tells the format unless it is given.

    A workload read from SWF or MWF goes back to the same format with its header, comments,
    skipped records, field counts and spelling; a file this function wrote comes back byte for
    byte, ``.gz`` too. From one format to the other, what both can say is carried over (see
    the writers of each format); what is lost is said in the notes.

    Returns
    -------
    notes : one sentence for each thing the format has no place for; empty if nothing was lost
    """
    return _WRITERS[trace_format(path, format)](workload, path)


def trace_format(path: str | Path, format: str | None = None) -> str:
    """Return the format of a trace: the one given, else by its suffix (``.gz`` aside)."""
    suffixes = [suffix.lower().lstrip(".") for suffix in Path(path).suffixes]
    packed = bool(suffixes) and suffixes[-1] == "gz"
    suffixes = suffixes[:-1] if packed else suffixes
    kind = format.lower() if format else (suffixes[-1] if suffixes else "")
    if kind not in FORMATS or (packed and kind == "parquet"):
        raise TraceError(
            "unknown trace format",
            file=path,
            found=format or Path(path).name,
            allowed=".swf, .mwf, .csv, each also .gz, or .parquet; or the format given by name",
        )
    return kind
