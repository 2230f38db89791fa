"""Queue-v0: which job of the queue starts now, if any."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

from scheduler_sim.arrays import Bools
from scheduler_sim.gym.environment import Mask, Scheduling


class StartJobs(Scheduling):
    """Action i starts the i-th job of the window now; the last action, ``window``, ends the pass.

    Decisions are due where some job of the window may start; passes in which none may go by. Only jobs that
    fit may be started, and a pass may not be ended where no other would come, as nothing runs and nothing is
    to be submitted. With ``reserve`` a job that does not fit may be chosen, too, one for each module in a
    pass: nodes are reserved for it, and only those may start there then that do not delay it, as under easy.

    An action that is not allowed is counted: the pass ends in its place, or, where it may not, the first job
    that may start does.
    """

    def __init__(self, *, reserve: bool = False, **given: Any) -> None:
        super().__init__(**given)
        self.reserve = reserve
        self.action_space = Discrete(self.window + 1)

    def _prepare(self) -> None:
        self._may_start: Bools = np.zeros(0, dtype=np.bool_)
        self._blocked: set[str] = set()
        self._pass_by()

    def _decide(self, action: Any) -> None:
        mask = self._mask()
        if not mask[action]:
            self._refuse()
            action = self.window if mask[self.window] else int(np.argmax(self._may_start))
        if action == self.window:
            self._leave()
        else:
            assert self.view is not None
            job = self._columns.job(int(self._observation.rows[action]))
            if not self.view.start(job):
                self.view.reserve(job)
                self._blocked.add(job.module)
        self._pass_by()

    def _leave(self) -> None:
        self._blocked.clear()
        self._go_on()

    def _pass_by(self) -> None:
        """Leave passes in which no job may start."""
        while self.view is not None and not self._find_who_may_start():
            self._leave()

    def _find_who_may_start(self) -> bool:
        """Find which jobs of the window may start: those that fit, and delay none that has a reservation."""
        assert self.view is not None
        self._may_start = self._observation.move_window(self._columns).copy()
        for place in np.flatnonzero(self._may_start).tolist() if self._blocked else ():
            job = self._columns.job(int(self._observation.rows[place]))
            if job.module in self._blocked:
                self._may_start[place] = self.view.earliest_start(job) == self.view.now
        return bool(self._may_start.any())

    def _mask(self) -> Mask:
        mask = np.zeros(self.window + 1, dtype=np.int8)
        if self.view is None:
            return mask
        mask[: len(self._may_start)] = self._may_start
        if self.reserve:
            for place in np.flatnonzero(~self._observation.fits).tolist():
                mask[place] = (
                    self._columns.job(int(self._observation.rows[place])).module not in self._blocked
                )
        mask[self.window] = self._columns.more_to_come
        return mask
