"""What stands behind the 18th field of SWF: as many fields as each record likes, numbers or text.

Most files have none, some as many in every record, numbers all of them: these come in whole columns. Of other
files the lines are cut after the 18th field, and what is behind is kept word by word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduler_sim.texts import TextColumn, is_text_column
from scheduler_sim.workload.block_columns import Texts
from scheduler_sim.workload.carried import CARRIED, carried_numbers
from scheduler_sim.workload.numbers import decimal, number_text
from scheduler_sim.workload.table import Workload

FIELD_COUNT = 18
MOST_FIELDS = 127
NOTHING = b""
"""Of a record that has fewer fields than others."""

_WIDTHS_TOLD = 4


def field_name(place: int) -> str:
    """Return what a field behind the 18th is called in the workload, by its 1-based place."""
    return f"{CARRIED}field_{place}"


@dataclass
class Behind:
    """What stands behind the 18th field, a block of records after the other.

    Attributes
    ----------
    width : the most fields that a record had so far
    """

    width: int = FIELD_COUNT
    _parts: list[tuple[np.ndarray, list[Any]]] = field(default_factory=list)

    def add(self, counts: np.ndarray, columns: list[Any]) -> None:
        """Append a block: int8[records], how many fields each has, and columns, float64[records] or Texts."""
        self.width = max(self.width, FIELD_COUNT + len(columns))
        self._parts.append((counts, columns))

    def whole(self) -> list[Any]:
        """Return the counts of all records, int8[records], and the columns; nothing is left here."""
        parts, self._parts = self._parts, []
        columns = [
            _joined([(len(counts), of[place] if place < len(of) else None) for counts, of in parts])
            for place in range(self.width - FIELD_COUNT)
        ]
        return [np.concatenate([counts for counts, _ in parts]), *columns]


def _joined(parts: Sequence[tuple[int, Any]]) -> Any:
    """Return a column of its blocks (records, float64 or Texts or None): numbers, if it has nothing else."""
    if not any(isinstance(part, Texts) and _words_of_text(part) for _, part in parts):
        return np.concatenate([_as_numbers(rows, part) for rows, part in parts])
    return Texts.of([word for rows, part in parts for word in _as_words(rows, part)])


def _words_of_text(part: Texts) -> list[bytes]:
    return [word for word in part.words if word != NOTHING and decimal(word) is None]


def _as_numbers(rows: int, part: Any) -> np.ndarray:
    """Return float64[rows], NaN where a record has no such field."""
    if isinstance(part, Texts):
        numbers: np.ndarray = np.array([_number(word) for word in part.words])[part.codes]
        return numbers
    return np.full(rows, np.nan) if part is None else part


def _number(word: bytes) -> float:
    number = decimal(word)
    return np.nan if number is None else number


def _as_words(rows: int, part: Any) -> list[bytes]:
    if isinstance(part, Texts):
        return [part.words[code] for code in part.codes.tolist()]
    return [NOTHING] * rows if part is None else [number_text(value).encode() for value in part.tolist()]


def cut(records: Sequence[Sequence[bytes]]) -> tuple[bytes, np.ndarray, list[Any]]:
    """Return records of 18 words each as a block of lines, how many each had, and columns of those behind."""
    lines = b"".join(b" ".join(words[:FIELD_COUNT]) + b"\n" for words in records)
    counts = np.array([len(words) for words in records])
    places = range(FIELD_COUNT, int(counts.max()))
    columns = [
        Texts.of([words[place] if len(words) > place else NOTHING for words in records]) for place in places
    ]
    return lines, counts.astype(np.int8), columns


# -- as columns of the workload, and back


def carried_behind(columns: Sequence[Any], encoding: str) -> dict[str, Any]:
    """Return the columns as they are carried: numbers, or text, empty where a record has no such field."""
    return {
        field_name(place): _as_text(column, encoding)
        if isinstance(column, Texts)
        else carried_numbers(column)
        for place, column in enumerate(columns, FIELD_COUNT + 1)
    }


def _as_text(column: Texts, encoding: str) -> TextColumn:
    return TextColumn(column.codes, [word.decode(encoding) for word in column.words])


def words_in(columns: Sequence[Any]) -> Iterator[bytes]:
    """Yield what stands in columns of text, each word once a column."""
    for column in columns:
        if isinstance(column, Texts):
            yield from column.words


def notes_on(counts: np.ndarray, columns: Sequence[Any]) -> Iterator[str]:
    """Yield what a person should know: how many fields the records have, and which of these are text."""
    widths = Counter(counts.tolist())
    if len(widths) > 1:
        told = ", ".join(f"{count:,} x {width}" for width, count in widths.most_common(_WIDTHS_TOLD))
        more = ", ..." if len(widths) > _WIDTHS_TOLD else ""
        yield (
            f"records differ in their number of fields: {told}{more}; those behind the"
            f" {FIELD_COUNT}th are carried on ({field_name(FIELD_COUNT + 1)} ...), empty where"
            " a record has none"
        )
    elif columns:
        yield (
            f"{FIELD_COUNT + len(columns)} fields per record: the last {len(columns)} are"
            f" carried on ({field_name(FIELD_COUNT + 1)} ...)"
        )
    for place, column in enumerate(columns, FIELD_COUNT + 1):
        if isinstance(column, Texts):
            words = _words_of_text(column)
            rows = int(np.isin(column.codes, [column.words.index(word) for word in words]).sum())
            first = words[0][:40].decode("utf-8", "backslashreplace")
            what = f"text in {rows:,} record{'s' * (rows > 1)}, such as {first!r}"
            yield f"field {place}: {what}, carried on as text"


def behind_of(workload: Workload) -> tuple[np.ndarray, list[Any]]:
    """Return int[records], how many fields each record is to have, and the columns behind the 18th.

    None are there but of a workload that came from SWF with such, and still has them all.
    """
    plain: tuple[np.ndarray, list[Any]] = np.full(len(workload), FIELD_COUNT), []
    if workload.source.format != "swf":
        return plain
    counts = np.broadcast_to(workload.source.field_count, len(workload))
    width = int(counts.max(initial=FIELD_COUNT))
    names = [field_name(place) for place in range(FIELD_COUNT + 1, width + 1)]
    if not names or counts.min() < FIELD_COUNT or not set(names) <= set(workload.carried_columns):
        return plain
    columns = [workload.carried_columns[name] for name in names]
    whole = (_stands(one)[counts >= place].all() for place, one in enumerate(columns, FIELD_COUNT + 1))
    return (counts, [_written(one) for one in columns]) if all(whole) else plain


def _stands(column: Any) -> np.ndarray:
    """Tell of each row whether it is one word."""
    if is_text_column(column):
        one = [bool(word) and not any(c.isspace() or c == "\0" for c in word) for word in column.categories]
        words: np.ndarray = np.array(one, dtype=bool)[column.codes]
        return words
    return np.asarray(np.isfinite(column))


def _written(column: Any) -> Any:
    """Return a column as it is written; what is nothing is in no record."""
    return column if is_text_column(column) else np.where(np.isfinite(column), column, 0)
