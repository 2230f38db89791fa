"""What ties components to one another: dependencies, and starts that are planned together."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from scheduler_sim.result.columns import NEVER

AFTER, AFTERANY, AFTEROK, AFTERNOTOK, DYNAMIC = range(5)
"""Codes of ``kind`` in a table of dependencies; all but AFTER and DYNAMIC wait for an end."""

OPTIONAL = {"kind": AFTEROK, "delay": 0, "any": 0, "ready": NEVER}
"""What stands for a column that a table of dependencies does not have."""


class Ties(NamedTuple):
    """Dependencies, int64[edges] each.

    Attributes
    ----------
    row, after_row : ``row`` waits for ``after_row``, row numbers of the components
    kind : the codes above
    delay : s after the dependency is satisfied (of AFTER: after the start; of DYNAMIC not read, the
        offsets have it)
    any : 1 = any one of the row's is enough
    ready : the instant at which ``after_row`` had the data ``row`` needs, −1 = not known
    """

    row: np.ndarray
    after_row: np.ndarray
    kind: np.ndarray
    delay: np.ndarray
    any: np.ndarray
    ready: np.ndarray

    def picked(self, which: np.ndarray) -> Ties:
        """Return some of them."""
        return Ties(*(column[which] for column in self))


NO_TIES = Ties(*(np.zeros(0, dtype=np.int64) for _ in Ties._fields))

Edges: TypeAlias = "pd.DataFrame | Ties | None"
"""Dependencies, or a table with columns such as those; what is OPTIONAL may be left out. None for none."""


def ties(edges: Edges) -> Ties:
    """Return the columns of a table of dependencies, all of them."""
    if edges is None:
        return NO_TIES
    if isinstance(edges, Ties):
        return edges
    rows = {name: edges[name].to_numpy() for name in ("row", "after_row")}
    for name, default in OPTIONAL.items():
        rows[name] = edges[name].to_numpy() if name in edges else np.full(len(edges), default)
    return Ties(**rows)


def unit_labels(modular_job_id: np.ndarray, tied: Ties) -> np.ndarray:
    """Number the units: components whose starts are planned together.

    Those of one modular job, and those tied by DYNAMIC. A component that waits for another
    of its own job leaves the others; one that is tied by DYNAMIC to another of its own job
    goes where that one goes.

    Returns
    -------
    int64[components] : the unit of each, from 0.
    """
    label, jobs = pd.factorize(modular_job_id)
    row, after_row, dynamic = tied.row, tied.after_row, tied.kind == DYNAMIC
    alone = row[label[row] == label[after_row]]
    label[alone] = len(jobs) + alone
    roots = connected(len(jobs) + len(label), label[row[dynamic]], label[after_row[dynamic]])
    return pd.factorize(roots[label])[0]


def connected(count: int, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Give each of ``count`` things the smallest number it is connected with, by hooking and halving."""
    root = np.arange(count)
    while True:
        smaller = np.minimum(root[one], root[other])
        larger = np.maximum(root[one], root[other])
        if (smaller == larger).all():
            return root
        np.minimum.at(root, larger, smaller)
        while True:  # every path ends at its root after as many halvings as its length has bits
            halved = root[root]
            if (halved == root).all():
                break
            root = halved
