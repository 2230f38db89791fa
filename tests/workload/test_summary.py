"""What inspect shows of a trace."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import Workload, read_trace
from scheduler_sim.workload.summary import summarise
from scheduler_sim.workload.trace_warnings import clock_jumps, warnings_of
from tests.workload.records import mwf, swf, write


def test_counts_and_spreads(tmp_path):
    lines = [
        "; MaxNodes: 8",
        swf({1: 1, 2: 0, 4: 50, 8: 1}),
        swf({1: 2, 2: 100, 4: 100, 8: 4, 12: 3}),
        swf({1: 3, 2: 60, 4: 0, 8: 6, 9: -1, 15: 4}),
        swf({1: 3, 2: 200, 4: 150, 8: 16}),
        swf({1: 5, 4: -1}),
        swf({1: 6, 11: 5, 4: 0}),
        swf({1: 7, 5: -1, 8: -1}),
    ]
    found = summarise(read_trace(write(tmp_path / "t.swf", lines)))
    assert (found.records, found.simulated, found.nodes) == (7, 4, 8)
    assert found.skipped == {"cancelled before it ran": 1, "run time unknown": 1, "no nodes": 1}
    assert (found.users, found.applications, found.partitions) == (2, 1, {"2": 3, "4": 1})
    assert (found.first_submit, found.last_submit) == (0, 200)
    assert found.node_seconds == 50 + 400 + 0 + 2400
    assert found.load == pytest.approx(2850 / (8 * 200))
    assert (found.serial_share, found.power_of_two_share) == (0.25, 0.75)
    spread = found.spreads["nodes"]
    assert (spread.minimum, spread.median, spread.maximum, spread.mean) == (1, 5, 16, 6.75)
    assert found.spreads["accuracy"].maximum == 1.5
    assert found.spreads["inter_arrival"].maximum == 100
    assert sum(part.components for part in found.slices) == 4
    assert sum(part.node_seconds for part in found.slices) == 2850
    assert (found.slices[0].start, found.slices[-1].end, len(found.slices)) == (0, 200, 12)
    assert found.warnings == (
        "1 record submitted before the record above (the simulation sorts by submit time), first at line 4",
        "1 record with a run time of 0, first at line 4",
        "1 record run longer than their limit and will be killed, first at line 5",
        "1 record larger than the machine of 8 nodes, first at line 5",
        "1 record without a requested time (the run time is used), first at line 4",
        "1 record with a component id that occurred before, first at line 5",
    )


def test_modular_jobs(tmp_path):
    lines = [
        mwf({2: 2, 41: -1, 42: 30, 6: -1}),
        mwf({2: 2, 8: 2, 14: "ESB", 41: 40, 6: -1}),
        mwf({1: 3, 8: 3, 2: 2, 39: 1, 40: "AFTEROK", 6: -1}),
    ]
    found = summarise(read_trace(write(tmp_path / "t.mwf", lines)), nodes=10)
    assert (found.modular_jobs, found.heterogeneous_jobs, found.dependencies) == (2, 1, 1)
    assert found.partitions == {"CM": 2, "ESB": 1}
    assert found.not_honoured == {"heterogeneous": 3, "delay": 1, "api_call": 1}
    assert found.load is None
    assert found.slices == ()
    assert found.warnings == (
        "no component has a time limit: MaxTime of the partition, else the run time is used",
        "1 record of a job that states another number of components, first at line 3",
    )


def test_no_limits_and_nothing_simulated(tmp_path):
    found = summarise(read_trace(write(tmp_path / "t.swf", [swf({9: -1}), swf({9: 0, 1: 2})])))
    assert found.warnings == (
        "no record has a requested time: run times serve as limits, so estimates are perfect",
    )
    assert "accuracy" not in found.spreads
    found = summarise(read_trace(write(tmp_path / "t.swf", [swf({4: -1})])))
    assert found.warnings == ("no record is simulated",)
    assert (found.simulated, found.load, found.spreads, found.serial_share) == (0, None, {}, None)


def test_a_workload_made_in_python():
    found = summarise(Workload.from_columns(nodes=[1, 2], submit_time=[0, 9], run_time=[3, 4]), nodes=2)
    assert found.load == pytest.approx(11 / 18)
    assert found.records == 2


def test_clock_jumps_are_named_where_a_log_is_in_order_else():
    hours = np.arange(300) * 3600
    back = hours.copy()
    back[100:] -= 7200
    assert np.flatnonzero(clock_jumps(back)).tolist() == [100]
    assert not clock_jumps(hours).any()
    assert not clock_jumps(hours[::-1]).any()
    back[100] += 4000
    assert not clock_jumps(back).any()
    back[100] -= 4000
    jobs = Workload.from_columns(nodes=1, submit_time=back, run_time=5)
    assert "1 record submitted an hour or more before the record above" in " ".join(warnings_of(jobs, None))
