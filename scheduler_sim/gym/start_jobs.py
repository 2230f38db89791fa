"""Queue-v0: which job of the queue starts now, if any."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

from scheduler_sim.gym.environment import Mask, Scheduling


class StartJobs(Scheduling):
    """Action i starts the i-th job of the window now; the last action, ``window``, ends the pass.

    Decisions are due where some job of the window fits; passes in which none does go by. Only jobs that fit
    may be started, and a pass may not be ended where no other would come, as nothing runs and nothing is to
    be submitted. An action that is not allowed is counted: the pass ends in its place, or, where it may not,
    the first job that fits starts.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.action_space = Discrete(self.window + 1)

    def _prepare(self) -> None:
        self._pass_by()

    def _decide(self, action: Any) -> None:
        mask = self._mask()
        if not mask[action]:
            self._refuse()
            action = self.window if mask[self.window] else int(np.argmax(mask))
        if action == self.window:
            self._go_on()
        else:
            assert self.view is not None
            self.view.start(self._columns.job(int(self._observation.rows[action])))
        self._pass_by()

    def _pass_by(self) -> None:
        """Leave passes in which nothing fits."""
        while self.view is not None and not self._observation.move_window(self._columns).any():
            self._go_on()

    def _mask(self) -> Mask:
        mask = np.zeros(self.window + 1, dtype=np.int8)
        fits = self._observation.fits
        mask[: len(fits)] = fits
        mask[self.window] = self.view is None or self._columns.more_to_come
        return mask
