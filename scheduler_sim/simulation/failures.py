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


def failures(system: System, seed: int, start: int = 0) -> Iterator[NodeEvent]:
    """Yield the failures of a system from an instant on (s on the trace's clock), in order of time, for ever.

    Raises ConfigError once more nodes have failed than a run may have.
    """
    counts: dict[str, int] = {}
    sources = []
    for keys in system.failures:
        module = system.modules[0] if keys.module is None else system.module(keys.module)
        number = counts[module.name] = counts.get(module.name, 0) + 1
        if keys.mtbf is not None:
            drawn = _Drawn(keys, module.name, module.nodes, seed, f"failures/{module.name}/{number}")
            sources.append(drawn.events(start))
    outages = 0
    for event in heapq.merge(*sources, key=lambda event: event.time):
        outages += len(event.nodes)
        if outages > MOST_OUTAGES:
            raise ConfigError(
                f"system.failures: found more than {MOST_OUTAGES:,} nodes that fail by {event.time} s, and"
                " jobs that still wait for their end; allowed: a longer mtbf, jobs that checkpoint, or"
                " requeue: false"
            )
        yield event


def drawn_failures(system: System, until: int, *, seed: int = 0, start: int = 0) -> list[NodeEvent]:
    """Return the failures of a system before an instant, as a run with this seed sees them.

    Parameters
    ----------
    until : s on the trace's clock, excluded.
    seed : of the run.
    start : the first submission of its trace, s; 0 without one.
    """
    return list(takewhile(lambda event: int(event.time) < until, failures(system, seed, start)))


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
    """The failures of the nodes of one module, by one model."""

    def __init__(self, keys: FailureKeys, module: str, nodes: int, seed: int, purpose: str) -> None:
        self._keys, self._module, self._nodes = keys, module, nodes
        self._times, self._repairs, self._racks = (
            stream(seed, f"{purpose}/{what}") for what in ("times", "repairs", "racks")
        )
        self._power = 1 / keys.weibull_shape
        self._scale = float(keys.mtbf or 0) / gamma(1 + self._power)

    def events(self, start: int) -> Iterator[NodeEvent]:
        """Yield them in order of time."""
        first = start + self._first_times()
        order, failed = np.argsort(first, kind="stable"), 0  # nodes that have failed once are in the heap
        again: list[tuple[float, int]] = []
        while True:
            if failed < self._nodes and (not again or first[order[failed]] <= again[0][0]):
                time, node = float(first[order[failed]]), int(order[failed])
                failed += 1
            else:
                time, node = heapq.heappop(again)
            outage = _repair(self._keys.repair, self._repairs)
            whole = self._racks.random() < self._keys.rack_share
            nodes = tuple(self._keys.rack_of(node, self._nodes)) if whole else (node,)
            begin = ceil(time)
            reason = RACK if whole else ALONE
            yield NodeEvent(
                *(begin, DOWN, self._module, nodes, len(nodes), begin + round(outage)),
                requeue=self._keys.requeue,
                reason=reason,
            )
            served = self._scale * self._times.standard_exponential() ** self._power
            heapq.heappush(again, (time + outage + served, node))

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
