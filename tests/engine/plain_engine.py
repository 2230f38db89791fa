"""The engine as plain Python, beside the compiled one: its parts can be called one by one."""

from __future__ import annotations

import sys
from importlib import import_module
from types import SimpleNamespace

import numba

import scheduler_sim
import scheduler_sim.engine.core.loop

NAMES = ("state", "room", "queue", "releases", "events", "record", "profile", "life", "drive")
PACKAGE = "scheduler_sim.engine"


def _load() -> SimpleNamespace:
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(PACKAGE)}
    numba.config.DISABLE_JIT = 1
    try:
        return SimpleNamespace(**{name: import_module(f"{PACKAGE}.{name}") for name in NAMES})
    finally:
        numba.config.DISABLE_JIT = 0
        for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
            del sys.modules[name]
        sys.modules.update(kept)
        scheduler_sim.engine = kept[PACKAGE]


ENGINE = _load()
slot = ENGINE.state


def core(rows: int = 1, nodes: int = 8, releases: int = 8, profile: int = 8):
    """An empty core of one module and one shared resource; every row is its own placement."""
    made = ENGINE.room.blank(
        ENGINE.room.Sizes(
            rows=rows,
            placements=rows,
            modules=1,
            pools=2,
            nodes=nodes,
            edges=0,
            columns=5,
            releases=releases,
            profile=profile,
            timeline=64,
        )
    )
    made.comp["first"] = range(rows)
    made.comp["last"] = range(1, rows + 1)
    made.clock[slot.COMPONENTS] = rows
    made.pool[0].free = made.pool[0].short_free = nodes
    made.pool[1].free = nodes
    return made
