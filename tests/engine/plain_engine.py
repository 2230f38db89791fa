"""Parts of the engine as plain Python, beside the compiled one, to be called one by one."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace

import scheduler_sim
import scheduler_sim.engine.engine

PACKAGE = "scheduler_sim.engine"
SWITCH = "NUMBA_DISABLE_JIT"


def plain(*names: str) -> SimpleNamespace:
    """Import modules of the engine, by their paths in it, as attributes by their last names."""
    modules = plain_modules(*names)
    return SimpleNamespace(**{name.rpartition(".")[2]: modules[name] for name in names})


def plain_modules(*names: str) -> dict[str, ModuleType]:
    """Import modules of the engine, by their paths in it, once more with the compiler switched off.

    Returns them with all that they import of the engine.
    """
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(PACKAGE)}
    before = os.environ.get(SWITCH)
    os.environ[SWITCH] = "1"
    try:
        for name in names:
            import_module(f"{PACKAGE}.{name}")
        within = f"{PACKAGE}."
        return {name.removeprefix(within): it for name, it in sys.modules.items() if name.startswith(within)}
    finally:
        del os.environ[SWITCH]
        os.environ.update({} if before is None else {SWITCH: before})
        for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
            del sys.modules[name]
        sys.modules.update(kept)
        scheduler_sim.engine = kept[PACKAGE]


NAMES = ("state", "queue", "releases", "events", "record", "profile", "lifecycle", "loop")
ENGINE = plain("engine", *(f"core.{name}" for name in NAMES))
slot = ENGINE.state


def core(rows: int = 1, nodes: int = 8, releases: int = 8, profile: int = 8, **needs):
    """An empty core of one module and one shared resource, and of some rules; a row is its own placement."""
    made = ENGINE.engine.blank(
        ENGINE.engine.Sizes(
            rows=rows,
            placements=rows,
            modules=1,
            pools=2,
            nodes=nodes,
            columns=5,
            releases=releases,
            profile=profile,
            timeline=64,
        ),
        needs,
        "easy",
    )
    made.jobs["first"] = range(rows)
    made.jobs["last"] = range(1, rows + 1)
    made.clock.jobs = rows
    made.pools[0].free = made.pools[0].short_free = nodes
    made.pools[1].free = nodes
    return made
