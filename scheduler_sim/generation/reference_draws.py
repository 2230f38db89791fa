"""The draws of the reference's modular stage: NumPy's legacy generator, in the reference's order.

Where this project draws each thing from a stream of its own, the reference takes all from one: a
number a job that no longer decides anything, one or two a job for its module list, then workflow by
workflow the extension, the delay and the API factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scheduler_sim.generation.merge import BaseTrace
from scheduler_sim.generation.shapes import Shape, chain
from scheduler_sim.generation.workflows import WorkflowLaw, Workflows


class ReferenceDraws:
    """One legacy generator and the order in which the stages take from it."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.RandomState(seed)

    def module_lists(self, module: np.ndarray, options: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Draw two numbers from 0 to 100 for each job: is it flexible, and which list?

        ``options`` is the number of lists of each module; where there is but one, the second
        number is not drawn. The reference compares by "up to and including"; a hair less makes that
        the "below" of other draws.
        """
        self._random.randint(0, 100, size=len(module))  # single module or several: always single
        draws = np.zeros((len(module), 2))
        for row, count in enumerate(np.asarray(options)[module].tolist()):
            draws[row, 0] = self._random.randint(0, 100)
            if count > 1:
                draws[row, 1] = self._random.randint(0, 100)
        return draws[:, 0] - 1e-9, draws[:, 1] - 1e-9

    def workflows(
        self, extension: float, most: int, law: WorkflowLaw, trace: BaseTrace, capacity: Sequence[int]
    ) -> Workflows:
        """Draw chains, extending each job by the next with a probability (in whole thousandths)."""
        walk = _Walk(
            trace.module.tolist(), trace.nodes.tolist(), list(capacity), round(1000 * extension), most
        )
        rows = len(walk.module)
        delay, api = np.full(rows, law.delay_factor[0]), np.full(rows, law.api_factor[0])
        heads: dict[Shape, list[int]] = {}
        row = 0
        while row < rows:
            length = self._extend(walk, row, law, delay, api)
            if length > 1:
                heads.setdefault(chain(length), []).append(row)
            row += length
        found = {shape: np.array(first, dtype=np.int64) for shape, first in sorted(heads.items())}
        return Workflows(np.arange(rows), found, delay, api)

    def _extend(self, walk: _Walk, head: int, law: WorkflowLaw, delay: np.ndarray, api: np.ndarray) -> int:
        """Extend one head; return the length of its chain."""
        left = list(walk.capacity)
        left[walk.module[head]] -= walk.nodes[head]
        drawn, length = self._random.randint(0, 1000), 1
        while drawn < walk.below and length < walk.most and head + length < len(walk.module):
            after = head + length
            left[walk.module[after]] -= walk.nodes[after]
            if min(left) < 0:
                break
            delay[after] = self._random.uniform(*law.delay_factor)
            api[after - 1] = self._random.uniform(*law.api_factor)
            drawn, length = self._random.randint(0, 1000), length + 1
        return length


class _Walk(NamedTuple):
    """What the walk over the jobs looks at: plain lists, and the limits of a chain."""

    module: list[int]
    nodes: list[int]
    capacity: list[int]
    below: int
    most: int
