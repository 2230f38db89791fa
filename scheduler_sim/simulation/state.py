"""What a simulation keeps in Python, told apart into values and state; and its copies.

Values never change once they are made, and all who know them share them: numbers, text, tuples, frozen data
classes, functions. State only one simulation has: lists, dictionaries, sets, arrays, random streams, and the
objects of this package that hold such. What is neither is an error: nobody adds what a copy would share, or
lose.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType
from typing import Any, cast

import numpy as np

from scheduler_sim.config.keys import Keys
from scheduler_sim.errors import ConfigError

VALUES = (
    *(bool, int, float, str, bytes, type(None), range, tuple, frozenset, Enum, PurePath),
    *(slice, Keys, np.number, np.bool_, np.dtype, FunctionType, BuiltinFunctionType, type, partial),
)
"""Kinds of values, beside frozen data classes."""

HOME = __name__.partition(".")[0]

Known = dict[int, Any]
"""What there is of each thing in the copy, by its id."""


@cache
def is_value(kind: type) -> bool:
    """Whether things of a kind never change."""
    frozen = is_dataclass(kind) and cast(Any, kind).__dataclass_params__.frozen
    return bool(frozen) or issubclass(kind, VALUES)


def copied(thing: Any, known: Known) -> Any:
    """Return a copy that shares values alone, and what is ``known``; what was one thing stays one.

    Raises ConfigError for what is neither a value nor known to be state.
    """
    kind: Any = type(thing)
    if is_value(kind) and id(thing) not in known:
        return thing
    if id(thing) not in known:
        known[id(thing)] = _copy(thing, kind, known)
    return known[id(thing)]


def _copy(thing: Any, kind: Any, known: Known) -> Any:
    if kind is list:
        return thing.copy() if _all_values(thing) else [copied(one, known) for one in thing]
    if kind is dict:
        if _all_values(thing.values()):
            return thing.copy()
        return {key: copied(value, known) for key, value in thing.items()}
    if kind is set:
        return thing.copy()  # what has a hash is a value
    if kind is np.ndarray and thing.dtype != object:
        return thing.copy()
    if kind is np.random.Generator:
        return deepcopy(thing)
    if kind.__module__.startswith(f"{HOME}.") and hasattr(kind, "copied"):
        return thing.copied()  # it knows better
    if kind.__module__.startswith(__package__ or "") and hasattr(thing, "__dict__"):
        made: Any = object.__new__(kind)
        known[id(thing)] = made
        made.__dict__ |= {name: copied(part, known) for name, part in thing.__dict__.items()}
        return made
    found = f"{kind.__module__}.{kind.__qualname__}"
    raise ConfigError(
        f"branch: found a {found} in the simulation, which cannot be copied; allowed: numbers,"
        " texts, lists, dictionaries, sets and arrays"
    )


def _all_values(things: Any) -> bool:
    return all(map(is_value, set(map(type, things))))
