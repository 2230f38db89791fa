"""Waits under policy slurm in Slurm's own words, and on which nodes a job could run."""

from __future__ import annotations

import pytest

from scheduler_sim import Result, Simulation, System, Workload, simulate
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of
from scheduler_sim.report.slurm_words import MEANING

pytestmark = pytest.mark.interpreted

SETS = [
    {"name": "n1-n3", "nodes": 3, "memory_gb": 4},
    {"name": "n4", "nodes": 1, "memory_gb": 8, "features": ["big"]},
]
SITE = System.from_dict(
    {
        "modules": [{"name": "M", "nodes": 4, "node_sets": SETS}],
        "partitions": [
            {"name": "all", "module": "M", "default": True},
            {"name": "short", "module": "M", "node_sets": ["n1-n3"], "max_nodes": 2, "max_time": 100},
            {"name": "shut", "module": "M", "state": "DOWN"},
        ],
        "resources": {"licences": {"cfd": 1}},
    }
)


def jobs(**columns):
    """Some jobs of 200 s on all four nodes, submitted at 0, but for what the columns say."""
    count = max((len(values) for values in columns.values() if isinstance(values, list)), default=1)
    plain = {"nodes": 4, "submit_time": 0, "run_time": 200, "time_limit": 240}
    asked = {**plain, **columns}.items()
    return Workload.from_columns(**{k: v if isinstance(v, list) else [v] * count for k, v in asked})


def told(result, component=2):
    """Seconds by Slurm's reason, and the whole text on one line."""
    said = explain(result, component)
    return {", ".join(one.words): one.seconds for one in said.reasons}, " ".join(text_of(said).split())


CASES = {
    "Resources": jobs(nodes=[4, 4]),
    "Dependency": jobs(nodes=[1, 1], dependency_ids=["", "1"], dependency_kinds=["", "AFTERANY"]),
    "BeginTime": jobs(nodes=[1, 1], begin_time=[-1, 300]),
    "JobArrayTaskLimit": jobs(nodes=[1, 1], array_job_id=7, array_task_id=[1, 2], array_limit=1),
    "Licenses": jobs(nodes=[1, 1], licences="cfd"),
    "JobHeldUser": jobs(nodes=[1, 1], hold=[0, 1]),
    "PartitionNodeLimit": jobs(nodes=[1, 3], partition="short", time_limit=60, run_time=60),
    "PartitionTimeLimit": jobs(nodes=[1, 1], partition="short", time_limit=[60, 600], run_time=60),
    "PartitionDown": jobs(nodes=[1, 1], partition=["all", "shut"]),
}


@pytest.mark.parametrize("word", CASES)
def test_each_reason(word):
    """The second job waits for one thing alone, all the time; some never start."""
    result = simulate(SITE, CASES[word], "slurm")
    seconds, text = told(result)
    wait = explain(result, 2).wait
    assert list(seconds) == [word]
    assert seconds[word] == wait > 0
    assert f"for: {word} " in text
    assert MEANING[word] in text


def test_priority_is_what_is_idle_and_kept_for_others():
    """Job 2 needs all nodes at 200 s; job 3 has one at hand, but would run beyond that."""
    result = simulate(SITE, jobs(nodes=[3, 4, 1], time_limit=[240, 240, 2400]), "slurm")
    assert told(result, 3)[0]["Priority"] > 0
    assert "Priority" not in told(result, 2)[0]


def test_nodes_that_are_down_would_have_been_enough():
    sim = Simulation(SITE, jobs(nodes=[1, 4], submit_time=[0, 60]), "slurm")
    sim.fail("M", 2)

    def repair():
        yield sim.env.timeout(1000)
        sim.resume("M", 2)

    sim.process(repair())
    seconds, text = told(sim.run())
    assert seconds["ReqNodeNotAvail"] >= 600
    assert "DOWN or DRAINED" in text


def test_a_rejected_job_has_slurms_word():
    policy = {"backfill": "slurm", "slurm": {"EnforcePartLimits": "ANY"}}
    text = told(simulate(SITE, CASES["PartitionTimeLimit"], policy))[1]
    assert "rejected when it was submitted: PartitionTimeLimit:" in text


SHORT = {"partition": "short", "time_limit": 60, "run_time": 60}


@pytest.mark.parametrize(
    ("asked", "able", "words"),
    [
        ({"nodes": [2, 2], **SHORT}, 3, "partition short has 3 (n1-n3). Idle nodes elsewhere"),
        (
            {"nodes": [4, 1], "constraint": ["", "big"]},
            1,
            "partition all has 4, of which those have the cores",
        ),
        ({"nodes": [4, 1], "memory_kb": [-1, 5 * 1024**2]}, 1, "partition all has 4, of which those have"),
    ],
)
def test_the_nodes_a_job_was_confined_to(asked, able, words):
    text = told(simulate(SITE, jobs(**asked), "slurm"))[1]
    assert f"It was confined to {able} of the 4 nodes of M: {words}" in text


def test_who_could_run_anywhere_was_confined_to_nothing():
    assert "confined" not in told(simulate(SITE, CASES["Resources"], "slurm"))[1]


def test_other_policies_have_their_own_words(tmp_path):
    plain = System.homogeneous(4)
    easy = simulate(plain, jobs(nodes=[4, 4]), "easy")
    assert "squeue" not in told(easy)[1]
    assert "held_by" not in easy.components
    kept = simulate(SITE, CASES["Licenses"], "slurm")
    kept.check()
    loaded = Result.load(kept.save(tmp_path / "result"))
    assert told(loaded) == told(kept)
    assert loaded.components["wait_licences"].tolist() == [0, 200]  # as long as job 1 has the licence


def test_the_order_of_multifactor_priorities_is_not_made_up():
    policy = {"backfill": "slurm", "slurm": {"PriorityType": "priority/multifactor"}}
    text = told(simulate(SITE, CASES["Resources"], policy))[1]
    assert "multifactor priorities, which a result does not record" in text
    assert "was first in the queue" not in text


def test_an_array_of_which_no_task_ran():
    held = jobs(nodes=[1, 1], array_job_id=7, array_task_id=[1, 2], array_limit=1, hold=1)
    result = simulate(SITE, held, "slurm")
    assert result.components["wait_array"].tolist() == [-1, -1]


SHARED = System.from_dict(
    {"modules": [{"name": "M", "nodes": 2, "shared": True, "cores_per_node": 8, "gpus_per_node": 2}]}
)


def test_what_was_missing_on_shared_nodes():
    """GPUs until one of the first two is over; cores never. Of the killed one the nodes come back later."""
    asked = jobs(nodes=[1, 1, 1, 1], cores=[2, 2, 1, 1], gpus=[2, 2, 1, 0], run_time=[500, 300, 50, 50])
    seconds, text = told(simulate(SHARED, asked, "slurm"), 3)
    assert seconds == {"Resources": 240, "Priority": 30}
    assert "asked for 1 core and 1 GPU" in text
    assert "cores 2 nodes never too few" in text
    assert "GPUs 0 to 2 nodes too few for 0:04:00" in text


def test_of_a_job_that_has_another_part_of_each_node_it_is_told_what_was_free_in_all():
    """Nine tasks were dealt as eight and one, when the first two were over: 200 s, and one pass later."""
    result = simulate(SHARED, jobs(nodes=1, max_nodes=[1, 1, 2], tasks=[8, 7, 9]), "slurm")
    assert result.components["node_shares"].tolist()[2] == "cores=8,1"
    seconds, text = told(result, 3)
    assert seconds["Resources"] == 200
    assert "On 2 nodes it needed 9 cores" in text
    assert "cores 11 % too little for 0:03:20" in text


QOS = {"normal": {"MaxJobsPerUser": 1}, "no": {"GrpSubmitJobs": 0}}


def test_a_limit_in_squeues_words():
    of_user = simulate(
        SITE,
        jobs(nodes=[1, 1, 1], user="u", qos=["", "", "no"]),
        {"backfill": "slurm", "slurm": {"qos": QOS}},
    )
    seconds, text = told(of_user)
    assert set(seconds) - {"Priority", "Resources"} == {"QOSMaxJobsPerUserLimit"}
    assert seconds["QOSMaxJobsPerUserLimit"] >= 190  # until the first is over, 200 s, from the first look
    assert "a limit of its QOS or its association held it back" in text
    assert "QOSGrpSubmitJobsLimit" in told(of_user, 3)[1]
