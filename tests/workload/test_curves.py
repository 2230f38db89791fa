"""What one plots of a trace: exact curves of hand-made ones, hours and days by the calendar."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Workload, read_trace
from scheduler_sim.errors import InputError
from scheduler_sim.workload.curves import curves_by_module, curves_of, module_names
from scheduler_sim.workload.local_time import local_clock
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.summary import summarise
from tests.conftest import SHARED, needs_shared
from tests.workload.records import mwf, swf, write

HOUR, DAY = 3600, 86400
SUMMER = 868_867_200  # Monday 14 July 1997, 8:00 UTC
WINTER = 852_537_600  # Monday 6 January 1997, 8:00 UTC


def pairs(cdf) -> list[tuple[float, float]]:
    return list(zip(cdf.x.tolist(), cdf.share.tolist(), strict=True))


def of(tmp_path, *lines):
    return curves_of(read_trace(write(tmp_path / "t.swf", lines)))


def jobs_at(*submit, header=()) -> Workload:
    columns = {"nodes": 1, "submit_time": list(submit), "run_time": 1}
    return Workload(columns, TraceSource(header=tuple(header)))


def test_every_curve_of_a_small_trace(tmp_path):
    found = of(
        tmp_path,
        "; MaxProcs: 8",
        swf({1: 1, 2: 0, 4: 50, 8: 1, 9: 100}),
        swf({1: 2, 2: 30, 4: 100, 8: 4, 9: 100}),
        swf({1: 3, 2: 30, 4: 0, 8: 4, 9: -1}),
        swf({1: 4, 2: 120, 4: 300, 8: 16, 9: 200}),
        swf({1: 5, 2: 999_999, 4: -1, 9: 777}),
    )
    assert (found.name, found.jobs, found.components, found.nodes) == ("t.swf", 4, 4, 8)
    assert pairs(found.sizes) == [(1, 0.25), (4, 0.75), (16, 1)]
    assert pairs(found.run_times) == [(0, 0.25), (50, 0.5), (100, 0.75), (300, 1)]
    assert pairs(found.time_limits) == [(100, 2 / 3), (200, 1)]
    assert pairs(found.accuracy) == [(0.5, 1 / 3), (1, 2 / 3), (1.5, 1)]
    assert pairs(found.inter_arrivals) == [(0, 1 / 3), (30, 2 / 3), (90, 1)]
    assert found.load_edges.tolist() == list(range(0, 121, 2))
    assert {i: load for i, load in enumerate(found.load.tolist()) if load} == {
        0: 50 / 16,
        15: 400 / 16,
        59: 4800 / 16,
    }
    assert (found.calendar, found.unix_start) == (False, None)


def test_load_in_nodes_and_over_given_nodes():
    workload = Workload.from_columns(nodes=[2, 3], submit_time=[0, 60], run_time=[10, 4])
    assert curves_of(workload).nodes is None
    assert curves_of(workload).load[[0, -1]].tolist() == [20, 12]
    assert curves_of(workload, nodes=4).load[[0, -1]].tolist() == [5, 3]


def test_hours_and_days_of_the_traces_own_clock():
    found = curves_of(jobs_at(0, HOUR - 1, HOUR, 8 * DAY + 23 * HOUR))
    assert found.hour_shares[[0, 1, 23]].tolist() == [0.5, 0.25, 0.25]
    assert found.weekday_shares.tolist() == [0.75, 0.25, 0, 0, 0, 0, 0]
    assert not found.calendar


@pytest.mark.parametrize(
    ("zone", "start", "hour", "day"),
    [
        (["; TimeZoneString: Europe/Stockholm", "; TimeZone: 0"], SUMMER, 10, 0),
        (["; TimeZoneString: Europe/Stockholm", "; TimeZone: 0"], WINTER, 9, 0),
        (["; TimeZone: 3600"], SUMMER, 9, 0),
        (["; TimeZone: -32400"], SUMMER, 23, 6),
        (["; TimeZoneString: Utopia/Capital", "; TimeZone: 7200"], SUMMER, 10, 0),
        (["; TimeZoneString: ../../../etc/passwd", "; TimeZone: 7200"], SUMMER, 10, 0),
        (["; TimeZoneString: Europe", "; TimeZone: 7200"], SUMMER, 10, 0),
        (["; TimeZone: 999999"], SUMMER, 8, 0),
        (["; TimeZone: soon"], SUMMER, 8, 0),
        ([], SUMMER, 8, 0),
    ],
)
def test_hours_and_days_where_the_trace_was_recorded(zone, start, hour, day):
    found = curves_of(jobs_at(100, header=[f"; UnixStartTime: {start - 100}", *zone]))
    assert found.calendar
    assert found.unix_start == start - 100
    assert found.hour_shares.argmax() == hour
    assert found.weekday_shares.argmax() == day


def test_summer_time_begins_within_a_trace():
    two = 859_683_600  # Sunday 30 March 1997, 1:00 UTC: 2:00 in Stockholm becomes 3:00
    header = [f"; UnixStartTime: {two - 10}", "; TimeZoneString: Europe/Stockholm"]
    clock, _ = local_clock(jobs_at(0, header=header).source, np.array([9, 10]))
    assert (clock // HOUR % 24).tolist() == [1, 3]


@pytest.mark.parametrize("start", ["0", "-5", "999999999999999"])
def test_no_calendar_without_a_sensible_start(start):
    header = [f"; UnixStartTime: {start}", "; TimeZoneString: Europe/Stockholm"]
    found = curves_of(jobs_at(0, DAY, DAY, 2 * DAY, header=header))
    assert (found.calendar, found.unix_start) == (False, None)
    assert found.weekday_shares.tolist() == [0.25, 0.5, 0.25, 0, 0, 0, 0]


def test_modules_by_the_partition_named_first(tmp_path):
    lines = [
        mwf({1: 1, 8: 1, 14: "ESB,CM", 4: 0, 15: 2}),
        mwf({1: 2, 8: 2, 14: "CM", 4: 5, 15: 4}),
        mwf({1: 3, 8: 3, 14: " ESB ", 4: 9, 15: 8}),
        mwf({1: 4, 8: 4, 14: "NA", 4: 9, 15: 16}),
        mwf({1: 5, 8: 5, 14: "gone", 4: 9, 11: -1}),
    ]
    workload = read_trace(write(tmp_path / "t.mwf", lines))
    assert module_names(workload) == ["CM", "ESB", "none given"]
    cm, esb, none = curves_by_module(workload)
    assert (cm.name, cm.components, pairs(cm.sizes), cm.inter_arrivals) == ("CM", 1, [(4, 1)], None)
    assert (esb.name, pairs(esb.sizes), pairs(esb.inter_arrivals)) == ("ESB", [(2, 0.5), (8, 1)], [(9, 1)])
    assert (none.name, pairs(none.sizes)) == ("none given", [(16, 1)])
    with pytest.raises(InputError, match="found 'gone'; allowed: CM, ESB, none given"):
        curves_of(workload, module="gone")


def test_jobs_of_several_components(tmp_path):
    workload = read_trace(
        write(tmp_path / "t.mwf", [mwf({2: 2}), mwf({2: 2, 8: 2, 14: "ESB"}), mwf({1: 3, 8: 3})])
    )
    found = curves_of(workload)
    assert (found.jobs, found.components) == (2, 3)


def test_a_trace_of_nothing_knows_nothing(tmp_path):
    found = of(tmp_path, "; UnixStartTime: 5", swf({4: -1}))
    assert (found.jobs, found.components) == (0, 0)
    curves = ("hour_shares", "weekday_shares", "sizes", "time_limits", "run_times", "accuracy")
    for name in (*curves, "inter_arrivals", "load_edges", "load"):
        assert getattr(found, name) is None, name


def test_one_job_has_no_span(tmp_path):
    found = of(tmp_path, swf({2: 7 * HOUR}))
    assert pairs(found.sizes) == [(4, 1)]
    assert found.hour_shares[7] == 1
    assert (found.inter_arrivals, found.load, found.load_edges) == (None, None, None)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9), st.integers(0, 99)), min_size=1))
def test_distributions_are_what_counting_gives(jobs):
    submit, nodes, run = zip(*jobs, strict=True)
    found = curves_of(Workload.from_columns(nodes=nodes, submit_time=submit, run_time=run, time_limit=50))
    gaps = np.diff(sorted(submit)).tolist()
    drawn = (found.sizes, found.run_times, found.accuracy, found.inter_arrivals)
    for cdf, values in zip(drawn, (nodes, run, [r / 50 for r in run], gaps), strict=True):
        if not values:
            assert cdf is None
            continue
        counted = [(x, sum(value <= x for value in values) / len(values)) for x in sorted(set(values))]
        assert pairs(cdf) == counted
    assert [found.hour_shares.sum(), found.weekday_shares.sum()] == pytest.approx([1, 1])
    if found.load is not None:
        work = sum(n * r for n, r in zip(nodes, run, strict=True))
        assert (found.load * np.diff(found.load_edges)).sum() == pytest.approx(work)


@needs_shared
def test_a_real_trace_works_by_day_and_rests_by_night():
    workload = read_trace(SHARED / "data" / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz")
    found = curves_of(workload)
    said = summarise(workload)
    assert found.calendar
    assert found.hour_shares[9:18].sum() > 0.7
    assert found.weekday_shares[5:].sum() < 0.15
    assert (
        float(found.run_times.x[np.searchsorted(found.run_times.share, 0.5)])
        == said.spreads["run_time"].median
    )
    work = (found.load * np.diff(found.load_edges)).sum() * found.nodes
    assert work == pytest.approx(said.node_seconds)
