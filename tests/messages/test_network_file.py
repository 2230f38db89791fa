"""Networks in YAML: what they say, what is wrong, where processes go; D2.3's Table 8."""

from __future__ import annotations

import csv

import pytest

from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.messages.network import read_network
from scheduler_sim.messages.paths import MICRO
from tests.conftest import ROOT, SHARED, needs_shared

NETWORKS = ROOT / "configs" / "networks"
TABLE_8 = SHARED / "data" / "scaling" / "deepest_t8_dimemas.csv"


@pytest.fixture
def written(tmp_path):
    def network(text):
        path = tmp_path / "network.yaml"
        path.write_text(text)
        return path

    return network


LEAST = "version: 1\nmodules: {A: {nodes: 3, cores: 2}}\n"
TWO = "version: 1\nmodules: {A: {nodes: 1, cores: 2}, B: {nodes: 2, cores: 1}}\n"

BAD = {
    "no module": ("version: 1\nmodules: {}\n", 2, "at least one"),
    "an unknown key": (LEAST + "latency: 3\n", 3, "unknown key"),
    "a key nearly right": (LEAST.replace("cores", "core"), 2, "did you mean 'cores'"),
    "a latency below 0": (LEAST.replace("cores: 2", "between_nodes: {latency_us: -1}"), 2, "a number >= 0"),
    "a mapping that is none": (LEAST + "mapping: filled\n", 3, "did you mean 'fill'"),
    "a mapping of no nodes": (LEAST + "mapping: [0, -1]\n", 3, "node of each process"),
    "no such operation": (LEAST + "collectives: {brodcast: {}}\n", 3, "bcast"),
    "no such model": (
        LEAST + "collectives:\n  bcast:\n    fan_in: {model: log}\n    fan_out: {model: none}\n",
        5,
        "none, constant, linear, logarithmic",
    ),
    "a pair of strangers": (TWO + "between_modules:\n  - {modules: [A, C]}\n", 4, "'C'"),
    "a pair of one": (TWO + "between_modules:\n  - {modules: [A, A]}\n", 4, "two different"),
    "a pair twice": (TWO + "between_modules:\n  - {modules: [A, B]}\n  - {modules: [B, A]}\n", 5, "once"),
    "another version": (LEAST.replace("1", "2", 1), 1, "version"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_said_wrongly(written, case):
    text, line, told = BAD[case]
    with pytest.raises(ConfigError) as error:
        read_network(written(text))
    assert f"network.yaml:{line}:" in str(error.value)
    assert told in str(error.value)


def test_processes_on_nodes(written):
    assert read_network(written(LEAST)).places(5).node.tolist() == [0, 0, 1, 1, 2]
    dealt = read_network(written(LEAST + "mapping: round_robin\n"))
    assert dealt.places(5).node.tolist() == [0, 1, 2, 0, 1]
    listed = read_network(written(LEAST + "mapping: [2, 0, 2]\n"))
    assert listed.places(3).node.tolist() == [2, 0, 2]
    with pytest.raises(InputError, match="found 3 nodes up to number 2; allowed for this trace: 4"):
        listed.places(4)
    with pytest.raises(InputError, match="allowed: 6, one a core"):
        read_network(written(LEAST)).places(7)
    with pytest.raises(InputError, match="3 processes on node 1, which has 2 cores"):
        read_network(written(LEAST + "mapping: [1, 1, 1]\n")).places(3)
    with pytest.raises(InputError, match="no network between A and B"):
        read_network(written(TWO)).places(3)
    assert read_network(written(TWO)).places(2).module.tolist() == [0, 0]
    both = read_network(written(TWO + "between_modules: [{modules: [B, A]}]\nmapping: round_robin\n")).places(
        4
    )
    assert both.node.tolist() == [0, 1, 2, 0]
    assert both.module.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("path", sorted(NETWORKS.glob("*.yaml")), ids=lambda path: path.stem)
def test_networks_that_ship(path):
    network = read_network(path)
    assert network.places(30).node.max() >= 1
    assert (network.links().bandwidth > 0).all()


@needs_shared
def test_table_8_as_printed():
    with TABLE_8.open() as file:
        printed = {(row["group"], row["parameter"]): row for row in csv.DictReader(file)}
    network = read_network(NETWORKS / "deep-est-prototype.yaml")
    links = network.links()
    for place, (name, module) in enumerate(network.modules.items()):

        def said(group, parameter, name=name):
            return printed[group, parameter][name].split(" ")[0]

        assert module.nodes == int(said("intra_node", "nodes"))
        first, _, second = said("intra_node", "cores_per_node").partition("x")
        assert module.cores == int(first) * int(second)
        assert module.cpu_ratio == float(said("intra_node", "cm_cpu_ratio"))
        within, between = module.within_node, module.between_nodes
        assert within.bandwidth_mb_s == pytest.approx(float(said("intra_node", "bandwidth")) * 125)
        assert within.buses == int(said("intra_node", "buses"))
        assert within.latency_us == float(said("intra_node", "local_latency"))
        assert between.latency_us == float(said("intra_node", "remote_latency_from_cm"))
        assert between.links_in == between.links_out == int(said("intra_node", "network_devices"))
        assert between.bandwidth_mb_s == pytest.approx(float(said("inter_node", "bandwidth")) * 125)
        assert between.buses == 0  # no limit of messages on the fly
        assert links.latency[place] == round(within.latency_us * MICRO)
    wan = {pair: links.bandwidth[path] for pair, path in links.pair.items()}
    assert wan == {(0, 1): 40 * 125, (0, 2): 100 * 125, (1, 2): 100 * 125}
