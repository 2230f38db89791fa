"""What a run made of a trace goes into the fields for what was recorded, and nowhere else."""

from __future__ import annotations

import pytest

from scheduler_sim import System, Workload, read_trace, simulate, write_trace
from scheduler_sim.errors import InputError
from scheduler_sim.workload.as_ran import as_ran

pytestmark = pytest.mark.interpreted

PROFILE = {
    "name": "CM", "idle_w": 10, "typical_w": 100.4, "peak_w": 500, "reference_khz": 2_000_000,
    "pstates": {"lowest_khz": 1_000_000, "highest_khz": 2_000_000},
}  # fmt: skip
MODELS = {"energy": {"power": {"modules": [PROFILE]}}}
SYSTEM = System.from_dict({"modules": [{"name": "CM", "nodes": 4}]})


def record(number: int, submit: int, run: int, nodes: int, fields: int = 42) -> str:
    values = ["-1"] * 42
    values[0] = values[7] = str(number)
    values[1], values[3], values[5], values[10] = "1", str(submit), str(run), str(run)
    values[2] = values[8] = f"job{number}"
    values[11], values[13], values[14], values[39] = "0", "CM", str(nodes), "NA"
    return ";".join(values if fields == 42 else [v for i, v in enumerate(values) if i not in (19, 33)])


def test_positions_of_mwf(tmp_path):
    lines = [record(1, 0, 10, 3), record(2, 1, 5, 4), record(3, 2, 5, 9), record(4, 2, 5, 1, fields=40)]
    path = tmp_path / "trace.mwf"
    path.write_text("\n".join(lines) + "\n")
    result = simulate(SYSTEM, path, "fcfs", models=MODELS)
    write_trace(as_ran(read_trace(path), result.components), tmp_path / "done.mwf")
    done = [line.split(";") for line in (tmp_path / "done.mwf").read_text().splitlines()]
    told = {5: 4, 10: 9, 29: 28, 33: 32, 34: 33}
    found = [[fields[place] for place in told.values()] for fields in done]
    assert found == [
        ["0", "0", "3", "2000000", "301"],
        ["9", "9", "4", "2000000", "402"],
        ["-1", "-1", "-1", "-1", "-1"],  # too large: rejected
        ["13", "13", "1", "2000000", "100"],  # grew from 40 fields, which lack position 34
    ]
    for before, after in zip(lines[:3], done[:3], strict=True):
        same = [i for i in range(42) if i not in told.values()]
        assert [after[i] for i in same] == [before.split(";")[i] for i in same]
    again = read_trace(tmp_path / "done.mwf")
    assert again["average_power_w"].tolist() == [301, 402, -1, 100]
    assert again["allocated_frequency_khz"].tolist() == [2_000_000, 2_000_000, -1, 2_000_000]
    repeated = simulate(SYSTEM, again, "fcfs", models=MODELS)
    assert repeated.components["energy_j"].tolist()[:2] == result.components["energy_j"].tolist()[:2]


def test_without_an_energy_model_there_is_no_power():
    trace = Workload.from_columns(submit_time=[0, 0], nodes=[3, 3], run_time=[10, 10])
    done = as_ran(trace, simulate(SYSTEM, trace).components)
    assert done["component_wait_time"].tolist() == [0, 10]
    assert done["average_power_w"].tolist() == done["allocated_frequency_khz"].tolist() == [-1, -1]


def test_the_wait_of_a_job_is_that_of_its_first_component():
    trace = Workload.from_columns(
        submit_time=[0, 0, 0], nodes=[3, 3, 1], run_time=[10, 10, 5], modular_job_id=[1, 2, 2]
    )
    done = as_ran(trace, simulate(SYSTEM, trace).components)
    assert done["wait_time"].tolist()[0] == 0
    assert done["wait_time"][1] == done["wait_time"][2] == done["component_wait_time"][1:].min()


@pytest.mark.parametrize("ids", [[1, 3], [1]])
def test_a_result_of_something_else_is_refused(ids):
    trace = Workload.from_columns(submit_time=[0, 0], nodes=[3, 3], run_time=[10, 10], component_id=[1, 2])
    count = len(ids)
    other = Workload.from_columns(
        submit_time=[0] * count, nodes=[1] * count, run_time=[1] * count, component_id=ids
    )
    with pytest.raises(InputError, match="allowed: the result of a run of this trace"):
        as_ran(trace, simulate(SYSTEM, other).components)


def test_a_processor_of_swf_is_a_core_where_jobs_share_nodes(tmp_path):
    """Job 1 asks for 5 processors: 3 cores on each of 2 nodes of G. On W, of whole nodes, one is a node."""
    path = tmp_path / "trace.swf"
    lines = (
        f"{i} 0 -1 5 -1 -1 -1 {n} 9 -1 1 1 1 1 {queue} -1 -1 -1" for i, n, queue in ((1, 5, 1), (2, 2, 2))
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    system = System.from_dict(
        {
            "modules": [
                {"name": "G", "nodes": 2, "shared": True, "cores_per_node": 4}, {"name": "W", "nodes": 2},
            ],
            "swf": {"partitions": {"1": "G", "2": "W"}},
        }
    )  # fmt: skip
    result = simulate(system, path, "fcfs")
    assert result.components["nodes"].tolist() == [2, 2]
    done = as_ran(read_trace(path), result.components, {"G"})
    assert done["allocated_nodes"].tolist() == [6, 2]
