"""``squeue --json`` is read as the text of ``squeue --array`` of the same jobs is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.squeue import Queue, read_squeue
from scheduler_sim.workload.table import Workload

SUBMITTED, STARTED, ASKED = 1772690000, 1772697600, 1772697700
NOT_SET = {"set": False, "infinite": False, "number": 0}
TEXT = """\
JOBID|USER|PARTITION|STATE|TIME|START_TIME|TIME_LIMIT|NODES|CPUS|MIN_MEMORY|TRES_PER_NODE|SUBMIT_TIME|REASON|NODELIST|NAME
10|ann|all|RUNNING|1:40|2026-03-05T08:00:00|1:30:00|2|8|4000M|gres/gpu:2|2026-03-05T05:53:20|None|n[1-2]|a b
11_1|bob|all|PENDING|0:00|N/A|1-00:00:00|1|4|4000M|gres/gpu:a100:2|2026-03-05T05:53:20|Priority||b
11_3|bob|all|PENDING|0:00|N/A|1-00:00:00|1|4|4000M|gres/gpu:a100:2|2026-03-05T05:53:20|Priority||b
11_9|bob|all|PENDING|0:00|N/A|1-00:00:00|1|4|4000M|gres/gpu:a100:2|2026-03-05T05:53:20|Priority||b
12+1|bob|all|COMPLETING|2:08:20|2026-03-05T05:53:20|1:00|1|1|||2026-03-05T05:53:20|None|n3|c
"""


def number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


def job(job_id: int, *states: str, **more: Any) -> dict[str, Any]:
    """A record as Slurm 23.02 and later print it."""
    same = {"user_name": "bob", "partition": "all", "submit_time": number(SUBMITTED), "nodes": ""}
    return {"job_id": job_id, "job_state": list(states), **same, **more}


JOBS = [
    job(
        10,
        "RUNNING",
        user_name="ann",
        start_time=number(STARTED),
        time_limit=number(90),
        node_count=number(2),
        cpus=number(8),
        memory_per_node=number(4000),
        tres_per_node="",
        tres_req_str="cpu=8,mem=8000M,node=2,gres/gpu=4",
        state_reason="None",
        nodes="n[1-2]",
        name="a b",
    ),
    job(
        11,
        "PENDING",
        array_job_id=number(11),
        array_task_id=NOT_SET,
        array_task_string="1-3:2,9%2",
        start_time=number(0),
        time_limit=number(1440),
        node_count=number(1),
        cpus=number(4),
        memory_per_node=NOT_SET,
        memory_per_cpu=number(1000),
        tres_per_node="gres/gpu:a100:2",
        state_reason="Priority",
        name="b",
    ),
    job(
        13,
        "COMPLETED",
        "COMPLETING",
        het_job_id=number(12),
        het_job_offset=number(1),
        start_time=number(SUBMITTED),
        time_limit=number(1),
        node_count=number(1),
        cpus=number(1),
        state_reason="None",
        nodes="n3",
        name="c",
    ),
]


def read(tmp_path: Path, jobs: list[dict[str, Any]], name: str = "squeue.txt", **more: Any) -> Queue:
    said = {"meta": {}, "jobs": jobs, "last_update": number(ASKED), **more}
    (tmp_path / name).write_text(json.dumps(said))
    return read_squeue(tmp_path / name)


def table(jobs: Workload) -> dict[str, list[Any]]:
    return {column: list(jobs[column]) for column in jobs.columns}


def test_it_is_the_text_of_the_same_jobs(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    text, ours = read_squeue(tmp_path / "text.txt"), read(tmp_path, JOBS)
    for name in ("labels", "states", "nodes", "reasons", "origin"):
        assert getattr(ours, name) == getattr(text, name), name
    for name in ("start", "elapsed", "waits"):
        assert getattr(ours, name).tolist() == getattr(text, name).tolist(), name
    assert table(ours.jobs) == table(text.jobs)
    assert ours.asked_at() == text.asked_at() == ASKED - ours.origin
    assert list(ours.jobs["gpus"]) == [2, 2, 2, 2, -1]


def test_numbers_and_states_of_older_releases(tmp_path: Path) -> None:
    """Up to 22.05 numbers are numbers, and states are texts."""

    def older(value: Any) -> Any:
        return value["number"] if isinstance(value, dict) else value

    jobs = [{key: older(value) for key, value in one.items()} for one in JOBS]
    for one in jobs:
        one["job_state"] = one["job_state"][-1]
    jobs[1]["array_task_id"] = None
    assert table(read(tmp_path, jobs, last_update=ASKED).jobs) == table(read(tmp_path, JOBS, "new.txt").jobs)


def test_time_in_which_a_job_was_suspended_is_none(tmp_path: Path) -> None:
    since = {"suspend_time": number(ASKED - 30), "pre_sus_time": number(50)}
    assert read(tmp_path, [JOBS[0] | since]).elapsed.tolist() == [80]
    assert read(tmp_path, [JOBS[0] | since | {"job_state": ["SUSPENDED"]}]).elapsed.tolist() == [50]


@pytest.mark.parametrize(
    ("jobs", "says"),
    [
        ([], "no records"),
        ([{"job_id": 1, "time": {}}], "jobs without job_state: this may be of another command"),
        ([JOBS[1] | {"array_task_string": "1-30,..."}], "tasks of an array; found '1-30,...'"),
        ([job(1, "RUNNING") | {"node_count": "two"}], "job 1 of the list cannot be read"),
    ],
)
def test_what_cannot_be_read_is_an_error(tmp_path: Path, jobs: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(TraceError, match=says):
        read(tmp_path, jobs)
