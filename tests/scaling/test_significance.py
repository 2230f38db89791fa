"""Costs of operations: the table of Clement and Quinn, and what least squares of SciPy says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import linregress

from scheduler_sim.errors import InputError
from scheduler_sim.scaling.significance import operation_costs, significance
from scheduler_sim.streams import stream


def test_the_printed_significance_of_clement_and_quinn():
    """nCUBE 3200, Table 1 of the survey: beta_bw at 4.55e-5, beta_st at 0.0235."""
    assert significance(2.369, 0.5341, 54) == pytest.approx(4.55e-5, rel=0.01)
    assert significance(367.887, 157.9475, 54) == pytest.approx(0.02351422, rel=0.005)


def test_a_line_is_what_scipy_says():
    draws = stream(1, "costs")
    x = draws.uniform(1, 100, 30)
    y = 3 + 0.5 * x + draws.normal(0, 2, 30)
    found, wanted = operation_costs({"one": np.ones(30), "x": x}, y), linregress(x, y)
    assert found["value"].tolist() == pytest.approx([wanted.intercept, wanted.slope])
    assert found["std_error"].tolist() == pytest.approx([wanted.intercept_stderr, wanted.stderr])
    assert found.loc["x", "p"] == pytest.approx(wanted.pvalue)


def test_what_does_not_matter_is_not_significant():
    draws = stream(2, "costs")
    counts = {name: draws.uniform(1e3, 1e6, 60) for name in ("ops", "words", "nothing")}
    time = 6e-7 * counts["ops"] + 2e-6 * counts["words"] + draws.normal(0, 0.01, 60)
    found = operation_costs(counts, time)
    assert found["value"].tolist()[:2] == pytest.approx([6e-7, 2e-6], rel=0.05)
    assert (found["p"] < 0.001).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"a": [1, 2], "b": [2, 1]}, "found 2 run times for 2 costs; allowed: more than 2"),
        ({"a": [1, 2, 3], "b": [2, 4, 6]}, "of a, b some go together in all runs"),
        ({"a": [1, 2, 3], "b": [0, 0, 0]}, "or never occur"),
    ],
)
def test_what_cannot_be_told_apart(counts, said):
    with pytest.raises(InputError, match=said):
        operation_costs(counts, [1.0, 2.0, 3.5][: len(counts["a"])])
