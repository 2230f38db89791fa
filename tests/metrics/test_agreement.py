"""How near a simulation is to the record: cases counted by hand, and runs that are their own record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Result, System, Workload, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.metrics.agreement.slices import SLICES, hours_of_week, sliced
from scheduler_sim.metrics.agreement.use import mean_in_use, most_in_use, use_of
from scheduler_sim.metrics.agreement.waits import (
    NO_RECORD,
    NO_START,
    Distance,
    Order,
    spread,
    waits_of,
    within,
)
from scheduler_sim.simulation.component_table import recorded_waits
from scheduler_sim.units import DAY, HOUR
from scheduler_sim.workload.as_ran import as_ran
from tests.conftest import examples

pytestmark = pytest.mark.interpreted


def by_hand() -> Result:
    """Two nodes under fcfs: 2 waits 90 s for 150 recorded; 3 has no record; 4 is larger than the machine."""
    jobs = Workload.from_columns(
        nodes=[2, 2, 1, 3],
        submit_time=[0, 10, 20, 30],
        run_time=[100, 50, 30, 10],
        wait_time=[0, 150, -1, 5],
        user=["ada", "ben", "ada", ""],
    )
    return simulate(System.homogeneous(2), jobs, "fcfs")


def test_a_case_by_hand():
    result = by_hand()
    waits = waits_of(result)
    assert waits.rows.tolist() == [0, 1]
    assert waits.recorded.tolist() == [0, 150]
    assert waits.simulated.tolist() == [0, 90]
    assert waits.left_out == {NO_RECORD: 1, NO_START: 1}
    assert Distance.of(waits) == Distance(2, 30.0, 30.0, -30.0, 30.0)
    assert within(waits) == {"1 min": 1.0, "10 min": 1.0, "1 h": 1.0}
    assert spread(waits.recorded) == {"mean": 75.0, "median": 75.0, "p90": 135.0}
    order = Order.of(waits)
    assert (order.kendall, order.spearman, order.waits) == pytest.approx((1, 1, 1))


def test_nodes_in_use_by_hand():
    use = use_of(by_hand(), waits_of(by_hand()))
    assert use.edges.tolist() == [0, 210]  # job 2 runs from 160 to 210 by the record
    assert use.mean() == (300 / 420, 300 / 420)
    assert use.mean_absolute_difference() == 0


def test_amounts_in_use_between_edges():
    begin, end = np.array([0, 5]), np.array([10, 10])
    amount, edges = np.array([1.0, 2.0]), np.array([0, 4, 8, 12])
    assert mean_in_use(begin, end, amount, edges).tolist() == [1.0, 2.5, 1.5]
    assert most_in_use(begin, end, amount, edges).tolist() == [1.0, 3.0, 3.0]
    assert most_in_use(np.array([0, 4]), np.array([4, 8]), np.array([5.0, 1.0]), edges).tolist() == [5, 1, 0]


def test_slices_by_hand():
    result = by_hand()
    waits = waits_of(result)
    users = sliced(result, waits, "user")
    assert users["components"].to_dict() == {"ada": 1, "ben": 1}
    assert users.loc["ben", ["recorded", "simulated", "difference", "absolute"]].tolist() == [
        150,
        90,
        -60,
        60,
    ]
    assert sliced(result, waits, "size")["components"].to_dict() == {"2–4": 2}
    assert list(sliced(result, waits, "partition").index) == ["cluster"]
    assert sliced(result, waits, "hour_of_week").index.tolist() == ["day 1 00:00"]
    assert sliced(result, waits, "day").index.tolist() == ["0"]
    assert sliced(result, waits, "week").index.tolist() == ["1"]
    for name in SLICES:
        assert sliced(result, waits, name)["components"].sum() == 2
    with pytest.raises(InputError, match="did you mean 'user'"):
        sliced(result, waits, "users")


def test_hours_of_the_week():
    monday = 843480031  # Mon Sep 23 1996, 12:00:31 UTC
    times = np.array([0, 12 * HOUR, 7 * DAY])
    assert hours_of_week(times, {"trace": {"unix_start_time": monday}}).tolist() == [12, 24, 12]
    assert hours_of_week(times, {"trace": {"unix_start_time": 0}}).tolist() == [0, 12, 0]
    assert hours_of_week(times, {}).tolist() == [0, 12, 0]


def test_differences_that_cancel_within_a_day_count_one_by_one_only():
    jobs = Workload.from_columns(
        nodes=1, submit_time=[0, 1, DAY, DAY + 1], run_time=10, wait_time=[60, 0, 0, 60], user="u"
    )
    waits = waits_of(simulate(System.homogeneous(4), jobs, "fcfs"))
    assert waits.difference.tolist() == [-60, 0, 0, -60]
    assert Distance.of(waits).by_day == 30
    waits = waits.of(np.array([True, False, False, True]))
    turned = type(waits)(waits.rows, waits.submit * 0, waits.recorded, np.array([120, 0]), {})
    assert Distance.of(turned) == Distance(2, 60.0, 60.0, 0.0, 0.0)


def test_without_a_record_there_is_no_column_and_a_clear_error(tmp_path):
    jobs = Workload.from_columns(nodes=1, submit_time=[0, 1], run_time=10)
    result = simulate(System.homogeneous(1), jobs, "fcfs")
    assert "recorded_wait" not in result.components
    assert "recorded" not in result.manifest
    with pytest.raises(InputError, match="no component of this result has a recorded start"):
        waits_of(result)
    rejected = jobs.replace(nodes=[9, 9], wait_time=[0, 0])
    with pytest.raises(InputError, match="nothing is compared"):
        waits_of(simulate(System.homogeneous(1), rejected, "fcfs"))


def test_the_record_is_kept_in_the_directory(tmp_path):
    result = by_hand()
    result.check()
    again = Result.load(result.save(tmp_path / "result"))
    assert again.components["recorded_wait"].tolist() == [0, 150, -1, 5]
    assert again.components["recorded_run_time"].tolist() == [100, 50, 30, 10]
    assert again.manifest["recorded"] is True
    again.check()


def test_the_wait_of_a_job_is_not_that_of_each_of_its_components():
    columns = {
        "wait_time": np.array([7, 7, 8, -1]),
        "component_wait_time": np.array([-1, 9, -1, -1]),
        "components_total": np.array([2, 2, 1, 1]),
        "skipped": np.zeros(4),
    }
    assert recorded_waits(columns).tolist() == [-1, 9, 8, -1]
    assert recorded_waits(columns | {"skipped": np.array([0, 1, 1, 0])}) is None


JOBS = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(0, 900), st.integers(1, 5)), min_size=1, max_size=12
)


@examples(15)
@given(jobs=JOBS, policy=st.sampled_from(["fcfs", "easy", "conservative"]))
def test_a_run_of_its_own_record_is_no_distance_away(jobs, policy):
    submit, run, nodes = map(list, zip(*sorted(jobs), strict=True))
    trace = Workload.from_columns(nodes=nodes, submit_time=submit, run_time=run)
    system = System.homogeneous(4)
    first = simulate(system, trace, policy)
    recorded = as_ran(trace, first.components)
    result = simulate(system, recorded, policy)
    if not (first.components["start_time"] >= 0).any():
        return
    waits = waits_of(result)
    assert waits.left_out.get(NO_START, 0) == 0
    distance = Distance.of(waits)
    assert (distance.mean_absolute, distance.mean, distance.by_day) == (0, 0, 0)
    assert set(within(waits).values()) == {1.0}
    order = Order.of(waits)
    for value in (order.kendall, order.spearman, order.waits):
        assert np.isnan(value) or value == pytest.approx(1)
    use = use_of(result, waits)
    np.testing.assert_allclose(use.recorded, use.simulated)
