"""Jobs that write checkpoints, on nodes that fail: as in the plain models, run by run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import System, simulate
from scheduler_sim.applications.models import Models
from tests.conftest import examples
from tests.oracle.plain_checkpoints import SharedWithCheckpoints, Writes
from tests.oracle.plain_outages import Event
from tests.oracle.plain_shared_records import Node, request_of
from tests.oracle.records import Component, Rules
from tests.oracle.shared_strategies import DIALECTS, JOBS, PACKINGS, SITES, components
from tests.outages.test_against_the_reference import (
    outages,
    shared_fates,
    with_events,
)
from tests.shared_nodes import as_input
from tests.shared_nodes.test_against_the_reference import keys_of

pytestmark = pytest.mark.interpreted

WRITES = st.builds(Writes, st.integers(1, 6), st.integers(0, 3), st.integers(0, 4))
KINDS = st.lists(st.none() | WRITES, min_size=1, max_size=3)


def models_of(kinds: list[Writes | None]) -> Models:
    """A type of application for each; a job names its type."""
    types: list[dict[str, Any]] = []
    for number, one in enumerate(kinds):
        keys = {} if one is None else {"checkpoint": one.__dict__}
        types.append({"name": f"t{number}", **keys})
    return Models.of(applications={"types": types})


def apps(count: int, kinds: list[Writes | None]) -> list[int]:
    return [row % len(kinds) for row in range(count)]


def accounts(result: Any) -> dict[int, list[tuple[int, ...]]]:
    """What the table says of the runs of each row that wrote checkpoints; rows are components, from 1."""
    columns = ["component_id", "work_s", "checkpoint_s", "restart_s", "lost_s"]
    found: dict[int, list[tuple[int, ...]]] = {}
    for name, *rest in result.runs[columns].itertuples(index=False, name=None):
        if rest[0] >= 0:
            found.setdefault(name - 1, []).append(tuple(rest))
    return found


def alike(rows: list[Component], longer: int) -> list[Component]:
    """Jobs that take some longer, so that they write several checkpoints."""
    changed = []
    for row in rows:
        one = request_of(row)
        changed.append(
            replace(row, placements=(replace(one, run=longer * one.run, limit=longer * one.limit),))
        )
    return changed


@pytest.mark.parametrize("name", ["fcfs", "first_fit", "easy", "conservative"])
@given(SITES, JOBS, PACKINGS, DIALECTS, KINDS, st.integers(1, 4), st.data())
@examples(100)
def test_jobs_on_shared_nodes_go_on_as_in_the_reference(
    name, nodes, jobs, packing, dialect, kinds, longer, data
):
    keys = keys_of(name, packing, dialect)
    rows = alike(as_input.in_known_partitions(nodes, components(jobs)), longer)
    events = data.draw(outages(list(range(len(nodes))), 30 * longer))
    check_shared(rows, nodes, keys, events, kinds)


@pytest.mark.parametrize("name", ["fcfs", "easy"])
@given(st.integers(1, 4), JOBS, DIALECTS, KINDS, st.integers(1, 4), st.data())
@examples(100)
def test_jobs_on_whole_nodes_go_on_as_in_the_reference(name, size, jobs, dialect, kinds, longer, data):
    """Where nodes are counted, those of an event of all nodes are known, too."""
    nodes = [Node("", 1)] * size
    rows = [
        replace(row, placements=(replace(request_of(row), cores=0, memory=0, gpus=0, partition="all"),))
        for row in alike(components(jobs), longer)
    ]
    events = [
        replace(event, nodes=frozenset(range(size)), down=True)
        for event in data.draw(outages(list(range(size)), 30 * longer))
    ]
    keys = keys_of(name, "first_fit", dialect)
    check_shared(rows, nodes, keys, events, kinds, whole=True)


def check_shared(
    rows: list[Component],
    nodes: list[Node],
    keys: dict[str, Any],
    events: list[Event],
    kinds: list[Writes | None],
    *,
    whole: bool = False,
) -> None:
    kind = apps(len(rows), kinds)
    system = with_events(as_input.system_of(nodes), [("m", event, event.nodes) for event in events])
    if whole:
        system = with_events(counted(len(nodes)), [("m", event, event.nodes) for event in events])
    workload = as_input.workload_of(rows).replace(app=[f"t{number}" for number in kind])
    result = simulate(system, workload, keys, models=models_of(kinds))
    result.check()
    writes = {row: one for row, number in enumerate(kind) if (one := kinds[number]) is not None}
    clock = SharedWithCheckpoints(rows, nodes, Rules(**keys), events, writes)
    clock.run()
    if whole:
        told = {
            row: tuple(one)
            for row, one in enumerate(
                result.components[["start_time", "end_time", "state"]].itertuples(index=False, name=None)
            )
        }
        assert told == {row: (one.start, one.end, one.state) for row, one in clock.outcomes.items()}
    else:
        assert shared_fates(result) == {
            row: (one.start, one.end, one.state, clock.had(row) if one.start >= 0 else [])
            for row, one in clock.outcomes.items()
        }
    wrote = {row: [tuple(one) for one in told] for row, told in clock.told.items()}
    listed = accounts(result)
    assert listed == {row: wrote[row] for row in listed}
    unlisted = (told for row, told in wrote.items() if row not in listed)
    assert all(len(told) <= 1 and all(one[1] == one[3] == 0 for one in told) for told in unlisted)


def counted(nodes: int) -> System:
    return System.from_dict(
        {"modules": [{"name": "m", "nodes": nodes}], "partitions": [{"name": "all", "module": "m"}]}
    )
