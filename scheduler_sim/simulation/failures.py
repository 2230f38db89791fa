"""Failures of nodes, drawn by a model as they come: events like those of a file.

What is drawn depends on the model, the seed and the first instant alone, not on what runs: every policy
sees the same failures. Each node has a clock of its own. It is in service for a time by the law of the
module, then out for a repair, and so on; at the first instant it is in service, at an age that is as likely
then as at any other time. That is a stationary renewal process (D. R. Cox, *Renewal Theory*, 1962, section
2.3). That times between failures follow a Weibull law of shape 0.7 to 0.8 and repairs a lognormal one was
found by B. Schroeder and G. A. Gibson, "A large-scale study of failures in high-performance computing
systems", IEEE Transactions on Dependable and Secure Computing 7(4), 2010.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import takewhile
from math import ceil, gamma, log, sqrt

import numpy as np

from scheduler_sim.errors import ConfigError
from scheduler_sim.streams import stream
from scheduler_sim.system.failures import (
    EXPONENTIAL,
    LOGNORMAL,
    MOST_OUTAGES,
    FailureKeys,
    RepairKeys,
)
from scheduler_sim.system.node_events import DOWN, NodeEvent
from scheduler_sim.system.system import System

ALONE, RACK = "node failure", "rack failure"
"""Reasons of the events."""


class Failures(Iterator[NodeEvent]):
    """The failures of a system from an instant on (s on the trace's clock), in order of time, for ever.

    How far they have come is their state alone: a copy of it goes on as they do. ``next`` raises ConfigError
    once more nodes have failed than a run may have.
    """

    def __init__(self, system: System, seed: int, start: int = 0) -> None:
        counts: dict[str, int] = {}
        self._sources: list[_Drawn] = []
        for keys in system.failures:
            module = system.modules[0] if keys.module is None else system.module(keys.module)
            number = counts[module.name] = counts.get(module.name, 0) + 1
            if keys.mtbf is not None:
                purpose = f"failures/{module.name}/{number}"
                self._sources.append(_Drawn(keys, module.name, module.nodes, seed, purpose, start))
        self._outages = 0

    def __next__(self) -> NodeEvent:
        if not self._sources:
            raise StopIteration
        event = min(self._sources, key=lambda source: source.due).take()
        self._outages += len(event.nodes)
        if self._outages > MOST_OUTAGES:
            raise ConfigError(
                f"system.failures: found more than {MOST_OUTAGES:,} failures of nodes by"
                f" {event.time} s, and jobs that have not ended; allowed: a longer mtbf, jobs that"
                " write checkpoints, or requeue: false"
            )
        return event


def drawn_failures(system: System, until: int, *, seed: int = 0, start: int = 0) -> list[NodeEvent]:
    """Return the failures of a system before an instant, as a run with this seed sees them.

    Parameters
    ----------
    until : s on the trace's clock, excluded.
    seed : of the run.
    start : the first submission of its trace, s; 0 without one.
    """
    return list(takewhile(lambda event: int(event.time) < until, Failures(system, seed, start)))


def refuse_too_many(system: System, seconds: int) -> None:
    """Raise ConfigError where more nodes would fail, in a trace so long (s), than a run may have."""
    for i, keys in enumerate(system.failures):
        nodes = (system.modules[0] if keys.module is None else system.module(keys.module)).nodes
        if keys.outages(nodes, seconds) > MOST_OUTAGES:
            raise ConfigError(
                f"system.failures[{i}].mtbf: found {keys.mtbf} s for {nodes:,} nodes, of which"
                f" {keys.outages(nodes, seconds):,.0f} would fail in the {seconds:,} s of the trace; allowed:"
                f" at most {MOST_OUTAGES:,}"
            )


class _Drawn:
    """The failures of the nodes of one module, by one model, in order of time.

    Nodes that have failed once are in ``_again``, by when they do next; ``_first`` has when they do at first.
    """

    def __init__(
        self, keys: FailureKeys, module: str, nodes: int, seed: int, purpose: str, start: int
    ) -> None:
        self._keys, self._module, self._nodes = keys, module, nodes
        self._times, self._repairs, self._racks = (
            stream(seed, f"{purpose}/{what}") for what in ("times", "repairs", "racks")
        )
        self._power = 1 / keys.weibull_shape
        self._scale = float(keys.mtbf or 0) / gamma(1 + self._power)
        self._first = start + self._first_times()
        self._order, self._failed = np.argsort(self._first, kind="stable"), 0
        self._again: list[tuple[float, int]] = []

    @property
    def due(self) -> int:
        """When the next is, s."""
        return ceil(self._next_first() if self._is_first() else self._again[0][0])

    def take(self) -> NodeEvent:
        """Draw the next."""
        if self._is_first():
            time, node = self._next_first(), int(self._order[self._failed])
            self._failed += 1
        else:
            time, node = heapq.heappop(self._again)
        outage = _repair(self._keys.repair, self._repairs)
        whole = self._racks.random() < self._keys.rack_share
        nodes = tuple(self._keys.rack_of(node, self._nodes)) if whole else (node,)
        begin = ceil(time)
        served = self._scale * self._times.standard_exponential() ** self._power
        heapq.heappush(self._again, (time + outage + served, node))
        return NodeEvent(
            *(begin, DOWN, self._module, nodes, len(nodes), begin + round(outage)),
            requeue=self._keys.requeue,
            reason=RACK if whole else ALONE,
        )

    def _is_first(self) -> bool:
        """Whether the next is a node that has not failed before."""
        return self._failed < self._nodes and (not self._again or self._next_first() <= self._again[0][0])

    def _next_first(self) -> float:
        return float(self._first[self._order[self._failed]])

    def _first_times(self) -> np.ndarray:
        """How long each node is in service yet: a uniform part of an interval, long ones rather met (s)."""
        met = self._times.standard_gamma(1 + self._power, self._nodes) ** self._power
        first: np.ndarray = self._scale * met * self._times.random(self._nodes)
        return first


def _repair(keys: RepairKeys, repairs: np.random.Generator) -> float:
    """Draw how long nodes are out of service, s."""
    if keys.law == EXPONENTIAL:
        return keys.mean * float(repairs.standard_exponential())
    if keys.law == LOGNORMAL and keys.median is not None:
        spread = sqrt(2 * log(keys.mean / keys.median))
        return keys.median * float(np.exp(spread * repairs.standard_normal()))
    return float(keys.mean)
