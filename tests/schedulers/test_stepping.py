"""From pass to pass, deciding outside of the simulation: the same as deciding inside."""

from __future__ import annotations

import pytest
from hypothesis import given

from scheduler_sim import Policy, Simulation, simulate
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
