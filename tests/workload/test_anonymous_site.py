"""The script that makes a site's folder anonymous: the same site, without a name of a person or a project."""

from __future__ import annotations

import gzip
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

from scheduler_sim import read_trace
from scheduler_sim.system.site_folder import read_site_folder
from tests.conftest import ROOT, SHARED, needs_shared

SCRIPT = ROOT / "workloads" / "anonymous_site.py"
SAMPLE = ROOT / "workloads" / "sample-site"
PEOPLE = ("ann", "bob", "cyd", "dan", "eve", "optics", "lattice", "genome", "physics")


def anonymous(folder: Path, copy: Path) -> None:
    runpy.run_path(str(SCRIPT))["main"](str(folder), str(copy))


def everything(folder: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in folder.iterdir())


def assert_same_site(folder: Path, copy: Path) -> None:
    """Both have the same machine, jobs and tree; each user and account has one new name."""
    one, other = read_site_folder(folder), read_site_folder(copy)
    assert one.site.system == other.site.system
    assert one.site.system.topology == other.site.system.topology
    assert one.site.policy.get("qos") == other.site.policy.get("qos")
    assert shape(one.site.policy.get("accounts", {})) == shape(other.site.policy.get("accounts", {}))
    theirs, ours = read_trace(one.workload), read_trace(other.workload)
    for column in ("submit_time", "run_time", "time_limit", "nodes", "cores", "gpus", "partition", "qos"):
        if column in theirs.table:
            assert theirs.table[column].tolist() == ours.table[column].tolist(), column
    for column in ("user", "account", "name"):
        if column in theirs.table:
            pairs = set(zip(theirs.table[column], ours.table[column], strict=True))
            assert len(pairs) == len(np.unique(theirs[column])) == len(np.unique(ours[column])), column


def shape(accounts):
    """A tree of accounts without names."""
    return [
        (keys.get("shares"), list(keys.get("users", {}).values()), shape(keys.get("accounts", {})))
        for keys in accounts.values()
    ]


def test_no_name_is_left_and_all_else_is(tmp_path, capsys):
    anonymous(SAMPLE, tmp_path / "copy")
    assert_same_site(SAMPLE, tmp_path / "copy")
    text = everything(tmp_path / "copy")
    assert [name for name in PEOPLE if name in text] == []
    assert "bus" not in text  # what was wrong with a node
    told = capsys.readouterr().out
    assert "4 names of accounts" in told
    assert "look at" not in told


def test_commands_events_and_conf(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "slurm.conf").write_text(
        "ClusterName=mill # of Ann\nSlurmctldHost=head.example\nStoragePass=secret\nKillWait=30\n"
        'NodeName=n[1-4] Reason="ann broke it"\nPartitionName=p Nodes=ALL AllowAccounts=Optics,genome\n'
    )
    (folder / "sacctmgr.script").write_text(
        "# ann first\nsacctmgr -i add account Name=optics,genome Description='of ann' fairshare=3 \\\n"
        "  qos=normal\n"
        'add user ann account="optics" share=2\nadd user Names=bob DefaultAccount=genome\n'
        "modify user where user=ann set maxjobs=3\ndelete user bob where account=genome\n"
        "for u in ann bob; do echo $u; done\n"
    )
    job = "-dt 1 -e submit_batch_job | -sim-walltime 5 --uid=ann -A optics -J annsjob -N 1 -t 1 run.sh\n"
    (folder / "week.events.gz").write_bytes(gzip.compress(job.encode()))
    anonymous(folder, tmp_path / "copy")
    copy = tmp_path / "copy"
    assert gzip.decompress((copy / "week.events.gz").read_bytes()).decode() == (
        "-dt 1 -e submit_batch_job | -sim-walltime 5 --uid=user1 -A account1 -J job1 -N 1 -t 1 run.sh\n"
    )
    assert (copy / "sacctmgr.script").read_text().split("\n") == [
        "sacctmgr -i add account Name=account1,account2 fairshare=3    qos=normal",
        'add user user1 account="account1" share=2',
        "add user Names=user2 DefaultAccount=account2",
        "modify user where user=user1 set maxjobs=3",
        "delete user user2 where account=account2",
        "",
    ]
    conf = (copy / "slurm.conf").read_text()
    assert "SlurmctldHost=hidden\nStoragePass=hidden\nKillWait=30\n" in conf
    assert "AllowAccounts=account1,account2" in conf
    assert not any(word in conf for word in ("Ann", "ann", "head", "secret"))


def test_who_cancelled_and_who_may_use_a_reservation(tmp_path):
    shutil.copytree(SAMPLE, tmp_path / "site")
    (tmp_path / "site" / "sacct.txt").write_text(
        "JobID|User|State|Comment\n1|ann|CANCELLED by 5003|hello ann\n"
    )
    (tmp_path / "site" / "reservations.txt").write_text(
        "ReservationName=annsown StartTime=1 EndTime=2 Nodes=n01 Users=ann,-bob Accounts=(null)"
        " State=ACTIVE\n"
    )
    anonymous(tmp_path / "site", tmp_path / "copy")
    assert (tmp_path / "copy" / "sacct.txt").read_text().endswith("\n1|user1|CANCELLED|\n")
    assert (tmp_path / "copy" / "reservations.txt").read_text() == (
        "ReservationName=reservation1 StartTime=1 EndTime=2 Nodes=n01 Users=user1,-user2 Accounts=(null)"
        " State=ACTIVE\n"
    )


def test_nothing_is_replaced_and_nothing_half_written(tmp_path):
    (tmp_path / "copy").mkdir()
    with pytest.raises(SystemExit, match="is there already and is left alone"):
        anonymous(SAMPLE, tmp_path / "copy")
    shutil.copytree(SAMPLE, tmp_path / "site")
    (tmp_path / "site" / "sacct.txt").write_text("JobID|User\n1|a|b\n")
    with pytest.raises(SystemExit, match=r"found 3 columns in '1\|a\|b'; allowed: 2"):
        anonymous(tmp_path / "site", tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "site"]


def test_what_is_not_copied_and_what_is_left_is_told(tmp_path, capsys):
    shutil.copytree(SAMPLE, tmp_path / "site")
    (tmp_path / "site" / "notes.md").write_text("ann\n")
    (tmp_path / "site" / "topology.conf").write_text("SwitchName=genome Nodes=n[01-12],g[1-4]\n")
    anonymous(tmp_path / "site", tmp_path / "copy")
    told = capsys.readouterr().out
    assert "not copied: notes.md" in told
    assert "look at topology.conf:1: 'genome' stands there" in told


@needs_shared
@pytest.mark.parametrize("name", ["university", "ub_medium"])
def test_sites_as_their_operators_would_bring_them(tmp_path, name):
    folder = SHARED / "data" / "sites" / name
    anonymous(folder, tmp_path / "copy")
    assert_same_site(folder, tmp_path / "copy")
