"""Expansion into placements: against a plain loop, alone and one by one, and its errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import System, Workload, read_trace
from scheduler_sim.applications.models import Models
from scheduler_sim.errors import TraceError
from scheduler_sim.placement.placements import Placements, joined, picked
from scheduler_sim.placement.table import expand
from tests.conftest import examples
from tests.placement.plain import placements

pytestmark = pytest.mark.interpreted

GB = 1024 * 1024


@st.composite
def systems(draw: st.DrawFn) -> System:
    names = ["CM", "DAM", "ESB"][: draw(st.integers(1, 3))]
    modules = [
        {
            "name": name,
            "nodes": draw(st.integers(1, 6)),
            "cores_per_node": draw(st.sampled_from([0, 4, 8])),
            "memory_gb": draw(st.sampled_from([0, 1, 2.5])),
            "features": draw(st.lists(st.sampled_from(["gpu", "amd", "ib"]), unique=True)),
            "cost_per_node": draw(st.sampled_from([1, 2.5])),
        }
        for name in names
    ]
    partitions = [
        {
            "name": f"p{i}",
            "module": draw(st.sampled_from(names)),
            "priority": draw(st.integers(0, 2)),
            **({"max_time": draw(st.integers(4, 9))} if draw(st.booleans()) else {}),
            **({"default_time": draw(st.integers(1, 4))} if draw(st.booleans()) else {}),
            "state": draw(st.sampled_from(["UP", "UP", "UP", "DOWN", "DRAIN", "INACTIVE"])),
            "min_nodes": draw(st.sampled_from([1, 1, 2])),
            **({"max_nodes": draw(st.integers(2, 4))} if draw(st.booleans()) else {}),
            "default": i == 1,
        }
        for i in range(draw(st.integers(0, 3)))
    ]
    licences = {name: draw(st.integers(0, 3)) for name in draw(st.sampled_from([(), ("m",), ("m", "o")]))}
    resources = {"licences": licences, "nam_gb": draw(st.sampled_from([0, 0, 3]))}
    return System.from_dict({"modules": modules, "partitions": partitions, "resources": resources})


@st.composite
def components(draw: st.DrawFn, system: System) -> dict[str, Any]:
    names = [spelt for p in system.partitions for spelt in (p.name, p.name.upper())]
    lists = st.lists(st.sampled_from(names), min_size=1, max_size=3).map(",".join)
    licence = st.sampled_from(["m", "o", "m:2", "o:2", "x"])
    together = st.lists(licence, min_size=1, max_size=2).map("&".join)
    features = st.lists(st.sampled_from(["gpu", "amd", "ib"]), min_size=1, max_size=3)
    signs = st.sampled_from("&|")
    return {
        "nodes": draw(st.integers(1, 7)),
        "run_time": draw(st.integers(0, 12)),
        "time_limit": draw(st.sampled_from([-1, 1, 5, 9, 10])),
        "partition": draw(st.one_of(st.sampled_from(["", "NA", "-1"]), lists, lists)),
        "memory_kb": draw(st.sampled_from([-1, 0, GB, GB + 1, 3 * GB])),
        "processes_per_node": draw(st.sampled_from([-1, 0, 4, 5])),
        "threads_per_process": draw(st.sampled_from([-1, 1, 2])),
        "constraint": draw(st.one_of(st.just(""), features.map(draw(signs).join))),
        "licences": draw(st.one_of(st.just(""), st.lists(together, min_size=1, max_size=2).map("|".join))),
        "nam_kb": draw(st.sampled_from([-1, 0, GB, 3 * GB, 4 * GB])),
    }


@st.composite
def traces(draw: st.DrawFn) -> tuple[System, list[dict[str, Any]]]:
    system = draw(systems())
    jobs = draw(st.lists(components(system), max_size=8))
    if draw(st.booleans()):  # they ask for one partition, nodes and time, and nothing else, as in most traces
        asked = {"partition": draw(st.sampled_from(["", *(p.name for p in system.partitions)]))}
        nothing = {"constraint": "", "licences": "", "memory_kb": -1, "processes_per_node": -1, "nam_kb": -1}
        largest = draw(st.sampled_from([1, 3, 7]))
        jobs = [job | asked | nothing | {"nodes": min(job["nodes"], largest)} for job in jobs]
    return system, jobs


def workload_of(jobs: list[dict[str, Any]]) -> Workload:
    names = jobs[0] if jobs else ("nodes", "run_time")
    return Workload.from_columns(
        submit_time=list(range(len(jobs))), **{name: [job[name] for job in jobs] for name in names}
    )


def ways_of(table: Placements, i: int) -> list[tuple[Any, ...]]:
    columns = (table.module, table.nodes, table.limit, table.run)
    return [
        (*(column[p].item() for column in columns), tuple(table.demand[p].tolist()))
        for p in range(table.first[i], table.first[i + 1])
    ]


@examples(250)
@given(traces())
def test_equal_to_a_plain_loop(case: tuple[System, list[dict[str, Any]]]) -> None:
    system, jobs = case
    table = expand(workload_of(jobs), system)
    found = [placements(system, job) for job in jobs]
    assert [ways_of(table, i) for i in range(len(jobs))] == [one.ways for one in found]
    assert table.held.tolist() == [one.held for one in found]
    assert table.rejected == dict(Counter(one.reason for one in found if one.reason))
    assert table.rows.tolist() == list(range(len(jobs)))
    firsts = expand(workload_of(jobs), system, only_first=True)
    assert [ways_of(firsts, i) for i in range(len(jobs))] == [one.ways[:1] for one in found]
    assert firsts.rejected == table.rejected


def alone(asked: dict[str, Any], **options: Any) -> Placements:
    """The placements of one component, as what a process submits is placed."""
    one = Workload.from_columns(**{name: [value] for name, value in ({"submit_time": 0} | asked).items()})
    return expand(one, **options)


def told(table: Placements, i: int) -> tuple[Any, ...]:
    """What placements say of a component besides its ways."""
    names = ("tier", "asked_module", "asked_nodes", "asked_limit", "asked_run", "type_number", "held")
    return tuple(getattr(table, name)[i].item() for name in names)


@examples(100)
@given(traces(), st.booleans())
def test_one_by_one_is_all_at_once(case: tuple[System, list[dict[str, Any]]], only_first: bool) -> None:
    system, jobs = case
    table = expand(workload_of(jobs), system, only_first=only_first)
    ones = [alone(job, system=system, only_first=only_first) for job in jobs]
    for i, one in enumerate(ones):
        assert (ways_of(one, 0), told(one, 0)) == (ways_of(table, i), told(table, i))
        mine = picked(table, np.array([i]))
        assert (ways_of(mine, 0), told(mine, 0)) == (ways_of(table, i), told(table, i))
    assert table.rigid == all(one.rigid for one in ones)


@st.composite
def models(draw: st.DrawFn, system: System) -> dict[str, Any]:
    """Return types of application with ratios for some modules, and conversions between some."""
    names = [module.name for module in system.modules]
    ratio = st.sampled_from([0.3, 0.5, 1, 2.25, 19])
    types = [
        {
            "name": f"t{i}",
            "percent": 50,
            "ratios": {name: draw(ratio) for name in names if name == names[0] or draw(st.booleans())},
        }
        for i in range(2)
    ]
    pairs = [(one, other) for one in names for other in names if one != other and draw(st.booleans())]
    return {
        "applications": {
            "reference": names[0],
            "below_one": draw(st.sampled_from(["slower", "speed"])),
            "modules": draw(st.sampled_from(["trace", "fastest_first"])),
            "types": types,
        },
        "conversions": [
            {
                "origin": one,
                "to": other,
                "nodes": draw(st.sampled_from([0.5, 1, 2])),
                "time": draw(st.sampled_from([0.25, 1, 3.21])),
                **({"time_of_one_node": 1.605} if draw(st.booleans()) else {}),
            }
            for one, other in pairs
        ],
    }


@examples(60)
@given(traces(), st.booleans(), st.data())
def test_one_by_one_is_all_at_once_with_models(case, only_first: bool, data) -> None:
    """Types of some components are named, of the others drawn by their numbers."""
    system, jobs = case
    chosen = Models.of(**data.draw(models(system)))
    apps = [data.draw(st.sampled_from(["", "", "t0", "2"])) for _ in jobs]
    workload = workload_of(jobs).replace(app=apps) if jobs else workload_of(jobs)
    table = expand(workload, system, only_first=only_first, models=chosen, seed=5)
    for i, job in enumerate(jobs):
        asked = {**job, "app": apps[i], "component_id": i + 1}
        one = alone(asked, system=system, only_first=only_first, models=chosen, seed=5)
        assert (ways_of(one, 0), told(one, 0)) == (ways_of(table, i), told(table, i))


@examples(80)
@given(traces(), st.integers(0, 8))
def test_two_halves_joined_are_the_whole(case: tuple[System, list[dict[str, Any]]], at: int) -> None:
    system, jobs = case
    whole = expand(workload_of(jobs), system)
    first, later = workload_of(jobs[:at]), workload_of(jobs[at:])
    second = expand(later, system)
    both = joined(expand(first, system), replace(second, rows=second.rows + len(first)))
    for name in set(Placements.__dataclass_fields__) - {"of_nodes"}:
        assert np.array_equal(getattr(both, name), getattr(whole, name)), name


@examples(80)
@given(traces(), st.booleans(), st.sampled_from(["ANY", "ALL", "NO"]))
def test_blocks_are_the_whole(case: tuple[System, list[dict[str, Any]]], by_sets: bool, beyond: str) -> None:
    """Blocks of a component or two give the table of one block."""
    system, jobs = case
    whole = expand(workload_of(jobs), system, by_sets=by_sets, beyond=beyond)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scheduler_sim.placement.candidate_placements.BLOCK", 3)
        parts = expand(workload_of(jobs), system, by_sets=by_sets, beyond=beyond)
    for name in set(Placements.__dataclass_fields__) - {"of_nodes"}:
        assert np.array_equal(getattr(parts, name), getattr(whole, name)), name
    if whole.of_nodes is not None:
        one, other = (
            [table.of_nodes.kinds[kind] for kind in table.of_nodes.kind] for table in (parts, whole)
        )
        assert one == other
        assert np.array_equal(parts.of_nodes.amounts, whole.of_nodes.amounts)


LAB = System.from_dict({"modules": [{"name": "CM", "nodes": 4}], "resources": {"licences": {"m": 1}}})


def test_rows_are_in_order_of_submission_and_skipped_ones_left_out():
    jobs = Workload.from_columns(
        nodes=[1, 2, 3, 4], submit_time=[9, 5, 9, 5], run_time=[1, 1, 1, 1], skipped=[0, 0, 1, 0]
    )
    table = expand(jobs, LAB)
    assert table.rows.tolist() == [1, 3, 0]
    assert table.nodes.tolist() == [2, 4, 1]


def test_an_empty_workload_has_no_placements():
    table = expand(Workload.from_columns(nodes=[], submit_time=[], run_time=[]), LAB)
    assert (len(table.rows), len(table.module), table.first.tolist(), table.rigid) == (0, 0, [0], True)


def test_limits_of_a_partition_are_those_of_each_placement():
    """Without a limit of its own a component gets MaxTime in each partition that has one."""
    system = System.from_dict(
        {
            "modules": [{"name": "A", "nodes": 4}],
            "partitions": [{"name": "day", "module": "A", "max_time": 24}, {"name": "any", "module": "A"}],
        }
    )
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[7], partition="any,day,ANY")
    assert expand(jobs, system).limit.tolist() == [7, 24]


def test_what_the_system_does_not_declare_is_counted_not_limited():
    plain = System.homogeneous(4)
    jobs = Workload.from_columns(
        nodes=[1, 1, 1],
        submit_time=[0, 0, 0],
        run_time=[1, 1, 1],
        licences=["m", "", "x:9"],
        nam_kb=[5, -1, -1],
    )
    table = expand(jobs, plain)
    assert table.not_honoured == {"licences": 2, "nam": 1}
    assert table.rejected == {}
    assert expand(jobs, LAB).rejected == {"resources": 1}


MWF_FIELDS = 42


def mwf_line(number: int, **fields: object) -> str:
    values = ["-1"] * MWF_FIELDS
    given = {1: number, 2: 1, 4: 10 * number, 6: 60, 8: number, 11: 30, 12: 0, 14: "CM", 15: 1}
    for position, value in {**given, **{int(k[1:]): v for k, v in fields.items()}}.items():
        values[position - 1] = str(value)
    return ";".join(values)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"f14": "CN"}, ["t.mwf:3", "partition", "'CN'", "allowed: CM"]),
        ({"f14": "CM,,CM"}, ["t.mwf:3", "partition"]),
        ({"f26": "m:x"}, ["t.mwf:3", "licences", "m:x"]),
        ({"f24": "gpu&"}, ["t.mwf:3", "constraint", "gpu&"]),
    ],
)
def test_errors_name_file_and_line(tmp_path, fields, says):
    path = tmp_path / "t.mwf"
    path.write_text(
        "# a comment\n" + mwf_line(1) + "\n" + mwf_line(2, **fields) + "\n" + mwf_line(3, **fields)
    )
    with pytest.raises(TraceError) as caught:
        expand(read_trace(path), LAB)
    for word in says:
        assert word in str(caught.value)


# ------------------------------------------- one partition, and nothing against any: columns as they are
ASKED = {"nodes": [3, 1], "run_time": [5, 6], "time_limit": [9, 7]}


@pytest.mark.parametrize(
    ("partition", "module", "jobs", "plain"),
    [
        ({}, {}, {}, True),
        ({"min_nodes": 1, "max_nodes": 3, "max_time": 9}, {"memory_gb": 1, "features": ["ib"]}, {}, True),
        ({"default_time": 4}, {}, {"time_limit": [9, -1]}, True),
        ({}, {}, {"time_limit": [9, -1]}, True),
        ({}, {}, {"time_limit": [9, -1], "run_time": [5, 0]}, True),
        ({"min_nodes": 2}, {}, {}, False),
        ({"max_nodes": 2}, {}, {}, False),
        ({"max_time": 8}, {}, {}, False),
        ({"state": "DOWN"}, {}, {}, False),
        ({"state": "DRAIN"}, {}, {}, False),
        ({}, {"nodes": 2}, {}, False),
        ({}, {"memory_gb": 1}, {"memory_kb": [-1, GB + 1]}, False),
        ({}, {"cores_per_node": 4}, {"processes_per_node": [1, 5]}, False),
        ({}, {}, {"constraint": ["", "gpu"]}, False),
        ({}, {}, {"licences": ["", "m"]}, False),
        ({}, {}, {"licences": ["m|m:2", "m|m:2"]}, False),
        ({}, {}, {"partition": ["p", "other"]}, False),
    ],
)
def test_the_short_way_is_the_long_one(monkeypatch, partition, module, jobs, plain) -> None:
    system = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 4} | module],
            "partitions": [
                {"name": "p", "module": "CM", "default": True} | partition,
                {"name": "other", "module": "CM"},
            ],
            "resources": {"licences": {"m": 2}},
        }
    )
    workload = Workload.from_columns(submit_time=[0, 0], **({"partition": ["p", "p"]} | ASKED | jobs))
    found = expand(workload, system)
    assert (found.nodes is found.asked_nodes) == plain
    monkeypatch.setattr("scheduler_sim.placement.table._as_asked", lambda ways: None)
    whole = expand(workload, system)
    assert found.rigid == whole.rigid
    assert (found.rejected, found.not_honoured) == (whole.rejected, whole.not_honoured)
    for i in range(2):
        assert (ways_of(found, i), told(found, i)) == (ways_of(whole, i), told(whole, i))
