"""A user's formula: parsed into arithmetic over known names, never run as code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import InputError, did_you_mean

LONGEST, DEEPEST, LARGEST = 1000, 50, 10**300
"""Characters of a formula, levels of nesting, and the largest number in it."""

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "exp": np.exp,
    "ceil": np.ceil,
    "floor": np.floor,
    "min": np.minimum,
    "max": np.maximum,
}
"""What a formula may call; min and max take two values, the others one."""


def check_formula(text: str, names: tuple[str, ...]) -> None:
    """Raise InputError unless the text is arithmetic over these names."""
    _check(_parsed(text), names, 0)


def value_of(text: str, names: Mapping[str, Floats | float]) -> Floats:
    """Evaluate a formula in float64 over arrays that broadcast; what is not defined gives NaN or inf."""
    tree = _parsed(text)
    _check(tree, tuple(names), 0)
    with np.errstate(all="ignore"):
        return np.asarray(_value(tree, names), dtype=np.float64)


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise InputError(f"formula: found {len(text)} characters; allowed: at most {LONGEST}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or "cannot be parsed"
        raise InputError(f"formula: found {text!r:.60}: {reason}") from None


def _check(node: ast.expr, names: tuple[str, ...], depth: int) -> None:
    if depth > DEEPEST:
        raise InputError(f"formula: nested more than {DEEPEST} levels deep")
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        parts = [node.operand]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        _check_call(node.func.id, len(node.args))
        parts = list(node.args)
    elif isinstance(node, ast.Name):
        if node.id not in names:
            hint = did_you_mean(node.id[:80], names)
            raise InputError(f"formula: unknown name {node.id[:40]!r}; allowed: {', '.join(names)}{hint}")
        parts = []
    elif isinstance(node, ast.Constant) and _is_number(node.value):
        parts = []
    else:
        found = f"{type(node).__name__.lower()} at character {node.col_offset + 1}"
        words = ", ".join((*names, "+ - * / **", *FUNCTIONS))
        raise InputError(f"formula: found {found}; allowed: numbers, {words}")
    for part in parts:
        _check(part, names, depth + 1)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _check_call(name: str, given: int) -> None:
    if name not in FUNCTIONS:
        hint = did_you_mean(name[:80], tuple(FUNCTIONS))
        raise InputError(f"formula: unknown function {name[:40]!r}; allowed: {', '.join(FUNCTIONS)}{hint}")
    if given != (wanted := 2 if name in ("min", "max") else 1):
        raise InputError(f"formula: {name} of {given} values; allowed: {wanted}")


def _value(node: ast.expr, names: Mapping[str, Floats | float]) -> Any:
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_value(node.operand, names))
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        return FUNCTIONS[node.func.id](*(_value(part, names) for part in node.args))
    if isinstance(node, ast.Name):
        return np.asarray(names[node.id], dtype=np.float64)
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int | float)
    return np.float64(float(node.value))
