"""Rules are imported as runs need them: what hangs on a moment, and in which order, is always the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

PROGRAM = """
import gc, json, sys
from importlib import import_module
from scheduler_sim.engine import engine
from scheduler_sim.engine.core.hooks import Moment

for name in sys.argv[1:]:
    import_module(name)
engine.hang_in()
print(json.dumps({
    f"{moment.otherwise.__module__} {moment.__name__} {part}": [
        f"{hook.function.__wrapped__.__module__} {hook.function.__name__}"
        for hook in moment.hooks if hook.part == part
    ]
    for moment in gc.get_objects() if isinstance(moment, Moment) for part in engine.PARTS
}, sort_keys=True))
"""
RULES = "scheduler_sim.engine.rules"


def hooks(*first: str) -> dict[str, list[str]]:
    """What hangs on each moment, by part, where these modules come before all others."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *first],
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "0"},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(ended.stdout)


@pytest.fixture(scope="module")
def usual() -> dict[str, list[str]]:
    return hooks()


def test_more_than_one_file_of_a_rule_hangs_on_a_moment(usual):
    """Else their order would be no question."""
    assert any(len({name.split()[0] for name in names}) > 1 for names in usual.values())


@pytest.mark.parametrize(
    "first",
    [
        ("scheduler_sim.simulation",),
        ("scheduler_sim.simulation.rules.slurm.schedulers",),
        (f"{RULES}.slurm.operations", f"{RULES}.holds"),
        (f"{RULES}.power_saving.state", f"{RULES}.slurm.allocation", f"{RULES}.slurm.accelerate.state"),
        ("scheduler_sim.engine.schemes.conservative_keep",),
    ],
)
def test_what_a_run_imports_first_changes_no_order(usual, first):
    assert hooks(*first) == usual
