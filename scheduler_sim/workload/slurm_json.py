"""What Slurm's commands print with ``--json``: a mapping with a list of jobs in it.

Layouts: those of the data parsers of Slurm 21.08 to 26.05. A number is a number, or since 23.02 a mapping
with ``set``, ``infinite`` and ``number``; states and words of exit codes are texts, or since 23.11 lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scheduler_sim.errors import TraceError
from scheduler_sim.output.packed import BrokenFile, packing_of
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.memory import check_memory

_BYTES_A_BYTE = 8  # of memory, of the text
_PIECE = 1 << 20
_NO_VALUE = 0xFFFF_FFFE  # and one more is INFINITE
_JOBS = re.compile(rb'"jobs"\s*:\s*\[')

Job = dict[str, Any]


def is_json_of_jobs(start: bytes) -> bool:
    """Whether a text begins as what ``--json`` prints of jobs: a mapping with a list of jobs in it."""
    return start.lstrip().startswith(b"{") and _JOBS.search(start) is not None


def read_json(path: str | Path, name: str, command: str, key: str) -> dict[str, Any]:
    """Return the mapping that a command printed; each job of its list is one with a ``key`` of the command's.

    Raises TraceError for what is no such text, or has no jobs.
    """
    try:
        said = json.loads(b"".join(_pieces(path, name)))
    except (ValueError, RecursionError) as error:
        raise TraceError(f"cannot be read as JSON: {error!s:.200}", file=name) from None
    except (OSError, BrokenFile) as error:
        raise TraceError(f"cannot be read: {error!s:.200}", file=name) from None
    allowed = f"what {command} --json prints"
    jobs = said.get("jobs") if isinstance(said, dict) else None
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise TraceError("no list of jobs", file=name, allowed=allowed)
    if not jobs:
        raise TraceError("no records", file=name, allowed="at least one job")
    if key not in jobs[0]:
        said = f"jobs without {key}: this may be of another command"
        raise TraceError(said, file=name, found=", ".join(map(str, jobs[0]))[:60], allowed=allowed)
    return dict(said)


def rows_of(
    jobs: Sequence[Job], columns: Sequence[Callable[[Job], Any]], name: str, command: str, left: LeftOut
) -> dict[int, list[str]]:
    """Return a row of texts for each job by its place in the list, from 1.

    Raises TraceError for the first that is not as it must be, if such are not left out.
    """
    rows = {}
    for place, job in enumerate(jobs, 1):
        try:
            rows[place] = [text_of(read(job)) for read in columns]
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            wrong = TraceError(
                f"job {place} of the list cannot be read: {error!s:.80}",
                file=name,
                found=str(job)[:60],
                allowed=f"a job as {command} --json prints it",
            )
            if not left.skips:
                raise wrong from None
            left.add(wrong, kind="a job of the list that cannot be read")
    if not rows:
        raise left.nothing_left(name)
    return rows


def _pieces(path: str | Path, name: str) -> Iterator[bytes]:
    with open(path, "rb") as raw:
        packing = packing_of(raw.read(8))
        raw.seek(0)
        size = 0
        for piece in packing.unpacked(raw, _PIECE) if packing else iter(lambda: raw.read(_PIECE), b""):
            size += len(piece)
            check_memory(size * _BYTES_A_BYTE, name, f"a text of more than {size / 1e6:.0f} MB")
            yield piece


# -- what stands in it


def at(job: Any, *keys: str) -> Any:
    """Return what stands under keys within keys, None where nothing does."""
    for key in keys:
        job = job.get(key) if isinstance(job, dict) else None
    return job


def number_of(said: Any) -> int | None:
    """Return a number, None where none is set, or it is no limit."""
    if isinstance(said, dict):
        if not said.get("set", True) or said.get("infinite"):
            return None
        said = said.get("number")
    if said is None or isinstance(said, bool):
        return None
    number = int(said)
    return None if number in (_NO_VALUE, _NO_VALUE + 1) or number < 0 else number


def word_of(said: Any) -> str:
    """Return a text, or the first of a list."""
    if isinstance(said, list):
        return str(said[0]) if said else ""
    return "" if said is None else str(said)


def plain(*keys: str) -> Callable[[Job], str]:
    """Return what reads the word under keys within keys."""
    return lambda job: word_of(at(job, *keys))


def text_of(value: Any) -> str:
    """Return a text; of nothing an empty one."""
    return "" if value is None else str(value)
