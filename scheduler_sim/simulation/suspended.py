"""Spans in which components were suspended, as the core writes them down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.suspensions import NOT_SUSPENDED
from scheduler_sim.result.suspensions import spans_text
from scheduler_sim.texts import TextColumn

SUSPENDING = ("gang", "suspending")
"""Parts of the core in which that is written down."""


class Suspended(NamedTuple):
    """A span in which a component was suspended: its row, when that run started, from when, until when, s."""

    row: int
    start: int
    since: int
    until: int


def take_spans(core: FullCore) -> list[Suspended]:
    """Take the spans that have ended since this was last asked."""
    found = _spans(core)
    if (part := _part(core)) is not None:
        part.log.spans = 0
    return found


def spans_so_far(core: FullCore, taken: Sequence[Suspended], now: int) -> list[Suspended]:
    """Return all spans there were, those that were taken and what would be, if all ended ``now``."""
    return [*taken, *_spans(core), *_open(core, now)]


def suspended_rows(core: FullCore) -> np.ndarray:
    """int64[..]: the components that are suspended."""
    part = _part(core)
    if part is None:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.asarray(part.pause)["since"] != NOT_SUSPENDED)


def can_suspend(core: FullCore) -> bool:
    """Tell whether components may be suspended in a run."""
    return _part(core) is not None


def suspended_columns(spans: Sequence[Suspended], rows: Ints, start: Ints) -> dict[str, Any]:
    """Return the columns ``SUSPENDED`` of runs of components, by their rows and starts, int64[runs] each."""
    of_run: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for span in spans:
        of_run.setdefault((span.row, span.start), []).append((span.since, span.until))
    seconds, texts = np.zeros(len(rows), dtype=np.int64), [""] * len(rows)
    places = {run: place for place, run in enumerate(zip(rows.tolist(), start.tolist(), strict=True))}
    for run, found in of_run.items():
        if (place := places.get(run)) is not None:
            seconds[place] = sum(until - since for since, until in found)
            texts[place] = spans_text(found)
    return {"suspended_time": seconds, "suspended": TextColumn.of(texts)}


def _part(core: FullCore) -> Any:
    return next((getattr(core, name) for name in SUSPENDING if has(core, name)), None)


def _spans(core: FullCore) -> list[Suspended]:
    part = _part(core)
    if part is None:
        return []
    found = part.spans[: part.log.spans]
    return [
        Suspended(*map(int, one)) for one in zip(*(found[name] for name in Suspended._fields), strict=True)
    ]


def _open(core: FullCore, now: int) -> list[Suspended]:
    """Those that have not ended; of no time they are none."""
    part = _part(core)
    rows = suspended_rows(core).tolist()
    open_ = [Suspended(row, int(core.jobs[row].start), int(part.pause[row].since), now) for row in rows]
    return [one for one in open_ if one.until > one.since]
