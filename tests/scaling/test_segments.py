"""Breaks: two laws where the points say so, one law else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import breaks, scaling_laws
from scheduler_sim.scaling.curves import Segments, read_curve
from scheduler_sim.scaling.fitting import SegmentedFit, fit_laws, goodness, read_points
from scheduler_sim.scaling.fitting.sample import gathered, part_of
from scheduler_sim.scaling.fitting.segments import best_break
from scheduler_sim.scaling.learn import learn
from scheduler_sim.scaling.page import learnt_text
from scheduler_sim.scaling.profile_file import profile_text, read_profile
from scheduler_sim.streams import stream

P = 2.0 ** np.arange(1, 11)


def noisy(values, share=0.01, seed=1):
    return values * (1 + share * stream(seed, "segments").standard_normal(len(values)))


def jumped(p):
    """10 + √p up to 32, from 64 on half as fast again and linear."""
    return np.where(p < 50, 10 + np.sqrt(p), 15 + 0.3 * p)


def test_two_laws_are_found_where_they_meet():
    fit = fit_laws(P, noisy(jumped(P)))
    assert isinstance(fit, SegmentedFit)
    assert fit.between == (32, 64)
    assert fit.warnings[0].startswith("time: a break between P = 32 and P = 64: two laws are ")
    assert fit.predicted([4, 4096]) == pytest.approx([12, 15 + 0.3 * 4096], rel=0.05)
    low, high = fit.envelope([16, 2048])
    assert (low < jumped(np.array([16, 2048]))).all()
    assert (high > jumped(np.array([16, 2048]))).all()
    (low,), (high,) = fit.interval([4096])
    side = fit.sides[1].interval([4096])
    assert (low, high) == (side[0][0], side[1][0])
    assert goodness(fit).word == "fits well"


@pytest.mark.parametrize(
    "law", [lambda p: 10 + np.sqrt(p), lambda p: 5 + 0.1 * p, lambda p: 3 + np.log2(p), np.ones_like]
)
def test_one_law_stays_one(law):
    for seed in range(3):
        assert not isinstance(fit_laws(P, noisy(law(P), 0.02, seed)), SegmentedFit)
    assert not isinstance(fit_laws(P, law(P)), SegmentedFit)


def test_strong_scaling_has_breaks_of_work():
    fit = fit_laws(P, noisy(100 / P + np.where(P < 50, 0.5, 3.0)), scaling="strong")
    assert isinstance(fit, SegmentedFit)
    assert fit.curve.quantity == "work"
    assert fit.predicted([4096]) == pytest.approx([100 / 4096 + 3], rel=0.05)


def test_four_numbers_of_processes_are_wanted_on_either_side():
    early = np.where(P < 6, 1.0, 10.0)
    place, _ = best_break(gathered(P, noisy(early)))
    assert place == 4
    assert best_break(gathered(P[:7], noisy(jumped(P[:7])))) == (0, -np.inf)
    assert not isinstance(fit_laws(P[1:8], jumped(P[1:8])), SegmentedFit)


def test_several_parameters_have_none():
    points = np.stack([P, P], axis=1)
    assert not isinstance(fit_laws(points, jumped(P), parameters=("processes", "size")), SegmentedFit)


def test_parts_of_a_sample_have_their_own_repetitions():
    whole = gathered([1, 1, 2, 4], [1.0, 3.0, 5.0, 5.0])
    first, second = part_of(whole, slice(None, 1)), part_of(whole, slice(1, None))
    assert (first.measurements, first.spread) == (2, whole.spread)
    assert (second.measurements, second.spread) == (2, 0)


@given(st.floats(1e-3, 1e3), st.integers(0, 20))
def test_odds_do_not_depend_on_the_unit_of_time(unit, seed):
    sample, other = (gathered(P, noisy(jumped(P), 0.1, seed) * factor) for factor in (1.0, unit))
    (place, odds), (again, same) = best_break(sample), best_break(other)
    assert (place, odds) == (again, pytest.approx(same, abs=1e-3))


def curve(**keys):
    parts = {"a": {"curve": "pmnf", "constant": 1.0}, "b": {"curve": "pmnf", "terms": [{"c": 1.0, "i": 1}]}}
    return read_curve({"curve": "segments", "breaks": [8], "segments": parts, **keys})


def test_the_curve_has_a_law_on_either_side_and_is_read_again_as_it_was():
    made, problems = curve()
    assert not problems
    assert made.values([1, 7, 8, 100]).tolist() == [1, 1, 8, 100]
    assert read_curve(made.to_dict()) == (made, [])


def test_the_band_is_that_of_each_segment():
    forms = [{"weight": 0.6, "constant": 1.0}, {"weight": 0.4, "terms": [{"c": 0.5, "i": 1.0}]}]
    mixed = {"curve": "mixture", "forms": forms}
    made, _ = curve(segments={"a": mixed, "b": {"curve": "pmnf", "constant": 7.0}})
    low, high = made.band({"processes": np.array([4.0, 16.0])}, 0.9)
    assert (low.tolist(), high.tolist()) == ([1, 7], [2, 7])


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"breaks": [8, 4]}, "a list of rising numbers above 1"),
        ({"breaks": []}, "a list of rising numbers above 1"),
        ({"breaks": [1]}, "a list of rising numbers above 1"),
        ({"breaks": [8, 16]}, "3 curves, one more than breaks"),
        (
            {"segments": {"a": {"curve": "pmnf"}, "b": {"curve": "pmnf", "gives": "work"}}},
            "curves that give the same, of the same",
        ),
    ],
)
def test_segments_that_cannot_be(keys, said):
    _, problems = curve(**keys)
    assert said in str(problems[0])


def test_a_break_goes_into_page_and_profile(tmp_path):
    rows = "".join(f"{p:g},{t!r}\n" for p, t in zip(P, noisy(jumped(P)).tolist(), strict=True))
    (tmp_path / "t.csv").write_text("processes,time\n" + rows)
    learnt = learn(read_points(tmp_path / "t.csv"), "a", scaling="weak", module="CM")
    assert "time has a break between P=32 and P=64: two laws" in learnt_text(learnt)
    assert isinstance(learnt.profile.model, Segments)
    assert learnt.profile.provenance.notes[0].startswith("time: a break between P = 32 and P = 64")
    (tmp_path / "a.yaml").write_text(profile_text(learnt.profile))
    again = read_profile(tmp_path / "a.yaml")
    assert again.relative_time(4096, "CM") == pytest.approx(15 + 0.3 * 4096, rel=0.05)


def test_draws_of_the_benchmark_are_the_same_each_time():
    kind = scaling_laws.Kind("", scaling_laws.broken)
    one, other = (breaks.drawn(kind, 3) for _ in range(2))
    assert (one.off == other.off).all()
    assert one.off.shape == one.inside.shape == (3, 2)
    found = breaks.Found(np.array([True, False]), np.array([[0.3, 0.1], [9, 9]]), np.array([[0, 1], [1, 1]]))
    assert list(found.cells()) == ["50.0 %", "30 % (0 %)", "10 % (100 %)"]


def test_the_table_goes_to_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(breaks, "UNBROKEN", ())
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- breaks: x -->\nold\n<!-- end breaks -->\nafter\n")
    breaks.main(["--draws", "2", "--page", str(page)])
    text = page.read_text()
    assert text.startswith("before\n<!-- breaks: x -->\n\n| truth |")
    assert text.endswith("<!-- end breaks -->\nafter\n")
    assert "old" not in text
    page.write_text("nothing\n")
    with pytest.raises(SystemExit, match="found no place for the table"):
        breaks.main(["--page", str(page)])
