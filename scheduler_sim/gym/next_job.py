"""Next-v0: which job of the queue goes next, be it now or when its nodes are free."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

from scheduler_sim.gym.easy import backfill_behind
from scheduler_sim.gym.environment import Mask, Scheduling


class NextJob(Scheduling):
    """Action i: the i-th job of the window goes next.

    It starts now, or as soon as it can; until then, with ``backfill``, others start that do not delay it, in
    order of submission, as under easy. The next decision is due where two jobs or more wait then: a
    single one goes next by itself. A place of the window without a job is
    not allowed: it is counted, and the first in the queue goes next.
    """

    def __init__(self, *, backfill: bool = True, **given: Any) -> None:
        super().__init__(**given)
        self.backfill = backfill
        self.action_space = Discrete(self.window)

    def _decide(self, action: Any) -> None:
        if not self._mask()[action]:
            self._refuse()
            action = 0
        self._go_next(int(self._observation.rows[action]))
        while self.view is not None and len(waiting := self._columns.waiting) == 1:
            self._go_next(int(waiting[0]))

    def _go_next(self, row: int) -> None:
        """Have a job start as soon as it can, and go on to where jobs wait after that."""
        while self.view is not None and not self.view.start(job := self._columns.job(row)):
            if self.backfill:
                backfill_behind(self.view, self._columns, job)
            self._go_on()
        if self.view is not None and len(self._columns.waiting) == 0:
            self._go_on()

    def _mask(self) -> Mask:
        mask = np.zeros(self.window, dtype=np.int8)
        mask[: len(self._observation.rows)] = 1
        return mask
