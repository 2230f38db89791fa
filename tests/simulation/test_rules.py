"""The numbers of the engine's rules: every part has them, and may come to be needed while the clock runs."""

from __future__ import annotations

import pytest

from scheduler_sim import Simulation, System
from scheduler_sim.engine.engine import PARTS, has
from scheduler_sim.simulation.rules.table import RULES
from tests.simulation.acting import at, fates, trace

pytestmark = pytest.mark.interpreted

FOR_SPEED_ALONE = {"accelerate"}


def test_every_part_of_the_engine_has_its_numbers() -> None:
    assert {rule.part for rule in RULES} == set(PARTS) - FOR_SPEED_ALONE
    assert len(RULES) == len({rule.part for rule in RULES})


@pytest.mark.parametrize(
    ("part", "asked"),
    [
        ("holds", {"begin_time": 50}),
        ("holds", {"dependency_type": "SINGLETON"}),
        ("dependencies", {"after": [1]}),
    ],
)
def test_a_part_comes_with_the_first_submission_that_needs_it(part: str, asked: dict[str, object]) -> None:
    """Job 1 runs on one node of two until 40, job 2 needs both; the last would start at 8 if it could."""
    simulation = Simulation(System.homogeneous(2), trace((0, 1, 40), (0, 2, 10)), "easy")
    assert not has(simulation._core, part)
    at(simulation, 5, lambda: simulation.submit(nodes=1, run_time=3))
    at(simulation, 6, lambda: simulation.submit(nodes=1, run_time=3, **asked))
    result = simulation.run()
    assert has(simulation._core, part)
    starts = result.components["start_time"].tolist()
    assert starts[:3] == [0, 40, 5]
    assert starts[3] == 50
    assert fates(result)
