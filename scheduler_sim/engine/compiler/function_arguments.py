"""Functions that Numba's own code is to call: it compiles them apart, where nothing of ours is known.

To link that ends the process: it is refused before, with the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import TypingError
from numba.core.untyped_passes import TranslateByteCode

CALLING = (map, filter)
BY_KEY = (sorted, min, max)


@register_pass(mutates_CFG=False, analysis_only=True)
class NoFunctionsGiven(FunctionPass):
    """Raise TypingError for ``key=``, ``map`` and ``filter``."""

    _name: Any = "no_functions_given"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Look through all calls of a function."""
        for call in _calls(state.func_ir):
            function = _called(state.func_ir, call.func)
            has_key = any(name == "key" for name, _ in call.kws)
            if function in CALLING or (has_key and (function in BY_KEY or function == "sort")):
                text = "key=, map and filter call a function of yours; allowed: to sort tuples, a loop"
                raise TypingError(f"{text}\nat {call.loc.filename} ({call.loc.line})")
        return False


def before_types(passes: list[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
    """Yield passes of a pipeline, with this one behind the first."""
    for step, text in passes:
        yield step, text
        if step is TranslateByteCode:
            yield NoFunctionsGiven, "no functions of a user's for code of Numba's"


def _calls(func_ir: Any) -> Iterator[Any]:
    for block in func_ir.blocks.values():
        yield from block.find_exprs(op="call")


def _called(func_ir: Any, variable: Any) -> Any:
    """What is called: a global function, or the name of a method; None if that is not known."""
    try:
        found = func_ir.get_definition(variable)
    except KeyError:  # it has several
        return None
    if isinstance(found, ir.Global | ir.FreeVar):
        return found.value if callable(found.value) else None
    return found.attr if isinstance(found, ir.Expr) and found.op == "getattr" else None
