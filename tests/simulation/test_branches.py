"""Branches of a simulation, in memory and in files: each goes on as the run that was never interrupted."""

from __future__ import annotations

import hashlib
import io
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scheduler_sim import Result, Simulation, System, Workload
from scheduler_sim.engine.engine import PARTS, has
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.saving import leaves
from scheduler_sim.simulation.state import is_value
from tests.simulation.worlds import WORLDS

pytestmark = pytest.mark.interpreted

JOBS = Workload.from_columns(nodes=[2, 2, 1], submit_time=[0, 0, 5], run_time=[60, 60, 50])


def saved(result: Result, folder: Path) -> dict[str, str]:
    """The files of a result, by their digests."""
    result.save(folder, force=True)
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in sorted(folder.iterdir())}


def alone(sim: Simulation) -> Simulation:
    """The simulation once all processes of others are over."""
    while sim._company():
        sim.env.step()
    return sim


def through(sim: Simulation, file: Path, **again: Any) -> Simulation:
    """The simulation from a file."""
    sim.save(file)
    return Simulation.load(file, **again)


# -- by hand


def test_what_happens_to_a_branch_happens_to_no_other():
    """3 nodes. At 20 job 1 runs, 3 beside it; in the branch 1 is cancelled then, and 2 starts."""
    sim = Simulation(System.homogeneous(3), JOBS, "easy")
    sim.run(until=20)
    branch = sim.branch()
    branch.cancel(1)
    added = branch.submit(nodes=3, run_time=7)
    assert branch.run().components["start_time"].tolist() == [0, 20, 5, 80]
    assert added == 4
    assert branch.env.now == 87
    assert sim.env.now == 20
    assert sim.state(1) == "RUNNING"
    assert sim.run().components["start_time"].tolist() == [0, 60, 5]


def test_what_was_done_before_is_part_of_it(tmp_path):
    """Noted and yet to be carried out: a hold, a submission, nodes that come back; and what a stream drew."""
    sim = Simulation(System.homogeneous(4), JOBS, "easy", seed=1)
    sim.drain("cluster", 2, until=30)
    sim.hold(3)
    first = sim.stream("mine").random()
    sim.run(until=10)
    sim.submit(nodes=4, run_time=5)
    sim.release(3)
    sim.update(2, time_limit=40)
    for one in (branch := sim.branch(), through(branch, tmp_path / "it"), sim):
        found = one.run()
        assert found.components["start_time"].tolist() == [0, 30, 60, 110]
        assert found.components["state"].tolist()[1] == "TIMEOUT"
        assert one.stream("mine").random() == np.random.Generator.random(_second(first))


def _second(first: float) -> np.random.Generator:
    """The stream ``mine`` after its first number."""
    draw = Simulation(System.homogeneous(4), seed=1).stream("mine")
    assert draw.random() == first
    return draw


# -- of all policies and rules


@pytest.mark.parametrize("world", WORLDS)
def test_a_branch_runs_on_as_the_run_that_was_never_interrupted(world, tmp_path):
    """Branches of branches and of files too, at instants in order, with a result taken or not."""
    draw = np.random.default_rng(list(world.encode()))
    sim = alone(WORLDS[world]())
    untouched = WORLDS[world]()
    expected = saved(untouched.run(), tmp_path / "expected")
    begin, end = int(sim.env.now), int(untouched._core.clock.now) + 1
    at, later = sorted(draw.integers(begin, max(end, begin + 1), 2).tolist())
    sim.run(until=at)
    branch = sim.branch()
    if draw.random() < 0.5:
        branch.result()
    branch.run(until=later)
    policy = sim.policy if callable(sim.policy.order) else None
    loaded = through(branch, tmp_path / "branch.sim", policy=policy)
    assert saved(loaded.branch().run(), tmp_path / "loaded") == expected, (at, later)
    assert saved(branch.run(), tmp_path / "branch") == expected, (at, later)
    assert saved(sim.run(), tmp_path / "sim") == expected, (at, later)


def test_these_have_every_rule():
    """What a rule keeps is copied by its kind: a new one needs a world here, in which it is compared."""
    cores = [made()._core for made in WORLDS.values()]
    assert {part for part in PARTS if any(has(core, part) for core in cores)} == set(PARTS)


# -- what is shared


def parts_of(thing: Any) -> list[Any]:
    """What a value or state consists of."""
    if isinstance(thing, dict):
        return [*thing, *thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return list(thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        return [getattr(thing, one.name) for one in fields(thing)]
    own = type(thing).__module__.startswith("scheduler_sim.simulation.") and not isinstance(thing, type)
    return list(vars(thing).values()) if own and hasattr(thing, "__dict__") else []


def reached(sim: Simulation, *, state: bool) -> dict[int, Any]:
    """All that a simulation consists of by id, or what of it is state; what it was made of aside."""
    found: dict[int, Any] = {id(kept): kept for kept in sim._made_of().values()}
    aside, ahead = set(found), [part for name, part in vars(sim).items() if name not in ("env", "_core")]
    while ahead:
        one = ahead.pop()
        if id(one) not in found and not (state and is_value(type(one))):
            found[id(one)] = one
            ahead += parts_of(one)
    return {number: one for number, one in found.items() if number not in aside}


@pytest.mark.parametrize("world", WORLDS)
def test_a_branch_shares_values_alone(world, tmp_path):
    sim = alone(WORLDS[world]())
    sim.run(until=int(sim.env.now) + 30)
    branch = sim.branch()
    tables = [np.asarray(one) for _, one in leaves(sim._core)]
    for name, one in leaves(branch._core):
        assert not any(np.shares_memory(one, other) for other in tables), name
    common = reached(sim, state=True).keys() & reached(branch, state=True).keys()
    assert not [
        one for number, one in reached(sim, state=True).items() if number in common and one is not None
    ]
    arrays = [one for one in reached(sim, state=False).values() if isinstance(one, np.ndarray)]
    before = [one.tobytes() for one in arrays if one.dtype != object]
    branch.run()
    assert before == [one.tobytes() for one in arrays if one.dtype != object]


def test_what_is_neither_value_nor_state_is_an_error():
    """State of a kind that nobody has told of is neither shared nor lost."""
    sim = Simulation(System.homogeneous(3), JOBS, "easy")
    sim._loader.more = io.BytesIO()
    with pytest.raises(ConfigError, match=r"found a _io\.BytesIO in the simulation"):
        sim.branch()
    with pytest.raises(ConfigError, match=r"found a _io\.BytesIO in the simulation"):
        sim.save("nowhere")
