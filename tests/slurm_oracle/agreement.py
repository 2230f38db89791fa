"""The tables of docs/slurm-agreement.md: `python -m tests.slurm_oracle.agreement docs/slurm-agreement.md`.

Each recorded case is played by the engine with either scheduler looking first within a second; the row is
that of the recorded run and the order that it comes nearest to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from scheduler_sim import Policy, Simulation, System, Workload
from tests.conftest import ROOT
from tests.slurm_oracle.agreement_preemption import preempted_table
from tests.slurm_oracle.cases import Case, Fate, Run, Simulated, case_names, load_case, load_simulated
from tests.slurm_oracle.engine import play_engine
from tests.slurm_oracle.figures import Difference, between_runs, compare, meets, start_gaps
from tests.slurm_oracle.figures import mean_waits as waits_of
from tests.slurm_oracle.own_recordings import turns_table
from tests.slurm_oracle.own_rules import rules_table
from tests.slurm_oracle.own_topologies import lie_table
from tests.slurm_oracle.phases import UNFITTED, Phase, phases_of, with_other_waits
from tests.slurm_oracle.second_set import CLAIMED, RESERVING
from tests.slurm_oracle.shared_engine import play_shared_engine
from tests.slurm_oracle.shared_nodes import SharedCase, load_shared, shared_names

SIMULATOR = ROOT / "configs" / "policies" / "slurm-simulator.yaml"
SIMULATED = (
    *("scenario_dep1000", "scenario_het1000", "scenario_het_delay1000"),
    *("d22full", "het", "delays", "delays42"),
)
WITHOUT_MAIN = ("d22full", "scenario_het_delay1000")
"""Recordings in which that simulator's main scheduler started nothing."""
CYCLE_S = 31  # of the simulator's backfill scheduler
_MARKS = re.compile(r"(<!-- (\w+): rendered .*? -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str) -> str:
    """Return the page with its tables made anew."""
    tables = {
        "recorded": partial(recorded_table, recorded_names()),
        "second": partial(recorded_table, second_names()),
        "preempted": preempted_table,
        "turns": turns_table,
        "lie": lie_table,
        "rules": rules_table,
        "simulated": simulated_table,
    }
    return _MARKS.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n\n{found[3]}", page)


def recorded_names() -> list[str]:
    """All cases of the first set."""
    return case_names()


def second_names() -> list[str]:
    """Those of the second set of which starts and end states are all that counts."""
    return sorted((*CLAIMED, *RESERVING))


def recorded_table(names: Sequence[str]) -> str:
    head = "| case | jobs | looks first | end states | pairs in the same order, % | median | p90 | worst"
    head += " | nothing fitted: order, % | median | p90"
    lines = [f"{head} | Slurm against itself: order, % | median | p90 | worst | meets |"]
    lines.append(f"|---|--:|---|---|{'--:|' * 11}---|")
    return "\n".join(lines + [recorded_row(case_named(name)) for name in names])


def case_named(name: str) -> Case:
    """A recorded case, on nodes that its jobs share or have to themselves."""
    return load_shared(name) if name in shared_names() else load_case(name)


def recorded_row(case: Case) -> str:
    """The nearest of all runs and phases, with no phase fitted, and two recordings of the same workload."""
    run, phase, nearest_one = _nearest(case)
    noise = between_runs(case)
    apart = _figures(noise) if noise else [""] * 4
    cells = [
        f"`{run.name}`",
        str(nearest_one.jobs),
        str(phase),
        "the same" if nearest_one.states_equal else "**differ**",
        *_figures(nearest_one),
        *unfitted([_figures(_played(case, run, UNFITTED)) for run in case.runs]),
        *apart,
        "yes" if meets(case, nearest_one) else "**no**",
    ]
    return f"| {' | '.join(cells)} |"


def _nearest(case: Case) -> tuple[Run, Phase, Difference]:
    """The run and phase with the least difference; other waits for main only where more than 1 s is left."""
    usual = phases_of(case)
    found = _nearest_of(case, usual)
    if found[2].worst <= 1:
        return found
    others = _nearest_of(case, with_other_waits(usual))
    return min(found, others, key=lambda one: _distance(case, one[2]))


def _nearest_of(case: Case, phases: Sequence[Phase]) -> tuple[Run, Phase, Difference]:
    tried = [(run, phase, _played(case, run, phase)) for phase in phases for run in case.runs]
    return min(tried, key=lambda one: _distance(case, one[2]))


def _played(case: Case, run: Run, phase: Phase) -> Difference:
    play = play_shared_engine if isinstance(case, SharedCase) else play_engine
    return compare({fate[0]: fate for fate in play(case, run, **phase.keys(case))}, run, case.sure)


def unfitted(rows: Sequence[Sequence[str]]) -> list[str]:
    """The means of order, median and p90 over recordings."""
    return [f"{sum(map(float, column)) / len(rows):.1f}" for column in list(zip(*rows, strict=True))[:3]]


def _distance(case: Case, found: Difference) -> tuple[bool, float]:
    return not meets(case, found), found.median + found.p90 + found.worst


def _figures(found: Difference) -> list[str]:
    order = 100 * (1 - found.inversions / found.pairs) if found.pairs else 100.0
    return [f"{order:.1f}", *(f"{value:.1f}" for value in (found.median, found.p90, found.worst))]


def simulated_table() -> str:
    lines = [
        "| schedule | jobs | the same second, % | within 31 s, % | worst, s | mean wait, s: theirs | ours |"
    ]
    lines.append("|---|--:|--:|--:|--:|---|---|")
    return "\n".join(lines + [simulated_row(name) for name in SIMULATED])


def simulated_row(name: str) -> str:
    given = load_simulated(name)
    ours = {fate[0]: fate for fate in play_simulated(given)}
    gaps, waits = start_gaps(ours, given.run.fates), waits_of(ours, given.run)
    same, near = (100 * sum(gap <= most for gap in gaps) / len(given.jobs) for most in (0, CYCLE_S))
    theirs = ", ".join(f"{part} {pair[1]:.1f}" for part, pair in waits.items())
    mine = ", ".join(f"{part} {pair[0]:.1f}" for part, pair in waits.items())
    return f"| `{name}` | {len(given.jobs)} | {same:.1f} | {near:.1f} | {max(gaps)} | {theirs} | {mine} |"


def play_simulated(given: Simulated) -> list[Fate]:
    """What the engine makes of a schedule of the DEEP-EST simulator, by the ready policy file."""
    jobs = sorted(given.jobs, key=lambda job: (job["submit"], job["id"]))
    system = System.from_dict({"modules": [{"name": name, "nodes": n} for name, n in given.nodes.items()]})
    ids = [job["id"] for job in jobs]
    workload = Workload.from_columns(
        component_id=ids,
        modular_job_id=[job["job"] for job in jobs],
        submit_time=[job["submit"] for job in jobs],
        partition=[job["partition"] for job in jobs],
        nodes=[job["nodes"] for job in jobs],
        run_time=[job["runtime"] for job in jobs],
        time_limit=[job["limit"] * 60 for job in jobs],
        delay=[job["delay"] for job in jobs],
        dependency_kinds=[",".join("AFTEROK" for _ in job["depends"]) for job in jobs],
        dependency_ids=[",".join(map(str, job["depends"])) for job in jobs],
    )
    simulation = Simulation(system, workload, Policy.from_yaml(SIMULATOR))
    if given.run.name in WITHOUT_MAIN:
        simulation._core.slurm.rules.default_queue_depth = -1
    found = simulation.run().components
    rows = zip(found["component_id"], found["state"], found["start_time"], found["end_time"], strict=True)
    return [(int(i), str(state), _known(start), _known(end)) for i, state, start, end in rows]


def _known(time: int) -> int | None:
    return None if time < 0 else int(time)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    path = Path(sys.argv[1])
    path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
