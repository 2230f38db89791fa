"""What squeue shows, what is asked for, what was learnt from; errors name file, line and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import Policy, System, Workload, read_trace
from scheduler_sim.errors import InputError
from scheduler_sim.prediction.asked import read_asked
from scheduler_sim.prediction.history import history_of
from scheduler_sim.prediction.predict import predict
from scheduler_sim.prediction.state import limits, state_of_queue
from scheduler_sim.workload.squeue import read_squeue
from tests.conftest import ROOT

pytestmark = pytest.mark.interpreted

HEADER = "JOBID|USER|PARTITION|STATE|TIME|START_TIME|TIME_LIMIT|NODES|SUBMIT_TIME|REASON|NAME"
RUNS = "12|ann|batch|RUNNING|1:00:05|2026-03-02T09:00:00|2:00:00|2|2026-03-02T08:00:00|None|cfd"
WAITS = "13_4|bob|batch|PENDING|0:00|N/A|1-00:00:00|4|2026-03-02T08:30:00|Priority|x"
HELD = "14|bob|batch|PENDING|0:00|N/A|30:00|4|2026-03-02T08:40:00|(Dependency)|x"
SYSTEM = System.from_dict({"modules": [{"name": "batch", "nodes": 8}]})


@pytest.fixture
def squeue(tmp_path):
    """Write a dump of squeue; return its path."""

    def write(*lines, header=HEADER):
        path = tmp_path / "squeue.txt"
        path.write_text("\n".join([header, *lines, ""]))
        return path

    return write


def test_a_dump_of_squeue_is_what_runs_and_waits(squeue):
    queue = read_squeue(squeue(WAITS, RUNS, HELD))
    assert queue.labels == ("12", "13_4", "14")  # in the order of submission
    assert queue.waits.tolist() == [False, True, True]
    assert [bool(why) for why in queue.left_out()] == [False, False, True]
    assert queue.start.tolist() == [9 * 3600, -1, -1]
    assert queue.elapsed.tolist() == [3605, -1, -1]
    assert queue.jobs["time_limit"].tolist() == [7200, 86400, 1800]
    assert queue.jobs["submit_time"].tolist() == [8 * 3600, 8 * 3600 + 1800, 8 * 3600 + 2400]
    assert queue.asked_at() == 10 * 3600 + 5
    state, left_out = state_of_queue(queue, SYSTEM, None)
    assert (state.labels, state.at, left_out) == (("12", "13_4"), 10 * 3600 + 5, {"Dependency": 1})
    assert state.elapsed.tolist() == [3605, -1]


def test_names_may_hold_what_separates_columns_and_lines(squeue):
    queue = read_squeue(squeue(WAITS, RUNS.replace(RUNS.rsplit("|", 1)[1], "my|solver\u2028two"), HELD))
    assert queue.labels == ("12", "13_4", "14")
    assert [bool(why) for why in queue.left_out()] == [False, False, True]


def test_with_m_the_cluster_stands_before_the_header_and_a_limit_may_not_be_set(squeue):
    path = squeue(RUNS, WAITS.replace("1-00:00:00", "NOT_SET"))
    path.write_text("CLUSTER: hpc\n" + path.read_text())
    queue = read_squeue(path)
    assert queue.labels == ("12", "13_4")
    assert queue.jobs["time_limit"].tolist() == [7200, -1]


def test_what_neither_runs_nor_waits_is_left_out_by_its_state(squeue):
    """Of what is suspended, TIME does not tell when squeue was asked; what completes has ended."""
    rows = (RUNS.replace("RUNNING", "COMPLETING"), WAITS.replace("PENDING", "SPECIAL_EXIT"))
    queue = read_squeue(squeue(*rows))
    assert sorted(queue.left_out()) == ["COMPLETING", "SPECIAL_EXIT"]
    assert queue.asked_at() is None
    assert read_squeue(squeue(RUNS.replace("RUNNING", "SUSPENDED"))).asked_at() is None


def test_without_starts_the_instant_has_to_be_given(squeue):
    queue = read_squeue(squeue(RUNS.replace("2026-03-02T09:00:00", "N/A")))
    with pytest.raises(InputError, match=r"--at: not given"):
        state_of_queue(queue, SYSTEM, None)
    state, _ = state_of_queue(queue, SYSTEM, queue.origin + 40_000)
    assert state.start.tolist() == [40_000 - 3605]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            WAITS.replace("13_4", "13_[1-9]"),
            "2: .*; field JOBID; found '13_\\[1-9\\]'; allowed: one row per task",
        ),
        (WAITS.replace("PENDING", "COMPLETED"), "a job that has ended"),
        (WAITS.replace("PENDING", "ASLEEP"), "2: .*; field STATE; found 'ASLEEP'"),
        (WAITS.replace("|4|", "|-4|"), "2: .*; field NODES"),
        (WAITS.replace("2026-03-02T08:30:00", "tomorrow"), "2: .*; field SUBMIT_TIME; found 'tomorrow'"),
        (WAITS.replace("1-00:00:00", "soon"), "2: .*; field TIME_LIMIT; found 'soon'"),
        (WAITS.removesuffix("|x"), "2: too few fields.* found 10; allowed: 11"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(squeue, line, told):
    with pytest.raises(InputError, match=told):
        read_squeue(squeue(line))


def test_columns_that_are_needed(squeue):
    with pytest.raises(InputError, match=r"no column TIME_LIMIT; allowed: what squeue"):
        read_squeue(squeue("1|R|5:00", header="JOBID|STATE|TIME"))


def test_the_default_output_of_squeue_is_refused_with_what_to_ask_for(squeue):
    with pytest.raises(
        InputError, match=r"no header of squeue with \| between columns; allowed: what squeue"
    ):
        read_squeue(
            squeue("  12 batch cfd ann R 1:00 2 c[1-2]", header="JOBID PARTITION NAME USER ST TIME NODES")
        )
    with pytest.raises(InputError, match=r"not there\.txt"):
        read_squeue("not there.txt")


def test_what_runs_has_to_fit(squeue):
    """12 has 2 of the 8 nodes, another one all of them."""
    other = RUNS.replace("12|", "15|").replace("|2|", "|8|")
    state, _ = state_of_queue(read_squeue(squeue(RUNS, other, WAITS)), SYSTEM, None)
    jobs = Workload.from_columns(nodes=[1] * 4, submit_time=range(4), run_time=[5] * 4, time_limit=[9] * 4)
    past = history_of(jobs, SYSTEM, None)
    with pytest.raises(InputError, match=r"job 1[25] runs, but would not start on this system"):
        predict(SYSTEM, Policy.resolve("easy"), [state], past, draws=9)
    with pytest.raises(InputError, match="found 0 jobs that had ended"):
        predict(SYSTEM, Policy.resolve("easy"), [state], past.before(-1), draws=9)


def test_a_job_that_began_after_the_instant_is_an_error(squeue):
    queue = read_squeue(squeue(RUNS, WAITS))
    with pytest.raises(InputError, match="job 12 was submitted or started after"):
        state_of_queue(queue, SYSTEM, queue.origin + 8 * 3600)


def test_a_job_without_any_limit_is_an_error_and_takes_that_of_its_partition(squeue):
    queue = read_squeue(squeue(RUNS, WAITS.replace("1-00:00:00", "UNLIMITED")))
    with pytest.raises(InputError, match="job 13_4 has no time limit"):
        state_of_queue(queue, SYSTEM, None)
    partition = {"name": "batch", "module": "batch", "max_time": "4:00:00"}
    limited = System.from_dict({"modules": [{"name": "batch", "nodes": 8}], "partitions": [partition]})
    assert state_of_queue(queue, limited, None)[0].limit.tolist() == [7200, 4 * 3600]


def test_one_more_job_is_the_last_row(squeue):
    state, _ = state_of_queue(read_squeue(squeue(RUNS, WAITS)), SYSTEM, None)
    (one,) = read_asked("nodes=3 time=0:59 user=eve partition=batch")[:1]
    more = state.with_one_more(one, SYSTEM)
    assert more.jobs["nodes"].tolist() == [2, 4, 3]
    assert more.jobs["user"].tolist() == ["ann", "bob", "eve"]
    assert (more.start[-1], more.limit[-1], more.jobs["submit_time"][-1]) == (-1, 59, state.at)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("time=1:00:00", "without nodes"),
        ("nodes=4 tme=60", "did you mean 'time'"),
        ("nodes=4 nodes=5", "nodes twice"),
        ("nodes=0", "whole numbers above 0"),
        ("nodes=²", "whole numbers above 0"),
        ("nodes=4 time=soon", "time: found 'soon'"),
        ("nodes=4 time=0", "above 0"),
        ("nodes=1,2,3,4,5 time=1,2,3,4,5", "found 25 sizes and limits"),
    ],
)
def test_what_is_asked_for_is_checked(text, told):
    with pytest.raises(InputError, match=told):
        read_asked(text)


def test_earlier_jobs_of_partitions_that_are_gone_are_left_out_and_counted():
    jobs = Workload.from_columns(
        nodes=[1] * 4,
        submit_time=range(4),
        run_time=[5, 6, 7, 8],
        time_limit=[9] * 4,
        partition=["batch", "old", "batch,old", "batch"],
    )
    past = history_of(jobs, SYSTEM, None)
    assert past.run.tolist() == [5, 8]
    assert past.before(6).left_out == {"old": 1, "batch,old": 1}
    with pytest.raises(InputError, match="found 0 jobs that ran, on partitions of"):
        history_of(jobs.select(np.array([1, 2])), SYSTEM, None)


def test_a_job_that_asks_for_no_partition_there_is(squeue):
    state, _ = state_of_queue(read_squeue(squeue(RUNS, WAITS)), SYSTEM, None)
    with pytest.raises(InputError, match=r"--job: unknown partition 'nope'[^;]*; allowed: batch[^;]*$"):
        state.with_one_more(read_asked("nodes=1 time=5 partition=nope")[0], SYSTEM)


def test_the_limits_of_a_long_history_are_known():
    """A million jobs of 32 nodes: all their limits together once were more than the clock can hold."""
    jobs = Workload.from_columns(
        nodes=[8_000_000] * 4, submit_time=range(4), run_time=[60] * 4, time_limit=[60] * 4
    )
    assert limits(jobs, System.homogeneous(8_000_000)).tolist() == [60] * 4


def test_sizes_and_limits_are_crossed():
    found = read_asked("nodes=2,4 time=60,2:00:00 partition=gpu")
    assert [(one.nodes, one.limit) for one in found] == [(2, 3600), (2, 7200), (4, 3600), (4, 7200)]
    assert [(one.nodes, one.limit) for one in read_asked("nodes=2")] == [(2, -1)]


def test_history_stands_on_the_clock_of_the_queue():
    system = System.from_dict({"modules": [{"name": "batch", "nodes": 200}]})
    jobs = read_trace(ROOT / "workloads" / "sample-sacct.txt")
    began = jobs.source.header_number("UnixStartTime")
    jobs = jobs.replace(partition="batch")
    past, same = history_of(jobs, system, began - 3600), history_of(jobs, system, began)
    assert (past.submit - same.submit).tolist() == [3600] * len(same.submit)
    assert (past.run <= past.limit).all()
    assert (past.before(50_000).end <= 50_000).all()


def test_history_without_a_date_or_jobs_is_an_error():
    jobs = Workload.from_columns(nodes=[1, 1], submit_time=[0, 1], run_time=[5, 5])
    with pytest.raises(InputError, match="no UnixStartTime"):
        history_of(jobs, SYSTEM, 10**9)
    with pytest.raises(InputError, match="found 1 jobs that ran"):
        history_of(jobs.select(np.array([0])), SYSTEM, None)
    assert limits(jobs, SYSTEM).tolist() == [-1, -1]
