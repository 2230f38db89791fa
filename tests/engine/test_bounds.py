"""Indices that are checked: none into an array of the core may be negative, and one that is is found."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from scheduler_sim.engine.core.jit import COMPILED
from tests.conftest import ROOT
from tests.engine.out_of_bounds import USES


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_an_index_before_the_first_or_behind_the_last_is_an_error(tmp_path):
    """However a kernel comes by a place; its code, which checks, is kept apart."""
    extra = {"NUMBA_BOUNDSCHECK": "1", "SCHEDULER_SIM_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.engine.out_of_bounds"],
        env=os.environ | extra,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = [re.fullmatch(r"(.+): (-?\d+) of (\d+): (\w+)", line) for line in ended.stdout.splitlines()]
    assert len(found) == 4 * len(USES)
    for line in found:
        name, at, places, how = line.groups()
        assert name in USES
        assert how == ("fine" if 0 <= int(at) < int(places) else "IndexError"), line[0]
