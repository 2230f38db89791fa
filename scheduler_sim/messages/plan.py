"""From a trace and a network to the numbers of the event loop."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.errors import InputError
from scheduler_sim.messages.collectives import costs
from scheduler_sim.messages.matching import Matching
from scheduler_sim.messages.network import Network
from scheduler_sim.messages.paths import Links, Places
from scheduler_sim.messages.state import MESSAGE, Plan, blank
from scheduler_sim.messages.trace import COMPUTE, IRECV, MOST_SECONDS, NONE, PS, MessageTrace

SYNCHRONOUS = 1
"""In ``received`` of a send: it waits for its receive, however small it is."""


def plan_of(trace: MessageTrace, matching: Matching, network: Network) -> Plan:
    """Return what is replayed. InputError for processes that find no core, and times that are too long."""
    places = network.places(trace.processes)
    links = network.links()
    sends = matching.sends
    sender, receiver, size = trace.process[sends], trace.peer[sends], trace.bytes[sends]
    path = links.of(places, sender, receiver)
    ratio = np.array([module.cpu_ratio for module in network.modules.values()])[places.module]
    value = matching.message.copy()
    bursts = trace.kind == COMPUTE
    value[bursts] = whole(trace.duration[bursts] / ratio[trace.process[bursts]], "a burst")
    operations = matching.operation_of >= 0
    value[operations] = matching.operation_of[operations]
    rendezvous = trace.received[sends] == SYNCHRONOUS
    if network.eager_bytes is not None:
        rendezvous |= size > network.eager_bytes
    rows = matching.operation_rows
    which = (trace.operation[rows].astype(np.int64), trace.group[rows], matching.sent, matching.received)
    cost = (
        np.zeros(len(rows))
        if network.ideal
        else costs(network.collectives, places, links, trace.groups, which)
    )
    route, capacity = _route(network, places, links, path, places.node[sender], places.node[receiver])
    messages = blank(
        len(sends),
        MESSAGE,
        latency=links.latency[path],
        lookup=links.lookup[path],
        flight=links.flight[path],
        transfer=whole(links.transfer(path, size), "a message"),
        overhead=links.overhead[path],
        rendezvous=rendezvous.astype(np.int64),
        **route,
    )
    received = (trace.kind[matching.waited] == IRECV).astype(np.int64)
    return Plan(
        first=trace.first(),
        kind=trace.kind,
        value=value,
        wait_first=matching.wait_first,
        waited=2 * matching.message[matching.waited] + received,
        messages=messages,
        capacity=capacity,
        members=matching.members,
        cost=whole(cost, "a collective operation"),
    )


def whole(ps: Floats, what: str) -> Ints:
    """Round to whole picoseconds. InputError for more than the clock holds."""
    if len(ps) and ps.max() > MOST_SECONDS * PS:
        raise InputError(f"{what} takes {ps.max() / PS:.4g} s; allowed: at most {MOST_SECONDS:.0f} s")
    return np.rint(ps).astype(np.int64)


def _route(
    network: Network, places: Places, links: Links, path: Ints, out_of: Ints, into: Ints
) -> tuple[dict[str, Ints], Ints]:
    """Number links and buses, and say which each message takes; without limit it takes none."""
    within = path < links.modules
    capacity: list[Ints] = []
    route = {name: np.full(len(path), NONE, dtype=np.int64) for name in ("out", "into", "bus")}

    def limit(name: str, mine: np.ndarray, which: Ints, limits: Ints) -> None:
        first = sum(map(len, capacity))
        route[name][mine] = np.where(limits[which[mine]] > 0, first + which[mine], NONE)
        capacity.append(limits)

    for mine, inside in ((within, True), (~within, False)):
        for name, node, each in zip(
            ("out", "into"), (out_of, into), network.node_links(within=inside), strict=True
        ):
            limit(name, mine, node, each[places.module_of_node])
    # a bus of the memory is a node's own; of a network between nodes or modules, everybody's
    limit("bus", within, out_of, links.buses[: links.modules][places.module_of_node])
    limit("bus", ~within, path, links.buses)
    return route, np.concatenate(capacity)
