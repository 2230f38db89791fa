"""Jobs tied into workflows: which of them, in which shape, and when they hand over.

The reference (D2.3 section 3.2, Figure 14) extends a job by the next one of the trace with a given
probability, up to a largest number of components: chains whose lengths are geometric. Here shapes
are drawn for heads, so that chains are one shape of several; the law of the chains is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from scheduler_sim.generation.merge import BaseTrace
from scheduler_sim.generation.shapes import Shape, chain

MOST_TRIALS = 12
CLOSE_ENOUGH = 0.001


@dataclass(frozen=True)
class WorkflowLaw:
    """How workflows are laid over a trace.

    Attributes
    ----------
    start : probability that a job which is in no workflow yet begins one.
    shapes : what it may begin, with probabilities that sum to 1.
    delay_factor, api_factor : ranges of the uniforms that, times the producer's requested time
        and run time, give the delay to its consumer and the moment of its API call.
    """

    start: float
    shapes: Mapping[Shape, float]
    delay_factor: tuple[float, float] = (0.5, 0.9)
    api_factor: tuple[float, float] = (0.5, 0.9)

    def share(self) -> float:
        """Return the share of jobs inside workflows if every one of them fits."""
        inside = self.start * mean_components(self.shapes)
        return inside / (inside + 1.0 - self.start)


@dataclass(frozen=True)
class Workflows:
    """The workflows of a trace.

    Attributes
    ----------
    rows : the rows (int64, ascending) that may be in workflows: all but cancelled jobs.
    heads : by shape, the places in ``rows`` (int64, ascending) at which one begins; its
        components are at the places that follow.
    delay_factor, api_factor : one a row: how far into the producer's requested time this row
        is due, and how far into its own run time this row calls.
    """

    rows: np.ndarray
    heads: Mapping[Shape, np.ndarray]
    delay_factor: np.ndarray
    api_factor: np.ndarray

    def members(self, shape: Shape) -> np.ndarray:
        """Return the rows of each workflow of a shape, int64 (workflows, components)."""
        return self.rows[self.heads[shape][:, None] + np.arange(shape.components)]

    def components(self) -> int:
        """Return the number of rows inside workflows."""
        return sum(shape.components * len(heads) for shape, heads in self.heads.items())


def extension_chains(probability: float, most: int) -> dict[Shape, float]:
    """Return the chains that extending with a probability makes, and their probabilities."""
    lengths = range(2, most + 1)
    return {chain(n): probability ** (n - 2) * (1.0 if n == most else 1.0 - probability) for n in lengths}


def extension_for_share(share: float, most: int) -> float:
    """Return the extension probability at which a share of the jobs is in workflows."""
    return float(brentq(lambda p: 1.0 - (1.0 - p) ** 2 / (1.0 - p**most) - share, 0.0, 1.0 - 1e-9))


def start_for_share(share: float, shapes: Mapping[Shape, float]) -> float:
    """Return the probability of beginning a workflow at which a share of the jobs is in one."""
    return share / (share + mean_components(shapes) * (1.0 - share))


def mean_components(shapes: Mapping[Shape, float]) -> float:
    """Return the mean number of components of the shapes."""
    return sum(probability * shape.components for shape, probability in shapes.items())


def lay(
    law: WorkflowLaw, trace: BaseTrace, capacity: Sequence[int], draws: Mapping[str, np.ndarray]
) -> Workflows:
    """Lay workflows over a trace, in its order; cancelled jobs are passed over.

    A head takes the jobs that follow it as long as the components of one module together fit
    it (``capacity``, nodes by module). A chain ends before the first that does not;
    of another shape nothing is left, and the head stays a job of its own. ``draws`` has four
    uniforms in [0, 1) a row: ``start``, ``shape``, ``delay``, ``api``.
    """
    usable = np.flatnonzero(trace.cancel_lag < 0)
    shapes = list(law.shapes)
    edges = np.cumsum([law.shapes[shape] for shape in shapes])
    starts = np.flatnonzero(draws["start"][usable] < law.start)
    wished = np.minimum(np.searchsorted(edges, draws["shape"][usable[starts]], side="right"), len(shapes) - 1)
    module, nodes = trace.module[usable].tolist(), trace.nodes[usable].tolist()
    heads: dict[Shape, list[int]] = {}
    free = 0
    for row, wish in zip(starts.tolist(), wished.tolist(), strict=True):
        if row < free:
            continue
        shape = shapes[wish]
        fitting = _rows_that_fit(row, shape.components, module, nodes, capacity)
        if fitting < shape.components:
            if shape.kind != "chain" or fitting < 2:
                continue
            shape = chain(fitting)
        heads.setdefault(shape, []).append(row)
        free = row + shape.components
    found = {shape: np.array(first, dtype=np.int64) for shape, first in sorted(heads.items())}
    return Workflows(
        usable, found, _between(law.delay_factor, draws["delay"]), _between(law.api_factor, draws["api"])
    )


def lay_share(
    law: WorkflowLaw,
    share: float,
    trace: BaseTrace,
    capacity: Sequence[int],
    draws: Mapping[str, np.ndarray],
) -> Workflows:
    """Lay workflows so that a share of the jobs is in one, as near as can be.

    Some do not fit and never begin, so the probability of beginning one is raised until the
    share is met within a thousandth, or every job that can begins one.
    """
    low, high = 0.0, 1.0
    start = law.start
    for _ in range(MOST_TRIALS):
        found = lay(replace(law, start=start), trace, capacity, draws)
        realised = found.components() / len(trace.nodes)
        if abs(realised - share) <= CLOSE_ENOUGH:
            return found
        low, high = (start, high) if realised < share else (low, start)
        guess = start_for_share(share, law.shapes) * start / max(start_for_share(realised, law.shapes), 1e-9)
        start = guess if low < guess < high else (low + high) / 2
    return found


def _rows_that_fit(
    row: int, wanted: int, module: list[int], nodes: list[int], capacity: Sequence[int]
) -> int:
    """Return how many jobs, from ``row`` on and at most ``wanted``, can be one workflow."""
    left = list(capacity)
    for member in range(row, min(row + wanted, len(module))):
        left[module[member]] -= nodes[member]
        if left[module[member]] < 0:
            return member - row
    return min(wanted, len(module) - row)


def _between(ends: tuple[float, float], uniform: np.ndarray) -> np.ndarray:
    return ends[0] + (ends[1] - ends[0]) * uniform
