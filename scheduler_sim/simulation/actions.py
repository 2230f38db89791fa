"""What the outside may do to a running simulation: submit, cancel, drain, fail, resume, wait.

Every action is noted and carried out in the core's next turn at the same instant, node
changes first, then cancellations, then submissions (rule 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import simpy

from scheduler_sim.engine import drive
from scheduler_sim.engine import state as slot
from scheduler_sim.engine.state import Core
from scheduler_sim.errors import InputError
from scheduler_sim.placement.table import Placements
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.scheme import Scheme
from scheduler_sim.simulation.streams import stream
from scheduler_sim.simulation.submissions import Batch, Edge, add_edges, append, batch_of, checked, edge_of
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

STATE_NAMES = {
    slot.UNSEEN: "NOT SUBMITTED",
    slot.HELD: "HELD",
    slot.WAITING: "WAITING",
    slot.RUNNING: "RUNNING",
    slot.COMPLETED: "COMPLETED",
    slot.TIMEOUT: "TIMEOUT",
    slot.FAILED: "FAILED",
    slot.CANCELLED: "CANCELLED",
    slot.REJECTED: "REJECTED",
}


class Actions:
    """The half of a Simulation that the outside acts on."""

    env: simpy.Environment
    system: System
    workload: Workload
    policy: Policy
    _core: Core
    _placements: Placements
    _scheme: Scheme
    _seed: int

    def _schedule_step(self) -> None:
        raise NotImplementedError

    def _prepare_actions(self) -> None:
        self._ids = self.workload["component_id"][self._placements.rows].tolist()
        self._row_of = {name: row for row, name in enumerate(self._ids)}
        self._next_id = max(self._ids, default=0) + 1
        self._batches: list[Batch] = []
        self._new_edges: list[Edge] = []
        self._node_changes: list[tuple[Any, ...]] = []
        self._cancellations: list[int] = []
        self._submissions: list[dict[str, Any]] = []
        self._waiting_for: dict[int, list[tuple[bool, simpy.Event]]] = {}
        self._failures = stream(self._seed, "failure")
        self._announcements = 0
        self._requeued = 0

    # -- actions -------------------------------------------------------------------------

    def submit(
        self,
        *,
        nodes: int,
        run_time: int,
        after: Sequence[int] = (),
        dependency_type: str = "AFTEROK",
        component_id: int | None = None,
        **fields: Any,
    ) -> int:
        """Submit a component now and return its id.

        Parameters
        ----------
        nodes : nodes; run_time : s
        after : ids of components it waits for, in the way of ``dependency_type``
        component_id : by default the next free number
        fields : any other column of a workload: ``time_limit`` (s), ``partition``, ``user``, ...

        Raises
        ------
        InputError for an id in use or not known, and for a field that is not allowed.
        """
        name = self._next_id if component_id is None else component_id
        if name in self._row_of:
            raise InputError(f"component_id: found {name}, which is in use")
        row = len(self._ids)
        edges = [edge_of(row, self._row(other), dependency_type) for other in after]
        self._submissions.append(
            checked({**fields, "component_id": name, "nodes": nodes, "run_time": run_time})
            | {"submit_time": int(self.env.now)}
        )
        self._new_edges += edges
        self._ids.append(name)
        self._row_of[name] = row
        self._next_id = max(name + 1, self._next_id)
        self._schedule_step()
        return name

    def cancel(self, component_id: int) -> None:
        """Cancel a component now, whether it runs, waits or has yet to be submitted."""
        self._cancellations.append(self._row(component_id))
        self._schedule_step()

    def drain(self, module: str, nodes: int, *, until: int | None = None) -> None:
        """Take nodes out of service as they become idle, idle ones now; back at ``until`` if announced."""
        self._change("drain", module, nodes, until)

    def fail(self, module: str, nodes: int = 1, *, requeue: bool = False, until: int | None = None) -> None:
        """Lose nodes drawn among all in service; components they hit end FAILED, or are requeued.

        The draw is from the stream ``failure``. Plans take the nodes as lost until ``resume``,
        or until the announced instant ``until``, at which they come back by themselves.
        """
        self._change("requeue" if requeue else "fail", module, nodes, until)

    def resume(self, module: str, nodes: int) -> None:
        """Put nodes back into service. Nodes that are not out of service are ignored."""
        self._change("resume", module, nodes, None)

    def set_capacity(self, resource: str, amount: int) -> None:
        """Change how much there is of a shared resource; what is in use stays in use."""
        names = [r.name for r in self.system.resources]
        if resource not in names:
            raise InputError(f"resource: found {resource!r}; allowed: {', '.join(names) or 'none declared'}")
        self._node_changes.append(
            ("capacity", len(self.system.modules) + names.index(resource), amount, None)
        )
        self._schedule_step()

    # -- observation -----------------------------------------------------------------------

    def started(self, component_id: int) -> simpy.Event:
        """Return an event that happens when the component starts (at once if it has)."""
        return self._watch(component_id, ended=False)

    def ended(self, component_id: int) -> simpy.Event:
        """Return an event that happens when the component ends in any state, also without having run."""
        return self._watch(component_id, ended=True)

    def state(self, component_id: int) -> str:
        """Return NOT SUBMITTED, HELD (by a dependency), WAITING, RUNNING or how it ended."""
        row = self._row(component_id)
        if row >= self._core.clock[slot.COMPONENTS]:
            return STATE_NAMES[slot.UNSEEN]
        return STATE_NAMES[int(self._core.comp[row].state)]

    def idle_nodes(self, module: str) -> int:
        """Nodes of a module that are in service and idle."""
        return int(self._core.pool[self.system.module_index(module)].free)

    def waiting(self) -> int:
        """Components in the queue."""
        return int(self._core.clock[slot.TAIL] - self._core.clock[slot.HEAD])

    # -- the core's turn ---------------------------------------------------------------------

    def _has_actions(self) -> bool:
        return bool(self._node_changes or self._cancellations or self._submissions)

    def _act(self) -> None:
        """Carry out what was noted; the core stands at this instant, its ends handled."""
        for kind, pool, amount, until in self._node_changes:
            self._change_nodes(kind, pool, amount, until)
        if self._submissions:
            self._append_submissions()
        for row in self._cancellations:
            state = self._core.comp[row].state
            if state == slot.RUNNING:
                drive.strike(self._core, row, slot.CANCELLED)
            elif state < slot.RUNNING:
                drive.abandon(self._core, row, slot.CANCELLED)
        self._node_changes, self._cancellations, self._submissions = [], [], []
        self._core.clock[slot.KICK] = 1

    def _change(self, kind: str, module: str, nodes: int, until: int | None) -> None:
        if nodes < 1 or nodes != int(nodes):
            raise InputError(f"nodes: found {nodes!r}; allowed: an integer >= 1")
        if until is not None and until <= self.env.now:
            raise InputError(f"until: found {until}; allowed: later than now, {self.env.now}")
        self._node_changes.append((kind, self.system.module_index(module), int(nodes), until))
        self._schedule_step()

    def _change_nodes(self, kind: str, pool: int, amount: int, until: int | None) -> None:
        core = self._core
        if kind == "capacity":
            used = int(sum(self._in_use(pool)))
            core.pool[pool].free = amount - used
            core.clock[slot.DIRTY] = core.clock[slot.EARLY] = core.clock[slot.LOST] = 1
            return
        if kind == "resume":
            drive.bring_back(core, pool, min(amount, int(core.pool[pool].down + core.pool[pool].draining)))
            return
        in_service = int(core.pool[pool].free + core.pool[pool].busy - core.pool[pool].draining)
        amount = min(amount, in_service)
        if kind in ("fail", "requeue"):
            self._strike_nodes(pool, amount, requeue=kind == "requeue")
        else:
            drive.take_down(core, pool, amount)
        if until is not None and amount:
            self._announce_return(pool, amount, until)

    def _strike_nodes(self, pool: int, nodes: int, *, requeue: bool) -> None:
        """Draw the nodes that fail: those of running components in row order, then the idle ones."""
        core = self._core
        rows = np.flatnonzero(core.comp["state"] == slot.RUNNING)
        placed = core.comp["placed"][rows]
        rows, placed = (
            rows[core.place["module"][placed] == pool],
            placed[core.place["module"][placed] == pool],
        )
        held = core.place["nodes"][placed]
        total = int(held.sum() + core.pool[pool].free)
        drawn = self._failures.choice(total, size=min(nodes, total), replace=False)
        hits = np.searchsorted(np.cumsum(held), drawn, side="right")
        idle = int(np.count_nonzero(hits == len(rows)))
        if idle:
            drive.take_down(core, pool, idle)
        for place in np.unique(hits[hits < len(rows)]):
            core.pool[pool].draining += np.count_nonzero(hits == place)
            core.clock[slot.LOST] = 1
            if requeue:
                drive.interrupt(core, int(rows[place]))
                self._requeued += 1
            else:
                drive.strike(core, int(rows[place]), slot.FAILED)

    def _announce_return(self, pool: int, nodes: int, until: int) -> None:
        self._announcements += 1
        name = -self._announcements
        if (
            self._core.pool[pool].release_tail - self._core.pool[pool].release_head
            >= self._core.release.shape[1] - 1
        ):
            raise InputError("more returns of nodes are announced at once than a simulation has room for")
        drive.announce(self._core, pool, nodes, until, name)

        def back() -> Any:
            yield self.env.timeout(until - self.env.now)
            drive.retract(self._core, pool, until, name)
            self._change("resume", self.system.modules[pool].name, nodes, None)

        self.env.process(back())

    def _in_use(self, pool: int) -> Sequence[int]:
        head, tail = self._core.pool[pool].release_head, self._core.pool[pool].release_tail
        return self._core.release["nodes"][pool, head:tail].tolist()

    def _append_submissions(self) -> None:
        batch = batch_of(self._submissions, self.system, only_first=self.policy.placement == "preferred")
        self._core, self._scheme = append(self._core, self._scheme, self.system, batch)
        self._batches.append(batch)
        if self._new_edges:
            new = [edge for edge in self._new_edges if edge[0] >= len(self._ids) - len(self._submissions)]
            self._core = add_edges(self._core, new)
        for row in self._waiting_for:
            self._core.comp[row].watch = 1

    def _row(self, component_id: int) -> int:
        row = self._row_of.get(component_id)
        if row is None:
            raise InputError(f"component_id: found {component_id!r}; there is no such component")
        return row

    def _watch(self, component_id: int, *, ended: bool) -> simpy.Event:
        row, event = self._row(component_id), self.env.event()
        if row < self._core.clock[slot.COMPONENTS]:
            state = self._core.comp[row].state
            if state > slot.RUNNING or (not ended and state == slot.RUNNING):
                return event.succeed(component_id)
            self._core.comp[row].watch = 1
        self._waiting_for.setdefault(row, []).append((ended, event))
        return event

    def _notify(self, rows: Sequence[int]) -> None:
        """Let the events happen that were waited for; what ends without starting releases both kinds."""
        for row in dict.fromkeys(rows):
            over = self._core.comp[row].state > slot.RUNNING
            remaining: list[tuple[bool, simpy.Event]] = []
            for ended, event in self._waiting_for.pop(row, []):
                if over or not ended:
                    event.succeed(self._ids[row])
                else:
                    remaining.append((ended, event))
            if remaining:
                self._waiting_for[row] = remaining
            else:
                self._core.comp[row].watch = 0
