"""Single instructions of the processor, on words of 64 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
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


INSTRUCTIONS = {"ones": _of_word(_ones), "lowest": _of_word(_lowest), "highest": _of_word(_highest)}
