"""Node events in the engine: start by start, node by node, as in the plain models."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, System, simulate
from tests.conftest import examples
from tests.oracle.plain_outages import Event, SharedWithOutages, SlurmWithOutages
from tests.oracle.records import Rules
from tests.oracle.shared_strategies import DIALECTS, JOBS, PACKINGS, SITES, components
from tests.shared_nodes import as_input
from tests.shared_nodes.test_against_the_reference import keys_of
from tests.slurm import engine_cases
from tests.slurm.engine_cases import UNTIL_S, Case, cases, fates, plain

pytestmark = pytest.mark.interpreted

SPELLED = {True: "DOWN", False: "DRAIN"}


@st.composite
def outages(draw: st.DrawFn, nodes: list[int], latest: int) -> list[Event]:
    """Up to four events of some nodes, which may overlap; all of these are back in the end."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        some = draw(st.sets(st.sampled_from(nodes), min_size=1, max_size=3))
        time = draw(st.integers(0, latest))
        end = time + draw(st.integers(1, latest))
        down, requeue = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
        found.append(Event(time, frozenset(some), down, end, requeue))
    return found


def with_events(system: System, events: list[tuple[str, Event, frozenset[int]]]) -> System:
    """The system with events, of each its module and the numbers of its nodes there."""
    keys = [
        {
            "time": event.time,
            "end": event.end,
            "module": module,
            "state": SPELLED[event.down],
            "nodes": ",".join(map(str, sorted(nodes))),
            "requeue": event.requeue,
        }
        for module, event, nodes in events
    ]
    return System.from_dict(system.to_dict() | {"events": keys})


# -- nodes that jobs share


@pytest.mark.parametrize("name", ["fcfs", "first_fit", "easy", "conservative"])
@given(SITES, JOBS, PACKINGS, DIALECTS, st.data())
@examples(100)
def test_shared_nodes_leave_and_come_back_as_in_the_reference(name, nodes, jobs, packing, dialect, data):
    keys = keys_of(name, packing, dialect)
    rows = as_input.in_known_partitions(nodes, components(jobs))
    events = data.draw(outages(list(range(len(nodes))), 30))
    system = with_events(as_input.system_of(nodes), [("m", event, event.nodes) for event in events])
    result = simulate(system, as_input.workload_of(rows), keys)
    result.check()
    clock = SharedWithOutages(rows, nodes, Rules(**keys), events)
    clock.run()
    assert shared_fates(result) == {
        row: (one.start, one.end, one.state, clock.had(row) if one.start >= 0 else [])
        for row, one in clock.outcomes.items()
    }


def shared_fates(result: Any) -> dict[int, tuple[int, int, str, list[int]]]:
    from scheduler_sim.system.node_events import numbers_in

    columns = ["start_time", "end_time", "state", "node_list"]
    return {
        row: (start, end, state, list(numbers_in(nodes)))
        for row, (start, end, state, nodes) in enumerate(
            result.components[columns].itertuples(index=False, name=None)
        )
    }


# -- under Slurm


@examples(300)
@given(cases(), st.data())
def test_whole_nodes_leave_and_come_back_as_in_the_plain_slurm(case: Case, data: st.DataObject) -> None:
    case = replace(case, jobs=tuple(replace(job, depends=(",", [])) for job in case.jobs))
    numbers = node_numbers(case)
    drawn = apart(data.draw(outages(list(range(len(numbers))), 200)))
    first = min(job.submit for job in case.jobs)
    events = [replace(event, time=event.time + first, end=event.end + first) for event in drawn]
    parts = []  # an event is of one module; by those of it, in the order of the modules
    for event in events:
        for module in case.modules:
            own = frozenset(numbers[node][1] for node in event.nodes if numbers[node][0] == module)
            parts += [(module, event, own)] if own else []
    keys = {"starts_before_s": case.begins_s} | case.keys
    policy = Policy(name="slurm", backfill="slurm", slurm=keys)
    result = simulate(
        with_events(engine_cases.system_of(case), parts), engine_cases.workload_of(case), policy
    )
    result.check()
    slurm = plain(case)
    known = {node: number for number, node in enumerate(sorted(slurm.all_nodes | set(plain_numbers(case))))}
    by_number = {number: node for node, number in known.items()}
    of_plain = [replace(event, nodes=frozenset(by_number[i] for i in event.nodes)) for event in events]
    slurm = SlurmWithOutages(slurm.c, deepcopy(list(case.jobs)), of_plain)
    slurm.run(UNTIL_S)
    assert fates(result) == {job.id: (job.state, job.start) for job in slurm.jobs}
    assert result.metrics["counts"].get("requeued", 0) == slurm.requeued


def apart(events: list[Event]) -> list[Event]:
    """Those of which no node is out by one before: a node that stays as it was is news to nobody."""
    kept: list[Event] = []
    for one in events:
        together = (other for other in kept if other.nodes & one.nodes)
        if all(one.end < other.time or other.end < one.time for other in together):
            kept.append(one)
    return kept


def node_numbers(case: Case) -> list[tuple[str, int]]:
    """Module and number of every node, in the order of the plain model's numbers."""
    return [(name, number) for name, sizes in case.modules.items() for number in range(sum(sizes))]


def plain_numbers(case: Case) -> list[int]:
    """The plain model's numbers of all nodes: between two modules one is left out."""
    found, first = [], 0
    for sizes in case.modules.values():
        found += range(first, first + sum(sizes))
        first += sum(sizes) + 1
    return found
