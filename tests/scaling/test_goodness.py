"""How good a fit is said to be: by which rule, and that noise is never called a model."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.scaling.fitting import fit_factor, fit_time, goodness
from scheduler_sim.scaling.fitting.goodness import (
    AS_MEASURED,
    FITS_ROUGHLY,
    FITS_WELL,
    NO_MODEL,
    NOT_KNOWN,
    words,
)
from scheduler_sim.streams import stream

P = 2.0 ** np.arange(6)
WOBBLE = np.array([1, -1, 0.5, -0.5, 1, -0.8])


@pytest.mark.parametrize(
    ("error", "constant", "word"),
    [
        (0.5, 0.5, FITS_WELL),  # a constant is the model
        (5.0, 90.0, FITS_WELL),
        (5.1, 90.0, FITS_ROUGHLY),
        (20.0, 90.0, FITS_ROUGHLY),
        (20.1, 90.0, NO_MODEL),
        (12.0, 12.5, NO_MODEL),
        (12.0, 13.5, FITS_ROUGHLY),
    ],
)
def test_the_rule(error, constant, word):
    assert words(error, constant) == word


def test_good_rough_and_none():
    root = 20 * P**0.5
    assert goodness(fit_time(P, root * (1 + 0.01 * WOBBLE))).word == FITS_WELL
    assert goodness(fit_time(P, root * (1 + 0.1 * WOBBLE))).word == FITS_ROUGHLY
    assert goodness(fit_time(P, [100, 1000, 3, 500, 2, 900])).word == NO_MODEL
    assert goodness(fit_time(P, 100 * (1 + 0.01 * WOBBLE))).word == FITS_WELL
    told = goodness(fit_time(P, 100 * (1 + 0.12 * WOBBLE)))
    assert told.no_model
    assert "no better than a constant" in told.text()


def test_few_points_prove_little():
    for few in (1, 2, 3, 4):
        assert goodness(fit_time(P[:few], 100 + P[:few])).word == NOT_KNOWN
    assert goodness(fit_time(P[:4], [100, 1, 50, 2])).word == NO_MODEL
    assert "1 of the 5 points" in goodness(fit_time([4], [3])).text()


def test_factors():
    assert goodness(fit_factor(P, 1 / (1 + 0.01 * P), "transfer")).word == FITS_WELL
    assert goodness(fit_factor(P, [1, 0.2, 0.9, 0.3, 1, 0.1], "transfer")).word == NO_MODEL
    assert goodness(fit_factor(P, 1 + P / 10, "instructions")).word == AS_MEASURED


def test_the_largest_distance_is_in_what_was_measured():
    told = goodness(fit_time(P, [64.0, 32, 16, 8, 4, 2.4], scaling="strong"))
    assert told.at in P
    assert told.distance < 20
    assert "(a constant: 1" in told.text("nodes")
    assert told.text("nodes").endswith("nodes)")


@pytest.mark.parametrize(
    "points", [3, pytest.param(4, marks=pytest.mark.long), 5, pytest.param(6, marks=pytest.mark.long), 7]
)
def test_noise_is_no_model(points):
    """Times without any law: hardly ever called a good fit, and rarely a rough one."""
    said = []
    for draw in range(100):
        y = np.exp(1.5 * stream(draw, f"goodness/{points}").standard_normal(points))
        said.append(goodness(fit_time(2.0 ** np.arange(points), y)).word)
    assert said.count(FITS_WELL) == 0
    assert said.count(FITS_ROUGHLY) <= 5
    assert said.count(NO_MODEL) >= 70
