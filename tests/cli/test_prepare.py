"""``scheduler-sim prepare`` compiles once; code for a named processor is found on any."""

from __future__ import annotations

import re

from scheduler_sim.engine.core.machine_code import processor


def test_a_policy_is_compiled_once(cli):
    ended = cli("prepare", "fcfs")
    assert ended.code == 0
    assert re.fullmatch(r"  fcfs  (compiled in \d+ s|was compiled already)\n", ended.out)
    assert (
        cli("prepare", "fcfs", "fifo").out == "  fcfs  was compiled already\n  fifo  was compiled already\n"
    )


def test_an_unknown_policy_is_bad_input(cli):
    ended = cli("prepare", "esy")
    assert (ended.code, ended.out) == (2, "")
    assert "did you mean 'easy'" in ended.err


def test_code_for_a_named_processor_does_not_hang_on_this_one(monkeypatch):
    here = processor.__wrapped__()
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    named = processor.__wrapped__()
    assert named.split()[1:] == ["generic"]
    assert here.split()[0] == named.split()[0]
    assert here != named
