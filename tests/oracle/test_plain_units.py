"""Units by hand, for the plain reference and the engine: time goes right, a row is a node."""

from __future__ import annotations

import pytest

from tests.oracle.plain_unit_records import Component
from tests.oracle.plain_units import Simulator, simulate
from tests.scheduling.unit_cases import Case, fates, fates_of, played

pytestmark = pytest.mark.interpreted

POLICIES = ["fcfs", "first_fit", "easy", "depth", "conservative"]
TWO = {"a": 2, "b": 2}


def play(jobs, modules=None, **settings) -> Simulator:
    """``jobs``: name -> (module, nodes, limit, other fields); ``of`` is the job, ``run`` the run time."""
    ids = {name: number for number, name in enumerate(jobs)}
    owners = [more.get("of", name) for name, (*_, more) in jobs.items()]
    components = []
    for name, (module, nodes, limit, more) in jobs.items():
        more = dict(more)
        job = owners.index(more.pop("of", name))
        more["depends"] = [(ids[other], kind) for other, kind in more.pop("after", ())]
        run, submit = more.pop("run", limit), more.pop("submit", 0)
        components.append(Component(ids[name], job, submit, module, nodes, limit, run, **more))
    run = simulate(components, modules or TWO, **settings)
    if not any(one.tier for one in components):
        the_engine_agrees(components, modules or TWO, run, **settings)
    return run


def the_engine_agrees(
    components, modules, run, *, policy="fcfs", k=1, every_second=False, **settings
) -> None:
    """What is drawn here holds for the engine, too."""
    keys = {"extend_job": settings.pop("extend", "refuse"), "delay": "joint"} | settings
    depth = {"depth": k} if policy == "depth" else {}
    case = Case(modules, tuple(components), policy, keys | depth)
    assert fates(played(case)) == fates_of(run)


def c(module, nodes, limit, **more):
    return (module, nodes, limit, more)


def starts(jobs, modules=None, **settings) -> list[int]:
    return [outcome.start for outcome in play(jobs, modules, **settings).outcomes.values()]


def all_of(simulator, field) -> list:
    return [getattr(outcome, field) for outcome in simulator.outcomes.values()]


# -------------------------------------------------------------------- joint starts
@pytest.mark.parametrize("policy", POLICIES)
def test_a_heterogeneous_job_starts_when_both_modules_can(policy):
    """
    a AAAA..UUU
      AAAA
    b BBBBBBVVV
      BBBBBBVVV
    """
    jobs = {"A": c("a", 2, 4), "B": c("b", 2, 6), "U": c("a", 1, 3, of="h"), "V": c("b", 2, 3, of="h")}
    run = play(jobs, policy=policy)
    assert all_of(run, "start") == [0, 0, 6, 6]
    assert all_of(run, "eligible") == [0, 0, 0, 0]
    assert all_of(run, "appointment") == [-1] * 4


def test_each_member_ends_by_its_own_run_time_and_limit():
    """
    a UUC       (U, allowed 5 s, ends at 2, and C has all of a; V, which would run 9 s, is killed at 3)
      ..C
    b VVV
    """
    jobs = {"U": c("a", 2, 5, run=2, of="h"), "V": c("b", 1, 3, run=9, of="h"), "C": c("a", 2, 1)}
    run = play(jobs)
    assert all_of(run, "end") == [2, 3, 3]
    assert all_of(run, "state") == ["COMPLETED", "TIMEOUT", "COMPLETED"]


def test_members_that_overlap_on_one_module_need_the_sum():
    """
    a ...VV     (2 + 2 nodes of 4; A holds one until 3)
      ...VV
      ...UU
      AAAUU
    """
    jobs = {"A": c("a", 1, 3), "U": c("a", 2, 2, of="h"), "V": c("a", 2, 2, of="h")}
    assert starts(jobs, {"a": 4}) == [0, 3, 3]


def test_members_one_after_the_other_do_not_need_the_sum():
    """
    a .........
      .UUUVVVV  (A holds a node until 1: V, 3 s after U, takes over from it)
      .UUUVVVV
      AUUUVVVV
    """
    jobs = {"A": c("a", 2, 1), "U": c("a", 3, 3, of="h"), "V": c("a", 3, 4, of="h", delay=3)}
    assert starts(jobs, {"a": 4}) == [0, 1, 4]
    assert starts(jobs, {"a": 5}) == [0, 0, 3]


PASSING = {
    "B": c("b", 2, 6),
    "U": c("a", 1, 3, of="h"),
    "V": c("b", 1, 3, of="h"),
    "C": c("a", 2, 4, submit=1),
    "D": c("a", 2, 2, submit=1),
}


def test_fcfs_lets_nothing_pass_a_unit_blocked_in_another_module():
    """
    a .........CCCCDD
      ......UUUCCCCDD
    b BBBBBBVVV
      BBBBBB
    """
    assert starts(PASSING, policy="fcfs") == [0, 6, 6, 9, 13]


def test_under_fcfs_a_waiting_unit_blocks_all_its_modules():
    """
    a AAAAUU
      AAAA
    b ....VVDD    (D, for 2 s, would have had two free nodes at 1)
      ......DD
    """
    jobs = {
        "A": c("a", 2, 4),
        "U": c("a", 1, 2, of="h"),
        "V": c("b", 1, 2, of="h"),
        "D": c("b", 2, 2, submit=1),
    }
    assert starts(jobs, policy="fcfs") == [0, 4, 4, 6]
    assert starts(jobs, policy="easy") == [0, 4, 4, 1]


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_others_pass_a_blocked_unit_that_do_not_hold_it_up(policy):
    """
    a .CCCC....DD   (C ends at 5; D would end at 7, after the joint start 6)
      .CCCC.UUUDD
    b BBBBBBVVV
      BBBBBB
    """
    assert starts(PASSING, policy=policy) == [0, 6, 6, 1, 9]


def test_first_fit_lets_a_unit_be_held_up():
    """
    a .CCCCDD
      .CCCCDDUUU
    b BBBBBB.VVV
      BBBBBB
    """
    assert starts(PASSING, policy="first_fit") == [0, 7, 7, 1, 5]


def test_a_unit_counts_as_a_reservation_in_each_of_its_modules():
    """
    easy                           depth 2
    a AAAAUU                       a AAAAUU
      AAAAUU                         AAAAUU
    b .YYYYYYYYYYYYYYYYYYYYXXXXX   b ......XXXXXYYYYYYYYYYYYYYYYYYYY
      ....VV               XXXXX     ....VVXXXXX
    V, not the leader, has the one reservation of b, so X has none.
    """
    jobs = {
        "A": c("a", 2, 4),
        "U": c("a", 2, 2, of="h"),
        "V": c("b", 1, 2, of="h"),
        "X": c("b", 2, 5),
        "Y": c("b", 1, 20, submit=1),
    }
    assert starts(jobs, policy="easy") == [0, 4, 4, 21, 1]
    assert starts(jobs, policy="depth", k=2) == [0, 4, 4, 6, 11]


def test_a_unit_without_depth_in_one_module_reserves_in_none():
    """
    easy                        conservative
    a AAAAFF                    a AAAAFF
      AAAAFF               WW     AAAAFFWW
    b .YYYYYYYYYYYYYYYYYYYYXX   b ......XXYYYYYYYYYYYYYYYYYYYY
      BBBB                 XX     BBBB..XX
    F has the one reservation of a, so W and X have none in b either.
    """
    jobs = {
        "A": c("a", 2, 4),
        "B": c("b", 1, 4),
        "F": c("a", 2, 2),
        "W": c("a", 1, 2, of="i"),
        "X": c("b", 2, 2, of="i"),
        "Y": c("b", 1, 20, submit=1),
    }
    assert starts(jobs, policy="easy") == [0, 0, 4, 21, 21, 1]
    assert starts(jobs, policy="conservative") == [0, 0, 4, 6, 6, 8]


def test_a_unit_stands_in_its_leaders_place_and_waits_for_its_last_member():
    """
    a AAAAAUUCC   (U came at 0, C at 1; V, which makes the unit whole, at 2)
      AAAAAUUCC
    b .....V
    """
    jobs = {
        "A": c("a", 2, 5),
        "U": c("a", 2, 2),
        "C": c("a", 2, 2, submit=1),
        "V": c("b", 1, 1, submit=2, after=[("U", "DYNAMIC")]),
    }
    run = play(jobs)
    assert all_of(run, "start") == [0, 5, 7, 5]
    assert all_of(run, "eligible") == [0, 2, 1, 2]


def test_the_leaders_tier_is_the_units():
    """V's tier 5 does not count: C, of tier 1, goes before U (0) and V."""
    jobs = {
        "A": c("a", 2, 3),
        "U": c("a", 2, 2, of="h"),
        "V": c("b", 1, 2, of="h", tier=5),
        "C": c("a", 2, 2, submit=1, tier=1),
    }
    assert starts(jobs) == [0, 5, 5, 3]


# -------------------------------------------------------------------- what is no unit
def test_a_job_with_a_component_that_is_too_large_is_rejected_whole():
    """V asks for 3 of 2 nodes: neither starts; C needs V's end of any kind (and 3 s), D that U completed."""
    jobs = {
        "U": c("a", 1, 2, of="h"),
        "V": c("b", 3, 2, of="h"),
        "C": c("a", 1, 2, delay=3, after=[("V", "AFTERANY")]),
        "D": c("a", 1, 2, after=[("U", "AFTEROK")]),
    }
    run = play(jobs)
    assert all_of(run, "state") == ["REJECTED", "REJECTED", "COMPLETED", "PENDING"]
    assert all_of(run, "start") == [-1, -1, 3, -1]
    assert all_of(run, "eligible") == [-1, -1, 3, -1]


def test_a_job_whose_components_never_fit_together_is_rejected_whole():
    """2 + 1 nodes of 2 at once: never. V 2 s after U, when U is over: at once."""
    together = {"U": c("a", 2, 2, of="h"), "V": c("a", 1, 2, of="h")}
    assert all_of(play(together), "state") == ["REJECTED", "REJECTED"]
    apart = {"U": c("a", 2, 2, of="h"), "V": c("a", 1, 2, of="h", delay=2)}
    assert starts(apart) == [0, 2]
    barely = {"U": c("a", 2, 2, of="h"), "V": c("a", 1, 2, of="h", delay=1)}
    assert all_of(play(barely), "state") == ["REJECTED", "REJECTED"]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_unit_of_one_is_an_ordinary_component_and_has_no_delay(policy):
    """
    a AAAA..U     (U, alone in its job, with a delay of 9 s from itself)
      AAAABBU
    """
    jobs = {"A": c("a", 2, 4), "B": c("a", 1, 2), "U": c("a", 2, 1, delay=9)}
    run = play(jobs, policy=policy)
    assert all_of(run, "start") == [0, 4, 6]
    assert all_of(run, "appointment") == [-1] * 3


# -------------------------------------------------------------------- delays
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("delay", ["joint", "reserved"])
def test_a_delay_is_kept_and_its_nodes_are_held(policy, delay):
    """
    a UUUUU
    b .DDVVVVCCC  (V has its appointment at 3: D may run until then, C for 3 s may not)
      .DDVVVV
    """
    jobs = {
        "U": c("a", 1, 5, of="h"),
        "V": c("b", 2, 4, of="h", delay=3),
        "D": c("b", 2, 2, submit=1),
        "C": c("b", 1, 3, submit=1),
    }
    run = play(jobs, policy=policy, delay=delay)
    at_once = {**jobs, "D": c("b", 2, 2), "C": c("b", 1, 4)}
    assert starts(at_once, policy=policy, delay=delay) == [0, 3, 0, 7]
    assert all_of(run, "start") == [0, 3, 1, 7]
    assert all_of(run, "appointment") == [-1, 3, -1, -1]
    assert all_of(run, "eligible") == [0, 3, 1, 1]


def test_delay_zero_is_no_delay():
    for delay in (-1, 0):
        jobs = {"A": c("b", 2, 4), "U": c("a", 1, 5, of="h"), "V": c("b", 2, 4, of="h", delay=delay)}
        assert starts(jobs) == [0, 4, 4]


def test_the_first_ending_early_changes_no_appointment():
    """
    a UU...       (U, allowed 5 s, runs 2)
    b ....VV
    """
    run = play({"U": c("a", 1, 5, run=2, of="h"), "V": c("b", 2, 2, of="h", delay=4)})
    assert all_of(run, "start") == [0, 4]


def test_the_first_killed_at_its_limit_changes_no_appointment():
    """
    a UUU
    b .....VV
    """
    run = play({"U": c("a", 1, 3, run=9, of="h"), "V": c("b", 2, 2, of="h", delay=5)})
    assert all_of(run, "state") == ["TIMEOUT", "COMPLETED"]
    assert all_of(run, "start") == [0, 5]


def test_three_members_at_three_times():
    """
    a UUUUUUU     b ..VV     ..W
      .....WW       ..VV
    """
    jobs = {"U": c("a", 1, 7, of="h"), "V": c("b", 2, 2, of="h", delay=2), "W": c("a", 1, 2, of="h", delay=5)}
    assert starts(jobs) == [0, 2, 5]


@pytest.mark.parametrize("policy", POLICIES)
def test_joint_starts_in_time_for_the_later_member_where_reserved_waits_to_be_sure(policy):
    """
    joint                  reserved
    a ...UUUU              a .....UUUU
    b BBBBBVVVV            b BBBBB..VVVV
      BBBBBVVVV              BBBBB..VVVV
    Nothing happens at 3: the clock stops there for U's slot. Reserved tries at 0, in vain, and at 5.
    """
    jobs = {"B": c("b", 2, 5), "U": c("a", 1, 4, of="h"), "V": c("b", 2, 4, of="h", delay=2)}
    assert starts(jobs, policy=policy) == [0, 3, 5]
    assert starts(jobs, policy=policy, delay="reserved") == [0, 5, 7]


def test_reserved_pushes_aside_those_who_only_wait():
    """
    joint                  reserved
    a ....UU               a UU
    b ....WWWVVVV          b ...VVVVWWW
      BBBBWWW                BBBB...WWW
    """
    jobs = {
        "B": c("b", 1, 4),
        "W": c("b", 2, 3),
        "U": c("a", 1, 2, of="h"),
        "V": c("b", 1, 4, of="h", delay=3),
    }
    assert starts(jobs, policy="conservative") == [0, 4, 4, 7]
    assert starts(jobs, policy="conservative", delay="reserved") == [0, 7, 0, 3]


def test_reserved_that_found_no_place_keeps_its_own_nodes_from_the_next_second():
    """
    a .....UUUUCC  (U is tried at 0 and at 5; C, for 2 s, may not run in its place, D for 1 s may)
      D....UUUUCC
    b BBBBB..VV
      BBBBB..VV
    """
    jobs = {
        "B": c("b", 2, 5),
        "U": c("a", 2, 4, of="h"),
        "V": c("b", 2, 2, of="h", delay=2),
        "C": c("a", 2, 2),
        "D": c("a", 1, 1),
    }
    assert starts(jobs, policy="conservative", delay="reserved") == [0, 5, 7, 9, 0]


def test_reserved_gives_each_later_member_what_those_before_it_have_left():
    """
    joint                  reserved
    a ..U                  a .....U
    b ....VVVV             b .......VVVV
      BBBBBWWWW              BBBBB...WWWW
    At 0 either V or W would find a node beside B, but not both.
    """
    jobs = {
        "B": c("b", 1, 5),
        "U": c("a", 1, 1, of="h"),
        "V": c("b", 1, 4, of="h", delay=2),
        "W": c("b", 1, 4, of="h", delay=3),
    }
    assert starts(jobs) == [0, 2, 4, 5]
    assert starts(jobs, delay="reserved") == [0, 5, 7, 8]
