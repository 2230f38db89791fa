"""Spans of time in which components were suspended, as text: ``40-65,90-100``."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from scheduler_sim.result.columns import Columns
from scheduler_sim.texts import TextColumn

SPAN = re.compile(r"(-?[0-9]{1,18})-(-?[0-9]{1,18})")


def spans_text(spans: Iterable[tuple[int, int]]) -> str:
    """Write spans, from when (s) until when, in order of time."""
    return ",".join(f"{since}-{until}" for since, until in sorted(spans))


def spans_in(text: str) -> list[tuple[int, int]]:
    """Read such a text. Raises ValueError where it is none."""
    found = [SPAN.fullmatch(one) for one in text.split(",")] if text else []
    if not all(found):
        raise ValueError(f"{text!r:.60} are no spans of time")
    return [(int(one[1]), int(one[2])) for one in found if one]


def spans_of(table: Columns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the spans of a table of components or of runs, int64[spans] each: whose row, since, until."""
    texts = TextColumn.of(table["suspended"])
    read = [spans_in(str(text)) for text in texts.categories]
    rows = [(row, *span) for row, code in enumerate(texts.codes.tolist()) for span in read[code] if code >= 0]
    found = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return found[:, 0], found[:, 1], found[:, 2]


def working_spans(components: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return when components that ran did work, int64[spans] each: whose place, from when, until when, s.

    One that was never suspended did so from its start to its end.
    """
    place = np.arange(len(components))
    start, end = (components[name].to_numpy() for name in ("start_time", "end_time"))
    if "suspended" not in components:
        return place, start, end
    row, since, until = spans_of(components)
    place, begin = np.append(place, row), np.append(start, until)
    order = np.lexsort((begin, place))
    place, begin = place[order], begin[order]
    last = np.append(place[1:] != place[:-1], True)[: len(place)]
    finish = np.empty(len(place), dtype=np.int64)
    finish[last], finish[~last] = end, since  # spans stand in order of row and time
    some = (finish > begin) | (last & (start[place] == end[place]))
    return place[some], begin[some], finish[some]
