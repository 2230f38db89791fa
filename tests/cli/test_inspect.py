"""``scheduler-sim inspect``."""

from __future__ import annotations

import re

from scheduler_sim.report.trace_figures import trace_figure as draw
from tests.cli.command import CLUSTER, MODULAR, PROTOTYPE, SAMPLE


def test_a_trace_in_swf(cli):
    ended = cli("inspect", SAMPLE)
    assert (ended.code, ended.err) == (0, "")
    for told in (
        "sample-1000.swf (SWF): 1,000 records",
        "; MaxNodes: 128",
        "machine       128 nodes",
        "an offered load of 0.85",
        "run time / limit",
        "as load of the machine",
        "█",
    ):
        assert told in ended.out
    assert "warnings" not in ended.out


def test_a_trace_in_mwf(cli):
    ended = cli("inspect", MODULAR)
    for told in ("(MWF)", "dependencies", "ESB,CM (", "nodes it would keep busy"):
        assert told in ended.out


def test_skipped_records_and_warnings(cli, trace):
    path = trace((0, 50, 4, 40), (-1, 5, 1, 5), (10, -1, 1, 5), (20, 0, 1, 5), (5, 5, 1, 5))
    text = path.read_text().replace("\n2 -1 ", "\n2 7 ")
    path.write_text(text)
    ended = cli("inspect", path)
    assert ended.code == 0
    assert re.search(r"skipped +1 record: run time unknown\n", ended.out)
    assert "warnings" in ended.out
    assert "1 record run longer than their limit" in ended.out
    assert "with a run time of 0" in ended.out
    assert "first at line 5" in ended.out


def test_a_single_job(cli, trace):
    ended = cli("inspect", trace((0, 50, 4, 40)))
    assert ended.code == 0
    assert "1 record" in ended.out


def test_no_job_at_all_that_is_simulated(cli, trace):
    ended = cli("inspect", trace((0, -1, 4, 40)))
    assert ended.code == 0
    assert "no record is simulated" in ended.out


def test_control_characters_of_a_header_are_not_printed(cli, trace):
    path = trace((0, 50, 4, 40))
    path.write_text("; Note: \x1b[2Jgone\n" + path.read_text())
    ended = cli("inspect", path)
    assert ended.code == 0
    assert "\x1b" not in ended.out


def test_a_picture_beside_the_page(cli, trace, tmp_path):
    path, picture = trace((0, 50, 4, 40), (90, 5, 1, 5)), tmp_path / "a.PNG"
    picture.touch()
    ended = cli("inspect", path, "--plot", picture)
    assert (ended.code, ended.err) == (0, f"picture: {picture}\n")
    assert ended.out == cli("inspect", path).out
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_picture_with_a_line_for_each_module(cli, tmp_path, monkeypatch):
    from scheduler_sim.report import trace_figures

    seen = {}
    monkeypatch.setattr(
        trace_figures, "trace_figure", lambda *given, **named: seen.update(named) or draw(*given, **named)
    )
    assert cli("inspect", MODULAR, "--plot", tmp_path / "a.png").code == 0
    assert [module.name for module in seen["modules"]] == ["CM", "DAM", "ESB"]


def test_a_trace_of_nothing_has_a_picture_too(cli, trace, tmp_path):
    assert cli("inspect", trace((0, -1, 4, 40)), "--plot", tmp_path / "a.png").code == 0
    assert (tmp_path / "a.png").exists()


def test_a_picture_that_cannot_be_made(cli, trace, tmp_path):
    path, picture = trace((0, 50, 4, 40)), tmp_path / "a.png"
    broken = trace((0, "x", 4, 40), name="broken.swf")
    before = sorted(tmp_path.iterdir())
    for what, file, code, told in (
        (CLUSTER, picture, 2, "--plot draws a job trace; found a system"),
        (path, tmp_path / "a.pdf", 2, "allowed: a name ending in .png"),
        (path, "", 2, "allowed: a name ending in .png"),
        (path, path, 2, "allowed: a name ending in .png"),
        (broken, picture, 2, "broken.swf:1"),
        (tmp_path / "missing.swf", picture, 2, "missing.swf"),
        (path, tmp_path / "nowhere" / "a.png", 2, "cannot write"),
    ):
        ended = cli("inspect", what, "--plot", file)
        assert (ended.code, ended.out) == (code, "")
        assert told in ended.err
        assert sorted(tmp_path.iterdir()) == before


def test_a_system(cli):
    ended = cli("inspect", PROTOTYPE)
    assert (ended.code, ended.err) == (0, "")
    assert "DEEP-EST prototype: 141 nodes in 3 modules" in ended.out
    assert any(
        line.split() == ["CM", "CM", "no", "limit", "no", "limit", "0", "yes"]
        for line in ended.out.splitlines()
    )
    assert "traces in SWF cannot be replayed" in ended.out
    assert "cluster-128: 128 nodes in 1 module" in cli("inspect", CLUSTER).out


def test_resources_limits_and_costs_of_a_system(cli, system):
    path = system(
        "modules: [{name: A, nodes: 4, cost_per_node: 2.5}]\n"
        "partitions: [{name: short, module: A, max_time: 2:00:00, max_nodes: 9, priority: 3}]\n"
        "resources: {licences: {matlab: 7}, nam_gb: 2}\n"
        "swf: {partitions: {1: short}}\n"
    )
    ended = cli("inspect", path)
    for told in ("2:00:00", "matlab", "2,097,152", "1 is short", "2.5", "admits 9 nodes, module A has 4"):
        assert told in ended.out


def test_a_system_whose_nodes_are_shared(cli, tmp_path):
    path = tmp_path / "shared.yaml"
    path.write_text(
        "modules:\n"
        "- {name: G, nodes: 3, shared: true, cores_per_node: 8, node_sets: ["
        "{name: thin, nodes: 2, memory_gb: 16},"
        " {name: fat, nodes: 1, memory_gb: 64, gres: {'gpu:a100': 4, shard: 40}}]}\n"
        "- {name: W, nodes: 2}\n"
        "partitions: [{name: all, module: G}, {name: alone, module: G, exclusive: true},"
        " {name: W, module: W}, {name: both, module: G, slurm: {OverSubscribe: force}}]\n"
    )
    lines = [line.split() for line in cli("inspect", path).out.splitlines()]
    for told in (
        "G - 3 8 16 to 64 0 to 4 1 shared",
        "W - 2 not stated not stated 0 1 whole",
        "G fat - 1 8 64 1 4 gpu:a100:4, shard:40",
        "G thin - 2 8 16 1",
        "alone G no limit no limit 0 one job",
        "both G no limit no limit 0 FORCE:4",
    ):
        assert told.split() in lines


def test_whole_nodes_are_not_said_to_be_so(cli):
    out = cli("inspect", PROTOTYPE).out
    assert "nodes are" not in out
    assert "resources  " not in out


def test_what_a_trace_asks_for_of_nodes(cli, tmp_path):
    path = tmp_path / "parts.csv"
    path.write_text(
        "submit_time,nodes,run_time,cores,memory_kb,gpus,gres,exclusive\n"
        "0,1,5,1,1048576,-1,,0\n0,1,5,4,4194304,0.5,,0\n0,1,5,32,-1,2,shard:3,0\n0,2,5,-1,-1,-1,shard:3,1\n"
    )
    out = cli("inspect", path).out
    for told in (
        r"cores +3 components ask for 1 to 32 of each node, half of them for 4 at most\n",
        r"memory +2 components ask for 1 to 4 GB of each node, half of them for 2.5 at most\n",
        r"GPUs +2 components ask for 0.5 to 2 of each node, half of them for 1.25 at most\n",
        r"resources +of each node: shard:3 \(2\)\n",
        r"whole nodes +1 component asks for nodes to themselves\n",
        r"not honoured +2 lines: components that ask for GPUs.* to themselves, unless jobs share nodes\n",
    ):
        assert re.search(told, out), told


def test_a_trace_that_asks_for_whole_nodes_says_no_more(cli):
    out = cli("inspect", SAMPLE).out
    assert "of each node" not in out
    assert "to themselves" not in out


def test_several_words_of_one_key_stand_with_its_line_once(cli, tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text(
        "AccountingStorageEnforce=limits,qos,safe\nNodeName=n[1-2] CPUs=4\n"
        "PartitionName=p Nodes=ALL OverSubscribe=EXCLUSIVE\n"
    )
    assert "AccountingStorageEnforce=limits,qos,safe  (line 1)\n" in cli("inspect", conf).out
