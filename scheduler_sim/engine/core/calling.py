"""A call of a function that is known by its address alone, as of a scheduler of the user's own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, cast

from scheduler_sim.engine.core.jit import COMPILED, Instruction

PROTOTYPE = ctypes.PYFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)
"""Such a function: gets room for what it returns, room for what it raises, and the core; returns a status."""


def _call_from_python(address: int, core: Any) -> None:
    failure = ctypes.c_void_p()
    if PROTOTYPE(int(address))(None, ctypes.addressof(failure), None):
        raise SystemError("a function that was called by its address failed, and does not say how")


call_at: Callable[[int, Any], None] = cast(Any, Instruction("call_at")) if COMPILED else _call_from_python
"""Call what stands at an address with the core; what fails there fails here."""
