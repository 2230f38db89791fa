"""State and values of a simulation in JSON and arrays, and back: no code is written, and none is run.

Everything but plain text, numbers and lists is a mapping with one key, which says what it is. Each thing that
is no plain one is numbered as it is met, and written once: what is one thing stays one. What the simulation
was made of is not written but named by its place there, and found again in one that was made of the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.config.keys import Keys
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.simulation.state import is_value

HOME = __name__.partition(".")[0]
PLAIN = (bool, int, float, str, type(None))
STREAM = "PCG64"
SMALL = 1000
"""So many rows, or parts of a key, are never too many."""

Places = dict[tuple[str, ...], Any]
"""What a simulation was made of: a thing by the place where it stands."""


def places(roots: Mapping[str, Any]) -> Places:
    """Return these things by name, and what stands in their fields: ``policy``, ``slurm``, ``qos``."""
    return {place: thing for name, root in roots.items() for place, thing in _places((name,), root)}


def _places(place: tuple[str, ...], thing: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    kind: Any = type(thing)
    if kind in PLAIN:
        return
    yield place, thing
    parts: Any
    if kind is dict:
        parts = thing
    elif kind is tuple:
        parts = dict(enumerate(thing))
    else:
        parts = parts_of(thing, kind) if is_value(kind) else {}
    for part, value in parts.items():
        yield from _places((*place, str(part)), value)


class Writer:
    """Writes things; the arrays among them are put to ``arrays``."""

    def __init__(self, known: Places, arrays: list[np.ndarray]) -> None:
        self.arrays = arrays
        self._places = {id(thing): place for place, thing in reversed(known.items())}
        self._kept: list[Any] = []  # so that no id is given to another thing meanwhile
        self._numbers: dict[int, int] = {}

    def array(self, array: np.ndarray) -> int:
        """Note an array; return its number."""
        self.arrays.append(array)
        return len(self.arrays) - 1

    def text(self, thing: Any) -> Any:
        """Return a thing as JSON has it. Raises ConfigError for what cannot be written."""
        if type(thing) in PLAIN:
            return thing
        if id(thing) in self._places:
            return {"at": list(self._places[id(thing)])}
        if isinstance(thing, np.number | np.bool_):
            return {"number": [thing.dtype.str, thing.item()]}
        if id(thing) in self._numbers:
            return {"same": self._numbers[id(thing)]}
        self._numbers[id(thing)] = len(self._numbers)
        self._kept.append(thing)
        return self._text(thing, type(thing))

    def _text(self, thing: Any, kind: Any) -> Any:
        if kind is list:
            return self._all(thing)
        if kind is bytes:
            return {"bytes": thing.hex()}
        if kind in (tuple, set, frozenset):
            return {kind.__name__: self._all(sorted(thing, key=repr) if kind in (set, frozenset) else thing)}
        if kind is dict:
            return {"dict": [self._all(thing), self._all(thing.values())]}
        if kind in (range, slice):
            return {kind.__name__: [thing.start, thing.stop, thing.step]}
        if kind is np.ndarray and thing.dtype != object:
            return {"array": self.array(thing)}
        if kind is np.random.Generator:
            state = thing.bit_generator.state
            if state["bit_generator"] == STREAM:
                return {"stream": state}
        if kind is pd.DataFrame:
            return {"table": [len(thing), {str(name): self._column(thing[name]) for name in thing}]}
        if parts := parts_of(thing, kind):
            return {"of": f"{kind.__module__}:{kind.__qualname__}", "parts": self._mapping(parts)}
        raise ConfigError(
            f"save: found {_described(thing)} in the simulation, which no file can hold;"
            " allowed: branch(), which copies it"
        )

    def _all(self, things: Any) -> list[Any]:
        return [self.text(thing) for thing in things]

    def _mapping(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.text(part) for name, part in parts.items()}

    def _column(self, column: pd.Series[Any]) -> Any:
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = column.cat.codes.to_numpy()
            return {"words": [self._number_column(codes), column.cat.categories.tolist()]}
        if column.dtype == object:
            return {"objects": self._all(column.tolist())}
        return self._number_column(column.to_numpy())

    def _number_column(self, array: np.ndarray) -> Any:
        """One number for all rows is written once."""
        shared = len(array) > 0 and array.strides == (0,)
        return {"numbers": [self.array(array[:1] if shared else array), len(array)]}


def parts_of(thing: Any, kind: Any) -> dict[str, Any]:
    """Return what a tuple with names, a frozen data class, keys or an object of a simulation consist of."""
    if kind.__module__.partition(".")[0] != HOME:
        return {}
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return dict(zip(kind._fields, thing, strict=True))
    if issubclass(kind, Keys):
        return {name: getattr(thing, name) for name in kind.model_fields}
    if is_value(kind) and is_dataclass(kind):
        return {one.name: getattr(thing, one.name) for one in fields(kind)}
    return dict(vars(thing)) if _is_state(kind) else {}


def are_alike(one: Any, other: Any) -> bool:
    """Whether two things consist of the same."""
    kind = type(one)
    if one is other or kind is not type(other):
        return one is other
    parts: Any
    its: Any
    parts, its = parts_of(one, kind), parts_of(other, kind)
    if kind in (list, tuple):
        parts, its = dict(enumerate(one)), dict(enumerate(other))
    elif kind is dict:
        parts, its = one, other
    if not parts:
        return np.array_equal(one, other) if kind is np.ndarray else bool(one == other)
    return parts.keys() == its.keys() and all(are_alike(part, its[name]) for name, part in parts.items())


def _is_state(kind: Any) -> bool:
    return kind.__module__.startswith(f"{__package__}.") and not is_value(kind)


def _described(thing: Any) -> str:
    name = getattr(thing, "__qualname__", "")
    return f"the function {name!r}" if name else f"a {type(thing).__module__}.{type(thing).__qualname__}"


class Reader:
    """Reads what a Writer wrote. Raises InputError, and what Python does of a broken text."""

    def __init__(self, known: Places, arrays: Sequence[np.ndarray]) -> None:
        self._places, self._arrays = known, arrays
        self._things: list[Any] = []
        self._most = max(SMALL, *(array.size for array in arrays))

    def thing(self, text: Any) -> Any:
        """Return the thing that a text means."""
        if isinstance(text, PLAIN):
            return text
        if isinstance(text, list):
            number = self._numbered([])
            self._things[number] += [self.thing(one) for one in text]
            return self._things[number]
        kind = next(iter(text))
        what = text[kind]
        if kind == "at":
            return self._places[tuple(what)]
        if kind == "number":
            return np.dtype(what[0]).type(what[1])
        if kind == "same":
            return self._things[what]
        number = self._numbered(None)
        if kind == "of":
            return self._object(number, what, text["parts"])
        self._things[number] = getattr(self, f"_{kind}")(what)
        return self._things[number]

    def _numbered(self, thing: Any) -> int:
        self._things.append(thing)
        return len(self._things) - 1

    def _object(self, number: int, name: str, parts: Mapping[str, Any]) -> Any:
        kind: Any = class_named(name)
        if issubclass(kind, tuple | Keys):
            make = kind if issubclass(kind, tuple) else kind.model_construct
            self._things[number] = make(**{part: self.thing(text) for part, text in parts.items()})
            return self._things[number]
        made = self._things[number] = object.__new__(kind)
        for part, text in parts.items():
            object.__setattr__(made, part, self.thing(text))
        return made

    def _tuple(self, what: Any) -> Any:
        return tuple(self.thing(one) for one in what)

    def _bytes(self, what: Any) -> Any:
        return bytes.fromhex(what)

    def _set(self, what: Any) -> Any:
        return {_small(self.thing(one)) for one in what}

    def _frozenset(self, what: Any) -> Any:
        return frozenset(self._set(what))

    def _dict(self, what: Any) -> Any:
        keys, values = ([self.thing(one) for one in side] for side in what)
        return dict(zip(map(_small, keys), values, strict=True))

    def _range(self, what: Any) -> Any:
        return range(*what)

    def _slice(self, what: Any) -> Any:
        return slice(*what)

    def _array(self, what: Any) -> Any:
        return self._arrays[what]

    def _stream(self, what: Any) -> Any:
        source = np.random.PCG64()
        source.state = what
        return np.random.Generator(source)

    def _table(self, what: Any) -> Any:
        rows, columns = what
        self._require_there(rows)
        made = {name: self._column(next(iter(one.items()))) for name, one in columns.items()}
        return pd.DataFrame(made, index=pd.RangeIndex(rows), copy=False)

    def _column(self, what: tuple[str, Any]) -> Any:
        kind, of = what
        if kind == "objects":
            return pd.Series([self.thing(one) for one in of], dtype=object)
        if kind == "words":
            codes = self._column(next(iter(of[0].items())))
            return pd.Categorical.from_codes(codes, categories=pd.Index(of[1], dtype=object))
        array = self._arrays[of[0]]
        self._require_there(of[1])
        return np.broadcast_to(array[0], (of[1],)) if len(array) < of[1] else array

    def _require_there(self, rows: int) -> None:
        """One number may stand for all rows, but not in every column."""
        if rows > self._most:
            raise ValueError(f"found a table of {rows} rows, and no array with as many values")


def _small(key: Any) -> Any:
    """Return a key of a mapping or a set; one of parts of parts of the same takes for ever to hash."""
    parts = [key]
    for _ in range(SMALL):
        if not parts:
            return key
        part = parts.pop()
        if isinstance(part, tuple | frozenset):
            parts += part
        elif type(part) not in PLAIN:
            parts += parts_of(part, type(part)).values()
    raise ValueError(f"found a key of more than {SMALL} parts")


def class_named(name: str) -> Any:
    """Return a class of this package that may stand in a simulation. Raises InputError for any other."""
    module, _, inner = name.partition(":")
    found: Any = sys.modules.get(module) if module.startswith(f"{HOME}.") else None
    for part in inner.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type) and found.__module__ == module and _may_stand(found):
        return found
    raise InputError(f"found {name!r:.80}, which is not part of a simulation")


def _may_stand(kind: Any) -> bool:
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return named or issubclass(kind, Keys) or (is_value(kind) and is_dataclass(kind)) or _is_state(kind)
