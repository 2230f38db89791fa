"""Records of a text trace as columns, a block of lines at a time, through Arrow's CSV reader.

Arrow takes for a number more than a trace may say: hexadecimals, exponents, nan, blanks around it. So
what it makes of a block counts only if every byte beside digits, minus and separators stands in a text
(points aside where there are decimals: Arrow takes none elsewhere). What does not pass is read by the
plain rules of the format, line by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from scheduler_sim.arrow_arrays import numbers_of
from scheduler_sim.workload.columns import is_shared, once
from scheduler_sim.workload.numbers import decimal, integer

_TYPES = {"int64": pa.int64(), "float64": pa.float64(), "text": pa.dictionary(pa.int32(), pa.binary())}
_OF_NUMBERS = b"0123456789-\n"
_SAMPLES = 16
_NARROWER = (np.int8, np.int16, np.int32)


@dataclass(frozen=True)
class Texts:
    """A column of text: the different ones in the order in which they appear, and int[n], which a row has."""

    codes: np.ndarray
    words: list[bytes]

    @classmethod
    def of(cls, words: Sequence[bytes]) -> Texts:
        """Return the column of the texts of some rows."""
        known: dict[bytes, int] = {}
        codes = [known.setdefault(word, len(known)) for word in words]
        return cls(np.array(codes, dtype=np.int32), list(known))

    def take(self, rows: np.ndarray) -> Texts:
        """Return the column of some rows."""
        return Texts(self.codes[rows], self.words)


Block = list[Any]
"""Columns of some records: of numbers as arrays, of text as :class:`Texts`."""


def parse_block(data: bytes, separator: str, kinds: Sequence[str]) -> Block | None:
    """Return the columns of a block of records, None if anything in it is not as it must be.

    Parameters
    ----------
    data : whole lines, each a record with one ``separator`` between its fields
    kinds : of each field: ``int64``, ``float64`` or ``text``
    """
    between = separator.encode()
    plain = _OF_NUMBERS + between + (b"." if "float64" in kinds else b"")
    others = len(data.translate(None, plain))
    if others and "text" not in kinds:
        return None
    alike = _common_end(data, between)
    names = [str(place) for place in range(len(kinds))]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            arrow_csv.ParseOptions(delimiter=separator, quote_char=False, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(
                column_types={name: _TYPES[kind] for name, kind in zip(names, kinds, strict=True)},
                include_columns=names[: len(kinds) - len(alike)],
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    columns = [_column(values.chunk(0)) for values in table.columns]
    for word, kind in zip(alike, kinds[len(columns) :], strict=True):
        columns.append(_constant(word, kind, len(table)))
        if columns[-1] is None:
            return None
    if others != sum(_others(column, plain) for column in columns if isinstance(column, Texts)):
        return None
    finite = (np.isfinite(c).all() for c, kind in zip(columns, kinds, strict=True) if kind == "float64")
    return columns if all(finite) else None


def _common_end(data: bytes, separator: bytes) -> list[bytes]:
    """Return the words with which all lines end, but for the first word: half of many a trace."""
    text = np.frombuffer(data, dtype=np.uint8)
    line_ends = np.flatnonzero(text == ord("\n"))
    end = data[: data.find(b"\n")].split(separator)[1:]
    for row in range(1, len(line_ends), 1 + len(line_ends) // _SAMPLES):
        end = _shared(end, data[line_ends[row - 1] + 1 : line_ends[row]].split(separator)[1:])
    while end:
        tail = np.frombuffer(b"".join(separator + word for word in end) + b"\n", dtype=np.uint8)
        starts = np.maximum(line_ends + 1 - len(tail), 0)
        ends = np.lib.stride_tricks.sliding_window_view(text, len(tail))[starts]
        if (ends == tail).all():
            break
        row = int(np.argmax((ends != tail).any(axis=1)))
        end = _shared(end, data[line_ends[row - 1] + 1 : line_ends[row]].split(separator)[1:])
    return end


def _shared(end: list[bytes], words: list[bytes]) -> list[bytes]:
    """Return the words at the end of both."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(reversed(end), reversed(words), strict=False))
    return end[len(end) - len(list(same)) :]


def _column(values: pa.Array) -> Any:
    if isinstance(values, pa.DictionaryArray):
        return Texts(numbers_of(values.indices), values.dictionary.to_pylist())
    return numbers_of(values)


def _constant(word: bytes, kind: str, rows: int) -> Any:
    """Return the column of a word that all rows have, None if it is not of its kind."""
    if kind == "text":
        return Texts(np.broadcast_to(np.int32(0), rows), [word])
    number = integer(word) if kind == "int64" else decimal(word)
    return None if number is None else np.broadcast_to(np.dtype(kind).type(number), rows)


def _others(text: Texts, plain: bytes) -> int:
    """Return how many bytes of a column of text are not among ``plain``."""
    others = [len(word.translate(None, plain)) for word in text.words]
    return int(np.bincount(text.codes, minlength=len(others)) @ others) if any(others) else 0


class Growing:
    """A table that grows by blocks of records.

    Numbers are kept in the smallest type that holds those of a block, and once where all are equal;
    every different text is kept once.
    """

    def __init__(self, kinds: Sequence[str]) -> None:
        self._columns = [_TextColumn() if kind == "text" else _NumberColumn(kind) for kind in kinds]

    def add(self, block: Block) -> None:
        """Append the columns of a block of at least one record."""
        for column, values in zip(self._columns, block, strict=True):
            column.add(values)

    def whole(self) -> Block:
        """Return the whole columns, shared where all values are equal; nothing is left here."""
        return [column.whole() for column in self._columns]


@dataclass
class _NumberColumn:
    kind: str
    parts: list[np.ndarray] = field(default_factory=list)

    def add(self, values: Any) -> None:
        self.parts.append(_narrowed(values))

    def whole(self) -> np.ndarray:
        parts, self.parts = self.parts, []
        rows = sum(map(len, parts))
        if all(is_shared(part) and part[0] == parts[0][0] for part in parts):
            return np.broadcast_to(parts[0][0].astype(self.kind), (rows,))
        column = np.empty(rows, dtype=self.kind)
        while parts:
            part = parts.pop()
            column[rows - len(part) : rows] = part
            rows -= len(part)
        return column


@dataclass
class _TextColumn:
    codes: _NumberColumn = field(default_factory=lambda: _NumberColumn("int32"))
    known: dict[bytes, int] = field(default_factory=dict)

    def add(self, texts: Any) -> None:
        places = np.array([self.known.setdefault(word, len(self.known)) for word in texts.words])
        same = len(places) == 1
        self.codes.add(np.broadcast_to(places, texts.codes.shape) if same else places[texts.codes])

    def whole(self) -> Texts:
        words, self.known = list(self.known), {}
        return Texts(self.codes.whole(), words)


def _narrowed(values: np.ndarray) -> np.ndarray:
    seen = once(values) + 0  # so that no zero has a sign
    least, most = seen.min(), seen.max()
    if least == most:
        return np.broadcast_to(least, values.shape)
    holding = (kind for kind in _NARROWER if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max)
    return seen if seen.dtype.kind == "f" else seen.astype(next(holding, seen.dtype), copy=False)
