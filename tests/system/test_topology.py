"""The topology of a system: its keys, their mistakes, and that of a site's topology.conf."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_sim import System
from scheduler_sim.errors import ConfigError
from scheduler_sim.system.slurm_conf.ignored import NO_TOPOLOGY_CONF, PARTLY_ON_SWITCHES
from scheduler_sim.system.slurm_conf.site import read_slurm_conf
from scheduler_sim.system.topology import leaf_of_nodes


def system(topology: object, nodes: int = 8) -> System:
    return System.from_dict({"modules": [{"name": "CM", "nodes": nodes}], "topology": topology})


def test_levels_are_switches_of_each_module():
    made = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 10}, {"name": "GPU", "nodes": 3}],
            "topology": {"levels": [4, 2]},
        }
    )
    assert [(one.name, one.level, one.above) for one in made.switches] == [
        ("CM-0-0", 0, 3),
        ("CM-0-1", 0, 3),
        ("CM-0-2", 0, 4),
        ("CM-1-0", 1, 5),
        ("CM-1-1", 1, 5),
        ("CM-2-0", 2, -1),
        ("GPU-0-0", 0, -1),
    ]
    assert leaf_of_nodes(made.switches, 0, 10) == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
    assert made.on_switches == (True, True)
    assert System.from_dict(made.to_dict()).switches == made.switches


def test_groups_of_a_dragonfly_have_none_above():
    made = system({"type": "dragonfly", "levels": [2, 2]})
    assert [(one.level, one.above) for one in made.switches][-2:] == [(1, -1), (1, -1)]


def test_a_module_that_no_switch_names_is_on_none():
    made = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 2}, {"name": "GPU", "nodes": 3}],
            "topology": {"switches": [{"name": "s", "nodes": "cm"}]},
        }
    )
    assert made.on_switches == (True, False)


def test_levels_of_switches_do_not_depend_on_their_order():
    listed = [
        {"name": "top", "switches": "mid, d"},
        {"name": "mid", "switches": ["a", "b"]},
        {"name": "a", "nodes": "CM[0-1]"},
        {"name": "b", "nodes": ["CM[2-3]"]},
        {"name": "d", "nodes": "CM[4-7]"},
    ]
    assert [one.level for one in system({"switches": listed}).switches] == [2, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("topology", "told"),
    [
        ({}, "topology: found neither levels nor switches; allowed: one of them"),
        ({"type": "ring", "levels": [2]}, "topology.type: found 'ring'; allowed: tree, block, dragonfly"),
        ({"levels": [0]}, "topology.levels[0]: found 0; allowed: an integer >= 1"),
        (
            {"levels": [2], "switches": [{"name": "a", "nodes": "CM"}]},
            "topology: found both levels and switches; allowed: one of them",
        ),
        (
            {"switches": [{"name": "a", "nodes": "CM[0-4]"}, {"name": "b", "nodes": "CM[4-7]"}]},
            "topology.switches[1].nodes: found node 4 of CM, which is in 'a'; allowed: each in one",
        ),
        (
            {"switches": [{"name": "a", "nodes": "CM[0-5]"}]},
            "topology.switches: found node 6 of CM on none, of 2 such nodes; allowed: all nodes of a module",
        ),
        (
            {"switches": [{"name": "a", "nodes": "CM"}, {"name": "b", "switches": "c"}]},
            "topology.switches[1].switches: found 'c', no such switch; allowed: a, b",
        ),
        (
            {"switches": [{"name": "a", "nodes": "CM"}, *({"name": n, "switches": "a"} for n in "bc")]},
            "topology.switches[2].switches: found 'a', which is below 'b'; allowed: below one",
        ),
        (
            {
                "switches": [
                    {"name": "a", "nodes": "CM"},
                    {"name": "b", "switches": "c"},
                    {"name": "c", "switches": "b"},
                ]
            },
            "topology.switches[1].switches: found 'b' below itself; allowed: no circle",
        ),
        (
            {"switches": [{"name": "a", "nodes": "XM"}]},
            "topology.switches[0].nodes: found 'XM', no such module; allowed: CM",
        ),
        (
            {"switches": [{"name": "a", "nodes": "CM[7-8]"}]},
            "topology.switches[0].nodes: found 'CM[7-8]'; allowed: numbers from 0 to 7",
        ),
        (
            {"switches": [{"name": "a", "nodes": "CM"}, {"name": "A", "switches": "a"}]},
            "topology.switches[1].name: found 'A' again; allowed: each once",
        ),
        (
            {"switches": [{"name": "a", "nodes": "CM"}, {"name": "b"}]},
            "topology.switches[1]: found neither nodes nor switches; allowed: one of them",
        ),
        (
            {"type": "block", "levels": [2], "block_sizes": [2, 6]},
            "topology.block_sizes: found 6 behind 2; allowed: 2, 4, 8, ... times as many",
        ),
        (
            {"levels": [2], "block_sizes": [2]},
            "topology.block_sizes: found beside type tree; allowed: with type block",
        ),
        ({"type": "block", "switches": []}, "topology: found neither levels nor blocks; allowed: one of"),
        ("x", "topology: found 'x'; allowed: a mapping with the keys"),
    ],
)
def test_mistakes(topology, told):
    with pytest.raises(ConfigError) as error:
        system(topology)
    assert told in str(error.value)


# -- topology.conf


CONF = """ClusterName=brook
NodeName=n[1-4] CPUs=4
NodeName=g[1-2] CPUs=4
PartitionName=p Nodes=n[1-4] Default=YES
PartitionName=g Nodes=g[1-2]
"""


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text(CONF + "TopologyPlugin=topology/tree\n")
    return tmp_path / "slurm.conf"


def read(conf: Path, text: str):
    (conf.parent / "topology.conf").write_text(text)
    return read_slurm_conf(conf)


def test_a_topology_conf_beside_a_slurm_conf(conf):
    site = read(
        conf,
        "SwitchName=top Switches=s[1-2]\nSwitchName=s1 Nodes=n[3-4]\nSwitchName=s2 Nodes=n[1-2],g1\n"
        "SwitchName=s3 Nodes=g2\n",
    )
    assert site.policy["TopologyPlugin"] == "topology/tree"
    switches = site.system.switches
    assert [(one.name, one.level, one.above) for one in switches] == [
        ("top", 1, -1),
        ("s1", 0, 0),
        ("s2", 0, 0),
        ("s3", 0, -1),
    ]
    assert site.system.on_switches == (True, True)


def test_blocks_of_a_topology_conf(conf):
    conf.write_text(CONF + "TopologyPlugin=topology/block\n")
    site = read(
        conf,
        "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockName=b3 Nodes=g[1-2]\nBlockSizes=2,4\n",
    )
    assert site.system.topology is not None
    assert site.system.topology.block_sizes == [2, 4]
    assert len(site.system.switches) == 3


def test_what_is_not_there_or_is_there_in_part_is_told(conf):
    site = read_slurm_conf(conf)
    assert site.system.topology is None
    assert {one.key: one.why for one in site.ignored}["TopologyPlugin"] == NO_TOPOLOGY_CONF
    site = read(conf, "BlockName=s1 Nodes=n[1-3]\n")
    assert site.system.topology is None
    assert PARTLY_ON_SWITCHES in {one.why for one in site.ignored}


def test_without_a_plugin_slurm_looks_at_none(conf):
    conf.write_text(CONF)
    assert read(conf, "SwitchName=s1 Nodes=n[1-4]\n").system.topology is None


def test_parameters_of_the_topology(conf):
    conf.write_text(
        CONF + "TopologyPlugin=topology/tree\nTopologyParam=Dragonfly,TopoOptional\n"
        "SchedulerParameters=max_switch_wait=60\n"
    )
    site = read(conf, "SwitchName=s1 Nodes=n[1-4],g[1-2]\n")
    assert (site.policy["TopologyParam"], site.policy["max_switch_wait"]) == ("DRAGONFLY,TOPOOPTIONAL", 60)
