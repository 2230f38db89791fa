"""The table of runs: what it says of requeues, failures and ends, and each way of being wrong."""

from __future__ import annotations

import pytest

from scheduler_sim import Result
from scheduler_sim.errors import InvariantError
from scheduler_sim.result.columns import NODE_FAIL, REQUEUED
from scheduler_sim.result.packed import Member, write_pack
from tests.simulation.acting import at, simulation

pytestmark = pytest.mark.interpreted


def hit_twice(policy: str = "easy") -> Result:
    """Of 4 nodes: 1 (4 nodes, 10 s) is requeued at 3, loses its nodes at 5, and runs from 6 to 16.

    2 (2 nodes, 5 s) runs from 16 until its nodes fail at 18; 3 is left alone.
    """
    sim = simulation(4, (0, 4, 10), (1, 2, 5), (20, 1, 4), policy=policy)
    at(sim, 3, lambda: sim.requeue(1))
    at(sim, 5, lambda: sim.fail("cluster", 4, requeue=True))
    at(sim, 6, lambda: sim.resume("cluster", 4))
    at(sim, 18, lambda: sim.fail("cluster", 4))
    at(sim, 19, lambda: sim.resume("cluster", 4))
    return sim.run()


@pytest.mark.parametrize("policy", ["easy", "fcfs", "conservative"])
def test_every_run_that_was_lost_is_there_once(policy):
    result = hit_twice(policy)
    result.check()
    columns = [
        "component_id",
        "run",
        "nodes",
        "start_time",
        "end_time",
        "state",
        "lost_s",
        "node_seconds_lost",
    ]
    assert result.runs[columns].to_numpy().tolist() == [
        [1, 1, 4, 0, 3, REQUEUED, 3, 12.0],
        [1, 2, 4, 3, 5, NODE_FAIL, 2, 8.0],
        [1, 3, 4, 6, 16, "COMPLETED", 0, 0.0],
        [2, 1, 2, 16, 18, NODE_FAIL, 2, 4.0],
    ]
    assert result.metrics["lost"] == {
        "runs": 3,
        "components": 2,
        "node_seconds": {"cluster": 24, "total": 24},
        "repeated_node_seconds": {"cluster": 20, "total": 20},
        "share": {"cluster": round(24 / (20 + 40 + 4 + 4), 6), "total": round(24 / 68, 6)},
        "energy_j": None,
    }


def test_a_result_that_lost_nothing_has_no_runs(tmp_path):
    """Also where an older one in the directory has."""
    hit_twice().save(tmp_path / "run")
    assert (tmp_path / "run" / "runs.parquet").is_file()
    result = simulation(4, (0, 4, 10)).run()
    assert len(result.runs) == 0
    assert "lost" not in result.metrics
    result.save(tmp_path / "run")
    assert not (tmp_path / "run" / "runs.parquet").exists()
    assert len(Result.load(tmp_path / "run").runs) == 0


def test_the_runs_are_read_back_and_written_alike(tmp_path):
    result = hit_twice()
    first = result.save(tmp_path / "a")
    again = Result.load(first)
    again.check()
    assert again.runs.astype({"module": str, "state": str}).equals(
        result.runs.astype({"module": str, "state": str})
    )
    second = again.save(tmp_path / "b")
    assert (first / "runs.parquet").read_bytes() == (second / "runs.parquet").read_bytes()


def test_one_that_never_ran_again_has_lost_runs_alone():
    sim = simulation(2, (0, 2, 10))
    at(sim, 4, lambda: sim.fail("cluster", 1, requeue=True))
    result = sim.run()
    result.check()
    assert result.runs[["run", "state", "lost_s"]].to_numpy().tolist() == [[1, NODE_FAIL, 4]]
    assert result.metrics["lost"]["repeated_node_seconds"]["total"] == 0
    assert result.metrics["lost"]["share"] == {"cluster": 1, "total": 1}


def test_what_operators_requeue_after_it_has_ended_has_lost_all_of_it():
    sim = simulation(2, (0, 2, 10))
    at(sim, 12, lambda: sim.requeue(1))
    result = sim.run()
    result.check()
    assert result.runs[["start_time", "end_time", "state", "lost_s"]].to_numpy().tolist() == [
        [0, 10, REQUEUED, 10],
        [12, 22, "COMPLETED", 0],
    ]


BREACHES = {
    "no state": ("run-columns", ("state", 0, "LOST"), "'LOST' is no state"),
    "unknown": ("run-columns", ("component_id", 0, 77), "component 77 is not in the components"),
    "number": ("runs", ("run", 1, 3), "component 1 has runs [1, 3, 3], not 1 to 3"),
    "overlap": ("runs", ("end_time", 0, 4), "component 1 has runs that overlap"),
    "before": ("runs", ("start_time", 0, -1), "component 1 ran at -1, before it was submitted at 0"),
    "last": ("runs", ("start_time", 2, 7), "component 1 has start_time 6, its last run has 7"),
    "state": ("runs", ("state", 2, "TIMEOUT"), "component 1 is COMPLETED, its last run is TIMEOUT"),
    "too long": ("lost-work", ("lost_s", 0, 4), "run 1 of component 1 lost 4 s of 3"),
    "work": ("lost-work", ("node_seconds_lost", 0, 9.0), "lost 12.0 node-seconds, not 9.0"),
    "sum": ("lost-work", ("parts", 0, 0), "lost 0.0 node-seconds, not 12.0"),
}


@pytest.mark.parametrize("name", BREACHES)
def test_a_broken_law_is_named(name):
    law, (column, row, value), words = BREACHES[name]
    result = hit_twice()
    if column == "state":
        result.runs["state"] = result.runs["state"].cat.add_categories(value)
    result.runs.loc[row, column] = value
    with pytest.raises(InvariantError, match=f"^{law}: ") as caught:
        result.check()
    assert words in str(caught.value)


def test_a_run_that_is_missing_is_missing_from_the_busy_nodes():
    result = hit_twice()
    result.runs = result.runs.iloc[2:].assign(run=[1, 1]).reset_index(drop=True)
    with pytest.raises(InvariantError, match="node-seconds: components ran for 48 node-seconds"):
        result.check()


def test_the_runs_of_a_packed_result_are_read_back(tmp_path):
    """Results of two runs of a study, of which both lost some."""
    results = {"a": hit_twice(), "b": hit_twice("fcfs")}
    write_pack(tmp_path / "packs" / ("0" * 20), [Member.of(name, one, {}) for name, one in results.items()])
    for name, result in results.items():
        again = Result.load(tmp_path / "runs" / name)
        again.check()
        texts = {"module": str, "state": str}
        assert again.runs.astype(texts).equals(result.runs.astype(texts))
