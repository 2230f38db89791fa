"""The numbers of the engine's rules: every part has them, and may come to be needed while the clock runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from simpy.events import Event

from scheduler_sim import Simulation, System, Workload
from scheduler_sim.engine.engine import PARTS, has
from scheduler_sim.simulation.rules.table import OF_OTHERS, RULES
from tests.simulation.acting import at, fates, trace

pytestmark = pytest.mark.interpreted

FOR_SPEED_ALONE = {"accelerate"}


def test_every_part_of_the_engine_has_its_numbers() -> None:
    assert set(RULES) == set(PARTS) - FOR_SPEED_ALONE
    simulation = Simulation(System.homogeneous(2), trace((0, 1, 40)), "slurm")
    assert [rule.part for rule in simulation._loader._rules] == [
        part for part in RULES if part not in OF_OTHERS
    ]


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


def test_a_rule_that_comes_when_tables_have_grown_has_room_for_all_jobs() -> None:
    """Other placements make tables longer than the jobs need; what is held first then may be any of them."""
    jobs, system = 4, System.from_dict({"modules": [{"name": name, "nodes": 4} for name in "abc"]})
    columns = {"nodes": [4] * jobs, "submit_time": [0] * jobs, "run_time": [1000] * jobs}
    workload = Workload.from_columns(**columns, time_limit=[1000] * jobs, partition=["a"] * jobs)
    simulation = Simulation(system, workload, "easy")

    def process() -> Iterator[Event]:
        for name in "bc":
            simulation.submit(nodes=4, run_time=5000, partition=name)
        yield simulation.env.timeout(1)
        for partitions in ("a,b", "a,b,c"):
            for job in range(2, jobs + 1):
                simulation.update(job, partition=partitions)
            yield simulation.env.timeout(1)
        for _ in range(3 * jobs):
            simulation.submit(nodes=1, run_time=10, partition="b", begin_time=6000)
            yield simulation.env.timeout(1)

    simulation.process(process())
    result = simulation.run()
    assert (result.components["eligible_time"].tail(3 * jobs) == 6000).all()
    result.check()
