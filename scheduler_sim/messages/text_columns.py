"""Text files as columns, read in pieces, with the line of each value that cannot be one."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.errors import TraceError
from scheduler_sim.messages.trace import MOST_SECONDS, PS
from scheduler_sim.output.packed import packing_of

BLOCK_BYTES = 1 << 24
NOT_IN_TEXT = "\x01"
"""A delimiter that no line has, so that lines are read whole."""


def text_of(path: Path) -> bytes:
    """Read a file, unpacked if it is packed. TraceError if that cannot be done, or it is empty or no text."""
    try:
        raw = path.read_bytes()
        if (packing := packing_of(raw[:8])) is not None and packing.name == "gzip":
            raw = gzip.decompress(raw)
    except IsADirectoryError:
        raise TraceError("is a directory", file=path, allowed="a message trace") from None
    except FileNotFoundError:
        raise TraceError("no such file", file=path) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TraceError(f"broken gzip: {error}", file=path) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise TraceError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}", file=repr(str(path))
        ) from None
    if not raw.strip():
        raise TraceError("the file is empty", file=path, allowed="a message trace")
    if (at := raw.find(b"\0")) >= 0:
        raise TraceError(
            "holds a NUL byte", file=path, line=raw.count(b"\n", 0, at) + 1, allowed="text in UTF-8"
        )
    return raw


def pieces(
    path: Path, raw: bytes, header: list[str] | None, delimiter: str
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield pieces of a table of text, each with the line of its first row.

    Parameters
    ----------
    header : names of the columns; None where the first line has them

    Raises TraceError for a line with another number of fields, and for what is not UTF-8.
    """
    whole = header is not None and len(header) == 1
    reading = csv.ReadOptions(column_names=header, block_size=BLOCK_BYTES, use_threads=False)
    parsing = csv.ParseOptions(
        delimiter=delimiter,
        quote_char=False if whole else '"',
        ignore_empty_lines=False,
        newlines_in_values=False,
    )
    names = header or _names(path, raw, delimiter)
    converting = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=True
    )
    line = 1 if header else 2
    try:
        with csv.open_csv(pa.BufferReader(raw), reading, parsing, converting) as reader:
            for batch in reader:
                yield line, batch
                line += batch.num_rows
    except pa.ArrowInvalid as error:
        raise TraceError(_one_line(str(error)), file=path, allowed="text in UTF-8, a row a line") from None


def _names(path: Path, raw: bytes, delimiter: str) -> list[str]:
    try:
        first = raw.split(b"\n", 1)[0].decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise TraceError("is not UTF-8", file=path, line=1) from None
    return [name.strip().strip('"') for name in first.split(delimiter)]


class Numbers:
    """Turns columns of text into numbers, or says where that fails."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def whole(
        self, texts: pa.Array, lines: Ints, field: str, least: int, most: int, empty: int | None = None
    ) -> Ints:
        """Return whole numbers, int64[n], from ``least`` to ``most``; ``empty`` stands for an empty field."""
        allowed = f"a whole number from {least} to {most}{', or nothing' if empty is not None else ''}"
        values = self._cast(texts, lines, field, pa.int64(), empty, allowed).astype(np.int64)
        self._check((values < least) | (values > most), values, lines, field, allowed, empty)
        return values

    def picoseconds(self, texts: pa.Array, lines: Ints, field: str, empty: float | None = None) -> Ints:
        """Return seconds as whole picoseconds, int64[n]."""
        allowed = f"seconds from 0 to {MOST_SECONDS:.0f}"
        values: Floats = self._cast(texts, lines, field, pa.float64(), empty, allowed)
        self._check(~((values >= 0) & (values <= MOST_SECONDS)), values, lines, field, allowed, empty)
        return np.rint(values * PS).astype(np.int64)

    def _cast(
        self, texts: pa.Array, lines: Ints, field: str, kind: Any, empty: float | None, allowed: str
    ) -> np.ndarray:
        if empty is not None:
            texts = pc.if_else(pc.equal(texts, ""), pa.scalar(str(empty)), texts)
        try:
            numbers: np.ndarray = pc.cast(texts, kind).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            for line, text in zip(lines.tolist(), texts.to_pylist(), strict=True):
                try:
                    pc.cast(pa.array([text]), kind)
                except pa.ArrowInvalid:
                    raise self.error("no number", line, field, text, allowed) from None
            raise
        return numbers

    def _check(
        self,
        wrong: np.ndarray,
        values: np.ndarray,
        lines: Ints,
        field: str,
        allowed: str,
        empty: float | None,
    ) -> None:
        if empty is not None:
            wrong = wrong & (values != empty)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise self.error("out of range", int(lines[at]), field, values[at].item(), allowed)

    def error(self, message: str, line: int, field: str, found: object, allowed: str) -> TraceError:
        """Return the error of one value."""
        return TraceError(message, file=self.path, line=line, field=field, found=found, allowed=allowed)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
