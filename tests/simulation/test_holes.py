"""Reservations under the textbook policies while processes act: no node is lost, or in two places."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from scheduler_sim import Policy, Simulation, System, Workload
from scheduler_sim.engine.core.state import RUNNING
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.simulation.pools import modules_of

pytestmark = pytest.mark.interpreted

NODES = {"A": 6, "B": 4}
KEYS: dict[str, Any] = {
    "modules": [{"name": name, "nodes": nodes} for name, nodes in NODES.items()],
    "reservations": [
        {"name": "lab", "start": 20, "end": 60, "nodes": ["A[0-2]"], "users": ["u"]},
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
        {"name": "day", "start": 5, "end": 8, "nodes": ["B"], "users": ["u"], "flags": ["DAILY"]},
    ],
    "reservation_changes": [
        {"name": "lab", "at": 30, "end": 80},
        {"name": "more", "at": 45, "nodes": ["B[0-1]"]},
    ],
}
POLICIES: list[dict[str, Any]] = [
    {"backfill": "none"},
    {"backfill": "first_fit"},
    {"backfill": "easy"},
    {"backfill": "easy", "depth": 3},
    {"backfill": "conservative"},
    {"backfill": "conservative", "replan": "keep"},
]
JOBS = 25


def workload(draw: random.Random) -> Workload:
    run = [draw.randint(0, 25) for _ in range(JOBS)]
    return Workload.from_columns(
        nodes=[draw.randint(1, 4) for _ in range(JOBS)],
        submit_time=sorted(draw.randint(0, 50) for _ in range(JOBS)),
        run_time=run,
        time_limit=[max(1, seconds + draw.randint(-3, 6)) for seconds in run],
        user=["u"] * JOBS,
        reservation=[draw.choice(["", "", "lab", "more", "day"]) for _ in range(JOBS)],
        partition=[draw.choice(["A", "B", "A,B"]) for _ in range(JOBS)],
    )


def act(simulation: Simulation, draw: random.Random) -> None:
    """Do something to a job, or to nodes; what cannot be done is refused, as ever."""
    job, module, now = draw.randint(1, JOBS), draw.choice("AB"), int(simulation.env.now)
    steps: list[Any] = [
        lambda: simulation.hold(job),
        lambda: simulation.release(job),
        lambda: simulation.update(job, time_limit=draw.randint(1, 50)),
        lambda: simulation.update(job, partition=module),
        lambda: simulation.cancel(job),
        lambda: simulation.requeue(job),
        lambda: simulation.fail(module, requeue=draw.random() < 0.5, until=now + draw.randint(2, 15)),
        lambda: simulation.drain(module, 1, until=now + 5),
        lambda: simulation.submit(
            nodes=2, run_time=5, partition="A", user="u", reservation=draw.choice(["lab", ""])
        ),
    ]
    try:
        draw.choice(steps)()
    except (InputError, ConfigError):
        return


def check_nodes(simulation: Simulation) -> None:
    """Each node of a module is idle there or in a reservation, runs a job, or is down."""
    core = simulation._core
    jobs, pools = np.asarray(core.jobs)[: core.clock.jobs], np.asarray(core.pools)
    it = np.asarray(core.placements)[jobs["placed"][jobs["state"] == RUNNING]]
    home = modules_of(core)
    assert (pools["free"] >= 0).all()
    for module, nodes in enumerate(NODES.values()):
        used = int(it["nodes"][home[it["module"]] == module].sum())
        assert pools["busy"][module] == used
        assert pools["free"][home == module].sum() + used + pools["down"][module] == nodes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_nodes_are_where_they_should_be(policy: dict[str, Any], seed: int) -> None:
    draw = random.Random(seed)
    simulation = Simulation(
        System.from_dict(KEYS), workload(draw), Policy(**policy, overrun_s=draw.choice([0, 3])), seed=seed
    )

    def process() -> Iterator[Any]:
        for _ in range(14):
            yield simulation.env.timeout(draw.randint(1, 7))
            check_nodes(simulation)
            act(simulation, draw)

    simulation.process(process())  # type: ignore[arg-type]
    result = simulation.run(until=300)
    check_nodes(simulation)
    result.check()
