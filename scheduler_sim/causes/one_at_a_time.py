"""Runs that change one thing at a time, and how much nearer to the record each comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_sim.agreement.waits import Distance, Waits, waits_of
from scheduler_sim.causes.changes import Change, NotTried, changes_of
from scheduler_sim.causes.kept_out import KeptOut
from scheduler_sim.causes.setup import Progress, Setup
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.result import Result
from scheduler_sim.workload.table import Workload

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
    together : all that came nearer, at once; None if that is fewer than two
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
            "repeated from its manifest, the run starts components at other times: it was made by another"
            " version, or by a program that acted on it; allowed: results of scheduler-sim run"
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
    helped = _compatible([one for one, row in tried if row.chosen.by_day < base.chosen.by_day])
    together = None
    if len(helped) > 1:
        for change in helped:
            setup = change.apply(setup)
        made = measure.run("all that came nearer, together", setup)
        together = measure.tried(tuple((one.name, one.to) for one in helped), made)
    return Causes(base, tuple(row for _, row in tried), together, tuple(not_tried), kept_out)


def _compatible(changes: Sequence[Change]) -> list[Change]:
    """Keep of changes that are about the same the first."""
    kept: list[Change] = []
    for change in changes:
        if not any(change.about & one.about for one in kept):
            kept.append(change)
    return kept


def _same_starts(result: Result, again: Result) -> bool:
    """Tell whether both start the same components at the same times."""
    columns = ("component_id", "start_time")
    pairs = ((one.components[name].to_numpy() for one in (result, again)) for name in columns)
    return all(np.array_equal(*pair) for pair in pairs)


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
        import pandas as pd

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
