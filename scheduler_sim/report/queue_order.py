"""Queue orders, recomputed from a result: which component stood before which, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.policy import order as formulas


def can_be_recomputed(order: Any) -> bool:
    """Tell whether this order is a built-in one, whose formula is known."""
    return isinstance(order, str) and (order in formulas.STATIC or order in formulas.MOVING)


def priority(
    order: str, *, time_limit: Ints, nodes: Ints, submit: Ints, first_submit: int, now: Any = 0
) -> Floats:
    """Return the priority of each component; the smallest goes first.

    Parameters
    ----------
    time_limit, submit : int64[n], seconds; nodes : int64[n]
    first_submit : seconds, the first submission of the trace
    now : seconds, one instant or int64[n]; only ``wfp3`` and ``unicef`` look at it
    """
    return formulas.keys(
        order,
        submit=(submit - first_submit).astype(np.float64),
        limit=np.maximum(time_limit, 1).astype(np.float64),
        nodes=nodes.astype(np.float64),
        wait=(now - submit).astype(np.float64),
    )


@dataclass(frozen=True)
class QueueOrder:
    """One total order over some components: priority, then submit time, then trace order.

    Attributes
    ----------
    name : a built-in order
    time_limit, nodes, submit, row : int64[n] of the components it orders
    first_submit : seconds
    """

    name: str
    time_limit: Ints
    nodes: Ints
    submit: Ints
    row: Ints
    first_submit: int

    @property
    def moves(self) -> bool:
        """Whether places change while components wait."""
        return self.name in formulas.MOVING

    def priority(self, of: Any, now: Any = 0) -> Floats:
        """Return the priorities of the components at the positions ``of``."""
        return priority(
            self.name,
            time_limit=self.time_limit[of],
            nodes=self.nodes[of],
            submit=self.submit[of],
            first_submit=self.first_submit,
            now=now,
        )

    def sorted(self, of: Ints, now: int = 0) -> Ints:
        """Return the positions ``of`` in queue order at ``now``."""
        return of[np.lexsort((self.row[of], self.submit[of], self.priority(of, now)))]

    def first(self, of: Ints, now: int) -> int:
        """Return the position that comes first at ``now``."""
        keys = self.priority(of, now)
        ties = of[keys == keys.min()]
        return int(ties[np.lexsort((self.row[ties], self.submit[ties]))[0]])

    def after(self, of: Ints, one: int, now: Any = 0) -> NDArray[np.bool_]:
        """Tell which of the positions ``of`` come later than ``one``, each at its ``now``."""
        theirs = self.priority(of, now)
        own = self.priority(np.full(len(of), one), now)
        later = np.where(
            self.submit[of] == self.submit[one],
            self.row[of] > self.row[one],
            self.submit[of] > self.submit[one],
        )
        return np.asarray(np.where(theirs == own, later, theirs > own), dtype=bool)
