"""How good a fit is, in words and figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_sim.scaling.curves import Table
from scheduler_sim.scaling.fitting.fit import MARGIN, Fit
from scheduler_sim.scaling.fitting.regression import EXACT, smape

WELL, ROUGHLY = 5.0, 20.0
"""Mean errors (%) on what was not fitted, up to which a fit is good, and up to which it is rough."""

ENOUGH = 5
"""Points below which small errors prove little: of many curves one fits three or four points of anything."""

FITS_WELL, FITS_ROUGHLY, NO_MODEL = "fits well", "fits roughly", "does not fit"
NOT_KNOWN, AS_MEASURED = "fit not known", "kept as measured"

WORST_FIRST = (NO_MODEL, NOT_KNOWN, FITS_ROUGHLY, AS_MEASURED, FITS_WELL)


def words(error: float, constant: float = np.inf) -> str:
    """Say how good a fit is by mean errors (%) on what was not fitted: its own, and that of a constant.

    Up to 5 % it fits well. Above, it is no model where it is no better than a constant by a tenth, or
    more than 20 % off; else it fits roughly.
    """
    if error <= WELL:
        return FITS_WELL
    return NO_MODEL if error > min(ROUGHLY, (1 - MARGIN) * constant) else FITS_ROUGHLY


@dataclass(frozen=True)
class Goodness:
    """How good a fit is.

    Attributes
    ----------
    word : one of ``WORST_FIRST``
    points : how many were fitted
    error : SMAPE (%) of predicting each point from the others; NaN where that cannot be done
    constant : the same of the mean of the others (geometric)
    distance : largest distance of the curve from a point, % of the point; ``at``: its P
    """

    word: str
    points: int
    error: float
    constant: float
    distance: float
    at: float

    @property
    def no_model(self) -> bool:
        """Whether nothing should be predicted by this fit."""
        return self.word == NO_MODEL

    def text(self, counted: str = "processes") -> str:
        """Return word and figures: ``fits well: points predicted from the others are 2.5 % off ...``."""
        if self.word == AS_MEASURED:
            return f"{self.word}: no curve is fitted, and nothing is known beyond the points"
        if np.isnan(self.error):
            return f"{self.word}: {self.points} of the {ENOUGH} points that are recommended"
        said = {
            NO_MODEL: f"{self.word}, no model: " + self._why(),
            NOT_KNOWN: f"{self.word}, {self.points} of the {ENOUGH} points that are recommended: ",
        }.get(self.word, f"{self.word}: ")
        said += f"points predicted from the others are {_percent(self.error)} off on average (a constant:"
        said += f" {_percent(self.constant)}), the curve at most {_percent(self.distance)} from a point"
        return f"{said} ({self.at:g} {counted})"

    def _why(self) -> str:
        if self.error > (1 - MARGIN) * self.constant:
            return "no better than a constant; "
        return f"errors above {ROUGHLY:g} %; "


def goodness(fit: Fit) -> Goodness:
    """Judge a fit by how it predicts each of its points from the others."""
    values, points = fit.values, len(fit.values)
    error = next((c.left_out_error for c in fit.candidates if c.curve is fit.formula), np.nan)
    error = error if points > 2 else np.nan
    off = 100 * np.abs(fit.predicted(fit.sample.points) / values - 1)
    constant = np.nan
    if points > 1:
        logs = np.log(values)
        constant = smape(np.exp((logs.sum() - logs) / (points - 1)), values)
    if isinstance(fit.curve, Table):
        word = AS_MEASURED
    elif np.isnan(error):
        word = NOT_KNOWN
    else:
        word = words(error, constant)
        word = NOT_KNOWN if points < ENOUGH and word != NO_MODEL else word
    worst = int(np.argmax(off))
    return Goodness(word, points, error, constant, float(off[worst]), float(fit.processes[worst]))


def _percent(value: float) -> str:
    value = 0.0 if value < EXACT else value
    return f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"
