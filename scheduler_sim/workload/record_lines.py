"""Writing the records of a trace as lines of text, comments in their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.columns import texts_of
from scheduler_sim.workload.lines import MAX_LINE_BYTES

_ROWS_A_BLOCK = 1 << 15


def write_records(
    out: BinaryIO,
    name: str,
    header: Iterable[str],
    comments: Iterable[tuple[int, str]],
    columns: Sequence[Any],
    join: Callable[[int, Sequence[str]], str],
    encoding: str,
) -> None:
    """Write header lines, records and the comments between them.

    ``join`` makes a line of a row number and its field texts. Raises TraceError, which names the
    file, for a line longer than readers take.
    """
    waiting = list(comments)
    rows = len(columns[0])
    _put(out, name, list(header), encoding)
    for start in range(0, rows, _ROWS_A_BLOCK):
        stop = min(start + _ROWS_A_BLOCK, rows)
        fields = zip(*(texts_of(column, start, stop) for column in columns), strict=True)
        lines = [join(row, texts) for row, texts in enumerate(fields, start=start)]
        inside = [(row, line) for row, line in waiting if row < stop]
        del waiting[: len(inside)]
        for row, line in reversed(inside):
            lines.insert(row - start, line)
        _put(out, name, lines, encoding)
    _put(out, name, [line for _, line in waiting], encoding)


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


def _put(out: BinaryIO, name: str, lines: Sequence[str], encoding: str) -> None:
    longest = max(lines, key=len, default="")
    if len(longest) > MAX_LINE_BYTES // 4 and any(len(x.encode(encoding)) > MAX_LINE_BYTES for x in lines):
        raise TraceError(
            "the texts of a record are too long to be written",
            file=name,
            found=longest,
            allowed=f"lines of at most {MAX_LINE_BYTES} bytes",
        )
    out.write("".join(f"{line}\n" for line in lines).encode(encoding))
