"""The tables of docs/slurm-26.05.md: `python -m tests.slurm_oracle.agreement_26 docs/slurm-26.05.md`.

Recordings of a running Slurm 26.05.3, pass by pass at the times of their logs, and on our own clock.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import product

from tests.engine.interpreted import interpreted
from tests.slurm_oracle.agreement import _figures
from tests.slurm_oracle.cases import Case, Run
from tests.slurm_oracle.engine import played
from tests.slurm_oracle.figures import Difference, between_runs, compare, meets
from tests.slurm_oracle.player import play
from tests.slurm_oracle.third_set import load_third, names_3, recordings_of, simulation_of

VERSION = "26.05"
ARRAY_RECORDS = "ties between tasks of arrays: Slurm goes by records of jobs (`job_mgr.c`, job_array_split)"
NOT_EQUAL = {
    "A1c_arrays": ARRAY_RECORDS,
    "B4c_long_queue@r2": "one plan is a second later: the second of a start as the clock was read",
    "E6c_het": "when components without a script are gone is not in the log",
    "E6c_het@r2": "when components without a script are gone is not in the log",
    "F2c_factors@r2": "one plan is a second later: the second of a start as the clock was read",
    "F4c_factors_nolimits": "fair share of users is read job by job while usage is charged"
    " (`priority_multifactor.c` 1419), not at once",
    "F4c_factors_nolimits@r2": "the same",
    "G6c_gpus_typed": "open: `--gpus` with `--cpus-per-gpu` beside typed GPUs",
    "G6c_gpus_typed@r2": "open: `--gpus` with `--cpus-per-gpu` beside typed GPUs",
    "HQ1c_qos_limits@r2": "a pass of Slurm broke off as it gave up its locks (`backfill.c` 2487)",
    "HL1c_licences@r2": "when a licence is given back within a second is not in the log",
    "HP1c_requeue": "a pass 58 ms behind an end found its nodes not clean yet",
    "P3c_suspend": "one plan is a second earlier: the second of a start as the clock was read",
    "P7c_shared_requeue": "open: plans of single jobs on nodes that are completing",
    "T3c_blocks": "`--segment` and the choice of blocks since 24.05 are not modelled",
    "T3c_blocks@r2": "`--segment` and the choice of blocks since 24.05 are not modelled",
    "U1c_campus": ARRAY_RECORDS,
    "U1c_campus@r2": ARRAY_RECORDS,
}
"""Recordings that are not equal to the last plan, and why."""

MISSED = {
    "E5c_het_shared": "components without a script are gone a quarter of a second later",
    "HP4c_qos": "a job that has just begun is gone at once when it is killed, not after KillWait",
    "T3c_blocks": NOT_EQUAL["T3c_blocks"],
}
"""Cases that do not meet their criterion on our own clock, and why."""

STARTS = (-8, -9, -7)
_MARKS = re.compile(r"(<!-- (\w+): rendered .*? -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str) -> str:
    """Return the page with its tables made anew."""
    tables = {"passes": passes_table, "clock": clock_table}
    return _MARKS.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n\n{found[3]}", page)


def logged() -> list[str]:
    """Recordings with a log, but for those in which scontrol changes reservations or nodes meanwhile."""
    cases = [load_third(name) for name in names_3() if not load_third(name).ops]
    return [run for case in cases for run, found in recordings_of(case.name).items() if found.get("log")]


def passes_table() -> str:
    lines = ["| recording | starts | other | plans | other | why |", "|---|--:|--:|--:|--:|---|"]
    return "\n".join(lines + [passes_row(run) for run in logged()])


def passes_row(run: str) -> str:
    """How much Slurm started and planned up to the first start that is another here, and what differs."""
    found = play(run, version=VERSION)
    other = sum(max(len(theirs), len(ours)) for _, theirs, ours in found.other_starts)
    why = NOT_EQUAL.get(run, "")
    return f"| `{run}` | {found.starts} | {other} | {found.plans} | {found.different_plans} | {why} |"


def clock_table() -> str:
    head = "| case | jobs | looks first, daemon at | end states | order, % | median | p90 | worst"
    lines = [f"{head} | Slurm against itself: order, % | median | p90 | worst | meets |"]
    lines.append(f"|---|--:|---|---|{'--:|' * 8}---|")
    return "\n".join(lines + [clock_row(name) for name in names_3()])


def clock_row(name: str) -> str:
    """The nearest of all recordings and phases, beside two recordings of the same workload."""
    case = load_third(name)
    with interpreted():
        tried = [
            (run, first, start, _played(case, run, first, start))
            for first, start, run in product(("main", "backfill"), STARTS, case.runs)
        ]
    run, first, start, best = min(tried, key=partial(_distance, case))
    noise = between_runs(case)
    states = "the same" if best.states_equal else "**differ**"
    cells = [f"`{run.name}`", str(best.jobs), f"{first}, {start}", states, *_figures(best)]
    cells += _figures(noise) if noise else [""] * 4
    why = MISSED.get(name, "")
    return f"| {' | '.join(cells)} | {'yes' if meets(case, best) else f'**no**: {why}'} |"


def _distance(case: Case, tried: tuple[Run, str, int, Difference]) -> tuple[bool, float]:
    found = tried[3]
    return not meets(case, found), found.median + found.p90 + found.worst


def _played(case: Case, run: Run, first: str, start: int) -> Difference:
    begun = min(job["submit"] for job in case.jobs) - start
    keys = {"version": VERSION, "looks_first": first, "latency": "measured", "starts_before_s": begun}
    fates = played(case, simulation_of(case, run.origin, **keys))
    ended = {job: state for job, state in case.sure.items() if state not in ("PENDING", "RUNNING")}
    return compare({fate[0]: fate for fate in fates}, run, ended)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    path = Path(sys.argv[1])
    path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
