"""Random traces on random networks: the compiled replay, a plain one, and laws that hold for all."""

from __future__ import annotations

import tempfile
from copy import deepcopy
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.messages.network_keys import NodeLinkKeys, OperationKeys
from scheduler_sim.messages.reading import read_messages
from scheduler_sim.messages.replay import efficiency, replay
from scheduler_sim.messages.trace import MessageTrace
from tests.conftest import examples
from tests.messages.network import checked, network
from tests.messages.plain import Plain, Record
from tests.messages.random_traces import PS_A_US, steps, write

FEW = st.integers(0, 2)
MICROS = st.integers(0, 9)


def read(records: list[Record]) -> MessageTrace:
    with tempfile.TemporaryDirectory() as folder:
        return read_messages(write(records, Path(folder) / "trace.csv"))


@st.composite
def links(draw: st.DrawFn, *, limits: bool = True) -> NodeLinkKeys:
    few = FEW if limits else st.just(0)
    return NodeLinkKeys(
        latency_us=draw(MICROS),
        receive_latency_us=draw(MICROS),
        flight_us=draw(MICROS),
        overhead_us=draw(MICROS),
        bandwidth_mb_s=draw(st.sampled_from([0, 1, 2, 0.5])),
        buses=draw(few),
        links_out=draw(few),
        links_in=draw(few),
    )


@st.composite
def networks(draw: st.DrawFn, *, limits: bool = True):
    """A network of one module, on which a barrier takes a latency."""
    once = OperationKeys.model_validate({"fan_in": {"model": "constant"}, "fan_out": {"model": "none"}})
    on = network(
        8,
        draw(st.integers(1, 3)),
        eager=draw(st.sampled_from([None, 0, 10])),
        within=draw(links(limits=limits)).model_dump(),
        collectives={"barrier": once},
        **draw(links(limits=limits)).model_dump(),
    )
    return on


def plain(processes, records, on) -> Plain:
    module = on.modules["M"]
    records = deepcopy(records)
    for record in records:
        nodes = [member // module.cores for member in record.members]
        record.cost = _barrier(nodes, module) if record.members else 0
    return Plain(records, processes, module, on.eager_bytes)


def _barrier(nodes, module) -> int:
    """A latency, flight and overhead within nodes, if two are on one, and the same between nodes, if there
    are two."""
    cost = 0
    for link, there in (
        (module.within_node, len(set(nodes)) < len(nodes)),
        (module.between_nodes, len(set(nodes)) > 1),
    ):
        cost += (link.latency_us + link.flight_us + link.overhead_us) * there
    return round(cost) * PS_A_US


@examples(400)
@given(steps(), networks())
def test_the_compiled_replay_is_the_plain_one(drawn, on):
    processes, records = drawn
    reference = plain(processes, records, on)
    reference.run()
    ran = replay(read(records), on, record=True)
    checked(ran)
    assert ran.finish.tolist() == reference.finish
    assert ran.useful.tolist() == reference.useful
    assert ran.waiting.tolist() == reference.waiting
    assert ran.transfer.tolist() == reference.transfer
    assert (ran.records.begin <= ran.records.middle).all()
    assert (ran.records.middle <= ran.records.end).all()


@examples(200)
@given(steps(), networks())
def test_laws_of_every_replay(drawn, on):
    trace = read(drawn[1])
    ran = replay(trace, on)
    found = efficiency(trace, on, ran)
    busiest = int(np.bincount(trace.process, weights=trace.duration).max())
    assert found.most_useful == busiest <= found.ideal <= found.run_time
    assert found.load_balance * found.serialization * found.transfer == found.parallel
    assert all(0 <= share <= 1 for share in (found.load_balance, found.serialization, found.transfer))


@examples(200)
@given(steps(), networks(limits=False), st.floats(1, 8), st.floats(0, 1))
def test_without_contention_a_better_network_is_never_slower(drawn, on, more, less):
    """All times are then largest sums of delays along paths; with contention this is no theorem."""
    trace = read(drawn[1])
    before = replay(trace, on)
    for better in (on.scaled(bandwidth=more), on.scaled(latency=less)):
        after = replay(trace, better)
        assert (after.finish <= before.finish).all()


@examples(100)
@given(steps(), networks())
def test_the_same_trace_gives_the_same_times_twice(drawn, on):
    trace = read(drawn[1])
    assert (replay(trace, on).finish == replay(trace, on).finish).all()
