"""Whether somebody else has taught the compiler: then it may make other code of the same source."""

from __future__ import annotations

from typing import Any

from numba.core import imputils
from numba.core.typing import templates

KNOWN = {
    *("numba", "numpy", "scheduler_sim", "builtins", "math", "cmath", "random", "abc", "functools", "heapq"),
    *("operator", "_operator", "_heapq", "_functools"),
}
"""Packages in which what the compiler is taught stands, or of what: Numba's and ours."""


def others_teach() -> bool:
    """Whether there is an overload, an intrinsic, a typing or a lowering of somebody else's."""
    typing, lowering = templates.builtin_registry, imputils.builtin_registry
    kinds = (typing.functions, typing.attributes)
    if any(_of_others(kind) or any(map(_of_others, _written(kind))) for kinds in kinds for kind in kinds):
        return True
    if any(_of_others(value) for value, _ in typing.globals):
        return True
    lowered = (lowering.functions, lowering.getattrs, lowering.setattrs, lowering.casts, lowering.constants)
    return any(_of_others(entry[0]) for entries in lowered for entry in entries)


def _written(template: Any) -> list[Any]:
    """The functions that an overload and an intrinsic were written as."""
    return [getattr(template, name, None) for name in ("_overload_func", "_definition_func")]


def _of_others(taught: Any) -> bool:
    module = getattr(taught, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] not in KNOWN
