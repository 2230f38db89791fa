"""Events of the Slurm simulators are read as traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_sim import read_trace, simulate
from scheduler_sim.errors import TraceError
from scheduler_sim.system.read_system import read_system
from tests.conftest import SHARED, needs_shared

SUBMIT = "-e submit_batch_job |"
LINES = f"""\
# two jobs, and what is not one
-dt 10.75 {SUBMIT} -sim-walltime 20.2 --uid=ann -J one -N 1-2 -n 4 -c 2 -t 1:00 -p p --mem=2G x.job --not-read
-dt 11 -e cancel_job | -J one
-dt 12 {SUBMIT} -sim-walltime -1 --uid bob -t 2 --mem-per-cpu=500 --gres=gpu:a:2 --exclusive=user --nice=3 x
"""


def read(folder: Path, text: str, name: str = "w.events"):
    (folder / name).write_text(text)
    return read_trace(folder / name)


def test_jobs_have_what_sbatch_was_given(tmp_path: Path) -> None:
    jobs = read(tmp_path, LINES)
    told = {
        "submit_time": [10, 12],
        "run_time": [21, 120],
        "time_limit": [60, 120],
        "nodes": [1, 1],
        "max_nodes": [2, 0],
        "tasks": [4, 0],
        "cores_per_task": [2, -1],
        "memory_kb": [2 * 1024**2, -1],
        "memory_per_core_kb": [-1, 500 * 1024],
        "exclusive": [0, 1],
    }
    assert {name: jobs[name].tolist() for name in told} == told
    assert list(jobs["user"]) == ["ann", "bob"]
    assert list(jobs["gres"]) == ["", "gpu:a:2"]
    assert jobs.source.notes == ("events cancel_job left out: 1", "options --nice left out: 1")
    assert jobs.source.line_of(1) == 4


def test_what_may_be_requeued_says_so_itself(tmp_path: Path) -> None:
    options = ("--requeue", "--no-requeue", "--requeue --no-requeue", "-n 2")
    lines = [f"-dt {i} {SUBMIT} -sim-walltime 5 {said} x" for i, said in enumerate(options)]
    assert read(tmp_path, "\n".join(lines))["requeue"].tolist() == [1, 0, 0, -1]


@pytest.mark.parametrize(
    ("options", "exclusive", "oversubscribe"),
    [
        ("-s -n 2", 0, 1),
        ("--oversubscribe -n 2", 0, 1),
        ("--oversubscribe --exclusive -n 2", 1, 0),
        ("-n 2", 0, 0),
    ],
)
def test_who_shares_cores_is_said_last(
    tmp_path: Path, options: str, exclusive: int, oversubscribe: int
) -> None:
    """Both are one option of sbatch, which keeps what comes last; it has no value."""
    (job,) = read(tmp_path, f"-dt 1 {SUBMIT} -t 1 {options} x\n").table.to_dict("records")
    assert (job["exclusive"], job["oversubscribe"], job["tasks"]) == (exclusive, oversubscribe, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", ":1: not an event"),
        (f"\n-dt x {SUBMIT} -t 1 a.job", ":2: not a number; field dt"),
        (f"-dt 1 {SUBMIT} -n many -t 1 a.job", ":1: not a count; field tasks"),
        (f"-dt 1 {SUBMIT} -t 1 --mem=lots a.job", ":1: not memory; field mem"),
        (f"-dt 1 {SUBMIT} -J 'open a.job", ":1: options that cannot be split"),
        (f"-dt 1 {SUBMIT} -n 1 a.job", ":1: no run time; field sim-walltime"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TraceError) as raised:
        read(tmp_path, text + "\n")
    assert message in str(raised.value)


@needs_shared
@pytest.mark.parametrize("policy", ["first_fit", pytest.param("slurm", marks=pytest.mark.long)])
def test_a_site_with_its_events_runs_whole(policy: str) -> None:
    site = SHARED / "data" / "sites" / "ub_medium"
    jobs = read_trace(site / "workload_5k.events.gz")
    assert len(jobs.table) == 5000
    assert jobs.source.notes == ()
    keys = {"backfill": "first_fit"} if policy == "first_fit" else policy
    result = simulate(read_system(site / "slurm.conf"), jobs, keys)
    result.check()
    assert (result.components["start_time"] >= 0).all()
