"""How often envelopes hold the truth: for the kinds they were widened for, others, and measured series."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import envelope
from scheduler_sim.scaling.curves import Table
from scheduler_sim.scaling.fitting import fit_factor, fit_time
from scheduler_sim.scaling.fitting.evidence import Predictive
from scheduler_sim.scaling.fitting.fit import SLOPE
from scheduler_sim.scaling.quantile import weighted_quantile
from scheduler_sim.streams import stream
from tests.conftest import ROOT

FOUR = envelope.TIMES.index(4)


@pytest.mark.parametrize(
    ("kind", "number", "least"),
    [(kind, 6, 0.6) for kind in envelope.CALIBRATED]
    + [pytest.param(kind, 100, 0.82, marks=pytest.mark.long) for kind in envelope.CALIBRATED],
    ids=lambda value: value.law.__name__ if isinstance(value, envelope.Kind) else value,
)
def test_nine_of_ten_of_the_kinds_they_were_made_for(kind, number, least):
    assert envelope.drawn(kind, number).inside[:, FOUR].mean() >= least


def test_measured_efficiencies_that_had_no_part_in_it():
    near, far = envelope.predicted([(p, y, "") for p, y in envelope.measured_efficiencies()])
    assert near.inside.mean() >= 0.93
    assert far.inside.mean() >= 0.85
    assert np.median(far.width) < 1.3


def test_plain_truths_stay_narrow():
    assert np.median(envelope.drawn(envelope.CALIBRATED[0], 8).width[:, FOUR]) < 1.3


def test_the_envelope_of_exact_points_is_the_law():
    p = 16 * 2.0 ** np.arange(6)
    low, high = fit_time(p, 20 + 4 * np.sqrt(p)).envelope([512.0, 2048.0])
    truth = 20 + 4 * np.sqrt([512.0, 2048.0])
    assert low == pytest.approx(truth, rel=1e-4)
    assert high == pytest.approx(truth, rel=1e-4)


def test_repetitions_say_how_large_the_noise_is():
    """Means that lie on a law, of runs 10 % apart: known noise widens what seven points alone would not."""
    p = 16 * 2.0 ** np.arange(7)
    law = 20 + 4 * np.sqrt(p)
    apart = np.array([0.9, 1.0, 1.1])
    wide = fit_time(np.repeat(p, 3), np.outer(law, apart).ravel()).envelope(4096.0)
    narrow = fit_time(p, law).envelope(4096.0)
    assert wide[1] / wide[0] > 1.15
    assert narrow[1] / narrow[0] < 1.01


def test_quantiles_are_those_of_draws():
    made = Predictive(
        np.array([[10.0], [20.0]]), np.array([[1.0], [3.0]]), np.array([4.0, 9.0]), np.array([0.3, 0.7])
    )
    draws = stream(0, "quantiles")
    first = draws.random(200_000) < 0.3
    drawn = np.where(first, 10 + draws.standard_t(4, 200_000), 20 + 3 * draws.standard_t(9, 200_000))
    for share in (0.05, 0.5, 0.95):
        assert made.quantile(share) == pytest.approx(np.quantile(drawn, share), rel=0.01)


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


@pytest.mark.long
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
