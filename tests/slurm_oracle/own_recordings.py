"""Recordings that this project made itself, and ships: jobs that take turns on shared cores.

Made with ``tests.slurm_oracle.recording``. Jobs count the time in which they work. What a machine adds to it,
in launching and stopping them, is not a matter of rules: each job works as long here as in the recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from statistics import median

from tests.slurm_oracle.cases import Fate, Run, read_json
from tests.slurm_oracle.figures import quantile
from tests.slurm_oracle.second_set import OWN
from tests.slurm_oracle.shared_engine import play_shared_engine
from tests.slurm_oracle.shared_nodes import SharedCase, load_shared

SUSPENDED = "SUSPENDED"
PHASES = [(first, start) for first in ("main", "backfill") for start in (-10, -9, -8)]
"""Which scheduler looks first in a second, and in which the daemon starts: no recording tells."""

CLOSE_S = 5
"""So near every start and every end of a case must be to one of its recordings."""


TURNS = (
    *("G1_slices_of_nodes", "G2_slices_of_cores", "G3_slices_and_tiers", "G4_tiers_on_shared_nodes"),
    *("G5_oversubscribe_yes", "HG1_slices", "Y1_yes_alone"),
)
"""Cases in which jobs have the same cores."""


def load_own(name: str) -> SharedCase:
    """A case with its recordings."""
    return load_shared(name, OWN)


@dataclass(frozen=True)
class Gaps:
    """Differences from a recording, job by job, s; ``first``, ``start`` : the phase."""

    run: str
    first: str
    start: int
    starts: list[int]
    ends: list[int]

    @property
    def worst(self) -> int:
        return max(*self.starts, *self.ends)

    def figures(self) -> list[str]:
        """Median, p90 and the worst of starts, then of ends."""
        parts = (self.starts, self.ends)
        return [f"{value:.1f}" for gaps in parts for value in (median(gaps), quantile(gaps, 0.9), max(gaps))]


@cache
def nearest(name: str) -> Gaps:
    """The recording and the phase of a case that the engine comes nearest to."""
    return min(
        _plays(load_own(name)), key=lambda gaps: (gaps.worst > CLOSE_S, sum(gaps.starts) + sum(gaps.ends))
    )


def _plays(case: SharedCase) -> Iterator[Gaps]:
    for run in case.runs:
        timed = replace(case, jobs=[job | {"runtime": worked_s(run)[job["id"]]} for job in case.jobs])
        for first, start in PHASES:
            since = min(job["submit"] for job in case.jobs) - start
            played = play_shared_engine(timed, run, looks_first=first, starts_before_s=since)
            yield _gaps(run, first, start, {fate[0]: fate for fate in played})


def _gaps(run: Run, first: str, start: int, ours: dict[int, Fate]) -> Gaps:
    pairs = [(ours[job], theirs) for job, theirs in run.fates.items()]
    assert all(mine[1] == theirs[1] for mine, theirs in pairs)
    apart = [[abs(mine[at] - theirs[at]) for mine, theirs in pairs] for at in (2, 3)]
    return Gaps(run.name, first, start, *apart)


def between(case: SharedCase) -> Gaps:
    """What Slurm itself does differently the second time."""
    one, other = case.runs
    return _gaps(other, "", 0, one.fates)


def worked_s(run: Run) -> dict[int, int]:
    """Seconds from start to end of each job, without those in which squeue showed it suspended."""
    found = {}
    for job, (_, _, start, end) in run.fates.items():
        changes = [(second, state) for second, of, state in _changes(run.name) if of == job]
        ends = [*(second for second, _ in changes[1:]), end][: len(changes)]
        still = sum(
            until - second for (second, state), until in zip(changes, ends, strict=True) if state == SUSPENDED
        )
        found[job] = max(end - start - still, 1)
    return found


@cache
def _changes(name: str) -> list[tuple[int, int, str]]:
    """Second, job and new state, of jobs that were suspended at some time."""
    events = read_json(OWN / "out" / f"{name}.out.json.gz")["events"]
    return [(int(second), job, state) for second, job, state, *_ in events]


def turns_table() -> str:
    head = (
        "| case | jobs | looks first | starts: median | p90 | worst | ends: median | p90 | worst"
        " | Slurm against itself, starts: median | p90 | worst | ends: median | p90 | worst |"
    )
    return "\n".join([head, f"|---|--:|---|{'--:|' * 12}", *map(turns_row, TURNS)])


def turns_row(name: str) -> str:
    case = load_own(name)
    found = nearest(name)
    cells = [f"`{found.run}`", str(len(case.jobs)), f"{found.first}, daemon at {found.start}"]
    return f"| {' | '.join([*cells, *found.figures(), *between(case).figures()])} |"
