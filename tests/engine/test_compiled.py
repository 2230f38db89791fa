"""A run compiles what it has: few functions of ours, and none of a rule that is absent."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

PROGRAM = """
import json, sys
from numba.core.dispatcher import _FunctionCompiler
from scheduler_sim import System, Workload, simulate

found, whole = set(), _FunctionCompiler._compile_core

def compile_core(self, *arguments):
    found.add(f"{self.py_func.__module__}.{self.py_func.__qualname__}")
    return whole(self, *arguments)

_FunctionCompiler._compile_core = compile_core
jobs = Workload.from_columns(nodes=[2, 2], submit_time=[0, 3], run_time=[60, 5], time_limit=[70, 10])
simulate(System.homogeneous(3), jobs, sys.argv[1])
engine = "scheduler_sim.engine."
ours = {name for name in found if name.startswith(engine)}
print(json.dumps(sorted(name for name in ours if not name.startswith(engine + "compiler."))))
"""
RULES = "scheduler_sim.engine.rules."


def compiled(policy: str, cache: object) -> list[str]:
    """The functions of ours that a run compiles where nothing has been kept."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, policy],
        env=os.environ | {"SCHEDULER_SIM_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(ended.stdout)


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("policy", "most", "rules"),
    [
        ("easy", 80, ()),
        pytest.param("fcfs", 76, (), marks=LONG),
        pytest.param("conservative", 116, (), marks=LONG),
        pytest.param("slurm", 402, ("slurm.", "holds."), marks=LONG),
    ],
)
def test_what_is_compiled(tmp_path, policy, most, rules):
    """Under slurm jobs have terms, as begin times."""
    names = compiled(policy, tmp_path)
    assert "scheduler_sim.engine.core.loop.drive" in names
    of_rules = [name.removeprefix(RULES) for name in names if name.startswith(RULES)]
    assert [name for name in of_rules if not name.startswith(rules)] == []
    assert of_rules or policy != "slurm"
    assert len(names) <= most, names
