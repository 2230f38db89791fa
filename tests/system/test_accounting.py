"""Accounts, users and QOS of a site: what sacctmgr printed, and scripts of its commands."""

from __future__ import annotations

import gzip
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.system.slurm_conf.ignored import NOT_ENFORCED
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_dumps.accounts import (
    DIRECTLY_IN_ROOT,
    NOT_COUNTED,
    accounts_form,
)
from scheduler_sim.system.slurm_dumps.associations import IN_SEVERAL, NOT_READ, ONE_LEVEL, read_associations
from scheduler_sim.system.slurm_dumps.options import grace, minutes, tres
from scheduler_sim.system.slurm_dumps.qos import read_qos
from scheduler_sim.system.slurm_dumps.script import (
    NOBODY,
    NOT_AN_OPTION,
    NOT_UNDERSTOOD,
    OTHER_CLUSTER,
    THERE_ALREADY,
    read_script,
)
from tests.conftest import SHARED, needs_shared

TREE = """\
Cluster|Account|User|Partition|Share|Priority|GrpTRES|MaxTRES|MaxWall|MaxJobs|QOS|Def QOS
brook|root|||1|||cpu=64||20|normal|
brook|root|root||1|||cpu=64||20|normal|
brook| phys|||60||node=4|cpu=64||20|long,normal|normal
brook|  phys|ann||3|||cpu=64||20|long,normal|normal
brook|  phys|bob||parent|5||cpu=8|1-00:00:00|20|normal|normal
brook|  theory|||40|||cpu=64||20|long,normal|normal
brook|   theory|ann||1|||cpu=64||2|long,normal|normal
"""
FORM = {
    "phys": {
        "shares": 60,
        "qos": ["long", "normal"],
        "default_qos": "normal",
        "limits": {"GrpTRES": {"node": 4}, "MaxTRESPerJob": {"cpu": 64}, "MaxJobs": 20},
        "users": {
            "ann": 3,
            "bob": {
                "shares": "parent",
                "priority": 5,
                "qos": ["normal"],
                "limits": {"MaxTRESPerJob": {"cpu": 8}, "MaxWall": 1440},
            },
        },
        "accounts": {"theory": {"shares": 40, "users": {"ann": {"shares": 1, "limits": {"MaxJobs": 2}}}}},
    }
}
SCRIPT = """\
# the same
add qos long priority=5
add cluster name=brook fairshare=1
modify cluster where name=brook set MaxTRES=cpu=64 MaxJobs=20
sacctmgr -i add account Name=phys Description='all of it, "physics"' fairshare=60 \\
    GrpNodes=4 qos=long,normal defaultqos=normal
sacctmgr -i create account theory parent=phys Fairshare=40
add user ann account=phys,theory share=3
update user ann where acct=theory set shares=1 maxj=2
add user name=bob DefaultAccount=phys fairshare=parent priority=5 MaxWall=1-0 maxtres=cpu=8 qos=normal
list assoc tree
"""


def written(folder: Path, text: str, name: str = "dump.txt") -> Path:
    (folder / name).write_text(text)
    return folder / name


def form_of_dump(path: Path, cluster: str = "") -> tuple[dict[str, Any], Notes]:
    notes = Notes()
    return accounts_form(read_associations(path, cluster, notes), notes), notes


def form_of_script(path: Path, cluster: str = "brook") -> tuple[dict[str, Any], dict[str, Any], Notes]:
    notes = Notes()
    database = read_script(path, cluster, notes)
    return accounts_form(database.tree, notes), database.qos_form(notes), notes


def problems_of(path: Path) -> str:
    try:
        return "\n".join(form_of_dump(path)[1].problems)
    except ConfigError as error:
        return str(error)


# -- associations


def test_a_tree_is_read_and_says_what_differs_from_the_account_above(tmp_path):
    form, notes = form_of_dump(written(tmp_path, TREE))
    assert form == FORM
    assert notes.problems == []
    assert [one.why for one in notes.ignored] == [IN_SEVERAL]


def test_columns_stand_in_any_order_and_number(tmp_path):
    form, notes = form_of_dump(
        written(tmp_path, "User|FairShare|ParentName|Account|\n|7|root|a|\n|2|a|b|\nu|1||b|\n")
    )
    assert form == {"a": {"shares": 7, "accounts": {"b": {"shares": 2, "users": {"u": 1}}}}}
    assert notes.ignored == []


def test_a_packed_dump_is_read(tmp_path):
    packed = tmp_path / "dump.txt.gz"
    packed.write_bytes(gzip.compress(TREE.encode()))
    assert form_of_dump(packed)[0] == FORM
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(ConfigError, match="broken gzip"):
        form_of_dump(packed)


def test_what_is_not_modelled_is_noted(tmp_path):
    text = """\
Account|User|Partition|GrpTRES|MaxTRESRunMins|Share|Comment
root|root|||||
root|eve|||||
a|||bb/cray=4,cpu=3,gres/gpu:a100=2|cpu=9|1|
b||||||hello
b|u|debug|||1|
"""
    form, notes = form_of_dump(written(tmp_path, text))
    assert form["a"] == {"shares": 1, "limits": {"GrpTRES": {"cpu": 3, "gres/gpu:a100": 2}}}
    assert form["b"] == {"shares": 1, "users": {"u": 1}}
    noted = {(one.place.rpartition(":")[2], one.key, one.value): one.why for one in notes.ignored}
    assert noted["4", "GrpTRES", "bb/cray=4"] == NOT_COUNTED
    assert noted["4", "MaxTRESRunMins", "of a"] == NOT_ENFORCED
    assert noted["3", "User", "eve"] == DIRECTLY_IN_ROOT
    assert noted["1", "Comment", ""] == NOT_READ
    assert noted["1", "ParentName", ""] == ONE_LEVEL
    assert ("6", "Partition", "debug") in noted


def test_limits_of_the_root_for_all_together_stand_beside_the_accounts(tmp_path):
    form, _ = form_of_dump(written(tmp_path, "Account|User|GrpTRES|GrpWall\nroot||mem=1T|2-0\na||| \n"))
    assert form == {"root": {"limits": {"GrpTRES": {"mem": 1048576}, "GrpWall": 2880}}, "a": {"shares": 1}}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Account|Share\na|1\n", "dump.txt:1: found 'Account|Share'; allowed: the header that sacctmgr show"),
        ("Account|User|User\n", "dump.txt:1: found the column 'User' twice"),
        ("Account|User\n\na\n", "dump.txt:3: found 1 columns; allowed: 2"),
        ("Account|User|MaxJobs\na||many\n", "dump.txt:2: MaxJobs: found 'many'; allowed: an integer >= 0"),
        ("Account|User|GrpTRES\na||cpu\n", "dump.txt:2: GrpTRES: found 'cpu'; allowed: resource=number"),
        ("Account|User|MaxWall\na||1 day\n", "dump.txt:2: MaxWall: found '1 day'; allowed: minutes"),
        ("Account|User\na|\na|\n", "dump.txt:3: Account: found 'a' again, after"),
        ("Account|User\na|u\na|u\n", "dump.txt:3: User: found 'u' again"),
        ("Account|User\n|u\n", "dump.txt:2: Account: found nothing; allowed: a name"),
        ("Account|User|ParentName\na||b\nb||a\n", "allowed: no circle"),
        ("Cluster|Account|User\nx|a|\ny|a|\n", "Cluster: found x, y with a slurm.conf without ClusterName"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path, text, told):
    assert told in problems_of(written(tmp_path, text))


def test_of_several_clusters_the_one_of_the_slurm_conf_is_read(tmp_path):
    path = written(tmp_path, "Cluster|Account|User\nx|a|\ny|b|\n")
    assert form_of_dump(path, "Y")[0] == {"b": {"shares": 1}}
    with pytest.raises(ConfigError, match="Cluster: found x, y with ClusterName=z"):
        form_of_dump(path, "z")


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (tres, "cpu=2,mem=10G,gres/gpu=1K,node=-1", {"cpu": 2, "mem": 10240, "gres/gpu": 1024, "node": None}),
        (minutes, "1-00:00:30", 1441),
        (minutes, "90", 90),
        (minutes, "-1", None),
        (grace, "20", 20),
        (grace, "00:01:00", 60),
    ],
)
def test_values(read, text, value):
    assert read(text) == value


@pytest.mark.parametrize("text", ["cpu", "cpu=x", "1=5", "cpu=-2", "mem=1Q"])
def test_amounts_that_mean_nothing(text):
    with pytest.raises(InputError, match="resource=number"):
        tres(text)


# -- QOS


def test_qos(tmp_path):
    text = """\
Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPA
normal|0|00:00:00||cluster||1.000000|||||
high|100|00:01:00|normal,low|requeue|DenyOnLimit,NoDecay|2.000000|mem=2G|12:00:00|gres/gpu=4|3|9
"""
    notes = Notes()
    assert read_qos(written(tmp_path, text), notes) == {
        "normal": 0,
        "high": {
            "priority": 100,
            "Flags": ["DenyOnLimit", "NoDecay"],
            "GraceTime": 60,
            "GrpTRES": {"mem": 2048},
            "MaxJobsPerUser": 3,
            "MaxSubmitJobsPerAccount": 9,
            "MaxTRESPerUser": {"gres/gpu": 4},
            "MaxWall": 720,
            "Preempt": ["low", "normal"],
            "PreemptMode": "requeue",
            "UsageFactor": 2.0,
        },
    }
    assert (notes.problems, notes.ignored) == ([], [])


def test_mistakes_in_qos_are_told_with_their_place(tmp_path):
    notes = Notes()
    read_qos(written(tmp_path, "Name|UsageFactor|Colour\na|fast|\na|1|\n"), notes)
    assert "dump.txt:2: UsageFactor: found 'fast'; allowed: a number >= 0" in notes.problems[0]
    assert "dump.txt:3: Name: found 'a' again" in notes.problems[1]
    assert [(one.key, one.why) for one in notes.ignored] == [("Colour", NOT_READ)]


# -- scripts


def test_commands_give_the_same_tree_as_a_dump(tmp_path):
    form, qos, notes = form_of_script(written(tmp_path, SCRIPT))
    expected = json.loads(json.dumps(FORM))
    expected["phys"]["users"]["ann"] = {"shares": 3, "default": True}
    assert form == expected
    assert qos == {"normal": 0, "long": 5}
    assert notes.problems == []
    assert [one.key for one in notes.ignored] == ["Description"]


def test_qos_are_added_to_and_taken_from_lists_cleared_and_removed(tmp_path):
    commands = """\
add qos fast,slow grptres=cpu=8,node=2 flags=DenyOnLimit
modify qos fast set grptres=cpu=-1 maxjobspu=4 flags+=NoDecay preempt=slow,normal
modify qos slow set grptres=node=-1,cpu=-1 flags=-1
add account a qos=normal,fast
add account b
modify account a set qos+=slow
modify account a set qos-=normal
add user u account=a maxjobs=3
modify user u set maxjobs=-1
remove qos where name=normal
add user v account=b
delete user v
delete account b
"""
    form, qos, notes = form_of_script(written(tmp_path, commands))
    assert form == {"a": {"shares": 1, "qos": ["fast", "slow"], "users": {"u": 1}}}
    assert qos == {
        "fast": {
            "priority": 0,
            "Flags": ["DenyOnLimit", "NoDecay"],
            "GrpTRES": {"node": 2},
            "MaxJobsPerUser": 4,
            "Preempt": ["slow"],
        },
        "slow": 0,
    }
    assert (notes.problems, notes.ignored) == ([], [])


@pytest.mark.parametrize(
    ("line", "key", "why"),
    [
        ("echo done", "line", NOT_UNDERSTOOD),
        ("for u in a b; do sacctmgr -i add user $u account=a; done", "line", NOT_UNDERSTOOD),
        ("add coordinator account=a names=u", "line", NOT_UNDERSTOOD),
        ("delete cluster brook", "delete cluster", NOT_UNDERSTOOD),
        ("modify user u set colour=red", "colour", NOT_AN_OPTION),
        ("modify user nobody set maxjobs=1", "modify user", NOBODY),
        ("add account a", "add account", THERE_ALREADY),
        ("add account b cluster=other", "cluster", OTHER_CLUSTER),
    ],
)
def test_what_is_not_understood_is_noted(tmp_path, line, key, why):
    form, _, notes = form_of_script(written(tmp_path, f"add account a\nadd user u account=a\n{line}\n"))
    assert form == {"a": {"shares": 1, "qos": ["normal"], "users": {"u": 1}}}
    assert [(one.key, one.why, one.place.rpartition(":")[2]) for one in notes.ignored] == [(key, why, "3")]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("add account a maxjobs=x", "dump.txt:1: maxjobs: found 'x'; allowed: an integer >= 0"),
        ("add user u", "dump.txt:1: add user: found no account; allowed: account=NAME"),
        ("add user u account=z", "dump.txt:1: account: found 'z'; allowed: one that was added before"),
        ("add account a parent=z", "dump.txt:1: parent: found 'z' of 'a'; allowed: an account"),
        ("add account 'a", "dump.txt:1: command: found"),
    ],
)
def test_mistakes_in_commands(tmp_path, line, told):
    notes = form_of_script(written(tmp_path, line + "\n"))[2]
    assert told in "\n".join(notes.problems)


# -- recordings


@needs_shared
def test_recorded_dumps_and_the_commands_that_made_them_agree(tmp_path):
    folder = SHARED / "data" / "slurm_oracle_2"
    seen = 0
    for path in sorted((folder / "out").glob("*.json.gz")):
        out = json.loads(gzip.decompress(path.read_bytes()))
        if "sacctmgr_assoc" not in out:
            continue
        made = folder / "in" / f"{path.name.partition('.')[0].partition('@')[0]}.json.gz"
        commands = json.loads(gzip.decompress(made.read_bytes()))["accounting"]
        script = written(tmp_path, "".join(f"sacctmgr -i {shlex.join(one)}\n" for one in commands), "script")
        form, qos, notes = form_of_script(script, "cluster")
        assert form == form_of_dump(written(tmp_path, "\n".join(out["sacctmgr_assoc"])))[0], path.name
        kept = read_qos(written(tmp_path, "\n".join(out["sacctmgr_qos"])), notes)
        assert {name: kept[name] for name in qos} == qos, path.name
        assert notes.problems == [], path.name
        seen += 1
    assert seen >= 20


@needs_shared
def test_the_script_of_a_published_site():
    form, qos, notes = form_of_script(SHARED / "data" / "sites" / "ub_medium" / "sacctmgr.script", "ubhpc")
    assert len(form) == 62
    assert form["account0"]["users"] == {"admin": {"shares": 1, "limits": {"MaxSubmitJobs": 1000}}}
    assert qos["supporters"] == {"priority": 200, "MaxSubmitJobsPerUser": 1000}
    assert "normal" not in qos
    assert {one.key for one in notes.ignored} == {"Description", "Organization", "AdminLevel"}
    assert notes.problems == []
