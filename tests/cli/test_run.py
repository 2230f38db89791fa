"""``scheduler-sim run``: the table, the result directory, the options."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from scheduler_sim import Result
from tests.cli.command import CLUSTER, MODULAR, PROTOTYPE, RESULT_FILES, SAMPLE, process

QUEUE = ((0, 50, 8, 100), (10, 10, 8, 20), (20, 100, 2, 100), (30, 10, 2, 40))
"""On 10 nodes: 1 runs, 2 waits for it, 3 would hold two of the nodes that 2 needs, 4 backfills."""


def row(text, name):
    """The numbers of the line of a table that begins with a name."""
    return next(line.split()[1:] for line in text.splitlines() if line.split()[:1] == [name])


def test_table_of_a_run(cli, system, trace):
    ended = cli("run", system(), trace(*QUEUE), "--policy", "easy")
    assert (ended.code, ended.err) == (0, "")
    assert "trace.swf on system under easy" in ended.out
    assert re.search(r"components +started +rejected.*\n +4 +4 +0 +0 +0 +0\n", ended.out)
    # waits: 0, 40 (to 50), 0 as extra nodes, 0 (20 s behind the limit of 1)
    assert row(ended.out, "wait")[-2:] == ["40", "s"]
    assert row(ended.out, "makespan") == ["0:02:00", "(120", "s)"]
    assert row(ended.out, "total") == ["10", "58.33", "%"]
    assert "components/s" in ended.out
    assert "--out DIR keeps the result" in ended.out


def test_easy_is_the_default_and_other_policies_differ(cli, system, trace):
    machine, jobs = system(), trace(*QUEUE)
    default, easy, fcfs = (cli("run", machine, jobs, *more).out for more in ([], *(
        ["--policy", policy] for policy in ("easy", "fcfs"))))  # fmt: skip
    assert row(default, "wait") == row(easy, "wait")
    assert row(fcfs, "wait") != row(easy, "wait")


def test_the_trace_may_stand_behind_options(cli, system, trace):
    machine, jobs = system(), trace(*QUEUE)
    behind, before = (
        cli("run", machine, "--policy", "easy", jobs),
        cli("run", machine, jobs, "--policy", "easy"),
    )
    assert row(behind.out, "wait") == row(before.out, "wait")
    assert "unrecognized arguments: one" in cli("run", machine, jobs, "--quiet", "one").err


def test_result_directory(cli, tmp_path):
    out = tmp_path / "deep" / "result"
    ended = cli("run", CLUSTER, SAMPLE, "--out", out, "--seed", 5)
    assert ended.code == 0
    assert f"written to {out}" in ended.out
    assert {path.name for path in out.iterdir()} == RESULT_FILES
    result = Result.load(out)
    result.check()
    assert len(result.components) == 1000
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["seed"] == 5
    assert {entry["role"]: entry["sha256"] for entry in manifest["inputs"]} == {
        role: hashlib.sha256(path.read_bytes()).hexdigest()
        for role, path in (("system", CLUSTER), ("workload", SAMPLE))
    }
    log = (out / "run.log").read_text()
    for key in ("command:", "begin:", "took:", "host:", "trace:", "peak memory:", "engine:"):
        assert f"\n{key}" in f"\n{log}"
    assert str(SAMPLE) in log
    others = b"".join((out / name).read_bytes() for name in RESULT_FILES - {"run.log"})
    assert str(SAMPLE.parent).encode() not in others


def test_the_same_run_gives_the_same_bytes(tmp_path):
    for name, hash_seed in (("one", "1"), ("two", "2")):
        ended = process(
            "run", PROTOTYPE, MODULAR, "--policy", "conservative", "--out", tmp_path / name, "--quiet",
            extra={"PYTHONHASHSEED": hash_seed},
        )  # fmt: skip
        assert ended.code == 0, ended.err
    for name in RESULT_FILES - {"run.log"}:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_an_older_result_is_replaced_and_other_files_stay(cli, system, trace, tmp_path):
    out = tmp_path / "result"
    assert cli("run", system(), trace(*QUEUE), "--out", out, "--policy", "fcfs").code == 0
    (out / "note.txt").write_text("mine")
    assert cli("run", system(), trace(*QUEUE), "--out", out, "--policy", "easy").code == 0
    assert Result.load(out).manifest["policy"]["name"] == "easy"
    assert (out / "note.txt").read_text() == "mine"


def test_quiet_prints_nothing(cli, system, trace, tmp_path):
    ended = cli("run", system(), trace(*QUEUE), "--quiet", "--out", tmp_path / "result")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert (tmp_path / "result" / "manifest.json").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--set", "policy.depth=2", "--set", "policy.order=sjf"],
        ["--set", "policy.depth=2", "policy.order=sjf"],
        ["--set", "depth=2", "order=sjf"],
    ],
)
def test_settings(cli, system, trace, tmp_path, options):
    out = tmp_path / "result"
    ended = cli("run", *options, system(), trace(*QUEUE), "--policy", "easy", "--out", out)
    assert ended.code == 0, ended.err
    policy = Result.load(out).manifest["policy"]
    assert (policy["depth"], policy["order"], policy["name"]) == (2, "sjf", "easy (depth=2, order=sjf)")


def test_last_setting_wins(cli, system, trace, tmp_path):
    out = tmp_path / "result"
    settings = ["--set", "policy.depth=2", "--set", "policy.depth=3"]
    assert cli("run", system(), trace(*QUEUE), *settings, "--out", out).code == 0
    assert Result.load(out).manifest["policy"]["depth"] == 3


def test_status_of_the_trace_counts_only_where_asked(cli, system, trace, tmp_path):
    path = trace((0, 50, 8, 100), (10, 10, 8, 20))
    path.write_text(path.read_text().replace(" -1 1 1 1 1 1 ", " -1 0 1 1 1 1 ", 1))  # the first one failed
    for setting, states in (("false", ["COMPLETED"] * 2), ("true", ["FAILED", "COMPLETED"])):
        out = tmp_path / setting
        asked = ["--set", f"workload.honour_status={setting}", "policy.order=sjf"]
        assert cli("run", system(), path, *asked, "--out", out).code == 0
        assert Result.load(out).components["state"].tolist() == states


def test_policy_from_a_file_with_a_function(cli, system, trace, tmp_path):
    (tmp_path / "mine.py").write_text("def widest(nodes):\n    return -nodes\n")
    (tmp_path / "mine.yaml").write_text("order: mine.py:widest\nbackfill: easy\n")
    ended = cli("run", system(), trace(*QUEUE), "--policy", tmp_path / "mine.yaml")
    assert ended.code == 0, ended.err
    assert "under mine" in ended.out


def test_several_modules_are_listed(cli):
    ended = cli("run", PROTOTYPE, MODULAR, "--policy", "conservative")
    assert [row(ended.out, name)[0] for name in ("CM", "DAM", "ESB", "total")] == ["50", "16", "75", "141"]


def test_what_is_rejected_skipped_and_killed_is_said(cli, system, trace):
    jobs = ((0, 50, 8, 100), (1, 10, 11, 20), (2, -1, 1, 5), (3, 100, 1, 10))
    ended = cli("run", system(), trace(*jobs))
    assert re.search(r"skipped\n +3 +2 +1 +1 +0 +1\n", ended.out)
    assert "rejected: 1 larger than their module" in ended.out
    assert "skipped: 1 run time unknown" in ended.out


@pytest.mark.interpreted
def test_what_is_not_honoured_is_said(cli, tmp_path):
    fields = MODULAR.read_text().splitlines()[0].split(";")
    fields[13], fields[40], fields[41] = "CM", "60", "WF_API:30,COFFEE_BREAK:40"
    path = tmp_path / "delayed.mwf"
    path.write_text(";".join(fields) + "\n")
    ended = cli("run", PROTOTYPE, path, "--policy", "slurm")
    assert ended.code == 0, ended.err
    assert "not honoured\n  1 line: calls of a kind that is not known" in ended.out
    assert "2 lines" not in ended.out
    assert ended.out.count("1 line") == 2


CORES = "modules: [{name: nodes, nodes: 10, cores_per_node: 4}]\n"


def test_what_speaks_against_the_numbers_comes_first(cli, system, trace, tmp_path):
    out = tmp_path / "result"
    ended = cli("run", system(CORES), trace(*QUEUE), "--out", out)
    title, _, *lines = ended.out.splitlines()
    told = "4 lines: components that ask for part of a node's cores; they have their nodes to themselves"
    assert "under easy" in title
    assert lines[:2] == ["  not honoured", f"  {told}"]
    # 8·50 + 8·10 + 2·100 + 2·10 node-seconds, submitted in 30 s
    load = "the offered load on module nodes is 2.33: more work than its nodes could do"
    assert lines[2].startswith(f"  warning: {load}")
    assert "\x1b" not in ended.out
    log = (out / "run.log").read_text()
    assert f"\nnot honoured: {told}\n" in log
    assert f"\nwarning: {load}" in log
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["offered_load"] == {"nodes": 2.333333, "total": 2.333333}
    assert [warning[: len(load)] for warning in metrics["warnings"]] == [load]


@pytest.mark.parametrize("no_color", [False, True])
def test_on_a_terminal_it_is_red(cli, system, trace, monkeypatch, no_color):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1" if no_color else "")
    ended = cli("run", system(CORES), trace(*QUEUE))
    assert ("\x1b[31m  not honoured\n" in ended.out) is not no_color
    assert ended.out.count("\x1b") == (0 if no_color else 2)


def test_work_without_a_signature_and_names_that_mean_nothing_are_said(cli, system, trace, tmp_path):
    """The jobs are of the first type; the name of its signature is misspelt, and it draws typical watts."""
    node = {"name": "nodes", "idle_w": 10, "typical_w": 100, "peak_w": 500, "reference_khz": 2000000}
    node["pstates"] = {"lowest_khz": 1000000, "highest_khz": 2000000}
    models = {
        "applications": {"types": [{"name": "solver", "percent": 50}, {"name": "rest", "percent": 50}]},
        "conversions": [{"origin": "CM", "to": "nodes"}],
        "energy": {
            "power": {"modules": [node]},
            "signatures": {"workload": ["slover"], "frequency_khz": [2000000], "power_w": [200]},
        },
    }
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps(models))
    told = (
        "source of the power of components: typical 4 (100 % of the node-seconds)",
        "applications without a signature, of the node-seconds: 1 (100 %)",
        "1 application type of which no component is: rest",
        "1 module which the system does not have: CM",
        "1 signature which no component has: slover",
    )
    ended = cli("run", system(), trace(*QUEUE), "--models", path, "--out", tmp_path / "result")
    assert ended.code == 0, ended.err
    assert cli("report", tmp_path / "result", "--out", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text()
    for line in told:
        assert line in ended.out
        assert line in page
    path.write_text(json.dumps(models).replace("slover", "Solver"))
    mended = cli("run", system(), trace(*QUEUE), "--models", path)
    assert "source of the power of components: signature 4 (100 % of the node-seconds)" in mended.out
    assert "without a signature" not in mended.out
    assert "which no component has" not in mended.out


def test_nothing_to_simulate(cli, system, trace):
    ended = cli("run", system(), trace((0, -1, 1, 5)))
    assert ended.code == 0
    assert "no component ran" in ended.out


def test_names_from_a_file_cannot_write_to_the_terminal(cli, system, trace):
    ended = cli("run", system(), trace(*QUEUE, name="a\x1b[31mb.swf"))
    assert ended.code == 0
    assert "a [31mb.swf on system" in ended.out
    assert "\x1b" not in ended.out
    assert "\x1b" not in cli("run", system(), "no\x1b[31mne.swf").err
