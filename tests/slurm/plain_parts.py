"""Slurm's compiled parts as plain Python, to be called one by one."""

from __future__ import annotations

import sys
from importlib import import_module
from types import SimpleNamespace

import numba

import scheduler_sim
import scheduler_sim.engine

PACKAGE = "scheduler_sim.engine"


def plain(*names: str) -> SimpleNamespace:
    """Import ``scheduler_sim.engine.slurm.<name>`` once more, with the compiler switched off."""
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(PACKAGE)}
    before, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, 1
    try:
        return SimpleNamespace(**{name: import_module(f"{PACKAGE}.slurm.{name}") for name in names})
    finally:
        numba.config.DISABLE_JIT = before
        for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
            del sys.modules[name]
        sys.modules.update(kept)
        scheduler_sim.engine = kept[PACKAGE]
