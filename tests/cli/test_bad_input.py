"""Bad input: exit code 2, a message that says where, no traceback, nothing half-written."""

from __future__ import annotations

import gzip

import pytest

from tests.cli.command import CLUSTER, MODULAR, PROTOTYPE, SAMPLE
from tests.workload.records import packed

GOOD = "1 0 -1 50 4 -1 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n"
MWF = MODULAR.read_text().splitlines()[0]


def mwf(position, text):
    """A record in MWF with another text at a position."""
    fields = MWF.split(";")
    fields[position - 1] = text
    return ";".join(fields) + "\n"


TRACES = {
    "empty": ("t.swf", b"", "empty"),
    "header only": ("t.swf", b"; MaxNodes: 4\n", "no record"),
    "too few fields": ("t.swf", GOOD.encode() + b"2 0 -1 50\n", ":2: "),
    "too many fields": ("t.swf", GOOD.encode() + GOOD.replace("\n", " 7" * 120 + "\n").encode(), ":2: "),
    "text for a number": ("t.swf", GOOD.encode() + GOOD.replace("50", "soon").encode(), "'soon'"),
    "negative nodes": ("t.swf", GOOD.encode() + GOOD.replace(" 4 ", " -7 ").encode(), "-7"),
    "NUL byte": ("t.swf", GOOD.encode() + b"2 0 -1 5\0 4 -1 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n", ":2: "),
    "not text": ("t.swf", bytes(range(256)) * 20, ":1: "),
    "truncated gzip": ("t.swf.gz", gzip.compress(GOOD.encode() * 2000, mtime=0)[:-200], "t.swf.gz"),
    "truncated zstd": ("t.swf.zst", packed(GOOD.encode() * 2000, ".zst")[:-20], "broken zstd"),
    "not zstd": ("t.swf.zst", GOOD.encode(), "this is not zstd"),
    "not gzip": ("t.swf.gz", GOOD.encode(), "gzip"),
    "MWF in SWF": ("t.swf", MWF[:40].encode() + b"\n", ":1: "),
    "unknown suffix": ("t.log", b"nothing of the kind\n", "--from"),
    "not parquet": ("t.parquet", b"nothing of the kind\n", "t.parquet"),
    "MWF: too few fields": ("t.mwf", b"1;2;3\n", ":1: "),
    "MWF: text for a number": ("t.mwf", mwf(4, "noon").encode(), "'noon'"),
    "MWF: negative nodes": ("t.mwf", mwf(15, "-7").encode(), "-7"),
    "MWF: no such partition": ("t.mwf", mwf(14, "GPU").encode(), "'GPU'"),
    "MWF: unknown dependency": ("t.mwf", mwf(39, "77").replace(";NA;", ";AFTEROK;").encode(), "77"),
}


@pytest.mark.parametrize("case", TRACES)
def test_bad_traces(cli, tmp_path, case):
    name, content, told = TRACES[case]
    path, out = tmp_path / name, tmp_path / "result"
    path.write_bytes(content)
    system = PROTOTYPE if name.endswith(".mwf") else CLUSTER
    for command in (
        ("run", system, path, "--out", out),
        ("inspect", path),
        ("convert", path, tmp_path / "to.csv"),
    ):
        if case == "MWF: no such partition" and command[0] != "run":
            continue  # only a system knows which there are
        ended = cli(*command)
        assert ended.code == 2, (command, ended)
        assert told in ended.err
        assert name in ended.err
        assert "Traceback" not in ended.err
        assert "internal error" not in ended.err
        assert ended.out == ""
        assert {p.name for p in tmp_path.iterdir()} == {name}


SYSTEMS = {
    "no module": ("modules: []\n", "modules"),
    "empty": ("", "empty"),
    "not YAML": ("modules: [{name: a, nodes: 3\n", "system.yaml"),
    "misspelt key": ("modules: [{name: a, nods: 3}]\n", "did you mean"),
    "no nodes": ("modules: [{name: a, nodes: 0}]\n", "nodes"),
    "text for nodes": ("modules: [{name: a, nodes: many}]\n", "many"),
    "not text": ("\x00\x01\x02", "system.yaml"),
    "partition of no module": (
        "modules: [{name: a, nodes: 3}]\npartitions: [{name: p, module: b}]\n",
        "'b'",
    ),
}


@pytest.mark.parametrize("case", SYSTEMS)
def test_bad_systems(cli, system, tmp_path, case):
    text, told = SYSTEMS[case]
    path, out = system(text), tmp_path / "result"
    for command in (("run", path, SAMPLE, "--out", out), ("inspect", path)):
        ended = cli(*command)
        assert ended.code == 2
        assert told in ended.err
        assert "system.yaml" in ended.err
        assert "Traceback" not in ended.err
        assert not out.exists()


COMMANDS = {
    "no command": ([], "COMMAND"),
    "unknown command": (["fly"], "fly"),
    "a command of a later version": (["fit", "x"], "fit"),
    "no trace": (["run", CLUSTER], "TRACE"),
    "no such trace": (["run", CLUSTER, "none.swf"], "none.swf"),
    "no such system": (["run", "none.yaml", SAMPLE], "none.yaml"),
    "a directory as a trace": (["run", CLUSTER, SAMPLE.parent], str(SAMPLE.parent)),
    "a directory as a system": (["run", CLUSTER.parent, SAMPLE], str(CLUSTER.parent)),
    "unknown option": (["run", CLUSTER, SAMPLE, "--fast"], "--fast"),
    "abbreviated option": (["run", CLUSTER, SAMPLE, "--pol", "easy"], "--pol"),
    "unknown policy": (["run", CLUSTER, SAMPLE, "--policy", "esay"], "did you mean 'easy'"),
    "priorities as a policy": (["run", CLUSTER, SAMPLE, "--policy", "multifactor"], "PriorityType"),
    "no such policy file": (["run", CLUSTER, SAMPLE, "--policy", "none.yaml"], "none.yaml"),
    "unknown key": (["run", CLUSTER, SAMPLE, "--set", "policy.dept=2"], "did you mean"),
    "bad value": (["run", CLUSTER, SAMPLE, "--set", "policy.depth=two"], "two"),
    "contradiction": (["run", CLUSTER, SAMPLE, "--set", "policy.replan=keep"], "conservative"),
    "setting without a value": (["run", CLUSTER, SAMPLE, "--set", "policy.depth"], "KEY=VALUE"),
    "unknown key of the workload": (
        ["run", CLUSTER, SAMPLE, "--set", "workload.x=1"],
        "workload.honour_status",
    ),
    "status neither true nor false": (
        ["run", CLUSTER, SAMPLE, "--set", "workload.honour_status=2"],
        "true, false",
    ),
    "seed that is no number": (["run", CLUSTER, SAMPLE, "--seed", "x"], "--seed"),
    "negative seed": (["run", CLUSTER, SAMPLE, "--seed", "-1"], "-1"),
    "SWF on several modules": (["run", PROTOTYPE, SAMPLE], "swf"),
    "MWF on a machine without its partitions": (["run", CLUSTER, MODULAR], "'CM'"),
    "no such result": (["explain", "none", "1"], "none"),
    "convert to nothing known": (["convert", SAMPLE, "t.xyz"], "t.xyz"),
    "convert from nothing known": (["convert", SAMPLE, "t.swf", "--from", "sfw"], "did you mean 'swf'"),
    "convert to what is only read": (["convert", SAMPLE, "t.swf", "--to", "sacct"], "unknown format 'sacct'"),
    "convert into what is only read": (["convert", SAMPLE, "t.psv"], "sacct is read, not written"),
    "convert from what it is not": (["convert", SAMPLE, "t.swf", "--from", "sacct"], "no header of sacct"),
    "convert into no directory": (["convert", SAMPLE, "none/t.swf"], "none/t.swf"),
    "inspect nothing": (["inspect", "none.swf"], "none.swf"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_bad_arguments(cli, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    arguments, told = COMMANDS[case]
    ended = cli(*arguments)
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""
    assert not list(tmp_path.iterdir())


def test_a_directory_of_somebody_else_is_refused_before_the_run(cli, tmp_path):
    (tmp_path / "thesis.tex").write_text("two years of work")
    ended = cli("run", CLUSTER, "no-such-trace.swf", "--out", tmp_path)
    assert ended.code == 2
    assert "left alone" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_all_mistakes_of_a_system_at_once(cli, system):
    ended = cli("inspect", system("modules:\n  - {name: a, nodes: 0}\n  - {name: a, nods: 3}\n"))
    assert ended.code == 2
    assert len(ended.err.splitlines()) >= 2


def test_order_function_that_fails(cli, tmp_path):
    (tmp_path / "bad.py").write_text('def order(nodes):\n    raise ValueError("no")\n')
    ended = cli("run", CLUSTER, SAMPLE, "--set", f"policy.order={tmp_path / 'bad.py'}:order")
    assert ended.code == 2
    assert "ValueError: no" in ended.err
    assert "Traceback" not in ended.err
