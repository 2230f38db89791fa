"""Components that are alike to the models: projected once, however many there are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.energy.accounting import milli
from scheduler_sim.energy.expand import Expanded, expand
from scheduler_sim.energy.layer import EnergyLayer
from scheduler_sim.energy.pstates import Ints


class Alike(NamedTuple):
    """n components of c kinds.

    Attributes
    ----------
    kind : (n,) int64, which kind each is of.
    app, hint : (c,) text; reference_w : (c,) W of a node as the trace states it, ≤ 0: it does not.
    """

    kind: Ints
    app: np.ndarray
    hint: np.ndarray
    reference_w: Ints

    @classmethod
    def of(cls, app: pd.Categorical, hint: pd.Categorical, reference_w: Any) -> Alike:
        """Tell which components are alike, by their columns (n,)."""
        stated, watts = pd.factorize(np.asarray(reference_w, dtype=np.int64))
        size = len(app.categories), len(hint.categories), len(watts)
        key = np.asarray(app.codes, dtype=np.int64) * size[1] + hint.codes
        kind, keys = pd.factorize(key * size[2] + stated)
        rest, of_watts = np.divmod(keys, max(size[2], 1))
        of_app, of_hint = np.divmod(rest, max(size[1], 1))
        return cls(
            kind.astype(np.int64),
            np.asarray(app.categories, dtype=object)[of_app],
            np.asarray(hint.categories, dtype=object)[of_hint],
            watts[of_watts],
        )

    def on(self, layer: EnergyLayer, module: str, khz: Ints | None = None) -> Expanded:
        """Project each kind to some P-states of a module (kHz), or to all: arrays of (c, k).

        Raises InputError for a module without a profile, and as :func:`scheduler_sim.energy.expand.expand` does.
        """
        profile = layer.profiles[module]
        return expand(
            profile,
            self.app,
            hint=self.hint,
            reference_w=self.reference_w.astype(np.float64),
            signatures=layer.signatures_of(profile),
            khz=khz,
        )


def node_milliwatts(made: Expanded, module: str) -> Ints:
    """Return the power of a node in whole mW, (c, k); -1 where the models have no coefficients for the pair."""
    known = ~np.isnan(made.power_w)
    found = np.full(made.power_w.shape, -1, dtype=np.int64)
    found[known] = milli(made.power_w[known], f"power of {module}")
    return found
