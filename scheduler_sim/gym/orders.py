"""Order-v0 and Weights-v0: in which order the queue stands for a while, under easy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.gym.easy import easy_pass
from scheduler_sim.gym.environment import Scheduling
from scheduler_sim.gym.observation import scaled
from scheduler_sim.policy.keys import ORDERS
from scheduler_sim.policy.order import keys
from scheduler_sim.units import HOUR

WEIGHTED = ("limit", "nodes", "wait", "area")
"""What weights are of: each from 0 to 1."""


OFFERED = ("fifo", "sjf", "smallest", "wfp3", "f1")
"""From which orders is chosen, unless others are given."""


class OrderForAWhile(Scheduling):
    """A decision gives the order of the queue for ``every`` s, under easy: the smallest key goes first."""

    def __init__(self, *, every: int = HOUR, **given: Any) -> None:
        super().__init__(**given)
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InputError(f"every: found {every!r}; allowed: an integer >= 1 (s)")
        self.every = every

    def _decide(self, action: Any) -> None:
        assert self.view is not None
        until = self.view.now + self.every
        while self.view is not None and self.view.now < until:
            rows = self._columns.waiting
            order = np.argsort(self._keys(action, rows, self.view.now), kind="stable")
            easy_pass(self.view, self._columns, rows[order])
            self._go_on()

    def _keys(self, action: Any, rows: Any, now: int) -> Floats:
        """Return the keys of jobs that wait, float64[rows]."""
        raise NotImplementedError


class ChooseOrder(OrderForAWhile):
    """Action i: the i-th of ``orders``, which are the built-in ones by name."""

    def __init__(self, *, orders: Sequence[str] = OFFERED, **given: Any) -> None:
        super().__init__(**given)
        for name in orders:
            if name not in ORDERS:
                hint = did_you_mean(str(name), ORDERS)
                raise InputError(f"orders: found {name!r}; allowed: {', '.join(ORDERS)}{hint}")
        if not orders:
            raise InputError("orders: found none; allowed: one or more")
        self.orders = tuple(orders)
        self.action_space = Discrete(len(orders))

    def _keys(self, action: Any, rows: Any, now: int) -> Floats:
        it = self._columns
        submit = it.submit
        limit, nodes = (it.placed(name, rows).astype(np.float64) for name in ("limit", "nodes"))
        since, wait = (
            (submit[rows] - submit.min()).astype(np.float64),
            (now - submit[rows]).astype(np.float64),
        )
        return keys(self.orders[int(action)], submit=since, limit=limit, nodes=nodes, wait=wait)


class ChooseWeights(OrderForAWhile):
    """An action is four weights from −1 to 1: of limit, nodes, wait and area, of which the key is the sum."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.action_space = Box(-1.0, 1.0, (len(WEIGHTED),), np.float32)

    def _keys(self, action: Any, rows: Any, now: int) -> Floats:
        it = self._columns
        module, nodes, limit = (it.placed(name, rows) for name in ("module", "nodes", "limit"))
        has = np.array([one.nodes for one in self.system.modules])[module]
        share = np.minimum(nodes / has, 1.0)
        area = scaled((limit * share).astype(np.int64))
        weighted = np.stack([scaled(limit), share, scaled(now - it.submit[rows]), area])
        found: Floats = np.asarray(action, dtype=np.float64) @ weighted
        return found
