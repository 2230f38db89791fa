"""Nodes that are told apart: what each has, and what every placement asks for on each of its nodes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints, alike
from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.shared_nodes.device_state import MOST_DEVICES
from scheduler_sim.engine.rules.shared_nodes.state import (
    BEST_FIT,
    DOT_PRODUCT,
    FIRST_FIT,
    FRAGMENTATION_GRADIENT,
    GPU_CLUSTERING,
    GPU_PACKING,
    LEAST_LEFT,
    NEVER,
    RANDOM,
    WORST_FIT,
    SharedSizes,
    steps_for,
)
from scheduler_sim.errors import ConfigError
from scheduler_sim.placement.node_demand import SEVERAL_TYPES, Choices, NodeDemands
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.system.node_resources import ENOUGH, GPUS, THOUSANDTHS, capacities
from scheduler_sim.system.system import System
from scheduler_sim.workload.refused import refused

SCORED = {
    "dot_product": DOT_PRODUCT,
    "gpu_clustering": GPU_CLUSTERING,
    "gpu_packing": GPU_PACKING,
    "least_left": LEAST_LEFT,
    "fragmentation_gradient": FRAGMENTATION_GRADIENT,
}
PACKINGS = {"first_fit": FIRST_FIT, "best_fit": BEST_FIT, "worst_fit": WORST_FIT, "random": RANDOM, **SCORED}
"""``policy.packing``, as the core knows it; those by a score."""

OF_DEMANDS = ("demand", "need", "able")
OF_SHADOW = ("beside", "beside_able")
"""Tables of the core that have a row for each demand."""

OF_STEPS = ("step", "free")
"""... and for each step of a plan."""


class Demand(NamedTuple):
    """What is asked for on each node: the ranges of nodes, whether for one alone, type of GPU, amounts."""

    first: int
    last: int
    exclusive: int
    gpu_type: int
    amounts: tuple[int, ...]


class Described(NamedTuple):
    """The requests of p placements, int64[p]: what they ask of nodes, and where their nodes will stand."""

    demand: Ints
    slot: Ints


class Layout(NamedTuple):
    """How many kinds of what nodes have there are: counted, jobs by what GPUs they ask for, devices.

    Attributes
    ----------
    told_apart : whether devices are told apart, or nodes scored
    keeps_scores : whether scores are kept
    """

    counted: int
    kinds: int = 0
    devices: int = 0
    told_apart: bool = False
    keeps_scores: bool = False

    @property
    def first_kind(self) -> int:
        """The first kind that counts jobs."""
        return self.counted

    @property
    def first_device(self) -> int:
        """The first kind that is a device."""
        return self.counted + self.kinds

    def amounts(self, asked: tuple[int, ...]) -> tuple[int, ...]:
        """Return what is asked for by amount: what is counted, and that it is one of its kind."""
        count, each = devices_of(asked[GPUS])
        own = -1 if count == 0 else 0 if each < THOUSANDTHS else count
        return *asked, *(int(kind == own) for kind in range(self.kinds))

    def capacity(self, counted: list[int]) -> list[int]:
        """Return what a node has of each kind; of what counts jobs, enough."""
        devices = [min(max(counted[GPUS] - THOUSANDTHS * i, 0), THOUSANDTHS) for i in range(self.devices)]
        return [*counted, *[ENOUGH] * self.kinds, *devices]


class SharedNodes(Numbers):
    """Writes the nodes that are told apart, and what placements ask of them."""

    part = "shared_nodes"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = tells_apart(run.system, run.policy)
        self._kinds = run.system.counted
        if shares_under_slurm(run.system, run.policy):
            self._kinds = counted_under_slurm(run.system)
        self.layout = Layout(len(self._kinds))
        self._offset = offsets_of(run.system, run.policy)
        self._apart = apart_under(run.system, run.policy)
        self._described = False
        self._ranges: list[tuple[int, int]] = []
        self._ranges_of: dict[tuple[Choices, int], tuple[int, int]] = {}
        self._demands: dict[Demand, int] = {}
        self._slots = 0

    def describe(self, jobs: Jobs) -> Described | None:
        """Give each placement a place for its nodes, and number what it asks for."""
        placements, demands = jobs.placements, jobs.placements.of_nodes
        if not self.needed or demands is None:
            return None
        if not self._described:
            self.layout, self._described = layout_of(self.run, demands, self.layout), True
        _refuse(jobs, self.layout)
        nodes = self._most_nodes(jobs)
        ends = self._slots + np.cumsum(nodes)
        self._slots = int(ends[-1]) if len(ends) else self._slots
        told_by = (demands.kind, placements.module, demands.exclusive, demands.gpu_type)
        same, first = alike([*told_by, *demands.amounts.T])
        numbers = [
            self._demands.setdefault(self._demand(demands, int(placements.module[p]), p), len(self._demands))
            for p in first.tolist()
        ]
        return Described(np.array(numbers, dtype=np.int64)[same], ends - nodes)

    def _most_nodes(self, jobs: Jobs) -> Ints:
        """So many nodes at most each placement may have: under Slurm it may come out otherwise than asked."""
        most: Ints = jobs.placements.nodes if jobs.needs is None else jobs.needs.most_nodes
        return most

    def room(self, sizes: Sizes) -> SharedSizes:
        """For all nodes, and all that has been described."""
        return SharedSizes(
            modules=sizes.modules,
            nodes=int(self._offset[-1]),
            kinds=self.layout.first_device + self.layout.devices,
            amounts=self.layout.first_device,
            placements=sizes.placements,
            demands=max(len(self._demands), 1),
            ranges=max(len(self._ranges), 1),
            slots=max(self._slots, 1),
            timeline=sizes.timeline,
            depth=max(min(self.run.policy.reservation_depth, sizes.rows), 0),
            chosen_by=self.layout.first_device + self.layout.devices if self.layout.told_apart else 1,
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """All nodes are idle."""
        part, system = core.shared_nodes, self.run.system
        part.rules.packing = PACKINGS[self.run.policy.packing]
        for i, module in enumerate(system.modules):
            begin, end = int(self._offset[i]), int(self._offset[i + 1])
            part.module[i].begin, part.module[i].end = begin, end
            if begin < end:
                part.node["module"][begin:end] = i
                for one, numbers in zip(module.sets, module.ranges, strict=True):
                    there = slice(begin + numbers.start, begin + numbers.stop)
                    part.capacity[:, there] = np.array([self.layout.capacity(capacities(one, self._kinds))]).T
        part.free[:] = part.capacity
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Described | None) -> FullCore:
        """Write what placements ask of their nodes."""
        core = self._with_all(core)
        part = core.shared_nodes
        for i, (begin, end) in enumerate(self._ranges):
            part.range[i].begin, part.range[i].end = begin, end
        for demand, number in self._demands.items():
            it = part.demand[number]
            if it.last == 0:  # a new one
                it.first, it.last, it.exclusive, it.read = demand.first, demand.last, demand.exclusive, NEVER
                part.need[number] = demand.amounts
        if described is not None:
            part.request["demand"][jobs.where] = described.demand
            part.request["slot"][jobs.where] = described.slot
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write what one component asks for instead."""
        return self.write(core, jobs, self.describe(jobs))

    def _with_all(self, core: FullCore) -> FullCore:
        """The core with room for all that has been described."""
        part = core.shared_nodes
        longer = {name: lengthened(getattr(part, name), len(self._demands)) for name in OF_DEMANDS}
        longer["slots"] = lengthened(part.slots, self._slots)
        longer["range"] = lengthened(part.range, len(self._ranges))
        return core._replace(shared_nodes=part._replace(**longer))

    def _demand(self, demands: NodeDemands, module: int, placement: int) -> Demand:
        first, last = self._numbered(demands.kinds[demands.kind[placement]], module)
        amounts = self.layout.amounts(tuple(demands.amounts[placement].tolist()))
        exclusive, gpu_type = int(demands.exclusive[placement]), int(demands.gpu_type[placement])
        return Demand(first, last, exclusive, gpu_type, amounts)

    def _numbered(self, choices: Choices, module: int) -> tuple[int, int]:
        """The ranges of nodes that a kind of demand may take, as first and last + 1 of all ranges."""
        key = choices, module
        if key not in self._ranges_of:
            first, offset = len(self._ranges), int(self._offset[module])
            for numbers in choices[0].anywhere if self._apart[module] else ():
                begin, end = offset + numbers.start, offset + numbers.stop
                if len(self._ranges) > first and self._ranges[-1][1] == begin:
                    begin = self._ranges.pop()[0]
                self._ranges.append((begin, end))
            self._ranges_of[key] = first, len(self._ranges)
        return self._ranges_of[key]


class Shadow(SharedNodes):
    """Under easy: what is free at the shadow time of a front."""

    part = "shadow"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = self.needed and not run.policy.names_nodes and run.policy.reservation_depth == 1

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """There is no front."""
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Described | None) -> FullCore:
        """New demands have never been looked at."""
        longer = {name: lengthened(getattr(core.shadow, name), len(self._demands)) for name in OF_SHADOW}
        new = slice(len(core.shadow.beside), None)
        longer["beside"]["read"][new], longer["beside"]["refused_at"][new] = NEVER, -1
        return core._replace(shadow=core.shadow._replace(**longer))


class NodePlan(SharedNodes):
    """Where several reservations are planned: what is free on each node, from one time to the next."""

    part = "node_plan"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        several = run.policy.reservation_depth not in (0, 1)
        self.needed = self.needed and not run.policy.names_nodes and several

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """The plan is made at the first pass."""
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Described | None) -> FullCore:
        """Have room for the plans of all."""
        plan = core.node_plan
        steps = steps_for(len(plan.window), plan.reserved.shape[1], self._slots)
        longer = {name: lengthened(getattr(plan, name), steps) for name in OF_STEPS}
        return core._replace(node_plan=plan._replace(**longer))


def tells_apart(system: System, policy: Policy) -> bool:
    """Whether a run has nodes of which it is counted what jobs have of each."""
    return any(apart_under(system, policy))


def apart_under(system: System, policy: Policy) -> tuple[bool, ...]:
    """Of each module, whether that is so: under Slurm of all or of none, as its schedulers know all nodes."""
    if policy.backfill == "slurm":
        return (shares_under_slurm(system, policy),) * len(system.modules)
    return system.told_apart


def shares_under_slurm(system: System, policy: Policy) -> bool:
    """Whether Slurm's schedulers have nodes that jobs share, or that are told apart as if they did."""
    shared = policy.slurm.tells_nodes_apart or any(module.shared for module in system.modules)
    return policy.backfill == "slurm" and shared


def counted_under_slurm(system: System) -> tuple[str, ...]:
    """Return what Slurm counts of nodes: GPUs of each type by themselves, too, where they are of several."""
    return system.counted + system.gpu_types_under_slurm


def offsets_of(system: System, policy: Policy) -> Ints:
    """int64[m + 1]: number of the first node of each module among those that are told apart."""
    apart = apart_under(system, policy)
    return np.cumsum([0, *(module.nodes * one for module, one in zip(system.modules, apart, strict=True))])


def running_on(core: FullCore, rows: Ints, nodes: Ints) -> Ints:
    """Return those of some running components that run on any of some nodes."""
    part, placed = core.shared_nodes, np.asarray(core.jobs)["placed"][rows]
    slot, count = np.asarray(part.request)["slot"][placed], np.asarray(core.placements)["nodes"][placed]
    hit = [bool(np.isin(part.slots[s : s + n], nodes).any()) for s, n in zip(slot, count, strict=True)]
    there: Ints = rows[np.array(hit, dtype=bool)]
    return there


def devices_of(gpus: int) -> tuple[int, int]:
    """Return how many devices so many thousandths of GPUs are, and thousandths of each."""
    return (gpus // THOUSANDTHS, THOUSANDTHS) if gpus >= THOUSANDTHS else (int(gpus > 0), gpus)


def layout_of(run: Run, demands: NodeDemands, plain: Layout) -> Layout:
    """Return what is kept of nodes: devices where a component of the trace asks for a part, or of types.

    Raises ConfigError where nodes have too many.
    """
    packing = run.policy.packing
    scored = packing == "random" or packing in SCORED
    several = run.system.gpu_types and run.policy.backfill != "slurm"
    if not (scored or several or (demands.gpus % THOUSANDTHS > 0).any()):
        return plain
    most = max(math.ceil(one.gpus) for module in run.system.modules for one in module.sets)
    if most > MOST_DEVICES:
        raise ConfigError(
            f"system {run.system.name}: found nodes of {most} GPUs, which are individual"
            " devices here (parts are asked for, nodes have several types, or by"
            f" policy.packing); allowed here: at most {MOST_DEVICES}"
        )
    kinds = 1 + most if packing == "gpu_clustering" else 0
    return Layout(plain.counted, kinds, most, told_apart=True, keeps_scores=packing in SCORED)


def _refuse(jobs: Jobs, layout: Layout) -> None:
    """Raise JobsRefused for what has no meaning yet where nodes are shared."""
    placements, demands = jobs.placements, jobs.placements.of_nodes
    assert demands is not None
    several = np.array(
        [len(one) > 1 or any(way.at_least for way in one) for one in demands.kinds], dtype=bool
    )
    parts = demands.gpus % THOUSANDTHS > 0
    if layout.told_apart:
        parts &= demands.gpus > THOUSANDTHS
        whole = "whole GPUs, or a part of one"
    else:
        whole = "whole GPUs, as the trace of the run asks for no parts of GPUs"
    several_types = demands.gpu_type == SEVERAL_TYPES
    for wrong, column, allowed in (
        (several[demands.kind], "constraint", "features that each node has, without counts and brackets"),
        (parts, "gpus", whole),
        (several_types, "gres", "GPUs of one type, or of any"),
    ):
        if wrong.any():
            rows = np.unique(placements.rows[placements.owner[wrong]])
            row = int(rows[0])
            if column == "gpus" and jobs.workload.columns["gpus"][row] <= 0:
                column = "gres"
            if column == "gres" and not jobs.workload.columns["gres"][row]:
                column = "gres_per_job" if jobs.workload.columns["gres_per_job"][row] else "gres_per_task"
            or_covered = ", or a partition covers part of a module" if column == "constraint" else ""
            raise refused(
                jobs.workload, rows, column, f"not where jobs share nodes{or_covered}; allowed: {allowed}"
            )


def whole_nodes(placements: Placements, system: System) -> int:
    """Count the components that get whole nodes of a module that jobs share, as they state no cores."""
    demands = placements.of_nodes
    if demands is None:
        return 0
    shared = np.array([module.shared for module in system.modules])[placements.module]
    unstated = shared & demands.exclusive & (demands.cores == 0)
    return len(np.unique(placements.owner[unstated]))
