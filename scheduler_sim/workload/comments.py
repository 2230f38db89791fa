"""Keeping the lines of a trace that are no records, with their places, so that they come back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from scheduler_sim.errors import TraceError

MAX_COMMENT_BYTES = 1 << 26


@dataclass
class Comments:
    """Comment and blank lines met while reading, each with the number of records before it."""

    name: str
    found: list[tuple[int, bytes]] = field(default_factory=list)
    size: int = 0

    def add(self, row: int, line: bytes) -> None:
        """Keep a line, without its end, that stands before record ``row`` (0-based)."""
        line = line.rstrip(b"\r")
        self.found.append((row, line))
        self.size += len(line) + 64
        if self.size > MAX_COMMENT_BYTES:
            raise TraceError(
                "comments and blank lines fill more than 64 MB: this is probably not a trace",
                file=self.name,
                line=row + len(self.found),
            )

    def without(self, rows: np.ndarray) -> Comments:
        """Return the comments of a trace without some records (int64[n], ascending): an empty line for each.

        So all other lines keep their numbers.
        """
        lines = [*((row, 0, line) for row, line in self.found), *((row, 1, b"") for row in rows.tolist())]
        lines.sort(key=lambda one: one[:2])
        before = np.searchsorted(rows, [row for row, _, _ in lines])
        kept = Comments(self.name)
        for (row, _, line), gone in zip(lines, before.tolist(), strict=True):
            kept.add(row - gone, line)
        return kept

    def encoding(self, words: Iterable[bytes] = ()) -> str:
        """Return utf-8 if all lines, and words of records, are valid in it, else latin-1: any bytes are."""
        try:
            b"\n".join([*(line for _, line in self.found), *words]).decode("utf-8")
        except UnicodeDecodeError:
            return "latin-1"
        return "utf-8"

    def texts(self, encoding: str) -> tuple[tuple[str, ...], tuple[tuple[int, str], ...]]:
        """Return the header lines, and the (row, line) pairs of the comments after it."""
        lines = [(row, line.decode(encoding)) for row, line in self.found]
        return tuple(line for row, line in lines if row == 0), tuple(pair for pair in lines if pair[0] > 0)
