"""The folder of a whole site: ``run`` and ``inspect``."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path

import pytest

from scheduler_sim.cli.site import read_folder, with_site, without_topology
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.policy.policy import Policy
from scheduler_sim.result.result import Result
from scheduler_sim.system.site_folder import (
    NO_RELEASE,
    NOT_FLEX,
    NOT_RESERVED,
    read_site_folder,
)
from scheduler_sim.system.slurm_conf.ignored import LIMITS, NO_TOPOLOGY_PLUGIN, NOT_MODELLED
from tests.conftest import ROOT, SHARED, needs_shared

SAMPLE = ROOT / "workloads" / "sample-site"

CONF = """\
ClusterName=brook
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
PriorityType=priority/multifactor
PriorityWeightFairshare=100
NodeName=n[1-4]
PartitionName=p Nodes=ALL OverSubscribe=EXCLUSIVE
"""
SACCT = """\
JobID|User|Account|QOS|Partition|State|Submit|Start|End|TimelimitRaw|NNodes
1|ann|phys|normal|p|COMPLETED|100|100|160|5|2
2|bob|phys|fast|p|COMPLETED|110|160|200|5|4
"""
ASSOC = """\
Cluster|Account|User|Share|GrpTRES|MaxJobs|QOS
brook|root||1|||normal
brook|root|root|1|||normal
brook| phys||60|node=2||normal
brook|  phys|ann|3||5|normal
brook|  phys|bob|1||5|fast,normal
"""
QOS = "Name|Priority|GrpJobs|GraceTime|Flags\nnormal|0|||\nfast|10|4|00:01:00|NoDecay,PartQOS\n"
MORE = {
    "topology.conf": "SwitchName=s Nodes=n[1-4]\n",
    "sacctmgr_assoc.txt": ASSOC,
    "sacctmgr_qos.txt": QOS,
    "sacctmgr_event.txt": "NodeName|TimeStart|TimeEnd|State\nn1|100|200|DOWN\n",
    "reservations.txt": "ReservationName=r StartTime=100 EndTime=200 Nodes=n1 Users=ann\n",
    "notes.md": "ours\n",
}
EASY = ("--policy", "easy")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "sacct.txt").write_text(SACCT)
    return tmp_path


@pytest.fixture
def whole(site: Path) -> Path:
    for name, text in MORE.items():
        (site / name).write_text(text)
    return site


@pytest.mark.interpreted
def test_a_whole_site_runs_with_a_table_of_what_was_understood(cli, whole):
    ended = cli("run", whole, *EASY)
    assert ended.code == 0, ended.err
    lines = [line.split() for line in ended.out.splitlines()]
    for told in (
        "slurm.conf 4 nodes in 1 module, 1 partition, 5 keys of policy slurm",
        "sacct.txt the workload",
        "topology.conf nothing",
        "sacctmgr_assoc.txt 1 account, 2 users",
        "sacctmgr_qos.txt 2 QOS",
        "sacctmgr_event.txt 1 node event on 1 node",
        "reservations.txt 1 reservation",
        "notes.md not read: not a file name of a site",
        "sacct.txt on brook under easy",
    ):
        assert told.split() in lines, told
    assert f"scheduler-sim inspect {whole} lists every setting" in ended.out
    assert cli("run", whole, *EASY, "--quiet").out == ""


def test_every_file_is_taken_for_what_it_says_and_what_is_not_used_is_told(whole):
    folder = read_folder(str(whole))
    assert folder.site.policy["accounts"] == {
        "phys": {
            "shares": 60,
            "qos": ["normal"],
            "limits": {"GrpTRES": {"node": 2}},
            "users": {
                "ann": {"shares": 3, "limits": {"MaxJobs": 5}},
                "bob": {"shares": 1, "qos": ["fast", "normal"], "limits": {"MaxJobs": 5}},
            },
        }
    }
    assert folder.site.policy["qos"] == {
        "normal": 0,
        "fast": {"priority": 10, "GraceTime": 60, "GrpJobs": 4, "Flags": ["NoDecay"]},
    }
    assert folder.site.system.topology is None
    assert [(one.module, one.nodes, one.state) for one in folder.events] == [("p", (0,), "DOWN")]
    assert [one.users for one in folder.reservations] == [["ann"]]
    assert folder.warnings == ()
    noted = {(one.key, one.value): one.why for one in folder.site.ignored}
    assert noted["topology.conf", "nothing"] == NO_TOPOLOGY_PLUGIN
    assert noted["Flags", "PartQOS of fast"] == NOT_MODELLED
    assert LIMITS not in noted.values()  # they are there


RESERVED = "ReservationName=r StartTime=100 EndTime=200 Nodes=n1 {more}\n"


@pytest.mark.interpreted
def test_groups_may_use_what_is_reserved_for_them(cli, site):
    """Job 1 asks for the reservation as a member of the group, job 2 is in another one."""
    header, *jobs = SACCT.splitlines()
    members = [f"{job}|{group}|r" for job, group in zip(jobs, ("hpc", "web"), strict=True)]
    text = "\n".join([f"{header}|Group|Reservation", *members]).replace("|5|2|", "|1|1|")
    text = text.replace("|5|4|", "|1|1|")
    (site / "sacct.txt").write_text(text + "\n")
    (site / "reservations.txt").write_text(RESERVED.format(more="Users=(null) Groups=hpc"))
    (one,) = read_folder(str(site)).reservations
    assert (one.users, one.groups) == ([], ["hpc"])
    assert cli("run", site, "--out", site / "out").code == 0
    states = Result.load(site / "out").components["state"].tolist()
    assert states == ["COMPLETED", "REJECTED"]


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("conf", "reserved"),
    [
        ("PreemptMode=REQUEUE\n", ["MAINT", "FLEX"]),  # PreemptType=preempt/none: it says nothing
        ("PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n", ["MAINT", "FLEX"]),
        ("PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\nSelectType=select/linear\n", None),
        ("TopologyPlugin=topology/tree\n", ["MAINT"]),
    ],
)
def test_reservations_are_left_out_only_where_they_are_not_modelled(cli, site, conf, reserved):
    whole = CONF.replace("PriorityType", f"{conf}PriorityType")
    (site / "slurm.conf").write_text(whole.replace("EXCLUSIVE", "FORCE:1") if "GANG" in conf else whole)
    (site / "topology.conf").write_text(MORE["topology.conf"])
    (site / "reservations.txt").write_text(RESERVED.format(more="Users=ann Flags=MAINT,FLEX"))
    folder = read_folder(str(site))
    assert [one.flags for one in folder.reservations] == ([reserved] if reserved else [])
    noted = {(one.key, one.value): one.why for one in folder.site.ignored}
    assert noted.get(("Flags", "FLEX")) == (NOT_FLEX if reserved == ["MAINT"] else None)
    assert noted.get(("reservations.txt", "1 reservation")) == (None if reserved else NOT_RESERVED)
    assert cli("run", site).code == 0


def test_packed_files_and_commands_give_the_same(whole):
    plain = read_site_folder(whole)
    for name in ("slurm.conf", "sacct.txt", "topology.conf", "sacctmgr_qos.txt"):
        (whole / f"{name}.gz").write_bytes(gzip.compress((whole / name).read_bytes()))
        (whole / name).unlink()
    (whole / "sacctmgr_assoc.txt").unlink()
    commands = (
        "add qos fast\nadd account phys fairshare=60 grpnodes=2\n"
        "add user ann account=phys share=3 maxjobs=5\n"
        "add user bob account=phys maxjobs=5 qos=fast,normal\n"
    )
    (whole / "sacctmgr.script").write_text(commands)
    packed = read_site_folder(whole)
    assert packed.site.policy == plain.site.policy
    assert packed.site.system == plain.site.system
    assert [one.file for one in packed.understood][:3] == [
        "slurm.conf.gz",
        "sacct.txt.gz",
        "topology.conf.gz",
    ]


def test_what_is_enforced_and_not_there_is_warned_of(cli, site):
    ended = cli("inspect", site)
    assert ended.code == 0, ended.err
    assert (
        "AccountingStorageEnforce=limits,qos: what sacctmgr_assoc.txt and sacctmgr_qos.txt would say"
        " is enforced, but not in the folder: counts as unlimited" in ended.out
    )
    assert "PriorityWeightFairshare=100: no accounts in the folder" in ended.out
    assert "AccountingStorageEnforce=limits" in ended.out
    assert "sacct.txt" in ended.out.partition("left out")[2]


def test_the_policy_is_slurm_unless_another_is_asked_for(site, monkeypatch):
    from scheduler_sim.cli import run
    from scheduler_sim.cli.main import main

    asked = []
    monkeypatch.setattr(run, "_loaded", lambda args, policy, *_: asked.append(policy) or exit(9))
    for more in ((), EASY):
        with pytest.raises(SystemExit):
            main(["run", str(site), "--quiet", *more])
    assert [policy.name for policy in asked] == ["slurm", "easy"]
    assert asked[0].slurm.PriorityWeightFairshare == 100


@pytest.mark.parametrize(
    ("remove", "add", "told"),
    [
        ("sacct.txt", "", "found no workload; allowed: sacct.txt or NAME.events, also .gz"),
        ("", "a.events", "found the workloads a.events, sacct.txt; allowed: one, sacct.txt or NAME.events"),
        ("slurm.conf", "", "found no slurm.conf; allowed: a folder with slurm.conf and a workload"),
    ],
)
def test_a_folder_needs_a_slurm_conf_and_one_workload(cli, site, remove, add, told):
    (site / (remove or "x")).unlink(missing_ok=True)
    (site / add).write_text("") if add else None
    for command in ("run", "inspect"):
        ended = cli(command, site)
        assert (ended.code, ended.out) == (2, "")
        assert told in ended.err


def test_mistakes_of_all_files_are_told_at_once(whole):
    (whole / "sacctmgr_qos.txt").write_text("Name|GrpJobs\na|x\n")
    (whole / "topology.conf").write_text("SwitchName=s\n")
    (whole / "sacctmgr_assoc.txt").write_text(ASSOC.replace("brook|", "creek|"))
    with pytest.raises(ConfigError) as error:
        read_site_folder(whole)
    for told in (
        "sacctmgr_qos.txt:2: GrpJobs: found 'x'",
        "topology.conf:1: SwitchName: found neither",
        "sacctmgr_assoc.txt: Cluster: found creek with ClusterName=brook",
    ):
        assert told in str(error.value)


def test_a_folder_stands_alone_and_a_system_does_not(cli, site):
    assert "a folder alone, or SYSTEM TRACE" in cli("run", site, site / "sacct.txt").err
    assert "allowed: SYSTEM TRACE, or the folder of a site" in cli("run", site / "slurm.conf").err
    assert "--plot draws a job trace; found a system" in cli("inspect", site, "--plot", "a.png").err


def test_usage_of_users(site):
    """Of an account that the folder does not have it is named, as are amounts that are none."""
    (site / "sacctmgr_assoc.txt").write_text(ASSOC)
    shares = site / "sshare.txt"
    shares.write_text(
        "Account|User|RawShares|RawUsage|FairShare\nroot||1|8|\n phys||60|7|\n  phys|ann|3|5|0.5\n"
    )
    assert read_site_folder(site).usage == {("phys", "ann"): 5.0}
    shares.write_text("Account|User|RawUsage\nphys|ann|5\ngeo|eve|9\ngeo|joe|0\n")
    folder = read_site_folder(site)
    assert folder.usage == {("phys", "ann"): 5.0}
    [left] = [one for one in folder.site.ignored if one.place == f"{shares}:3"]
    assert (left.key, left.value, left.matters) == ("geo", "eve: 9", True)
    shares.write_text("CLUSTER: hpc\nAccount|User|RawUsage\nphys|ann|4\nphys|ann|1\n")
    assert read_site_folder(site).usage == {("phys", "ann"): 5.0}
    shares.write_text("Account|User|RawUsage\nphys|ann|much\n")
    with pytest.raises(ConfigError) as error:
        read_site_folder(site)
    assert f"{shares}:2: RawUsage: found 'much'; allowed: an integer >= 0" in str(error.value)
    shares.write_text("Account|User|RawUsage\nroot||9\nphys||9\n")
    with pytest.raises(ConfigError, match="User: found no users; allowed: what sshare --all"):
        read_site_folder(site)


def test_the_site_that_ships_has_all_files_and_is_read_whole(cli):
    ended = cli("inspect", SAMPLE)
    assert ended.code == 0, ended.err
    folder = read_site_folder(SAMPLE)
    assert {one.file for one in folder.understood} == {one.name for one in SAMPLE.iterdir()}
    assert (folder.unread, folder.warnings) == ((), ())
    assert set(folder.site.policy["accounts"]) == {"physics", "genome"}
    assert set(folder.site.policy["accounts"]["physics"]["accounts"]) == {"optics", "lattice"}


@pytest.mark.long
@pytest.mark.interpreted
def test_the_site_that_ships_is_what_its_script_writes(tmp_path):
    runpy.run_path(str(SAMPLE.with_name("site_dumps.py")))["main"](tmp_path / "again")
    for path in SAMPLE.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name


@needs_shared
@pytest.mark.parametrize(("name", "jobs"), [("university", "2,000"), ("ub_medium", "5,000")])
def test_sites_as_their_operators_would_bring_them(cli, name, jobs):
    folder = SHARED / "data" / "sites" / name
    ended = cli("inspect", folder)
    assert ended.code == 0, ended.err
    assert jobs in ended.out


@pytest.mark.interpreted
def test_a_setting_reaches_a_limit_of_a_qos_that_the_folder_has(cli, whole):
    """Job 2 needs 4 nodes; ann's jobs of normal may have one: hers of two nodes waits for ever."""
    ended = cli(
        "run", whole, "--set", "policy.slurm.qos.normal.MaxTRESPerUser=node=1", "--out", whole / "out"
    )
    assert ended.code == 0, ended.err
    result = Result.load(whole / "out")
    assert result.components["limit_reason"].tolist()[0] == "QOSMaxNodePerUserLimit"
    assert "qos.normal.MaxTRESPerUser=node=1" in result.manifest["policy"]["name"]
    assert result.manifest["policy"]["slurm"]["qos"]["fast"]["GrpJobs"] == 4  # what the folder has stays


@pytest.mark.parametrize(
    ("setting", "kept"),
    [
        ("qos.fast.GrpJobs=-1", {"qos": {"fast": {"GrpJobs": None}}}),
        ("qos.fast.maxtrespu=node=3", {"qos": {"fast": {"MaxTRESPerUser": {"node": 3}}}}),
        ("qos.normal.priority=7", {"qos": {"normal": {"priority": 7}}}),
        ("accounts.phys.GrpTRES=node=3", {"accounts": {"phys": {"limits": {"GrpTRES": {"node": 3}}}}}),
        ("accounts.phys.shares=9", {"accounts": {"phys": {"shares": 9}}}),
        (
            "accounts.phys.users.ann.limits.MaxJobs=1",
            {"accounts": {"phys": {"users": {"ann": {"limits": {"MaxJobs": 1}}}}}},
        ),
    ],
)
def test_settings_inside_qos_and_accounts(whole, setting, kept):
    key, _, value = setting.partition("=")
    settings = {f"policy.slurm.{key}": value}
    policy = with_site(Policy.named("slurm"), read_folder(str(whole)).site, settings).with_settings(settings)
    found, said = policy.slurm, kept
    while isinstance(said, dict):
        (name,) = said
        found, said = (found[name] if isinstance(found, dict) else getattr(found, name)), said[name]
    assert found == said


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("qos.nromal.MaxJobsPerUser=1", "found the QOS 'nromal', of which the policy has none; allowed:"),
        ("qos.nromal.MaxJobsPerUser=1", "did you mean 'normal'?"),
        ("qos.normal.MaxJobsPerUsr=1", "did you mean 'MaxJobsPerUser'?"),
        ("accounts.phy.GrpJobs=1", "did you mean 'phys'?"),
        ("accounts.phys.users.anne.GrpJobs=1", "did you mean 'ann'?"),
        ("accounts.phys.GrpJbos=1", "found 'GrpJbos', no key of an account"),
        ("qos.normal=1", "found the QOS 'normal' without a key"),
        ("qos.normal.MaxTRESPerUser=cpux=1", "found 'cpux=1'; allowed: amounts of cpu"),
    ],
)
def test_a_setting_that_matches_nothing_is_an_error(cli, whole, setting, told):
    ended = cli("run", whole, "--set", f"policy.slurm.{setting}")
    assert ended.code == 2
    assert f"--set policy.slurm.{setting}: " in ended.err
    assert told in ended.err


def test_without_any_qos_a_setting_says_where_they_come_from(cli, site):
    ended = cli("run", site, "--set", "policy.slurm.qos.normal.MaxJobsPerUser=1")
    assert ended.code == 2
    assert "the policy has none; they stand in a site's folder" in ended.err


PREEMPTION = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
SUSPEND = {"policy.slurm.PreemptMode": "SUSPEND,GANG"}


@pytest.mark.parametrize(
    ("lines", "settings", "plugin", "told"),
    [
        ("", {}, "topology/tree", ""),
        (PREEMPTION, {}, "topology/tree", ""),
        (PREEMPTION, SUSPEND, "topology/none", "with PreemptMode SUSPEND,GANG the topology is not modelled"),
        (PREEMPTION, SUSPEND | {"policy.slurm.TopologyPlugin": "topology/tree"}, "topology/tree", ""),
    ],
)
def test_a_topology_gives_way_to_suspension_alone(tmp_path, lines, settings, plugin, told):
    for one in SAMPLE.iterdir():
        (tmp_path / one.name).write_bytes(one.read_bytes())
    (tmp_path / "slurm.conf").write_text(lines + (SAMPLE / "slurm.conf").read_text())
    site = read_folder(str(tmp_path)).site
    policy = with_site(Policy.resolve("slurm"), site, settings).with_settings(settings)
    found, why = without_topology(policy, site, settings)
    assert found.slurm.TopologyPlugin == plugin
    assert told in why if told else why == ""


@needs_shared
@pytest.mark.long
@pytest.mark.parametrize(("name", "jobs"), [("university", "2,000"), ("ub_medium", "5,000")])
def test_sites_as_their_operators_would_bring_them_run(cli, name, jobs):
    ended = cli("run", SHARED / "data" / "sites" / name)
    assert ended.code == 0, ended.err
    assert f"{jobs}    {jobs}         0" in ended.out  # all started, none rejected


@needs_shared
def test_files_of_other_names_are_listed():
    folder = read_site_folder(SHARED / "data" / "sites" / "ub_medium")
    assert folder.unread == ("sim.conf", "users.sim")


def test_no_folder(cli, tmp_path):
    assert cli("run", tmp_path / "nowhere").code == 2
    with pytest.raises(InputError, match=r"found no slurm\.conf"):
        read_site_folder(tmp_path)


@pytest.mark.parametrize(
    ("printed", "version", "gave"),
    [
        ("slurm 25.05.3\n", "25.05", "Slurm 25.05"),
        ("SLURM_VERSION           = 21.08.8\n", "22.05", "Slurm 21.08, by the rules of 22.05"),
    ],
)
def test_the_release_of_a_site_is_what_its_slurm_prints(
    site: Path, printed: str, version: str, gave: str
) -> None:
    (site / "version.txt").write_text(printed, encoding="utf-8")
    folder = read_folder(str(site))
    assert folder.site.policy["version"] == version
    assert folder.site.places["version"] == f"{site / 'version.txt'}:1"
    assert gave in [one.gave for one in folder.understood]


def test_since_23_11_slurm_takes_more_for_granted(site: Path) -> None:
    text = CONF.replace("PriorityType=priority/multifactor\n", "")
    (site / "slurm.conf").write_text(text, encoding="utf-8")
    (site / "version.txt").write_text("slurm 23.11.4\n", encoding="utf-8")
    since = read_folder(str(site)).site.policy
    assert (since["SelectType"], since["PriorityType"]) == ("select/cons_tres", "priority/multifactor")
    (site / "version.txt").write_text("slurm 23.02.4\n", encoding="utf-8")
    before = read_folder(str(site)).site.policy
    assert before["SelectType"] == "select/linear"
    assert "PriorityType" not in before


def test_a_file_that_names_no_release_is_told(site: Path) -> None:
    (site / "version.txt").write_text("none\n", encoding="utf-8")
    folder = read_folder(str(site))
    assert "version" not in folder.site.policy
    assert any(one.why == NO_RELEASE for one in folder.site.ignored)
