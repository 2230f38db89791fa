"""Single instructions of the processor, on words of 64 bits; and a call of what stands at an address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic


def _of_word(generate: Callable[[Any, Any, Any], Any]) -> Any:
    """A function of a word that is an int64; ``generate`` has the context, the builder and the word."""

    def typed(typing_context: Any, word: Any) -> Any:
        def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return generate(context, builder, arguments[0])

        return types.int64(types.uint64), generated

    return intrinsic(typed)


def _ones(context: Any, builder: Any, word: Any) -> Any:
    return builder.ctpop(word)


def _lowest(context: Any, builder: Any, word: Any) -> Any:
    return builder.cttz(word, context.get_constant(types.boolean, False))


def _highest(context: Any, builder: Any, word: Any) -> Any:
    zeros = builder.ctlz(word, context.get_constant(types.boolean, False))
    return builder.sub(context.get_constant(types.int64, 63), zeros)


def _call_at(typing_context: Any, address: Any, core: Any) -> Any:
    """Call what was compiled for such a core; an exception there goes on to the caller."""

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = context.call_conv.get_function_type(types.none, (core,)).as_pointer()
        function = builder.inttoptr(arguments[0], pointer)
        called(context, builder, function, (core,), arguments[1:])
        return context.get_dummy_value()

    return types.none(types.int64, core), generated


def called(context: Any, builder: Any, function: Any, kinds: tuple[Any, ...], arguments: Any) -> Any:
    """Call a function that returns nothing; an exception there goes on to the caller. Returns what it did."""
    convention = context.call_conv
    status, returned = convention.call_function(builder, function, types.none, kinds, arguments)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return returned


INSTRUCTIONS = {
    "ones": _of_word(_ones),
    "lowest": _of_word(_lowest),
    "highest": _of_word(_highest),
    "call_at": intrinsic(_call_at),
}
