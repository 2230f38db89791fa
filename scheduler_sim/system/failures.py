"""Failures of nodes by a model: how often, for how long, and which nodes fail together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_serializer

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.config.value import (
    NO_LIMIT,
    Check,
    Flag,
    Name,
    Span,
    between,
    choice,
    duration,
    span,
    whole,
)

EXPONENTIAL, WEIBULL, LOGNORMAL, FIXED = "exponential", "weibull", "lognormal", "fixed"
LARGEST_RACK = 10_000_000
MOST_OUTAGES = 1_000_000
"""Nodes that leave service in a run, each time counted: more are refused."""


Interval = Annotated[
    int | None,
    BeforeValidator(Check("seconds (an integer >= 1), or 24h, 1825d, 365-00:00:00, UNLIMITED", duration)),
]


class RepairKeys(Keys):
    """How long nodes that failed are out of service."""

    mean: Span = Field(description="mean time to repair; 0: nodes are back at once")
    law: Annotated[str, choice(FIXED, EXPONENTIAL, LOGNORMAL)] = Field(
        default=EXPONENTIAL, description="`exponential`, `lognormal`, or `fixed`: always as long as the mean"
    )
    median: Span | None = Field(
        default=None, description="median of the law `lognormal`: half of all repairs are shorter"
    )


class FailureKeys(Keys):
    """How the nodes of a module fail."""

    module: Name | None = Field(default=None, description="module of the nodes; by default the only one")
    mtbf: Interval = Field(
        description="mean time between failures of one node, counting time in service; UNLIMITED: no failures"
    )
    law: Annotated[str, choice(EXPONENTIAL, WEIBULL)] = Field(
        default=EXPONENTIAL, description="distribution of that time: `exponential`, or `weibull`"
    )
    shape: Annotated[float, between(0.1, 10)] | None = Field(
        default=None,
        description="shape of the law `weibull`: below 1 a node that was just repaired fails more often",
    )
    repair: RepairKeys = Field(description="how long nodes are out of service")
    rack_size: Annotated[int | None, whole(1, LARGEST_RACK)] = Field(
        default=None, description="nodes per rack, consecutive by number; the last rack may have fewer"
    )
    rack_share: Annotated[float, between(0, 1)] = Field(
        default=0.0, description="share of the failures that take the whole rack of the node out of service"
    )
    requeue: Flag = Field(
        default=True, description="whether the jobs on the nodes return to the queue; false: they end FAILED"
    )

    @field_serializer("mtbf")
    def _spelt(self, mtbf: int | None) -> int | str:
        return NO_LIMIT[0] if mtbf is None else mtbf

    @property
    def weibull_shape(self) -> float:
        """Shape of the law of times between failures; 1 is exponential."""
        return self.shape if self.law == WEIBULL and self.shape is not None else 1.0

    @property
    def nodes_of_rack(self) -> int:
        """Nodes of a rack; 1 where there are none."""
        return self.rack_size or 1

    @property
    def rate(self) -> float:
        """Failures of a node in a second that it is in service."""
        return 0.0 if self.mtbf is None else 1 / self.mtbf

    def rack_of(self, node: int, nodes: int) -> range:
        """Return the nodes of a rack, of a module with so many nodes."""
        first = node - node % self.nodes_of_rack
        return range(first, min(first + self.nodes_of_rack, nodes))

    def job_rate(self, nodes: int) -> float:
        """Return the failures in a second that hit a job on so many nodes, in as few racks as these fill.

        Each of its nodes fails alone with the share that takes no rack; of its racks every node may take all.
        """
        size = self.nodes_of_rack
        return self.rate * (nodes * (1 - self.rack_share) + math.ceil(nodes / size) * size * self.rack_share)

    def outages(self, nodes: int, seconds: int) -> float:
        """Return how many nodes of a module leave service in so many seconds, as expected."""
        return self.rate * nodes * seconds * (1 + self.rack_share * (self.nodes_of_rack - 1))


def of_module(
    failures: Sequence[FailureKeys], module: str, modules: Sequence[str]
) -> tuple[FailureKeys, ...]:
    """Return the failures of the nodes of a module; of several, those that name none are of the first."""
    return tuple(one for one in failures if (one.module or modules[0]).lower() == module.lower())


def failure_problems(listing: Any, modules: Mapping[str, int]) -> Iterator[Problem]:
    """Check what no single key can tell; ``modules`` are the nodes of each, where they can be read."""
    for i, entry in enumerate(listing) if isinstance(listing, list | tuple) else ():
        if isinstance(entry, dict):
            yield from _odd_module(("failures", i), entry, list(modules))
            yield from _odd_laws(("failures", i), entry)


def _odd_module(where: Location, entry: dict[str, Any], modules: list[str]) -> Iterator[Problem]:
    named = entry.get("module")
    if named is None and len(modules) != 1:
        yield Problem((*where, "module"), f"found nothing, with several modules; {one_of(modules, '')}")
    elif named is not None and str(named).lower() not in {name.lower() for name in modules}:
        yield Problem((*where, "module"), f"{found(named)}, no such module; {one_of(modules, str(named))}")


def _odd_laws(where: Location, entry: dict[str, Any]) -> Iterator[Problem]:
    """Parameters that a law lacks, or has no use for."""
    weibull = str(entry.get("law", "")).lower() == WEIBULL
    if weibull and entry.get("shape") is None:
        yield Problem((*where, "shape"), "found nothing with law: weibull; allowed: a number from 0.1 to 10")
    if not weibull and entry.get("shape") is not None:
        yield Problem((*where, "shape"), f"{found(entry['shape'])} without law: weibull; allowed: nothing")
    if entry.get("rack_share") and entry.get("rack_size") is None:
        yield Problem((*where, "rack_size"), "found nothing beside rack_share; allowed: an integer >= 1")
    repair = entry.get("repair")
    if isinstance(repair, dict):
        yield from _odd_repair((*where, "repair"), repair)


def _odd_repair(where: Location, repair: dict[str, Any]) -> Iterator[Problem]:
    lognormal, median = str(repair.get("law", "")).lower() == LOGNORMAL, repair.get("median")
    if not lognormal and median is not None:
        yield Problem((*where, "median"), f"{found(median)} without law: lognormal; allowed: nothing")
    if not lognormal:
        return
    try:
        mean, half = span(repair.get("mean")), 0 if median is None else span(median)
    except (ValueError, TypeError, ArithmeticError):
        return  # told as a mistake of its own
    if not 0 < half < mean:
        given = "nothing" if median is None else repr(median)
        yield Problem((*where, "median"), f"found {given}; allowed: above 0 and less than the mean, {mean} s")
