"""DYNAMIC, think times and waits inside a job under the plain reference of units, drawn by hand."""

from __future__ import annotations

import pytest

from tests.oracle.test_plain_unit_calls import call
from tests.oracle.test_plain_units import POLICIES, all_of, c, play, starts

pytestmark = pytest.mark.interpreted


# -------------------------------------------------------------------- DYNAMIC
@pytest.mark.parametrize("policy", POLICIES)
def test_dynamic_chain(policy):
    """
    a UUUU.WW      (three jobs: V 2 s after U, W 3 s after V)
    b ..VVVV
    """
    jobs = {
        "U": c("a", 2, 4),
        "V": c("b", 2, 4, delay=2, after=[("U", "DYNAMIC")]),
        "W": c("a", 2, 2, delay=3, after=[("V", "DYNAMIC")]),
    }
    run = play(jobs, policy=policy)
    assert all_of(run, "start") == [0, 2, 5]
    assert len(run.units) == 1


def test_dynamic_fan_waits_for_all_its_modules():
    """
    a ...UUUU
    b .....VV
      BBBBBVV
    d ......W      (B, to 5, keeps V from 2 s after an earlier U)
    """
    jobs = {
        "B": c("b", 1, 5),
        "U": c("a", 2, 4),
        "V": c("b", 2, 2, delay=2, after=[("U", "DYNAMIC")]),
        "W": c("d", 1, 1, delay=3, after=[("U", "DYNAMIC")]),
    }
    assert starts(jobs, {"a": 2, "b": 2, "d": 1}) == [0, 3, 5, 6]


def test_dynamic_diamond_takes_the_latest():
    """
    a U.....X      (V 1 s, W 4 s after U; X 2 s after the later of them)
    b .VVVV
    d ....WW
    """
    jobs = {
        "U": c("a", 1, 1),
        "V": c("b", 1, 4, delay=1, after=[("U", "DYNAMIC")]),
        "W": c("d", 1, 2, delay=4, after=[("U", "DYNAMIC")]),
        "X": c("a", 1, 1, delay=2, after=[("V", "DYNAMIC"), ("W", "DYNAMIC")]),
    }
    assert starts(jobs, {"a": 1, "b": 1, "d": 1}) == [0, 1, 4, 6]


def test_dynamic_without_delay_starts_together_and_ties_jobs():
    """
    a ..UU         (V, of U's job, is tied to W of another one)
    b ..VV
    d DDWW
    """
    jobs = {
        "D": c("d", 1, 2),
        "U": c("a", 1, 2, of="h"),
        "V": c("b", 1, 2, of="h"),
        "W": c("d", 1, 2, after=[("V", "DYNAMIC")]),
    }
    assert starts(jobs, {"a": 1, "b": 1, "d": 1}) == [0, 2, 2, 2]


def test_delays_count_from_the_first_of_the_job_though_that_is_tied_to_another():
    """
    a U
    b ..VW         (V: 2 s after U; W, of V's job: 1 s after V; X, of V's job, too: with V)
    d ..X
    """
    jobs = {
        "U": c("a", 1, 1),
        "V": c("b", 1, 1, of="h", delay=2, after=[("U", "DYNAMIC")]),
        "W": c("b", 1, 1, of="h", delay=1),
        "X": c("d", 1, 1, of="h"),
    }
    assert starts(jobs, {"a": 1, "b": 1, "d": 1}) == [0, 2, 3, 2]


def test_a_delay_is_dynamics_where_there_are_other_dependencies_too():
    """
    a AAAU
    b .....VV      (V: 2 s after U, and after A's end)
    """
    jobs = {
        "A": c("a", 1, 3),
        "U": c("a", 1, 1),
        "V": c("b", 1, 2, delay=2, after=[("U", "DYNAMIC"), ("A", "AFTEROK")]),
    }
    assert starts(jobs) == [0, 3, 5]


def test_a_circle_of_dynamic_is_an_error():
    jobs = {
        "U": c("a", 1, 1, after=[("V", "DYNAMIC")]),
        "V": c("a", 1, 1, after=[("U", "DYNAMIC")]),
    }
    with pytest.raises(ValueError, match="circle"):
        play(jobs)


# -------------------------------------------------------------------- think time, and waiting inside a job
def test_think_time_counts_from_the_end_and_is_no_offset():
    """
    a AAAA
    b ......DD     (2 s after A's end)
    """
    jobs = {"A": c("a", 1, 4), "D": c("b", 1, 2, delay=2, after=[("A", "AFTEROK")])}
    run = play(jobs)
    assert all_of(run, "start") == all_of(run, "eligible") == [0, 6]
    assert all_of(run, "appointment") == [-1, -1]


def test_think_time_counts_from_the_call():
    """
    a A!AA
    b ...DD        (2 s after the call at 1)
    """
    jobs = {"A": c("a", 1, 4, calls=call(1)), "D": c("b", 1, 2, delay=2, after=[("A", "AFTEROK")])}
    assert starts(jobs) == [0, 3]


def test_think_time_counts_from_the_last_dependency_though_it_came_before_the_submission():
    """
    a AAAA
    b BB...DD      (A ended at 4, so D, submitted at 5, may go at 6; submitted at 9: at once)
    """
    for submit, expected in ((5, 6), (9, 9)):
        after = [("A", "AFTEROK"), ("B", "AFTEROK")]
        jobs = {"A": c("a", 1, 4), "B": c("b", 1, 2), "D": c("b", 1, 2, submit=submit, delay=2, after=after)}
        assert starts(jobs) == [0, 0, expected]


def test_a_unit_waits_for_the_dependencies_and_think_times_of_all_its_members():
    """
    a AAA..UU      (V waits for A, of another job, and thinks for 2 s; it starts with U)
    b .....VV
    """
    jobs = {
        "A": c("a", 1, 3),
        "U": c("a", 1, 2, of="h"),
        "V": c("b", 1, 2, of="h", delay=2, after=[("A", "AFTEROK")]),
    }
    run = play(jobs)
    assert all_of(run, "start") == all_of(run, "eligible") == [0, 5, 5]


def test_a_component_that_waits_for_another_of_its_job_is_no_member_and_takes_its_followers_along():
    """
    a UUUU
    b VVV.WW       (W waits for U's end; X follows W 1 s later; V starts with U)
    d .....XX
    """
    jobs = {
        "U": c("a", 1, 4, of="h"),
        "V": c("b", 1, 3, of="h"),
        "W": c("b", 1, 2, of="h", after=[("U", "AFTEROK")]),
        "X": c("d", 1, 2, of="h", delay=1, after=[("W", "DYNAMIC")]),
    }
    run = play(jobs, {"a": 1, "b": 1, "d": 1})
    assert all_of(run, "start") == [0, 0, 4, 5]
    assert all_of(run, "eligible") == [0, 0, 4, 5]


def test_a_unit_that_would_wait_for_itself_comes_apart():
    """
    a UUUU
    b .V....WW     (W: after U's end, and DYNAMIC with V, which starts with U: it waits alone, thinking 2 s)
    d .......X     (X: 1 s after both V and W, so after W)
    """
    jobs = {
        "U": c("a", 1, 4, of="h"),
        "V": c("b", 1, 1, of="h", delay=1),
        "W": c("b", 1, 2, delay=2, after=[("U", "AFTEROK"), ("V", "DYNAMIC")]),
        "X": c("d", 1, 1, delay=1, after=[("V", "DYNAMIC"), ("W", "DYNAMIC")]),
    }
    assert starts(jobs, {"a": 1, "b": 1, "d": 1}) == [0, 1, 6, 7]


def test_a_call_frees_the_component_that_waits_inside_its_job_and_moves_the_next_member():
    """
    a U!UU
    b .VV          (V had an appointment at 3)
    d .WW          (W: AFTEROK U)
    """
    jobs = {
        "U": c("a", 1, 4, of="h", calls=call(1)),
        "V": c("b", 1, 2, of="h", delay=3),
        "W": c("d", 1, 2, of="h", after=[("U", "AFTEROK")]),
    }
    assert starts(jobs, {"a": 1, "b": 1, "d": 1}) == [0, 1, 1]


def test_after_an_appointment_is_after_the_start_that_was_kept():
    """
    a UU
    b ...VV
    d ...W         (W: AFTER V)
    """
    jobs = {
        "U": c("a", 1, 2, of="h"),
        "V": c("b", 1, 2, of="h", delay=3),
        "W": c("d", 1, 1, after=[("V", "AFTER")]),
    }
    assert starts(jobs, {"a": 1, "b": 1, "d": 1}) == [0, 3, 3]
