"""The comparison with Extra-P: cases, tables, and their place in the page."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from benchmarks import extrapolation, scaling_laws
from tests.conftest import ROOT

PLAIN = extrapolation.ONE[0]
SEVERAL = extrapolation.MANY[0]


def test_cases_are_the_same_each_time_and_measured_with_the_noise_stated():
    drawn = list(extrapolation.cases(extrapolation.ONE[4], 40))
    again = list(extrapolation.cases(extrapolation.ONE[4], 40))
    assert all((one.measured == other.measured).all() for one, other in zip(drawn, again, strict=True))
    apart = [case.measured.std(axis=1, ddof=1) / case.measured.mean(axis=1) for case in drawn]
    assert np.concatenate(apart).mean() == pytest.approx(0.02, rel=0.15)


def test_designs():
    assert scaling_laws.full(3).shape == (125, 3)
    assert len(scaling_laws.lines(3)) == 14
    assert len(scaling_laws.lines(2)) == 10


def test_laws_of_several_parameters_are_above_zero_and_rise():
    for kind in scaling_laws.SEVERAL:
        (case,) = extrapolation.cases(SEVERAL._replace(kind=kind), 1)
        assert (case.measured > 0).all()
        work = case.truth * (case.at[:, 0] if kind.scaling == "strong" else 1)
        largest = case.measured.mean(axis=1)[-1] * (case.points[-1, 0] if kind.scaling == "strong" else 1)
        assert (work > largest).all()


def test_errors_are_medians_and_nine_of_ten():
    drawn = list(extrapolation.cases(PLAIN, 11))
    truth = np.array([case.truth for case in drawn])
    off = extrapolation.errors(truth * (1 + np.arange(11)[:, None] / 100), drawn)
    assert off.median == pytest.approx([0.05] * 2)
    assert off.most == pytest.approx([0.09] * 2)
    assert off.cell(0) == "5, 9"
    better = extrapolation.Compared(PLAIN, off, extrapolation.Errors(off.median * 2, off.most / 2))
    assert better.behind() == ["nine of ten at 4 times", "nine of ten at 16 times"]


def test_the_tables_go_to_their_place_in_the_page(tmp_path):
    text = (ROOT / "docs" / "reference" / "scaling.md").read_text(encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    extrapolation.main(["--draws", "1", "--several", "0", "--page", str(page)])
    filled = page.read_text(encoding="utf-8")
    assert filled.startswith(text.split("<!-- extrapolation:")[0])
    assert filled.endswith(text.split("<!-- end extrapolation -->")[1])
    assert "Extra-P was not run" in filled
    page.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="found no place for the tables"):
        extrapolation.main(["--page", str(page)])


def test_an_interpreter_without_extra_p_is_said():
    if importlib.util.find_spec("extrap"):
        pytest.skip("this interpreter has Extra-P")
    with pytest.raises(RuntimeError, match=r"(?s)Extra-P cannot be run: .*extrap"):
        extrapolation.compared(PLAIN, 1, sys.executable)
