"""Recordings that this project made of single rules: flags of reservations, a QOS that makes no plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.slurm_oracle.cases import Case, Run, load_case
from tests.slurm_oracle.engine import play_engine
from tests.slurm_oracle.figures import Difference, compare
from tests.slurm_oracle.own_recordings import PHASES

NAMES = ("N1_noreserve", "V1_reservation_flags")

Found = tuple[Run, str, int, Difference]
"""A recording, the phase, and how far the engine is from it."""


def nearest(name: str) -> Found:
    """The recording and the phase that the engine comes nearest to."""
    return min(_plays(load_case(name)), key=_distance)


def _distance(found: Found) -> tuple[bool, float, float]:
    apart = found[3]
    return not apart.states_equal, apart.worst, apart.p90


def _plays(case: Case) -> Iterator[Found]:
    for run in case.runs:
        timed = replace(case, jobs=[job | {"runtime": _ran_s(run, job)} for job in case.jobs])
        for first, start in PHASES:
            since = min(job["submit"] for job in case.jobs) - start
            fates = play_engine(timed, run, looks_first=first, starts_before_s=since)
            yield run, first, start, compare({fate[0]: fate for fate in fates}, run)


def _ran_s(run: Run, job: dict) -> int:
    """How long a job ran in the recording; its run time if it did not."""
    _, state, start, end = run.fates.get(job["id"], (0, "", None, None))
    return max(end - start, 1) if state == "COMPLETED" else job["runtime"]


def rules_table() -> str:
    head = "| case | jobs | looks first | end states | pairs in the same order, % | median | p90 | worst |"
    return "\n".join([head, f"|---|--:|---|---|{'--:|' * 4}", *map(rules_row, NAMES)])


def rules_row(name: str) -> str:
    run, first, start, found = nearest(name)
    order = 100 * (1 - found.inversions / found.pairs)
    states = "the same" if found.states_equal else "**differ**"
    cells = [f"`{run.name}`", str(found.jobs), f"{first}, daemon at {start}", states]
    figures = (order, found.median, found.p90, found.worst)
    return f"| {' | '.join([*cells, *(f'{figure:.1f}' for figure in figures)])} |"
