"""Components that are alike to the models: projected once, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.accounting import milli
from scheduler_sim.energy.expand import Expanded, expand
from scheduler_sim.energy.layer import EnergyLayer
from scheduler_sim.texts import TextColumn, is_text_column


class Alike(NamedTuple):
    """n components of c kinds.

    Attributes
    ----------
    kind : (n,) int64, which kind each is of.
    names : (c,) tuples, by which an application is known, best first; empty where it is not known.
    hint : (c,) text; reference_w : (c,) W of a node as the trace states it, ≤ 0: it does not.
    learnt_w : (c,) W of a node as it was learnt of such jobs, ≤ 0: it was not.
    """

    kind: Ints
    names: np.ndarray
    hint: np.ndarray
    reference_w: Ints
    learnt_w: Floats

    @classmethod
    def of(
        cls,
        known: tuple[Ints, Sequence[tuple[str, ...]]],
        hint: TextColumn,
        reference_w: Any,
        learnt_w: Floats | None = None,
    ) -> Alike:
        """Tell which components are alike, by their columns (n,); ``known``: a place in a list of names."""
        place, names = known
        learnt_w = np.broadcast_to(-1.0, len(place)) if learnt_w is None else learnt_w
        columns = [
            (place, np.fromiter(names, dtype=object)),
            *(_codes(column) for column in (hint, reference_w, learnt_w)),
        ]
        key, size = np.zeros(len(place), dtype=np.int64), 1
        for codes, values in columns:
            if len(values) > 1:
                key, size = key + size * codes, size * len(values)
        kind, keys = pd.factorize(key) if size > 1 else (key, key[:1])
        found = []
        for _, values in columns:
            keys, place = np.divmod(keys, max(len(values), 1))
            found.append(np.asarray(values)[place])
        return cls(np.asarray(kind, dtype=np.int64), *found)

    def on(self, layer: EnergyLayer, module: str, which: Ints | None = None) -> Expanded:
        """Project each kind to some clocks of a module, by their places, or to all: arrays of (c, k).

        Raises InputError for a module without a profile, and as :func:`~scheduler_sim.energy.expand.expand`.
        """
        profile = layer.profiles[module]
        spelt = layer.spelt(set(self.names), module)
        return expand(
            profile,
            np.array([spelt[names] for names in self.names], dtype=object),
            hint=self.hint,
            reference_w=self.reference_w.astype(np.float64),
            learnt_w=self.learnt_w,
            signatures=layer.signatures_of(profile),
            which=which,
        )


def _codes(column: Any) -> tuple[Ints, np.ndarray]:
    """Return a column as places in its values, and these; of a constant column not row by row."""
    if is_text_column(column):
        return np.asarray(column.codes, dtype=np.int64), np.asarray(column.categories, dtype=object)
    values = np.asarray(column)
    if values.strides == (0,):
        return np.zeros(len(values), np.int64), values[:1]
    codes, values = pd.factorize(values)
    return codes.astype(np.int64), values


def node_milliwatts(made: Expanded, module: str) -> Ints:
    """Return the power of a node in whole mW, (c, k); -1 where there are no coefficients for the pair."""
    known = ~np.isnan(made.power_w)
    found = np.full(made.power_w.shape, -1, dtype=np.int64)
    found[known] = milli(made.power_w[known], f"power of {module}")
    return found
