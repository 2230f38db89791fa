"""Runs Python in a process of its own whose NumPy may not use this processor's wide instructions."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import ROOT


def output_without_simd(program: str) -> str:
    """Return what the program prints there; skips where NumPy has nothing to switch off."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if not found:
        pytest.skip("this NumPy chooses no instructions at run time")
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(found), "PYTHONPATH": str(ROOT)}
    check = (
        "import numpy as np\nassert not np.show_config(mode='dicts')['SIMD Extensions'].get('found', [])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", check + program], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()
