"""Spans in which components were suspended: as text, and the law that holds for them."""

from __future__ import annotations

import pandas as pd
import pytest

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.errors import InvariantError
from scheduler_sim.result.suspensions import spans_in, spans_of, spans_text, working_spans

pytestmark = pytest.mark.interpreted


def result() -> Result:
    """The job of partition low works from 0 to 40, and from 60 to 120."""
    partitions = [{"name": name, "module": "m", "priority": tier} for name, tier in (("low", 1), ("high", 2))]
    system = System.from_dict({"modules": [{"name": "m", "nodes": 2}], "partitions": partitions})
    jobs = Workload.from_columns(
        nodes=[2, 1], submit_time=[0, 40], run_time=[100, 20], time_limit=[120, 60], partition=["low", "high"]
    )
    keys = {"PreemptType": "preempt/partition_prio", "PreemptMode": "SUSPEND,GANG", "bf_interval": 1}
    return simulate(system, jobs, Policy(name="slurm", backfill="slurm", slurm=keys))


def test_a_text_of_spans_is_read_as_it_was_written() -> None:
    spans = [(-5, 0), (40, 65), (90, 100)]
    assert spans_text(reversed(spans)) == "-5-0,40-65,90-100"
    assert spans_in(spans_text(spans)) == spans
    assert spans_in("") == []
    with pytest.raises(ValueError, match="'40-' are no spans of time"):
        spans_in("40-")


def test_a_component_works_between_them() -> None:
    table = pd.DataFrame(
        {"start_time": [0, 5, 7], "end_time": [50, 9, 7], "suspended": ["10-20,30-50", "", ""]}
    )
    assert [column.tolist() for column in spans_of(table)] == [[0, 0], [10, 30], [20, 50]]
    assert [column.tolist() for column in working_spans(table)] == [
        [0, 0, 1, 2],
        [0, 20, 5, 7],
        [10, 30, 9, 7],
    ]


@pytest.mark.parametrize(
    ("column", "value", "breach"),
    [
        ("suspended_time", 19, "component 1 was suspended for 19 s, its spans are of {seconds} s"),
        ("suspended", "0-20,10-30", "component 1 was suspended from 10 to 30, not in its run"),
        ("suspended", "110-130", "component 1 was suspended from 110 to 130, not in its run"),
        ("suspended", "soon", "'soon' are no spans of time"),
    ],
)
def test_they_lie_within_the_run_and_add_up(column: str, value: object, breach: str) -> None:
    found = result()
    found.check()
    seconds = found.components["suspended_time"].iloc[0]
    assert seconds > 0
    broken = found.components.astype({"suspended": str})
    broken.loc[0, column] = value
    found.components = broken.astype({"suspended": "category"})
    with pytest.raises(InvariantError, match=breach.format(seconds=seconds)):
        found.check()
