"""What is free and of no use: on nodes on which nothing fits of what waits for it.

Free cores or GPUs of a node are **stranded** at an instant if components wait that ask for such, and the node
is able (R2 of ``docs/semantics.md``) for none of them. It is worked out from the tables of a result, block
by block: within one, what waits changes at a few instants only, and many nodes are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Bools, Ints, alike
from scheduler_sim.result.node_use import KINDS, Changes, able_nodes, capacities, held_in, unit
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import Steps, from_changes, sum_of_intervals

BLOCK = 256
"""Instants at which what waits changes, in one block."""

NOTHING = np.zeros(0, dtype=np.int64)

ENOUGH = 1 << 60
"""So much is free of memory that is not stated."""


class Spans(NamedTuple):
    """Something, by its number, from one time to before another: int64[n] each, s."""

    what: Ints
    start: Ints
    end: Ints

    def within(self, first: int, last: int) -> Spans:
        """Return what there is of them between two times."""
        keep = (self.start < last) & (self.end > first)
        return Spans(self.what[keep], np.maximum(self.start[keep], first), np.minimum(self.end[keep], last))


class Demands(NamedTuple):
    """What components that wait ask of each node, each once.

    ``reach`` is the row of the set of nodes that may be taken, ``alone`` whether they have to be idle,
    ``amount`` int64[kinds, d] how much is asked for.
    """

    reach: Ints
    alone: Bools
    amount: Ints


class States(NamedTuple):
    """In which states nodes are, each once: the ``node`` of one, ``idle``, ``free`` int64[kinds, s]."""

    node: Ints
    idle: Bools
    free: Ints


@dataclass(frozen=True)
class NodeHistory:
    """What is free on the nodes of a module, from one change to the next.

    Attributes
    ----------
    schedule, module : whose nodes they are
    there : what each node has, int64[nodes] by kind
    sets, own : sets of nodes that components may have, bool[sets, nodes], and which is whose
    node, start, end : int64[n], s
    idle : bool[n]
    free : int64[kinds, n], in whole units
    """

    schedule: Schedule
    module: str
    there: dict[str, Ints]
    sets: Bools
    own: Ints
    node: Ints
    start: Ints
    end: Ints
    idle: Bools
    free: Ints

    @classmethod
    def of(cls, schedule: Schedule, module: str) -> NodeHistory | None:
        """Work it out from a result; None if nothing ran, or if the result does not tell.

        It does not say which nodes were out of service, what ran before a requeue, nor what components
        asked for before that was changed; nor what they ask for of each node where Slurm deals that to them.
        """
        if schedule.dealt:
            return None
        down = schedule.timeline["nodes_down"].to_numpy()[schedule.rows(module)]
        if schedule.span is None or schedule.lost_runs or schedule.lost_waits or down.any():
            return None
        there, held = capacities(schedule, module), held_in(schedule, module)
        changes, count = Changes.of(held), schedule.modules[module]
        last = changes.last
        node = np.concatenate((np.arange(count), changes.node[last]))
        start = np.concatenate((np.full(count, schedule.span[0]), changes.time[last]))
        free = [there[one][node] for one in KINDS]
        for kind, amount in zip(KINDS, free, strict=True):
            amount[count:] -= changes.taken(held.amount(schedule, kind, there[kind]))[last]
        free[KINDS.index("memory_kb")][there["memory_kb"][node] == 0] = ENOUGH
        running = changes.taken(np.ones(len(held.row), dtype=np.int64))[last]
        idle = np.concatenate((np.ones(count, dtype=bool), running == 0))
        order = np.argsort(node, kind="stable")  # of each node in the order of time
        node, start = node[order], start[order]
        end = np.append(start[1:], schedule.span[1])
        end[np.append(np.diff(node) != 0, True)] = schedule.span[1]
        return cls(
            schedule,
            module,
            there,
            *able_nodes(schedule, module),
            node,
            start,
            end,
            idle[order],
            np.array(free)[:, order],
        )

    def in_all(self, kind: str) -> int:
        """Return all that there is of a kind × the makespan, in whole units."""
        assert self.schedule.span is not None
        first, last = self.schedule.span
        return int(self.there[kind].sum()) * (last - first)

    def states(self, kind: str) -> tuple[States, Spans]:
        """Return the states in which nodes have some of a kind free, and when nodes are in them."""
        some = np.flatnonzero((self.free[KINDS.index(kind)] > 0) & (self.end > self.start))
        _, like = np.unique(self.sets, axis=1, return_inverse=True)
        number, first = alike([like.reshape(-1)[self.node[some]], self.idle[some], *self.free[:, some]])
        first = some[first]
        states = States(self.node[first], self.idle[first], self.free[:, first])
        return states, Spans(number, self.start[some], self.end[some])

    def waits(self, kind: str) -> tuple[Demands, Spans]:
        """Return what is asked for by components that wait for a kind, and when any of them waits.

        One with nodes to itself asks for all that they have.
        """
        schedule, has = self.schedule, self.sets @ (self.there[kind] > 0)
        assert schedule.span is not None
        rows = np.flatnonzero(schedule.queued & schedule.in_module(self.module))
        nodes, alone = np.maximum(schedule.of("nodes")[rows], 1), schedule.of("exclusive")[rows] == 1
        held = np.array([np.rint(schedule.of(one)[rows] * unit(one)).astype(np.int64) for one in KINDS])
        amount = np.where(alone, 0, held // nodes)
        asks = (amount[KINDS.index(kind)] > 0) | (alone & has[self.own[rows]])
        rows, alone, amount = rows[asks], alone[asks], amount[:, asks]
        number, first = alike([self.own[rows], alone, *amount])
        demands = Demands(self.own[rows][first], alone[first], amount[:, first])
        queue = Spans(number, schedule.of("eligible_time")[rows], schedule.left_queue[rows])
        return demands, _united(queue.within(*schedule.span))


def stranded(nodes: NodeHistory, kind: str) -> Steps:
    """Return how much of a kind is stranded on a module, over time, in whole units (``node_use.unit``)."""
    demands, waits = nodes.waits(kind)
    if not len(waits.what):
        return waits.start, waits.end
    states, spans = nodes.states(kind)
    edges = np.unique(np.concatenate((waits.start, waits.end)))
    parts = []
    for begin in range(0, len(edges) - 1, BLOCK):
        inside = edges[begin : begin + BLOCK + 1]
        first, last = int(inside[0]), int(inside[-1])
        there, asked = spans.within(first, last), waits.within(first, last)
        if len(there.what) and len(asked.what):
            parts.append(_in_block(inside, demands, asked, states, there, nodes.sets, KINDS.index(kind)))
    times = [NOTHING, *(time for time, _ in parts)]
    changes = [NOTHING, *(np.diff(value, prepend=0) for _, value in parts)]
    return from_changes(np.concatenate(times), np.concatenate(changes))


def _united(spans: Spans) -> Spans:
    """Return when any of those with the same number is there."""
    what = np.tile(spans.what, 2)
    time = np.concatenate((spans.end, spans.start))
    change = np.repeat([-1, 1], len(spans.what))
    order = np.lexsort((time, what))
    what, time, there = what[order], time[order], np.cumsum(change[order])
    last = np.append((np.diff(what) != 0) | (np.diff(time) != 0), True)[: len(what)]
    what, time, there = what[last], time[last], there[last] > 0
    turned = np.flatnonzero(np.diff(there, prepend=False))  # of each number the last is none
    return Spans(what[turned[::2]], time[turned[::2]], time[turned[1::2]])


def _in_block(
    edges: Ints, demands: Demands, waits: Spans, states: States, nodes: Spans, sets: Bools, kind: int
) -> Steps:
    """Return what is stranded from the first to the last of the instants at which what waits changes."""
    asked, which = np.unique(waits.what, return_inverse=True)
    found, state = np.unique(nodes.what, return_inverse=True)
    able = _able(Demands(demands.reach[asked], demands.alone[asked], demands.amount[:, asked]),
                 States(states.node[found], states.idle[found], states.free[:, found]), sets)  # fmt: skip
    there = np.zeros((len(asked), len(edges)), dtype=np.int64)
    np.add.at(there, (which, np.searchsorted(edges, waits.start)), 1)
    np.add.at(there, (which, np.searchsorted(edges, waits.end)), -1)
    waiting = np.cumsum(there, axis=1)[:, :-1].astype(np.float32)
    like, first = numbered_rows(able)
    useless = (able[first].astype(np.float32) @ waiting == 0) & waiting.any(axis=0)
    spans, free = _summed(Spans(like[state], nodes.start, nodes.end), states.free[kind][nodes.what])
    begin = np.searchsorted(edges, spans.start, side="right") - 1
    count = np.searchsorted(edges, spans.end) - begin
    span = np.repeat(np.arange(len(count)), count)
    step = np.arange(len(span)) - np.repeat(np.cumsum(count) - count - begin, count)
    keep = useless[spans.what[span], step]
    span, step = span[keep], step[keep]
    start, end = np.maximum(spans.start[span], edges[step]), np.minimum(spans.end[span], edges[step + 1])
    return sum_of_intervals(start, end, free[span])


def _able(demands: Demands, states: States, sets: Bools) -> Bools:
    """Return which states are able for which demands: bool[states, demands]."""
    able = sets[demands.reach[np.newaxis, :], states.node[:, np.newaxis]]
    able &= states.idle[:, np.newaxis] | ~demands.alone
    for free, asked in zip(states.free, demands.amount, strict=True):
        able &= free[:, np.newaxis] >= asked
    return able


def _summed(spans: Spans, amount: Ints) -> tuple[Spans, Ints]:
    """Add up the amounts of those with the same number; return when there is how much, where there is any."""
    what, time = np.tile(spans.what, 2), np.concatenate((spans.start, spans.end))
    order = np.lexsort((time, what))
    what, time = what[order], time[order]
    total = np.cumsum(np.concatenate((amount, -amount))[order])
    keep = np.flatnonzero((total[:-1] > 0) & (time[1:] > time[:-1]) & (what[1:] == what[:-1]))
    return Spans(what[keep], time[keep], time[keep + 1]), total[keep]


def numbered_rows(table: Bools) -> tuple[Ints, Ints]:
    """Number the rows of a table of truths, which has some columns, as ``alike``."""
    packed = np.ascontiguousarray(np.packbits(table, axis=1))
    as_one = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, first, number = np.unique(as_one, return_index=True, return_inverse=True)
    return number, first
