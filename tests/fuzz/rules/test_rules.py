"""A slice of the fuzzer of rules together, what it found once, and that it would find what is broken."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from tests.engine.interpreted import interpreted
from tests.fuzz.crew import carry_out
from tests.fuzz.rules import audit as laws
from tests.fuzz.rules import judge
from tests.fuzz.rules.judge import case, judged, work_compiled, work_plain
from tests.fuzz.rules.minimise import minimised
from tests.fuzz.rules.plays import FoundError, Play
from tests.fuzz.rules.refusals import names_no_way_out, sentence
from tests.fuzz.rules.tables import Tables

FOUND = Path(__file__).with_name("found")


def _require_nothing_found(seed, number, outcome):
    assert not outcome.sign, f"python -m tests.fuzz.rules --seed {seed} --case {number}\n{outcome.text}"
    assert not [said for said in outcome.refused if names_no_way_out(said)]


def test_a_slice_without_a_finding():
    for number in range(48):
        _require_nothing_found(1, number, judged(case(1, number)))


@pytest.mark.long
@pytest.mark.parametrize(("work", "many"), [(work_plain, 2000), (work_compiled, 24)])
def test_more_cases_without_a_finding(work, many):
    done = 0
    for more, found in carry_out(1, range(many), 1, work):
        _require_nothing_found(1, found.number, found.finding)
        done += more
    assert done == many


@pytest.mark.parametrize("name", sorted(path.name for path in FOUND.iterdir()))
def test_what_was_found_once(name):
    outcome = judged(json.loads((FOUND / name).read_text()))
    assert not outcome.sign, outcome.text
    assert not [said for said in outcome.refused if names_no_way_out(said)]


def test_a_case_is_the_same_by_its_number():
    assert [case(7, number) for number in range(50)] == [case(7, number) for number in range(50)]
    assert case(7, 1) != case(8, 1)
    assert json.loads(json.dumps(case(7, 3))) == case(7, 3)


SMALL = {
    "system": {
        "modules": [
            {"name": "A", "nodes": 3, "shared": True, "cores_per_node": 2},
            {"name": "B", "nodes": 2},
        ],
        "resources": {"licences": {"lic": 1}},
        "events": [{"time": 150, "state": "DOWN", "module": "B", "nodes": "0", "end": 400}],
    },
    "jobs": [
        {"partition": "A", "nodes": 2, "cores": 1, "licences": "lic"},
        {"partition": "A", "nodes": 1, "array_job_id": 9, "array_limit": 1, "licences": "lic"},
        {"partition": "B", "nodes": 1, "array_job_id": 9, "array_limit": 1},
        {"partition": "B", "nodes": 1, "dependency_ids": "1", "dependency_kinds": "AFTEROK"},
        {"partition": "A", "nodes": 1, "begin_time": 60},
        {"partition": "B", "nodes": 2},
    ],
    "policy": {"backfill": "slurm"},
    "models": None,
    "operations": [],
    "seed": 0,
    "cut": 0,
    "level": 1,
}
for _number, _job in enumerate(SMALL["jobs"]):
    _job |= {"component_id": _number + 1, "modular_job_id": _number + 1, "submit_time": 0, "run_time": 50}


@pytest.fixture(scope="module")
def played():
    with interpreted():
        play = Play(SMALL)
        return play.by_processes(), play


def _set(tables, number, **values):
    tables.rows[number - 1] |= values


def _twice(tables, column):
    tables.timeline[column] *= 2


BROKEN = {
    "components": (laws.nobody_is_lost, lambda t: t.ids.append(7)),
    "state": (laws.time_goes_forward, lambda t: _set(t, 1, state="LOST")),
    "order of times": (laws.time_goes_forward, lambda t: _set(t, 1, end_time=0, start_time=5)),
    "negative wait": (laws.time_goes_forward, lambda t: _set(t, 1, wait_priority=-3, wait_resources=3)),
    "sum of waits": (laws.time_goes_forward, lambda t: _set(t, 5, wait_priority=1000)),
    "nodes of a module": (laws.modules_have_room, lambda t: _set(t, 6, start_time=0, end_time=999)),
    "node used twice": (laws.nodes_have_room, lambda t: _set(t, 1, exclusive=1, start_time=0, end_time=999)),
    "node list": (laws.nodes_have_room, lambda t: _set(t, 1, node_list="0,7")),
    "cores of a node": (laws.nodes_have_room, lambda t: _set(t, 1, cores=9.0)),
    "cores of a module": (laws.parts_have_room, lambda t: _set(t, 1, cores=9.0)),
    "licences": (laws.licences_are_enough, lambda t: t.asked[5].update(licences="lic:2")),
    "begin time": (laws.nobody_starts_before_it_may, lambda t: t.asked[5].update(begin_time=10**6)),
    "hold": (laws.nobody_starts_before_it_may, lambda t: t.asked[1].update(hold=1)),
    "dependency": (laws.nobody_starts_before_it_may, lambda t: t.asked[4].update(dependency_ids="6")),
    "limit of an array": (laws.arrays_keep_their_limit, lambda t: _set(t, 2, start_time=0, end_time=999)),
    "node out of service": (laws.nodes_out_of_service_are_idle, lambda t: _set(t, 4, end_time=999)),
    "nodes out of service": (laws.nodes_out_of_service_are_idle, lambda t: _twice(t, "nodes_down")),
    "timeline": (laws.timeline_is_the_sum, lambda t: _twice(t, "nodes_busy")),
    "metrics": (laws.metrics_are_of_the_tables, lambda t: t.metrics.update(makespan=1)),
}
"""By what is found: a law, and how tables are broken."""


def test_right_tables_are_right(played):
    laws.audit(Tables(*played))


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_broken_is_found(played, kind):
    result, play = played
    tables = Tables(result, copy.copy(play))
    tables.case, tables.ids = copy.deepcopy(play.case), list(play.ids)
    tables.asked = {job["component_id"]: job for job in tables.case["jobs"]}
    tables.rows = copy.deepcopy(tables.rows)
    tables.by_id = {row["component_id"]: row for row in tables.rows}
    tables.timeline, tables.metrics = tables.timeline.copy(), copy.deepcopy(tables.metrics)
    law, change = BROKEN[kind]
    change(tables)
    with pytest.raises(FoundError) as raised:
        law(tables)
    assert raised.value.kind == kind


def test_a_case_that_takes_too_long_is_a_finding(monkeypatch):
    def for_ever(self):
        while True:
            pass

    monkeypatch.setattr(judge, "CPU_S", 0.2)
    monkeypatch.setattr(judge, "COMPILED_CPU_S", 0.2)
    monkeypatch.setattr(Play, "by_processes", for_ever)
    assert judged(SMALL).sign == "hang"


def test_a_case_that_is_slow_in_plain_python_alone_is_none(monkeypatch):
    plays, known = [], Play.by_processes

    def slow_then_fast(self):
        plays.append(self)
        while len(plays) == 1:
            pass
        return known(self)

    monkeypatch.setattr(judge, "CPU_S", 0.2)
    monkeypatch.setattr(Play, "by_processes", slow_then_fast)
    assert judged(SMALL).sign == ""


def test_a_case_is_made_small():
    """What is found with two jobs and a key of the policy is left with these alone."""

    def sign_of(one):
        there = {job["component_id"] for job in one["jobs"]}
        return "found" if {2, 4} <= there and "backfill" in one["policy"] else ""

    small = minimised(SMALL | {"operations": [{"time": 3}]}, sign_of)
    assert [sorted(job) for job in small["jobs"]] == 2 * [
        ["component_id", "modular_job_id", "nodes", "run_time", "submit_time"]
    ]
    assert small["operations"] == []
    assert small["system"] == {}


def test_sentences_of_refusals():
    said = "nodes: found 12 for 'CM'; allowed: 3"
    assert sentence(said) == "nodes: found N for '…'; allowed: N"
    assert not names_no_way_out(said)
    assert names_no_way_out("nodes: found 12\nmemory: found 3; allowed: 2")
