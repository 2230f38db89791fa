"""One unit a column: which one, and how its numbers are written."""

from __future__ import annotations

import math

import pytest

from scheduler_sim.report.column_unit import energy_unit, power_unit, span_unit
from scheduler_sim.report.html.run_data import columns
from scheduler_sim.report.measures import column_of
from tests.report.schedules import EASY, schedule
from tests.result.hand_made import Run


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([129_600, 0, 0], "d"),
        ([129_599], "h"),
        ([5_400, 1, 2e6], "h"),
        ([-90, math.nan], "min"),
        ([89], "s"),
        ([0], "s"),
        ([], "s"),
    ],
)
def test_half_of_the_values_that_are_not_0_are_one_and_a_half_of_the_unit_or_more(values, name):
    assert span_unit(values).name == name


def test_numbers_of_a_column_have_the_same_decimals_and_none_becomes_0():
    unit = span_unit([3600, 7200], [36_000])
    assert unit.headed("mean wait") == "mean wait [h]"
    written = [unit.written(value) for value in (0, 7_200, -4_500, 3.6e6, 10, math.nan, None)]
    assert written == ["0", "2.00", "−1.25", "1,000.00", "0.003", "–", "–"]
    assert [unit.signed(value) for value in (3600, 0, -3600)] == ["+1.00", "0", "−1.00"]
    assert power_unit([250e3]).written(1.2e6) == "1,200"


def test_energy_and_power_have_the_units_of_people():
    assert energy_unit([5 * 3.6e6, 6 * 3.6e6]).headed("jobs") == "jobs [kWh]"
    assert energy_unit([5 * 3.6e6, 6 * 3.6e6]).written(9e6) == "2.50"
    assert power_unit([3e6]).name == "MW"


def test_a_measure_without_a_unit_is_written_value_by_value():
    title, write = column_of("mean bounded slowdown", "bounded_slowdown_mean", [1.5, 900])
    assert (title, write(1.5), write(math.nan)) == ("mean bounded slowdown", "1.5", "–")
    title, write = column_of("mean wait", "wait_time_mean", [600, 720])
    assert (title, write(600)) == ("mean wait [min]", "10.00")


@pytest.mark.parametrize(("partitions", "shown"), [(["long", "test"], True), (["long", "long"], False)])
def test_the_jobs_have_their_partitions_where_there_are_several(partitions, shown):
    result = schedule([Run(0, 0, 60, 1), Run(0, 0, 60, 1)], {"CM": 4}, EASY)
    result.components["partition"] = partitions
    assert ("partition" in columns(result, [])) == shown
