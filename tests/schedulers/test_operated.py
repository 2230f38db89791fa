"""With operators, failures and jobs that processes submit, it is the same as under the built-in policies."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, Simulation, System
from scheduler_sim.result.result import Result
from tests.engine.test_every_rule import NODES, OPERATED, crowd, operate
from tests.schedulers.test_classic import BUILT_IN, facts, own

pytestmark = pytest.mark.interpreted

STEPS = OPERATED["conservative"]


def played(policy: Policy, steps: tuple[str, ...], *, units: bool) -> Result:
    system = System.from_dict({"modules": [{"name": name, "nodes": nodes} for name, nodes in NODES.items()]})
    simulation = Simulation(system, crowd(units=units), policy)
    simulation.process(operate(simulation, steps))
    result = simulation.run()
    result.check()
    return result


@pytest.mark.parametrize(
    "steps", [STEPS, *((step,) for step in STEPS)], ids=lambda steps: "_".join(steps)[:12]
)
@pytest.mark.parametrize("name", BUILT_IN)
def test_what_is_done_from_outside(name: str, steps: tuple[str, ...]) -> None:
    units = name == "Conservative"
    built_in = played(Policy(backfill=BUILT_IN[name]), steps, units=units)
    assert facts(played(own(name), steps, units=units)) == facts(built_in)
