"""What a file is: its first lines tell, whatever its name; the name where they do not."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.formats import FORMATS, format_named
from scheduler_sim.output.rule import head
from scheduler_sim.workload.first_lines import told_by_first_lines

_SEPARATORS = ",;\t|"
_PBS = re.compile(rb"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];")
_SQUEUE = re.compile(rb"\s*JOBID\s*[|\s]")
_SHOWN = 60
_WORDS = {
    "sacct": "a dump of sacct",
    "swf": "SWF",
    "mwf": "MWF",
    "parquet": "Parquet",
    "jsonl": "JSON lines",
    "csv": "a table",
    "slurm-sim-events": "events of a Slurm simulator",
}


@dataclass(frozen=True)
class Told:
    """The format of a file. ``otherwise`` : that of its name, where its first lines say another."""

    kind: str
    otherwise: str = ""

    @property
    def note(self) -> str:
        """What there is to say where name and first lines disagree; else nothing."""
        if not self.otherwise:
            return ""
        return (
            f"read as {_WORDS[self.kind]}, which its first lines are, though its name says"
            f" {_WORDS[self.otherwise]}; --from {self.otherwise} goes by the name"
        )


def told_by(path: str | Path) -> Told:
    """Return the format of a trace by its first lines, else by its name.

    A pipe or a device is known by its name alone. Raises TraceError where neither tells, with what it may
    be; of a file that is not there it says so.
    """
    named = format_named(path)
    start = head(Path(path)) if os.path.isfile(path) else b""
    found = told_by_first_lines(start)
    if found == "parquet" and not _is_plain(path):
        found = None
    if found is None and named not in (*FORMATS, "sacct") and _is_table(start):
        found = "csv"
    if found is None or found == named:
        if named is None:
            raise _unknown(path, start)
        return Told(named)
    return Told(found, named or "")


def _is_plain(path: str | Path) -> bool:
    """Whether a file is not packed."""
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


def _first_row(start: bytes) -> list[str]:
    line = next((line for line in start.splitlines() if line.strip()), b"")
    text = line.decode("utf-8-sig", "replace")
    try:
        return next(csv.reader([text], delimiter=max(_SEPARATORS, key=text.count)), [])
    except csv.Error:
        return []


def _is_table(start: bytes) -> bool:
    """Whether the first line has names of columns, among them all that are needed."""
    from scheduler_sim.loaders.guess import is_guessable

    names = [name.strip() for name in _first_row(start)]
    return len(names) > 1 and len(set(names)) == len(names) and is_guessable(names)


def _unknown(path: str | Path, start: bytes) -> TraceError:
    """Return the error for a file of which nothing tells what it is."""
    if not os.path.exists(path):  # of a name that is too long, too, it says no
        return TraceError("no such file", file=path)
    first = next((line for line in start.splitlines() if line.strip()), b"")
    likely = "; ".join(_likely(start, first))
    formats = "swf, mwf, csv, jsonl, parquet, sacct, slurm-sim-events, or a source of public data such as pbs"
    return TraceError(
        "unknown trace format: neither its name nor its first line tells",
        file=path,
        found=first[:_SHOWN].decode("utf-8", "backslashreplace") or Path(path).name,
        allowed=f"{likely + '; or else ' if likely else ''}--from with the format: {formats}",
    )


def _likely(start: bytes, first: bytes) -> Iterator[str]:
    """Yield what the file may be, each with the option that reads it."""
    words = first.split()
    if _PBS.match(first):
        yield "this looks like an accounting log of PBS: --from pbs"
    if start.lstrip().startswith(b"["):
        yield "this is a list in JSON, as Philly's job log: --from philly; a table has an object a line"
    if _SQUEUE.match(first):
        yield "this looks like the output of squeue, which predict takes with --queue"
    if len(words) > 1 and all(re.fullmatch(rb"-?[\d.]+", word) for word in words):
        yield f"{len(words)} numbers may be a record of SWF, which has 18 fields or more: --from swf"
    if len(first.split(b";")) > 30:
        yield "this may be MWF, which has 40 to 42 fields between semicolons: --from mwf"
    if (columns := len(_first_row(start))) > 1 and not words[1:]:
        yield f"a table of {columns} columns: --from csv with --columns MAP.yaml, which describes them"
