"""Metrics: cases by hand, and agreement with the plain loops of ``plain`` on random schedules."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.metrics.compute import compute
from scheduler_sim.metrics.statistics import summary
from scheduler_sim.metrics.table import METRICS
from scheduler_sim.metrics.workflows import workflow_labels, workflow_table
from scheduler_sim.result.columns import COMPONENTS, TIMELINE
from tests.result.hand_made import Run, components_of, result_of, timeline_of

from . import plain

MODULES = {"CM": 4, "ESB": 8}
NOTHING = {"mean": None, "median": None, "p90": None, "p99": None, "max": None}


def edge_table(edges):
    return pd.DataFrame(np.array(edges, dtype=np.int64).reshape(-1, 2), columns=["row", "after_row"])


def agree(ours, theirs, where=""):
    """Every value that the plain loops give is ours to within the rounding."""
    for key, value in theirs.items():
        if isinstance(value, dict):
            agree(ours[key], value, f"{where}{key}.")
        elif value is None:
            assert ours[key] is None, where + key
        else:
            assert math.isclose(ours[key], value, abs_tol=1e-6, rel_tol=1e-12), where + key


def test_two_jobs_by_hand():
    # waits 0 and 9, runs 10 and 5, responses 10 and 14; 4 nodes over 15 s: (2·10 + 4·5) / 60
    metrics = result_of([Run(0, 0, 10, 2), Run(1, 10, 5, 4)], {"CM": 4}).metrics
    assert metrics["jobs"] == metrics["modular_jobs"] == 2
    assert metrics["wait_time"] == {"mean": 4.5, "median": 4.5, "p90": 8.1, "p99": 8.91, "max": 9.0}
    assert metrics["response_time"]["mean"] == 12.0
    assert metrics["slowdown"]["mean"] == (1 + 14 / 5) / 2
    assert metrics["bounded_slowdown"]["mean"] == (1 + 1.4) / 2
    assert metrics["makespan"] == 15
    assert metrics["utilization"] == {"CM": 0.666667, "total": 0.666667}
    assert metrics["counts"]["skipped"] == 2


def test_offered_load_by_hand():
    # submitted over 10 s: on the CM 2·10 + 4·15 node-seconds, on the ESB 8·5; a rejected one counts nowhere
    runs = [Run(0, 0, 10, 2), Run(4, 10, 15, 4), Run(10, 10, 5, 8, "ESB")]
    metrics = result_of([*runs, Run(99, None, 0, 9, state="REJECTED")], MODULES).metrics
    assert metrics["offered_load"] == {"CM": 80 / 40, "ESB": 40 / 80, "total": 120 / 120}
    (warning,) = metrics["warnings"]
    assert warning.startswith("the offered load on module CM is 2.00")


@pytest.mark.parametrize("runs", [[], [Run(0, 0, 10, 2), Run(0, 10, 50, 4)]])
def test_what_is_submitted_at_once_has_no_offered_load(runs):
    metrics = result_of(runs, {"CM": 4}).metrics
    assert metrics["offered_load"] == {"CM": None, "total": None}
    assert metrics["warnings"] == []


def test_keys_are_those_of_the_contract():
    metrics = result_of([Run(0, 0, 10, 2)], {"CM": 4}).metrics
    contract = [
        *("jobs", "modular_jobs", "wait_time", "response_time", "slowdown", "bounded_slowdown"),
        *("makespan", "utilization", "offered_load", "workflow", "energy", "counts", "warnings"),
    ]
    assert [name for name in metrics if name in contract] == contract
    assert metrics.keys() - contract <= {metric.name for metric in METRICS}
    counts = metrics["counts"]
    assert {"skipped", "rejected", "timed_out", "pending", "not_honoured"} <= set(counts)


@pytest.mark.parametrize("runs", [[], [Run(0, None, 0, 9, state="REJECTED")]])
def test_nothing_to_average_is_none(runs):
    metrics = result_of(runs, MODULES).metrics
    assert metrics["jobs"] == len(runs)
    for name in ("wait_time", "response_time", "slowdown", "bounded_slowdown"):
        assert metrics[name] == NOTHING
    assert metrics["makespan"] is None
    assert metrics["utilization"] == {"CM": None, "ESB": None, "total": None}
    assert metrics["workflow"]["workflows"] == 0
    assert metrics["workflow"]["slowdown"] == NOTHING
    assert set(metrics["energy"].values()) == {None}


def test_a_makespan_of_nothing_has_no_utilization():
    metrics = result_of([Run(5, 5, 0, 2)], {"CM": 4}).metrics
    assert metrics["makespan"] == 0
    assert metrics["utilization"] == {"CM": None, "total": None}
    assert metrics["slowdown"]["mean"] == 0.0  # response 0 / max(run 0, 1)
    assert metrics["bounded_slowdown"]["mean"] == 1.0


def test_states_are_counted_and_the_reader_adds_its_own():
    runs = [
        Run(0, 0, 5, 1),
        Run(0, 0, 5, 1, limit=5, state="TIMEOUT"),
        Run(0, None, 0, 9, state="REJECTED"),
        Run(0, None, 0, 4, state="PENDING"),
    ]
    components, timeline = components_of(runs), timeline_of(runs, MODULES, {})
    counts = {"skipped": 3, "not_honoured": {"delay": 2}}
    found = compute(components, timeline, modules=MODULES, counts=counts)["counts"]
    assert found == {
        "skipped": 3,
        "completed": 1,
        "rejected": 1,
        "timed_out": 1,
        "failed": 0,
        "cancelled": 0,
        "pending": 1,
        "not_honoured": {"delay": 2},
    }


def test_nodes_out_of_service_do_not_count_as_offered():
    # 4 nodes for 5 s, then 2 for 5 s: 30 node-seconds in service, 20 used
    result = result_of([Run(0, 0, 10, 2)], {"CM": 4}, down={"CM": {5: 2}})
    assert result.metrics["utilization"]["CM"] == 0.666667
    # out of service before the first submission and long after the last end: outside the makespan
    result = result_of([Run(10, 10, 10, 2)], {"CM": 4}, down={"CM": {0: 4, 10: 0, 30: 4}})
    assert result.metrics["utilization"]["CM"] == 0.5


def test_energy_when_a_model_gave_it():
    runs = [Run(0, 0, 10, 2), Run(0, 0, 5, 2)]
    components, timeline = components_of(runs), timeline_of(runs, {"CM": 4}, {})
    components["energy_j"] = [2000.0, 1000.0]
    watts = {0: 700.0, 5: 400.0, 10: 100.0}
    timeline["power_w"] = timeline["time"].map(watts).astype(float)
    assert compute(components, timeline, modules={"CM": 4})["energy"] == {
        "components_j": 3000.0,
        "system_j": 5500.0,
        "mean_power_w": 550.0,
        "max_power_w": 700.0,
    }


def test_a_workflow_by_hand():
    # D2.3 equations 3.1 to 3.9: b waits 3 s after a, c starts while b runs, d is tied to nothing
    runs = [
        Run(0, 2, 10, 1),  # a: 2 to 12
        Run(1, 15, 20, 1),  # b after a: 15 to 35
        Run(1, 20, 5, 1),  # c after a and b (AFTER): 20 to 25
        Run(4, 40, 1, 1),  # d
    ]
    edges = edge_table([(1, 0), (2, 0), (2, 1)])
    table = workflow_table(components_of(runs), edges)
    assert table.iloc[0].to_dict() == {
        "start_time": 2,
        "submission_time": 0,
        "end_time": 35,
        "runtime": 33,
        "response_time": 35,
        "components_runtime": 35,
        "internal_wait_time": 3,
        "slowdown": 1.0,
        "normalized_runtime": 33 / 35,
        "node_seconds": 35,
        "critical_path": 35,  # without kinds every dependency is one on an end
        "stretch": 1.0,
        **dict.fromkeys(("held_idle", "held_late", "lateness", "appointments", "late"), 0),
        "components": 3,
    }
    assert table["components"].tolist() == [3, 1]
    metrics = result_of(runs, {"CM": 4}, edges=edges).metrics["workflow"]
    assert (metrics["workflows"], metrics["complete"], metrics["components"]) == (1, 1, 3)
    assert metrics["internal_wait_time"]["mean"] == 3.0
    assert metrics["with_single_components"]["workflows"] == 2
    assert metrics["with_single_components"]["internal_wait_time"]["mean"] == 1.5


def test_a_heterogeneous_job_is_a_workflow_and_waits_for_itself_nowhere():
    runs = [Run(0, 0, 10, 1, job=7), Run(0, 20, 10, 1, "ESB", job=7), Run(0, 0, 3, 1, job=8)]
    metrics = result_of(runs, MODULES).metrics
    assert metrics["modular_jobs"] == 2
    assert metrics["workflow"]["workflows"] == 1
    assert metrics["workflow"]["runtime"]["mean"] == 30.0
    assert metrics["workflow"]["internal_wait_time"]["mean"] == 0.0


def test_a_workflow_that_did_not_run_whole_is_counted_but_not_averaged():
    runs = [Run(0, 0, 10, 1), Run(0, None, 0, 4, state="PENDING")]
    metrics = result_of(runs, MODULES, edges=edge_table([(1, 0)])).metrics["workflow"]
    assert (metrics["workflows"], metrics["complete"]) == (1, 0)
    assert metrics["runtime"] == NOTHING


def test_long_chains_are_one_workflow():
    count = 50_000
    order = np.random.default_rng(1).permutation(count)
    edges = pd.DataFrame({"row": order[1:], "after_row": order[:-1]})
    assert not workflow_labels(np.arange(count), edges).any()


def test_a_job_keeps_its_workflow_whatever_its_number():
    labels = workflow_labels(np.array([9, 3, 9, 4, 3]), edge_table([(3, 4)]))
    assert labels.tolist() == [0, 1, 0, 1, 1]


@given(st.lists(st.integers(-(10**6), 10**12), max_size=60))
def test_summary_is_numpys_linear_percentile(values):
    found = summary(np.array(values, dtype=np.int64))
    if not values:
        assert found == NOTHING
        return
    for name, percent in (("median", 50), ("p90", 90), ("p99", 99)):
        assert math.isclose(found[name], np.percentile(values, percent), rel_tol=1e-12, abs_tol=1e-6)
    agree(found, plain.summary(values))


@st.composite
def schedules(draw):
    """Any components at all; metrics do not ask whether a schedule is possible."""
    count = draw(st.integers(0, 14))
    runs = []
    for _ in range(count):
        submit, wait = draw(st.integers(0, 30)), draw(st.integers(0, 30))
        started = draw(st.integers(0, 5)) > 0
        runs.append(
            Run(
                submit=submit,
                start=submit + wait if started else None,
                run=draw(st.integers(0, 25)),
                nodes=draw(st.integers(1, 4)),
                module=draw(st.sampled_from(sorted(MODULES))),
                state="COMPLETED" if started else "PENDING",
                job=draw(st.integers(1, 14)),
            )
        )
    row = st.integers(0, max(count - 1, 0))
    edges = draw(st.lists(st.tuples(row, row).filter(lambda e: e[0] != e[1]), max_size=6 if count > 1 else 0))
    down = {
        name: draw(st.dictionaries(st.integers(0, 60), st.integers(0, nodes), max_size=3))
        for name, nodes in MODULES.items()
    }
    return runs, edges, down


@given(schedules())
def test_all_metrics_are_those_of_the_plain_loops(schedule):
    runs, edges, down = schedule
    components, timeline = components_of(runs), timeline_of(runs, MODULES, down)
    ours = compute(components, timeline, modules=MODULES, edges=edge_table(edges))
    rows, samples = components.to_dict("records"), timeline.to_dict("records")
    agree(ours, plain.job_metrics(rows))
    agree(ours["utilization"], plain.utilization(rows, samples, MODULES))
    agree(ours["workflow"], plain.workflow_metrics(rows, edges))
    assert ours["modular_jobs"] == len({row["modular_job_id"] for row in rows})


def test_equations_are_all_there():
    equations = [metric.equation for metric in METRICS if metric.equation]
    assert equations == [f"3.{i}" for i in range(1, 10)]
    assert len(COMPONENTS) == 20
    assert len(TIMELINE) == 8
