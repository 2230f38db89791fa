"""Why a job waited under Slurm where jobs share nodes: what was short, who had it, for whom it was kept."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.cli.run_page import run_text
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of
from scheduler_sim.report.explanation import Explanation
from scheduler_sim.report.pending_words import pending_lines

pytestmark = pytest.mark.interpreted

GB = 1024 * 1024
SETS = [
    {"name": "c", "nodes": 2, "memory_gb": 8},
    {"name": "g", "nodes": 1, "memory_gb": 8, "gres": {"gpu:a100": 2, "gpu:v100": 2}},
]
MODULE = {"name": "M", "nodes": 3, "shared": True, "cores_per_node": 4, "memory_gb": 8, "node_sets": SETS}
SITE = System.from_dict({"modules": [MODULE], "resources": {"licences": {"cfd": 3, "fem": 9}}})
AT_ONCE = {
    "sched_interval": 1,
    "batch_sched_delay": 0,
    "bf_interval": 1,
    "SelectTypeParameters": ["CR_Core_Memory"],
    "KillWait": 0,
    "limit_check_s": 1,
}


def run(site: System = SITE, slurm: dict[str, object] | None = None, **columns: object) -> Result:
    """Jobs of one core of one node for 100 s, but for what the columns say; passes every second."""
    count = max((len(values) for values in columns.values() if isinstance(values, list)), default=1)
    usual = {"nodes": 1, "cores": 1, "memory_kb": GB, "submit_time": 0, "run_time": 100, "time_limit": 120}
    asked = {**usual, **columns}.items()
    jobs = Workload.from_columns(**{k: v if isinstance(v, list) else [v] * count for k, v in asked})
    result = simulate(site, jobs, Policy(backfill="slurm", slurm=AT_ONCE | (slurm or {})))
    result.check()
    return result


def words(said: Explanation) -> str:
    return " ".join(text_of(said).split())


def reasons(said: Explanation) -> dict[str, int]:
    return {", ".join(one.words): one.seconds for one in said.reasons}


def test_memory_was_short_while_cores_were_free():
    """Each node's memory is in use; the first is back after 60 s."""
    result = run(
        memory_kb=[7 * GB, 7 * GB, 7 * GB, 4 * GB], submit_time=[0, 0, 0, 10], run_time=[100, 80, 60, 10],
        user=["ann", "bob", "cyd", "dan"],
    )  # fmt: skip
    said = explain(result, 4)
    assert said.shortage is not None
    by_name = {lack.resource: lack for lack in said.shortage.lacks}
    assert (by_name["cores"].seconds, by_name["memory"].seconds) == (0, 50)
    assert {one.component_id: round(one.share, 3) for one in by_name["memory"].holders} == {
        1: 0.333, 2: 0.333, 3: 0.333,
    }  # fmt: skip
    assert said.shortage.together == ((("memory",), 50),)
    assert reasons(said)["Resources"] == 50
    text = words(said)
    assert "Short, at a time: for 50 s memory alone." in text
    assert (
        "While memory was short, who had memory on these nodes, by amount and time: components 1 (user ann"
        in text
    )
    assert "too few of its nodes were idle" not in text


def test_a_type_of_gpu_was_short_while_another_was_free():
    result = run(
        gres=["gpu:a100:2", "gpu:v100:1", "gpu:a100:1"], submit_time=[0, 0, 10], run_time=[70, 100, 10],
        user=["ann", "bob", "dan"],
    )  # fmt: skip
    said = explain(result, 3)
    assert said.shortage is not None
    short = {lack.resource: lack.seconds for lack in said.shortage.lacks}
    assert short["GPUs of type a100"] == 60
    lack = next(one for one in said.shortage.lacks if one.resource == "GPUs of type a100")
    assert [(one.component_id, one.user, one.share) for one in lack.holders] == [(1, "ann", 1.0)]
    assert "1 GPU of type a100" in words(said)


def test_any_gpu_is_short_only_if_no_type_is_free():
    result = run(
        gres=["gpu:a100:2", "gpu:v100:2", ""], gpus=[-1, -1, 1], submit_time=[0, 0, 10],
        run_time=[70, 50, 10], partition="M",
    )  # fmt: skip
    said = explain(result, 3)
    assert said.shortage is not None
    assert {lack.resource: lack.seconds for lack in said.shortage.lacks}["GPUs"] == 40


def test_each_was_there_but_not_on_one_node():
    """One node has cores, the other memory; on the third there is neither."""
    result = run(
        cores=[4, 1, 4, 2], memory_kb=[GB, 7 * GB, 7 * GB, 3 * GB], submit_time=[0, 0, 0, 10],
        run_time=[60, 90, 100, 10],
    )  # fmt: skip
    said = explain(result, 4)
    assert said.shortage is not None
    assert said.shortage.together == (((), 50),)
    assert "nothing by itself, but not enough nodes had all of it" in words(said)


def test_the_kinds_of_nodes_are_told_apart():
    result = run(cores=[4, 4, 4], gres=["gpu:a100:1", "", ""], nodes=[1, 2, 2], submit_time=[0, 0, 5])
    said = explain(result, 3)
    assert said.shortage is not None
    assert [(one.name, one.nodes, one.most) for one in said.shortage.kinds] == [("c", 2, 0), ("g", 1, 0)]


def test_whoever_has_many_small_ones_is_named_by_user():
    result = run(cores=[1] * 12 + [2], user=["ann"] * 8 + ["bob"] * 4 + ["dan"], submit_time=[0] * 12 + [10])
    said = explain(result, 13)
    assert said.shortage is not None
    lack = said.shortage.lacks[0]
    assert (lack.holding, dict(lack.users)) == (
        12,
        {"ann": pytest.approx(2 / 3), "bob": pytest.approx(1 / 3)},
    )
    assert "and 9 more; by user: ann 67 %, bob 33 %" in words(said)


def test_nodes_were_kept_for_a_job_of_higher_priority():
    """Job 2 needs all nodes once job 1 is over; job 3 has room beside it, but would run for too long."""
    result = run(
        nodes=[1, 3, 1], cores=[4, 4, 1], submit_time=[0, 5, 10], run_time=[100, 50, 10],
        time_limit=[120, 120, 500], user=["ann", "bob", "dan"],
    )  # fmt: skip
    said = explain(result, 3)
    assert said.kept is not None
    assert [(one.component_id, one.nodes, one.start) for one in said.kept.takers] == [(2, 3, 100)]
    assert (said.kept.moment, said.kept.until, said.kept.nodes) == (10, 100, 2)
    assert reasons(said) == {"Priority": 90, "Resources": 50}
    assert "they were kept for it or for them: 2 (3 nodes, from 0d 00:01:40)" in words(said)


def test_nodes_were_kept_by_an_advance_reservation():
    held = {"name": "course", "nodes": {"M": "0-2"}, "start": 60, "end": 200, "users": ["teacher"]}
    site = System.from_dict({"modules": [MODULE], "reservations": [held]})
    result = run(site, user="ann", time_limit=[100], submit_time=[0], run_time=[100])
    said = explain(result, 1)
    assert said.kept is not None
    assert said.kept.reservations == ("course",)


def test_the_licence_that_was_short_and_who_had_it():
    result = run(
        licences=["cfd:2", "cfd:1,fem:4", "cfd:2,fem:1"], submit_time=[0, 0, 10], run_time=[100, 60, 10],
        user=["ann", "bob", "dan"],
    )  # fmt: skip
    said = explain(result, 3)
    (lack,) = said.licences
    assert (lack.resource, lack.least, lack.most, lack.seconds) == ("cfd", 0, 1, 90)
    assert [one.component_id for one in lack.holders] == [1, 2]
    assert reasons(said)["Licenses"] == 90
    assert "Licence cfd: 0 to 1 free, too few for 0:01:30." in words(said)
    assert "who had them, by amount and time: components 1 (user ann" in words(said)


def test_two_limits_one_after_the_other():
    """Up to 60 s the user has another job, up to 100 s the account too many cores."""
    slurm = {
        "qos": {"q": {"MaxJobsPerUser": 1}},
        "accounts": {"a": {"limits": {"GrpTRES": "cpu=4"}}},
        "AccountingStorageEnforce": "limits",
    }
    result = run(
        slurm=slurm, account="a", qos=["q", "", "q"], user=["ann", "bob", "ann"], cores=[1, 3, 2],
        run_time=[60, 100, 10], submit_time=[0, 0, 10],
    )  # fmt: skip
    said = explain(result, 3)
    assert reasons(said) == {"QOSMaxJobsPerUserLimit": 50, "AssocGrpCpuLimit": 40}


def test_a_job_that_can_never_start_says_so_and_why():
    slurm = {"qos": {"q": {"MaxTRESPerJob": "cpu=2"}}, "AccountingStorageEnforce": "limits"}
    result = run(
        slurm=slurm, qos="q", cores=[1, 3, 1, 1], memory_kb=[GB, GB, 20 * GB, GB], hold=[0, 0, 0, 1],
        submit_time=[0, 10, 10, 20],
    )  # fmt: skip
    assert "by itself it is beyond QOSMaxCpuPerJobLimit: it never starts" in words(explain(result, 2))
    text = words(explain(result, 3))
    assert "those that ask for more memory than a node has; those of M have at most 8 GB of memory" in text
    assert "JobHeldUser" in words(explain(result, 4))
    lines = run_text(result, "jobs.csv", 0.0).splitlines()
    said = {line.strip() for line in lines if "pending:" in line or "rejected:" in line}
    assert said == {
        "rejected: 1 that ask for more memory than a node has (component 3)",
        "pending: 1 QOSMaxCpuPerJobLimit: a limit of its QOS or its association held it back; a job by itself"
        " is beyond it, and never starts (component 2)",
        "pending: 1 JobHeldUser: held until it is released (component 4)",
    }


def test_the_first_three_that_are_pending_are_named():
    result = run(hold=[1] * 5, submit_time=[0] * 5)
    assert list(pending_lines(result)) == [
        "pending: 5 JobHeldUser: held until it is released (components 1, 2 and 3, and 2 more)"
    ]


def test_under_other_policies_it_is_told_that_they_were_never_eligible():
    jobs = Workload.from_columns(nodes=[1, 1], submit_time=0, run_time=10, hold=[0, 1])
    (line,) = pending_lines(simulate(System.homogeneous(2), jobs, "easy"))
    assert line.startswith("pending: 1 never eligible:")
    assert line.endswith("(component 2)")
