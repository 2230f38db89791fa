"""Power saving beside heterogeneous jobs: components wait until the nodes of all are up."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.errors import InputError
from tests.conftest import examples
from tests.engine.interpreted import interpreted
from tests.oracle.plain_power_saving import Power, PowerSavingHetSlurm
from tests.scheduling.unit_cases import components, two_modules
from tests.simulation.acting import at
from tests.slurm.engine_cases import Case
from tests.slurm.engine_cases import fates as starts
from tests.slurm.powered_cases import BOOT, models, powers
from tests.slurm.test_het_jobs import told as columns_of
from tests.slurm.test_het_properties import het_cases
from tests.slurm.test_power_saving import expected, numbers_of, play

# -- by hand: modules A and B of 2 nodes each, of which those of A stay on


def simulation(jobs: list[tuple[int, int, str, int, int, int]], **columns: Any) -> Simulation:
    """Jobs: (job, submit, module, nodes, run, limit in minutes)."""
    keys = {"SuspendTime": 100, "SuspendExcNodes": "A", "bf_interval": 10, "KillWait": 0, "limit_check_s": 1}
    policy = Policy.resolve({"backfill": "slurm", "slurm": keys})
    return Simulation(two_modules(), components(jobs, **columns), policy, models=models("A", "B"))


def told(result: Result) -> list[tuple[int, int, str]]:
    """Start, end and state of each."""
    return list(zip(*columns_of(result, "start_time", "end_time", "state"), strict=True))


def requeued_at(
    time: int, row: int, jobs: list[tuple[int, int, str, int, int, int]]
) -> list[tuple[int, int, str]]:
    """Start, end and state of each, where one is requeued."""
    sim = simulation(jobs)
    at(sim, time, lambda: sim.requeue(row))
    return told(sim.run())


FIRST_JOB = (1, 0, "A", 1, 1, 1)


@pytest.mark.interpreted
class TestByHand:
    def test_both_begin_once_the_nodes_of_both_are_up_and_end_with_the_first(self) -> None:
        result = simulation([FIRST_JOB, (2, 1000, "A", 1, 80, 2), (2, 1000, "B", 2, 30, 2)]).run()
        given = int(result.timeline.loc[result.timeline["nodes_booting"] > 0, "time"].min()) - 1
        begun = given + 1 + BOOT  # the thread boots them a second later
        assert told(result)[1:] == 2 * [(begun, begun + 80, "COMPLETED")]
        held = result.timeline.query("module == 'A' and nodes_reserved_idle > 0")
        assert (held["time"].min(), held["nodes_reserved_idle"].max()) == (given, 1)
        assert 1000 <= given <= 1010
        assert result.components["wait_resources"][1:].tolist() == 2 * [begun - 1000]

    def test_limits_count_from_then(self) -> None:
        result = simulation([FIRST_JOB, (2, 1000, "A", 1, 80, 1), (2, 1000, "B", 1, 30, 2)]).run()
        (begun, _, _), _ = told(result)[1:]
        assert [(end - begun, state) for _, end, state in told(result)[1:]] == [
            (60, "TIMEOUT"),
            (60, "COMPLETED"),
        ]

    def test_cancelled_as_one_boots_neither_ran(self) -> None:
        sim = simulation([FIRST_JOB, (2, 1000, "A", 1, 80, 2), (2, 1000, "B", 1, 80, 2)])
        at(sim, 1030, lambda: sim.cancel(2))
        assert told(sim.run())[1:] == 2 * [(1030, 1030, "CANCELLED")]

    @pytest.mark.parametrize("again", [2, 3])
    def test_one_that_is_requeued_as_it_runs_leaves_the_others_alone(self, again: int) -> None:
        jobs = [FIRST_JOB, (2, 1000, "A", 1, 800, 20), (2, 1000, "B", 1, 300, 20)]
        found = requeued_at(1300, again, jobs)
        assert found[again - 1][0] > 1300
        assert found[4 - again][1] - found[4 - again][0] == 800

    @pytest.mark.parametrize("again", [2, 3])
    def test_one_that_is_requeued_as_they_boot_waits_alone(self, again: int) -> None:
        """The other has its nodes, begins as they are up, and takes as long as the first would have."""
        jobs = [FIRST_JOB, (2, 1000, "B", 1, 80, 5), (2, 1000, "B", 1, 30, 2)]
        found = requeued_at(1030, again, jobs)
        assert [end - start for start, end, _ in found[1:]] == [80, 80]
        assert found[again - 1][0] > found[4 - again][0]

    def test_one_whose_nodes_are_all_up_waits_for_nothing(self) -> None:
        result = simulation([FIRST_JOB, (2, 5, "A", 1, 80, 2), (2, 5, "B", 1, 80, 2)]).run()
        assert told(result)[1][0] == told(result)[2][0] <= 15
        assert not (result.timeline["nodes_booting"] > 0).any()

    def test_delays_are_refused(self) -> None:
        jobs = [FIRST_JOB, (2, 5, "A", 1, 80, 2), (2, 5, "B", 1, 80, 2)]
        with pytest.raises(InputError, match="where components start with a delay"):
            simulation(jobs, delay=[0, 0, 60])


# -- the plain model


@st.composite
def powered(draw: st.DrawFn) -> tuple[Case, Power, list[str]]:
    """Sites of several modules on which nodes are powered down."""
    case = draw(het_cases())
    return case, *draw(powers(numbers_of(case)))


@pytest.mark.interpreted
@examples(40)
@given(powered())
def test_the_engine_is_the_plain_model(drawn: Any) -> None:
    case, power, words = drawn
    assert starts(play(case, power, words)) == expected(case, power, PowerSavingHetSlurm)


@pytest.mark.interpreted
@examples(15)
@given(powered())
def test_what_is_there_for_speed_changes_nothing(drawn: Any) -> None:
    quick, slow = play(*drawn), play(*drawn, accelerate=False)
    pd.testing.assert_frame_equal(quick.components, slow.components)
    pd.testing.assert_frame_equal(quick.timeline, slow.timeline)


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_compiled_it_is_as_in_plain_python() -> None:
    jobs = [FIRST_JOB]
    for number in range(2, 30):
        submit = 37 * number * number % 9000
        jobs.append((number, submit, "A", 1 + number % 2, 20 + 7 * number, 1 + number % 5))
        if number % 3:
            jobs.append((number, submit, "B", 1 + number % 2, 20 + 5 * number, 1 + number % 4))
    compiled = simulation(jobs).run()
    assert (compiled.timeline["nodes_booting"] > 0).any()
    with interpreted():
        other = simulation(jobs).run()
    pd.testing.assert_frame_equal(compiled.components, other.components)
    pd.testing.assert_frame_equal(compiled.timeline, other.timeline)
