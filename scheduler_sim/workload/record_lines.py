"""Writing the records of a trace as lines of text, comments in their places.

Lines are made of whole columns by Arrow: number by number in Python takes seven times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from scheduler_sim.arrow_arrays import number_array
from scheduler_sim.errors import TraceError
from scheduler_sim.texts import is_text_column
from scheduler_sim.workload.columns import once
from scheduler_sim.workload.lines import MAX_LINE_BYTES
from scheduler_sim.workload.numbers import number_text

_ROWS_A_BLOCK = 1 << 15
_BYTES = pa.large_binary()

Lines = Callable[[int, int], pa.Array]
"""Makes lines without their ends, as large_binary, of the rows from one to before another."""


def lines_of(columns: Sequence[Any], separator: str, encoding: str) -> Lines:
    """Return what makes lines of columns (arrays, or categoricals of text), one separator between them."""
    between = separator.encode()
    fields = list(_constants_joined((_Column(column, encoding) for column in columns), between))

    def lines(start: int, stop: int) -> pa.Array:
        return _joined([field.texts(start, stop) for field in fields], between)

    return lines


def lines_by_kind(kinds: np.ndarray, made: dict[int, Lines]) -> Lines:
    """Return what makes the line of each row as is the way of its kind."""
    if len(made) == 1:
        return next(iter(made.values()))
    numbers = sorted(made)
    place = np.searchsorted(numbers, kinds)

    def lines(start: int, stop: int) -> pa.Array:
        ways = (made[number](start, stop) for number in numbers)
        return compute.choose(pa.array(place[start:stop]), *ways)

    return lines


def write_records(
    out: BinaryIO,
    name: str,
    header: Iterable[str],
    comments: Iterable[tuple[int, str]],
    lines: Lines,
    rows: int,
    encoding: str,
) -> None:
    """Write header lines, so many records and the comments between them.

    Raises TraceError, which names the file, for a line longer than readers take.
    """
    waiting = [(row, text.encode(encoding)) for row, text in comments]
    _put(out, name, pa.array([line.encode(encoding) for line in header], _BYTES), encoding)
    for start in range(0, rows, _ROWS_A_BLOCK):
        stop = min(start + _ROWS_A_BLOCK, rows)
        records = lines(start, stop)
        inside = [(row, line) for row, line in waiting if row < stop]
        if inside:
            del waiting[: len(inside)]
            texts = records.to_pylist()
            for row, line in reversed(inside):
                texts.insert(row - start, line)
            records = pa.array(texts, _BYTES)
        _put(out, name, records, encoding)
    _put(out, name, pa.array([line for _, line in waiting], _BYTES), encoding)


def encoding_for(wanted: str, texts: Iterable[str], name: str) -> str:
    """Return ``wanted`` if it can express all texts, else utf-8; refuse texts that break lines."""
    texts = list(texts)
    for text in texts:
        if "\n" in text or "\0" in text:
            raise TraceError("a text with a line end or NUL cannot be written", file=name, found=text)
    joined = "".join(texts)
    for encoding in (wanted, "utf-8"):
        with suppress(UnicodeEncodeError):
            joined.encode(encoding)
            return encoding
    raise TraceError("a text that is not Unicode cannot be written", file=name)


class _Column:
    """A column as texts in an encoding."""

    def __init__(self, column: Any, encoding: str) -> None:
        text = is_text_column(column)
        self._values = column.codes if text else column
        self._words = [word.encode(encoding) for word in column.categories] if text else None

    def constant(self) -> bytes | None:
        """Return the text of all rows if they have the same, else None."""
        values = once(self._values)
        alike = len(values) > 0 and bool((values == values[0]).all())
        return self.texts(0, 1)[0].as_py() if alike else None

    def texts(self, start: int, stop: int) -> pa.Array:
        """Return the texts of the rows from one to before another, as large_binary."""
        part, words = self._values[start:stop], self._words
        if part.dtype.kind == "f":
            different, part = np.unique(part, return_inverse=True)
            words = [number_text(value).encode() for value in different.tolist()]
        if words is not None:
            return pa.array(words, _BYTES).take(number_array(part))
        return number_array(part).cast(pa.large_string()).cast(_BYTES)


@dataclass(frozen=True)
class _Constant:
    """A text that all rows have."""

    text: bytes

    def texts(self, start: int, stop: int) -> pa.Array:
        return pa.repeat(pa.scalar(self.text, _BYTES), stop - start)


def _constants_joined(columns: Iterable[_Column], separator: bytes) -> Iterator[_Column | _Constant]:
    """Join neighbouring columns of one value each into one: most fields of most traces are."""
    constants = ((column, column.constant()) for column in columns)
    for variable, run in groupby(constants, key=lambda pair: pair[1] is None):
        if variable:
            yield from (column for column, _ in run)
        else:
            yield _Constant(separator.join(text for _, text in run if text is not None))


def _joined(texts: Sequence[Any], between: bytes) -> pa.Array:
    return compute.binary_join_element_wise(*texts, pa.scalar(between, _BYTES))


def _put(out: BinaryIO, name: str, lines: pa.Array, encoding: str) -> None:
    if not len(lines):
        return
    sizes = compute.binary_length(lines)
    longest = compute.max(sizes).as_py()
    if longest > MAX_LINE_BYTES:
        raise TraceError(
            "the texts of a record are too long to be written",
            file=name,
            found=lines[sizes.index(longest).as_py()].as_py().decode(encoding),
            allowed=f"lines of at most {MAX_LINE_BYTES} bytes",
        )
    whole = _joined([lines, pa.scalar(b"\n", _BYTES)], b"")
    out.write(memoryview(whole.buffers()[2])[: compute.sum(sizes).as_py() + len(lines)])
