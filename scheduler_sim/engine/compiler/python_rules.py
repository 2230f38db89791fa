"""What goes wrong in Python goes wrong in a user's compiled code, too; Numba goes on with other numbers.

Python's integers have no end, those of compiled code have 64 bits: what does not fit is an error. Each
function emits the test of one operation before or after it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError

INTEGER: Any = types.Integer
LEAST, MOST = -(2**63), 2**63 - 1

BEYOND = "the result is beyond 64 bits, which is all that a compiled int has"
NEGATIVE_SHIFT = "negative shift count"
NEGATIVE_POWER = "an int to a negative power is no int; compiled code needs a float, as in 2.0 ** n"
NO_REAL = "a negative number to such a power is no real number"
NO_INT, INFINITE_INT = "cannot convert float NaN to integer", "cannot convert float infinity to integer"
DOMAIN, RANGE = "math domain error", "math range error"
OTHER_LENGTH = "a boolean index has another length than what it is an index of"
OTHER_SHAPE = "operands could not be broadcast together with the array that is written to"

OVERFLOWING = {operator.add: "sadd", operator.sub: "ssub", operator.mul: "smul"}
"""Operators that LLVM has with a flag for what does not fit."""

FEW = 4
"""Powers up to this one are written out as products."""


class Emitter:
    """Tests at the place where a function is being lowered."""

    def __init__(self, lower: Any) -> None:
        self.context, self.builder, self._lower = lower.context, lower.builder, lower

    def raises(self, condition: Any, kind: type[Exception], text: str) -> None:
        """Raise an error if a condition holds."""
        with cgutils.if_unlikely(self.builder, condition):
            self._lower.return_exception(kind, (text,), loc=self._lower.loc)

    def number(self, value: int) -> Any:
        """A constant of 64 bits."""
        return ir.Constant(ir.IntType(64), value)

    def as_int(self, value: Any, kind: Any) -> Any:
        """A number as one of 64 bits."""
        return self.context.cast(self.builder, value, kind, types.int64)

    def as_float(self, value: Any, kind: Any) -> Any:
        """A number as a float."""
        return self.context.cast(self.builder, value, kind, types.float64)


def is_int(kind: Any) -> bool:
    """Whether numbers of a type are computed with as int64."""
    if isinstance(kind, INTEGER):
        return bool(kind.signed)
    return isinstance(kind, types.Boolean)


# -- operators on integers


def exact(emit: Emitter, op: Any, left: Any, right: Any) -> Any:
    """The sum, difference or product of two int64."""
    pair = emit.builder.call(_with_flag(emit.builder, OVERFLOWING[op]), [left, right])
    emit.raises(emit.builder.extract_value(pair, 1), OverflowError, BEYOND)
    return emit.builder.extract_value(pair, 0)


def _with_flag(builder: Any, name: str) -> Any:
    word = ir.IntType(64)
    kind = ir.FunctionType(ir.LiteralStructType([word, ir.IntType(1)]), [word, word])
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.with.overflow.i64")


def shifted_left(emit: Emitter, value: Any, count: Any) -> Any:
    """A number times two to the power of another."""
    builder = emit.builder
    emit.raises(builder.icmp_signed("<", count, emit.number(0)), ValueError, NEGATIVE_SHIFT)
    far = builder.icmp_signed(">", count, emit.number(62))
    is_some = builder.icmp_signed("!=", value, emit.number(0))
    emit.raises(builder.and_(far, is_some), OverflowError, BEYOND)
    near = builder.select(far, emit.number(0), count)
    shifted = builder.shl(value, near)
    emit.raises(builder.icmp_signed("!=", builder.ashr(shifted, near), value), OverflowError, BEYOND)
    return shifted


def shifted_right(emit: Emitter, value: Any, count: Any) -> Any:
    """A number divided by two to the power of another, rounded down."""
    builder = emit.builder
    emit.raises(builder.icmp_signed("<", count, emit.number(0)), ValueError, NEGATIVE_SHIFT)
    far = builder.icmp_signed(">", count, emit.number(63))
    return builder.ashr(value, builder.select(far, emit.number(63), count))


def power(emit: Emitter, base: Any, exponent: Any, known: Any) -> Any:
    """A number to the power of another; ``known`` is that, if it stands in the source."""
    if isinstance(known, int) and 0 < known <= FEW:
        product = base
        for _ in range(known - 1):
            product = exact(emit, operator.mul, product, base)
        return product
    kinds = types.int64(types.int64, types.int64)
    return emit.context.compile_internal(emit.builder, int_power, kinds, (base, exponent))


def int_power(base: int, exponent: int) -> int:
    """A number to the power of another, within 64 bits."""
    if exponent < 0:
        raise ValueError(NEGATIVE_POWER)
    if exponent == 0 or base == 1:
        return 1
    if -1 <= base <= 0:
        return base if exponent % 2 or base == 0 else 1
    product = 1
    for _ in range(exponent):
        if abs(product) > MOST // abs(base):
            raise OverflowError(BEYOND)
        product *= base
    return product


OF_INTEGERS: dict[Any, Callable[[Emitter, Any, Any], Any]] = {
    operator.lshift: shifted_left,
    operator.rshift: shifted_right,
}


def operate(emit: Emitter, op: Any, left: Any, right: Any, known: Any) -> Any:
    """The result of an operator on two int64; None for one that needs no test."""
    if op in OVERFLOWING:
        return exact(emit, op, left, right)
    if op is operator.pow:
        return power(emit, left, right, known)
    return OF_INTEGERS[op](emit, left, right) if op in OF_INTEGERS else None


def negate(emit: Emitter, value: Any) -> Any:
    """What is less than zero by as much as an int64 is more."""
    return exact(emit, operator.sub, emit.number(0), value)


# -- floats


def fits_an_int(emit: Emitter, value: Any, bits: int = 64) -> None:
    """A float that is about to become an integer has to be a number, and within 64 bits."""
    builder, most = emit.builder, float(2 ** (bits - 1))
    emit.raises(_is_nan(builder, value), ValueError, NO_INT)
    emit.raises(_is_infinite(builder, value), OverflowError, INFINITE_INT)
    over = builder.fcmp_ordered(">=", value, value.type(most))
    emit.raises(builder.or_(over, builder.fcmp_ordered("<", value, value.type(-most))), OverflowError, BEYOND)


def is_real(emit: Emitter, base: Any, exponent: Any, result: Any) -> None:
    """A power of floats: Python has no NaN and no infinity where there was none."""
    builder = emit.builder
    odd = builder.and_(_is_nan(builder, result), _are(builder, _is_number, (base, exponent)))
    emit.raises(odd, ValueError, NO_REAL)
    grown = builder.and_(_is_infinite(builder, result), _are(builder, _is_finite, (base, exponent)))
    zero = builder.fcmp_ordered("==", base, base.type(0.0))
    emit.raises(builder.and_(grown, zero), ZeroDivisionError, "zero to a negative power")
    emit.raises(grown, OverflowError, RANGE)


def in_domain(emit: Emitter, name: str, arguments: tuple[Any, ...], result: Any) -> None:
    """What a function of ``math`` gives: Python has no NaN and no infinity where there was none."""
    builder = emit.builder
    odd = builder.and_(_is_nan(builder, result), _are(builder, _is_number, arguments))
    emit.raises(odd, ValueError, DOMAIN)
    grown = builder.and_(_is_infinite(builder, result), _are(builder, _is_finite, arguments))
    kind, text = (ValueError, DOMAIN) if name.startswith(("log", "atanh")) else (OverflowError, RANGE)
    emit.raises(grown, kind, text)


def _is_nan(builder: Any, value: Any) -> Any:
    return builder.fcmp_unordered("uno", value, value)


def _is_number(builder: Any, value: Any) -> Any:
    return builder.fcmp_ordered("ord", value, value)


def _is_infinite(builder: Any, value: Any) -> Any:
    above = builder.fcmp_ordered("==", value, value.type(float("inf")))
    return builder.or_(above, builder.fcmp_ordered("==", value, value.type(float("-inf"))))


def _is_finite(builder: Any, value: Any) -> Any:
    return builder.and_(_is_number(builder, value), builder.not_(_is_infinite(builder, value)))


def _are(builder: Any, test: Callable[[Any, Any], Any], values: tuple[Any, ...]) -> Any:
    all_are = ir.Constant(ir.IntType(1), 1)
    for value in values:
        all_are = builder.and_(all_are, test(builder, value))
    return all_are


# -- what is stored


def fits_an_item(emit: Emitter, item: Any, value: Any, kind: Any) -> None:
    """A number that is about to become an item of an array of integers has to fit."""
    if not isinstance(item, INTEGER):
        return
    if isinstance(kind, types.Float):
        fits_an_int(emit, emit.as_float(value, kind), min(item.bitwidth, 64))
        return
    if not isinstance(kind, INTEGER) or not kind.signed or (item.signed and item.bitwidth == 64):
        return
    builder, word = emit.builder, emit.as_int(value, kind)
    least, most = max(item.minval, LEAST), min(item.maxval, MOST)
    below = builder.icmp_signed("<", word, emit.number(least))
    emit.raises(
        builder.or_(below, builder.icmp_signed(">", word, emit.number(most))),
        OverflowError,
        f"the number does not fit into an item of type {item}",
    )


def may_become(field: str, kind: Any, given: Any) -> None:
    """An attribute stays what it was when the object was created.

    Raises TypingError for what would change it.
    """
    lost = isinstance(given, types.Float | types.Complex) and not isinstance(kind, types.Float)
    cut = isinstance(given, types.Integer) and isinstance(kind, types.Boolean)
    if lost or cut:
        was = "a bool" if isinstance(kind, types.Boolean) else "an int"
        wanted = "0.0" if lost else "0"
        raise TypingError(
            f"self.{field} is {was} when the object is created, and would become {given}:"
            f" create it as {wanted}, or convert what is assigned"
        )


def broadcasts(emit: Emitter, source: list[Any], target: list[Any]) -> None:
    """An array of lengths ``source`` can be written into one of lengths ``target``, as NumPy repeats it."""
    if len(source) > len(target):
        emit.raises(cgutils.true_bit, ValueError, OTHER_SHAPE)
    for one, other in zip(reversed(source), reversed(target), strict=False):
        wrong, many = (emit.builder.icmp_signed("!=", one, than) for than in (other, emit.number(1)))
        emit.raises(emit.builder.and_(wrong, many), ValueError, OTHER_SHAPE)
