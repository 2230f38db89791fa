"""Idle nodes that Slurm powers down where jobs share nodes: by a plain model, by hand, by their laws."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.engine.engine import has
from tests.conftest import examples
from tests.engine.interpreted import interpreted
from tests.oracle.plain_power_saving import Power, PowerSavingSharedSlurm
from tests.simulation.acting import at, steps, trace
from tests.simulation.acting import fates as ends
from tests.slurm import test_shared_reservations as beside
from tests.slurm.engine_cases import UNTIL_S
from tests.slurm.powered_cases import BOOT, STOP, keys_of, models, powers
from tests.slurm.shared_cases import (
    ALIKE_NODES,
    EQUAL_NODES,
    MIXED_NODES,
    RIGID_ASKS,
    TYPED_ASKS,
    SharedCase,
    fates,
    fates_told,
    plain,
    possible,
    shared_cases,
    workload_of,
)
from tests.slurm.test_shared_properties import ROWS, expanded
from tests.slurm_oracle.shared_engine import settings_of, system_of

MODULE = "m"

# -- the plain model


@st.composite
def powered(draw: st.DrawFn, **kinds: Any) -> tuple[SharedCase, Power, list[str]]:
    """Sites of shared nodes, jobs that come in a crowd or with time between them, and power saving."""
    case = draw(shared_cases(**kinds))
    factor = draw(st.sampled_from([1, 1, 4]))
    case = replace(case, jobs=[replace(job, submit=factor * job.submit) for job in case.jobs])
    power, words = draw(powers({MODULE: range(len(case.nodes))}))
    return case, power, words


def play(case: SharedCase, power: Power, words: list[str], *, metered: bool = True, **more: Any) -> Result:
    """What the engine makes of it; without models boots and shutdowns take their timeouts."""
    keys = keys_of(power, words) | {"starts_before_s": case.begins_s} | settings_of(case.settings)
    keys |= {} if metered else {"ResumeTimeout": power.boot}
    policy = Policy(name="slurm", backfill="slurm", slurm=case.keys | keys | more)
    given = models(MODULE, boot=power.boot, stop=power.stop) if metered else None
    system = system_of(case.nodes, case.partitions)
    result = simulate(system, workload_of(case.jobs), policy, models=given)
    result.check()
    return result


def expected(case: SharedCase, power: Power) -> dict[int, tuple[Any, ...]]:
    every = range(len(case.nodes))
    slurm = PowerSavingSharedSlurm(
        plain(case).c, deepcopy(case.jobs), power, every, nodes=case.nodes, settings=case.settings
    )
    slurm.run(4 * UNTIL_S)
    return fates_told(slurm)


def compare(drawn: tuple[SharedCase, Power, list[str]], *, everywhere: bool = False, **more: Any) -> None:
    """Play a case in the engine and in the plain model."""
    case, power, words = drawn
    case = possible(case, everywhere=everywhere)
    assume(case.jobs)
    ours = fates(play(case, power, words, **more))
    assert {i: expanded(fate) for i, fate in ours.items()} == expected(case, power)


@pytest.mark.interpreted
@examples(60)
@given(powered())
def test_the_engine_is_the_plain_model(drawn: Any) -> None:
    compare(drawn)


@pytest.mark.interpreted
@examples(30)
@given(powered(of=MIXED_NODES, ask=TYPED_ASKS))
def test_gpus_of_several_types_are_those_of_the_plain_model(drawn: Any) -> None:
    compare(drawn)


@pytest.mark.interpreted
@pytest.mark.parametrize("of", [EQUAL_NODES, ALIKE_NODES], ids=["weights", "alike"])
@examples(40)
@given(st.data())
def test_so_many_able_nodes_are_those_of_the_plain_model(of, data) -> None:
    compare(data.draw(powered(most=25, of=of, ask=RIGID_ASKS)))


@pytest.mark.interpreted
@examples(40)
@given(powered(most=20, of_main=ROWS, sharing=("NO", "EXCLUSIVE", *ROWS), crowded=True))
def test_the_engine_is_the_plain_model_where_cores_are_shared(drawn: Any) -> None:
    case, power, words = drawn
    power = replace(power, stop=power.suspend_timeout)
    compare((case, power, words), everywhere=True, metered=False)


@pytest.mark.interpreted
@examples(20)
@given(powered(most=25, of=ALIKE_NODES, ask=RIGID_ASKS))
def test_what_is_there_for_speed_changes_nothing(drawn: Any) -> None:
    case, power, words = drawn
    case = possible(case)
    assume(case.jobs)
    quick, slow = play(case, power, words), play(case, power, words, accelerate=False)
    pd.testing.assert_frame_equal(quick.components, slow.components)
    pd.testing.assert_frame_equal(quick.timeline, slow.timeline)


# -- by hand


def simulation(
    nodes: int, jobs: Workload, *, module: Any = None, given: Any = None, **keys: Any
) -> Simulation:
    """Nodes of four cores."""
    made = {"name": "cluster", "nodes": nodes, "shared": True, "cores_per_node": 4} | (module or {})
    policy = Policy(backfill="slurm", slurm={"SuspendTime": 100} | keys)
    return Simulation(System.from_dict({"modules": [made]}), jobs, policy, models=given or models())


def run(nodes: int, jobs: Workload, **more: Any) -> Result:
    result = simulation(nodes, jobs, **more).run()
    result.check()
    return result


def starts(result: Result) -> list[int]:
    return result.components["start_time"].tolist()


def nodes_had(result: Result) -> list[str]:
    return result.components["node_list"].astype(str).tolist()


@pytest.mark.interpreted
class TestByHand:
    """A boot takes 50 s and 20 W, a shutdown 7 s and 5 W; 10 W idle, 25 W for each core of a job."""

    def test_a_node_with_any_job_is_not_idle_and_one_that_boots_takes_more_jobs(self):
        # node 0 has a core of the first job up to 900; the two others wait for node 1, which boots from 501
        jobs = trace((0, 1, 900, 960), (500, 2, 10, 60), (520, 1, 20, 60), cores=[1, 3, 1])
        result = run(2, jobs)
        assert starts(result) == [0, 551, 551]
        assert nodes_had(result) == ["0", "0-1", "1"]
        assert result.components["wait_resources"].tolist() == [0, 51, 31]
        assert steps(result, "nodes_booting") == [(0, 0), (501, 1), (551, 0)]
        # what they have is busy once they have begun
        assert steps(result, "cores_busy") == [(0, 1), (551, 8), (561, 2), (571, 1), (900, 0)]
        assert steps(result, "nodes_busy") == [(0, 1), (551, 2), (571, 1), (900, 0)]
        assert steps(result, "nodes_reserved_idle") == [(0, 0)]  # on node 0 the first job is at work

    def test_one_that_is_up_and_has_no_job_that_has_begun_is_held(self):
        keys = {"SuspendExcNodes": "cluster[0]"}
        result = run(2, trace((0, 1, 1, 60), (500, 2, 10, 60), (510, 1, 20, 60), cores=[1, 3, 1]), **keys)
        # the third begins at once on node 0, where the second waits for node 1
        assert starts(result) == [0, 551, 510]
        assert steps(result, "nodes_reserved_idle") == [(0, 0), (500, 1), (510, 0), (530, 1), (551, 0)]
        assert steps(result, "cores_busy")[2:] == [(510, 1), (530, 0), (551, 6), (561, 0)]

    def test_those_that_are_off_come_last_whatever_they_weigh(self):
        sets = [
            {"name": "heavy", "nodes": 1, "cores_per_node": 4, "weight": 9},
            {"name": "light", "nodes": 2, "cores_per_node": 4},
        ]
        jobs = trace((0, 1, 1, 60), (1000, 1, 90, 120), (1010, 1, 90, 120), cores=[1, 3, 2])
        result = run(3, jobs, module={"node_sets": sets}, SuspendExcNodes="cluster[0]")
        # the heavy node stays on and is taken first; it has no room for the third
        assert starts(result) == [0, 1000, 1010 + 1 + BOOT]
        assert nodes_had(result)[1:] == ["0", "1"]

    def test_a_node_that_boots_weighs_no_more_than_one_that_is_up(self):
        # node 0 boots from 501 for the second; the third takes it rather than node 1, which is off
        jobs = trace((0, 1, 1, 60), (500, 1, 90, 120), (510, 1, 90, 120), cores=[1, 1, 1])
        assert nodes_had(run(2, jobs))[1:] == ["0", "0"]
        # as both wait for it, none is on when the fourth comes: node 1 is booted for it
        more = trace((0, 1, 1, 60), (500, 1, 9, 120), (510, 1, 9, 120), (515, 1, 9, 60), cores=[1, 2, 2, 1])
        assert nodes_had(run(2, more))[1:] == ["0", "0", "1"]

    def test_a_node_of_several_jobs_counts_for_each_in_the_rate(self):
        # at 1001 node 0 is booted for the two first, which count as two of two in this minute
        jobs = trace((0, 1, 1, 60), (1000, 1, 9, 60), (1000, 1, 9, 60), (1000, 1, 9, 60), cores=[1, 2, 2, 4])
        booting = steps(run(2, jobs, ResumeRate=2), "nodes_booting")
        assert booting[1] == (1001, 1)
        # two count as 2 * 50/60 at 1011, as 1.39 at 1021
        assert booting[2] == (1021, 2)
        one = trace((0, 1, 1, 60), (1000, 1, 9, 60), (1000, 1, 9, 60), cores=[1, 4, 4])
        assert steps(run(2, one, ResumeRate=2), "nodes_booting")[1] == (1001, 2)

    def test_a_node_boots_on_for_those_who_are_left(self):
        sim = simulation(1, trace((0, 1, 1, 60), (500, 1, 9, 60), (500, 1, 9, 60), cores=[1, 1, 2]))
        at(sim, 510, lambda: sim.cancel(2))
        result = sim.run()
        assert ends(result)[2] == (510, 510, "CANCELLED")
        assert ends(result)[3] == (551, 560, "COMPLETED")
        assert steps(result, "cores_busy") == [(0, 1), (1, 0), (551, 2), (560, 0)]

    def test_of_a_boot_for_nobody_no_job_has_anything_before_it_is_over(self):
        sim = simulation(
            1, trace((0, 1, 1, 60), (500, 1, 9, 60), (545, 1, 9, 60), cores=[1, 1, 2]), KillWait=0
        )
        at(sim, 510, lambda: sim.cancel(2))
        result = sim.run()
        assert ends(result)[2] == (510, 510, "CANCELLED")
        assert steps(result, "nodes_booting") == [(0, 0), (501, 1), (551, 0)]
        assert starts(result)[2] >= 551

    def test_a_requeued_one_has_lost_nothing(self):
        sim = simulation(2, trace((0, 1, 1, 60), (500, 2, 100, 300), cores=[1, 2]))
        at(sim, 510, lambda: sim.requeue(2))
        result = sim.run()
        assert not len(result.runs)
        assert ends(result)[2][2] == "COMPLETED"

    def test_a_node_that_leaves_service_boots_for_its_job_first(self):
        sim = simulation(2, trace((0, 1, 1, 60), (500, 2, 10, 60), cores=[1, 1]))
        at(sim, 510, lambda: sim.drain("cluster", 2))
        result = sim.run()
        assert ends(result)[2] == (551, 561, "COMPLETED")
        assert steps(result, "nodes_down") == [(0, 0), (561, 2)]

    def test_one_that_powers_down_leaves_service_when_that_is_over(self):
        sim = simulation(1, trace((0, 1, 1, 60), (1000, 1, 10, 60), cores=[1, 1]))
        at(sim, 110, lambda: sim.drain("cluster", 1))
        at(sim, 800, lambda: sim.resume("cluster", 1))
        result = sim.run()
        result.check()
        down = steps(result, "nodes_down")
        assert down[1] == (142, 1)  # the first look more than 30 s after 102
        assert down[2] == (800, 0)
        # it is up then, and powered down once more: the node is off for the second job
        assert steps(result, "nodes_off")[-2:] == [(909, 1), (1001, 0)]

    def test_energy_is_that_of_parts_and_of_nodes_that_are_off(self):
        # half of the node draws 50 W for 10 s, the other half 5 W; the boot and the shutdowns are apart
        result = run(1, trace((0, 1, 10, 60), (500, 1, 10, 60), cores=[2, 2]))
        energy = result.metrics["energy"]
        assert energy["job_j"] == 2 * 50 * 10
        assert energy["transition_j"] == 20 * BOOT + 5 * STOP
        off = 501 - (111 + STOP)
        assert energy["off_j"] == off * 1
        assert energy["idle_j"] == 2 * 5 * 10 + 10 * (561 - off - BOOT - STOP - 20)

    def test_the_models_say_when(self):
        given = models(idle_off={"timeout_s": 200, "min_awake": 1})
        result = run(3, trace((0, 1, 1, 60), (1000, 1, 1, 60), cores=[1, 1]), given=given, SuspendTime=None)
        assert steps(result, "nodes_off")[-1][1] == 2

    def test_a_branch_is_the_same(self):
        sim = simulation(3, trace((0, 1, 1, 60), (500, 2, 10, 60), (520, 1, 10, 60), cores=[1, 2, 2]))
        sim.run(until=530)
        other = sim.branch()
        pd.testing.assert_frame_equal(sim.run().timeline, other.run().timeline)


# -- what operators do to jobs and nodes meanwhile

ACTIONS = st.sampled_from(["cancel", "requeue", "drain", "resume", "resume", "fail", "back"])


@pytest.mark.interpreted
@examples(60)
@given(
    st.lists(
        st.tuples(st.integers(0, 900), st.integers(1, 3), st.integers(1, 90), st.integers(1, 4)),
        min_size=2,
        max_size=12,
    ),
    st.lists(st.tuples(st.integers(1, 1500), ACTIONS, st.integers(0, 9)), max_size=8),
    st.data(),
)
def test_what_is_done_meanwhile_leaves_the_laws_intact(rows: Any, actions: Any, data: Any) -> None:
    """Of time, nodes, cores and energy; and what is there for speed changes nothing."""
    power, words = data.draw(powers({"cluster": range(3)}))
    rows = sorted(rows)
    first = rows[0][0]
    jobs = trace(*((s - first, n, r, 60) for s, n, r, _ in rows), cores=[c for *_, c in rows])
    keys = keys_of(power, words) | {"looks_first": data.draw(st.sampled_from(["main", "backfill"]))}
    found = []
    for accelerate in (True, False):
        given = models(boot=power.boot, stop=power.stop)
        sim = simulation(3, jobs, given=given, accelerate=accelerate, **keys)
        for time, kind, which in actions:
            at(sim, time, partial(_act, sim, kind, which, len(rows)))
        found.append(sim.run())
        found[-1].check()
    pd.testing.assert_frame_equal(found[0].components, found[1].components)
    pd.testing.assert_frame_equal(found[0].timeline, found[1].timeline)


def _act(sim: Simulation, kind: str, which: int, jobs: int) -> None:
    if kind in ("cancel", "requeue"):
        getattr(sim, kind)(1 + which % jobs)
    elif kind in ("fail", "back"):
        until = int(sim.env.now) + 70 if kind == "back" else None
        sim.fail("cluster", 1 + which % 2, requeue=which % 2 > 0, until=until)
    else:
        getattr(sim, kind)("cluster", 1 + which % 3)


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_compiled_it_is_as_in_plain_python() -> None:
    draw = np.random.default_rng(3)
    jobs = trace(
        *((20 * i * i % 7000, 1 + i % 3, 40 + i % 90, 60 + 60 * (i % 3)) for i in range(60)),
        cores=draw.integers(1, 5, 60).tolist(),
    )
    sets = [
        {"name": "a", "nodes": 3, "cores_per_node": 4},
        {"name": "b", "nodes": 4, "cores_per_node": 8, "weight": 3},
    ]
    compiled = simulation(7, jobs, module={"node_sets": sets}, SuspendRate=2)
    assert has(compiled._core, "slurm_power_saving")
    one = compiled.run()
    one.check()
    assert (one.timeline["nodes_booting"] > 0).any()
    with interpreted():
        other = simulation(7, jobs, module={"node_sets": sets}, SuspendRate=2).run()
    pd.testing.assert_frame_equal(one.components, other.components)
    pd.testing.assert_frame_equal(one.timeline, other.timeline)


@pytest.mark.interpreted
@examples(40)
@given(st.data())
def test_beside_reservations_what_is_there_for_speed_changes_nothing(data: Any) -> None:
    """And all laws hold: of whole nodes that reservations take away, and of nodes that are off."""
    reserved = data.draw(beside.reserved_cases())
    power, words = data.draw(powers({MODULE: range(len(reserved.case.nodes))}))
    reserved = reserved._replace(case=possible(reserved.case))
    assume(reserved.case.jobs)
    _, stand = beside.told(reserved)  # others cannot be made
    made = tuple(one for one in reserved.made if one.at is not None or one.name in stand)
    assume(made)
    names = {one.name for one in made}
    reserved = reserved._replace(made=made, done=tuple(one for one in reserved.done if one.name in names))
    keys = keys_of(power, words) | {"ResumeTimeout": power.boot}
    assert beside.played(reserved, **keys) == beside.played(reserved, accelerate=False, **keys)
