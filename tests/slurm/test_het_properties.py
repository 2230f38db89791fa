"""Heterogeneous jobs on random sites: the engine against the plain model, of 22.05 and of 19.05."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, simulate
from tests.conftest import examples
from tests.oracle.plain_slurm_records import FIRST_PRIORITY, Job
from tests.oracle.plain_slurm_simulator import SimulatedSlurm
from tests.slurm.engine_cases import (
    FIRST,
    SECOND,
    UNTIL_S,
    Case,
    Fates,
    Queue,
    fates,
    plain,
    played,
    system_of,
    told,
    workload_of,
)
from tests.slurm_oracle.agreement import SIMULATOR

pytestmark = pytest.mark.interpreted

SHORT_WINDOWS: dict[str, list[Any]] = {
    "default_queue_depth": [100, 100, 0, 2],
    "partition_job_depth": [0, 0, 0, 1],
    "bf_interval": [30, 2, 7],
    "bf_resolution": [60, 1, 7],
    "bf_window": [1440, 2, 4],
    "bf_max_job_test": [500, 500, 3, 6],
    "bf_max_job_start": [0, 0, 0, 2],
    "bf_min_age_reserve": [0, 0, 0, 25],
    "bf_min_prio_reserve": [0, 0, 0, FIRST_PRIORITY - 3],
    "epoch": [0, 17, 1_700_000_041],
}


@st.composite
def het_cases(draw: st.DrawFn) -> Case:
    """Two or three modules; jobs of one to three components that all have one limit, and keep it."""
    modules = {f"m{i}": (draw(st.integers(1, 4)), 1) for i in range(draw(st.integers(2, 3)))}
    queues = tuple(Queue(name, name, (FIRST, SECOND)) for name in modules)
    rows: list[Job] = []
    time, licences = 1, draw(st.sampled_from([0, 0, 1]))
    for _ in range(draw(st.integers(2, 7))):
        time += draw(st.integers(0, 40))
        left = {name: sum(sizes) for name, sizes in modules.items()}
        rows += draw(_components(len(rows) + 1, time, left, licences))
    drawn = {name: draw(st.sampled_from(values)) for name, values in SHORT_WINDOWS.items()}
    drawn |= {"looks_first": draw(st.sampled_from(["main", "backfill"])), "latency": "measured"}
    return Case(modules, queues, tuple(rows), drawn)


@st.composite
def _components(draw: st.DrawFn, first: int, submit: int, left: dict[str, int], licences: int) -> list[Job]:
    """The components of one job, which fit beside one another, with up to so many licences each."""
    limit = draw(st.integers(1, 6))
    run = draw(st.integers(1, 60 * limit - 1))
    rows: list[Job] = []
    for number in range(first, first + draw(st.sampled_from([1, 1, 2, 2, 3]))):
        named = draw(st.sampled_from([name for name, nodes in left.items() if nodes] or [""]))
        if named:
            nodes = draw(st.integers(1, left[named]))
            left[named] -= nodes
            asked = draw(st.integers(0, licences))
            rows.append(Job(number, submit, [named], nodes, run, limit, licences=asked))
    return [replace(job, het=first if len(rows) > 1 else 0) for job in rows]


@examples(60)
@given(het_cases())
def test_the_engine_is_the_plain_model(case: Case) -> None:
    assert fates(played(case)) == told(case)


@examples(30)
@given(het_cases())
def test_idle_passes_change_nothing(case: Case) -> None:
    assert fates(played(case)) == fates(played(case, accelerate=False))


def simulated(case: Case, **keys: Any) -> Fates:
    """What the engine makes of it on the clock of the DEEP-EST simulator, with the rules of 19.05."""
    given_keys = {name: value for name, value in case.keys.items() if name not in ("looks_first", "latency")}
    policy = Policy.from_yaml(SIMULATOR).with_settings(
        {"name": "random"} | {f"slurm.{name}": value for name, value in (given_keys | keys).items()}
    )
    result = simulate(system_of(case), workload_of(case), policy)
    result.check()
    return fates(result)


def told_by_simulator(case: Case) -> Fates:
    """What the plain model makes of it on that clock."""
    config = plain(case).c
    config.as_19_05, config.launch_latency, config.backfill_first = True, False, False
    config.bf_node_space_size, config.kill_wait, config.over_time_limit = 1000, 60, 1
    slurm = SimulatedSlurm(config, deepcopy(list(case.jobs)))
    slurm.run(UNTIL_S)
    return {job.id: (job.state, job.start) for job in slurm.jobs}


@examples(60)
@given(het_cases())
def test_with_the_rules_of_19_05_too(case: Case) -> None:
    assert simulated(case) == told_by_simulator(case)
    assert simulated(case) == simulated(case, accelerate=False)


def test_what_a_component_holds_from_now_on_moves_on_with_the_clock() -> None:
    """Job 2 waits for m0, and holds a node of m1: in the pass of 40 until 103, in that of 43 until 163.

    At 163 the plan of 43 ends, so that U of job 4 has no start in it, and V no turn. The fourth turn, which
    bf_max_job_test still allows, is then that of job 6. Nothing but the clock has changed.
    """
    modules = {"m0": (1, 1), "m1": (3, 1)}
    queues = tuple(Queue(name, name, (FIRST, SECOND)) for name in modules)
    rows = [("m0", 2, 145, 5, 0), ("m1", 1, 1, 2, 2), ("m0", 1, 1, 2, 2)]
    rows += [("m1", 4, 1, 1, 4), ("m0", 1, 1, 1, 4), ("m1", 1, 1, 1, 0)]
    jobs = tuple(
        Job(number, 1, [name], nodes, run, limit, het=het)
        for number, (name, nodes, run, limit, het) in enumerate(rows, 1)
    )
    keys = {"bf_interval": 2, "bf_resolution": 60, "epoch": 17, "bf_window": 2, "bf_max_job_test": 4}
    case = Case(modules, queues, jobs, keys)
    assert simulated(case)[6] == ("COMPLETED", 43)
    assert simulated(case) == simulated(case, accelerate=False) == told_by_simulator(case)
