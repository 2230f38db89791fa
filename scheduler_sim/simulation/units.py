"""Which components start by one plan.

A unit has the components of one heterogeneous job and those tied to it by DYNAMIC. A member starts
its offset after the start of the unit: its delay, counted from the first component of its job, or
from the component that its DYNAMIC dependency names (MWF positions 39 to 41; D2.3, section 7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.metrics.ties import connected
from scheduler_sim.placement.placements import Placements
from scheduler_sim.workload.circles import on_circles
from scheduler_sim.workload.dependencies import Edges, Pairs
from scheduler_sim.workload.refused import refused
from scheduler_sim.workload.table import Workload


@dataclass(frozen=True)
class Units:
    """Units of a workload, by rows of the core.

    Attributes
    ----------
    members : those of each unit, by offset and trace order; the first of the trace is the leader
    offset : int64[n], s from the start of the unit
    think : int64[n], s after its dependencies are satisfied until a component is eligible
    in_vain : how many have a delay that counts from nothing: alone, or the first of their job
    """

    members: list[np.ndarray]
    offset: np.ndarray
    think: np.ndarray
    in_vain: int = 0


def find_units(workload: Workload, placements: Placements, *, resolution_s: int = 1) -> Units:
    """Find the units of a workload, and what else position 41 means; delays count whole ``resolution_s``.

    A component that waits, by a dependency, for one that would be in its own unit starts on its own, and
    those tied to it by DYNAMIC start by it. What has dependencies, and is not tied, has think time, no delay.
    """
    rows, here = placements.rows, placements.in_table
    count, delay = len(rows), np.maximum(workload.columns["delay"][here], 0)
    edges, ties = (by_place(pairs, workload, rows) for pairs in (workload.edges, workload.tied))
    waits = np.zeros(count, dtype=bool)
    waits[edges.row] = True
    several = workload.columns["components_total"][here] > 1
    if not several.any() and not len(ties.row):
        nothing = np.zeros(count, dtype=np.int64)
        return Units([], nothing, np.where(waits, delay, 0), int(((delay > 0) & ~waits).sum()))
    job = pd.factorize(workload.columns["modular_job_id"][here])[0]
    job[~several] = len(job) + np.flatnonzero(~several)
    ties, apart = _without_own(ties, edges, job)
    group = np.where(apart, -1 - np.arange(count), job)  # what follows has left its job
    head = _first_of_each(group)
    label = _joined(ties, head)
    bound = _bound(ties, _first_of_each(_pairs(label, job)), several)
    _refuse_circles(workload, rows, bound)
    tied = np.zeros(count, dtype=bool)
    tied[ties.row] = True
    own = np.where(tied | ~waits, -(-delay // resolution_s) * resolution_s, 0)
    return Units(
        list(_members(label, offset := _offsets(bound, own))),
        offset,
        np.where(waits & ~tied, delay, 0),
        int(((delay > 0) & ~waits & ~np.isin(np.arange(count), bound[0])).sum()),
    )


def by_place(pairs: Pairs | Edges, workload: Workload, rows: np.ndarray) -> Pairs:
    """Rows of the workload's table as rows of the core."""
    if not len(pairs.row):
        return Pairs(rows[:0], rows[:0])
    place = np.full(len(workload), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return Pairs(place[pairs.row], place[pairs.after_row])


def _without_own(ties: Pairs, edges: Pairs, job: np.ndarray) -> tuple[Pairs, np.ndarray]:
    """The ties that count; what is apart from its job: it waits for its own unit, or is tied to such."""
    count = len(job)
    label = _joined(ties, _first_of_each(job))
    row, after = edges
    alone = np.zeros(count, dtype=bool)
    alone[row[label[row] == label[after]]] = True
    ties = ties.picked(~alone[ties.row])
    row, after = ties
    apart = alone.copy()
    while True:
        more = row[apart[after] & ~apart[row]]
        if not len(more):
            return ties.picked(~apart[row] | apart[after]), apart
        apart[more] = True


def _first_of_each(job: np.ndarray) -> np.ndarray:
    """int64[n]: the first component with the same number."""
    _, first, inverse = np.unique(job, return_index=True, return_inverse=True)
    return first[inverse]


def _pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """A number for each pair of numbers."""
    pairs: np.ndarray = pd.factorize(one * (int(other.max(initial=0)) + 1) + other)[0]
    return pairs


def _joined(ties: Pairs, head: np.ndarray) -> np.ndarray:
    """int64[n]: equal for all that are connected by ties, and each with its head."""
    one = np.concatenate([ties.row, np.arange(len(head))])
    return connected(len(head), one, np.concatenate([ties.after_row, head]))


def _bound(ties: Pairs, head: np.ndarray, several: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From what each counts its delay: those it is tied to, else the first of its job in the unit."""
    rows = np.arange(len(head))
    by_job = np.setdiff1d(rows[several & (head != rows)], ties.row)
    return np.concatenate([ties.row, by_job]), np.concatenate([ties.after_row, head[by_job]])


def _offsets(bound: tuple[np.ndarray, np.ndarray], own: np.ndarray) -> np.ndarray:
    """Offset of what each is bound to, and its own delay; the latest where it is bound to several."""
    row, after = bound
    offset = np.zeros(len(own), dtype=np.int64)
    while True:
        known = offset.copy()
        np.maximum.at(offset, row, known[after] + own[row])
        if (offset == known).all():
            return offset


def _refuse_circles(workload: Workload, rows: np.ndarray, bound: tuple[np.ndarray, np.ndarray]) -> None:
    """Raise JobsRefused where delays that count from one another lead round in a circle."""
    row, after = bound
    circular = row[on_circles(row, after)]
    if len(circular):
        raise refused(
            workload,
            np.unique(rows[circular]),
            "dependency_ids",
            "delays and DYNAMIC dependencies form a circle; allowed: DYNAMIC dependencies that lead back"
            " to no component, nor to its job",
        )


def _members(label: np.ndarray, offset: np.ndarray) -> Iterator[np.ndarray]:
    """Members of each unit of several, by offset and trace order."""
    inside = np.flatnonzero(np.bincount(label)[label] > 1)
    order = inside[np.lexsort((inside, offset[inside], label[inside]))]
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
