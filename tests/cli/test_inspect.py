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
