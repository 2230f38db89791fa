"""Tables and records of the core: declared as classes with typed fields, kept in arrays.

A record is declared once, as a class whose annotations are its fields; ``one`` and ``table`` make
arrays of them, which the compiler reads as structures and the type checker as instances of the class.
"""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Generic, Self, TypeVar, cast, get_type_hints, overload

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

Short = Annotated[int, np.int32]
"""A field of 4 bytes: a number of nodes or jobs."""

Tiny = Annotated[int, np.int8]
"""A field of 1 byte: a state, or whether something is so."""

CACHE_LINE = 64
"""Bytes."""

R = TypeVar("R")

_CODES: dict[Any, str] = {int: "i8", float: "f8", np.uint64: "u8", Short: "i4", Tiny: "i1"}


class Record:
    """What all records can do besides: for the type checker alone."""

    if TYPE_CHECKING:

        def copy(self) -> Self:
            """Return a record of its own with the same values."""
            raise NotImplementedError


class Table(Generic[R]):
    """An array of records, of one dimension or more: for the type checker alone."""

    if TYPE_CHECKING:
        shape: tuple[int, ...]
        dtype: np.dtype[Any]

        def copy(self) -> Table[R]:
            """Return a table of its own with the same records."""
            raise NotImplementedError

        @overload
        def __getitem__(self, at: int | tuple[int, ...]) -> R: ...
        @overload
        def __getitem__(self, at: str) -> NDArray[Any]: ...
        @overload
        def __getitem__(self, at: slice | NDArray[Any]) -> Table[R]: ...
        def __getitem__(self, at: Any) -> Any: ...
        def __setitem__(self, at: Any, value: Any) -> None: ...
        def __len__(self) -> int: ...


class Rows(Generic[R]):
    """A table of several dimensions, a row of which is a table: for the type checker alone."""

    if TYPE_CHECKING:
        shape: tuple[int, ...]
        dtype: np.dtype[Any]

        @overload
        def __getitem__(self, at: int) -> Table[R]: ...
        @overload
        def __getitem__(self, at: tuple[int, ...]) -> R: ...
        @overload
        def __getitem__(self, at: str) -> NDArray[Any]: ...
        def __getitem__(self, at: Any) -> Any: ...
        def __setitem__(self, at: Any, value: Any) -> None: ...
        def __len__(self) -> int: ...


class Layers(Rows[R]):
    """A table of three dimensions, two numbers into which are a table: for the type checker alone."""

    if TYPE_CHECKING:

        def __getitem__(self, at: Any) -> Any: ...


def dtype_of(record: Any) -> np.dtype[Any]:
    """Return how the records of a class lie in memory: fields of 8, 4 or 1 bytes, in its order."""
    return np.dtype((_class_of(record), _fields_of(record)))


@cache
def _fields_of(record: Any) -> list[tuple[str, str]]:
    return [(name, _CODES[kind]) for name, kind in get_type_hints(record, include_extras=True).items()]


@cache
def _class_of(record: Any) -> type:
    """Return the class of its records in plain Python; those of ``recarray`` take five times as long."""
    names = {name: property(itemgetter(name), _setter(name)) for name, _ in _fields_of(record)}
    return type(record.__name__, (np.void,), names)


def _setter(name: str) -> Any:
    def put(record: Any, value: Any) -> None:
        record[name] = value

    return put


def one(record: type[R]) -> R:
    """Return a single record, all of it 0."""
    return cast(R, np.zeros(1, dtype=dtype_of(record))[0])


def table(record: type[R], rows: int) -> Table[R]:
    """Return a table of records, all of them 0."""
    return cast("Table[R]", np.zeros(rows, dtype=dtype_of(record)))


def rows(record: type[R], *shape: int) -> Rows[R]:
    """Return a table of several dimensions, all of it 0."""
    return cast("Rows[R]", np.zeros(shape, dtype=dtype_of(record)))


def room(record: type[R], *shape: int) -> Any:
    """Return a table that has nothing in it yet, not even zeros: its pages are taken as they are used.

    How far each is used tells ``engine.used``: behind that nobody looks.
    """
    return np.empty(shape, dtype=dtype_of(record))


def lengthened(table: Any, length: int) -> Any:
    """Return a table with at least so many records, and room for as many again if it had to grow."""
    if length <= len(table):
        return table
    more = np.zeros((2 * length - len(table), *table.shape[1:]), dtype=table.dtype)
    return np.concatenate((table, more))


def copied(part: Any, known: dict[int, Any]) -> Any:
    """Return a named tuple of arrays, records and such tuples with arrays and records of its own.

    ``known`` are the copies there are, by the ids of the arrays that they are of. Pieces of one array are
    pieces of one again.
    """
    if isinstance(part, tuple):
        made = [copied(one, known) for one in part]
        return cast(Any, type(part))._make(made) if hasattr(part, "_make") else tuple(made)
    if not isinstance(part, np.ndarray):
        return part.copy() if isinstance(part, np.void) else part
    whole = whole_of(part)
    if id(whole) not in known:
        known[id(whole)] = whole.copy() if part is whole else in_line(bytes_of(whole), address_of(whole))
    copy = known[id(whole)]
    if part is whole and copy.dtype == whole.dtype:
        return copy
    return piece_of(copy, address_of(part) - address_of(whole), part)


def whole_of(array: Any) -> Any:
    """Return the array that an array is a piece of; itself if it is none."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def address_of(array: Any) -> int:
    """Return where an array begins in memory."""
    return int(array.__array_interface__["data"][0])


def bytes_of(array: Any) -> Any:
    """uint8[..]: what an array is in memory, not a copy of it."""
    return array.reshape(-1).view(np.uint8)


def piece_of(memory: Any, begin: int, like: Any, shape: Any = None) -> Any:
    """Return the piece of some bytes that begins there, of the kind of an array. Raises what NumPy does."""
    return np.ndarray(like.shape if shape is None else shape, like.dtype, memory, begin)


def in_line(content: Any, address: int = 0) -> Any:
    """Return a copy of bytes that stands to the lines of the cache as what is at an address does."""
    memory = np.empty(len(content) + CACHE_LINE, dtype=np.uint8)
    first = (address - address_of(memory)) % CACHE_LINE
    memory[first : first + len(content)] = content
    return memory[first : first + len(content)]


def room_copied(table: Any, used: int) -> Any:
    """Return a table as large, of which so much is filled along its last dimension; the rest stays room."""
    made = np.empty_like(table)
    made[..., :used] = table[..., :used]
    return made
