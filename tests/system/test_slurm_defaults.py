"""What a slurm.conf leaves to Slurm 22.05, and which of two keys counts (read_config.c)."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_sim.cli.site_page import site_text
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.system.gres import parse_gres
from scheduler_sim.system.slurm_conf.ignored import (
    BY_PRIORITY,
    NETWORK,
    NO_EFFECT_BY_DEFAULT,
    ON_NO_SWITCH,
    PARTLY_ON_SWITCHES,
    SHARING,
)
from scheduler_sim.system.slurm_conf.known_keys import MISSPELT
from scheduler_sim.system.slurm_conf.site import BY_DEFAULT, Site, read_slurm_conf

SHARED = "SelectType=select/cons_tres\n"
PART = "PartitionName=p Nodes=ALL\n"


def site(tmp_path: Path, text: str) -> Site:
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    return read_slurm_conf(path)


def nodes_of(found: Site) -> list[tuple[float, int, int, int]]:
    sets = (one for module in found.system.modules for one in module.sets)
    return [(one.cores_per_node, one.sockets, one.threads_per_core, one.memory_kb) for one in sets]


@pytest.mark.parametrize(
    ("keys", "cpus", "sockets", "threads"),
    [
        ("CPUs=32 CoresPerSocket=8 ThreadsPerCore=2", 32, 2, 2),
        ("CPUs=64 Sockets=2 CoresPerSocket=12 ThreadsPerCore=2", 48, 2, 2),
        ("CPUs=24 Sockets=2 CoresPerSocket=12 ThreadsPerCore=2", 24, 2, 1),
        ("Sockets=4 SocketsPerBoard=2 Boards=1 CoresPerSocket=3", 6, 2, 1),
        ("Boards=2 CoresPerSocket=3", 6, 2, 1),
        ("CPUs=0", 1, 1, 1),
        ("", 1, 1, 1),
        ("CPUs=16", 16, 1, 1),
    ],
)
def test_processors_of_a_node(tmp_path: Path, keys: str, cpus: int, sockets: int, threads: int) -> None:
    found = site(tmp_path, f"{SHARED}SelectTypeParameters=CR_Core\nNodeName=n {keys}\n{PART}")
    assert nodes_of(found) == [(cpus, sockets, threads, 0)]


def test_one_node_without_cpus_or_memory_leaves_the_others_shared(tmp_path: Path) -> None:
    found = site(tmp_path, f"{SHARED}NodeName=login\nNodeName=n CPUs=8 RealMemory=16000\n{PART}")
    assert found.system.modules[0].shared
    assert nodes_of(found) == [(1, 1, 1, 1024), (8, 1, 1, 16_000 << 10)]
    assert {key: left.names for key, left in found.node_defaults.items()} == dict.fromkeys(
        ("CPUs", "RealMemory"), ("login",)
    )


def test_what_is_left_to_slurm_stands_in_the_table(tmp_path: Path) -> None:
    found = site(tmp_path, f"{SHARED}NodeName=n[1-2]\n{PART}")
    assert found.policy["SelectTypeParameters"] == "CR_CORE_MEMORY"
    lines = [line.split() for line in site_text(found, str(tmp_path / "slurm.conf")).splitlines()]
    assert ["SelectTypeParameters", "CR_CORE_MEMORY", BY_DEFAULT] in lines
    assert ["bf_interval", "30", BY_DEFAULT] in lines
    assert ["RealMemory", "of", "n1", "and", "1", "more", "1", BY_DEFAULT] in lines
    whole = site(tmp_path, f"NodeName=n[1-2]\n{PART}")
    assert (whole.policy["SelectType"], whole.places["SelectType"]) == ("select/linear", BY_DEFAULT)
    assert nodes_of(whole) == [(0, 1, 1, 0)]


@pytest.mark.parametrize(
    ("keys", "kept", "left"),
    [
        ("DefMemPerCPU=1000 DefMemPerNode=8000", {"DefMemPerNode": 8000}, ["DefMemPerCPU"]),
        ("MaxMemPerCPU=1000 MaxMemPerNode=8000", {}, ["MaxMemPerCPU"]),
    ],
)
def test_of_two_keys_about_memory_the_one_of_the_node_counts(
    tmp_path: Path, keys: str, kept: dict[str, int], left: list[str]
) -> None:
    nodes = "NodeName=n CPUs=8 RealMemory=16000\n"
    of_file = site(tmp_path, SHARED + keys.replace(" ", "\n") + f"\n{nodes}{PART}")
    of_partition = site(tmp_path, f"{SHARED}{nodes}{PART.strip()} {keys}\n")
    assert {key: value for key, value in of_file.policy.items() if "Mem" in key} == kept
    assert of_partition.system.partitions[0].slurm == kept
    for found in (of_file, of_partition):
        assert [one.key for one in found.ignored if "which counts" in one.why] == left


def test_keys_of_a_line_and_of_its_defaults(tmp_path: Path) -> None:
    text = (
        "NodeName=DEFAULT CPUs=8 Features=old\nNodeName=n1 Feature=new\nNodeName=n2 Features=rack:12\n"
        "NodeName=n3 Weight=1 Weight=7\n"
        "PartitionName=DEFAULT Priority=5\nPartitionName=p Nodes=ALL PriorityTier=9 MaxNodes=0\n"
    )
    (module,) = (found := site(tmp_path, text)).system.modules
    assert [(one.features, one.weight) for one in module.sets] == [
        (("new",), 1),
        (("rack:12",), 1),
        (("old",), 7),
    ]
    assert module.sets[1].features == ("rack:12",)
    (p,) = found.system.partitions
    assert (p.priority, p.priority_job_factor, p.state) == (5, 5, "DOWN")


@pytest.mark.parametrize(
    ("text", "seconds"), [("600", 600), ("NONE", None), ("infinite", None), ("-1", None)]
)
def test_suspend_time_is_in_seconds(tmp_path: Path, text: str, seconds: int | None) -> None:
    programs = "SuspendProgram=/off\nResumeProgram=/on\n"
    found = site(tmp_path, f"{programs}SuspendTime={text}\nNodeName=n\n{PART}")
    assert found.policy.get("SuspendTime") == seconds


def test_included_files_are_found_beside_the_file_and_by_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "nodes.conf").write_text("NodeName=n[1-2] CPUs=4\n")
    (tmp_path / "acme-parts.conf").write_text(PART)
    found = site(tmp_path, "ClusterName=Acme\nInclude /etc/not-here/nodes.conf\nInclude %c-parts.conf\n")
    assert found.system.nodes == 2
    moved = [(one.value, one.matters) for one in found.ignored if one.key == "Include"]
    assert moved == [("/etc/not-here/nodes.conf", False)]
    with pytest.raises(ConfigError) as raised:
        site(tmp_path, "Include /etc/not-here/a.conf\nInclude b.conf\n")
    assert len(raised.value.problems) == 2
    assert "a.conf" in str(raised.value)
    assert "b.conf" in str(raised.value)


def test_files_that_fan_out_end_with_an_error(tmp_path: Path) -> None:
    for level in range(12):
        (tmp_path / f"f{level}").write_text(f"Include f{level + 1}\n" * 3)
    (tmp_path / "f12").write_text("\n")
    with pytest.raises(ConfigError, match="found over 1,000 files by Include"):
        site(tmp_path, "Include f0\n")


def test_what_other_folders_files_say_is_not_printed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("root:hunter2:19000\nKey=hunter3\nKillWait=hunter4\n")
    (tmp_path / "site").mkdir()
    nodes = f"NodeName=n\n{PART}"
    with pytest.raises(ConfigError) as raised:
        site(tmp_path / "site", f"Include ../secret\n{nodes}")
    assert "hunter" not in str(raised.value)
    assert "KillWait: found what is not shown" in str(raised.value)
    (tmp_path / "secret").write_text("Key=hunter3\n")
    text = f"Include ../secret\nAccountingStoragePass=hunter5\n{nodes}"
    path = tmp_path / "site" / "slurm.conf"
    assert "hunter" not in site_text(site(tmp_path / "site", text), str(path))


@pytest.mark.parametrize(
    "text",
    [
        "SelectType=select/cray_aries\nSelectTypeParameters=OTHER_CONS_TRES,CR_Core_Memory\n",
        "SchedulerParameters==bf_max_job_test=50,bf_continue\n",
        "PriorityFlags=MAX_TRES_GRES\n",
        "NodeSet=r1 Nodes=n1\nNodeSet=r2 Nodes=n2\nPartitionName=q Nodes=r[1-2]\n",
        'PartitionName=q Nodes="n1 n2"\n',
    ],
)
def test_what_slurmctld_reads_without_a_word_is_read(tmp_path: Path, text: str) -> None:
    found = site(tmp_path, f"{text}NodeName=n[1-2] CPUs=4 Gres=tmp:900G\n{PART}")
    assert found.system.nodes == 2
    assert found.system.modules[0].shared == ("cray" in text)


def test_counts_of_generic_resources_have_suffixes() -> None:
    assert parse_gres("tmp:20G,bb/datawarp:1610612736000") == {"tmp": 20 << 30, "bb/datawarp": 1500 << 30}


TREE = "TopologyPlugin=topology/tree\nNodeName=n[1-4] CPUs=8\nNodeName=n5 CPUs=8\nPartitionName=p Nodes=ALL\n"


def test_a_node_on_no_switch_gets_no_job_and_the_tree_stays(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(
        "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=c Switches=a,b\n"
    )
    found = site(tmp_path, TREE)
    assert found.system.modules[0].nodes == 4
    assert found.system.topology is not None
    (note,) = (one for one in found.ignored if "switch" in one.why)
    assert (note.key, note.value, note.why) == ("NodeName", "n5", ON_NO_SWITCH)
    assert note.place.endswith("slurm.conf:3")


def test_where_switches_are_optional_such_a_node_gets_jobs(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text("SwitchName=a Nodes=n[1-4]\n")
    found = site(tmp_path, f"TopologyParam=TopoOptional\n{TREE}")
    assert found.system.modules[0].nodes == 5
    assert found.system.topology is None
    assert [one.why for one in found.ignored if "switch" in one.why] == [PARTLY_ON_SWITCHES]


@pytest.mark.parametrize(
    ("line", "key", "nearest"),
    [
        ("PreemptMod=REQUEUE", "PreemptMod", "PreemptMode"),
        ("SchedulerParamters=bf_window=60", "SchedulerParamters", "SchedulerParameters"),
        ("NodeName=m CPUs=8 RealMemroy=1000", "RealMemroy", "RealMemory"),
        ("PartitionName=q Nodes=n MaxTimes=60", "MaxTimes", "MaxTime"),
        ("SchedulerParameters=bf_windw=60", "bf_windw", "bf_window"),
        ("PreemptParameters=strict_oder", "strict_oder", "strict_order"),
        ("LaunchParameters=use_interactive_stp", "use_interactive_stp", "use_interactive_step"),
        ("SlurmctldParameters=enable_configles,cloud_dns", "enable_configles", "enable_configless"),
    ],
)
def test_what_is_misspelt_gets_the_nearest_name(tmp_path: Path, line: str, key: str, nearest: str) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(f"NodeName=n CPUs=8\n{PART}{line}\n")
    found = read_slurm_conf(path, modelled=SlurmKeys.model_fields)
    (note,) = (one for one in found.ignored if one.key == key)
    assert note.why == f"{MISSPELT} (did you mean {nearest!r}?)"
    assert note.matters


def test_known_keys_are_not_called_misspelt(tmp_path: Path) -> None:
    lines = "CompleteWait=10\nTLSType=tls/none\nLaunchParameters=enable_nss_slurm\nPriorityParameters=x\n"
    found = site(tmp_path, f"{lines}SchedulerParameters=BF_Window=60,Ignore_NUMA\nNodeName=n CPUs=8\n{PART}")
    assert not any(one.why.startswith(MISSPELT) for one in found.ignored)
    assert found.policy["bf_window"] == 60


def test_preempt_parameters_of_later_versions(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    text = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
    words = "reorder_count=3,strict_order,youngest_first,reclaim_licenses,min_exempt_priority=5"
    path.write_text(f"{text}PreemptParameters={words}\nNodeName=n CPUs=8\n{PART}")
    found = read_slurm_conf(path, modelled=SlurmKeys.model_fields)
    assert found.policy["preempt_reorder_count"] == 3
    assert found.policy["preempt_strict_order"] is found.policy["preempt_youngest_first"] is True
    noted = {one.key: one.matters for one in found.ignored}
    assert noted["reclaim_licenses"]
    assert noted["min_exempt_priority"]


@pytest.mark.parametrize(
    ("keys", "exclusive", "why"),
    [
        ("Exclusive=NODE", True, None),
        ("Exclusive=topo", True, NETWORK),
        ("Exclusive=USER", False, SHARING),
        ("Exclusive=USER OverSubscribe=EXCLUSIVE", True, SHARING),
        ("Exclusive=NO OverSubscribe=EXCLUSIVE", False, None),
        ("ExclusiveUser=YES", False, SHARING),
        ("ExclusiveUser=NO ExclusiveTopo=NO", False, NO_EFFECT_BY_DEFAULT),
    ],
)
def test_what_is_exclusive(tmp_path: Path, keys: str, exclusive: bool, why: str | None) -> None:
    found = site(tmp_path, f"{SHARED}NodeName=n CPUs=8\nPartitionName=p Nodes=ALL {keys}\n")
    assert found.system.partitions[0].exclusive is exclusive
    assert {one.why for one in found.ignored} == ({why} if why else set())


@pytest.mark.parametrize("mode", ["REQUEUE,WITHIN", "within,requeue", "PRIORITY,REQUEUE"])
def test_words_beside_a_preempt_mode_are_noted(tmp_path: Path, mode: str) -> None:
    keys = f"PreemptType=preempt/partition_prio\nPreemptMode={mode}\nNodeName=n CPUs=8\n"
    found = site(tmp_path, f"{keys}PartitionName=p Nodes=n PreemptMode={mode}\n")
    assert found.policy["PreemptMode"] == "REQUEUE"
    assert found.system.partitions[0].slurm["PreemptMode"] == "REQUEUE"
    assert [one.why for one in found.ignored] == [BY_PRIORITY, BY_PRIORITY]


@pytest.mark.parametrize(
    "parameter",
    [
        *("bf_interval=0", "bf_interval=20000", "bf_interval=-2", "bf_window=0", "bf_window=50000"),
        *("bf_resolution=0", "bf_resolution=4000", "bf_max_job_test=0", "bf_node_space_size=1"),
        *("bf_max_job_start=-1", "default_queue_depth=-5", "bf_min_prio_reserve=0", "bf_window=abc"),
        *("bf_interval", "sched_interval=-2", "BF_MAX_JOB_ARRAY_RESV=2000"),
    ],
)
def test_a_parameter_out_of_bounds_is_slurms_default(tmp_path: Path, parameter: str) -> None:
    found = site(tmp_path, f"SchedulerParameters={parameter}\nNodeName=n CPUs=8\n{PART}")
    name = parameter.partition("=")[0].lower()
    assert name not in found.policy
    (note,) = (one for one in found.ignored if one.key == name)
    assert note.why.endswith("so Slurm takes its default")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("bf_interval=-1", -1), ("sched_interval=-1", -1), ("bf_window=60m", 60), ("bf_max_job_start=0", 0)],
)
def test_a_parameter_within_bounds_is_read_as_in_c(tmp_path: Path, parameter: str, value: int) -> None:
    found = site(tmp_path, f"SchedulerParameters={parameter}\nNodeName=n CPUs=8\n{PART}")
    assert found.policy[parameter.partition("=")[0]] == value


def test_unlimited_numbers_of_16_bits(tmp_path: Path) -> None:
    text = "KillWait=UNLIMITED\nMessageTimeout=infinite\nNodeName=n CPUs=8\n"
    found = site(tmp_path, f"{text}PartitionName=p Nodes=n PriorityTier=UNLIMITED\n")
    assert found.policy["KillWait"] == found.policy["MessageTimeout"] == 65_535
    assert found.system.partitions[0].priority == 65_535


def test_what_decides_starts_is_listed_first_and_launching_last(tmp_path: Path) -> None:
    text = (
        "TaskPlugin=task/affinity\nMaxJobCount=9\nCompleteWait=5\nBogus=1\nSwitchType=x\nNodeName=n CPUs=8\n"
    )
    page = site_text(site(tmp_path, f"{text}{PART}"), str(tmp_path / "slurm.conf"))
    order = [page.index(key) for key in ("Bogus", "SwitchType", "CompleteWait", "MaxJobCount", "TaskPlugin")]
    assert order == sorted(order)
