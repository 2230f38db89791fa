"""Systems: what a file may say, what it means, and what each mistake is called."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.system.failures import FailureKeys, RepairKeys
from scheduler_sim.system.keys import (
    ModuleKeys,
    NodeSetKeys,
    PartitionKeys,
    ResourceKeys,
    SwfKeys,
    SystemKeys,
)
from scheduler_sim.system.node_events import NodeEventKeys
from scheduler_sim.system.reservations import ReservationKeys
from scheduler_sim.system.system import Module, Partition, Resource, System
from tests.conftest import ROOT

SHIPPED = sorted((ROOT / "configs" / "systems").glob("*.yaml"))

MODULAR = """\
name: test
modules:
  - {name: CM, nodes: 50, cores_per_node: 24, memory_gb: 1.5, features: [intel]}
  - {name: ESB, nodes: 75, gpus_per_node: 1, features: [intel, gpu], cost_per_node: 2.5}
partitions:
  - {name: long, module: cm, max_time: 2-00:00:00, max_nodes: 10, priority: 3}
  - {name: short, module: CM, max_time: 30m, default: true}
resources: {licences: {matlab: 10}, nam_gb: 500}
swf: {partitions: {1: long, 2: ESB}}
"""


def from_text(tmp_path: Path, text: str) -> System:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    return System.from_yaml(path)


def test_the_least_that_works(tmp_path: Path) -> None:
    system = from_text(tmp_path, "modules: [{name: CM, nodes: 100}]\n")
    assert system.name == "file"
    assert system.modules == (Module("CM", 100),)
    assert system.partitions == (Partition("CM", "CM"),)
    assert system.default_partition.name == "CM"
    assert system.resources == ()
    assert system.nodes == 100
    assert System.homogeneous(100).modules[0].nodes == 100


def test_everything_a_file_may_say(tmp_path: Path) -> None:
    system = from_text(tmp_path, MODULAR)
    assert system.module("cm").memory_kb == 1_572_864
    assert system.module_index("esb") == 1
    assert system.modules[1] == Module("ESB", 75, 0, 0.0, 1, ("intel", "gpu"), 2.5)
    assert system.partitions == (
        Partition("long", "CM", max_time_s=172_800, max_nodes=10, priority=3),
        Partition("short", "CM", max_time_s=1800, default=True),
        Partition("ESB", "ESB"),
    )
    assert system.resources == (Resource("matlab", 10), Resource("nam", 500 * 1024 * 1024, "nam", "KB"))
    assert system.swf_partitions == {"1": "long", "2": "ESB"}


def test_a_system_comes_back_from_its_dict_and_from_a_pickle(tmp_path: Path) -> None:
    system = from_text(tmp_path, MODULAR)
    assert System.from_dict(system.to_dict()) == system
    assert pickle.loads(pickle.dumps(system)) == system
    assert hash(system) == hash(System.from_dict(system.to_dict()))


def test_a_key_without_a_value_is_as_if_absent(tmp_path: Path) -> None:
    system = from_text(tmp_path, "modules: [{name: CM, nodes: 1, features: }]\npartitions:\nresources:\n")
    assert system == System.from_dict({"name": "file", "modules": [{"name": "CM", "nodes": 1}]})


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_systems_load(path: Path) -> None:
    system = System.from_yaml(path)
    assert System.from_dict(system.to_dict()) == system


def test_the_systems_of_deliverable_d23() -> None:
    """Section 3.3.1: node numbers, and one budget of 165 units (the prototype's is 165 too)."""
    nodes = {path.stem: {m.name: m.nodes for m in System.from_yaml(path).modules} for path in SHIPPED}
    assert nodes["deep-est-prototype"] == {"CM": 50, "DAM": 16, "ESB": 75}
    assert nodes["hom1-cm"] == {"CM": 165}
    assert nodes["hom2-dam"] == {"DAM": 66}
    assert nodes["hom3-esb"] == {"ESB": 165}
    assert nodes["mod-cm-esb"] == {"CM": 50, "ESB": 115}
    for stem in ("deep-est-prototype", "hom1-cm", "hom2-dam", "hom3-esb", "mod-cm-esb"):
        modules = System.from_yaml(ROOT / "configs" / "systems" / f"{stem}.yaml").modules
        assert sum(module.nodes * module.cost_per_node for module in modules) == 165


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        ("", ["short"]),
        ("NA", ["short"]),
        ("-1", ["short"]),
        ("LONG", ["long"]),
        ("esb", ["ESB"]),
        ("ESB,Long", ["ESB", "long"]),
        ("long, esb,LONG", ["long", "ESB"]),
    ],
)
def test_partitions_a_trace_asks_for(tmp_path: Path, request_: str, names: list[str]) -> None:
    system = from_text(tmp_path, MODULAR)
    assert [partition.name for partition in system.partitions_for(request_)] == names


@pytest.mark.parametrize("request_", ["gpu", "long,", "long,,ESB", "long,-1"])
def test_a_partition_that_does_not_exist(tmp_path: Path, request_: str) -> None:
    with pytest.raises(InputError, match=r"unknown partition .* in system test; allowed: long, short, ESB"):
        from_text(tmp_path, MODULAR).partitions_for(request_)


def test_unknown_names_come_with_a_hint(tmp_path: Path) -> None:
    system = from_text(tmp_path, MODULAR)
    with pytest.raises(InputError, match="did you mean 'short'"):
        system.partition("shrot")
    with pytest.raises(InputError, match=r"unknown module 'ESBB'.*allowed: CM, ESB \(did you mean 'ESB'"):
        system.module("ESBB")


def test_swf_numbers_go_where_the_file_says(tmp_path: Path) -> None:
    system = from_text(tmp_path, MODULAR)
    assert [p.name for p in system.partitions_for("1", swf=True)] == ["long"]
    with pytest.raises(
        InputError, match=r"SWF partition or queue '3' has no partition.*swf: \{partitions: \{3: "
    ):
        system.partitions_for("3", swf=True)
    with pytest.raises(InputError, match="SWF partition or queue '-1'"):
        system.partitions_for("", swf=True)


def test_swf_numbers_mean_nothing_on_one_module() -> None:
    system = System.homogeneous(10)
    assert system.partitions_for("7", swf=True) == (system.default_partition,)
    assert system.partitions_for("", swf=True) == (system.default_partition,)


MISTAKES = [
    ("modules: []", "1: modules: found an empty list; allowed: at least one module"),
    ("name: x", "1: modules: missing; allowed: a list"),
    ("\nmodules: 3", "2: modules: found 3; allowed: a list"),
    (
        "modules:\n  - 3",
        "2: modules[0]: found 3; allowed: a mapping with the keys name, nodes, cores_per_node",
    ),
    ("modules:\n  - nodes: 3", "2: modules[0].name: missing; allowed: a name: 1 to 64 characters"),
    ("modules:\n  - name: CM", "2: modules[0].nodes: missing; allowed: an integer >= 1"),
    ("modules:\n  - name: CM\n    nodes: abc", "3: modules[0].nodes: found 'abc'; allowed: an integer >= 1"),
    ("modules:\n  - name: CM\n    nodes: 0", "3: modules[0].nodes: found 0; allowed: an integer >= 1"),
    ("modules: [{name: CM, nodes: -5}]", "1: modules[0].nodes: found -5; allowed: an integer >= 1"),
    ("modules: [{name: CM, nodes: 1.5}]", "1: modules[0].nodes: found 1.5; allowed: an integer >= 1"),
    ("modules: [{name: CM, nodes: true}]", "1: modules[0].nodes: found true; allowed: an integer >= 1"),
    (
        "modules: [{name: CM, nodes: 1e12}]",
        "1: modules[0].nodes: found 1000000000000.0; allowed: an integer from 1",
    ),
    ("modules: [{name: total, nodes: 1}]", "1: modules[0].name: found 'total'; allowed: any other name"),
    (
        "modules: [{name: 'a b', nodes: 1}]",
        "1: modules[0].name: found 'a b'; allowed: a name: 1 to 64 characters",
    ),
    ("modules: [{name: NA, nodes: 1}]", "1: modules[0].name: found 'NA'; allowed: a name"),
    (
        "modules:\n  - name: CM\n    nods: 1",
        "3: modules[0].nods: unknown key; allowed: name, nodes, cores_per_node, memory_gb, gpus_per_node, "
        "sockets, threads_per_core, features, cost_per_node, description, node_sets, shared, gres "
        "(did you mean 'nodes'?)",
    ),
    ("{CM}\npartition: []", "2: partition: unknown key; allowed: name, description, modules, partitions"),
    ("{CM}\nmodule: 3", "2: module: unknown key"),
    ("{CM, memory_gb: -1}", "1: modules[0].memory_gb: found -1; allowed: a number >= 0"),
    ("{CM, cost_per_node: .nan}", "1: modules[0].cost_per_node: found nan; allowed: a number >= 0"),
    ("{CM, features: gpu}", "1: modules[0].features: found 'gpu'; allowed: a list"),
    ("{CM, features: ['a&b']}", "1: modules[0].features[0]: found 'a&b'; allowed: a feature"),
    (
        "modules:\n  - {name: CM, nodes: 1}\n  - {name: cm, nodes: 1}",
        "3: modules[1].name: found 'cm' again; allowed: names that differ in more than case",
    ),
    (
        "{CM}\npartitions:\n  - {name: a, module: CN}",
        "3: partitions[0].module: found 'CN', no such module; allowed: CM",
    ),
    (
        "{CM}\npartitions:\n  - {name: a, module: CM}\n  - {name: A, module: CM}",
        "4: partitions[1].name: found 'A' again",
    ),
    (
        "{CM}\npartitions:\n- {name: a, module: CM, default: true}\n- {name: b, module: CM, default: true}",
        "4: partitions[1].default: found a second default partition; allowed: at most one",
    ),
    (
        "modules: [{name: CM, nodes: 1}, {name: ESB, nodes: 1}]\npartitions:\n  - {name: esb, module: CM}",
        "3: partitions[0].name: found 'esb', the name that module ESB needs for its own partition",
    ),
    (
        "{CM}\npartitions: [{name: a, module: CM, max_nodes: 0}]",
        "2: partitions[0].max_nodes: found 0; allowed: an i",
    ),
    (
        "{CM}\npartitions: [{name: a, module: CM, max_time: 0}]",
        "2: partitions[0].max_time: found 0; allowed: seconds",
    ),
    (
        "{CM}\npartitions: [{name: a, module: CM, max_time: soon}]",
        "2: partitions[0].max_time: found 'soon'; allowed: seconds (an integer >= 1), or 30m, 24h, "
        "12:00:00, 2-00:00:00, UNLIMITED",
    ),
    (
        "{CM}\npartitions: [{name: a, module: CM, MaxTime: 1}]",
        "2: partitions[0].MaxTime: unknown key; allowed: name, module, max_time, max_nodes, priority, "
        "default, node_sets, default_time, min_nodes, state, priority_job_factor, exclusive, slurm "
        "(did you mean 'max_time'?)",
    ),
    (
        "{CM}\npartitions: [{name: a, module: CM, default: maybe}]",
        "2: partitions[0].default: found 'maybe'; allowed: true, false",
    ),
    (
        "modules:\n- name: CM\n  nodes: 3\n  node_sets: [{name: a, nodes: 1}, {name: b, nodes: 1}]",
        "4: modules[0].node_sets: found sets of 2 nodes in all; allowed: as many as the module has, 3",
    ),
    (
        "modules:\n- name: CM\n  nodes: 2\n  node_sets:\n  - {name: a, nodes: 1}\n  - {name: A, nodes: 1}",
        "6: modules[0].node_sets[1].name: found 'A' again; allowed: names that differ in more than case",
    ),
    (
        "{CM, node_sets: [{name: a}]}",
        "1: modules[0].node_sets[0].nodes: missing; allowed: an integer >= 1",
    ),
    (
        "{CM, node_sets: [{name: a, nodes: 1}]}\npartitions: [{name: p, module: CM, node_sets: [b]}]",
        "2: partitions[0].node_sets[0]: found 'b', no such node set of the module; allowed: a",
    ),
    (
        "{CM, node_sets: [{name: a, nodes: 1}]}\npartitions: [{name: p, module: CM, node_sets: [a, A]}]",
        "2: partitions[0].node_sets[1]: found 'A' again; allowed: each set once",
    ),
    (
        "{CM}\npartitions: [{name: p, module: CM, node_sets: [a]}]",
        "2: partitions[0].node_sets[0]: found 'a', no such node set of the module; allowed: none, the module",
    ),
    (
        "{CM}\npartitions: [{name: p, module: CM, min_nodes: 3, max_nodes: 2}]",
        "2: partitions[0].min_nodes: found 3; allowed: at most max_nodes, which is 2",
    ),
    (
        "{CM}\npartitions: [{name: p, module: CM, default_time: 2h, max_time: 1h}]",
        "2: partitions[0].default_time: found '2h'; allowed: at most max_time, which is '1h'",
    ),
    (
        "{CM}\npartitions: [{name: p, module: CM, state: IDLE}]",
        "2: partitions[0].state: found 'IDLE'; allowed: UP, DOWN, DRAIN, INACTIVE",
    ),
    ("{CM}\nresources: {licences: {a: -1}}", "2: resources.licences.a: found -1; allowed: an integer >= 0"),
    ("{CM}\nresources: {licences: {a b: 1}}", "2: resources.licences.a b: found a name with blanks or signs"),
    (
        "{CM}\nresources: {licences: {NAM: 1}}",
        "2: resources.licences.NAM: found a name for network attached memory",
    ),
    ("{CM}\nresources: {licences: {a: 1, A: 1}}", "2: resources.licences.A: found a name again"),
    ("{CM}\nresources: {nam_gb: much}", "2: resources.nam_gb: found 'much'; allowed: a number >= 0"),
    (
        "{CM}\nresources: {licenses: {a: 1}}",
        "2: resources.licenses: unknown key; allowed: licences, nam_gb (did you mean 'lic",
    ),
    ("{CM}\nswf: {partitions: {1: ESB}}", "2: swf.partitions.1: found 'ESB', no such partition; allowed: CM"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_each_mistake_is_named(tmp_path: Path, text: str, message: str) -> None:
    if text.startswith("{CM"):  # a module that is right but for what follows
        head, *rest = text.split("\n")
        text = "\n".join([f"modules: [{{name: CM, nodes: 1{head[3:]}]", *rest])
    with pytest.raises(ConfigError) as raised:
        from_text(tmp_path, text + "\n")
    assert f"file.yaml:{message}" in str(raised.value)


def test_all_mistakes_are_named_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        from_text(
            tmp_path,
            "modules:\n- {name: CM, nodes: x}\n- {name: cm, nodes: 1, core: 3}\n"
            "partitions:\n- {name: a, module: ESB, max_time: -1}\nresources: {nam_gb: -1}\n",
        )
    lines = [problem.split(":")[1] for problem in raised.value.problems]
    assert lines == ["2", "3", "3", "5", "5", "6"]


def test_a_system_built_in_python_is_checked_too() -> None:
    with pytest.raises(ConfigError, match="system: modules: found an empty list"):
        System("x", ())
    with pytest.raises(ConfigError, match=r"modules\[0\]\.nodes: found 0; allowed: an integer >= 1"):
        System("x", (Module("CM", 0),))
    with pytest.raises(ConfigError, match=r"system: modules\[0\]\.nodes: found 0"):
        System.homogeneous(0)


def test_the_reference_page_has_every_key() -> None:
    page = (ROOT / "docs" / "reference" / "system.md").read_text()
    for model in (
        SystemKeys,
        ModuleKeys,
        NodeSetKeys,
        PartitionKeys,
        ResourceKeys,
        SwfKeys,
        NodeEventKeys,
        ReservationKeys,
        FailureKeys,
        RepairKeys,
    ):
        assert all(f"\n| `{key}` | " in page for key in model.model_fields)


def test_the_example_of_the_reference_page_loads(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "system.md").read_text()
    for example in page.split("```yaml\n")[1:]:
        assert from_text(tmp_path, example.split("```")[0]).modules
