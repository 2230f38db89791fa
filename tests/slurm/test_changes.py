"""What brings the schedulers' next passes: cases worked out by hand, in the engine and in the plain model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler_sim import Policy, Result, System, Workload, simulate
from tests.oracle.plain_cons_tres_records import Ask, Node, Settings, SharedJob, SharedPartition
from tests.oracle.plain_limit_records import Association, Database, Limits
from tests.oracle.plain_limited_slurm import LimitedSlurm
from tests.oracle.plain_preemption import PreemptingSlurm
from tests.oracle.plain_preemption_records import PreemptRules
from tests.oracle.plain_slurm_records import Config, Job, Partition
from tests.slurm.engine_cases import FIRST, SECOND, Case, Queue, fates
from tests.slurm.engine_cases import played as whole_played
from tests.slurm.engine_cases import told as whole_told
from tests.slurm.shared_cases import SharedCase, played, told

pytestmark = pytest.mark.interpreted

BOTH = pytest.mark.parametrize("first", ["main", "backfill"])


def starts(result: Result) -> dict[int, int]:
    found = result.components
    return dict(zip(found["component_id"].tolist(), found["start_time"].tolist(), strict=True))


def shared(number: int, submit: int, runtime: int, limit: int, **asked: Any) -> SharedJob:
    return SharedJob(number, submit, ["main"], 0, runtime, limit, ask=Ask(**asked))


def site(nodes: list[Node], jobs: list[SharedJob], memory: bool, **keys: Any) -> SharedCase:
    part = SharedPartition(list(range(len(nodes))), name="main")
    keys = {"bf_resolution": 1, "latency": "measured"} | keys
    return SharedCase(nodes, {"main": part}, Settings(memory=memory), jobs, keys, 1)


def of_both(case: SharedCase, job: int) -> set[int]:
    """When the job starts: in the engine, without what is done for speed, and in the plain model."""
    plain = {number: fate[1] for number, fate in told(case).items()}
    return {starts(played(case))[job], starts(played(case, accelerate=False))[job], plain[job]}


# -- a main pass


def alone(at: int, waiting: int, **keys: Any) -> SharedCase:
    """Job 1 has half of a node; so many jobs wait for all of it; the last would fit beside it."""
    jobs = [shared(1, 1, 500, 20, tasks=4)]
    jobs += [shared(2 + i, 5, 100, 10, tasks=8) for i in range(waiting)]
    return site([Node(8)], [*jobs, shared(9, at, 30, 1, tasks=2)], False, bf_interval=30, **keys)


@BOTH
@pytest.mark.parametrize("at", [61, 62, 65, 70, 80])
def test_that_one_job_waits_for_nodes_is_no_change(first: str, at: int) -> None:
    """The pass over the whole queue at 60 finds job 2 busy: backfill does not pass before job 9 comes."""
    assert of_both(alone(at, 1, looks_first=first), 9) == {at}


def test_that_another_is_passed_over_is_a_change() -> None:
    """It makes backfill pass at 60: the next is 30 s later."""
    assert of_both(alone(62, 2, looks_first="main"), 9) == {90}


def of_nodes(*jobs: Job, **keys: Any) -> Case:
    """On four nodes, of which job 1 has three; whoever waits for two is planned on those."""
    first = Job(1, 1, ["q"], 3, 500, 20)
    given = {"bf_interval": 30, "bf_resolution": 1, "latency": "measured"} | keys
    return Case({"m": (2, 2)}, (Queue("q", "m", (FIRST, SECOND)),), (first, *jobs), given)


def begun(case: Case, job: int) -> set[int | None]:
    """When the job starts: in the engine, without what is done for speed, and in the plain model."""
    ours = [fates(whole_played(case, accelerate=fast)) for fast in (True, False)]
    return {found[job][1] for found in (*ours, whole_told(case))}


def test_in_19_05_any_job_that_waits_is_a_change() -> None:
    case = of_nodes(Job(2, 5, ["q"], 2, 100, 10), Job(3, 62, ["q"], 1, 30, 1))
    assert begun(case, 3) == {62}
    assert fates(whole_played(case, version="19.05", defer=True))[3][1] == 90


def test_the_tasks_of_an_array_that_wait_are_one_entry() -> None:
    two = [Job(number, 5, ["q"], 3, 100, 10) for number in (2, 3)]
    last = Job(4, 62, ["q"], 1, 30, 1)
    keys = {"bf_job_part_count_reserve": 1}  # that a second is planned behind the first is a change by itself
    assert begun(of_nodes(*two, last, **keys), 4) == {90}
    assert begun(of_nodes(*(replace(job, array=7) for job in two), last, **keys), 4) == {62}


# -- nodes that are too small


@BOTH
def test_backfill_leaves_out_nodes_that_are_too_small_and_who_runs_there(first: str) -> None:
    """Job 4 needs 24 GB: who ends on the node of 16 GB does not close a group of ends, so that it is planned
    on node 2, and job 5 may start on node 1."""
    nodes = [Node(8, memory=16_000), Node(8, memory=32_000), Node(8, memory=32_000)]
    jobs = [
        shared(1, 1, 100, 2, tasks=4, mem=24_000),
        shared(2, 2, 110, 2, tasks=8, mem=2_000),
        shared(3, 2, 230, 5, tasks=8, mem=24_000),
        shared(4, 5, 10, 1, nodes=(1, 1), tasks=8, mem=24_000),
        shared(5, 8, 20, 3, nodes=(1, 1), tasks=2, mem=1_000),
    ]
    assert of_both(site(nodes, jobs, True, bf_interval=2, epoch=0, looks_first=first), 5) == {8}


# -- reasons


def limited(jobs: list[Job], **keys: Any) -> Result:
    system = System.from_dict(
        {
            "modules": [{"name": "m", "nodes": 4, "cores_per_node": 1}],
            "partitions": [{"name": "p", "module": "m"}],
        }
    )
    workload = Workload.from_columns(
        component_id=[job.id for job in jobs],
        submit_time=[job.submit for job in jobs],
        partition=["p"] * len(jobs),
        nodes=[job.nodes for job in jobs],
        run_time=[job.runtime for job in jobs],
        time_limit=[job.limit * 60 for job in jobs],
        user=[job.user for job in jobs],
        account=["x"] * len(jobs),
        qos=["normal"] * len(jobs),
    )
    given = {
        "bf_interval": 30,
        "bf_resolution": 1,
        "sched_interval": 600,
        "starts_before_s": 1,
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageEnforce": "associations,limits,qos",
        "qos": {"normal": {"MaxJobsPerUser": 1}},
        "accounts": {"x": {"users": {user: {} for user in "abc"}}},
    }
    return simulate(system, workload, Policy(name="slurm", backfill="slurm", slurm=given | keys))


@BOTH
def test_a_new_reason_counts_once_as_a_change(first: str) -> None:
    """Job 2 waits for a limit from the pass at 6 on; backfill notes that at 30, and passes once more at 60:
    the pass after that, in which job 4 starts, is at 90."""
    jobs = [
        Job(1, 1, ["p"], 3, 500, 20, user="a", account="x", qos="normal"),
        Job(2, 4, ["p"], 1, 50, 1, user="a", account="x", qos="normal"),
        Job(3, 5, ["p"], 2, 100, 5, user="b", account="x", qos="normal"),
        Job(4, 62, ["p"], 1, 10, 1, user="c", account="x", qos="normal"),
    ]
    ours = {starts(limited(jobs, looks_first=first, accelerate=fast))[4] for fast in (True, False)}
    users = {f"x/{user}": Association("x") for user in "abc"}
    database = Database(
        {"root": Association(""), "x": Association("root")} | users, {"normal": Limits(max_jobs_pu=1)}
    )
    config = Config(
        {"p": Partition([0, 1, 2, 3])},
        daemon_start=0,
        bf_resolution=1,
        sched_interval=600,
        backfill_first=first == "backfill",
    )
    plain = LimitedSlurm(config, jobs, [], database)
    plain.run(200)
    assert ours | {plain.by_id[4].start} == {90}


@pytest.mark.parametrize(
    ("more", "at"),
    [
        ({}, 95),
        ({"depends": (",", [("afterany", [1], 0)])}, 120),
        ({"begin": 3000}, 120),
        ({"held": True}, 120),
    ],
)
def test_dependencies_begin_times_and_holds_are_reasons_too(more: dict[str, Any], at: int) -> None:
    """Backfill alone passes, at 60 for the submission of job 3: it notes why that is not eligible, and passes
    once more at 90. One that waits for nodes makes it pass no sooner than job 4 comes."""
    jobs = Job(3, 35, ["q"], 2, 10, 1, **more), Job(4, 95, ["q"], 1, 30, 1)
    assert begun(of_nodes(*jobs, batch_sched_delay=1000, sched_interval=1000), 4) == {at}


# -- nodes that are clean


def cancelling(**keys: Any) -> dict[int, int]:
    """Job 2 preempts job 1 at 21, when the main scheduler may pass again; that is clean 3.73 s later."""
    parts = [{"name": "low", "module": "m", "priority": 1}, {"name": "high", "module": "m", "priority": 2}]
    system = System.from_dict(
        {"modules": [{"name": "m", "nodes": 2, "cores_per_node": 1}], "partitions": parts}
    )
    workload = Workload.from_columns(
        component_id=[1, 3, 2],
        submit_time=[1, 19, 20],
        partition=["low", "low", "high"],
        nodes=[2, 1, 2],
        run_time=[500, 10, 50],
        time_limit=[1200, 60, 60],
    )
    given = {
        "PreemptType": "preempt/partition_prio",
        "PreemptMode": "CANCEL",
        "KillWait": 2,
        "batch_sched_delay": 20,
        "bf_interval": 30,
        "latency": "measured",
    }
    return starts(simulate(system, workload, Policy(name="slurm", backfill="slurm", slurm=given | keys)))


@BOTH
@pytest.mark.parametrize(("keys", "at"), [({}, 25), ({"accelerate": False}, 25), ({"defer": True}, 31)])
def test_main_passes_at_once_when_the_nodes_of_a_killed_job_are_clean(
    first: str, keys: dict[str, Any], at: int
) -> None:
    """Not `batch_sched_delay` after its last pass; with defer backfill is the next to look."""
    assert cancelling(looks_first=first, **keys)[2] == at


@pytest.mark.parametrize(("defer", "at"), [(False, 25), (True, 31)])
def test_so_it_does_in_the_plain_model(defer: bool, at: int) -> None:
    config = Config(
        {"low": Partition([0, 1], tier=1), "high": Partition([0, 1], tier=2)},
        daemon_start=-29,
        kill_wait=2,
        kill_epilog_ms=730,
        batch_sched_delay=20,
        defer=defer,
    )
    jobs = [Job(1, 1, ["low"], 2, 500, 20), Job(3, 19, ["low"], 1, 10, 1), Job(2, 20, ["high"], 2, 50, 1)]
    slurm = PreemptingSlurm(config, jobs, [], PreemptRules("preempt/partition_prio", "CANCEL"))
    slurm.run(100)
    assert (slurm.by_id[1].start, slurm.by_id[1].end, slurm.by_id[2].start) == (1, 21, at)


def test_with_an_epilog_it_does_after_every_end() -> None:
    """Job 1 ends at 11, and its epilog is over at 16: job 2 starts then, not at 21 + 1."""
    keys = {"bf_interval": 300, "batch_sched_delay": 20, "epilog_s": 5}
    jobs = (Job(1, 1, ["q"], 2, 10, 1), Job(2, 2, ["q"], 2, 10, 1), Job(3, 3, ["q"], 2, 10, 1))
    case = Case({"m": (1, 1)}, (Queue("q", "m", (FIRST, SECOND)),), jobs, keys, begins_s=60)
    found = fates(whole_played(case))
    ends = [found[number][1] + 15 for number in (1, 2)]
    assert [found[number][1] for number in (2, 3)] == ends
    assert fates(whole_played(case, defer=True))[3][1] > ends[1]


# -- nodes without a process


@pytest.mark.parametrize("shared_nodes", [False, True])
def test_nodes_on_which_a_killed_job_has_no_process_are_idle_at_once(shared_nodes: bool) -> None:
    """Job 1 is killed at its limit on three nodes: job 2 finds two of them idle, and waits no longer."""
    module = {"name": "m", "nodes": 3, "cores_per_node": 4, "shared": shared_nodes}
    system = System.from_dict({"modules": [module], "partitions": [{"name": "p", "module": "m"}]})
    workload = Workload.from_columns(
        component_id=[1, 2, 3],
        submit_time=[1, 2, 3],
        partition=["p"] * 3,
        nodes=[3, 2, 3],
        run_time=[500, 10, 10],
        time_limit=[60, 60, 60],
        exclusive=[1, 1, 1],
    )
    keys = {"KillWait": 30, "bf_interval": 1, "batch_sched_delay": 1}
    found = [
        starts(simulate(system, workload, Policy(name="slurm", backfill="slurm", slurm=keys | more)))
        for more in ({}, {"script_alone": True})
    ]
    assert found[0][2] - found[1][2] == 30
    assert found[0][3] >= found[1][3]
