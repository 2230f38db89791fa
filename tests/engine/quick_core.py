"""A core as plain Python reads it fastest: views of its records and arrays, in the same memory.

A field of a NumPy record takes ten times as long to read as one of a ctypes structure, and is a number of
NumPy's, with which to count takes three times as long.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

KINDS = {
    "i8": ctypes.c_int64,
    "i4": ctypes.c_int32,
    "i1": ctypes.c_int8,
    "u8": ctypes.c_uint64,
    "f8": ctypes.c_double,
}

OF_USERS = {"orders", "second_order", "own_scheduler", "vetoes", "placement_ranks"}
"""Parts whose arrays functions of the user get: they stay what they are."""

FILLED_AT_ONCE = {"away", "idle_held", "blocks", "clear"}
"""Arrays of one dimension in which rules put one value everywhere.

A view of memory cannot do that: a rule that does it with another array, whose name is not here, meets the
TypeError "a bytes-like object is required".
"""


_known: dict[int, tuple[Any, Any]] = {}
"""The arrays of the last core, by their ids, each with its view: the next may have most of them, too."""


def quick(core: Any) -> Any:
    """Return the views of a core; they are made once, and last as long as it does."""
    if "quick" not in core.__dict__:
        before = dict(_known)
        _known.clear()
        parts = zip(core._fields, core, strict=True)
        made = type(core)._make(part if name in OF_USERS else _view(part, before) for name, part in parts)
        made.__dict__["absent"] = core.absent
        core.__dict__["quick"] = made
    return core.__dict__["quick"]


def _view(part: Any, before: dict[int, tuple[Any, Any]]) -> Any:
    if isinstance(part, tuple) and hasattr(part, "_fields"):
        parts = zip(part._fields, part, strict=True)
        return type(part)._make(one if name in FILLED_AT_ONCE else _view(one, before) for name, one in parts)
    if isinstance(part, tuple):
        return tuple(_view(one, before) for one in part)
    if not isinstance(part, np.ndarray | np.void):
        return part
    _known[id(part)] = before.get(id(part)) or (part, _view_of(part))
    return _known[id(part)][1]


def _view_of(array: Any) -> Any:
    """Return the view of an array or of a single record."""
    if isinstance(array, np.void):
        return _record(array)
    if array.dtype.names is not None:
        return Table(array)
    if array.dtype == np.uint64:  # sets: see ``_word``
        return array
    return memoryview(array) if array.ndim == 1 else Array(array)


def _record(record: np.void) -> Any:
    """Return a record as a structure in its memory, which stays as long as that does."""
    made = _structure(type(record), record.dtype).from_address(np.frombuffer(record, np.uint8).ctypes.data)
    made.__dict__["its memory"] = record  # no name of a field
    return made


@cache
def _structure(kind: type, dtype: np.dtype[Any]) -> Any:
    """Return a structure that lies in memory as the records of a class do."""
    names = dtype.names or ()

    class Structure(ctypes.Structure):
        _pack_ = 1
        _fields_ = [(name, KINDS[dtype[name].str[1:]]) for name in names]

        def copy(self) -> Any:
            return type(self).from_buffer_copy(self)

    for name in names:
        if dtype[name] == np.uint64:
            setattr(Structure, name, _word(getattr(Structure, name)))
    assert ctypes.sizeof(Structure) == dtype.itemsize
    Structure.__name__ = kind.__name__
    return Structure


def _word(field: Any) -> property:
    """A set of nodes: NumPy's number, as the complement of one of Python's is negative."""

    def put(record: Any, value: Any) -> None:
        field.__set__(record, int(value))

    return property(lambda record: np.uint64(field.__get__(record)), put)


class Table(dict[Any, Any]):
    """A table of records, each of which is made when it is first asked for, by its place."""

    def __init__(self, table: Any) -> None:
        self.table, self.shape, self.dtype = table, table.shape, table.dtype
        self._structure = _structure(table.dtype.type, table.dtype)
        self._begin = table.ctypes.data

    def __missing__(self, at: Any) -> Any:
        if self.table.ndim == 1 and 0 <= at < len(self.table):
            view = self._structure.from_address(self._begin + int(at) * self.table.strides[0])
        else:
            view = _view_of(self.table[at])
        dict.__setitem__(self, at, view)
        return view

    def __setitem__(self, at: Any, record: Any) -> None:
        self.table[at] = np.frombuffer(record, self.dtype)[0]

    def __len__(self) -> int:
        return len(self.table)


class Array:
    """An array of several dimensions: its numbers, and its rows as views."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self._numbers = array, array.shape, memoryview(array)
        self._rows: dict[Any, Any] = {}

    def __getitem__(self, at: Any) -> Any:
        if type(at) is tuple and len(at) == len(self.shape):
            return self._numbers[at]
        if at not in self._rows:
            self._rows[at] = _view_of(self.array[at])
        return self._rows[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        self._numbers[at] = value

    def __len__(self) -> int:
        return len(self.array)
