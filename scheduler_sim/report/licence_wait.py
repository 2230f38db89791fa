"""Which licences were short while a component waited under Slurm, and who had them."""

from __future__ import annotations

import numpy as np

from scheduler_sim.report.explanation import Lack
from scheduler_sim.report.holders import Holding
from scheduler_sim.report.wording import plain
from scheduler_sim.result.node_use import Held
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import sum_of_intervals, value_at
from scheduler_sim.result.tres import tres_in
from scheduler_sim.texts import TextColumn

LICENCE = "license/"


def short_licences(schedule: Schedule, row: int, first: int, last: int) -> tuple[Lack, ...]:
    """Return which licences of the component in ``row`` were short from ``first`` to ``last`` (s)."""
    if "asked" not in schedule.components or last <= first:
        return ()
    texts = TextColumn.of(schedule.components["asked"])
    asked = [tres_in(str(text)) for text in texts.categories]
    there = (schedule.system.get("resources") or {}).get("licences") or {}
    found = (
        _lack(schedule, texts, [one.get(name, 0) for one in asked], row, (first, last), name, there)
        for name in asked[texts.codes[row]]
        if name.startswith(LICENCE) and name.removeprefix(LICENCE) in there
    )
    return tuple(lack for lack in found if lack.seconds)


def _lack(
    schedule: Schedule,
    texts: TextColumn,
    amounts: list[int],
    row: int,
    span: tuple[int, int],
    name: str,
    there: dict[str, int],
) -> Lack:
    """Return how many of one licence were free, and for how long too few."""
    each, (first, last) = np.array(amounts, dtype=np.int64)[texts.codes], span
    start, end = schedule.of("start_time"), schedule.of("end_time")
    others = np.flatnonzero(schedule.ran & (each > 0) & (start < last) & (end > first))
    used = sum_of_intervals(start[others], end[others], each[others])
    inside = used[0][(used[0] > first) & (used[0] < last)]
    instants = np.append(first, inside)
    free = int(there[name.removeprefix(LICENCE)]) - value_at(used, instants)
    bounds = np.append(instants, last)
    seconds = np.where(free < each[row], np.diff(bounds), 0)
    lack = Lack(plain(name.removeprefix(LICENCE)), int(free.min()), int(free.max()), int(seconds.sum()))
    held = Held(others, np.zeros(len(others), dtype=np.int64), start[others], end[others])
    return Holding(schedule, held, bounds).told(lack, each[others], seconds)
