"""Calls under the plain reference of units, drawn by hand as in test_plain_units.py (! = a call)."""

from __future__ import annotations

import pytest

from tests.oracle.test_plain_units import POLICIES, all_of, c, play, starts

pytestmark = pytest.mark.interpreted


def call(*seconds):
    return [("WF_API", s) for s in seconds]


# -------------------------------------------------------------------- AFTEROK that becomes AFTER
@pytest.mark.parametrize("policy", POLICIES)
def test_a_call_lets_the_dependent_start_while_the_caller_runs(policy):
    """
    with the call    without
    a AAAA!AAAAA     a AAAAAAAAAA
    b ....DDD        b ..........DDD
    """
    jobs = {"A": c("a", 1, 10, calls=call(4)), "D": c("b", 1, 3, after=[("A", "AFTEROK")])}
    run = play(jobs, policy=policy)
    assert all_of(run, "start") == [0, 4]
    assert all_of(run, "eligible") == [0, 4]
    assert starts(jobs, policy=policy, calls=False) == [0, 10]


def test_a_call_before_the_dependent_is_submitted_counts():
    """
    a AAAA!AAAAA
    b ......DDD     (D comes at 6)
    """
    jobs = {"A": c("a", 1, 10, calls=call(4)), "D": c("b", 1, 3, submit=6, after=[("A", "AFTEROK")])}
    run = play(jobs)
    assert all_of(run, "start") == all_of(run, "eligible") == [0, 6]


def test_a_call_frees_from_the_caller_only():
    """
    a AAAA!AAAAA
    b BBBBBBBDDD    (D waits for B's end, too)
    """
    jobs = {
        "A": c("a", 1, 10, calls=call(4)),
        "B": c("b", 2, 7),
        "D": c("b", 1, 3, after=[("A", "AFTEROK"), ("B", "AFTEROK")]),
    }
    assert starts(jobs) == [0, 0, 7]


def test_a_call_changes_no_other_kind_of_dependency():
    """
    a AAAA!AAAAADDD   (D: AFTERANY)
    b ..........EEE   (E: AFTERNOTOK, and A fails)
    """
    jobs = {
        "A": c("a", 2, 10, calls=call(4), fails=True),
        "D": c("a", 1, 3, after=[("A", "AFTERANY")]),
        "E": c("b", 1, 3, after=[("A", "AFTERNOTOK")]),
    }
    assert starts(jobs) == [0, 10, 10]


def test_a_call_at_the_very_end_comes_too_late():
    """
    a AAAAAA.      A fails at its end, so D runs only if it was freed by the call: at 5 in time, at 6 not
    b .....DDD
    """
    for seconds, expected in ((5, 5), (6, -1)):
        jobs = {
            "A": c("a", 1, 6, calls=call(seconds), fails=True),
            "D": c("b", 1, 3, after=[("A", "AFTEROK")]),
        }
        assert starts(jobs) == [0, expected]


def test_a_call_at_the_very_start_counts_unless_nothing_runs():
    """A runs 1 s and calls at 0: D starts beside it. A run time of 0 has ended before it could call."""
    for run, expected in ((1, 0), (0, -1)):
        jobs = {
            "A": c("a", 1, 6, run=run, calls=call(0), fails=True),
            "D": c("b", 1, 3, after=[("A", "AFTEROK")]),
        }
        assert starts(jobs) == [0, expected]


def test_a_caller_killed_before_its_call_does_not_call():
    """
    a AAAAA        (A is killed at 5, would call at 7)
    b ....EEE      (E, of which the call at 4 was in time)
    """
    jobs = {
        "A": c("a", 1, 5, run=9, calls=call(7)),
        "D": c("b", 1, 3, after=[("A", "AFTEROK")]),
        "B": c("a", 1, 5, run=9, calls=call(4)),
        "E": c("b", 1, 3, after=[("B", "AFTEROK")]),
    }
    run = play(jobs)
    assert all_of(run, "start") == [0, -1, 0, 4]
    assert all_of(run, "state") == ["TIMEOUT", "PENDING", "TIMEOUT", "COMPLETED"]


def test_a_second_call_finds_nothing_to_do():
    """
    a AAA!AA!AA
    b ...DDDDDD    (D started at 3; the call at 6 changes nothing, for D, which came at 0, nor its think time)
    """
    jobs = {"A": c("a", 1, 8, calls=call(3, 6)), "D": c("b", 1, 6, after=[("A", "AFTEROK")])}
    once = {"A": c("a", 1, 8, calls=call(3)), "D": c("b", 1, 6, after=[("A", "AFTEROK")])}
    assert starts(jobs) == starts(once) == [0, 3]
    thinking = {"A": jobs["A"], "D": c("b", 1, 6, delay=5, after=[("A", "AFTEROK")])}
    assert starts(thinking) == [0, 8]


def test_names_ignore_case_and_unknown_ones_are_counted():
    jobs = {
        "A": c("a", 1, 8, calls=[("tea", 2), ("wf_Api", 3)]),
        "D": c("b", 1, 6, after=[("A", "AFTEROK")]),
        "B": c("a", 1, 2, calls=[("tea", 2)]),
    }
    run = play(jobs)
    assert all_of(run, "start") == [0, 3, 0]
    assert run.unknown_calls == 2


# -------------------------------------------------------------------- calls that move appointments
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("delay", ["joint", "reserved"])
def test_a_call_moves_the_next_appointment_to_now(policy, delay):
    """
    with the call    without
    a UUU!UU         a UUUUUU
    b ...VV          b ........VV
    """
    jobs = {"U": c("a", 1, 6, of="h", calls=call(3)), "V": c("b", 2, 2, of="h", delay=8)}
    run = play(jobs, policy=policy, delay=delay)
    assert all_of(run, "start") == [0, 3]
    assert all_of(run, "eligible") == [0, 3]
    assert all_of(run, "appointment") == [-1, 3]
    assert starts(jobs, policy=policy, delay=delay, calls=False) == [0, 8]


def test_a_call_moves_the_appointment_only_as_far_as_limits_promise():
    """
    a UUU!UU
    b BBBB.VV      (B, allowed 5 s, ends at 4: nobody knew at 3, and nobody calls again)
      BBBB.VV
    """
    jobs = {
        "B": c("b", 2, 5, run=4),
        "U": c("a", 1, 6, of="h", calls=call(3)),
        "V": c("b", 2, 2, of="h", delay=8),
    }
    assert starts(jobs) == [0, 0, 5]


def test_a_call_cannot_move_an_appointment_into_what_runs_until_then():
    """
    a UUU!UU
    b BBBBBBBBVV
      BBBBBBBBVV
    """
    jobs = {
        "B": c("b", 2, 8),
        "U": c("a", 1, 6, of="h", calls=call(3)),
        "V": c("b", 2, 2, of="h", delay=8),
    }
    run = play(jobs)
    assert all_of(run, "start") == [0, 0, 8]
    assert all_of(run, "appointment") == [-1, -1, 8]


def test_a_moved_appointment_pushes_aside_those_who_only_wait():
    """
    a UUU!UUU      (W, promised 4, sees V, awaited at 11, go first; X, of another job, keeps its 6)
    b BBBBVV.WW
      BBBBVV.WW
      ......XWW
    """
    jobs = {
        "B": c("b", 2, 4),
        "U": c("a", 1, 7, of="h", calls=call(3)),
        "V": c("b", 2, 2, of="h", delay=11),
        "T": c("a", 1, 1, of="i"),
        "X": c("b", 1, 1, of="i", delay=6),
        "W": c("b", 3, 2),
    }
    modules = {"a": 2, "b": 3}
    assert starts(jobs, modules, policy="conservative") == [0, 0, 4, 0, 6, 7]
    assert starts(jobs, modules, policy="conservative", calls=False) == [0, 0, 11, 0, 6, 4]


def test_only_the_next_ones_move_those_of_one_offset_in_trace_order():
    """
    a UU!UUUUUUU
    b ..VVWW..X    (V and W, both 6 s after U: V first, W behind it; X keeps its 8)
    """
    jobs = {
        "U": c("a", 1, 9, of="h", calls=call(2)),
        "V": c("b", 1, 2, of="h", delay=6),
        "W": c("b", 1, 2, of="h", delay=6),
        "X": c("b", 2, 1, of="h", delay=8),
    }
    assert starts(jobs, {"a": 1, "b": 2}) == [0, 2, 2, 8]
    jobs["B"] = c("b", 1, 4)
    assert starts(jobs, {"a": 1, "b": 2}) == [0, 2, 4, 8, 0]


def test_once_the_next_has_started_a_call_does_not_go_on_to_those_behind():
    """
    a UUUUU!UUUU   (V started at 3; U's call at 5 is not for W, which V calls at 3 + 3)
    b ...VVV!V
      ......WW
    """
    late = {
        "U": c("a", 1, 10, of="h", calls=call(5)),
        "V": c("b", 1, 4, of="h", delay=3),
        "W": c("b", 1, 2, of="h", delay=9),
    }
    assert starts(late) == [0, 3, 9]
    late["V"] = c("b", 1, 4, of="h", delay=3, calls=call(3))
    assert starts(late) == [0, 3, 6]
    twice = {**late, "U": c("a", 1, 10, of="h", calls=call(1, 2)), "V": c("b", 1, 4, of="h", delay=3)}
    assert starts(twice) == [0, 1, 9]


def test_a_call_after_the_caller_ended_or_was_killed_moves_nothing():
    """U ends at 2 or is killed at 4 and would have called at 4: V keeps 8."""
    for run in (2, 9):
        jobs = {"U": c("a", 1, 4, run=run, of="h", calls=call(4)), "V": c("b", 2, 2, of="h", delay=8)}
        assert starts(jobs) == [0, 8]


# -------------------------------------------------------------------- extend_job
MORE = [("extend_job", 2)]


def test_more_time_is_refused_or_granted_by_policy():
    """
    refuse         grant
    a AA!AA        a AA!AAAAA    (A, allowed 5 s, needs 8)
    """
    jobs = {"A": c("a", 1, 5, run=8, calls=MORE)}
    refused, granted = play(jobs), play(jobs, extend="grant")
    assert (all_of(refused, "end"), all_of(refused, "state")) == ([5], ["TIMEOUT"])
    assert (all_of(granted, "end"), all_of(granted, "state")) == ([8], ["COMPLETED"])
    assert all_of(granted, "limit") == [10]
    assert granted.unknown_calls == 0


def test_more_time_is_refused_where_somebody_has_an_appointment():
    """
    a AA!AA..VV    (V at 7; A may not have [5, 10), though it would end at 7. One node more: it may)
      UUUUUUUVV
    """
    jobs = {
        "A": c("a", 1, 5, run=7, calls=MORE),
        "U": c("a", 1, 7, of="h"),
        "V": c("a", 2, 2, of="h", delay=7),
    }
    assert all_of(play(jobs, {"a": 2}, extend="grant"), "end") == [5, 7, 9]
    assert all_of(play(jobs, {"a": 3}, extend="grant"), "end") == [7, 7, 9]


def test_more_time_goes_before_those_who_only_wait():
    """
    a AA!AAAAABB   (B was promised 5)
    """
    jobs = {"A": c("a", 1, 5, run=8, calls=MORE), "B": c("a", 1, 2)}
    assert starts(jobs, {"a": 1}, extend="grant", policy="conservative") == [0, 8]
    assert starts(jobs, {"a": 1}, policy="conservative") == [0, 5]


def test_each_grant_adds_the_original_limit():
    """5 + 5 + 5: A, which needs 14 s, has them after its second call, in the time it was granted first."""
    jobs = {"A": c("a", 1, 5, run=14, calls=[("extend_job", 2), ("EXTEND_JOB", 7)])}
    run = play(jobs, extend="grant")
    assert (all_of(run, "end"), all_of(run, "limit")) == ([14], [15])
