"""Run times of several parameters: fits, envelopes, profiles, and placements by problem size and clock."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import Mixture, Phases, Pmnf, read_curve
from scheduler_sim.scaling.expand import expand
from scheduler_sim.scaling.fitting import fit_time, read_points
from scheduler_sim.scaling.learn import learn
from scheduler_sim.scaling.page import learnt_text
from scheduler_sim.scaling.profile import Reference
from scheduler_sim.scaling.profile_file import profile_of, profile_text, read_profile
from scheduler_sim.streams import stream

GRID = np.array(list(product(2.0 ** np.arange(4, 9), 1e4 * 2.0 ** np.arange(5))))
LINES = GRID[(GRID[:, 0] == 16) | (GRID[:, 1] == 1e4) | (GRID.sum(axis=1) == GRID.sum(axis=1).max())]
FAR = GRID[-1:] * 16
NAMES = ("processes", "size")

LAWS = {
    "sum": lambda p, n: 3 + 0.2 * np.sqrt(p) + 1e-5 * n * np.log2(n),
    "product": lambda p, n: 0.5 + 1e-6 * n * p * np.log2(p),
    "both": lambda p, n: 1e-3 * n + 1e-6 * n * p + 0.3 * np.log2(p),
}


@pytest.mark.parametrize("design", [GRID, LINES], ids=["grid", "lines"])
@pytest.mark.parametrize("law", LAWS)
def test_exact_points_come_back_exactly(law, design):
    fit = fit_time(design, LAWS[law](*design.T), parameters=NAMES)
    assert fit.predicted(FAR) == pytest.approx(LAWS[law](*FAR.T), rel=1e-5)
    assert fit.formula.inputs == NAMES


@pytest.mark.parametrize("law", LAWS)
def test_noisy_points_are_predicted_at_sixteen_times_the_largest(law):
    errors, inside = [], []
    for draw in range(4):
        noise = 1 + 0.02 * stream(draw, f"several/{law}").standard_normal((5, len(GRID)))
        measured = (LAWS[law](*GRID.T) * noise).ravel()
        fit = fit_time(np.tile(GRID, (5, 1)), measured, parameters=NAMES)
        truth = LAWS[law](*FAR.T)
        errors.append(abs(fit.predicted(FAR) / truth - 1))
        low, high = fit.envelope(FAR)
        inside.append(low <= truth <= high)
    assert np.median(errors) < 0.1
    assert np.mean(inside) >= 0.5


@pytest.mark.parametrize("constant", [0.0, 0.7])
def test_powers_closer_than_the_steps_of_the_search_are_found(constant):
    """Of 25 points with little noise; 0.05 of a step off, and each prediction would be 7 % off."""

    def law(p, n):
        return constant + 1e-6 * p**0.377 * n**1.128

    noise = 1 + 0.002 * stream(0, f"several/powers/{constant}").standard_normal((5, len(GRID)))
    fit = fit_time(np.tile(GRID, (5, 1)), (law(*GRID.T) * noise).ravel(), parameters=NAMES)
    (term,) = fit.formula.terms
    assert (term.i, *term.of["size"]) == pytest.approx((0.377, 1.128, 0), abs=0.01)
    assert fit.predicted(FAR) == pytest.approx(law(*FAR.T), rel=0.03)


@pytest.mark.parametrize(("p", "n", "ties"), [(0.375, 1.125, False), (0.42, 0, True)])
def test_a_form_that_is_refined_is_listed_once(p: float, n: float, ties: bool):
    """Also where one parameter has no effect, though sums of simple powers come as near to exact points."""
    fit = fit_time(GRID, 1e-4 * GRID[:, 0] ** p * GRID[:, 1] ** n, parameters=NAMES)
    forms = [str(one.curve) for one in fit.candidates]
    assert len(set(forms)) == len(forms)
    assert fit.predicted(FAR) == pytest.approx(1e-4 * FAR[:, 0] ** p * FAR[:, 1] ** n, rel=1e-3)
    assert bool(fit.ties) == ties


def test_simple_powers_are_not_refined():
    noise = 1 + 0.02 * stream(0, "several/simple").standard_normal((5, len(GRID)))
    measured = (1e-6 * GRID[:, 0] * np.sqrt(GRID[:, 1]) * noise).ravel()
    (term,) = fit_time(np.tile(GRID, (5, 1)), measured, parameters=NAMES).formula.terms
    assert (term.i, term.of["size"]) == (1, (0.5, 0))


def test_strong_scaling_divides_work_by_processes():
    def law(p, n):
        return 1e-2 * n / p + 0.05 + 1e-4 * np.sqrt(p)

    fit = fit_time(GRID, law(*GRID.T), parameters=NAMES, scaling="strong")
    assert fit.curve.quantity == "work"
    assert fit.predicted(FAR) == pytest.approx(law(*FAR.T), rel=1e-5)
    with pytest.raises(InputError, match="found no processes"):
        fit_time(GRID, law(*GRID.T), parameters=("size", "clock_khz"), scaling="strong")


def test_a_share_of_the_time_follows_the_clock():
    khz = np.array([1.2e6, 1.6e6, 2.0e6, 2.4e6, 2.8e6])
    points = np.array(list(product([16.0, 32, 64, 128, 256], khz)))
    fit = fit_time(
        points, 4 + 1e6 * np.sqrt(points[:, 0]) / points[:, 1], parameters=("processes", "clock_khz")
    )
    assert fit.predicted([[1024, 1e6]]) == pytest.approx(4 + 32)
    assert {term.of["clock_khz"] for term in fit.formula.terms} == {(-1, 0)}


def test_a_mixture_is_the_weighted_median_and_is_read_again_as_it_was():
    forms = [
        {"weight": 0.4, "constant": 1.0},
        {"weight": 0.35, "terms": [{"c": 2.0, "i": 0.5}]},
        {"weight": 0.25, "terms": [{"c": 0.1, "j": 1.0, "of": {"size": [1.0, 0.0]}}]},
    ]
    curve = Mixture.of(forms=forms)
    assert curve.inputs == NAMES
    assert curve.values([4.0, 4.0, 1.0], [1.0, 1000.0, 10.0]).tolist() == [1.0, 4.0, 1.0]
    again, problems = read_curve(curve.to_dict())
    assert (again, problems) == (curve, [])
    _, problems = read_curve({"curve": "mixture", "forms": []})
    assert "at least one normal form" in str(problems[0])


def test_a_term_of_an_unknown_parameter_is_refused():
    _, problems = read_curve({"curve": "pmnf", "terms": [{"c": 1, "of": {"siz": [1, 0]}}]})
    assert "of nodes, ranks, threads, size, clock_khz" in str(problems[0])
    with pytest.raises(InputError, match="found no size"):
        Pmnf.of(terms=[{"c": 1, "of": {"size": [1, 0]}}]).at({"processes": np.array(2.0)})


def test_phases_depend_on_what_any_of_them_does():
    phases = Phases.of(
        phases={
            "one": Pmnf.of(terms=[{"c": 1, "of": {"size": [1, 0]}}], gives="work"),
            "two": Pmnf.of(constant=3.0),
        }
    )
    assert phases.inputs == NAMES
    assert phases.values(4.0, 100.0) == pytest.approx(28)


def written(tmp_path):
    rows = [f"{p:g},{n:g},{float(1e-3 * n / p + 0.1 + 0.01 * np.log2(p))!r}\n" for p, n in GRID]
    (tmp_path / "points.csv").write_text("processes,size,time\n" + "".join(rows))
    return learn(read_points(tmp_path / "points.csv"), "solver", scaling="strong", module="CM")


def test_a_profile_of_several_parameters_goes_to_a_file_and_back(tmp_path):
    learnt = written(tmp_path)
    (tmp_path / "solver.yaml").write_text(profile_text(learnt.profile))
    profile = read_profile(tmp_path / "solver.yaml")
    assert profile.size == 160_000
    assert profile.provenance.others == {"size": (1e4, 160_000)}
    assert profile.relative_time(64, "CM", 5e4) == pytest.approx(1e-3 * 5e4 / 64 + 0.16, rel=1e-5)
    known = Reference(100.0, 64, "CM", size=5e4)
    assert profile.run_time(64, "CM", known) == 100.0
    ratio = (1e-3 * 1e5 / 128 + 0.17) / (1e-3 * 5e4 / 64 + 0.16)
    assert profile.run_time(128, "CM", known, size=1e5) == pytest.approx(100 * ratio, rel=1e-5)
    assert any("size 1e+06 is outside" in said for said in profile.check(64, "CM", 1e6))
    text = learnt_text(learnt)
    assert "16 to 256 processes, 10000 to 160000 size" in text
    assert "at 512, 320000" in text


def test_jobs_are_moldable_by_the_size_of_their_own_problem(tmp_path):
    profile = written(tmp_path).profile
    small, large = profile.offered("CM", 4096, 1e3), profile.offered("CM", 4096, 1e6)
    assert small.max() < large.max()
    columns = {
        "app": np.zeros(3, dtype=np.int64),
        "module": np.zeros(3, dtype=np.int64),
        "nodes": np.full(3, 4),
        "run": np.full(3, 1000),
        "limit": np.full(3, 2000),
    }
    problem = np.array([1e6, np.nan, 1e3])
    found = expand([profile], ["CM"], [4096], **columns, problem=problem)
    count = np.diff(found.first)
    assert count[0] > count[1] > count[2]
    first = found.first[0]
    eight = first + int(np.flatnonzero(found.nodes[first : found.first[1]] == 8)[0])
    expected = 1000 * profile.relative_time(8, "CM", 1e6) / profile.relative_time(4, "CM", 1e6)
    assert found.run[eight] == np.ceil(expected)
    assert found.run[found.first[:-1]].tolist() == [1000] * 3


def test_modules_run_at_their_clocks():
    data = {
        "version": 1,
        "app": "a",
        "scaling": "strong",
        "modules": {"CM": 1, "ESB": 1},
        "frequency": {"nominal_khz": 2_000_000},
        "time": {"curve": "pmnf", "constant": 1.0, "terms": [{"c": 2e6, "of": {"clock_khz": [-1, 0]}}]},
    }
    profile, problems = profile_of(data)
    assert not problems
    assert profile.relative_time(1, "CM") == 2
    assert profile.relative_time(1, "CM", khz=1_000_000) == 3
    one = np.ones(1, dtype=np.int64)
    found = expand(
        [profile], ["CM", "ESB"], [1, 1], app=0 * one, module=0 * one, nodes=one, run=200 * one,
        limit=400 * one, khz=[2_000_000, 1_000_000],
    )  # fmt: skip
    assert found.run.tolist() == [200, 300]
    _, problems = profile_of({**data, "frequency": {"nominal_khz": 2_000_000, "beta": 0.5}})
    assert "found beta beside a curve that depends on clock_khz" in str(problems[0])


def test_a_size_that_nobody_states_is_asked_for(tmp_path):
    data = {
        "version": 1,
        "app": "a",
        "scaling": "strong",
        "modules": {"CM": 1},
        "time": {"curve": "pmnf", "terms": [{"c": 2, "of": {"size": [1, 0]}}], "gives": "work"},
    }
    profile, _ = profile_of(data)
    with pytest.raises(InputError, match="a: found no size of the problem"):
        profile.relative_time(1, "CM")


def test_what_points_cannot_tell_is_said_and_a_parameter_that_stays_has_no_part():
    p = 4.0 * 2 ** np.arange(6)
    y = 3 + np.sqrt(p)
    same = fit_time(np.stack([p, 0 * p + 100], axis=1), y, parameters=NAMES)
    assert same.predicted([[1024, 1e6]]) == pytest.approx(35)
    assert "size is the same at all points" in same.warnings[0]
    together = fit_time(np.stack([p, 25 * p], axis=1), y, parameters=NAMES)
    assert "processes and size change together" in together.warnings[0]
    low, high = together.envelope([[1024, 100]])
    assert high > 3 * low
