"""What runs warn of is said once, whoever carries them out."""

from __future__ import annotations

import warnings

import pytest

from scheduler_sim.remarks import heard, pass_on
from scheduler_sim.study.carry import Batch, carry_out
from scheduler_sim.study.run import Run
from tests.study.studies import small


@pytest.fixture
def warning_runs(monkeypatch):
    """Have every run warn of something before it is carried out."""
    plain = Run.carry_out

    def warns(run):
        warnings.warn("the compiled engine is not kept: no place", UserWarning, stacklevel=2)
        return plain(run)

    monkeypatch.setattr(Run, "carry_out", warns)


def test_warnings_of_a_run_travel_with_what_became_of_it(tmp_path, warning_runs):
    runs = small().runs()[:2]
    done = carry_out(str(tmp_path), Batch(tuple(runs)))
    assert [one.error for one in done] == ["", ""]
    assert [one.remarks for one in done] == [("the compiled engine is not kept: no place",)] * 2


def test_a_study_says_it_once(tmp_path, warning_runs):
    with pytest.warns(UserWarning, match="not kept: no place") as told:
        small().conduct(tmp_path / "study")
    assert len(told) == 1


def test_only_what_is_for_users_is_taken():
    found = []
    with heard(found.append):
        warnings.warn("for users", UserWarning, stacklevel=2)
        with pytest.raises(DeprecationWarning):
            warnings.warn("for others", DeprecationWarning, stacklevel=2)
    assert found == ["for users"]
    told = {"a"}
    with pytest.warns(UserWarning, match="b") as passed_on:
        pass_on(["a", "b", "b"], told)
    assert len(passed_on) == 1
