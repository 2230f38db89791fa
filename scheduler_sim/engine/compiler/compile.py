"""Machine code for an entry point: the function that Python calls by its address, and all parts it calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
from numba.core import types
from numba.core.registry import cpu_target

from scheduler_sim.engine.compiler.indexing import counted_from_zero
from scheduler_sim.engine.compiler.instructions import INSTRUCTIONS
from scheduler_sim.engine.compiler.linking import EntryCompiler, PartCompiler, types_remembered
from scheduler_sim.engine.compiler.reference import Reference, bytes_of, on_stack

njit: Any = numba.njit

NUMBERS = {"int": types.int64, "float": types.float64, "bool": types.boolean}

# Reference counting is off (an option Numba has but does not document): the core
# allocates nothing, and counting every array at every call made it thirty times slower.
# What Python would call is left out: to unpack its arguments takes much code.
_OPTIONS: Any = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

AS_PARTS: dict[str, Any] = {
    "pipeline_class": PartCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""How Numba is to compile what it is taught, where that calls parts; it may allocate."""


def dispatcher(function: Any, *, inlined: bool) -> Any:
    """Return what Numba has of a function that is compiled into those that call it.

    That it is inlined or not is always said: else Numba inlines what an inlined function calls, too.
    """
    made = njit(pipeline_class=PartCompiler, forceinline=inlined, **_OPTIONS)(function)
    made.get_call_template = whatever_the_number(made.get_call_template)
    return made


def whatever_the_number(template: Callable[..., Any]) -> Callable[..., Any]:
    """Numba would compile a function anew for each number that stands in a call of it: a tenth of all."""

    def get_call_template(args: Sequence[Any], kws: dict[str, Any]) -> Any:
        return template(
            [types.unliteral(one) for one in args], {name: types.unliteral(one) for name, one in kws.items()}
        )

    return get_call_template


def instruction_type(name: str) -> Any:
    """Return the type of a function that is one instruction."""
    return cpu_target.typing_context.resolve_value_type(INSTRUCTIONS[name])


def entry_code(part: Any, core: Any, takes: Sequence[str]) -> tuple[str, bytes, bool]:
    """Return a function that is called with the address of a core's words, and numbers: see ``compiled``."""

    def entry(address: Any, *numbers: Any) -> Any:
        return part(on_stack(address), *numbers)

    numbers = types.StarArgTuple.from_types([NUMBERS[name] for name in takes])
    return compiled(entry, (reference_to(core), numbers))


def reference_to(core: Any) -> Reference:
    """Return the type of the address of a core's words.

    Raises ValueError if the words are not what Numba would make of such a core.
    """
    kind = counted_from_zero(numba.typeof(core))
    if bytes_of(kind) != core.words.size:
        raise ValueError("Numba has such a core otherwise in memory")
    return Reference(kind)


def compiled(function: Any, kinds: tuple[Any, ...], *, allocates: bool = False) -> tuple[str, bytes, bool]:
    """Return a function for arguments of some types: symbol, object file, if that is for here alone."""
    options = _OPTIONS | {"_nrt": allocates}
    whole = njit(pipeline_class=EntryCompiler, **options)(function)
    with types_remembered():
        whole.compile(kinds)
    made = whole.overloads[kinds]
    return made.fndesc.llvm_func_name, made.library.machine_code, made.library.only_here
