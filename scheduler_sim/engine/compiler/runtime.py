"""Numba's runtime, which allocates: code that calls it finds it by name once this is done."""

from __future__ import annotations

from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys


def provide_runtime() -> None:
    """Tell LLVM where the functions of Numba's runtime are."""
    rtsys.initialize(cpu_target.target_context)
