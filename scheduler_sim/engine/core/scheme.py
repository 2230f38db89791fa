"""Schemes: which pass is made over the queue. The core calls the one that its part ``scheme`` names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from scheduler_sim.engine.core.state import Core

PASSES: dict[str, Callable[[Core], None]] = {}
"""The pass of each scheme, by its name."""

PLANLESS: set[str] = set()
"""The schemes whose passes look at no planned end: where no rule does either, none is kept."""


class Scheme:
    """The name of a scheme, as a part of the core: to the compiler it is a type.

    Attributes
    ----------
    name : of one in PASSES
    address : it stands nowhere
    """

    address = 0

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def _numba_type_(self) -> Any:
        from scheduler_sim.engine.compiler.reference import SchemeType

        return SchemeType(self.name)


class _Schedule:
    """Calls the pass of the scheme that a core has."""

    def __call__(self, core: Core) -> None:
        PASSES[core.scheme.name](core)

    @cached_property
    def _numba_type_(self) -> Any:
        from scheduler_sim.engine.compiler.reference import ScheduleType

        return ScheduleType(PASSES)


schedule: Callable[[Core], None] = _Schedule()
"""Make one pass over the queue."""


def pass_of(name: str, *, plans: bool = True) -> Callable[[Any], Any]:
    """Name a pass as that of a scheme; ``plans``: it looks at when what runs is planned to end."""

    def named(function: Any) -> Any:
        PASSES[name] = function
        if not plans:
            PLANLESS.add(name)
        return function

    return named
