"""Components in the tables of Slurm's schedulers: those of a trace, and those that come later.

What rows refer to by number, such as users, keeps its number when more components come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.allocation import SlurmSizes
from scheduler_sim.engine.rules.slurm.priority import fair_share, priority
from scheduler_sim.errors import ConfigError
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy.shares import Associations, associations
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.simulation.rules.numbers import Jobs, Numbering, Numbers, Run, numbered
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm
from scheduler_sim.simulation.rules.slurm.factors import write_factors
from scheduler_sim.simulation.rules.slurm.masks import Masks, write_nodes
from scheduler_sim.simulation.rules.slurm.node_weights import weighs_nodes
from scheduler_sim.simulation.rules.slurm.parameters import write_parameters
from scheduler_sim.simulation.rules.slurm.qos import qos_of
from scheduler_sim.simulation.rules.slurm.standings import accrues_limited
from scheduler_sim.simulation.rules.topology_use import chooses_by_topology
from scheduler_sim.units import MINUTE

KEPT = ("usage", "effective", "factor")
"""What associations have come to: they keep it when others join them."""


_CHANGEABLE = frozenset(("MAGNETIC", "REPLACE", "REPLACE_DOWN"))
"""Flags of reservations of which what is there for speed alone knows nothing."""


class Described(NamedTuple):
    """n components, in the order of their rows, by the numbers of what they refer to.

    Attributes
    ----------
    users, charged : int64[n], the user, and the association
    nodes : int64[p, 3], the mask of each placement, its first choice and the one after its last
    """

    users: np.ndarray
    charged: np.ndarray
    nodes: np.ndarray


class Schedulers(Numbers):
    """Numbers what components refer to: users, associations, sets of nodes."""

    part = "slurm"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.policy.backfill == "slurm"
        if self.needed and not run.policy.slurm.fixed_nodes and any(run.system.told_apart):
            raise ConfigError(
                "policy.slurm.fixed_nodes: found False where jobs share nodes, or a partition covers part of"
                " a module; allowed here: True"
            )
        self._keys = run.policy.slurm
        self._charged: Numbering = {}
        self._users: Numbering = {}
        self._masks = Masks(run.system, raised=weighs_nodes(self._keys, run.system))
        self._tree: Associations | None = None  # None where shares do not count
        self._members = np.concatenate([np.zeros(0, dtype=np.int64), *run.units.members])
        self._booked = 0

    def describe(self, jobs: Jobs) -> Described | None:
        """Number what components refer to."""
        if not self.needed:
            return None
        charged = np.zeros(len(jobs.placements.rows), dtype=np.int64)
        if by_share(self._keys):
            pairs = numbered(self._charged, jobs.text("user"), jobs.text("account"))
            users, accounts = zip(*self._charged, strict=True) if self._charged else ((), ())
            self._tree = associations(self._keys.accounts, users, accounts)
            charged = self._tree.row[pairs]
        if jobs.edges is None:  # only the trace has members of units
            self._booked = int(self._held(jobs.placements).sum())
        mine = numbered(self._users, jobs.text("user"))
        return Described(mine, charged, self._masks.number(jobs.placements))

    def room(self, sizes: Sizes) -> SlurmSizes:
        """Of members, advance reservations stand in the plan, too."""
        system, keys, members = self.run.system, self._keys, len(self._members)
        return SlurmSizes(
            rows=sizes.rows,
            placements=sizes.placements,
            partitions=len(system.partitions),
            words=int(self._masks.low[-1]),
            pieces=sum(module.nodes for module in system.modules) * self._jobs_of_a_node + 1,
            records=records_for(keys.settled("bf_node_space_size"), sizes.placements) + 2 * members,
            members=sizes.rows if members or self.run.calls else 0,
            booked=self._booked,
            accelerate=keys.accelerates
            and not accrues_limited(keys)
            and not any(_CHANGEABLE.intersection(one.flags) for one in system.reservations)
            and not shares_under_slurm(system, self.run.policy)
            and not chooses_by_topology(system, self.run.policy),
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write the parameters and the nodes, and where those of each member stand that are held for it."""
        core = write_parameters(core, self._keys, self.run.system)
        write_nodes(core, self.run.system, self._masks)
        held = self._held(jobs.placements)
        core.slurm.het["booked"][self._members] = np.cumsum(held) - held
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Described) -> FullCore:
        """Write components and their ways, with room for both."""
        core = self._with_numbers(core)
        self._write_jobs(core, jobs, described)
        self._write_ways(core, jobs, described.nodes)
        if not core.slurm.rules.basic:
            self._write_factors(core, jobs, described.charged)
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write the new ways of a component; their keys are that of its old one."""
        comp, nodes = core.jobs[jobs.first], self._masks.number(jobs.placements)
        key = core.slurm.way[comp.first].key if comp.last > comp.first else core.ranks[jobs.first].key
        core = self._masks.write(core)
        self._write_ways(core, jobs, nodes)
        core.slurm.way["key"][jobs.where] = key
        if not core.slurm.rules.basic:
            self._write_factors(core, jobs, core.slurm.job["association"][jobs.rows])
        return core

    def reads_placements(self, core: FullCore, row: int) -> bool:
        """Nodes that are yet to be given back are those of its last placement."""
        return bool(core.slurm.job["piece"][row] >= 0)

    @property
    def _jobs_of_a_node(self) -> int:
        """How many jobs hold a node at most: one of each tier, where others are suspended."""
        return len({one.priority for one in self.run.system.partitions}) if self._keys.suspends else 1

    def _held(self, placements: Placements) -> np.ndarray:
        """int64[members]: words with nodes that may be held for each, of all words of the system."""
        words: np.ndarray = np.minimum(placements.asked_nodes[self._members], self._masks.low[-1])
        return words

    def _with_numbers(self, core: FullCore) -> FullCore:
        """A core with a record for each user, set of nodes and association."""
        core = self._masks.write(core)
        counter = lengthened(core.slurm.counter, len(self._users))
        core = core._replace(slurm=core.slurm._replace(counter=counter))
        if self._tree is None or 0 < len(core.slurm.accounts.assoc) == len(self._tree.parent):
            return core
        assoc, order = fair_share.association_table(self._tree.parent, self._tree.user, self._tree.shares)
        older = core.slurm.accounts.assoc
        if not len(older) and self._tree.usage.any():  # a daemon that starts computes what was used before
            assoc["usage"] = self._tree.usage
            core.slurm.memory.next_calc = core.slurm.rules.starts_at
            core.slurm.memory.unranked = core.slurm.rules.algorithm == fair_share.FAIR_TREE
        for name in KEPT:
            assoc[name][: len(older)] = older[name]
        accounts = core.slurm.accounts._replace(assoc=assoc, order=order)
        return core._replace(slurm=core.slurm._replace(accounts=accounts))

    def _write_jobs(self, core: FullCore, jobs: Jobs, new: Described) -> None:
        job = core.slurm.job[jobs.rows]
        job["piece"] = -1
        job["user"], job["association"] = new.users, new.charged
        job["nice"] = jobs.column("nice")

    def _write_ways(self, core: FullCore, jobs: Jobs, nodes: np.ndarray) -> None:
        placements, where = jobs.placements, jobs.where
        tiers = np.array([partition.priority for partition in self.run.system.partitions], dtype=np.int64)
        core.slurm.way["partition"][where] = placements.partition
        for name, column in zip(("mask", "first", "last"), nodes.T, strict=True):
            core.slurm.way[name][where] = column
        core.slurm.way["choice"][where] = nodes[:, 1]
        core.slurm.way["run"][where] = placements.run
        core.slurm.way["tier"][where] = tiers[placements.partition]
        core.placements["limit"][where] = -(-placements.limit // MINUTE) * MINUTE

    def _write_factors(self, core: FullCore, jobs: Jobs, charged: np.ndarray) -> None:
        write_factors(
            core, jobs, self.run, self._association_factors(charged), self._usage_factors(jobs, charged)
        )

    def _usage_factors(self, jobs: Jobs, charged: np.ndarray) -> np.ndarray:
        """Return the UsageFactor of each component's QOS, float64[n]."""
        factors = {name: one.UsageFactor for name, one in self._keys.qos.items() if one.UsageFactor != 1}
        if not factors or self._tree is None:
            return np.ones(len(charged))
        named = jobs.text("qos").tolist()
        own = qos_of(self._tree, charged.tolist(), named)
        return np.array([factors.get(name, 1.0) for name in own], dtype=np.float64)

    def _association_factors(self, charged: np.ndarray) -> np.ndarray:
        if self._tree is None:
            return np.zeros(len(charged))
        top = 1 if "NO_NORMAL_ASSOC" in self._keys.PriorityFlags else int(self._tree.priority.max())
        return priority.normalised(self._tree.priority[charged], top)


def by_share(keys: SlurmKeys) -> bool:
    """Whether priorities depend on shares or associations."""
    return keys.PriorityType == "priority/multifactor" and (
        keys.PriorityWeightFairshare > 0 or keys.PriorityWeightAssoc > 0
    )


def records_for(most: int, placements: int) -> int:
    """How many records Slurm's plan may have: two boundaries for each partition of each component."""
    return min(most, 2 * placements) + 4
