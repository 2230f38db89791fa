"""Reading a slurm.conf: the format, the machine, the policy keys, what is left out, each mistake."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler_sim import Policy
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.system.read_system import read_system
from scheduler_sim.system.slurm_conf import ignored
from scheduler_sim.system.slurm_conf.policy_keys import READERS
from scheduler_sim.system.slurm_conf.site import BY_DEFAULT, Site, read_slurm_conf
from scheduler_sim.system.slurm_conf.values import parameters, seconds, size_mb, whole_minutes
from scheduler_sim.system.system import Module, NodeSet, Partition, Resource, System
from tests.conftest import ROOT

NODES = "NodeName=n[1-4] CPUs=8\n"
PART = "PartitionName=p Nodes=ALL OverSubscribe=EXCLUSIVE\n"


def site(tmp_path: Path, text: str) -> Site:
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    return read_slurm_conf(path)


def stated(found: Site) -> dict[str, Any]:
    """The keys of the policy that the file itself states."""
    return {name: value for name, value in found.policy.items() if found.places[name] != BY_DEFAULT}


# -- the format ----------------------------------------------------------------------


def test_the_least_that_works(tmp_path: Path) -> None:
    found = site(tmp_path, NODES + PART)
    assert found.system.name == "slurm"
    assert found.system.modules == (Module("p", 4, 8),)
    assert found.system.partitions == (Partition("p", "p", priority=1, exclusive=True),)
    assert (stated(found), found.ignored) == ({}, ())


def test_comments_continued_lines_quotes_and_case(tmp_path: Path) -> None:
    text = (
        "# a comment = nothing\n"
        "clustername=x#y\n"
        'NODENAME=n[1-2] \\\n  cpus=4 Reason="not so = good" # and more\n'
        "PartitionName = p nodes=n1,\\\nn2 oversubscribe=exclusive\n"
        "KILLWAIT=7 OverTimeLimit=3\n"
    )
    found = site(tmp_path, text)
    assert found.system.name == "x"
    assert found.system.modules == (Module("p", 2, 4),)
    assert stated(found) == {"KillWait": 7, "OverTimeLimit": 3}
    assert found.places["KillWait"].endswith("slurm.conf:7")


def test_an_escaped_hash_is_no_comment(tmp_path: Path) -> None:
    assert site(tmp_path, "ClusterName=a\\#b\n" + NODES + PART).system.name == "a#b"


def test_included_files_count_at_their_place(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "nodes.conf").write_text("NodeName=n[1-3]\nINCLUDE parts/more.conf\n")
    (tmp_path / "parts" / "more.conf").write_text("KillWait=9\nSuspendTime=60\n")
    found = site(tmp_path, "KillWait=1\nInclude parts/nodes.conf\n" + PART)
    assert found.system.nodes == 3
    assert found.policy["KillWait"] == 9
    assert found.ignored[0].place == f"{tmp_path}/parts/more.conf:2"


WITH_PREEMPTION = (
    "PreemptType=preempt/partition_prio\nPreemptMode={}\nSchedulerParameters=preempt_youngest_first\n"
)


@pytest.mark.parametrize(
    ("mode", "select", "sharing", "read"),
    [
        ("REQUEUE", "linear", "EXCLUSIVE", True),
        ("REQUEUE", "cons_tres", "EXCLUSIVE", True),
        ("CANCEL", "cons_tres", "NO", True),
        ("CANCEL", "cons_tres", "FORCE:2", False),
        ("SUSPEND,GANG", "linear", "EXCLUSIVE", False),
        ("SUSPEND,GANG", "cons_tres", "NO", True),
        ("SUSPEND,GANG", "cons_tres", "FORCE:2", True),
        ("GANG,REQUEUE", "linear", "EXCLUSIVE", False),
    ],
)
def test_preemption_is_read_unless_jobs_share_cores_or_are_suspended(
    tmp_path: Path, mode: str, select: str, sharing: str, read: bool
) -> None:
    part = f"PartitionName=p Nodes=ALL OverSubscribe={sharing}\n"
    found = site(tmp_path, WITH_PREEMPTION.format(mode) + f"SelectType=select/{select}\n" + NODES + part)
    left_out = [one.key for one in found.ignored if one.why == ignored.PREEMPTION]
    assert left_out == ([] if read else ["PreemptType", "PreemptMode", "preempt_youngest_first"])
    assert ("PreemptType" in found.policy) == read


SUSPENDING = "PartitionName=DEFAULT Nodes=ALL OverSubscribe=FORCE:1\nPartitionName=p {}\nPartitionName=q {}\n"


@pytest.mark.parametrize(
    ("mode", "own", "others", "is_read"),
    [
        ("SUSPEND,GANG", "", "", True),
        ("gang,suspend", "PreemptMode=OFF", "PreemptMode=SUSPEND", True),
        ("SUSPEND,GANG", "OverSubscribe=FORCE:2", "", False),
        ("SUSPEND,GANG", "OverSubscribe=NO", "", False),
        ("SUSPEND,GANG", "", "PreemptMode=REQUEUE", False),
    ],
)
def test_suspension_is_read_where_no_jobs_of_a_partition_have_nodes_in_common(
    tmp_path: Path, mode: str, own: str, others: str, is_read: bool
) -> None:
    """What takes turns is told with it."""
    text = WITH_PREEMPTION.format(mode) + "SchedulerTimeSlice=10\nSelectType=select/linear\n" + NODES
    found = site(tmp_path, text + SUSPENDING.format(own, others))
    assert found.policy.get("PreemptMode") == ("SUSPEND,GANG" if is_read else None)
    why = {one.key: one.why for one in found.ignored}
    assert why["SchedulerTimeSlice"] == (ignored.NO_TURNS if is_read else ignored.PREEMPTION)
    assert ("OverSubscribe" in why) == (not is_read)
    if is_read:
        said = [own.partition("=")[2], others.partition("=")[2]]
        assert [one.slurm.get("PreemptMode", "") for one in found.system.partitions] == said


@pytest.mark.parametrize(
    ("preemption", "select", "read"),
    [
        ("PreemptMode=GANG", "cons_tres", {"PreemptMode": "GANG", "SchedulerTimeSlice": 10}),
        ("PreemptMode=gang,off", "cons_tres", {"PreemptMode": "GANG", "SchedulerTimeSlice": 10}),
        ("PreemptMode=GANG", "linear", {}),
        (
            "PreemptType=preempt/partition_prio\nPreemptMode=GANG,SUSPEND",
            "cons_tres",
            {"PreemptMode": "SUSPEND,GANG", "SchedulerTimeSlice": 10},
        ),
        ("PreemptType=preempt/qos\nPreemptMode=GANG,SUSPEND", "cons_tres", {}),
    ],
)
def test_turns_are_read_where_jobs_share_nodes(
    tmp_path: Path, preemption: str, select: str, read: dict[str, Any]
) -> None:
    text = f"{preemption}\nSchedulerTimeSlice={{}}\nSelectType=select/{select}\n{NODES}"
    part = "PartitionName=p Nodes=ALL OverSubscribe=FORCE:2\n"
    found = site(tmp_path, text.format(10) + part)
    keys = ("PreemptMode", "SchedulerTimeSlice")
    assert {key: found.policy[key] for key in keys if key in found.policy} == read
    assert (ignored.PREEMPTION in [one.why for one in found.ignored]) == (not read)
    short = site(tmp_path, text.format(4) + part)
    assert "SchedulerTimeSlice" not in short.policy
    assert (ignored.TOO_SHORT in [one.why for one in short.ignored]) == bool(read)


def test_what_a_partition_says_of_preemption(tmp_path: Path) -> None:
    own = "PartitionName=p Nodes=ALL OverSubscribe=EXCLUSIVE PreemptMode={} GraceTime=90\n"
    found = site(tmp_path, NODES + own.format("off"))
    assert found.system.partitions[0].slurm == {"PreemptMode": "OFF", "GraceTime": 90}
    assert found.ignored == ()
    found = site(tmp_path, NODES + own.format("SUSPEND"))
    assert found.system.partitions[0].slurm == {"GraceTime": 90}
    assert [(one.key, one.why) for one in found.ignored] == [("PreemptMode", ignored.PREEMPTION)]
    found = site(tmp_path, NODES + "SelectType=select/cons_tres\n" + own.format("OFF"))
    assert found.system.partitions[0].slurm == {"PreemptMode": "OFF", "GraceTime": 90}
    assert found.ignored == ()
    with pytest.raises(ConfigError, match="PreemptMode: found 'SUSPENDED'; allowed: OFF, REQUEUE"):
        site(tmp_path, NODES + own.format("SUSPENDED"))


def test_the_last_of_a_key_counts(tmp_path: Path) -> None:
    assert stated(site(tmp_path, f"KillWait=1\n{NODES}{PART}KillWait=2\n")) == {"KillWait": 2}


def test_default_lines_hold_for_what_follows(tmp_path: Path) -> None:
    text = (
        "NodeName=a1\n"
        "NodeName=DEFAULT CPUs=4 RealMemory=2048\n"
        "NodeName=DEFAULT CPUs=6\n"
        "NodeName=b1\nNodeName=c1 CPUs=9\n"
        "PartitionName=p Nodes=a1\n"
        "PartitionName=default MaxTime=60 OverSubscribe=EXCLUSIVE\n"
        "PartitionName=q Nodes=b1\nPartitionName=r Nodes=c1 MaxTime=90\n"
    )
    system = site(tmp_path, text).system
    assert [(m.cores_per_node, m.memory_gb) for m in system.modules] == [(1, 1 / 1024), (6, 2.0), (9, 2.0)]
    assert [p.max_time_s for p in system.partitions] == [None, 3600, 5400]


# -- nodes and modules ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "cpus"),
    [
        ("", 0),
        ("CPUs=7 Sockets=2", 2),
        ("Procs=3", 3),
        ("Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 32),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", 16),
        ("CoresPerSocket=4", 4),
    ],
)
def test_how_many_cpus_a_node_has(tmp_path: Path, keys: str, cpus: int) -> None:
    assert site(tmp_path, f"NodeName=n {keys}\n{PART}").system.modules[0].cores_per_node == cpus


def test_partitions_that_share_nodes_are_one_module_with_sets(tmp_path: Path) -> None:
    text = (
        "ClusterName=brook\n"
        "NodeName=n[9-12] Feature=a,b Weight=5 RealMemory=4096 CPUs=8\n"
        "NodeName=n[1-8] Feature=a RealMemory=2048 CPUs=8\n"
        "PartitionName=wide Nodes=n[1-10] OverSubscribe=EXCLUSIVE Default=YES\n"
        "PartitionName=big Nodes=n[9-12] OverSubscribe=EXCLUSIVE\n"
    )
    system = site(tmp_path, text).system
    (module,) = system.modules
    assert (module.name, module.nodes, module.cores_per_node, module.features) == ("brook", 12, 8, ("a",))
    assert module.node_sets == (  # by the numbers of the nodes, not by the lines of the file
        NodeSet("n1-n8", 8, memory_gb=2.0),
        NodeSet("n9-n10", 2, ("b",), memory_gb=4.0, weight=5),
        NodeSet("n11-n12", 2, ("b",), memory_gb=4.0, weight=5),
    )
    assert [p.node_sets for p in system.partitions] == [("n1-n8", "n9-n10"), ("n9-n10", "n11-n12")]
    assert System.from_dict(system.to_dict()) == system


def test_what_no_partition_connects_is_several_modules(tmp_path: Path) -> None:
    text = (
        "ClusterName=brook\nNodeName=a[1-3]\nNodeName=b[1-2] Gres=gpu:h100:4(S:0-1),nvme:1\n"
        "PartitionName=cpu Nodes=a[1-3]\nPartitionName=gpu Nodes=b[1-2]\nPartitionName=test Nodes=a1\n"
    )
    system = site(tmp_path, text).system
    assert [(m.name, m.nodes, m.gpus_per_node) for m in system.modules] == [("cpu", 3, 0), ("gpu", 2, 4)]
    assert [(p.name, p.module, p.node_sets) for p in system.partitions] == [
        ("cpu", "cpu", ()),
        ("gpu", "gpu", ()),
        ("test", "cpu", ("a1",)),
    ]


def test_a_later_partition_joins_two_modules(tmp_path: Path) -> None:
    text = "NodeName=a,b,c\nPartitionName=x Nodes=a\nPartitionName=y Nodes=b\nPartitionName=all Nodes=ALL\n"
    system = site(tmp_path, text).system
    assert [m.name for m in system.modules] == ["slurm"]
    assert [p.node_sets for p in system.partitions] == [("a",), ("b",), ()]


def test_node_sets_by_name_and_by_feature(tmp_path: Path) -> None:
    text = (
        "NodeName=a[1-3] Feature=fast\nNodeName=b[1-3]\n"
        "NodeSet=some Nodes=b[2-3]\nNodeSet=fast Feature=FAST\nNodeSet=both Feature=fast Nodes=b1\n"
        "PartitionName=x Nodes=some,a1\nPartitionName=y Nodes=fast\nPartitionName=z Nodes=both\n"
    )
    found = site(tmp_path, text).system
    assert [found.nodes_of(name) for name in "xyz"] == [3, 3, 4]


def test_nodes_that_take_no_jobs_are_left_out_and_listed(tmp_path: Path) -> None:
    text = (
        "NodeName=n[1-3] State=UNKNOWN\nNodeName=f[1-2] State=FUTURE\nNodeName=c1 State=CLOUD\n"
        "NodeName=spare\nDownNodes=n2 State=DOWN\nPartitionName=p Nodes=n[1-3],f1,c1\n"
        "PartitionName=later Nodes=f[1-2]\n"
    )
    found = site(tmp_path, text)
    assert (found.system.nodes, len(found.system.partitions)) == (3, 1)
    left_out = {(one.key, one.value) for one in found.ignored if "left out" in one.why}
    assert left_out == {
        ("NodeName", "f[1-2]"),
        ("DownNodes", "n2"),
        ("PartitionName", "later"),
        ("NodeName", "spare"),
    }


# -- partitions ----------------------------------------------------------------------


def test_everything_a_partition_may_say(tmp_path: Path) -> None:
    text = (
        "PartitionName=p Nodes=n[1-4] Default=YES MaxTime=2-0:30 DefaultTime=90 MinNodes=2 MaxNodes=3 "
        "State=drain PriorityTier=7 PriorityJobFactor=40 OverSubscribe=EXCLUSIVE\n"
    )
    assert site(tmp_path, NODES + text).system.partitions == (
        Partition("p", "p", 174_600, 3, 7, True, (), 5400, 2, "DRAIN", 40, exclusive=True),
    )


def test_priority_is_tier_and_factor(tmp_path: Path) -> None:
    (p,) = site(tmp_path, NODES + "PartitionName=p Nodes=ALL Priority=6 PriorityTier=2\n").system.partitions
    assert (p.priority, p.priority_job_factor) == (6, 6)


def test_a_default_time_above_the_limit_is_dropped_as_in_slurm(tmp_path: Path) -> None:
    found = site(tmp_path, NODES + PART.strip() + " MaxTime=60 DefaultTime=61\n")
    assert found.system.partitions[0].default_time_s is None
    assert [(one.key, one.why) for one in found.ignored] == [
        ("DefaultTime", "above MaxTime, so Slurm takes MaxTime instead")
    ]


def test_of_two_default_partitions_the_last_is(tmp_path: Path) -> None:
    text = NODES + "PartitionName=p Nodes=ALL Default=YES\nPartitionName=q Nodes=ALL Default=YES\n"
    assert site(tmp_path, text).system.default_partition.name == "q"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 5400),
        ("0:30", 30),
        ("12:00", 720),
        ("1:02:03", 3723),
        ("2-0", 172_800),
        ("1-02:30", 95_400),
        ("1-02:30:05", 95_405),
        ("UNLIMITED", None),
        ("infinite", None),
        ("-1", None),
    ],
)
def test_times_in_slurms_formats(text: str, expected: int | None) -> None:
    assert seconds(text) == expected


def test_limits_are_whole_minutes_rounded_up() -> None:
    assert [whole_minutes(text) for text in ("0:01", "1:00", "1:01", "UNLIMITED")] == [60, 60, 120, None]
    with pytest.raises(InputError, match="at least a second"):
        whole_minutes("0")


def test_sizes_and_parameters() -> None:
    assert [size_mb(text) for text in ("512", "2G", "1T", "3gb")] == [512, 2048, 1_048_576, 3072]
    assert parameters("a, b=2,c=x,") == {"a": True, "b": 2, "c": "x"}


# -- policy --------------------------------------------------------------------------


def test_policy_keys_come_under_slurms_names_in_seconds(tmp_path: Path) -> None:
    text = (
        "SchedulerType=SCHED/backfill\nSchedulerParameters=bf_interval=15,defer,bf_hetjob_prio=avg\n"
        "selecttype=select/linear\nDependencyParameters=kill_invalid_depend\nEnforcePartLimits=yes\n"
        "PriorityType=priority/multifactor\nPriorityMaxAge=7-0\nPriorityDecayHalfLife=0\nPriorityCalcPeriod=2\n"
        "PriorityUsageResetPeriod=monthly\nPriorityFavorSmall=YES\nPriorityWeightAge=1000\n"
        "PriorityWeightTRES=CPU=10,Mem=20\nPriorityFlags=FAIR_TREE,CALCULATE_RUNNING,SMALL_RELATIVE_TO_TIME\n"
        "OverTimeLimit=UNLIMITED\nKillWait=60\n"
    )
    assert site(tmp_path, text + NODES + PART).policy == {
        "SchedulerType": "sched/backfill",
        "bf_interval": 15,
        "defer": True,
        "bf_hetjob_prio": "avg",
        "SelectType": "select/linear",
        "kill_invalid_depend": True,
        "EnforcePartLimits": "ANY",
        "PriorityType": "priority/multifactor",
        "AccountingStorageType": "accounting_storage/none",
        "AccountingStorageEnforce": "none",
        "PriorityMaxAge": 604_800,
        "PriorityDecayHalfLife": 0,
        "PriorityCalcPeriod": 120,
        "PriorityUsageResetPeriod": "MONTHLY",
        "PriorityFavorSmall": True,
        "PriorityWeightAge": 1000,
        "PriorityWeightTRES": "CPU=10,Mem=20",
        "PriorityFlags": "FAIR_TREE,SMALL_RELATIVE_TO_TIME",
        "OverTimeLimit": 10**9,
        "KillWait": 60,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PriorityType=priority/multifactor\n", "accounting_storage/none"),  # Slurm's default
        (
            "PriorityType=priority/multifactor\nAccountingStorageType=Accounting_Storage/SlurmDBD\n",
            "accounting_storage/slurmdbd",
        ),
        ("PriorityType=priority/basic\n", None),
    ],
)
def test_weights_of_age_need_a_database_as_in_slurm(tmp_path: Path, text: str, expected: str | None) -> None:
    found = site(tmp_path, text + NODES + PART)
    assert found.policy.get("AccountingStorageType") == expected
    assert found.policy.keys() == found.places.keys()


@pytest.mark.parametrize(
    ("text", "expected", "limits"),
    [
        ("", "none", []),  # Slurm's default
        ("AccountingStorageEnforce=Associations\n", "associations", []),
        ("AccountingStorageEnforce=associations,limits,QOS\n", "associations,limits,qos", ["limits", "qos"]),
    ],
)
def test_what_is_enforced_says_what_is_charged(
    tmp_path: Path, text: str, expected: str, limits: list[str]
) -> None:
    found = site(tmp_path, "PriorityType=priority/multifactor\n" + text + NODES + PART)
    assert found.policy["AccountingStorageEnforce"] == expected
    assert [(one.value, one.matters) for one in found.ignored if one.key == "AccountingStorageEnforce"] == [
        (word, True) for word in limits
    ]


def test_weights_of_resources_that_do_not_count_are_listed(tmp_path: Path) -> None:
    text = "PriorityType=priority/multifactor\nPriorityWeightTRES={}\n" + NODES + PART
    found = site(tmp_path, text.format("CPU=10,GRES/gpu=500,foo=3,Node=2"))
    assert found.policy["PriorityWeightTRES"] == "CPU=10,Node=2"
    assert [(one.key, one.value, one.matters) for one in found.ignored[:2]] == [
        ("PriorityWeightTRES", "GRES/gpu=500", True),
        ("PriorityWeightTRES", "foo=3", True),
    ]
    assert "PriorityWeightTRES" not in site(tmp_path, text.format("gres/gpu=5")).policy


def test_kill_invalid_depend_among_scheduler_parameters_is_not_read(tmp_path: Path) -> None:
    """Observed on Slurm 22.05: it has moved to DependencyParameters."""
    found = site(tmp_path, "SchedulerParameters=kill_invalid_depend,defer\n" + NODES + PART)
    assert stated(found) == {"defer": True}
    assert [(one.key, one.why) for one in found.ignored] == [
        ("kill_invalid_depend", "Slurm 22.05 reads it in DependencyParameters alone")
    ]


def test_a_parameter_behind_a_blank_is_outside_its_list(tmp_path: Path) -> None:
    """The blanks before ``bf_window`` stay, and end the value."""
    text = "SchedulerParameters=bf_interval=30,\\\n  bf_window=2880 max_rpc_cnt=5\n"
    found = site(tmp_path, text + NODES + PART)
    assert stated(found) == {"bf_interval": 30}
    assert [(one.key, one.value, one.why, one.matters) for one in found.ignored[:2]] == [
        ("bf_window", "2880", ignored.OUTSIDE, True),
        ("max_rpc_cnt", "5", ignored.OUTSIDE, True),
    ]


def test_what_is_not_modelled_is_listed_instead(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text("SchedulerParameters=bf_interval=9,bf_yield_sleep=5,strange\nKillWait=3\n" + NODES + PART)
    found = read_slurm_conf(path, modelled=["bf_interval"])
    assert stated(found) == {"bf_interval": 9}
    assert [(one.key, one.value, one.why) for one in found.ignored] == [
        ("bf_yield_sleep", "5", "a pass takes no time here, so it is never cut short or interrupted"),
        ("strange", "", "no key of Slurm"),
        ("KillWait", "3", "not modelled"),
    ]


def test_licences_are_shared_resources(tmp_path: Path) -> None:
    text = "Licenses=matlab:10,ansys;fluent@server:3\n"
    assert site(tmp_path, text + NODES + PART).system.resources == (
        Resource("matlab", 10),
        Resource("ansys", 1),
        Resource("fluent@server", 3),
    )


def test_what_is_ignored_comes_with_its_line_and_a_reason(tmp_path: Path) -> None:
    text = (
        "SlurmctldPort=6817\nSchedulerTimeSlice=30\nSuspendTime=300\nFutureKey=1\n"
        "NodeName=n1 Port=17 CoreSpecCount=2\nPartitionName=p Nodes=n1 AllowGroups=a OverSubscribe=FORCE:4\n"
    )
    found = site(tmp_path, text).ignored
    expected = [
        ("1", "SlurmctldPort", "daemons"),
        ("2", "SchedulerTimeSlice", "turns"),
        ("3", "SuspendTime", "SuspendProgram"),
        ("4", "FutureKey", "no key of Slurm"),
        ("5", "Port", "daemons"),
        ("5", "CoreSpecCount", "not modelled"),
        ("6", "AllowGroups", "access is not checked"),
        ("6", "OverSubscribe", "sharing of whole nodes"),
    ]
    assert [(one.place.rpartition(":")[2], one.key) for one in found] == [
        (line, key) for line, key, _ in expected
    ]
    assert [why in one.why for one, (_, _, why) in zip(found, expected, strict=True)] == [True] * 8


@pytest.mark.parametrize(
    ("settings", "sharing", "noted"),
    [
        ("", "", False),
        ("", "OverSubscribe=NO", False),
        ("", "OverSubscribe=EXCLUSIVE", False),
        ("", "Shared=Exclusive", False),
        ("SelectType=select/linear\n", "", False),
        ("SelectType=select/linear\n", "OverSubscribe=FORCE:2", True),
        ("SelectType=select/linear\nSelectType=select/cons_tres\n", "", False),
        ("SelectType=select/cons_tres\n", "OverSubscribe=YES:2", False),
        ("SelectType=select/cons_tres\n", "OverSubscribe=YES:1", True),
        ("SelectType=select/cons_tres\n", "OverSubscribe=force:0", True),
    ],
)
def test_nodes_that_jobs_share_are_noted(tmp_path: Path, settings: str, sharing: str, noted: bool) -> None:
    found = site(tmp_path, f"{settings}{NODES}PartitionName=p Nodes=ALL {sharing}\n").ignored
    assert [one.key for one in found] == (["OverSubscribe"] if noted else [])
    assert all(one.matters for one in found)


@pytest.mark.parametrize(
    ("kind", "keys", "reason"),
    [
        (
            "top",
            "SlurmctldHost AuthType StateSaveLocation LogTimeFormat SchedulerPort CacheGroups",
            "DAEMONS",
        ),
        ("top", "Epilog", "EPILOG"),
        ("top", "PrologFlags EpilogMsgTime TaskPlugin ProctrackType MpiDefault SrunPortRange", "LAUNCH"),
        ("top", "AccountingStorageTRES JobAcctGatherType AcctGatherNodeFreq JobCompLoc", "ACCOUNTING"),
        ("top", "MaxMemPerNode", "SHARING"),
        ("top", "SwitchType", "NETWORK"),
        ("top", "TreeWidth", "ROUTES"),
        ("top", "SuspendProgram ResumeProgram ResumeFailProgram", "PROGRAMS"),
        ("top", "SuspendExcStates PowerParameters", "POWER"),
        ("top", "MaxJobCount MaxArraySize MinJobAge", "ADMISSION"),
        ("top", "CompleteWait PriorityParameters", "NOT_MODELLED"),
        ("top", "JobSubmitPlugins PrioritySiteFactorPlugin", "SITE_CODE"),
        ("top", "RequeueExit RequeueExitHold", "REQUEUE"),
        ("node", "NodeAddr Port", "DAEMONS"),
        ("node", "MemSpecLimit", "SHARING"),
        ("partition", "AllowQos DenyAccounts Hidden", "ACCESS"),
        ("partition", "MaxCPUsPerSocket MaxMemPerNode", "SHARING"),
        ("partition", "OverTimeLimit", "NOT_MODELLED"),
        ("parameter", "bf_yield_interval max_rpc_cnt", "NO_TIME"),
        ("parameter", "preempt_youngest_first", "PREEMPTION"),
        ("parameter", "bf_hetjob_immediate whole_pack", "HETEROGENEOUS"),
        ("parameter", "Ignore_NUMA", "SHARING"),
        ("parameter", "bf_busy_nodes sched_max_job_start", "NOT_MODELLED"),
    ],
)
def test_each_key_has_its_reason(kind: str, keys: str, reason: str) -> None:
    assert {key: ignored.why_ignored(kind, key) for key in keys.split()} == dict.fromkeys(
        keys.split(), getattr(ignored, reason)
    )


# -- mistakes ------------------------------------------------------------------------

MISTAKES = [
    ("what is this\n", "1: found 'what is this'; allowed: Key=Value, Include FILE, # a comment"),
    ("Include none.conf\n", "1: Include: found 'none.conf', no such file: "),
    ("Include slurm.conf\n", "slurm.conf: includes itself"),
    (NODES + "NodeName=n3\n", "2: NodeName: found 'n3' again; allowed: each node once"),
    ("NodeName=n[1-\n", "1: NodeName: found 'n[1-'; allowed: names with closed brackets"),
    ("NodeName=n CPUs=many\n", "1: CPUs: found 'many'; allowed: an integer >= 0"),
    ("NodeName=n RealMemory=1P\n", "1: RealMemory: found '1P'; allowed: MB"),
    ("NodeName=n Feature=a(b)\n", "1: Feature: found 'a(b)'; allowed: keywords without"),
    (
        NODES + "PartitionName=p Nodes=m1\n",
        "2: Nodes: found 'm1'; allowed: names of NodeName and NodeSet lines",
    ),
    (NODES + "NodeSet=s Nodes=m1\n", "2: NodeSet: found 'm1'; allowed: names of NodeName lines"),
    (NODES, "slurm.conf: PartitionName: found none with nodes; allowed: at least one"),
    (NODES + PART + PART, "3: PartitionName: found 'p' again; allowed: each name once"),
    (NODES + "PartitionName=a,b Nodes=ALL\n", "2: PartitionName: found 'a,b'; allowed: 1 to 64 characters"),
    (NODES + PART.strip() + " MaxTime=soon\n", "2: MaxTime: found 'soon'; allowed: minutes, minutes:seconds"),
    (NODES + PART.strip() + " MaxNodes=some\n", "2: MaxNodes: found 'some'; allowed: an integer >= 1"),
    (NODES + PART.strip() + " State=ON\n", "2: State: found 'ON'; allowed: UP, DOWN, DRAIN, INACTIVE"),
    (NODES + PART.strip() + " Default=maybe\n", "2: Default: found 'maybe'; allowed: YES, NO"),
    (
        NODES + PART.strip() + " MinNodes=3 MaxNodes=2\n",
        "slurm.conf: system: partitions[0].min_nodes: found 3",
    ),
    (NODES + PART + "KillWait=-1\n", "3: KillWait: found '-1'; allowed: an integer >= 0"),
    (NODES + PART + "EnforcePartLimits=some\n", "3: EnforcePartLimits: found 'some'; allowed: YES, NO"),
    (
        NODES + PART + "SchedulerParameters=a=,b\n",
        "3: SchedulerParameters: found 'a='; allowed: key or key=value",
    ),
    (NODES + PART + "Licenses=a:b\n", "3: Licenses: found 'a:b'; allowed: name:count"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_each_mistake_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        site(tmp_path, text)
    assert message in str(raised.value)


def test_all_mistakes_show_at_once_each_once(tmp_path: Path) -> None:
    text = (
        "KillWait=x\nNodeName=DEFAULT Weight=x\nNodeName=a\nNodeName=b\n"
        "PartitionName=p Nodes=c State=y\nPriorityMaxAge=z\nfoo bar\nNodeName=d Weight=1 Weight=2 foo\n"
    )
    with pytest.raises(ConfigError) as raised:
        site(tmp_path, text)
    lines = [
        problem.removeprefix(f"{tmp_path}/slurm.conf:").split(" ")[:2] for problem in raised.value.problems
    ]
    assert lines == [
        ["7:", "found"],
        ["8:", "found"],
        ["1:", "KillWait:"],
        ["6:", "PriorityMaxAge:"],
        ["2:", "Weight:"],
        ["5:", "State:"],
        ["5:", "Nodes:"],
    ]


words = [
    "NodeName=",
    "n[1-3]",
    "n1",
    "PartitionName=p ",
    "Nodes=",
    "ALL",
    "DEFAULT",
    " CPUs=2",
    "\n",
    "\\",
    "#",
]
words += [
    '"',
    " State=DOWN",
    "NodeSet=s ",
    "Feature=x ",
    "Include ",
    "MaxTime=",
    "1-2",
    "Licenses=a:1",
    "=",
    " ",
]
lines = st.lists(st.sampled_from(words), max_size=14).map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines | st.text(max_size=30))
def test_any_text_is_read_or_a_config_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "any.conf"
    path.write_text(text, encoding="utf-8", errors="ignore")
    with suppress(ConfigError):
        read_slurm_conf(path)


# -- the page and the example ---------------------------------------------------------------------


def test_the_made_up_site_that_ships() -> None:
    path = ROOT / "configs" / "systems" / "small-site.conf"
    found = read_slurm_conf(path)
    assert {m.name: m.nodes for m in found.system.modules} == {"batch": 119, "gpu": 16}
    assert {p.name: found.system.nodes_of(p.name) for p in found.system.partitions} == {
        "batch": 119,
        "long": 47,
        "large": 24,
        "test": 119,
        "gpu": 16,
    }
    assert found.policy["bf_max_job_user"] == 20
    assert "made-up" in path.read_text().splitlines()[0]
    assert read_system(path) == found.system


def test_the_reference_page_has_every_policy_key() -> None:
    page = (ROOT / "docs" / "reference" / "slurm-conf.md").read_text()
    assert [name for name in READERS if f"`{name}`" not in page] == []


POWERED = "SuspendProgram=/off\nResumeProgram=/on\nSuspendTime=300\n"


def test_power_saving_is_read_with_nodes_by_number(tmp_path: Path) -> None:
    text = (
        f"{POWERED}SuspendExcNodes=n[1-2],m3:2,m[1-2],x9\nSuspendExcParts=p\nSuspendRate=0\n"
        "ResumeTimeout=600\nSlurmctldParameters=idle_on_node_suspend,power_save_interval=5\n"
        "NodeName=n[1-4]\nNodeName=m[1-3]\nPartitionName=p Nodes=n[1-4] OverSubscribe=EXCLUSIVE\n"
        "PartitionName=q Nodes=m[1-3] OverSubscribe=EXCLUSIVE SuspendTime=7\n"
    )
    found = site(tmp_path, text)
    assert {name: found.policy[name] for name in ("SuspendTime", "SuspendRate", "ResumeTimeout")} == {
        "SuspendTime": 300,
        "SuspendRate": 0,
        "ResumeTimeout": 600,
    }
    assert found.policy["power_save_interval"] == 5
    assert found.policy["SuspendExcNodes"] == ("p[0-1]:2", "q[2]:1", "q[0-1]")
    left = {(one.key, one.matters) for one in found.ignored}
    assert left == {
        ("SuspendProgram", False),
        ("ResumeProgram", False),
        ("SlurmctldParameters", False),
        ("SuspendExcNodes", True),
        ("SuspendTime", True),
    }
    Policy(backfill="slurm", slurm=found.policy)


def test_power_saving_is_read_where_jobs_share_nodes_and_with_a_topology(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text("SwitchName=s Nodes=n[1-4]\n")
    shared = f"SelectType=select/cons_tres\nTopologyPlugin=topology/tree\n{NODES}PartitionName=p Nodes=ALL\n"
    found = site(tmp_path, f"{POWERED}SuspendExcNodes=n1\n{shared}")
    assert found.system.modules[0].shared
    assert found.system.topology is not None
    assert found.policy["SuspendTime"] == 300
    assert found.policy["SuspendExcNodes"] == ("p[0]",)
    assert [one.key for one in found.ignored if one.matters] == []


@pytest.mark.parametrize(
    ("mode", "kept"), [("REQUEUE", True), ("CANCEL", True), ("SUSPEND,GANG", False), ("GANG", False)]
)
def test_power_saving_is_read_where_no_job_is_suspended(tmp_path: Path, mode: str, kept: bool) -> None:
    shared = f"SelectType=select/cons_tres\n{NODES}PartitionName=p Nodes=ALL\n"
    kind = "none" if mode == "GANG" else "partition_prio"
    found = site(tmp_path, f"{POWERED}PreemptType=preempt/{kind}\nPreemptMode={mode}\n{shared}")
    assert found.policy["PreemptMode"] == mode
    assert ("SuspendTime" in found.policy) == kept
    assert any(one.key == "SuspendTime" and one.matters for one in found.ignored) == (not kept)


@pytest.mark.parametrize(
    ("text", "matters"),
    [
        ("SuspendTime=300\n", False),
        (f"{POWERED}SuspendTime=-1\n", False),
    ],
)
def test_power_saving_that_is_off_or_not_modelled_is_left_out(
    tmp_path: Path, text: str, matters: bool
) -> None:
    found = site(tmp_path, text + NODES + PART)
    assert "SuspendTime" not in found.policy
    assert [one.matters for one in found.ignored if one.key == "SuspendTime"] == [matters]


@pytest.mark.parametrize("wrong", ["n[1-", "n[1-2]:0", "n1:2", "n[1-2]:x"])
def test_odd_exceptions_are_mistakes(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(ConfigError, match="SuspendExcNodes"):
        site(tmp_path, f"{POWERED}SuspendExcNodes={wrong}\n{NODES}{PART}")


GPU_NODES = "NodeName=g[1-2] CPUs=8 RealMemory=2048 Gres=gpu:a100:4(S:0-1),shard:40\n"


@pytest.mark.parametrize(
    ("select", "sharing", "shared"),
    [
        ("SelectType=select/cons_tres\n", "", True),
        ("SelectType=select/cons_res\n", "OverSubscribe=FORCE:4", True),
        ("SelectType=select/cons_tres\n", "OverSubscribe=EXCLUSIVE", False),
        ("SelectType=select/linear\n", "", False),
        ("", "", False),
    ],
)
def test_the_selection_plugin_says_whether_jobs_share_nodes(tmp_path, select, sharing, shared) -> None:
    text = f"{select}{NODES}{GPU_NODES}PartitionName=p Nodes=ALL {sharing}\n"
    (module,) = site(tmp_path, text).system.modules
    assert module.shared == shared


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("OverSubscribe=force", {"OverSubscribe": "FORCE:4"}),
        ("Shared=FORCE:1", {"OverSubscribe": "FORCE:1"}),
        ("OverSubscribe=YES", {"OverSubscribe": "YES:4"}),
        ("OverSubscribe=yes:2", {"OverSubscribe": "YES:2"}),
        ("OverSubscribe=NO", {}),
        ("OverSubscribe=YES:1", {}),
        ("OverSubscribe=FORCE:0", {}),
    ],
)
def test_how_many_jobs_may_have_a_core(tmp_path, written, read) -> None:
    """As Slurm reads it; the system says the same as a file of its own."""
    text = f"SelectType=select/cons_tres\n{NODES}PartitionName=p Nodes=ALL {written}\n"
    system = site(tmp_path, text).system
    assert dict(system.partitions[0].slurm) == read
    assert System.from_dict(system.to_dict()).partitions == system.partitions


def test_whole_nodes_are_not_for_several_jobs(tmp_path) -> None:
    found = site(
        tmp_path, f"SelectType=select/linear\n{NODES}PartitionName=p Nodes=ALL OverSubscribe=FORCE:2\n"
    )
    assert not found.system.partitions[0].slurm
    assert [one.why for one in found.ignored] == [ignored.SAME_NODES]


@pytest.mark.parametrize("written", ["maybe", "YES:", "FORCE:many", "FORCE:1001", "NO:2"])
def test_sharing_that_cannot_be_read_is_an_error(tmp_path, written) -> None:
    with pytest.raises(ConfigError) as raised:
        site(
            tmp_path,
            f"SelectType=select/cons_tres\n{NODES}PartitionName=p Nodes=ALL OverSubscribe={written}\n",
        )
    assert f"found {written!r}; allowed: EXCLUSIVE, NO, YES[:jobs] from 2" in str(raised.value)


def test_what_jobs_share_of_a_node(tmp_path) -> None:
    """Memory only where it is consumable; one partition may give out whole nodes beside others."""
    parts = "PartitionName=p Nodes=ALL\nPartitionName=whole Nodes=ALL OverSubscribe=EXCLUSIVE\n"
    select = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core"
    (module,) = (found := site(tmp_path, f"{select}\n{NODES}{GPU_NODES}{parts}").system).modules
    gpu, plain = module.sets
    assert (gpu.gpus, dict(gpu.gres), gpu.memory_kb) == (4, {"gpu:a100": 4, "shard": 40}, 0)
    assert (plain.gpus, dict(plain.gres)) == (0, {})
    assert [p.exclusive for p in found.partitions] == [False, True]
    with_memory = site(tmp_path, f"{select}_Memory\n{NODES}{GPU_NODES}{parts}").system.modules[0]
    assert with_memory.sets[0].memory_kb == 2 << 20


@pytest.mark.parametrize(
    "words", ["DefCpuPerGPU=16 DefMemPerGPU=120G", "JobDefaults=DefCpuPerGPU=16,DefMemPerGPU=122880"]
)
def test_defaults_for_each_gpu_of_the_site_and_of_a_partition(tmp_path: Path, words: str) -> None:
    """Slurm has both as keys of their own (read_config.c); its manual calls them JobDefaults."""
    select = "SelectType=select/cons_tres\nDefCPUPerGPU=4\nDefMemPerGPU=8000\n"
    found = site(tmp_path, f"{select}{NODES}PartitionName=p Nodes=ALL {words}\n")
    assert {"DefCpuPerGPU": 4, "DefMemPerGPU": 8000}.items() <= found.policy.items()
    assert found.system.partitions[0].slurm == {"DefCpuPerGPU": 16, "DefMemPerGPU": 122880}
    assert not [one.key for one in found.ignored if "GPU" in one.key]


def test_words_of_what_is_given_out_that_change_nothing_here_are_listed(tmp_path) -> None:
    words = "CR_Memory,CR_ONE_TASK_PER_CORE,CR_CORE_DEFAULT_DIST_BLOCK,CR_Pack_Nodes,CR_LLN"
    found = site(
        tmp_path,
        f"SelectType=select/cons_tres\nSelectTypeParameters={words}\n{NODES}PartitionName=p Nodes=ALL\n",
    )
    listed = {one.value: one.matters for one in found.ignored if one.key == "SelectTypeParameters"}
    assert found.policy["SelectTypeParameters"] == "CR_LLN,CR_CORE_MEMORY"
    assert listed == {
        words: True,
        "CR_ONE_TASK_PER_CORE": True,
        "CR_CORE_DEFAULT_DIST_BLOCK": True,
        "CR_PACK_NODES": False,
    }


CREDENTIALS = [
    ("cred_expire=10", 10),
    ("socket=/run/m,cred_expire=300", 300),
    ("ttl=60", None),
    ("cred_expire=4", None),
]


@pytest.mark.parametrize(("info", "read"), CREDENTIALS)
def test_a_credential_says_how_long_a_requeued_job_waits(tmp_path: Path, info: str, read: int | None) -> None:
    found = site(tmp_path, f"AuthInfo={info}\n{NODES}PartitionName=p Nodes=ALL\n")
    assert found.policy.get("cred_expire") == read
    why = [one.why for one in found.ignored if one.key == "AuthInfo"]
    assert why == ["less than 5 s, so Slurm takes its default"] * (info == "cred_expire=4")


def test_since_25_11_a_parameter_says_so(tmp_path: Path) -> None:
    said = "SchedulerParameters=requeue_delay=30\n"
    assert site(tmp_path, f"{said}{NODES}PartitionName=p Nodes=ALL\n").policy["requeue_delay"] == 30


@pytest.mark.parametrize(
    ("words", "read"),
    [("CR_LLN", "CR_LLN,CR_CORE"), ("CR_ONE_TASK_PER_CORE", "CR_CORE"), ("CR_CPU", "CR_CPU")],
)
def test_where_nothing_says_what_is_given_out_it_is_cores_and_said(tmp_path, words: str, read: str) -> None:
    """slurmctld ends with such a file (cons_common.c 1092 of 22.05): no running one has it."""
    select = f"SelectType=select/cons_tres\nSelectTypeParameters={words}\n"
    found = site(tmp_path, f"{select}{NODES}PartitionName=p Nodes=ALL\n")
    assert found.policy["SelectTypeParameters"] == read
    said = [one for one in found.ignored if "cons_tres would not start" in one.why]
    assert [one.value for one in said] == ([] if words == "CR_CPU" else [words])
