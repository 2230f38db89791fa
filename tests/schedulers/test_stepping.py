"""From pass to pass, deciding outside of the simulation: the same as deciding inside."""

from __future__ import annotations

import pytest
from hypothesis import given

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.schedulers.stepping import Stepped
from tests.conftest import examples
from tests.schedulers.test_classic import KEYS, facts, own
from tests.scheduling.cases import Case, simple_cases

pytestmark = pytest.mark.interpreted


@examples(100)
@given(simple_cases(KEYS))
def test_easy_from_pass_to_pass(case: Case) -> None:
    system, workload = case.machine.system(), case.workload()
    easy = own("Easy").own_scheduler()
    stepped = Simulation(system, workload, Policy(scheduler=Stepped(), **case.policy))
    passes = 0
    while (view := stepped.next_pass()) is not None:
        assert len(view.queue) > 0
        easy.schedule(view)
        passes += 1
    assert facts(stepped.run()) == facts(simulate(system, workload, Policy(backfill="easy", **case.policy)))


def test_a_branch_stands_in_the_same_pass() -> None:
    """And what is decided in one is not decided in the other."""
    jobs = Workload.from_columns(nodes=[2, 2, 1], submit_time=[0, 0, 0], run_time=[60, 60, 50])
    sim = Simulation(System.homogeneous(3), jobs, Policy(scheduler=Stepped()))
    view = sim.next_pass()
    assert view is not None
    branch = sim.branch()
    there = branch._loader.caller.view
    first, _, third = view.queue
    assert view.start(first)
    _, second, _ = there.queue
    assert there.start(second)
    assert view.start(third)
    for one in (sim, branch):
        while (now := one.next_pass()) is not None:
            for job in now.queue:
                now.start(job)
    assert sim.result().components["start_time"].tolist() == [0, 60, 0]
    assert branch.result().components["start_time"].tolist() == [60, 0, 60]
