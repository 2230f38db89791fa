"""Nodes that leave service and come back, by one book of reasons, and limits that change (rule 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.result.columns import NODE_FAIL
from scheduler_sim.simulation.growth import announce
from scheduler_sim.simulation.load import Loader
from scheduler_sim.simulation.lost import LostRun, run_to_lose
from scheduler_sim.simulation.node_book import NodeBook, Reason
from scheduler_sim.simulation.nodes_in_core import ModuleNodes, nodes_in

if TYPE_CHECKING:
    from scheduler_sim.simulation.power_cap import PowerCap

NOT_THERE = "nodes_not_there"
"""In the counts: nodes of which more were to leave service than were in it, or to come back than were out."""

ANNOUNCED = -1
"""Name of announced returns among planned ends, where those of a module at one time are one."""


class Change(NamedTuple):
    """What is done to a pool.

    ``kind``: ``drain``, ``fail``, ``requeue``, ``resume``, ``return``, ``capacity``, or ``cap``. ``amount``
    is in nodes, or the new capacity, or the instant at which the power cap changes; ``until`` is when the
    nodes are announced to be back, and the ``amount`` of a ``return`` the number of the reason that ends.
    """

    kind: str
    pool: int
    amount: int
    until: int | None = None


class Outage(NamedTuple):
    """What takes nodes of a module out of service.

    Attributes
    ----------
    module : its number
    nodes : which, by their numbers in the module; none: ``size`` nodes, whichever
    size : how many
    down : whether the jobs on them are stopped; else they go on, and the nodes leave as they become idle
    requeue : whether stopped jobs wait again, or end FAILED
    """

    module: int
    nodes: tuple[int, ...] = ()
    size: int = 0
    down: bool = False
    requeue: bool = False


class Outages:
    """Node and limit changes of one simulation, carried out on its core at an instant.

    All that takes nodes out of service is noted in one book, and the core is told of what follows from it:
    which nodes have left service, and which are back.

    Attributes
    ----------
    requeued : components that failures sent back into the queue
    lost : the runs that they had
    ended : the runs that failures ended for good, by row and start, s
    not_there : see NOT_THERE
    """

    def __init__(
        self, loader: Loader, failures: np.random.Generator, cap: PowerCap | None, lost: list[LostRun]
    ) -> None:
        run = loader.run
        self._loader, self._failures, self._cap, self.lost = loader, failures, cap, lost
        self._nodes = [module.nodes for module in run.system.modules]
        self._declared, self._capacity = run.amounts, list(run.amounts)
        self._book = NodeBook(self._nodes)
        self._announced: list[dict[int, list[int]]] = [{} for _ in self._nodes]  # what plans know
        self._actions = 0
        self.ended: set[tuple[int, int]] = set()
        self.requeued = self.not_there = 0

    @property
    def awaited(self) -> bool:
        """Whether nodes are known to come back, or the cap will change."""
        return self._book.any_will_return or (self._cap is not None and self._cap.is_to_change)

    @property
    def withheld(self) -> bool:
        """Whether nodes are out of service, a resource is below what was declared, or the cap will change."""
        if self._cap is not None and self._cap.is_to_change:
            return True
        return self._book.any_is_out or any(map(int.__lt__, self._capacity, self._declared))

    def carry_out(self, core: FullCore, change: Change) -> tuple[FullCore, Change | None]:
        """Change the nodes or the limit; returns the core, and the return that was announced."""
        kind, pool, amount, until = change
        if kind == "capacity":
            self._set_capacity(core, pool, amount)
        elif kind == "cap":
            if self._cap is not None:
                self._cap.step(core)
        elif kind == "resume":
            return self.resume(core, pool, (), amount), None
        elif kind == "return":
            return self.end(core, amount), None
        else:
            self._actions += 1
            reason = Reason(-self._actions, until, announced=until is not None)
            outage = Outage(pool, (), amount, down=kind != "drain", requeue=kind == "requeue")
            core = self.take(core, outage, reason)
            if until is not None:
                return core, Change("return", pool, reason.number, until)
        return core, None

    def take(self, core: FullCore, outage: Outage, reason: Reason) -> FullCore:
        """Take nodes out of service that nothing else keeps out, and stop the jobs on those that go down."""
        module = outage.module
        core, there = self._nodes_in(core, module)
        nodes = outage.nodes or self._chosen(there, outage)
        new = self._book.take(module, nodes, reason)
        if outage.down:
            rows = there.take_down(new, nodes, self._failures)
            self._stop(core, rows, requeue=outage.requeue)
        else:
            there.take_out(new)
        return self._announce(core, module, fewer=True)

    def end(self, core: FullCore, number: int) -> FullCore:
        """End a reason: the nodes are back that no other one keeps out."""
        return self._put_back(core, *self._book.end(number))

    def resume(self, core: FullCore, module: int, nodes: Sequence[int], count: int = 0) -> FullCore:
        """Bring nodes back, whatever keeps them out: these, or so many.

        Then those first that would be back last, or never; of equal ones those that a job still has, then the
        first.
        """
        if not nodes:
            out = self._book.out(module)
            core, there = self._nodes_in(core, module)
            nodes = self._book.latest_due(module, count, prefer=there.still_busy(out))
            self.not_there += count - len(nodes)
        return self._put_back(core, module, self._book.resume(module, nodes))

    def _chosen(self, there: ModuleNodes, outage: Outage) -> list[int]:
        """The nodes that leave service where only their number is said; as many as there are at most."""
        candidates = self._book.in_service(outage.module)
        count = min(outage.size, len(candidates))
        self.not_there += outage.size - count
        if outage.down:
            return there.draw(candidates, count, self._failures)
        return there.in_order(candidates)[:count]

    def _put_back(self, core: FullCore, module: int, nodes: Sequence[int]) -> FullCore:
        core, _ = self._nodes_in(core, module)
        core = self._announce(core, module)
        nodes_in(core, module, self._nodes[module]).put_back(nodes)
        return core

    def _nodes_in(self, core: FullCore, module: int) -> tuple[FullCore, ModuleNodes]:
        """The nodes of a module, and the core, which may have to know them one by one from now on."""
        if has(core, "slurm") and not has(core, "shared_nodes"):
            core = self._loader.with_rule(core, "outages")
        return core, nodes_in(core, module, self._nodes[module])

    def _announce(self, core: FullCore, module: int, *, fewer: bool = False) -> FullCore:
        """Have plans know when nodes will be back, by the book as it is now; ``fewer`` may be."""
        found, known = self._book.announced(module), self._announced[module]
        if found == known:
            return core
        for time in [time for time, nodes in known.items() if found.get(time) != nodes]:
            drive.retract(core, module, time, ANNOUNCED)
        for time, nodes in sorted(found.items()):
            if known.get(time) != nodes:
                core = announce(core, module, len(nodes), time, ANNOUNCED)
        self._announced[module] = found
        nodes_in(core, module, self._nodes[module]).announce(found)
        if not has(core, "slurm"):  # whose plans do not know
            core.clock.dirty = core.clock.early = 1
            core.clock.lost |= fewer
        return core

    def _stop(self, core: FullCore, rows: np.ndarray, *, requeue: bool) -> None:
        """Stop running components, in the order of their rows; some end with another one of their job."""
        for row in rows.tolist():
            if core.jobs[row].state != slot.RUNNING:
                continue
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


def outage_warnings(counts: Mapping[str, Any]) -> list[str]:
    """Return what a reader should know first of nodes that were to leave service, or come back."""
    if not (missing := int(counts.get(NOT_THERE, 0))):
        return []
    words = "node was" if missing == 1 else "nodes were"
    return [f"{missing:,} {words} to leave service or come back by events or actions, and not there to do so"]
