"""How good predictions are: at instants of a run whose every start is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Ints, alike
from scheduler_sim.policy.policy import Policy
from scheduler_sim.prediction.draws import LATER
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.predict import predict
from scheduler_sim.prediction.state import State
from scheduler_sim.result.result import Result
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload


@dataclass(frozen=True)
class Truth:
    """A run of a whole trace: what was asked for, and when each job started and ended.

    Attributes
    ----------
    jobs : those that ran, in the order of submission
    submit, start, end, limit : int64[rows], s
    """

    jobs: Workload
    submit: Ints
    start: Ints
    end: Ints
    limit: Ints

    @classmethod
    def of(cls, workload: Workload, result: Result) -> Truth:
        """Return the truth that a run of a trace is."""
        table = result.components
        ran = np.flatnonzero(table["start_time"].to_numpy() >= 0)
        columns = [
            table[name].to_numpy()[ran] for name in ("submit_time", "start_time", "end_time", "time_limit")
        ]
        order = np.argsort(columns[0], kind="stable")
        rows = np.flatnonzero(workload["skipped"] == 0)[ran][order]
        return cls(workload.select(rows), *(column[order] for column in columns))

    def state_at(self, at: int) -> tuple[State, Ints]:
        """Return what runs and waits just after the pass of an instant (s), and the rows that those are."""
        rows = np.flatnonzero((self.submit <= at) & (self.end > at))
        start = np.where(self.start[rows] <= at, self.start[rows], -1)
        labels = tuple(map(str, self.jobs["component_id"][rows].tolist()))
        return State(self.jobs.select(rows), labels, start, self.limit[rows], at, None), rows

    def history_by(self, at: int) -> History:
        """Return what had ended by an instant (s)."""
        rows = np.flatnonzero(self.end <= at)
        start, submit = self.start[rows], self.submit[rows]
        return History(
            self.jobs.select(rows), submit, self.end[rows] - start, self.limit[rows], start - submit
        )

    def last_waits(self, at: int, rows: Ints) -> Ints:
        """Return when jobs would start (s) if they waited as long as the last job like them that started.

        Alike are jobs of one user, size and limit; without one by then, of one size and limit. The start is
        at the earliest now (``at``); ``LATER`` where no job was like it.
        """
        began = np.flatnonzero(self.start <= at)
        began = began[np.argsort(self.start[began], kind="stable")]
        users = np.asarray(self.jobs.columns["user"].codes)
        found = np.full(len(rows), LATER)
        for columns in ((self.jobs["nodes"], self.limit), (users, self.jobs["nodes"], self.limit)):
            kind, _ = alike(columns)
            last = dict(zip(kind[began].tolist(), began.tolist(), strict=True))
            like = np.array([last.get(one, -1) for one in kind[rows].tolist()], dtype=np.int64)
            would = np.maximum(self.submit[rows] + self.start[like] - self.submit[like], at)
            found = np.where(like >= 0, would, found)
        return found


def looked_at(
    system: System, policy: Policy, truth: Truth, at: int, *, draws: int, seed: int = 0
) -> pd.DataFrame:
    """Predict at an instant (s), and return a row for each waiting job; none where nobody waits.

    Columns: ``component_id``, and in s from ``at`` on ``start`` (the true one), ``start_10``, ``start_50``,
    ``start_90``, ``by_limits`` and ``last_wait``; −1 in the last where no job was like it. What is beyond the
    horizon of the draws is put there. ``rank`` is the share of draws that start before the true start, half
    of those that start just then included.
    """
    state, rows = truth.state_at(at)
    waiting = rows[state.waits]
    if not len(waiting):
        return pd.DataFrame()
    [found] = predict(system, policy, [state], truth.history_by(at), draws=draws, seed=seed)
    table, start = found.table(), truth.start[waiting]
    drawn, like = found.starts[:, state.waits], truth.last_waits(at, waiting)
    times = ("start_10", "start_50", "start_90", "by_limits")
    return pd.DataFrame(
        {
            "component_id": truth.jobs["component_id"][waiting],
            "start": start - at,
            **{name: np.minimum(table[name], found.horizon) - at for name in times},
            "last_wait": np.where(like == LATER, -1, like - at),
            "rank": ((drawn < start).mean(axis=0) + (drawn <= start).mean(axis=0)) / 2,
        }
    )
