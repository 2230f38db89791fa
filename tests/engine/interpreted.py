"""Simulations in plain Python, in a process that has the compiled engine: for small cases.

Each scheme with each set of parts is compiled by itself, which takes seconds; a case of twenty jobs takes
hundredths of a second in plain Python. What stands in is the same sources, loaded with the compiler off.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import pytest

from scheduler_sim.engine.core.jit import COMPILED, Entry
from scheduler_sim.simulation import scheme
from tests.engine.plain_engine import PACKAGE, plain_modules
from tests.engine.quick_core import quick

MOST_JOBS = 350
"""More in one simulation take so long that compiled code is quicker."""


@contextmanager
def interpreted() -> Iterator[None]:
    """What is simulated meanwhile, by this thread of this process, runs in plain Python.

    Raises AssertionError where that is no small case, or where another thread or a fork simulates: that could
    go on when compiled code is back.
    """
    if not COMPILED:  # it does so anyway
        yield
        return
    owner = _here()

    def call(entry: Entry, core: Any, *arguments: Any) -> Any:
        assert _here() == owner, "what is interpreted is simulated by one thread"
        assert core.clock.jobs <= MOST_JOBS, f"{core.clock.jobs} jobs are for compiled code"
        _answer_for(core)
        return _plain_function(entry.__wrapped__)(quick(core), *arguments)

    orders = _plain_modules()["core.orders"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Entry, "__call__", call)
        patch.setattr(Entry, "bound", lambda self, core: partial(self, core))
        patch.setattr(Entry, "is_compiled", lambda self, *arguments: True)
        patch.setattr(scheme, "_built_in", orders.built_in)
        patch.setattr(scheme.orders, "compiled", orders.compiled)
        yield


def _here() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()


@cache
def _plain_function(function: Any) -> Any:
    module = _plain_modules()[function.__module__.removeprefix(f"{PACKAGE}.")]
    return getattr(module, function.__name__)


_in_place: list[Any] = []
"""The answers that the names of moments stand for."""


def _answer_for(core: Any) -> None:
    """Have each moment's name stand for what the rules of a core do at it: to look that up takes a fifth."""
    answers = _answers(core._fields, core.absent)
    if not any(one is answers for one in _in_place):
        _in_place[:] = [answers]
        for names, name, answer in answers:
            names[name] = answer


@cache
def _answers(parts: tuple[str, ...], absent: frozenset[str]) -> list[tuple[dict[str, Any], str, Any]]:
    """Return what each name of a moment stands for in a core with such parts, some of which are absent."""
    return [(names, name, moment.chosen(parts, absent)) for names, name, moment in _moments()]


@cache
def _moments() -> list[tuple[dict[str, Any], str, Any]]:
    """Where a name of a plain module is that of a moment."""
    modules = _plain_modules()
    kind = modules["core.hooks"].Moment
    spaces = [vars(module) for module in modules.values()]
    return [(names, name, one) for names in spaces for name, one in names.items() if isinstance(one, kind)]


@cache
def _plain_modules() -> dict[str, Any]:
    """The modules that have entries, and the orders: once, for what rules hang on is theirs alone."""
    homes = (
        "core.loop",
        "core.operations",
        "rules.holds",
        "rules.holes",
        "rules.own_scheduler.asking",
        "rules.shared_nodes.service",
        "schemes.own_scheduler",
        "rules.slurm.operations",
        "rules.slurm.outages",
        "rules.slurm.reservations.looks",
    )
    return plain_modules("engine", "core.orders", *homes)
