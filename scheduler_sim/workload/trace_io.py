"""Reading and writing job traces by the suffix of their name."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.table import Workload

FORMATS = ("swf", "mwf", "parquet", "csv")


def read_trace(path: str | Path, format: str | None = None) -> Workload:
    """Read a trace as a :class:`Workload`; the suffix tells the format unless it is given."""
    kind = trace_format(path, format)
    if kind == "swf":
        from scheduler_sim.workload.swf import read_swf

        return read_swf(path)
    if kind == "mwf":
        from scheduler_sim.workload.mwf import read_mwf

        return read_mwf(path)
    raise TraceError(f"{kind} is not read yet", file=path)


def trace_format(path: str | Path, format: str | None = None) -> str:
    """Return the format of a trace: the one given, else by its suffix (``.gz`` aside)."""
    suffixes = [suffix.lower().lstrip(".") for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == "gz":
        suffixes.pop()
    kind = format.lower() if format else (suffixes[-1] if suffixes else "")
    if kind not in FORMATS:
        raise TraceError(
            "unknown trace format",
            file=path,
            found=format or "".join(Path(path).suffixes),
            allowed=", ".join(f".{name}" for name in FORMATS)
            + " (.swf and .mwf also with .gz), or a format given",
        )
    return kind
