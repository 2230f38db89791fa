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
    order of submission, as under easy. Then the next decision is due. A place of the window without a job is
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
        job = self._columns.job(int(self._observation.rows[action]))
        while self.view is not None and not self.view.start(job):
            if self.backfill:
                backfill_behind(self.view, job)
            self._go_on()
            job = self._columns.job(job.number)
        if self.view is not None and len(self._columns.waiting) == 0:
            self._go_on()

    def _mask(self) -> Mask:
        mask = np.zeros(self.window, dtype=np.int8)
        mask[: len(self._observation.rows)] = 1
        return mask
