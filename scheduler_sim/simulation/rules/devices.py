"""Devices that are told apart, and what the packings that score nodes go by."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints, alike
from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.shared_nodes.device_state import SCORES, WHOLE, DeviceSizes
from scheduler_sim.placement.node_demand import NodeDemands
from scheduler_sim.placement.placements import Placements
from scheduler_sim.simulation.rules.numbers import Jobs, Run
from scheduler_sim.simulation.rules.shared_nodes import Described, SharedNodes, devices_of
from scheduler_sim.streams import stream
from scheduler_sim.system.module import NodeSet
from scheduler_sim.system.node_resources import CORES, GPUS

TYPICAL_PERCENT = 95
"""Of the nodes that are asked for: so many the typical demands cover at least."""

BITS = 0xFFFFFFFF


class Typical(NamedTuple):
    """What many components ask for on a node: thousandths of cores and GPUs, the nodes, and how often."""

    module: int
    cores: int
    gpus: int
    nodes: tuple[range, ...]
    weight: int


class Devices(SharedNodes):
    """Writes how many devices placements ask for, and what scores go by."""

    part = "devices"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._typical: list[Typical] | None = None

    def describe(self, jobs: Jobs) -> Described | None:
        """Of the trace, also what is typical of it."""
        described = super().describe(jobs)
        self.needed &= self.layout.told_apart
        if self._typical is None:
            asks = self.needed and self.run.policy.packing == "fragmentation_gradient"
            self._typical = typical_demands(jobs.placements) if asks else []
        return described

    def room(self, sizes: Sizes) -> Any:
        """For all that has been described."""
        demands = max(len(self._demands), 1)
        return DeviceSizes(
            modules=sizes.modules,
            nodes=int(self._offset[-1]),
            devices=self.layout.devices,
            placements=sizes.placements,
            demands=demands,
            scored=demands if self.layout.keeps_scores else 0,
            slots=max(self._slots, 1),
            typical=max(len(self._typical or ()), 1),
            types=len(self.run.system.gpu_types),
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """What modules are measured by, what is typical, and what draws begin with."""
        it, shared = core.devices, core.shared_nodes
        it.rules.first, it.rules.kinds = self.layout.first_device, self.layout.first_kind
        it.rules.devices = self.layout.devices
        it.rules.salt = int(stream(self.run.seed, "packing").integers(BITS + 1))
        for module in range(len(self.run.system.modules)):
            begin, end = int(self._offset[module]), int(self._offset[module + 1])
            there = shared.capacity[:, begin:end]
            it.scale[module].cores = max(int(there[CORES].max(initial=0)), 1)
            it.scale[module].gpus = max(int(there[GPUS].max(initial=0)), 1)
            it.scale[module].first = it.scale[module].last = 0
        self._write_types(core)
        for number, typical in enumerate(self._typical or ()):
            self._write_typical(core, number, typical)
        for module in range(len(self.run.system.modules)):
            own = slice(it.scale[module].first, it.scale[module].last)
            it.threshold[module] = thresholds(int(it.typical["weight"][own].sum()))
        return core

    def _write_types(self, core: FullCore) -> None:
        """Which devices of each node are of which type: the first ones of its first type, and so on."""
        for i, module in enumerate(self.run.system.modules):
            for one, numbers in zip(module.sets, module.ranges, strict=True):
                there = slice(int(self._offset[i]) + numbers.start, int(self._offset[i]) + numbers.stop)
                for kind, name in enumerate(self.run.system.gpu_types, 1):
                    core.devices.of_type[kind, there] = devices_of_type(one, name)

    def _write_typical(self, core: FullCore, number: int, typical: Typical) -> None:
        """One after the other; those of a module stand together."""
        it, scale = core.devices.typical[number], core.devices.scale[typical.module]
        if scale.last == 0:
            scale.first = number
        scale.last = number + 1
        it.cores, it.weight = typical.cores, typical.weight
        it.count, it.part = devices_of(typical.gpus)
        offset = int(self._offset[typical.module])
        for nodes in typical.nodes:
            for node in nodes:
                word, bit = divmod(offset + node, 64)
                core.devices.suited[number, word] |= np.uint64(1) << np.uint64(bit)

    def write(self, core: FullCore, jobs: Jobs, described: Described | None) -> FullCore:
        """Write how many devices placements ask for, and by what name draws know them."""
        demands = len(self._demands)
        longer: dict[str, Any] = {"demand": lengthened(core.devices.demand, demands)}
        longer["taken"] = lengthened(core.devices.taken, self._slots)
        if self.layout.keeps_scores:
            longer["kept"] = lengthened(core.devices.kept, demands)
        core = core._replace(devices=core.devices._replace(**longer))
        for demand, number in self._demands.items():
            it = core.devices.demand[number]
            it.count, it.part = devices_of(demand.amounts[GPUS])
            it.type = demand.gpu_type
        if described is not None:
            names = jobs.column("component_id")[jobs.placements.owner]
            core.devices.number[jobs.where] = (names ^ (names >> 32)) & BITS
        return core


def devices_of_type(one: NodeSet, name: str) -> int:
    """Return the devices of a type on a node, as a set of bits."""
    amounts = {kind.lower(): amount for kind, amount in one.gres.items()}
    first = sum(math.ceil(amounts[kind]) for kind in takewhile(lambda kind: kind != name, one.gpu_types))
    return ((1 << math.ceil(amounts.get(name, 0))) - 1) << first


def typical_demands(placements: Placements) -> list[Typical]:
    """Return what is asked for most, of each module: cores, GPUs, and nodes if they are large enough.

    As few as cover ``TYPICAL_PERCENT`` of the nodes that are asked for; of those that are asked for as often
    those with more cores come first, then more GPUs, then as in the trace.
    """
    demands, found = placements.of_nodes, list[Typical]()
    if demands is None:
        return found
    nodes, where = _suited(demands)
    for module in np.unique(placements.module).tolist():
        here = np.flatnonzero(placements.module == module)
        cores, gpus = demands.cores[here], demands.gpus[here]
        code, first = alike([cores, gpus, where[here]])
        weight = np.zeros(len(first), dtype=np.int64)
        np.add.at(weight, code, placements.nodes[here])
        order = np.lexsort((first, -gpus[first], -cores[first], -weight))
        covered = np.cumsum(weight[order])
        head = int(np.searchsorted(100 * covered, TYPICAL_PERCENT * int(covered[-1]))) + 1
        found += [
            Typical(module, int(cores[i]), int(gpus[i]), nodes[where[here[i]]], int(weight[kind]))
            for kind, i in ((kind, first[kind]) for kind in order[:head].tolist())
        ]
    return found


def _suited(demands: NodeDemands) -> tuple[list[tuple[range, ...]], Ints]:
    """The nodes that will do if they are large enough, each once; and which of them each placement has."""
    known: dict[tuple[range, ...], int] = {}
    of_kind = [known.setdefault(one[0].of_any_size, len(known)) for one in demands.kinds]
    return list(known), np.array(of_kind, dtype=np.int64)[demands.kind]


def thresholds(weight: int) -> Ints:
    """Return the least fall of fragments, by weight, with which each score k begins.

    By 100 / (1 + e^-x) >= k, x in GPUs.
    """
    begins = [math.ceil(WHOLE * weight * math.log(k / (SCORES - k))) for k in range(1, SCORES)]
    return np.array([0, *begins], dtype=np.int64)
