"""How often envelopes hold the truth: for the kinds they were widened for, others, and measured series."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import envelope
from scheduler_sim.scaling.curves import Table
from scheduler_sim.scaling.fitting import fit_factor, fit_time
from scheduler_sim.scaling.fitting.fit import SLOPE
from scheduler_sim.scaling.quantile import weighted_quantile
from tests.conftest import ROOT

FOUR = envelope.TIMES.index(4)


@pytest.mark.parametrize(
    ("kind", "number"),
    [(kind, 20) for kind in envelope.CALIBRATED]
    + [pytest.param(kind, 60, marks=pytest.mark.long) for kind in envelope.CALIBRATED],
    ids=lambda value: value.law.__name__ if isinstance(value, envelope.Kind) else value,
)
def test_nine_of_ten_of_the_kinds_they_were_widened_for(kind, number):
    assert envelope.drawn(kind, number).inside[:, FOUR].mean() >= 0.88


def test_measured_efficiencies_that_had_no_part_in_it():
    near, far = envelope.predicted([(p, y, "") for p, y in envelope.measured_efficiencies()])
    assert near.inside.mean() >= 0.93
    assert far.inside.mean() >= 0.85
    assert np.median(far.width) < 1.3


def test_plain_truths_stay_narrow():
    assert np.median(envelope.drawn(envelope.CALIBRATED[0], 30).width[:, FOUR]) < 1.8


def test_among_the_points_nothing_is_widened():
    p = 16 * 2.0 ** np.arange(6)
    fit = fit_time(p, 20 + 4 * np.sqrt(p))
    (low, low_beyond), (high, high_beyond) = fit.envelope([512.0, 2048.0])
    assert (low, high) == pytest.approx((20 + 4 * 512**0.5,) * 2, rel=1e-5)
    truth = 20 + 4 * 2048**0.5
    assert (low_beyond, high_beyond) == pytest.approx((truth / 4**SLOPE, truth * 4**SLOPE), rel=1e-5)


def test_a_table_is_kept_as_measured_and_no_efficiency_exceeds_one():
    kept = fit_factor([2, 4, 8], [1.2, 1.4, 1.9], "instructions")
    assert isinstance(kept.curve, Table)
    low, high = kept.envelope(64.0)
    assert low == high == 1.9
    fit = fit_factor([2, 4, 8, 16], [0.99, 0.99, 0.98, 0.98], "transfer")
    low, high = fit.envelope([16.0, 4096.0])
    assert low[1] < low[0] / 256**SLOPE * 1.01
    assert high[1] <= 1


def test_a_quantile_counts_weights():
    values = np.array([[3.0, 1], [1, 5], [2, 2]])
    weight = np.array([0.2, 0.7, 0.1])
    assert weighted_quantile(values, weight, 0.5).tolist() == [1, 5]
    assert weighted_quantile(values, weight, 0.75).tolist() == [2, 5]
    assert weighted_quantile(values, weight, 0.95).tolist() == [3, 5]
    assert weighted_quantile(values, weight, 0.05).tolist() == [1, 1]


def test_the_tables_go_to_their_place_in_the_page(tmp_path):
    text = (ROOT / "docs" / "reference" / "scaling.md").read_text(encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    envelope.main(["--draws", "2", "--page", str(page)])
    filled = page.read_text(encoding="utf-8")
    assert filled.startswith(text.split("<!-- envelope:")[0])
    assert filled.endswith(text.split("<!-- end -->")[1])
    for kind in (*envelope.CALIBRATED, *envelope.HELD_BACK):
        assert f"| {kind.words}" in filled
    page.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="found no place for the tables"):
        envelope.main(["--page", str(page)])
