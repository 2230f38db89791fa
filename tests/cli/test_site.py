"""A slurm.conf where a system may stand: ``inspect``, ``run``, and the keys of policy slurm."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_sim import Policy
from scheduler_sim.cli.site import left_out, read_site, with_site
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.system.slurm_conf.policy_keys import OWN_RULES, READERS
from tests.conftest import ROOT

SITE = ROOT / "configs" / "systems" / "small-site.conf"
PLAIN = """\
ClusterName=brook
SchedulerParameters=bf_interval=15,bf_window=100,bf_continue
PriorityWeightAge=7
AuthType=auth/munge
NodeName=n[1-4]
Include part.conf
"""


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "part.conf").write_text("PartitionName=p Nodes=ALL State=UP\n")
    (tmp_path / "slurm.conf").write_text(PLAIN)
    return tmp_path / "slurm.conf"


def test_inspect_shows_system_policy_keys_and_what_is_left_out(cli):
    ended = cli("inspect", SITE)
    assert (ended.code, ended.err) == (0, "")
    lines = [line.split() for line in ended.out.splitlines()]
    for told in (
        "brook: 135 nodes in 2 modules",
        "batch c049-c096 milan, ib 48 64 250 10",
        "long batch 7d 00:00:00 8 1 47 1:00:00 1",
        "bf_max_job_user 20 10",
        "PriorityMaxAge 1209600 22",
        "left out, which may matter",
        "- DownNodes: these nodes take no jobs, and are left out of the system",
        "DownNodes=c013 (line 31)",
        "left out, which does not matter",
        "AuthType=auth/munge (line 4)",
    ):
        assert told.split() in lines


def test_a_key_that_comes_often_is_named_once_and_other_files_by_name(cli, conf):
    part = conf.with_name("part.conf")
    part.write_text("".join(f"NodeName=m{i} Port={i}\n" for i in range(6)) + part.read_text())
    ended = cli("inspect", conf)
    assert "Port  (lines part.conf:1, part.conf:2, part.conf:3, part.conf:4 and 2 more)" in ended.out


def test_run_takes_the_system_and_says_what_is_left_out(cli, conf, trace):
    ended = cli("run", conf, trace((0, 50, 4, 60), (0, 5, 1, 5)), "--policy", "easy")
    assert ended.code == 0
    assert "on brook under easy" in ended.out
    assert "slurm.conf: 2 settings are left out, 0 of which may matter; scheduler-sim inspect" in ended.err
    assert cli("run", conf, trace((0, 50, 4, 60)), "--quiet").err == ""


@pytest.mark.interpreted
def test_partitions_of_part_of_a_module_run_under_every_policy(cli, tmp_path, trace):
    sets = "[{name: old, nodes: 2}, {name: new, nodes: 2}]"
    machine = tmp_path / "parts.yaml"
    machine.write_text(
        f"modules: [{{name: CM, nodes: 4, node_sets: {sets}}}]\n"
        "partitions: [{name: few, module: CM, node_sets: [new]}, {name: all, module: CM}]\n"
    )
    for policy in ("fcfs", "easy", "conservative"):  # all ask for the default partition, the first one
        ended = cli("run", machine, trace((0, 50, 2, 60), (0, 50, 2, 60), (0, 50, 4, 60)), "--policy", policy)
        assert ended.code == 0, ended.err
        assert "1 rejected" in ended.out or " 1 " in ended.out


def test_mistakes_of_the_file_are_told_with_their_line(cli, conf, trace):
    conf.write_text(PLAIN + "KillWait=soon\n")
    for command in (("inspect", conf), ("run", conf, trace((0, 50, 4, 60)))):
        ended = cli(*command)
        assert ended.code == 2
        assert f"{conf}:7: KillWait: found 'soon'; allowed: an integer >= 0" in ended.err


def test_the_site_gives_policy_slurm_what_nobody_else_states(conf):
    site = read_site(str(conf))
    own = Policy(name="mine", backfill="slurm", slurm={"bf_window": 77})
    merged = with_site(own, site, ()).slurm
    assert (merged.bf_interval, merged.bf_window, merged.PriorityWeightAge) == (15, 77, 7)
    assert merged.bf_resolution == Policy.named("slurm").slurm.bf_resolution
    later = with_site(Policy.named("slurm"), site, ["policy.slurm.bf_interval"]).with_settings(
        {"policy.slurm.bf_interval": "9"}
    )
    assert (later.slurm.bf_interval, later.slurm.bf_window) == (9, 100)
    assert with_site(Policy.named("slurm"), site, ()).name == "slurm"


def test_other_policies_are_left_as_they_are(conf):
    easy = Policy.named("easy")
    assert with_site(easy, read_site(str(conf)), ()) == easy


def test_values_that_mean_nothing_to_the_policy_come_with_their_line(conf):
    conf.write_text(PLAIN + "PriorityType=priority/none\n")
    site = read_site(str(conf))
    with pytest.raises(ConfigError, match=r"slurm\.conf:7: PriorityType: found 'priority/none'; allowed: "):
        with_site(Policy.named("slurm"), site, ())
    assert with_site(Policy.named("slurm"), site, ["policy.slurm.PriorityType"]).slurm.bf_interval == 15


def test_inspect_refuses_the_values_that_run_refuses_all_at_once(cli, conf, trace):
    conf.write_text(
        PLAIN + "PriorityType=priority/multifactr\nSelectType=select/foo\nDependencyParameters=bf_window=x\n"
    )
    for command in (("inspect", conf), ("run", conf, trace((0, 50, 4, 60)), "--policy", "slurm")):
        ended = cli(*command)
        assert (ended.code, ended.out) == (2, "")
        for told in (
            "7: PriorityType: found 'priority/multifactr'; allowed: priority/basic, priority/multifactor",
            "8: SelectType: found 'select/foo'; allowed: select/cons_tres, ",
            "9: bf_window: found 'x'; allowed: an integer >= 1",
        ):
            assert f"{conf}:{told}" in ended.err


def test_every_key_of_slurms_that_the_policy_has_is_read():
    slurms_own = {name for name in SlurmKeys.model_fields if name[0].isupper()}
    assert slurms_own - {*READERS, *OWN_RULES} == set()


def test_one_setting_is_one(tmp_path):
    (tmp_path / "one.conf").write_text("NodeName=n\nPartitionName=p Nodes=n OverSubscribe=FORCE\n")
    told = left_out(read_site(str(tmp_path / "one.conf")), "one.conf")
    assert told.startswith("one.conf: 1 setting is left out, 1 of which may matter; ")


def test_nothing_is_said_where_nothing_is_left_out(tmp_path):
    (tmp_path / "all.conf").write_text("NodeName=n\nPartitionName=p Nodes=n OverSubscribe=EXCLUSIVE\n")
    site = read_site(str(tmp_path / "all.conf"))
    assert left_out(site, "all.conf") == ""
    assert read_site("system.yaml") is None
