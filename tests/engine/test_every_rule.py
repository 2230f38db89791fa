"""Every rule, compiled, gives what it gives in plain Python: with all of them at once, under each scheme.

Most small cases of the other tests run in plain Python alone, but for `make test-all`.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import Policy, Result, Simulation, System, Workload
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.engine.engine import PARTS, has
from tests.engine.interpreted import interpreted
from tests.oracle.plain_switching import Switch
from tests.oracle.plain_unit_records import Component
from tests.scheduling.test_switching import models
from tests.scheduling.unit_cases import CALLS, workload

JOBS = 60
NODES = {"A": 6, "B": 4}
SWITCHES = {"A": Switch(timeout=5, boot=2), "B": Switch(timeout=math.inf, boot=1)}
KINDS = ("AFTER", "AFTERANY", "AFTEROK", "AFTERANY", "DYNAMIC")
SCHEMES: dict[str, dict[str, Any]] = {
    "fcfs": {},
    "easy": {"backfill": "easy"},
    "conservative": {"backfill": "conservative", "placement": "earliest_end"},
    "keep": {"backfill": "conservative", "replan": "keep"},
    "slurm": {"backfill": "slurm"},
}


def crowd(*, units: bool) -> Workload:
    """Jobs with dependencies, begin times, calls, and components that start by one plan."""
    draw = np.random.default_rng(7)
    made: list[Component] = []
    for number in range(1, JOBS + 1):
        module = str(draw.choice(list(NODES)))
        joins = draw.random() < 0.25 and number > 1 and units
        made.append(
            Component(
                id=number,
                job=made[-1].job if joins else number,
                submit=number,
                module=module,
                nodes=int(draw.integers(1, NODES[module] // 2 + 1)),
                limit=int(draw.integers(5, 40)),
                runtime=int(draw.integers(0, 30)),
                delay=int(draw.choice((-1, -1, 0, 3, 8))) if units else -1,
                depends=[(int(draw.integers(1, number)), str(draw.choice(KINDS if units else KINDS[:4])))]
                if number > 1 and draw.random() < 0.3
                else [],
                calls=[(str(draw.choice(CALLS[:4])), int(draw.integers(1, 12)))],
                fails=bool(draw.random() < 0.1),
            )
        )
    begin = [one.submit + int(draw.choice((0, 0, 9))) for one in made]
    return workload(made, begin_time=begin)


APART = ("fcfs", "easy")
"""Schemes with passes that start each component by itself, on nodes that stay on."""
SWITCHED = ("conservative", "keep")
"""Schemes under which idle nodes are switched off, too."""
NAMED = {
    *(
        "shared_nodes",
        "cons_tres",
        "rows",
        "time_slices",
        "leaves",
        "spread",
        "devices",
        "shadow",
        "node_plan",
    )
}
"""Of nodes that are told apart: see tests/shared_nodes."""
OF_SITES = {
    *("preemption", "gang", "resource_limits", "node_weights", "outages", "reservations"),
    *("topology", "named_nodes", "slurm_power_saving", "power_budget", "running_reserved"),
}
"""Of a site's rules: see tests/slurm and tests/outages."""
NOWHERE = {
    "single_events",
    "second_order",
    "own_scheduler",
    "vetoes",
    "placement_ranks",
    "making_room",
    "grace",
    "suspending",
    "holes",
    "checkpoints",
    "slowing",
}
"""Of rules that have tests of their own below."""
SLURM = {"slurm", "accelerate"} | OF_SITES | NAMED
ABSENT = {name: NOWHERE | (SLURM if name in SWITCHED else SLURM | {"power_saving"}) for name in SCHEMES} | {
    "slurm": NOWHERE | {"power_saving"} | OF_SITES | NAMED
}
OPERATED: dict[str, tuple[str, ...]] = {
    "conservative": (
        "hold",
        "release",
        "limit",
        "later",
        "cancel",
        "requeue",
        "fail",
        "drain",
        "resume",
        "submit",
    ),
    "slurm": ("hold", "release", "limit", "later", "cancel", "requeue", "priority", "nice"),
}
"""What is done to the jobs and nodes meanwhile, under some of the schemes."""
STEPS = {
    "hold": lambda sim, job: sim.hold(job),
    "release": lambda sim, job: sim.release(job),
    "limit": lambda sim, job: sim.update(job, time_limit=50),
    "later": lambda sim, job: sim.update(job, begin_time=int(sim.env.now) + 20),
    "cancel": lambda sim, job: sim.cancel(job),
    "requeue": lambda sim, job: sim.requeue(job),
    "priority": lambda sim, job: sim.update(job, priority=5),
    "nice": lambda sim, job: sim.update(job, nice=10),
    "fail": lambda sim, job: sim.fail("A", requeue=job % 2 > 0, until=int(sim.env.now) + 15),
    "drain": lambda sim, job: sim.drain("B", 1),
    "resume": lambda sim, job: sim.resume("B", 1),
    "submit": lambda sim, job: sim.submit(nodes=2, run_time=5, partition="A"),
}
OPEN = ("HELD", "WAITING", "RUNNING")


def simulation(name: str, *, operated: bool = True, **settings: Any) -> Simulation:
    system = System.from_dict({"modules": [{"name": name, "nodes": nodes} for name, nodes in NODES.items()]})
    policy = Policy(**SCHEMES[name], **({"slurm": settings} if settings else {}))
    sim = Simulation(
        system, crowd(units=name not in APART), policy, models=models(SWITCHES) if name in SWITCHED else None
    )
    sim.process(operate(sim, OPERATED.get(name, ()) if operated else ()))
    return sim


def operate(sim: Simulation, steps: tuple[str, ...]) -> Any:
    """One step after the other, each on the next job that is not over."""
    job = 0
    for step in steps * 4:
        yield sim.env.timeout(4)
        job = next((one for one in range(job + 1, JOBS + 1) if sim.state(one) in OPEN), job)
        if job and (step != "requeue" or sim.state(job) == "RUNNING"):
            STEPS[step](sim, job)


def tables(result: Result) -> list[pd.DataFrame]:
    return [result.components, result.timeline]


@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize(
    "name",
    [name if name in ("easy", "slurm") else pytest.param(name, marks=pytest.mark.long) for name in SCHEMES],
)
def test_compiled_and_interpreted_agree(name):
    run = simulation(name)
    assert {part for part in PARTS if not has(run._core, part)} == ABSENT[name]
    compiled = run.run()
    compiled.check()
    assert (compiled.components["start_time"] > compiled.components["submit_time"]).any()
    with interpreted():
        plain = simulation(name).run()
    for one, other in zip(tables(compiled), tables(plain), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


WAYS = ("easy", {"grace_s": 5}), ("conservative", {"how": "suspend"})
"""Of the ways in which components make way, those that are compiled in the long tests."""


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_slurms_rules_by_themselves_agree_too():
    """Compiled without what is there for speed alone."""
    compiled = simulation("slurm", accelerate=False, operated=False).run()
    with interpreted():
        plain = simulation("slurm", operated=False).run()
    for one, other in zip(tables(compiled), tables(plain), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize(
    ("scheme", "how"),
    [
        one if one in WAYS else pytest.param(*one, marks=pytest.mark.exhaustive)
        for one in product(
            ("none", "first_fit", "easy", "conservative"), ({}, {"grace_s": 5}, {"how": "suspend"})
        )
    ],
)
def test_who_makes_way_agrees_too(scheme, how):
    policy = Policy(backfill=scheme, order="sjf", calls="how" not in how, preempt={"by": "priority"} | how)
    system = System.from_dict({"modules": [{"name": name, "nodes": nodes} for name, nodes in NODES.items()]})
    compiled = Simulation(system, crowd(units=False), policy).run()
    compiled.check()
    if "how" in how:
        assert (compiled.components["suspended_time"] > 0).any()
    else:
        assert compiled.metrics["counts"]["requeued"] > 0
    with interpreted():
        plain = Simulation(system, crowd(units=False), policy).run()
    for one, other in zip(tables(compiled), tables(plain), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


RESERVED = [
    {"name": "lab", "start": 20, "end": 60, "nodes": ["A[0-2]"], "users": ["u"], "flags": ["HOURLY"]},
    {"name": "all", "start": 40, "end": 50, "nodes": ["ALL"], "users": ["root"], "flags": ["MAINT"]},
    {
        "name": "more",
        "at": 10,
        "start": 15,
        "end": 70,
        "node_count": 3,
        "users": ["u"],
        "flags": ["IGNORE_JOBS"],
    },
]


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("fcfs", "conservative")),
        *("easy", "keep"),
    ],
)
def test_holes_agree_too(name):
    modules = [{"name": name, "nodes": nodes} for name, nodes in NODES.items()]
    system = System.from_dict({"modules": modules, "reservations": RESERVED})
    draw = np.random.default_rng(3)
    names = draw.choice(["", "", "lab", "more"], JOBS).tolist()
    jobs = Workload.from_columns(
        **{name: crowd(units=False)[name] for name in ("nodes", "submit_time", "run_time", "time_limit")},
        user=["u"] * JOBS,
        reservation=names,
    )
    policy = Policy(**SCHEMES[name])
    compiled = Simulation(system, jobs, policy).run()
    compiled.check()
    assert (compiled.components["start_time"][compiled.components["reservation"] != ""] > 0).any()
    with interpreted():
        plain = Simulation(system, jobs, policy).run()
    for one, other in zip(tables(compiled), tables(plain), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize("scheme", ["none", "easy", "slurm"])
def test_who_goes_on_from_checkpoints_agrees_too(scheme):
    checkpoint = {"interval": 4, "cost": 1, "restart": 2}
    types = [{"name": "a", "percent": 50, "checkpoint": checkpoint}, {"name": "b", "percent": 50}]
    failures = [{"module": name, "mtbf": 60, "repair": {"mean": 5}} for name in NODES]
    keys = {"modules": [{"name": name, "nodes": nodes} for name, nodes in NODES.items()]}
    run = {"models": {"applications": {"named": False, "types": types}}, "seed": 1}
    system, policy = System.from_dict(keys | {"failures": failures}), Policy(backfill=scheme)
    compiled = Simulation(system, crowd(units=False), policy, **run).run()
    compiled.check()
    assert compiled.metrics["lost"]["saved_node_seconds"]["total"] > 0
    with interpreted():
        plain = Simulation(system, crowd(units=False), policy, **run).run()
    for one, other in zip([*tables(compiled), compiled.runs], [*tables(plain), plain.runs], strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


LIMITS = {
    "qos": {"normal": {"MaxJobsPerUser": 4, "GrpTRES": {"node": 7}, "GrpTRESRunMins": {"cpu": 12}}},
    "accounts": {"root": {"limits": {"GrpJobs": 5, "GrpWall": 90}}},
    "PriorityType": "priority/multifactor",
    "PriorityCalcPeriod": 20,
}


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_limits_agree_too():
    run = simulation("slurm", **LIMITS)
    assert has(run._core, "resource_limits")
    compiled = run.run()
    assert (compiled.components["limit_reason"] != "").any()
    with interpreted():
        plain = simulation("slurm", **LIMITS).run()
    for one, other in zip(tables(compiled), tables(plain), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def shares(count: int) -> Workload:
    """Jobs that ask for a part of their nodes, of partitions of three tiers."""
    draw = np.random.default_rng(5)
    run = draw.integers(1, 900, count)
    return Workload.from_columns(
        submit_time=np.sort(draw.integers(0, 9 * count, count)),
        run_time=run,
        time_limit=run + 60,
        nodes=draw.choice([1, 1, 1, 2], count),
        tasks_per_node=draw.choice([1, 4, 9, 16], count),
        gpus=draw.choice([0, 0, 1, 2], count),
        partition=draw.choice(["low", "low", "low", "mid", "high"], count),
    )


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_preemption_where_jobs_share_nodes_agrees_too():
    module = {"name": "CM", "nodes": 6, "shared": True, "cores_per_node": 16, "gpus_per_node": 4}
    tiers = {"low": {}, "mid": {"GraceTime": 30}, "high": {}}
    partitions = [
        {"name": name, "module": "CM", "priority": tier, "slurm": said}
        for tier, (name, said) in enumerate(tiers.items(), 1)
    ]
    system = System.from_dict({"modules": [module], "partitions": partitions})
    keys = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}
    policy = Policy(backfill="slurm", slurm=keys)
    run = Simulation(system, shares(250), policy)
    assert has(run._core, "preemption")
    assert has(run._core, "cons_tres")
    compiled = run.run()
    compiled.check()
    assert compiled.metrics["counts"]["requeued"] > 10
    with interpreted():
        plain = Simulation(system, shares(250), policy).run()
    for one, other in zip(tables(compiled), tables(plain), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
