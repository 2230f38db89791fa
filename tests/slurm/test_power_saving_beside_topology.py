"""Idle nodes that Slurm powers down beside a topology: the engine is the plain model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from tests.conftest import examples
from tests.engine.interpreted import interpreted
from tests.oracle.plain_power_saving import (
    Power,
    PowerSavingTopologySharedSlurm,
    PowerSavingTopologySlurm,
)
from tests.simulation.acting import trace
from tests.slurm.powered_cases import BOOT, keys_of, models, powers
from tests.slurm.shared_cases import EQUAL_NODES, RIGID_ASKS, fates, fates_told
from tests.slurm.test_shared_properties import expanded
from tests.slurm.topology_cases import (
    UNTIL_S,
    OnSwitches,
    SharedOnSwitches,
    had,
    had_by,
    numbers_of,
    on_switches,
    plain,
    plain_shared,
    played,
    played_shared,
    shared_on_switches,
    that_ever_fit,
)


@st.composite
def whole(draw: st.DrawFn) -> tuple[OnSwitches, Power, list[str]]:
    """Sites of whole nodes on switches."""
    found, numbers = draw(on_switches()), dict[str, list[int]]()
    for (module, _), number in numbers_of(found.case).items():
        numbers.setdefault(module, []).append(number)
    drawn = draw(powers({name: range(own[0], own[-1] + 1) for name, own in numbers.items()}))
    return found, *drawn


@st.composite
def shared(draw: st.DrawFn, **of: Any) -> tuple[SharedOnSwitches, Power, list[str]]:
    """Sites of shared nodes on switches, jobs that come in a crowd or with time between them."""
    found, factor = draw(shared_on_switches(**of)), draw(st.sampled_from([1, 1, 4]))
    jobs = [replace(job, submit=factor * job.submit) for job in found.case.jobs]
    found = replace(found, case=replace(found.case, jobs=jobs))
    return found, *draw(powers({"m": range(len(found.case.nodes))}))


def compare_whole(drawn: tuple[OnSwitches, Power, list[str]]) -> None:
    """Play a case in the engine and in the plain model."""
    found, power, words = drawn
    assume(found.case.jobs)
    if found.optional and found.site.dragonfly:  # a count above 1: Slurm forgets it at the first try
        assume(all(job.switches <= 1 for job in found.case.jobs))
    given = models(*found.case.modules, boot=power.boot, stop=power.stop)
    slurm = plain(found, PowerSavingTopologySlurm, power, numbers_of(found.case).values())
    slurm.run(2 * UNTIL_S)
    assert had(found, played(found, given, **keys_of(power, words))) == had_by(slurm)


def compare_shared(drawn: tuple[SharedOnSwitches, Power, list[str]]) -> None:
    """Play a case in the engine and in the plain model."""
    found, power, words = drawn
    with pytest.MonkeyPatch.context() as patch:
        found = that_ever_fit(found, patch)
        assume(found.case.jobs)
        every = range(len(found.case.nodes))
        slurm = plain_shared(found, patch, PowerSavingTopologySharedSlurm, power, every)
        slurm.run(4 * UNTIL_S)
    given = models("m", boot=power.boot, stop=power.stop)
    ours = fates(played_shared(found, given, **keys_of(power, words)))
    assert {i: expanded(fate) for i, fate in ours.items()} == fates_told(slurm)


@pytest.mark.interpreted
@examples(60)
@given(whole())
def test_whole_nodes_are_those_of_the_plain_model(drawn: Any) -> None:
    compare_whole(drawn)


@pytest.mark.interpreted
@examples(60)
@given(shared())
def test_shared_nodes_are_those_of_the_plain_model(drawn: Any) -> None:
    compare_shared(drawn)


@pytest.mark.interpreted
@examples(60)
@given(shared(most=25, of=EQUAL_NODES, ask=RIGID_ASKS))
def test_so_many_able_nodes_are_those_of_the_plain_model(drawn: Any) -> None:
    compare_shared(drawn)


@pytest.mark.interpreted
@examples(60)
@given(shared(wherever=True, most=25, ask=RIGID_ASKS))
def test_under_one_switch_so_many_able_nodes_are_enough(drawn: Any) -> None:
    compare_shared(drawn)


# -- by hand


def run(jobs: Workload, **slurm: Any) -> Result:
    """Two leaves of three nodes of four cores; on the first node 1 stays on, on the second nodes 4 and 5."""
    module = {"name": "cluster", "nodes": 6, "shared": slurm.pop("shared"), "cores_per_node": 4}
    system = System.from_dict({"modules": [module], "topology": {"levels": [3]}})
    keys = {"SuspendTime": 100, "SuspendExcNodes": ["cluster[1]", "cluster[4-5]"]} | slurm
    result = simulate(system, jobs, Policy(backfill="slurm", slurm=keys), models=models())
    result.check()
    return result


def starts_and_nodes(result: Result) -> list[tuple[int, str]]:
    return [(start, str(nodes)) for start, nodes in result.components[["start_time", "node_list"]].to_numpy()]


SHARED = pytest.mark.parametrize("shared", [False, True])


@pytest.mark.interpreted
@SHARED
def test_nodes_that_are_up_come_first_and_then_the_fullest_leaf(shared: bool) -> None:
    """Two of the three that are up lie on leaf 1; the last job boots two of leaf 0 from 509 on."""
    jobs = trace((0, 1, 1, 60), (500, 2, 60, 120), (505, 1, 10, 60), (506, 2, 10, 60), cores=[4] * 4)
    found = starts_and_nodes(run(jobs, shared=shared))
    assert found[1:] == [(500, "4-5"), (505, "1"), (509 + BOOT, "0,2")]


@pytest.mark.interpreted
@SHARED
def test_a_job_has_more_leaves_rather_than_nodes_that_are_off(shared: bool) -> None:
    """One that asks for one leaf waits for it 120 s: in vain, as it is not given nodes that are off."""
    one, few = (trace((0, 1, 1, 60), (500, 3, 60, 120), cores=[4] * 2, switches=[-1, n]) for n in (-1, 1))
    assert starts_and_nodes(run(one, shared=shared))[1] == (500, "1,4-5")
    start, nodes = starts_and_nodes(run(few, shared=shared, max_switch_wait=120))[1]
    assert nodes == "1,4-5"
    assert 620 <= start <= 680


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@SHARED
def test_compiled_it_is_as_in_plain_python(shared: bool) -> None:
    numbers = range(60)
    jobs = trace(
        *((20 * i * i % 7000, 1 + i % 4, 40 + i % 90, 60 + 60 * (i % 3)) for i in numbers),
        cores=[1 + i * i % 4 for i in numbers],
        switches=[1 if i % 5 == 0 else -1 for i in numbers],
    )
    one = run(jobs, shared=shared, SuspendRate=2)
    assert (one.timeline["nodes_booting"] > 0).any()
    with interpreted():
        other = run(jobs, shared=shared, SuspendRate=2)
    pd.testing.assert_frame_equal(one.components, other.components)
    pd.testing.assert_frame_equal(one.timeline, other.timeline)
