"""Explanations of schedules small enough to check by eye."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of
from scheduler_sim.report.explanation import Explanation
from scheduler_sim.result.result import Result
from tests.report.schedules import CONSERVATIVE, EASY, FCFS, behind_a_shadow, schedule
from tests.result.hand_made import Run

pytestmark = pytest.mark.interpreted


def words(said: Explanation) -> str:
    return " ".join(text_of(said).split())


def seconds(said: Explanation) -> dict[str, int]:
    return {wait.kind: wait.seconds for wait in said.waits}


def test_easy_names_the_shadow_time_and_the_extra_nodes():
    said = explain(behind_a_shadow(), 3)
    first, second = said.phases
    assert (first.start, first.end, first.front) == (20, 100, 2)
    assert (first.priority, first.resources) == (30, 50)
    assert (first.idle_least, first.idle_most) == (0, 2)
    assert first.verdict is not None
    assert (first.verdict.rule, first.verdict.moment, first.verdict.idle) == ("shadow", 80, 2)
    assert (first.verdict.would_end, first.verdict.bound, first.verdict.left) == (280, 100, 1)
    assert (second.start, second.end, second.front) == (100, 200, 3)
    text = words(said)
    assert "component 2" in text
    assert "would have ended at 0d 00:04:40, after the shadow time 0d 00:01:40" in text
    assert "asked for 2 nodes where only 1 was extra" in text
    assert "It was first in the queue itself." in text
    assert not said.notes


def test_a_component_of_a_heterogeneous_job_is_told_to_start_with_the_others():
    """Job 2 needs a node of A, where nothing runs, and one of B, which job 1 holds until 9."""
    system = System.from_dict({"modules": [{"name": "A", "nodes": 1}, {"name": "B", "nodes": 1}]})
    trace = Workload.from_columns(
        modular_job_id=[1, 2, 2], submit_time=0, partition=["B", "A", "B"], nodes=1, run_time=9, time_limit=9
    )
    said = explain(simulate(system, trace, "easy"), 2)
    assert seconds(said)["resources"] == 9
    assert "one of 2 components of job 2, which start together" in words(said)
    assert "appointment" in words(said)
    assert "start together" not in words(explain(simulate(system, trace, "easy"), 1))


def test_extra_nodes_taken_in_the_same_pass_by_a_later_component_count_as_extra():
    runs = [Run(0, 0, 100, 2), Run(1, 100, 100, 9), Run(5, 200, 300, 2), Run(5, 5, 300, 1)]
    verdict = explain(schedule(runs, {"CM": 10}, EASY), 3).phases[0].verdict
    assert verdict is not None
    assert (verdict.rule, verdict.bound, verdict.left) == ("shadow", 100, 1)


def test_who_held_the_nodes_and_until_when():
    runs = [Run(0, 0, 90, 6, limit=100), Run(0, 0, 300, 1), Run(0, 0, 60, 3), Run(50, 90, 10, 5)]
    said = explain(schedule(runs, {"CM": 10}, EASY, users=["ada", "ben", "cy", "dan"]), 4)
    assert said.arrival is not None
    assert [holder.component_id for holder in said.arrival.holders] == [2, 1, 3]
    assert (said.arrival.idle, said.arrival.running, said.arrival.ahead) == (0, 3, 0)
    text = words(said)
    assert "0 of the 10 nodes of CM were idle; it needed 5" in text
    assert "1 user ada 6 nodes until 0d 00:01:30, planned until 0d 00:01:40" in text
    assert "2 user ben 1 node until 0d 00:05:00" in text
    assert seconds(said) == {"dependency": 0, "priority": 0, "resources": 40}


def test_fcfs_blocks_behind_the_front():
    runs = [Run(0, 0, 100, 8), Run(10, 100, 100, 9), Run(20, 200, 200, 2)]
    said = explain(schedule(runs, {"CM": 10}, FCFS), 3)
    assert said.phases[0].verdict is not None
    assert said.phases[0].verdict.rule == "blocked"
    assert "nothing may pass a blocked front: it sat behind component 2" in words(said)
    assert "Nothing that stood later in the queue of its module started before it." in words(said)


def test_conservative_names_the_reservations_in_the_way():
    runs = [Run(0, 0, 100, 8), Run(10, 100, 100, 9), Run(20, 200, 200, 2)]
    said = explain(schedule(runs, {"CM": 10}, CONSERVATIVE), 3)
    verdict = said.phases[0].verdict
    assert verdict is not None
    assert (verdict.rule, verdict.bound, verdict.left) == ("reserved", 100, 1)
    assert [(one.component_id, one.nodes, one.start, one.end) for one in verdict.reserved] == [
        (2, 9, 100, 200)
    ]
    assert "reserved for 2 (9 nodes 0d 00:01:40 to 0d 00:03:20)" in words(said)


def test_conservative_that_keeps_promises_admits_that_it_cannot_recompute_them():
    runs = [Run(0, 0, 100, 8), Run(10, 100, 100, 9), Run(20, 200, 200, 2)]
    said = explain(schedule(runs, {"CM": 10}, {**CONSERVATIVE, "replan": "keep"}), 3)
    assert "first component 2; they cannot all be recomputed" in words(said)


def test_two_reservations():
    runs = [Run(0, 0, 100, 8), Run(1, 100, 100, 9), Run(2, 200, 100, 9), Run(3, 300, 250, 2)]
    verdict = explain(schedule(runs, {"CM": 10}, {**EASY, "depth": 2}), 4).phases[0].verdict
    assert verdict is not None
    assert verdict.rule == "reserved"
    assert verdict.reserved[0].component_id == 2


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"extra_rule": False}, "this policy lets nothing use the extra nodes"),
        ({"candidate_time": "run"}, "would have ended at 0d 00:01:45"),
        ({"shadow": "static"}, "after the shadow time 0d 00:01:40"),
    ],
)
def test_dialects(keys, expected):
    nodes = 9 if "extra_rule" not in keys else 8
    runs = [Run(0, 0, 100, 8), Run(1, 100, 100, nodes), Run(5, 200, 100, 2, limit=500)]
    assert expected in words(explain(schedule(runs, {"CM": 10}, {**EASY, **keys}), 3))


def test_what_a_result_cannot_explain_is_said_so():
    said = explain(schedule([Run(0, 50, 10, 2)], {"CM": 10}, EASY), 1)
    assert said.phases[0].verdict is not None
    assert said.phases[0].verdict.rule == "other"
    assert "Nodes alone do not say why" in words(said)


def test_shared_resources_show_as_a_difference():
    result = behind_a_shadow()
    result.components.loc[2, ["wait_priority", "wait_resources"]] = [0, 180]
    assert "would be 150 s, not 180 s" in words(explain(result, 3))


def test_overtaking_counts_and_measures():
    said = explain(behind_a_shadow(), 3)
    passed = said.overtaking
    assert passed is not None
    assert (passed.count, passed.node_seconds, passed.smaller, passed.gone) == (1, 100, 0, 1)
    assert [one.component_id for one in passed.top] == [4]
    assert "1 component that stood later in the queue of its module started before it" in words(said)


def test_orders_decide_who_is_later():
    runs = [Run(0, 0, 100, 8), Run(10, 100, 50, 9), Run(20, 150, 20, 9), Run(30, 170, 200, 9)]
    fifo = explain(schedule(runs, {"CM": 10}, FCFS), 4)
    ljf = explain(schedule(runs, {"CM": 10}, {**FCFS, "order": "ljf"}), 4)
    assert fifo.overtaking is not None
    assert ljf.overtaking is not None
    assert (fifo.overtaking.count, ljf.overtaking.count) == (0, 2)
    assert [phase.front for phase in fifo.phases] == [2, 3, 4]
    assert [phase.front for phase in ljf.phases] == [4]
    assert fifo.arrival is not None
    assert (fifo.arrival.ahead, fifo.arrival.ahead_nodes) == (2, 18)


def test_an_order_of_the_users_own_is_not_guessed():
    said = explain(behind_a_shadow({**EASY, "order": "mine.py:gentle"}), 3)
    assert said.overtaking is None
    assert [(phase.front, phase.priority, phase.resources) for phase in said.phases] == [(-1, 30, 150)]
    assert "The queue order was mine.py:gentle, a function of the user's own" in words(said)


def test_dependency():
    runs = [Run(0, 0, 100, 2), Run(10, 100, 50, 2, eligible=100), Run(0, 0, 100, 1)]
    said = explain(schedule(runs, {"CM": 10}, EASY, users=["ada", "ada", "ben"]), 2)
    assert seconds(said) == {"dependency": 90, "priority": 0, "resources": 0}
    assert said.dependency is not None
    assert said.dependency.component_ids == (1,)
    text = words(said)
    assert "dependency 0:01:30 100 %" in text
    assert "Component 1 ended at that very instant" in text


def test_begin_time_that_nothing_explains():
    said = explain(schedule([Run(0, 70, 5, 1, eligible=70)], {"CM": 10}, EASY), 1)
    assert "or had a begin time" in words(said)


def test_no_wait():
    said = explain(behind_a_shadow(), 1)
    assert "It did not wait" in text_of(said)
    assert (said.phases, said.arrival, said.wait) == ((), None, 0)


def test_rejected_names_the_limit():
    runs = [Run(0, None, 10, 11, state="REJECTED"), Run(0, None, 10, 5, state="REJECTED", limit=900)]
    result = schedule(runs, {"CM": 10, "DAM": 4}, EASY)
    assert "11 nodes, and CM has 10 (no module has as many)" in words(explain(result, 1))
    assert "do not explain it" in words(explain(result, 2))
    partition = {"name": "short", "module": "CM", "max_nodes": 4, "max_time": 600}
    result.manifest["system"] = {"partitions": [partition, {"name": "else", "module": "DAM"}]}
    text = words(explain(result, 2))
    assert "5 nodes, above MaxNodes 4 of partition short" in text
    assert "time limit of 900 s is above MaxTime 600 s of partition short" in text


def test_pending_behind_lost_nodes():
    runs = [Run(0, 0, 100, 2), Run(10, None, 50, 9, state="PENDING"), Run(90, 90, 20, 1)]
    said = explain(schedule(runs, {"CM": 10}, EASY, down={"CM": {5: 4}}), 2)
    assert (said.times.waited_until, said.wait) == (110, 100)
    assert seconds(said)["resources"] == 100
    assert said.arrival is not None
    assert said.arrival.down == 4
    assert "It never started" in words(said)
    assert "and 4 out of service" in words(said)


def test_pending_on_a_dependency():
    runs = [Run(0, 0, 100, 2), Run(10, None, 50, 9, state="PENDING", eligible=-1)]
    said = explain(schedule(runs, {"CM": 10}, EASY), 2)
    assert seconds(said) == {"dependency": 90}
    assert "never satisfied" in words(said)


@pytest.mark.parametrize("limits", ["NO", "ANY"])
def test_who_is_beyond_the_limits_of_a_partition_is_told_which(limits):
    """By a manifest as a run writes it, whether Slurm turns the job away or lets it wait for ever."""
    partition = {"name": "p", "module": "m", "max_time": 600}
    system = System.from_dict({"modules": [{"name": "m", "nodes": 4}], "partitions": [partition]})
    workload = Workload.from_columns(submit_time=[0, 0], nodes=[1, 1], run_time=[9, 9], time_limit=[900, 60])
    policy = Policy(backfill="slurm", slurm={"EnforcePartLimits": limits})
    text = words(explain(simulate(system, workload, policy), 1))
    assert "time limit of 900 s is above MaxTime 600 s of partition p" in text
    assert "never satisfied" not in text


def test_other_modules_do_not_matter():
    runs = [Run(0, 0, 100, 8), Run(5, 5, 300, 2, "DAM"), Run(10, 100, 10, 4), Run(12, 12, 10, 1, "DAM")]
    said = explain(schedule(runs, {"CM": 10, "DAM": 4}, EASY), 3)
    assert said.arrival is not None
    assert [holder.component_id for holder in said.arrival.holders] == [1]
    assert said.overtaking is not None
    assert said.overtaking.count == 0


def test_unknown_ids():
    result = behind_a_shadow()
    with pytest.raises(InputError, match="no component 7 in this result; the nearest ids are 1, 2, 3 and 4"):
        explain(result, 7)
    with pytest.raises(InputError, match=r"'x' is not a number, nor 30_1.*; ids run from 1 to 4"):
        explain(result, "x")
    result.components["modular_job_id"] = [70, 70, 80, 90]
    with pytest.raises(InputError, match="70 is a job, not a component; its components are 1 and 2"):
        explain(result, "70")
    result.components = result.components.iloc[:0]
    with pytest.raises(InputError, match="is empty"):
        explain(result, 1)


def test_hostile_names_cannot_reach_the_terminal():
    evil = "\x1b]0;owned\x07\u202e" + "a" * 500 + "\nroot"
    runs = [Run(0, 0, 100, 8), Run(10, 100, 100, 9), Run(20, 200, 200, 2)]
    result = schedule(runs, {evil: 10, "CM": 10}, {**EASY, "name": evil}, users=[evil, evil, evil])
    result.components["app"] = result.components["name"] = result.components["user"]
    text = text_of(explain(result, 3))
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert "a" * 50 not in text


def test_dates_when_the_trace_has_them():
    result = behind_a_shadow()
    result.manifest["trace"] = {"unix_start_time": 843480031}
    assert "submitted 0d 00:00:20 1996-09-23 12:00:51 UTC" in words(explain(result, 3))
    result.manifest["trace"] = {"unix_start_time": 10**18}
    assert "UTC" not in text_of(explain(result, 3))


def test_lines_fit_a_terminal():
    assert max(map(len, text_of(explain(behind_a_shadow(), 3)).splitlines())) <= 100


def test_long_waits_list_the_longest_phases():
    runs = [Run(0, 10 * i, 10, 10) for i in range(40)]
    said = explain(schedule(runs, {"CM": 10}, FCFS), 40)
    assert (said.phase_count, len(said.phases), said.phase_seconds) == (39, 5, 390)
    assert "of 39 phases the 5 longest make up 13 % of the time" in words(said)


def test_a_saved_result_is_explained_alike(tmp_path):
    result = behind_a_shadow()
    loaded = Result.load(result.save(tmp_path / "run"))
    for component in (1, 2, 3, 4):
        assert explain(loaded, component) == explain(result, component)
