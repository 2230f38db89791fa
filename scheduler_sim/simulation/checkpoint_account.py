"""What runs of components spent on checkpoints and restarts, and what is left of their work."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.placement.placements import Placements
from scheduler_sim.result.columns import NEVER
from scheduler_sim.simulation.rules.checkpoints import FIELDS, Habit

ACCOUNTED = ("work_s", "checkpoint_s", "restart_s", "kept_s")


class Writing(NamedTuple):
    """How components write checkpoints where they ran, and how long they have worked in their last run.

    Columns int64[n], s, in the order of the file; ``habit`` is 0 where they do not, or did not run.
    """

    worked: Ints
    habit: Habit

    def columns(self, rows: np.ndarray) -> dict[str, Ints]:
        """Return those of some components by name."""
        habit = {name: column[rows] for name, column in zip(FIELDS, self.habit, strict=True)}
        return {"worked": self.worked[rows], **habit}

    @property
    def wrote(self) -> np.ndarray:
        """bool[n]: whether the last run has written a checkpoint, at least if it did not begin with one."""
        of, long = self.habit, self.habit.interval + self.habit.cost
        wrote: np.ndarray = (of.interval > 0) & (self.worked >= long) & (of.work > of.interval)
        return wrote


def writing(core: FullCore, placements: Placements) -> Writing | None:
    """Return how components write checkpoints; None where none does."""
    if not has(core, "checkpoints"):
        return None
    jobs = np.asarray(core.jobs)[: len(placements.rows)]
    ran, order = jobs["start"] != NEVER, placements.file_order
    placed = np.where(ran, jobs["placed"], 0)
    habit = [np.where(ran, column, 0) for column in Habit.of(core, placed)]
    worked = np.where(ran, time_at_work(core, np.arange(len(ran)), jobs["start"], jobs["end"]), 0)
    if order is not None:
        worked, habit = worked[order], [column[order] for column in habit]
    return Writing(worked, Habit(*habit))


def time_at_work(
    core: FullCore, row: np.ndarray | int, start: np.ndarray | int, end: np.ndarray | int
) -> Ints:
    """Return how much of their run times components have done in a run, s: the engine's answer for many."""
    launch = np.asarray(core.slurm.job)["launch"][row] if has(core, "slurm") else 0
    worked: Ints = np.maximum(np.asarray(end) - start - launch, 0)
    return worked


def accounted(runs: pd.DataFrame) -> dict[str, Ints]:
    """Work out what runs did, in the order in which each component had them.

    Parameters
    ----------
    runs : ``place`` of the component and, in s, ``worked`` and the fields of ``Habit``; those of a component
        in order.

    Returns
    -------
    int64[runs] each, s: ``work_s``, left at the start, −1 where no checkpoints are written; ``checkpoint_s``,
    of those that were completed; ``restart_s``; ``kept_s``, work that a checkpoint, or the end, has kept.
    """
    _, owner = np.unique(runs["place"].to_numpy(), return_inverse=True)
    number = runs.groupby("place").cumcount().to_numpy()
    left, of = (np.zeros(owner.max(initial=-1) + 1, dtype=np.int64) for _ in range(2))  # at its checkpoint
    told = {name: np.zeros(len(runs), dtype=np.int64) for name in ACCOUNTED}
    order = np.argsort(number, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
        one = owner[at]
        habit = Habit(*(runs[name].to_numpy()[at] for name in FIELDS))
        goes_on, writes = of[one] > 0, habit.interval > 0
        work = habit.work_left(left[one], of[one])
        worked = runs["worked"].to_numpy()[at]
        restart = np.where(goes_on & writes, np.minimum(habit.restart, worked), 0)
        most, length = habit.written(work), np.maximum(habit.interval + habit.cost, 1)
        over = worked - restart >= work + most * habit.cost
        count = np.where(over, most, np.where(writes, (worked - restart) // length, 0))
        kept = np.where(over, work, count * habit.interval)
        for name, column in zip(
            ACCOUNTED, (work, count * habit.cost, restart, np.where(writes, kept, 0)), strict=True
        ):
            told[name][at] = np.where(writes | (name != "work_s"), column, NEVER)
        left[one] = np.where(over, 0, np.where(count > 0, work - kept, left[one]))
        of[one] = np.where(over, 0, np.where(count > 0, habit.work, of[one]))
    return told
