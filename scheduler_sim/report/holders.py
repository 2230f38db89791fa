"""Who had a resource while it was short for somebody else: components and users, by amount and time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.explanation import Had, Lack
from scheduler_sim.result.node_use import Held
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.texts import TextColumn

TOP = 3


class Holding:
    """What components held, from one moment to the next; ``bounds`` are the moments, s, and the last end."""

    def __init__(self, schedule: Schedule, held: Held, bounds: Ints) -> None:
        self._schedule, self._held, self._bounds = schedule, held, bounds

    def told(self, lack: Lack, taken: Ints, seconds: Ints) -> Lack:
        """Return a shortage with those who had most of the resource in it.

        Parameters
        ----------
        taken : int64[held], how much of it each had
        seconds : int64[moments], how long of each span it was short
        """
        held, table = self._held, self._schedule.components
        short = np.append(0, np.cumsum(seconds))
        until = np.interp(held.end, self._bounds, short)
        weight = taken * (until - np.interp(held.start, self._bounds, short))
        of_row = np.bincount(held.row, weight, minlength=len(table))
        whole = float(of_row.sum())
        if whole <= 0:
            return lack
        users = TextColumn.of(table["user"])
        rows = np.flatnonzero(of_row > 0)
        top = rows[np.argsort(-of_row[rows], kind="stable")[:TOP]]
        of_user = np.bincount(users.codes[rows], of_row[rows], minlength=len(users.categories))
        most = np.argsort(-of_user, kind="stable")[:TOP]
        ids = table["component_id"].to_numpy()
        return replace(
            lack,
            holders=tuple(
                Had(int(ids[row]), str(users[row]), float(of_row[row] / whole)) for row in top.tolist()
            ),
            users=tuple(
                (str(users.categories[user]), float(of_user[user] / whole))
                for user in most.tolist()
                if of_user[user] > 0
            ),
            holding=len(rows),
        )
