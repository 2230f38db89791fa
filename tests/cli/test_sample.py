"""Samples that ship, and completion in shells."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from scheduler_sim.cli.completion import SHELLS
from scheduler_sim.cli.sample import SAMPLES
from tests.conftest import ROOT


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_what_stands_in_the_checkout(cli, name, tmp_path):
    out = tmp_path / "mine"
    ended = cli("sample", name, "--out", out)
    assert (ended.code, ended.err) == (0, "")
    for file in SAMPLES[name].files:
        assert (out / file).read_bytes() == (ROOT / file).read_bytes()
    for command in SAMPLES[name].commands:
        assert f"\n  {command}\n" in ended.out
        inputs = [
            word.split(":")[0] for word in command.split() if word.startswith(("configs/", "workloads/"))
        ]
        assert all((out / word).is_file() for word in inputs), command
    for file in out.rglob("*.yaml"):
        first = file.read_text().splitlines()[0]
        if "$schema=" in first:
            assert (file.parent / first.partition("$schema=")[2]).resolve().is_file()


@pytest.mark.long
@pytest.mark.parametrize("name", SAMPLES)
def test_the_commands_of_a_sample_run(name, tmp_path):
    from scheduler_sim.cli.main import main

    out = tmp_path / "mine"
    assert main(["sample", name, "--out", str(out), "--quiet"]) == 0
    for command in SAMPLES[name].commands:
        call = [sys.executable, "-m", *command.replace("scheduler-sim", "scheduler_sim").split()]
        done = subprocess.run(
            call, cwd=out, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_what_is_there_is_left_alone(cli, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for place in (tmp_path, tmp_path / "notes.txt"):
        ended = cli("sample", "first", "--out", place)
        assert ended.code == 2
        assert "exists already" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    assert "did you mean 'first'" in cli("sample", "frist").err
    assert [line.split()[0] for line in cli("sample").out.splitlines()] == list(SAMPLES)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_a_script(cli, shell):
    ended = cli("completion", shell)
    assert ended.code == 0
    assert "scheduler-sim" in ended.out


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("scheduler-sim ", {"run", "study", "sample", "completion"}),
        ("scheduler-sim run a b --policy ea", {"easy"}),
        ("scheduler-sim fit sc", {"scaling"}),
        ("scheduler-sim run a b --po", {"--policy"}),
    ],
)
def test_a_shell_is_told_what_may_follow(line, wanted, tmp_path):
    answers = tmp_path / "answers"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answers),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "PYTHONPATH": str(ROOT),
    }
    subprocess.run([sys.executable, "-m", "scheduler_sim"], env=os.environ | asked, check=True, cwd=tmp_path)
    found = {word.strip() for word in answers.read_text().split("\n")}
    assert wanted <= found
