"""Studies of sites: a folder brings its configuration, its workload and its limits; parameters vary them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_sim import Result, Study
from scheduler_sim.errors import ConfigError

pytestmark = pytest.mark.interpreted

CONF = """\
ClusterName=brook
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
SelectType=select/linear
SchedulerParameters=bf_interval=17
NodeName=n[1-4]
PartitionName=p Nodes=ALL OverSubscribe=EXCLUSIVE
"""
SACCT = """\
JobID|User|Account|QOS|Partition|State|Submit|Start|End|TimelimitRaw|NNodes
1|ann|phys|normal|p|COMPLETED|100|100|160|5|2
2|ann|phys|normal|p|COMPLETED|110|160|200|5|2
"""
QOS = "Name|Priority|GrpJobs|MaxJobsPU\nnormal|0||2\nfast|10|4|\n"


def site(folder: Path, sacct: str = SACCT, **files: str) -> Path:
    folder.mkdir()
    named = {"slurm.conf": CONF, "sacct.txt": sacct, "sacctmgr_qos.txt": QOS, **files}
    for name, text in named.items():
        (folder / name).write_text(text)
    return folder


def study(tmp_path: Path, text: str) -> Study:
    path = tmp_path / "study.yaml"
    path.write_text(text)
    return Study.from_yaml(path)


def test_a_folder_is_system_workload_and_policy(tmp_path):
    site(tmp_path / "brook")
    found = study(
        tmp_path,
        "systems: [brook/]\nparameters: {policy.slurm.qos.normal.MaxJobsPerUser: [null, 1]}\nresults: each\n",
    )
    runs = found.runs()
    assert [run.policy.slurm.bf_interval for run in runs] == [17, 17]
    assert [run.policy.slurm.qos["normal"].MaxJobsPerUser for run in runs] == [None, 1]
    assert {run.factors["workload"] for run in runs} == {"brook"}
    index = found.conduct(tmp_path / "out").index.set_index("policy.slurm.qos.normal.MaxJobsPerUser")
    assert index.loc["null", "wait_time_mean"] < index.loc["1", "wait_time_mean"]
    kept = Result.load(tmp_path / "out" / "runs" / index.loc["1", "id"])
    assert "QOSMaxJobsPerUserLimit" in kept.components["limit_reason"].tolist()


def test_what_the_study_says_goes_before_the_folder(tmp_path):
    site(tmp_path / "brook")
    found = study(
        tmp_path,
        "systems: [brook]\npolicies:\n  quick: {policy: slurm, set: {slurm.bf_interval: 5}}\n  site: slurm\n"
        "  easy: easy\n",
    )
    of = {run.factors["policy"]: run.policy for run in found.runs()}
    assert (of["quick"].slurm.bf_interval, of["site"].slurm.bf_interval) == (5, 17)
    assert of["quick"].slurm.AccountingStorageEnforce == of["site"].slurm.AccountingStorageEnforce
    assert of["easy"].backfill == "easy"


def test_a_slurm_conf_gives_its_keys_as_in_run(tmp_path):
    folder = site(tmp_path / "brook")
    text = f"systems: [brook/slurm.conf]\nworkloads: [{folder}/sacct.txt]\npolicies: [slurm]\n"
    assert [run.policy.slurm.bf_interval for run in study(tmp_path, text).runs()] == [17]


def test_partitions_of_a_site_are_varied_by_name(tmp_path):
    site(tmp_path / "brook")
    found = study(tmp_path, "systems: [brook]\nparameters: {system.partitions.p.max_nodes: [1, 4]}\n")
    assert [run.system["partitions"][0]["max_nodes"] for run in found.runs()] == [1, 4]


def test_events_and_reservations_of_the_folder_count(tmp_path):
    events = "NodeName|TimeStart|TimeEnd|State\nn1|100|200|DOWN\n"
    site(tmp_path / "brook", **{"sacctmgr_event.txt": events})
    (run,) = study(tmp_path, "systems: [brook]\n").runs()
    assert len(run.system["events"]) > 0


def test_each_folder_runs_its_own_workload(tmp_path):
    site(tmp_path / "brook")
    site(tmp_path / "mill", SACCT + "3|bob|phys|fast|p|COMPLETED|120|160|200|5|1\n")
    runs = study(tmp_path, "systems: [brook, mill]\n").runs()
    assert [(run.factors["system"], run.factors["workload"]) for run in runs] == [
        ("brook", "brook"), ("mill", "mill"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("systems: [brook]\nparameters: {policy.slurm.qos.nromal.GrpJobs: [1]}\n", "did you mean 'normal'?"),
        ("systems: [nowhere]\n", "nowhere"),
        ("systems: [brook]\nparameters: {system.partitions.q.max_nodes: [1]}\n", "found 'q'; allowed: p"),
        ("systems: [{modules: [{name: a, nodes: 1}]}]\n", "systems"),
    ],
)
def test_what_matches_nothing_is_an_error(tmp_path, text, told):
    site(tmp_path / "brook")
    with pytest.raises(ConfigError, match=told.replace("?", r"\?")):
        study(tmp_path, text)
