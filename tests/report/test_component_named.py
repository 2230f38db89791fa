"""Components by the names that Slurm gives them: tasks of arrays, components of jobs."""

from __future__ import annotations

import pytest

from scheduler_sim import Result, read_trace, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.report.component_named import row_named
from scheduler_sim.report.explain import explain
from scheduler_sim.system.system import System
from tests.workload.sacct_dump import dump

JOBS = (
    {"JobID": "30_1", "JobIDRaw": "31"},
    {"JobID": "30_12", "JobIDRaw": "30"},
    {"JobID": "301", "JobIDRaw": "301"},
    {"JobID": "40+0", "JobIDRaw": "40"},
    {"JobID": "40+1", "JobIDRaw": "41"},
    {"JobID": "50_7", "JobIDRaw": "57"},
)
SYSTEM = {"modules": [{"name": "CM", "nodes": 4}], "partitions": [{"name": "batch", "module": "CM"}]}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("named")
    made = simulate(System.from_dict(SYSTEM), read_trace(dump(folder, *JOBS)), "easy")
    made.save(folder / "out")
    return Result.load(folder / "out")


@pytest.mark.parametrize(
    ("named", "component"),
    [
        ("30_1", 31),
        ("30_12", 30),
        ("301", 301),
        (301, 301),
        ("30", 30),
        ("40+1", 41),
        ("40+0", 40),
        (" 31 ", 31),
    ],
)
def test_who_is_meant(result, named, component):
    assert explain(result, named).request.component_id == component
    assert result.components["array_task_id"].tolist() == [1, 12, -1, -1, -1, 7]


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("30_2", "no task 2 in array 30; its tasks are 1 and 12"),
        ("31_1", "no array 31 in this result; its arrays are 30 and 50"),
        ("50", "50 is an array, not a component; its tasks are 50_7"),
        ("40+2", r"no component 40\+2: job 40 has 2 components"),
        ("302", "no component 302"),
        ("3_0_1", "is not a number"),
        ("٣", "is not a number"),
        ("30_[1-2]", "is not a number"),
        ("1e2", "is not a number"),
    ],
)
def test_who_is_not_there(result, named, told):
    with pytest.raises(InputError, match=told):
        row_named(result.components, named)


def test_a_result_without_arrays(tmp_path):
    made = simulate(System.from_dict(SYSTEM), read_trace(dump(tmp_path, JOBS[2])), "easy")
    assert "array_job_id" not in made.components
    with pytest.raises(
        InputError, match="no task 30_1: this result has no tasks of arrays; ids run from 301"
    ):
        row_named(made.components, "30_1")
