"""What is measured of the predictions of a trace: how often the band is right, and how far off they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.prediction.cases import TRACES
from scheduler_sim.metrics.intervals import Interval, ratio_interval, t_half_width
from scheduler_sim.units import HOUR

PREDICTORS = {
    "start_50": "median of the draws",
    "by_limits": "plan by limits",
    "last_wait": "last wait of a like job",
}
FALSE_BANDS = ("below", "above")


def inside(runs: pd.DataFrame) -> np.ndarray:
    """Whether the true start lies in the band from 10 to 90 %, bool[predictions]."""
    within: np.ndarray = (
        (runs["start_10"] <= runs["start"]) & (runs["start"] <= runs["start_90"])
    ).to_numpy()
    return within


def coverage(runs: pd.DataFrame) -> Interval:
    """Share of predictions whose band is right (%)."""
    return _share(runs, inside(runs))


def outside(runs: pd.DataFrame, side: str) -> Interval:
    """Share of predictions whose true start is before the band, or behind it (%)."""
    beyond = runs["start"] < runs["start_10"] if side == "below" else runs["start"] > runs["start_90"]
    return _share(runs, beyond.to_numpy())


def by_instant(runs: pd.DataFrame) -> float:
    """Share whose band is right, where every instant counts the same, however many wait then (%)."""
    return 100 * float(pd.Series(inside(runs)).groupby(runs["at"].to_numpy()).mean().mean())


def by_job(runs: pd.DataFrame) -> float:
    """Share whose band is right, where every job counts the same, however often it is predicted (%)."""
    return 100 * float(pd.Series(inside(runs)).groupby(runs["component_id"].to_numpy()).mean().mean())


def error(runs: pd.DataFrame, predictor: str) -> Interval:
    """Mean distance from the true start (h), of jobs that have a last wait of a like job."""
    known = runs[runs["last_wait"] >= 0]
    off = (known[predictor] - known["start"]).abs().to_numpy() / HOUR
    return _ratio(known, off)


def median_error(runs: pd.DataFrame, predictor: str) -> float:
    """Median distance from the true start (h), of the same jobs."""
    known = runs[runs["last_wait"] >= 0]
    return float((known[predictor] - known["start"]).abs().median()) / HOUR


def nearer(runs: pd.DataFrame, other: str) -> Interval:
    """By how much the median is nearer to the start than another predictor (h), of the same jobs."""
    known = runs[runs["last_wait"] >= 0]
    off = [(known[predictor] - known["start"]).abs().to_numpy() / HOUR for predictor in (other, "start_50")]
    piece = np.unique(blocks(known), return_inverse=True)[1]
    count = np.bincount(piece).astype(float)
    of_piece = np.bincount(piece, weights=off[0] - off[1])
    mean = float(of_piece.sum() / count.sum())
    off_mean = len(count) * (of_piece - mean * count) / count.sum()  # a ratio of sums, linearised
    half = t_half_width(off_mean)
    return Interval(mean, mean - half, mean + half)


def started_by(runs: pd.DataFrame) -> Interval:
    """Share of predictions whose job has started by the late end of the band (%)."""
    return _share(runs, (runs["start"] <= runs["start_90"]).to_numpy())


def width(runs: pd.DataFrame) -> Interval:
    """Mean width of the band (h)."""
    return _ratio(runs, (runs["start_90"] - runs["start_10"]).to_numpy() / HOUR)


def blocks(runs: pd.DataFrame) -> np.ndarray:
    """Number of the piece of time that each prediction is of."""
    length = TRACES[runs["trace"].iloc[0]].block
    at = runs["at"].to_numpy()
    pieces: np.ndarray = (at - at.min()) // length
    return pieces


def _share(runs: pd.DataFrame, which: np.ndarray) -> Interval:
    return _scaled(_ratio(runs, which.astype(float)), lambda value: min(max(100 * value, 0.0), 100.0))


def _ratio(runs: pd.DataFrame, values: np.ndarray) -> Interval:
    """Mean of values, with the interval of a ratio of sums over pieces of time."""
    piece = np.unique(blocks(runs), return_inverse=True)[1]
    return ratio_interval(np.bincount(piece, weights=values), np.bincount(piece).astype(float))


def _scaled(found: Interval, by: Callable[[float], float]) -> Interval:
    return Interval(*map(by, found))
