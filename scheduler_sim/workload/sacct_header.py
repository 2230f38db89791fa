"""The header of a ``sacct`` dump: the names of its columns, and what stands between them."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_IDS = ("jobid", "jobidraw")
_LISTED = """
Account AdminComment AllocCPUS AllocGRES AllocNodes AllocTRES AssocID AveCPU AveCPUFreq AveDiskRead
AveDiskWrite AvePages AveRSS AveVMSize BlockID Cluster Comment Constraints ConsumedEnergy
ConsumedEnergyRaw Container CPUTime CPUTimeRAW DBIndex Dependency DerivedExitCode Elapsed ElapsedRaw
Eligible End ExitCode Extra FailedNode Flags GID Group JobID JobIDRaw JobName Layout Licenses
MaxDiskRead MaxDiskReadNode MaxDiskReadTask MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask MaxPages
MaxPagesNode MaxPagesTask MaxRSS MaxRSSNode MaxRSSTask MaxVMSize MaxVMSizeNode MaxVMSizeTask
McsLabel MinCPU MinCPUNode MinCPUTask NCPUS NNodes NodeList NTasks Partition Planned PlannedCPU
PlannedCPURAW Priority QOS QOSRAW QOSREQ Reason ReqCPUFreq ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin
ReqCPUS ReqGRES ReqMem ReqNodes ReqReservation ReqTRES Reservation ReservationId Reserved Restarts
ResvCPU ResvCPURAW SegmentSize SLUID Start State StdErr StdIn StdOut Submit SubmitLine Suspended
SystemComment SystemCPU Timelimit TimelimitRaw TotalCPU TRESUsageInAve TRESUsageInMax
TRESUsageInMaxNode TRESUsageInMaxTask TRESUsageInMin TRESUsageInMinNode TRESUsageInMinTask
TRESUsageInTot TRESUsageOutAve TRESUsageOutMax TRESUsageOutMaxNode TRESUsageOutMaxTask
TRESUsageOutMin TRESUsageOutMinNode TRESUsageOutMinTask TRESUsageOutTot UID User UserCPU WCKey
WCKeyID WorkDir
"""
#: What sacct knows by name, from Slurm 19.05 to 25.11; and dependencies, which people add.
NAMES = tuple(_LISTED.split())
SMALL_NAMES = frozenset(name.lower() for name in NAMES)
_MOST = 0.8
"""The share of names that must be sacct's own for a header to be certainly its."""

_NEEDED = (
    {"state"}, {"submit"}, {"nnodes", "allocnodes", "alloctres", "reqnodes", "reqtres"},
    {"elapsed", "elapsedraw", "end"},
)  # fmt: skip
_BETWEEN = re.compile(r'^"?[A-Za-z][A-Za-z0-9]*"?([^\w"]{1,8})"?[A-Za-z]')
_QUOTED_BY = (",", ";", "\t")
"""Separators of programs that put quotation marks around a text with one in it."""

_DASHES = re.compile(rb"\s*-{2,}(?:\s+-+)*\s*")


@dataclass(frozen=True)
class Header:
    """Names of columns, as they are printed, and what stands between them; nothing: so many characters each.

    Attributes
    ----------
    widths : where columns of fixed width begin and end, in bytes
    """

    names: tuple[str, ...]
    separator: str
    widths: tuple[tuple[int, int], ...] = ()

    @property
    def may_quote(self) -> bool:
        """Whether texts with the separator in them may stand between quotation marks."""
        return self.separator in _QUOTED_BY

    def is_spelt_as_sacct(self) -> bool:
        """Whether the names are those of sacct, which always spells them alike, and not of any table."""
        named = [name for name in self.names if name]
        exactly = sum(name in NAMES for name in named)
        return exactly >= _MOST * len(named) and not {"JobID", "JobIDRaw"}.isdisjoint(named)

    def has_all_of_sacct(self) -> bool:
        """Whether the names are those of sacct in any spelling, and all are there that a job needs."""
        small = {name.lower() for name in self.names if name}
        about = sum(name in SMALL_NAMES for name in small)
        return about >= _MOST * len(small) and all(either & small for either in _NEEDED)


def header_in(line: bytes, below: bytes = b"") -> Header | None:
    """Return the header that a line is, None for any other: a job id among two or more names.

    Parameters
    ----------
    below : the line under it; where that consists of dashes, columns have fixed widths
    """
    text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
    if _DASHES.fullmatch(below.rstrip(b"\r")):
        spans = tuple(match.span() for match in re.finditer(rb"-+", below))
        names = tuple(line[start:end].decode("utf-8", "replace").strip() for start, end in spans)
        return Header(names, "", spans) if _has_id(names) and len(names) > 1 else None
    ways = [Header(split(text, separator), separator) for separator in _separators(text)]
    found = max(ways, key=lambda header: len(header.names), default=None)
    return found if found is not None and len(found.names) > 1 and _has_id(found.names) else None


def _separators(text: str) -> Iterator[str]:
    """Yield what may stand between names, the likeliest first."""
    match = _BETWEEN.match(text)
    if match is not None and match[1].strip(" "):
        yield match[1]
    yield from (one for one in "|\t,;" if one in text)


def split(text: str, separator: str) -> tuple[str, ...]:
    """Return the fields of a line, those between quotation marks as they are inside."""
    if separator in _QUOTED_BY and '"' in text:
        try:
            return tuple(word.strip() for word in next(csv.reader([text], delimiter=separator)))
        except (csv.Error, StopIteration):
            pass
    return tuple(word.strip() for word in text.split(separator))


def _has_id(names: Collection[str]) -> bool:
    return any(name.lower() in _IDS for name in names)
