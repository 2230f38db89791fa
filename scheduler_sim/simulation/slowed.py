"""Spans in which components were slowed for a power cap, as the core writes them down."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.result.slowing import slowed_text
from scheduler_sim.texts import TextColumn


class SlowedSpan(NamedTuple):
    """A span: the row of its component, when that run started, from when, until when (s), mW above idle."""

    row: int
    start: int
    since: int
    until: int
    above: int


class Slowness(NamedTuple):
    """All spans of a run, and what an idle node of each module draws, mW."""

    spans: list[SlowedSpan]
    idle: Ints

    def columns(self, rows: Ints, start: Ints, module: Ints, nodes: Ints) -> dict[str, Any]:
        """Return the columns ``SLOWED`` of runs, by rows, starts, modules and nodes, int64[runs] each."""
        of_run: dict[tuple[int, int], list[SlowedSpan]] = {}
        for span in self.spans:
            of_run.setdefault((span.row, span.start), []).append(span)
        seconds, texts = np.zeros(len(rows), dtype=np.int64), [""] * len(rows)
        places = {run: place for place, run in enumerate(zip(rows.tolist(), start.tolist(), strict=True))}
        for run, found in of_run.items():
            if (place := places.get(run)) is not None:
                idle = int(self.idle[module[place]] * nodes[place])
                seconds[place] = sum(span.until - span.since for span in found)
                texts[place] = slowed_text((one.since, one.until, idle + one.above) for one in found)
        return {"slowed_time": seconds, "slowed": TextColumn.of(texts)}


def take_slowed(core: FullCore) -> list[SlowedSpan]:
    """Take the spans that have ended since this was last asked."""
    found = _spans(core)
    if has(core, "slowing"):
        core.slowing.at.spans = 0
    return found


def slowed_so_far(core: FullCore, taken: list[SlowedSpan], now: int) -> list[SlowedSpan]:
    """Return all spans there were, those that were taken and what would be, if all ended ``now``."""
    found = [*taken, *_spans(core)]
    if has(core, "slowing"):
        pace = np.asarray(core.slowing.pace)
        for row in np.flatnonzero((pace["state"] >= 0) & (pace["since"] < now)).tolist():
            place = int(core.jobs[row].placed)
            state = int(core.slowing.ladder[place].first + pace["state"][row])
            above = int(core.slowing.slower[state].above * core.placements[place].nodes)
            since = int(pace["since"][row])
            found.append(SlowedSpan(row, int(core.jobs[row].start), since, now, above))
    return found


def _spans(core: FullCore) -> list[SlowedSpan]:
    if not has(core, "slowing"):
        return []
    found = core.slowing.span[: core.slowing.at.spans]
    columns = (found[name] for name in SlowedSpan._fields)
    return [SlowedSpan(*map(int, one)) for one in zip(*columns, strict=True)]
