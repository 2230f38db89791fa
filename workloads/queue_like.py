"""A made-up dump of squeue: the site of ``sacct_like.py`` on Thursday at 14:00.

``python workloads/queue_like.py [FILE]`` writes ``workloads/sample-squeue.txt``, or the file given, from
``workloads/sample-sacct.txt``: what ran and waited then by that dump, as squeue would have listed it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

SAMPLE = Path(__file__).parent / "sample-sacct.txt"
QUEUE = Path(__file__).parent / "sample-squeue.txt"
ASKED_AT = "2026-03-05T14:00:00"
HEADER = (
    "JOBID|USER|ACCOUNT|QOS|PARTITION|STATE|TIME|START_TIME|TIME_LIMIT|NODES|CPUS|SUBMIT_TIME|REASON|NAME"
)

LABEL = "# Made up by workloads/queue_like.py: no site, user or job in here is real.\n"


def rows_of(sample: Path = SAMPLE) -> Iterator[dict[str, str]]:
    """Yield the jobs of the dump of sacct, a text by column."""
    header, *lines = [line for line in sample.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    for line in lines:
        yield dict(zip(header.split("|"), line.split("|"), strict=True))


def main(path: str | Path = QUEUE) -> None:
    """Write what squeue would have listed at ``ASKED_AT``."""
    lines = [line for job in rows_of() if (line := _line(job)) is not None]
    Path(path).write_text(LABEL + "\n".join([HEADER, *lines, ""]), encoding="utf-8")


def _line(job: dict[str, str]) -> str | None:
    """Return the line of a job; None of one that was not there. Texts of times are ordered as times are."""
    start, end = job["Start"], job["End"]
    withdrawn = start == "Unknown" and job["State"].startswith("CANCELLED")
    if job["Submit"] > ASKED_AT or end <= ASKED_AT or withdrawn:
        return None
    runs = start <= ASKED_AT
    ran = int((_moment(ASKED_AT) - _moment(start)).total_seconds()) if runs else 0
    if runs:
        reason = "None"
    elif job["Eligible"] > ASKED_AT:
        reason = "Dependency"
    else:
        reason = "Resources"
    fields = (
        job["JobID"],
        *(job[name] for name in ("User", "Account", "QOS", "Partition")),
        "RUNNING" if runs else "PENDING",
        _clock(ran),
        start if runs else "N/A",
        job["Timelimit"],
        *(job[name] for name in ("NNodes", "NCPUS", "Submit")),
        reason,
        job["JobName"],
    )
    return "|".join(fields)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _clock(seconds: int) -> str:
    """Return how long it has run, as squeue prints it: ``5:07``, ``2:05:07``, ``1-02:05:07``."""
    days, rest = divmod(seconds, 86400)
    hours, minutes, left = rest // 3600, rest // 60 % 60, rest % 60
    if days:
        return f"{days}-{hours:02}:{minutes:02}:{left:02}"
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


if __name__ == "__main__":
    main(*sys.argv[1:2])
