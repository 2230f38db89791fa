"""Runs that change one thing at a time, and how much nearer to the record each comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.causes.changes import Change, NotTried, changes_of
from scheduler_sim.causes.kept_out import KeptOut
from scheduler_sim.causes.setup import Progress, Setup
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.metrics.agreement.waits import Distance, Waits, waits_of
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.result import Result
from scheduler_sim.workload.table import Workload

WORTH = 0.01
"""Part of the difference from day to day from which a change counts as nearer."""

Told = Callable[[str, int, int], Progress | None]
"""Called before each run with what is changed, its number from 1, and how many there are."""


@dataclass(frozen=True)
class Tried:
    """A run with something changed.

    Attributes
    ----------
    names : what was changed into what, one or, of all together, several
    chosen : the distance to the record of what counts for the choice
    kept_out : that of what was kept out; None if nothing was
    waiting : components with a recorded start that the run does not start
    """

    names: tuple[tuple[str, str], ...]
    chosen: Distance
    kept_out: Distance | None
    waiting: int = 0


@dataclass(frozen=True)
class Causes:
    """What explains the difference, and by how much.

    Attributes
    ----------
    base : the run as it was
    tried : one change each, the one that comes nearest to the record first
    together : those at once that come nearest together: from the best on, each that adds something; None if
        none adds anything to the best
    not_tried : what does not apply, and why
    kept_out : the span of time that did not count for the choice; None for a record shorter than two days
    """

    base: Tried
    tried: tuple[Tried, ...]
    together: Tried | None
    not_tried: tuple[NotTried, ...]
    kept_out: KeptOut | None


def causes(result: Result, workload: Workload, told: Told | None = None) -> Causes:
    """Repeat a run with one thing changed at a time.

    Parameters
    ----------
    result : with recorded starts.
    workload : its trace, as it was read then.

    Raises
    ------
    InputError : no recorded starts, or the run cannot be repeated.
    """
    waits = waits_of(result)
    setup = Setup.of(result, workload)
    kept_out = KeptOut.of(waits.submit)
    found = changes_of(result, setup, waits, kept_out)
    changes = [one for one in found if isinstance(one, Change)]
    not_tried = [one for one in found if isinstance(one, NotTried)]
    measure = _Measure(result, waits, kept_out, told, 1 + len(changes))
    again = measure.run("the run as it was", setup)
    if not _same_starts(result, again):
        raise InputError(
            "repeated from its manifest, the run starts components at other times: it was"
            " made by another version, or by a program that changed it during the run;"
            " allowed: results of scheduler-sim run"
        )
    base = measure.tried((), again)
    tried: list[tuple[Change, Tried]] = []
    for change in changes:
        try:
            made = measure.run(f"{change.name}: {change.to}", change.apply(setup))
        except (ConfigError, InputError) as error:
            not_tried.append(NotTried(f"{change.name}: {change.to}", str(error)))
            continue
        tried.append((change, measure.tried(((change.name, change.to),), made)))
    tried.sort(key=lambda pair: pair[1].chosen.by_day)
    together = _together(setup, measure, base, tried)
    return Causes(base, tuple(row for _, row in tried), together, tuple(not_tried), kept_out)


def nearer(one: Tried, than: Tried) -> bool:
    """Tell whether a run is nearer to the record than another by what counts for the choice."""
    return one.chosen.by_day < (1 - WORTH) * than.chosen.by_day


def _together(
    setup: Setup, measure: _Measure, base: Tried, tried: Sequence[tuple[Change, Tried]]
) -> Tried | None:
    """Add to the best change, in order, each of the others that helped and comes nearer with it."""
    helped = [(change, row) for change, row in tried if nearer(row, base)]
    if not helped:
        return None
    (first, best), kept, together = helped[0], [helped[0][0]], None
    setup = first.apply(setup)
    for change, _ in helped[1:]:
        if any(change.about & one.about for one in kept):
            continue
        names = tuple((one.name, one.to) for one in (*kept, change))
        added = change.apply(setup)
        row = measure.tried(names, measure.run(f"and {change.name}: {change.to}", added))
        if nearer(row, best):
            setup, best, together = added, row, row
            kept.append(change)
    return together


def _same_starts(result: Result, again: Result) -> bool:
    """Tell whether both start the same components at the same times."""
    one, other = result.components, again.components
    columns = ("component_id", "start_time")
    return all(np.array_equal(one[name].to_numpy(), other[name].to_numpy()) for name in columns)


class _Measure:
    """Runs and measures them, always over the components that are compared in the run as it was."""

    def __init__(
        self, result: Result, waits: Waits, kept_out: KeptOut | None, told: Told | None, runs: int
    ) -> None:
        self._ids = result.components["component_id"].to_numpy()[waits.rows]
        self._waits, self._kept_out = waits, kept_out
        self._told, self._runs, self._run = told, runs, 0

    def run(self, name: str, setup: Setup) -> Result:
        self._run += 1
        progress = None if self._told is None else self._told(name, self._run, max(self._run, self._runs))
        return setup.run(progress)

    def tried(self, names: tuple[tuple[str, str], ...], made: Result) -> Tried:
        table = made.components
        rows = pd.Index(table["component_id"].to_numpy()).get_indexer(self._ids)
        start = table["start_time"].to_numpy()[rows]
        ran = start != NEVER
        one = self._waits
        waits = Waits(one.rows, one.submit, one.recorded, start - one.submit, {}).of(ran)
        waiting = int((~ran).sum())
        if self._kept_out is None:
            return Tried(names, Distance.of(waits), None, waiting)
        held = self._kept_out.holds(waits)
        return Tried(names, Distance.of(waits.of(~held)), Distance.of(waits.of(held)), waiting)
