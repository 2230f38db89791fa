"""A call of a function that is known by its address alone, as of a scheduler of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from scheduler_sim.engine.core.jit import COMPILED, Instruction

HANDLERS: dict[int, Callable[[Any], None]] = {}
"""In plain Python, what stands at an address."""


def _call_handler(address: int, core: Any) -> None:
    HANDLERS[int(address)](core)


call_at: Callable[[int, Any], None] = cast(Any, Instruction("call_at")) if COMPILED else _call_handler
"""Call what stands at an address with the core; what it raises is raised here."""
