"""What jobs need of nodes that they share under Slurm, and how the cores of each node stand together."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresSizes
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import offsets_of, shares_under_slurm
from scheduler_sim.simulation.rules.slurm.masks import words_of
from scheduler_sim.simulation.rules.slurm_needs import NUMBERS, Needs
from scheduler_sim.system.module import NodeSet

OF_LEVELS = ("level", "able", "able_at")
"""Tables with a row for each level."""

LONG_AGO = -(1 << 40)
"""In ``read``: all that has changed was before."""

GENERIC = ("each", "total", "per_task")
"""Tables of a need by kind of generic resource."""


class ConsTres(Numbers):
    """Numbers what is needed: many ask for the same of the same nodes."""

    part = "cons_tres"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = shares_under_slurm(run.system, run.policy)
        self._numbers: dict[tuple[int, ...], int] = {}
        self._levels: dict[tuple[int, ...], int] = {}
        self._memory = False

    def describe(self, jobs: Jobs) -> Ints | None:
        """Number what placements need."""
        if not self.needed:
            return None
        _refuse(self.run)
        needs = Needs(jobs, self.run.system, self.run.policy.slurm)
        self._memory |= bool((jobs.workload.columns["memory_kb"] >= 0).any())
        demands = jobs.placements.of_nodes
        kind = jobs.placements.module if demands is None else demands.kind
        level = numbered_rows(self._levels, np.column_stack((needs.of_nodes, kind)))
        return numbered_rows(self._numbers, np.column_stack((needs.table(), level)))

    def room(self, sizes: Sizes) -> ConsTresSizes:
        """For all needs that have been described."""
        system = self.run.system
        return ConsTresSizes(
            nodes=int(offsets_of(system, self.run.policy)[-1]),
            partitions=len(system.partitions),
            placements=sizes.placements,
            needs=max(len(self._numbers), 1),
            kinds=len(system.counted),
            sockets=max(one.sockets for module in system.modules for one in module.sets),
            slots=1,
            levels=max(len(self._levels), 1),
            words=sum(words_of(module.nodes) for module in system.modules),
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """All nodes are empty."""
        part, system = core.cons_tres, self.run.system
        words = self.run.policy.slurm.SelectTypeParameters
        part.rules.memory = any(w.endswith("MEMORY") for w in words) if words else int(self._memory)
        part.rules.whole_sockets = any(word.startswith("CR_SOCKET") for word in words)
        part.rules.least_loaded = "CR_LLN" in words
        part.rules.accelerate = self.run.policy.slurm.accelerate
        for i, partition in enumerate(system.partitions):
            part.sharing[i].most_cpus = partition.slurm.get("MaxCPUsPerNode", 0)
            part.sharing[i].least_loaded = partition.slurm.get("LLN", False)
        offset = offsets_of(system, self.run.policy)
        for i, module in enumerate(system.modules):
            for one, numbers in zip(module.sets, module.ranges, strict=True):
                there = slice(offset[i] + numbers.start, offset[i] + numbers.stop)
                cores = _cores_of_sockets(one)
                machine = part.machine[there]
                machine["sockets"], machine["cores"] = one.sockets, cores
                machine["threads"], machine["weight"] = one.threads_per_core, one.weight
                part.now.cores[: one.sockets, there] = cores
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Ints | None) -> FullCore:
        """Write what placements need."""
        part = core.cons_tres
        longer = {name: lengthened(getattr(part, name), len(self._numbers)) for name in ("need", *GENERIC)}
        slots = len(core.shared_nodes.slots)
        longer |= {name: lengthened(getattr(part, name), slots) for name in ("share", "tenant")}
        longer |= {name: lengthened(getattr(part, name), len(self._levels)) for name in OF_LEVELS}
        core = core._replace(cons_tres=part._replace(**longer))
        part, kinds = core.cons_tres, core.cons_tres.each.shape[1]
        rows = np.array(list(self._numbers), dtype=np.int64).reshape(len(self._numbers), -1)
        for i, name in enumerate(NUMBERS):
            part.need[name][: len(rows)] = rows[:, i]
        for i, name in enumerate(GENERIC):
            first = len(NUMBERS) + i * kinds
            getattr(part, name)[: len(rows)] = rows[:, first : first + kinds]
        levels = rows[:, -1]
        part.need["level"][: len(rows)] = levels
        cpus = -(-part.need["min_cpus"][: len(rows)] // part.need["min_nodes"][: len(rows)])
        new = part.level["cpus"][levels] == 0
        part.level["need"][levels[new]] = np.flatnonzero(new)
        part.level["read"][levels[new]] = LONG_AGO
        part.level["cpus"][levels] = cpus
        if described is not None:
            part.asked["need"][jobs.where] = described
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write what one component needs instead."""
        return self.write(core, jobs, self.describe(jobs))


def numbered_rows(known: dict[tuple[int, ...], int], table: Ints) -> Ints:
    """int64[n]: the number of each row, the same for equal ones; ``known`` grows."""
    rows, which = np.unique(table, axis=0, return_inverse=True)
    numbers = [known.setdefault(tuple(row), len(known)) for row in rows.tolist()]
    return np.array(numbers, dtype=np.int64)[which.reshape(-1)]


def _cores_of_sockets(one: NodeSet) -> int:
    """Cores of each socket; a node of which nothing is stated has one."""
    return max(int(one.cores_per_node) // (one.threads_per_core * one.sockets), 1)


def _refuse(run: Run) -> None:
    """Raise ConfigError for what has no meaning where nodes are shared."""
    keys = run.policy.slurm
    for name, allowed in (
        ("SelectType", ("select/cons_tres", "select/cons_res")),
        ("version", ("22.05",)),
        ("grouped_ends", (True,)),
        ("clock", ("daemon",)),
    ):
        if getattr(keys, name) not in allowed:
            raise ConfigError(
                f"policy.slurm.{name}: found {getattr(keys, name)!r} where jobs share nodes;"
                f" allowed here: {' or '.join(map(str, allowed))}"
            )
