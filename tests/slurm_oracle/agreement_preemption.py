"""The table of the recordings with preemption: last runs of jobs, and which were preempted or suspended."""

from __future__ import annotations

from statistics import median

from tests.slurm_oracle.cases import Case, Fate, Run, load_case
from tests.slurm_oracle.figures import count_inversions, quantile
from tests.slurm_oracle.preempting import (
    PHASES,
    Outcome,
    engine_outcome,
    is_met,
    last_gaps,
    recorded_outcome,
    same_states,
)
from tests.slurm_oracle.second_set import PREEMPTING

HEAD = (
    "| case | jobs | looks first | end states | pairs in the same order, % | median | p90 | worst | preempted"
    " | Slurm against itself: order, % | median | p90 | worst | preempted | meets |"
)


def preempted_table() -> str:
    lines = [HEAD, f"|---|--:|---|---|{'--:|' * 10}---|"]
    return "\n".join(lines + [preempted_row(name) for name in PREEMPTING])


def preempted_row(name: str) -> str:
    """The recording, and the phase of the daemon's threads, that the engine comes nearest to."""
    case = load_case(name)
    met, _, _, run, first = min(
        (_distance(case, run, looks_first, start) for run in case.runs for looks_first, start in PHASES),
        key=lambda found: found[:3],
    )
    ours, theirs = _played(case, run, *first), recorded_outcome(run)
    one, other = (recorded_outcome(recording) for recording in case.runs)
    cells = [
        f"`{run.name}`",
        str(len(theirs.states)),
        f"{_named(first[0])}, daemon at {first[1]}",
        "the same" if same_states(case, ours) else "**differ**",
        *_figures(ours, theirs),
        *_figures(one, other),
        "**no**" if met else "yes",
    ]
    return f"| {' | '.join(cells)} |"


def _distance(
    case: Case, run: Run, looks_first: bool, start: int
) -> tuple[bool, float, float, Run, tuple[bool, int]]:
    ours, theirs = _played(case, run, looks_first, start), recorded_outcome(run)
    gaps = last_gaps(ours, theirs)
    apart = median(gaps) + quantile(gaps, 0.9)
    return not is_met(case, ours, theirs), apart, max(gaps), run, (looks_first, start)


def _played(case: Case, run: Run, looks_first: bool, start: int) -> Outcome:
    return engine_outcome(case, run, _named(looks_first), start)


def _named(backfill_first: bool) -> str:
    return "backfill" if backfill_first else "main"


def _figures(ours: Outcome, theirs: Outcome) -> list[str]:
    gaps = last_gaps(ours, theirs)
    inversions, pairs = count_inversions(_fates(ours), _as_run(theirs))
    figures = (100 * (1 - inversions / pairs), median(gaps), quantile(gaps, 0.9), max(gaps))
    both, either = ours.preempted & theirs.preempted, ours.preempted | theirs.preempted
    return [*(f"{figure:.1f}" for figure in figures), f"{len(both)} of {len(either)}"]


def _fates(found: Outcome) -> dict[int, Fate]:
    """Jobs by the start of the last run."""
    return {job: (job, state, found.starts[job][-1], None) for job, state in found.states.items()}


def _as_run(found: Outcome) -> Run:
    return Run("", 0, 0, {}, {}, _fates(found))
