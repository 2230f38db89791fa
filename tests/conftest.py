"""What every test may lean on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

needs_shared = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the shared reference data is not beside this checkout"
)

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


def run_interpreted(code: str, folder: Path) -> None:
    """Run Python code, which finds ``folder`` as its argument, with the engine's compiler switched off."""
    check = "from scheduler_sim.engine.core import jit; assert not jit.COMPILED; "
    subprocess.run(
        [sys.executable, "-c", check + code, str(folder)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        check=True,
        cwd=ROOT,
    )
