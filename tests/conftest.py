"""What every test may lean on."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

needs_shared = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the shared reference data is not beside this checkout"
)

EXAMPLES = {"quick": 10, "long": 25, "all": 100}
"""What each profile takes of a hundred random cases."""

for profile, many in EXAMPLES.items():
    settings.register_profile(
        profile,
        max_examples=many,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")

# Hypothesis now and then draws a constant of the modules loaded so far, which differ from run to run and from
# worker to worker: without them random cases are the same everywhere.
providers._get_local_constants = lambda: providers._local_constants


def examples(many: int, **more: Any) -> settings:
    """So many random cases in the profile of all, and their share of them in the others."""
    return settings(max_examples=-(-many * settings.default.max_examples // EXAMPLES["all"]), **more)


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what is there for good: to look took a quarter of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Run in plain Python what is to be, see ``is_plain``."""
    if not is_plain(item):
        return (yield)
    from tests.engine.interpreted import interpreted

    with interpreted():
        return (yield)


def is_plain(item: pytest.Item) -> bool:
    """Whether a test runs in plain Python: where it is marked ``interpreted``, but in the profile of all.

    What is ``long`` has to be marked itself: the mark of its module is for the short ones.
    """
    if settings.default.max_examples >= EXAMPLES["all"] or item.get_closest_marker("compiled"):
        return False
    if item.get_closest_marker("long"):
        return any(mark.name == "interpreted" for mark in item.own_markers)
    return item.get_closest_marker("interpreted") is not None


def run_interpreted(code: str, folder: Path) -> None:
    """Run Python code, which finds ``folder`` as its argument, with the engine's compiler switched off."""
    check = "from scheduler_sim.engine.core import jit; assert not jit.COMPILED; "
    subprocess.run(
        [sys.executable, "-c", check + code, str(folder)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        check=True,
        cwd=ROOT,
    )
