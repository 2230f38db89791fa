"""The table of the recordings with preemption: last runs of jobs, and which were preempted or suspended."""

from __future__ import annotations

from statistics import mean, median

from tests.slurm_oracle.cases import Case, Fate, Run, load_case
from tests.slurm_oracle.figures import count_inversions, quantile
from tests.slurm_oracle.phases import PHASES, UNFITTED
from tests.slurm_oracle.preempting import (
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
    " | nothing fitted: order, % | median | p90"
    " | Slurm against itself: order, % | median | p90 | worst | preempted | meets |"
)


def preempted_table() -> str:
    lines = [HEAD, f"|---|--:|---|---|{'--:|' * 13}---|"]
    return "\n".join(lines + [preempted_row(name) for name in PREEMPTING])


def preempted_row(name: str) -> str:
    """The recording, and the phase of the daemon's threads, that the engine comes nearest to."""
    case = load_case(name)
    played = {(run.name, phase): engine_outcome(case, run, phase) for run in case.runs for phase in PHASES}
    run, phase = min(
        ((run, phase) for phase in PHASES for run in case.runs),
        key=lambda one: _distance(case, played[one[0].name, one[1]], recorded_outcome(one[0])),
    )
    ours, theirs = played[run.name, phase], recorded_outcome(run)
    fixed = [_figures(played[run.name, UNFITTED], recorded_outcome(run))[:3] for run in case.runs]
    one, other = (recorded_outcome(recording) for recording in case.runs)
    cells = [
        f"`{run.name}`",
        str(len(theirs.states)),
        str(phase),
        "the same" if same_states(case, ours) else "**differ**",
        *_figures(ours, theirs),
        *(f"{mean(map(float, column)):.1f}" for column in zip(*fixed, strict=True)),
        *_figures(one, other),
        "yes" if is_met(case, ours, theirs) else "**no**",
    ]
    return f"| {' | '.join(cells)} |"


def _distance(case: Case, ours: Outcome, theirs: Outcome) -> tuple[bool, float, float]:
    gaps = last_gaps(ours, theirs)
    return not is_met(case, ours, theirs), median(gaps) + quantile(gaps, 0.9), max(gaps)


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
