"""Spans in which components ran at a lower clock than their own, as text: ``40-65:350.5,70-90:300``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from scheduler_sim.result.columns import Columns, numbers
from scheduler_sim.texts import TextColumn

MILLI = 1000
SPAN = re.compile(r"(-?[0-9]{1,18})-(-?[0-9]{1,18}):([0-9]{1,12})(?:\.([0-9]{1,3}))?")


class Slowed(NamedTuple):
    """Spans of a table: in whose row, from when, until when (s), and what all its nodes drew then (mW)."""

    row: np.ndarray
    since: np.ndarray
    until: np.ndarray
    milliwatts: np.ndarray

    def less(self, watts: np.ndarray) -> np.ndarray:
        """Return how much less than at their own clocks, of so many W by row, was drawn in each, mW."""
        own = np.rint(np.nan_to_num(watts) * MILLI).astype(np.int64)
        less: np.ndarray = own[self.row] - self.milliwatts
        return less


def slowed_text(spans: Iterable[tuple[int, int, int]]) -> str:
    """Write spans: from when (s), until when, mW; in order of time."""
    return ",".join(f"{since}-{until}:{_watts(mw)}" for since, until, mw in sorted(spans))


def _watts(milliwatts: int) -> str:
    whole, rest = divmod(milliwatts, MILLI)
    return f"{whole}.{rest:03d}".rstrip("0") if rest else str(whole)


def slowed_in(text: str) -> list[tuple[int, int, int]]:
    """Read such a text. Raises ValueError where it is none."""
    found = [SPAN.fullmatch(one) for one in text.split(",")] if text else []
    if not all(found):
        raise ValueError(f"{text!r:.60} are no spans of time with powers")
    return [
        (int(one[1]), int(one[2]), int(one[3]) * MILLI + int((one[4] or "0").ljust(3, "0")))
        for one in found
        if one
    ]


def slowed_of(table: Columns) -> Slowed:
    """Return the spans of a table of components or of runs."""
    texts = TextColumn.of(table["slowed"])
    read = [slowed_in(str(text)) for text in texts.categories]
    rows = [(row, *span) for row, code in enumerate(texts.codes.tolist()) for span in read[code] if code >= 0]
    return Slowed(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def energy_saved(table: Columns, watts: np.ndarray) -> np.ndarray:
    """Return how much less each row took than at its own clock, mJ; ``watts`` is what it draws at that."""
    spans, saved = slowed_of(table), np.zeros(len(numbers(table, "start_time")), dtype=np.int64)
    np.add.at(saved, spans.row, spans.less(watts) * (spans.until - spans.since))
    return saved
