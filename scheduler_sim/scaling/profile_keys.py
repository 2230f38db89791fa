"""The keys of an application's profile."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Check, Name, Percent, PositiveCount, Text, Title, choice, whole
from scheduler_sim.scaling.curves.kind import number
from scheduler_sim.scaling.modular import COUPLINGS

VERSION = 1
SCALINGS = ("strong", "weak")
SIZES = ("any", "powers_of_two")
MOST_NODES = 1 << 24


def _mapping(written: Any) -> dict[str, Any]:
    if not isinstance(written, dict):
        raise TypeError
    return written


Mapping = Annotated[dict[str, Any], BeforeValidator(Check("a mapping", _mapping))]
"""Read by those who know what may stand in it, so that mistakes inside have their lines."""

Positive = Annotated[float, number(0, above=True)]
Scaling = Annotated[str, choice(*SCALINGS)]


def _count(written: Any) -> int:
    if isinstance(written, bool) or not isinstance(written, int):
        raise TypeError
    if not 1 <= written <= MOST_NODES:
        raise ValueError
    return written


def _by_module(written: Any) -> int | dict[str, int]:
    if isinstance(written, dict) and written:
        return {str(name): _count(count) for name, count in written.items()}
    return _count(written)


def _sizes(written: Any) -> str | tuple[int, ...]:
    if isinstance(written, str) and written in SIZES:
        return written
    sizes = tuple(_count(size) for size in written)
    if not sizes or isinstance(written, str | dict):
        raise ValueError
    return tuple(np.unique(sizes).tolist())


def _range(written: Any) -> tuple[float, float]:
    least, most = (float(value) for value in written)
    if isinstance(written, str | dict) or not 0 < least <= most:
        raise ValueError
    return least, most


RanksPerNode = Annotated[
    Any, BeforeValidator(Check("an integer >= 1, or one for each module as in {CM: 24, DAM: 48}", _by_module))
]
OnlySizes = Annotated[
    Any, BeforeValidator(Check("any, powers_of_two, or a list of numbers of nodes", _sizes, SIZES))
]
Version = Annotated[int, whole(VERSION, VERSION)]


class FrequencyKeys(Keys):
    """How the clock of the processors changes the run time."""

    beta: Annotated[float, number(0, 1)] = Field(
        default=0.0,
        description="share of the run time that scales with the clock; T(q) = T (beta nominal/q + 1 −"
        " beta). Not for a curve that depends on clock_khz",
    )
    nominal_khz: Annotated[int, whole(1, 10**8)] = Field(
        description="clock at which the application was measured, kHz"
    )


class NodeKeys(Keys):
    """Sizes at which the application may run."""

    min: PositiveCount = Field(default=1, description="fewest nodes")
    max: PositiveCount = Field(default=MOST_NODES, description="most nodes")
    only: OnlySizes = Field(default="any", description="further limit on the numbers of nodes")
    floor: Annotated[float, number(0, 1)] = Field(
        default=0.5, description="efficiency below which a size is not offered"
    )


class ProvenanceKeys(Keys):
    """Where the numbers come from."""

    source: Text = Field(
        default="", description="source of the numbers: paper, table, machine, or file of points"
    )
    fitted: list[Positive] = Field(
        default=[], description="smallest and largest number of processes in the fit"
    )
    others: dict[Name, Annotated[tuple[float, float], BeforeValidator(Check("[least, largest]", _range))]] = (
        Field(
            default={},
            description="smallest and largest values of other parameters in the fit, {size: [1e4, 1e6]}",
        )
    )
    checked_to: Positive | None = Field(
        default=None,
        description="largest number of processes at which a prediction was compared with a measurement",
    )
    notes: list[Text] = Field(default=[], description="warnings and assumptions of the fit")


class RunsKeys(Keys):
    """Where a component of a modular application ran, and how long."""

    module: Name = Field(description="module it ran on")
    nodes: PositiveCount = Field(description="nodes it ran on")
    time: Positive = Field(
        description="seconds that the component ran by itself, without waiting for the others"
    )


class EditKeys(Keys):
    """A what-if: one change of the profile. Exactly one of replace, accelerate, remove and move."""

    replace: Name | None = Field(default=None, description="name of a factor that gets another curve")
    curve: Mapping | None = Field(default=None, description="the new curve, for replace")
    accelerate: Annotated[float, number(0, 1, above=True)] | None = Field(
        default=None, description="share of the run time in a kernel that becomes faster by the factor `by`"
    )
    by: Annotated[float, number(1, above=True)] | None = Field(
        default=None, description="factor by which the kernel becomes faster, for accelerate"
    )
    remove: Annotated[float, number(0, 0.999, above=True)] | None = Field(
        default=None, description="share of the run time in a serial phase that is removed"
    )
    move: Name | None = Field(default=None, description="module on which the component runs instead")
    nodes: PositiveCount | None = Field(
        default=None, description="nodes on that module, for move; default: as before"
    )
    component: Name | None = Field(
        default=None, description="component that is changed, of a modular application"
    )
    note: Text = Field(default="", description="text for the reader")


class ComponentKeys(Keys):
    """How one application, or one component of a modular one, scales."""

    scaling: Scaling = Field(
        description="strong: the size of the problem is fixed, and more processes share it; weak: it"
        " grows with the number of processes"
    )
    ranks_per_node: RanksPerNode = Field(default=1, description="processes on a node")
    threads: Annotated[int, whole(1, 1_000_000)] = Field(default=1, description="threads of a process")
    modules: dict[Name, Positive] = Field(
        description="modules on which it can run, with the relative speed of one process on each"
    )
    frequency: FrequencyKeys | None = Field(
        default=None, description="how the run time depends on the clock; default: not at all"
    )
    size: Annotated[float, number(1)] | None = Field(
        default=None,
        description="size of the problem in its usual runs, for a curve that depends on it",
    )
    nodes: NodeKeys = Field(default=NodeKeys(), description="numbers of nodes on which it may run")
    efficiency: Mapping | None = Field(
        default=None, description="factors by name, each {curve: KIND, ...} or a group with compose"
    )
    speedup: Mapping | None = Field(default=None, description="instead of efficiency: one curve of a speedup")
    time: Mapping | None = Field(
        default=None, description="instead of efficiency: one curve of a time or of work"
    )
    provenance: ProvenanceKeys = Field(default=ProvenanceKeys(), description="where the numbers come from")


class PartKeys(ComponentKeys):
    """A component of a modular application."""

    runs: RunsKeys = Field(description="as measured")


class HeaderKeys(Keys):
    """What every file begins with."""

    version: Version = Field(description=f"version of this format: {VERSION}")
    app: Title = Field(description="name of the application")


class ProfileKeys(ComponentKeys, HeaderKeys):
    """The whole file of an application."""

    share: Percent | None = Field(default=None, description="percentage of the jobs in a mixed workload")
    edits: list[EditKeys] = Field(default=[], description="what-ifs, applied in this order")


class ModularKeys(HeaderKeys):
    """The whole file of a modular application."""

    coupling: Annotated[str, choice(*COUPLINGS)] = Field(
        default="concurrent", description="concurrent: the slowest decides; staged: one after the other"
    )
    exchange: Annotated[float, number(0, unit="s")] = Field(
        default=0.0, description="seconds of exchange between the components"
    )
    components: dict[Name, PartKeys] = Field(description="components by name")
    edits: list[EditKeys] = Field(default=[], description="what-ifs, applied in this order")
