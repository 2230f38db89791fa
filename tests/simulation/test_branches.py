"""Branches of a simulation, in memory and in files: each goes on as the run that was never interrupted."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import pytest
import simpy

from scheduler_sim import Policy, Result, Simulation, System, Workload
from scheduler_sim.engine.engine import PARTS, has
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.simulation.branching import OWN
from scheduler_sim.simulation.saving import leaves
from scheduler_sim.simulation.state import is_value
from tests.conftest import ROOT
from tests.simulation.worlds import WORLDS

pytestmark = pytest.mark.interpreted

JOBS = Workload.from_columns(nodes=[2, 2, 1], submit_time=[0, 0, 5], run_time=[60, 60, 50])


def saved(result: Result, folder: Path) -> dict[str, str]:
    """The files of a result, by their digests."""
    result.save(folder, force=True)
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in sorted(folder.iterdir())}


def assert_equal(result: Result, other: Result) -> None:
    for one, its in ((result.components, other.components), (result.timeline, other.timeline)):
        pd.testing.assert_frame_equal(one, its, check_exact=True)


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


# -- what is shared


def parts_of(thing: Any) -> list[Any]:
    """What a value or state consists of."""
    if isinstance(thing, dict):
        return [*thing, *thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return list(thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        return [getattr(thing, one.name) for one in fields(thing)]
    homes = ("scheduler_sim.simulation.", "scheduler_sim.schedulers.", "tests.simulation.worlds")
    own = type(thing).__module__.startswith(homes) and not isinstance(thing, type)
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


def assert_nothing_is_shared(sim: Simulation, other: Simulation) -> None:
    """No state is of both, and no table of the cores."""
    tables = [np.asarray(one) for _, one in leaves(sim._core)]
    for name, one in leaves(other._core):
        assert not any(np.shares_memory(one, table) for table in tables), name
    own, others = reached(sim, state=True), reached(other, state=True)
    assert not [own[number] for number in own.keys() & others.keys()]


class Values:
    """What a simulation may share, and how it was."""

    def __init__(self, sim: Simulation) -> None:
        within = [one for one in reached(sim, state=False).values() if isinstance(one, np.ndarray)]
        self._arrays = [one for one in within if one.dtype != object]
        self._before = [one.tobytes() for one in self._arrays]

    def are_as_they_were(self) -> bool:
        """Whether nobody has written to any."""
        return self._before == [one.tobytes() for one in self._arrays]


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
    values = Values(sim)
    branch = sim.branch()
    assert_nothing_is_shared(sim, branch)
    if draw.random() < 0.5:
        branch.result()
    branch.run(until=later)
    if not any(has(sim._core, part) for part in OWN):
        own = sim.policy if callable(sim.policy.order) else None
        loaded = through(branch, tmp_path / "it.sim", policy=own)
    else:
        loaded = branch.branch()
        with pytest.raises(ConfigError, match=r"save: found policy .* with a .* of your own"):
            branch.save(tmp_path / "it.sim")
    assert_nothing_is_shared(branch, loaded)
    assert saved(loaded.branch().run(), tmp_path / "loaded") == expected, (at, later)
    assert_equal(branch.run(), untouched.result())
    assert values.are_as_they_were()
    assert saved(sim.run(), tmp_path / "sim") == expected, (at, later)


def test_these_have_every_rule():
    """What a rule keeps is copied by its kind: a new one needs a world here, in which it is compared."""
    cores = [made()._core for made in WORLDS.values()]
    assert {part for part in PARTS if any(has(core, part) for core in cores)} >= set(PARTS) - {
        "placement_ranks"
    }


class Locked:
    def __init__(self) -> None:
        self.lock = None

    def schedule(self, view: Any) -> None:
        self.lock = Lock()


def test_a_scheduler_that_cannot_be_copied_is_said_so():
    sim = Simulation(System.homogeneous(3), JOBS, Policy(scheduler=Locked()))
    sim.run(until=20)
    with pytest.raises(ConfigError, match=r"branch: Locked cannot be copied: TypeError: .*lock"):
        sim.branch()


def test_what_is_neither_value_nor_state_is_an_error():
    """State of a kind that nobody has told of is neither shared nor lost."""
    sim = Simulation(System.homogeneous(3), JOBS, "easy")
    sim._loader.more = io.BytesIO()
    with pytest.raises(ConfigError, match=r"found a _io\.BytesIO in the simulation"):
        sim.branch()
    with pytest.raises(ConfigError, match=r"found a _io\.BytesIO in the simulation"):
        sim.save("nowhere")


# -- what is refused


def waiting() -> Simulation:
    sim = Simulation(System.homogeneous(3), JOBS, "easy")
    sim.started(2)
    return sim


def with_process(start: Any) -> Simulation:
    sim = Simulation(System.homogeneous(3), JOBS, "easy")

    def stay():
        yield sim.env.event()  # nothing that is scheduled

    start(sim)(stay())
    sim.run(until=20)
    return sim


def with_callback() -> Simulation:
    sim = Simulation(System.homogeneous(3), JOBS, "easy")
    sim.env.timeout(30).callbacks.append(lambda event: sim.cancel(1))
    return sim


def joined() -> Simulation:
    return Simulation(System.homogeneous(3), JOBS, "easy", env=simpy.Environment())


@pytest.mark.parametrize(
    ("company", "words"),
    [
        (lambda: with_process(lambda sim: sim.process), "found 1 unfinished SimPy process; a SimPy process"),
        (lambda: with_process(lambda sim: sim.env.process), "found 1 unfinished SimPy process"),
        (
            lambda: with_process(lambda sim: lambda it: simpy.Process(sim.env, it)),
            "found 1 unfinished SimPy process",
        ),
        (waiting, "found a process that waits for component 2"),
        (with_callback, "found 1 pending event of other processes"),
        (joined, r"found an environment that was passed in \(env=\.\.\.\)"),
    ],
)
def test_nobody_is_left_behind(company, words, tmp_path):
    sim = company()
    with pytest.raises(ConfigError, match=f"branch: {words}"):
        sim.branch()
    with pytest.raises(ConfigError, match=f"save: {words}"):
        sim.save(tmp_path / "it")
    assert not (tmp_path / "it").exists()


def test_a_process_that_is_over_is_in_nobodys_way():
    sim = Simulation(System.homogeneous(3), JOBS, "easy")

    def hold():
        yield sim.started(1)
        yield sim.env.timeout(30)
        sim.hold(2)

    sim.process(hold())
    sim.run(until=70)
    branch = sim.branch()
    branch.release(2)
    assert branch.run().components["start_time"].tolist() == [0, 70, 5]
    assert sim.run().components["start_time"].tolist() == [0, -1, 5]


# -- files


def file_of(policy: Any, tmp_path: Path, name: str = "it.sim") -> Path:
    sim = Simulation(System.homogeneous(3), JOBS, policy)
    sim.run(until=20)
    sim.save(tmp_path / name)
    return tmp_path / name


def test_the_same_simulation_is_the_same_file(tmp_path):
    files = [file_of("slurm", tmp_path, name) for name in ("one", "two", "three.zst")]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert Simulation.load(files[2]).run().components["start_time"].tolist() == [0, 60, 30]
    sim = Simulation.load(files[0])
    sim.save(files[0])  # it is one of its kind, and replaced
    assert zipfile.ZipFile(files[0]).namelist() == zipfile.ZipFile(files[1]).namelist()


def test_the_result_tells_of_the_same_inputs(tmp_path):
    """The digest of a trace that was read from a file, and how it was read."""
    (tmp_path / "a.swf").write_text("1 0 0 60 2 -1 -1 2 90 -1 0 1 1 1 1 -1 -1 -1\n")
    sim = Simulation(System.homogeneous(3), tmp_path / "a.swf", "easy", honour_status=True)
    sim.save(tmp_path / "it.sim")
    (tmp_path / "a.swf").unlink()
    result = Simulation.load(tmp_path / "it.sim").run()
    assert result.manifest["inputs"] == sim._inputs
    assert result.manifest == sim.run().manifest


def backwards(submit: float) -> float:
    return -submit


def test_an_order_of_ones_own_is_given_once_more(tmp_path):
    policy = Policy(order=backwards)
    file = file_of(policy, tmp_path)
    with pytest.raises(
        ConfigError, match="an order of your own, which no file can contain; allowed: together"
    ):
        Simulation.load(file)
    with pytest.raises(ConfigError, match="load: found policy 'sjf'; allowed: "):
        Simulation.load(file, policy="sjf")
    assert Simulation.load(file, policy=policy).run().components["start_time"].tolist() == [0, 60, 5]


def test_an_order_from_a_file_is_the_same_file(tmp_path):
    (tmp_path / "mine.py").write_text("def key(submit):\n    return -submit\n")
    (tmp_path / "mine.yaml").write_text("order: mine.py:key\n")
    file = file_of(tmp_path / "mine.yaml", tmp_path)
    assert Simulation.load(file, policy=tmp_path / "mine.yaml").waiting() == 1
    (tmp_path / "mine.py").write_text("def key(submit):\n    return submit\n")
    with pytest.raises(
        ConfigError, match=r"load: found policy 'mine'; allowed: 'mine', .* and the same order"
    ):
        Simulation.load(file, policy=tmp_path / "mine.yaml")


def test_candidates_keep_an_order_that_depends_on_time(tmp_path):
    """3 nodes, the third free at 30: by then candidate 5 has waited 18/15 of its limit, 4 but 20/30."""
    jobs = Workload.from_columns(
        nodes=[2, 1, 3, 1, 1], submit_time=[0, 0, 5, 10, 12], run_time=[60, 30, 9, 30, 15]
    )
    sim = Simulation(System.homogeneous(3), jobs, Policy(backfill="easy", backfill_order="wfp3"))
    sim.run(until=20)
    loaded = through(sim, tmp_path / "it.sim")
    for one in (sim, loaded):
        assert one.run().components["start_time"].tolist() == [0, 0, 60, 69, 30]


def test_nothing_else_is_replaced_or_read(tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    sim = Simulation(System.homogeneous(3), JOBS, "easy")
    with pytest.raises(InputError, match="not a saved simulation"):
        sim.save(other)
    assert other.read_text() == "mine"
    with pytest.raises(InputError, match=r"notes\.txt: no saved simulation, or a damaged one"):
        Simulation.load(other)
    with pytest.raises(InputError, match="No such file"):
        Simulation.load(tmp_path / "nothing")


def changed(file: Path, old: bytes, new: bytes) -> Path:
    """A file whose text says something else, as if it had been written so."""
    made = file.with_suffix(".changed")
    with zipfile.ZipFile(file) as one, zipfile.ZipFile(made, "w") as other:
        for name in one.namelist():
            other.writestr(name, one.read(name).replace(old, new))
    assert made.read_bytes() != file.read_bytes()
    return made


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            b'"sources": "',
            b'"sources": "0',
            "that scheduler-sim '.*' saved with other sources",
        ),
        (b"simulation 1", b"simulation 2", "found no 'scheduler-sim simulation 1'"),
        (
            b"scheduler_sim.simulation.outages:Outages",
            b"scheduler_sim.cli.main:main",
            "which is not part of a",
        ),
        (
            b"scheduler_sim.simulation.outages:Outages",
            b"os:system",
            "found 'os:system', which is not part of",
        ),
        (b'"heap": {"array": ', b'"heap": {"array": 9', "no saved simulation, or a damaged one"),
        (b'"jobs": {"array": ', b'"jobs": {"of": ', "no saved simulation, or a damaged one"),
        (b'"core": {"clock"', b'"core": {"more"', "found more, which such a simulation does not have"),
        (b"PCG64", b"MT19937", "no saved simulation, or a damaged one"),
    ],
)
def test_a_file_that_says_something_else_is_refused(old, new, words, tmp_path):
    with pytest.raises(InputError, match=words):
        Simulation.load(changed(file_of("easy", tmp_path), old, new))


def test_a_damaged_file_is_refused(tmp_path):
    """Cut anywhere, or with any byte changed that means something."""
    whole = file_of("easy", tmp_path).read_bytes()
    draw = np.random.default_rng(2)
    damaged = tmp_path / "damaged"
    for cut in draw.integers(0, len(whole), 12).tolist():
        damaged.write_bytes(whole[:cut])
        with pytest.raises(InputError, match="no saved simulation, or a damaged one"):
            Simulation.load(damaged)
    refused = 0
    for place in draw.integers(0, len(whole), 25).tolist():
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            assert Simulation.load(damaged).run().components["start_time"].tolist() == [0, 60, 5]
        except InputError:
            refused += 1
    assert refused > 15


# -- compiled


@pytest.mark.compiled
@pytest.mark.parametrize("order", [None, "sjf", "wfp3"])
def test_compiled_branches_run_on_as_well(order, tmp_path):
    """What compiled code has by its address is that of a branch: tables, and what writes keys of orders."""
    trace, policy = ROOT / "workloads" / "sample-1000.swf", Policy(backfill="easy", backfill_order=order)
    sim = Simulation(System.homogeneous(128), trace, policy)
    expected = saved(Simulation(System.homogeneous(128), trace, policy).run(), tmp_path / "expected")
    sim.run(until=200_000)
    branch, loaded = sim.branch(), through(sim, tmp_path / "it.sim.zst")
    branch.cancel(700)
    branch.run()
    assert saved(loaded.run(), tmp_path / "loaded") == expected == saved(sim.run(), tmp_path / "sim")
