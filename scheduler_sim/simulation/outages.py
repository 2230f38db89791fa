"""Nodes that leave service and come back, and limits that change (rule 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.core.events import KIND
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.result.columns import NODE_FAIL
from scheduler_sim.simulation.growth import announce
from scheduler_sim.simulation.lost import LostRun, run_to_lose
from scheduler_sim.simulation.pools import modules_of
from scheduler_sim.simulation.rules.numbers import Run
from scheduler_sim.simulation.rules.power_saving import nodes_off
from scheduler_sim.simulation.rules.shared_nodes import in_service, running_on, take_nodes_down

if TYPE_CHECKING:
    from scheduler_sim.simulation.power_cap import PowerCap


class Change(NamedTuple):
    """What is done to a pool.

    ``kind``: ``drain``, ``fail``, ``requeue``, ``resume``, ``return``, ``capacity``, or ``cap``. ``amount``
    is in nodes, or the new capacity, or the instant at which the power cap changes; ``until`` is when the
    nodes are announced to be back, and of a ``return`` the name of the announcement.
    """

    kind: str
    pool: int
    amount: int
    until: int | None = None


class Return(NamedTuple):
    """An announced return of nodes."""

    pool: int
    nodes: int
    until: int


class Outages:
    """Node and limit changes of one simulation, carried out on its core at an instant.

    Attributes
    ----------
    requeued : components that failures sent back into the queue
    lost : the runs that they had
    ended : the runs that failures ended for good, by row and start, s
    """

    def __init__(
        self, run: Run, failures: np.random.Generator, cap: PowerCap | None, lost: list[LostRun]
    ) -> None:
        self._failures, self._cap, self.lost = failures, cap, lost
        self._nodes = [module.nodes for module in run.system.modules]
        self._declared, self._capacity = run.amounts, list(run.amounts)
        self._returns: dict[int, Return] = {}  # by name, which is negative
        self._names = 0
        self.ended: set[tuple[int, int]] = set()
        self.requeued = 0

    def in_service(self, core: FullCore, module: int) -> int:
        """Nodes of a module that are in service, and stay there."""
        return self._nodes[module] - _out_of_service(core, module)

    def resume(self, core: FullCore, module: int, nodes: int) -> None:
        """Bring back so many nodes, if as many are out."""
        self._resume(core, module, min(nodes, _out_of_service(core, module)))

    def take_counted(self, core: FullCore, module: int, nodes: int, *, down: bool, requeue: bool) -> None:
        """Take nodes out of service of which only the number is known; those that go down hit components."""
        nodes = min(nodes, self.in_service(core, module))
        if down:
            self.strike(core, module, nodes, requeue=requeue)
        else:
            drive.take_down(core, module, nodes)

    @property
    def awaited(self) -> bool:
        """Whether nodes are announced to be back, or the cap will change."""
        return bool(self._returns) or (self._cap is not None and self._cap.is_to_change)

    def withheld(self, core: FullCore) -> bool:
        """Whether nodes are out of service, a resource is below what was declared, or the cap will change."""
        if self._cap is not None and self._cap.is_to_change:
            return True
        if any(map(int.__lt__, self._capacity, self._declared)):
            return True
        return any(_out_of_service(core, module) for module in range(len(self._nodes)))

    def carry_out(self, core: FullCore, change: Change) -> tuple[FullCore, Change | None]:
        """Change the nodes or the limit; returns the core, and the return that was announced."""
        kind, pool, amount, until = change
        if kind == "capacity":
            self._set_capacity(core, pool, amount)
        elif kind == "cap":
            if self._cap is not None:
                self._cap.step(core)
        elif kind == "resume":
            self.resume(core, pool, amount)
        elif kind == "return":
            self._return(core, amount)
        else:
            amount = min(amount, self.in_service(core, pool))
            if kind == "drain":
                drive.take_down(core, pool, amount)
            else:
                self.strike(core, pool, amount, requeue=kind == "requeue")
            if until is not None and amount:
                return self._announce(core, Return(pool, amount, until))
        return core, None

    def strike(self, core: FullCore, module: int, nodes: int, *, requeue: bool) -> None:
        """Draw the nodes that fail: those of running components in row order, idle ones, those off, the rest.

        The rest still does its epilog, boots or shuts down. A node that was to leave service anyway can be
        drawn; one more of the others leaves then.
        """
        place, pool = np.asarray(core.placements), core.pools[module]
        rows = np.sort(np.asarray(core.heap)["row"][: core.clock.events])
        rows = rows[rows // KIND == 0]
        placed = np.asarray(core.jobs)["placed"][rows]
        mine = modules_of(core)[place["module"][placed]] == module
        rows, held = rows[mine], place["nodes"][placed[mine]]
        if has(core, "shared_nodes") and (there := in_service(core, module)) is not None:
            failed = self._failures.choice(there, size=nodes, replace=False)
            take_nodes_down(core, failed)
            self.stop(core, running_on(core, rows, failed), requeue=requeue)
            return
        drawn = self._failures.choice(self._nodes[module] - int(pool.down), size=nodes, replace=False)
        off = nodes_off(core, module)
        hits = np.searchsorted(np.cumsum([*held, pool.free, off]), drawn, side="right")
        in_use = self._nodes[module] - int(pool.down + pool.free) - off
        idle, asleep = (int(np.count_nonzero(hits == len(rows) + i)) for i in (0, 1))
        leaving = min(nodes - idle - asleep, in_use - int(pool.draining))
        if asleep:
            drive.take_down_off(core, module, asleep)
        drive.take_down(core, module, nodes - asleep - leaving)  # as many are idle
        pool.draining += leaving
        self.stop(core, rows[np.unique(hits[hits < len(rows)])], requeue=requeue)

    def stop(self, core: FullCore, rows: np.ndarray, *, requeue: bool) -> None:
        """Stop running components, in the order of their rows."""
        for row in rows.tolist():
            if requeue:
                self.lost += [run._replace(ended=NODE_FAIL) for run in run_to_lose(core, row)]
                drive.interrupt(core, row)
                self.requeued += 1
            else:
                self.ended.add((row, int(core.jobs[row].start)))
                drive.strike(core, row, slot.FAILED)

    def _set_capacity(self, core: FullCore, pool: int, amount: int) -> None:
        before = self._capacity[pool - len(self._nodes)]
        core.pools[pool].free += amount - before
        core.clock.dirty = core.clock.early = 1
        core.clock.lost |= amount < before
        self._capacity[pool - len(self._nodes)] = amount

    def _announce(self, core: FullCore, back: Return) -> tuple[FullCore, Change]:
        self._names -= 1
        self._returns[self._names] = back
        core = announce(core, back.pool, back.nodes, back.until, self._names)
        return core, Change("return", back.pool, self._names, back.until)

    def _return(self, core: FullCore, name: int) -> None:
        """The announced instant has come; nodes resumed before are back already."""
        back = self._returns.pop(name, None)
        if back is not None:
            drive.retract(core, back.pool, back.until, name)
            drive.bring_back(core, back.pool, back.nodes)

    def _resume(self, core: FullCore, pool: int, nodes: int) -> None:
        """Bring back nodes without an announced return first, then those announced to be back last."""
        mine = {name: back for name, back in self._returns.items() if back.pool == pool}
        early = nodes - (_out_of_service(core, pool) - sum(back.nodes for back in mine.values()))
        for name, back in sorted(mine.items(), key=lambda item: item[1].until, reverse=True):
            if early <= 0:
                break
            drive.retract(core, pool, back.until, name)
            del self._returns[name]
            if back.nodes > early:
                self._returns[name] = back._replace(nodes=back.nodes - early)
                drive.announce(core, pool, back.nodes - early, back.until, name)
            early -= back.nodes
        drive.bring_back(core, pool, nodes)


def _out_of_service(core: FullCore, pool: int) -> int:
    """Nodes that are down, or leave service as they become idle."""
    return int(core.pools[pool].down + core.pools[pool].draining)
