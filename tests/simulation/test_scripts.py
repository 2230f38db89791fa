"""Laws of simulations that are acted on, over random scripts of actions."""

from __future__ import annotations

import pytest
from hypothesis import given

from scheduler_sim import simulate
from scheduler_sim.engine.core import state as slot
from tests.conftest import examples
from tests.scheduling.cases import Case, any_cases
from tests.simulation.scripts import Script, scripts

pytestmark = pytest.mark.interpreted


@examples(250)
@given(scripts())
def test_every_script_gives_a_schedule_that_keeps_the_laws(script: Script) -> None:
    result, _ = script.play(script.simulation())
    result.check()


@examples(60)
@given(scripts())
def test_scripts_are_repeatable_and_looking_changes_nothing(script: Script) -> None:
    one, answers = script.play(script.simulation())
    other, same = script.play(script.simulation(), looks=True)
    assert answers == same
    assert one.components.equals(other.components)
    assert one.timeline.equals(other.timeline)
    assert one.metrics == other.metrics
    assert one.manifest == other.manifest


@examples(60)
@given(scripts())
def test_afterwards_the_books_are_balanced(script: Script) -> None:
    """What runs holds its nodes and resources, and nothing else does."""
    sim = script.simulation()
    script.play(sim)
    core = sim._core
    running = [core.jobs[row] for row in core.heap["row"][: core.clock.events]]
    for i, module in enumerate(sim.system.modules):
        held = sum(
            core.placements[it.placed].nodes for it in running if core.placements[it.placed].module == i
        )
        pool = core.pools[i]
        assert pool.busy == held
        assert pool.free + pool.busy + pool.down == module.nodes
        assert 0 <= pool.draining <= pool.busy
        assert pool.queued == sum(
            core.placements[it.first if it.reserved_placement < 0 else it.reserved_placement].module == i
            for it in core.jobs[: core.clock.jobs]
            if it.state == slot.WAITING
        )
    assert core.clock.events == len(running)
    queue = core.queue.waiting[core.queue.at.head : core.queue.at.tail]
    waiting = [r for r in range(core.clock.jobs) if core.jobs[r].state == slot.WAITING]
    assert sorted(queue) == waiting


@examples(60)
@given(any_cases())
def test_without_actions_it_is_simulate(case: Case) -> None:
    sim = Script(case, (), 0).simulation()
    one, other = sim.run(), simulate(case.machine.system(), case.workload(), sim.policy)
    assert one.components.equals(other.components)
    assert one.timeline.equals(other.timeline)
    assert one.metrics == other.metrics
