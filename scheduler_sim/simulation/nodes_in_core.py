"""The nodes of a module as the core knows them, for whoever takes them out of service or puts them back.

Where jobs share nodes, and under Slurm, the core knows each node: it is these that go, and the jobs on them
that are hit. Elsewhere it counts them: nobody knows which job has which, so those that are hit are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.core.events import KIND
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.shared_nodes.state import LEAVING
from scheduler_sim.simulation.pools import modules_of
from scheduler_sim.simulation.rules.power_saving import nodes_off
from scheduler_sim.simulation.rules.shared_nodes import running_on


class ModuleNodes(Protocol):
    """What can be done to the nodes of one module; they are numbered from 0."""

    def in_order(self, nodes: Sequence[int]) -> list[int]:
        """Return nodes in service in the order in which they go where only their number is said."""

    def draw(self, nodes: Sequence[int], count: int, draws: np.random.Generator) -> list[int]:
        """Draw so many of some nodes in service that fail."""

    def still_busy(self, nodes: Sequence[int]) -> list[int]:
        """Return those nodes out of service that a job still has, as far as that is known."""

    def take_out(self, nodes: Sequence[int]) -> None:
        """Take nodes out of service that are in it: idle ones now, others as they become idle."""

    def take_down(self, new: Sequence[int], named: Sequence[int], draws: np.random.Generator) -> np.ndarray:
        """Take ``new`` ones out; returns the rows of the jobs on those that are ``named``, ascending."""

    def put_back(self, nodes: Sequence[int]) -> None:
        """Put nodes back into service."""

    def announce(self, returns: dict[int, list[int]]) -> None:
        """From now on plans know of these nodes, and of no others, when they will be back (s)."""


def nodes_in(core: FullCore, module: int, nodes: int) -> ModuleNodes:
    """Return the nodes of a module, which has so many."""
    if has(core, "shared_nodes"):
        it = core.shared_nodes.module[module]
        if it.begin < it.end:
            return _SharedNodes(core, module)
    if has(core, "outages") and module in np.asarray(core.slurm.partition)["module"]:
        return _SlurmNodes(core, module)
    return _CountedNodes(core, module, nodes)


class _CountedNodes:
    """Nodes that are only counted."""

    def __init__(self, core: FullCore, module: int, nodes: int) -> None:
        self._core, self._module, self._nodes = core, module, nodes

    def in_order(self, nodes: Sequence[int]) -> list[int]:
        return list(nodes)

    def draw(self, nodes: Sequence[int], count: int, draws: np.random.Generator) -> list[int]:
        return list(nodes[:count])  # who is hit is drawn as they go down

    def still_busy(self, nodes: Sequence[int]) -> list[int]:
        return []

    def take_out(self, nodes: Sequence[int]) -> None:
        if nodes:
            drive.take_down(self._core, self._module, len(nodes))

    def take_down(self, new: Sequence[int], named: Sequence[int], draws: np.random.Generator) -> np.ndarray:
        """Draw them: those of running components in row order, idle ones, those off, the rest.

        The rest still does its epilog, boots or shuts down. A node that was to leave service anyway can be
        drawn; one more of the others leaves then.
        """
        core, module, nodes = self._core, self._module, len(new)
        if not nodes:
            return np.zeros(0, dtype=np.int64)
        place, pool = np.asarray(core.placements), core.pools[module]
        rows = _running(core)
        placed = np.asarray(core.jobs)["placed"][rows]
        mine = modules_of(core)[place["module"][placed]] == module
        rows, held = rows[mine], place["nodes"][placed[mine]]
        drawn = draws.choice(self._nodes - int(pool.down), size=nodes, replace=False)
        off = nodes_off(core, module)
        hits = np.searchsorted(np.cumsum([*held, pool.free, off]), drawn, side="right")
        in_use = self._nodes - int(pool.down + pool.free) - off
        idle, asleep = (int(np.count_nonzero(hits == len(rows) + i)) for i in (0, 1))
        leaving = min(nodes - idle - asleep, in_use - int(pool.draining))
        if asleep:
            drive.take_down_off(core, module, asleep)
        drive.take_down(core, module, nodes - asleep - leaving)  # as many are idle
        pool.draining += leaving
        hit: np.ndarray = rows[np.unique(hits[hits < len(rows)])]
        return hit

    def put_back(self, nodes: Sequence[int]) -> None:
        if nodes:
            drive.bring_back(self._core, self._module, len(nodes))

    def announce(self, returns: dict[int, list[int]]) -> None:
        pass  # plans count them


class _NamedNodes:
    """Nodes that the core knows one by one."""

    def draw(self, nodes: Sequence[int], count: int, draws: np.random.Generator) -> list[int]:
        drawn: list[int] = draws.choice(np.array(nodes, dtype=np.int64), size=count, replace=False).tolist()
        return drawn

    def take_down(self, new: Sequence[int], named: Sequence[int], draws: np.random.Generator) -> np.ndarray:
        self.take_out(new)
        return self._rows_on(named)

    def take_out(self, nodes: Sequence[int]) -> None:
        raise NotImplementedError

    def _rows_on(self, nodes: Sequence[int]) -> np.ndarray:
        raise NotImplementedError


class _SharedNodes(_NamedNodes):
    """Nodes of a module that jobs may share."""

    def __init__(self, core: FullCore, module: int) -> None:
        self._core, self._begin = core, int(core.shared_nodes.module[module].begin)
        self._end = int(core.shared_nodes.module[module].end)

    def in_order(self, nodes: Sequence[int]) -> list[int]:
        """Idle ones in their order, then those with the fewest jobs."""
        from scheduler_sim.engine.rules.shared_nodes.service import jobs_on

        return sorted(nodes, key=lambda node: (jobs_on(self._core, self._begin + node), node))

    def still_busy(self, nodes: Sequence[int]) -> list[int]:
        service = np.asarray(self._core.shared_nodes.node)["service"]
        return [node for node in nodes if service[self._begin + node] == LEAVING]

    def take_out(self, nodes: Sequence[int]) -> None:
        from scheduler_sim.engine.rules.shared_nodes.service import take_node_out

        for node in nodes:
            take_node_out(self._core, self._begin + node)

    def put_back(self, nodes: Sequence[int]) -> None:
        from scheduler_sim.engine.rules.shared_nodes.service import put_node_back

        for node in nodes:
            put_node_back(self._core, self._begin + node)

    def announce(self, returns: dict[int, list[int]]) -> None:
        back = self._core.shared_nodes.node["back"][self._begin : self._end]
        back[:] = INF
        for time, nodes in returns.items():
            back[nodes] = time

    def _rows_on(self, nodes: Sequence[int]) -> np.ndarray:
        rows = _running_or_suspended(self._core)
        placed = np.asarray(self._core.jobs)["placed"][rows]
        modules = np.asarray(self._core.placements)["module"][placed]
        own = self._core.shared_nodes.module["begin"][modules] == self._begin
        return running_on(self._core, rows[own], self._begin + np.array(nodes, dtype=np.int64))


class _SlurmNodes(_NamedNodes):
    """Whole nodes of a module under Slurm."""

    def __init__(self, core: FullCore, module: int) -> None:
        from scheduler_sim.simulation.rules.slurm.outages import number_of

        self._core, self._module = core, module
        self._first = number_of(core, module, 0)

    def in_order(self, nodes: Sequence[int]) -> list[int]:
        """The last idle ones first, then the last of the others."""
        from scheduler_sim.simulation.rules.slurm.outages import is_in

        idle = self._core.slurm.sets.idle
        return sorted(nodes, key=lambda node: (not is_in(idle, self._first + node), -node))

    def still_busy(self, nodes: Sequence[int]) -> list[int]:
        from scheduler_sim.simulation.rules.slurm.outages import is_in

        down = self._core.outages.down
        return [node for node in nodes if not is_in(down, self._first + node)]

    def take_out(self, nodes: Sequence[int]) -> None:
        from scheduler_sim.engine.rules.slurm.outages import take_out

        for node in nodes:
            take_out(self._core, self._first + node)

    def put_back(self, nodes: Sequence[int]) -> None:
        from scheduler_sim.engine.rules.slurm.outages import put_back

        for node in nodes:
            put_back(self._core, self._first + node, self._module)

    def announce(self, returns: dict[int, list[int]]) -> None:
        pass  # Slurm's plans do not know

    def _rows_on(self, nodes: Sequence[int]) -> np.ndarray:
        from scheduler_sim.simulation.rules.slurm.outages import has_any
        from scheduler_sim.simulation.rules.slurm.running import planned_ends

        numbers = {self._first + node for node in nodes}
        return np.array([row for row in planned_ends(self._core) if has_any(self._core, row, numbers)], int)


def _running(core: FullCore) -> np.ndarray:
    """Rows of running components, ascending."""
    rows = np.sort(np.asarray(core.heap)["row"][: core.clock.events])
    running: np.ndarray = rows[rows // KIND == 0]
    return running


def _running_or_suspended(core: FullCore) -> np.ndarray:
    """Rows of components that have nodes, ascending: under Slurm a suspended one has no event for its end."""
    if not has(core, "slurm"):
        return _running(core)
    from scheduler_sim.simulation.rules.slurm.running import planned_ends

    return np.array(list(planned_ends(core)), dtype=np.int64)
