"""Actions on a running simulation: submit, operate on components and nodes, wait.

Every action is recorded and carried out when the core next runs at the same instant: node changes first, then
actions on single components, then submissions (rule 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import simpy

from scheduler_sim.energy.accounting import MILLI, MOST_MILLIWATTS
from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.engine import has
from scheduler_sim.errors import ConfigError, InputError, did_you_mean
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.awaiting import Awaiting
from scheduler_sim.simulation.load import Loader
from scheduler_sim.simulation.lost import LostRun
from scheduler_sim.simulation.node_events import Happening, NodeEvents
from scheduler_sim.simulation.operations import UPDATES, Operation, Operations
from scheduler_sim.simulation.outages import Change, Outages
from scheduler_sim.simulation.requests import PLACED_BY, Requests
from scheduler_sim.simulation.rules.dependencies import edge_of
from scheduler_sim.simulation.slowed import SlowedSpan
from scheduler_sim.simulation.submissions import Submissions
from scheduler_sim.simulation.suspended import Suspended
from scheduler_sim.streams import stream
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

if TYPE_CHECKING:
    from scheduler_sim.applications.models import Models

CHANGED_LIMITS = "with models, since a changed limit would apply to all modules"
"""Why limits do not change where run times differ by module."""


class Actions(Awaiting):
    """The part of a Simulation that processes act on."""

    system: System
    workload: Workload
    policy: Policy
    models: Models | None
    _placements: Placements
    _placed: Callable[[Workload], Placements]
    _loader: Loader
    _seed: int
    _waiting_for: dict[int, list[tuple[bool, simpy.Event]]]

    def _prepare_actions(self) -> None:
        self._streams: dict[str, np.random.Generator] = {}
        self._submissions = Submissions(
            self._loader, self._placed, self.workload, self._placements, self.models
        )
        self._lost: list[LostRun] = []
        self._suspended: list[Suspended] = []
        self._slowed: list[SlowedSpan] = []
        self._preempted = 0  # runs that were requeued to make room
        self._outages = Outages(self._loader, self.stream("failure"), self._cap, self._lost)
        self._changes: list[Change] = []
        self._events = NodeEvents(self.system, self._outages)
        self._happening: list[Happening] = []
        self._returning: list[Change] = []  # announced, by when they were; some may have been resumed since
        self._requests = Requests(self._submissions, self._loader, self._lost)
        self._operations = Operations(self._loader, self._submissions, self._lost, self._requests)
        self._operating: list[Operation] = []
        self._reservations = self._loader.reservations
        self._reserving = False

    # Names are looked up for processes that act only: a million of them cost time and memory.

    @cached_property
    def _ids(self) -> list[int]:
        ids: list[int] = self.workload["component_id"][self._placements.rows].tolist()
        return ids

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {name: row for row, name in enumerate(self._ids)}

    @cached_property
    def _next_id(self) -> int:
        columns = (self.workload[name] for name in ("component_id", "modular_job_id"))
        return max(0, *(int(column.max(initial=0)) for column in columns)) + 1

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
        after : ids of components for which it waits, by ``dependency_type``; with the type SINGLETON, without
            ids, it waits for all components of the same user and name
        component_id : by default the next free number
        fields : any other column of a workload: ``time_limit`` (s), ``partition``, ``user``,
            ``begin_time`` (s), ``hold``, ...

        Raises
        ------
        InputError for an id that is in use or unknown, and for a field that is not allowed.
        """
        name = self._next_id if component_id is None else component_id
        if name in self._row_of:
            raise InputError(f"component_id: found {name}, which is in use")
        alone = str(dependency_type).upper() == "SINGLETON" and not after
        row = len(self._ids)
        edges = [edge_of(row, self._row(other), dependency_type) for other in dict.fromkeys(after)]
        given = {**fields, "component_id": name, "nodes": nodes, "run_time": run_time}
        self._submissions.note(given, self._now(), edges, alone=alone)
        self._ids.append(name)
        self._row_of[name] = row
        self._next_id = max(name + 1, self._next_id)
        self._schedule_step()
        return name

    def cancel(self, component_id: int) -> None:
        """Cancel a component that is running, waiting or not yet submitted; no effect after its end."""
        self._operate("cancel", component_id)

    def hold(self, component_id: int) -> None:
        """Prevent a component that has not started from starting until it is released."""
        self._operate("hold", component_id)

    def release(self, component_id: int) -> None:
        """Undo a hold: the component is eligible now, unless a dependency or a begin time holds it, too.

        Under policy slurm the priority of a waiting component is computed again, whether it was held or not:
        under priority/basic it goes to the end of the queue. Under other policies
        it takes its place in the order as if it had never been held.
        """
        self._operate("release", component_id)

    def requeue(self, component_id: int) -> None:
        """Stop a running component, or take one that has ended, and let it run again.

        Its submit time does not change, and the run is lost; components that depend on it and have not been
        released wait for its next end. Under policy slurm its nodes come back after KillWait
        (and ``killed_epilog_s``); it counts as submitted then, keeps its priority, and is
        eligible ``requeue_delay_s`` later. Under other policies it waits again at once.
        """
        self._operate("requeue", component_id)

    def update(
        self,
        component_id: int,
        *,
        time_limit: int | None = None,
        priority: int | None = None,
        nice: int | None = None,
        begin_time: int | None = None,
        partition: str | None = None,
        nodes: int | None = None,
    ) -> None:
        """Change what a component that has not ended asks for.

        Parameters
        ----------
        time_limit : s, also for a running component: its planned end moves, and it is killed at the new
            limit, at the earliest now. Under policy slurm in minutes, rounded up. It may exceed the MaxTime
            of the partition.
        priority : policy slurm: its priority from now on, which only a release computes again; 0 is a hold,
            any other value releases it
        nice : policy slurm: its priority falls by as much as nice grows
        begin_time : s on the trace's clock: not eligible before
        partition : for a component that has yet to start, on its own: one, or several as in a trace
        nodes : likewise. It gets new placements, as if it had been submitted so; everything else it was
            submitted with, including its submit time, does not change; its reservation is cancelled

        Raises
        ------
        InputError for a value that is not allowed, such as a partition or a number of nodes with which it
        could never run; ConfigError for a value that has no meaning here.
        """
        where = self._requests.checked({"partition": partition, "nodes": nodes})
        if time_limit is not None and self.models is not None and self.models.change_times:
            raise ConfigError(
                f"time_limit: found {time_limit} {CHANGED_LIMITS}; allowed here: other fields, or"
                " models that leave times as they are"
            )
        fields = {"time_limit": time_limit, "priority": priority, "nice": nice, "begin_time": begin_time}
        given, row = self._operations.checked(self._core, fields), self._row(component_id)
        if not given and not where:
            raise InputError(f"update: nothing given; allowed: {', '.join((*UPDATES, *PLACED_BY))}")
        if where:
            limits = {"time_limit": given["time_limit"]} if "time_limit" in given else {}
            placements = self._requests.placed(self._core, row, where | limits)
            self._operating.append(Operation("place", row, placements=placements))
        if "time_limit" in given:
            self._requests.limited(row, given["time_limit"])
        for name, value in given.items():
            self._operate(name, component_id, value)
        self._schedule_step()

    def drain(self, module: str, nodes: int, *, until: int | None = None) -> None:
        """Take nodes out of service as they become idle, idle ones now; they return at ``until`` if given."""
        self._change("drain", module, nodes, until)

    def fail(self, module: str, nodes: int = 1, *, requeue: bool = False, until: int | None = None) -> None:
        """Lose nodes, drawn among all in service; components on them end FAILED, or are requeued.

        The draw is from the stream ``failure``. Plans treat the nodes as lost until ``resume``, or until the
        announced instant ``until``, at which they come back automatically.

        Raises ConfigError where components may be suspended for others: several may then hold one node.
        """
        if has(self._core, "suspending"):
            raise ConfigError("policy.preempt.how: found suspend beside fail; allowed: requeue, cancel")
        self._change("requeue" if requeue else "fail", module, nodes, until)

    def resume(self, module: str, nodes: int) -> None:
        """Put nodes back into service: those without an announced return first, and at most those that are
        out."""
        self._change("resume", module, nodes, None)

    def set_capacity(self, resource: str, amount: int) -> None:
        """Change the amount of a shared resource; what is in use stays in use."""
        names = [r.name for r in self.system.resources]
        if resource not in names:
            hint = did_you_mean(str(resource), names)
            raise InputError(
                f"resource: found {resource!r}; allowed: {', '.join(names) or 'none declared'}{hint}"
            )
        amount = _whole("amount", amount, 0)
        self._note(Change("capacity", len(self.system.modules) + names.index(resource), amount))

    def set_cap(self, watts: float) -> None:
        """Change the power cap of the models (W, all nodes); running jobs continue, and none starts above it.

        Raises InputError without a cap in the models, ConfigError if the cap is a series.
        """
        if self._cap is None:
            raise InputError("set_cap: found no energy.cap in the models; allowed: models with one")
        most = MOST_MILLIWATTS / MILLI
        if isinstance(watts, bool) or not isinstance(watts, int | float) or not 0 <= watts <= most:
            raise InputError(f"watts: found {watts!r}; allowed: a number from 0 to {most:g}")
        self._note(Change("capacity", self._cap.pool, self._cap.change(self._now(), float(watts))))

    # -- observation -----------------------------------------------------------------------

    def started(self, component_id: int) -> simpy.Event:
        """Return an event that happens when the component starts (at once if it has).

        It also happens when the component ends without having started: see ``state``.
        Its value is the id.
        """
        return self._watch(component_id, ended=False)

    def ended(self, component_id: int) -> simpy.Event:
        """Return an event that happens when the component ends in any state, also without having run."""
        return self._watch(component_id, ended=True)

    def state(self, component_id: int) -> str:
        """Return NOT SUBMITTED, HELD (by hand, a dependency, ...), WAITING, RUNNING or how it ended."""
        row = self._row(component_id)
        if row >= self._core.clock.jobs:
            return slot.STATE_NAMES[slot.UNSEEN]
        return slot.STATE_NAMES[self._core.jobs[row].state]

    def idle_nodes(self, module: str) -> int:
        """Nodes of a module that are in service and idle."""
        return int(self._core.pools[self.system.module_index(module)].free)

    def waiting(self) -> int:
        """Components in the queue."""
        return int(self._core.queue.at.tail - self._core.queue.at.head)

    def stream(self, purpose: str) -> np.random.Generator:
        """Return the random stream of that name under the simulation's seed.

        Streams of different names are independent: a new one does not change the draws of others. ``fail``
        uses the stream ``failure``.
        """
        if purpose not in self._streams:
            self._streams[purpose] = stream(self._seed, purpose)
        return self._streams[purpose]

    # -- the core's turn ---------------------------------------------------------------------

    def _has_actions(self) -> bool:
        noted = self._happening or self._changes or self._reserving or self._operating
        return bool(noted or self._submissions.noted)

    def _act(self) -> None:
        """Carry out what was noted; the core stands at this instant, its ends handled."""
        for happening in self._happening:
            self._core = self._events.carry_out(self._core, happening)
        for change in self._changes:
            self._core, coming = self._outages.carry_out(self._core, change)
            if coming is not None:
                self._returning.append(coming)
                self._await_return(coming)
        if self._submissions.noted:
            self._append_submissions()
        self._reserve()
        for operation in self._operating:
            self._core = self._operations.carry_out(self._core, operation)
        self._core = self._loader.scheme.put(self._core)
        self._changes, self._operating, self._happening = [], [], []
        self._core.clock.pass_requested = 1

    def _reserve(self) -> None:
        """Do what is due about advance reservations."""
        if self._reserving and self._reservations is not None:
            self._reserving = False
            self._core = self._reservations.carry_out(self._core)
            self._await_reservations()

    def _append_submissions(self) -> None:
        """Tell the core of what is submitted at this instant, which comes after all other actions."""
        rows = range(int(self._core.clock.jobs), len(self._ids))
        self._core = self._submissions.append(self._core)
        for row in rows:
            if row in self._waiting_for:
                self._core.jobs["watch"][row] = 1

    def _change(self, kind: str, module: str, nodes: int, until: int | None) -> None:
        nodes = _whole("nodes", nodes, 1)
        if until is not None:
            until = _whole("until, which must be later than now", until, self._now() + 1)
        self._note(Change(kind, self.system.module_index(module), nodes, until))

    def _operate(self, kind: str, component_id: int, value: int = 0) -> None:
        self._operating.append(Operation(kind, self._row(component_id), value))
        self._schedule_step()

    def _row(self, component_id: int) -> int:
        row = self._row_of.get(component_id)
        if row is None:
            raise InputError(
                f"component_id: found {component_id!r}; allowed: the id of a component of this simulation"
            )
        return row

    def _watch(self, component_id: int, *, ended: bool) -> simpy.Event:
        row, event = self._row(component_id), self.env.event()
        if row < self._core.clock.jobs:
            state = self._core.jobs[row].state
            if state > slot.RUNNING or (not ended and state == slot.RUNNING):
                return event.succeed(component_id)
            self._core.jobs["watch"][row] = 1
        self._waiting_for.setdefault(row, []).append((ended, event))
        return event

    def _notify(self, rows: Sequence[int]) -> None:
        """Let the events happen that were waited for; what ends without starting releases both kinds."""
        for row in dict.fromkeys(rows):
            state = self._core.jobs[row].state
            remaining = []
            for ended, event in self._waiting_for.pop(row, []):
                if state > slot.RUNNING or (state == slot.RUNNING and not ended):
                    event.succeed(self._ids[row])
                else:
                    remaining.append((ended, event))
            if remaining:
                self._waiting_for[row] = remaining
            else:
                self._core.jobs["watch"][row] = 0


def _whole(what: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or value != int(value):
        raise InputError(f"{what}: found {value!r}; allowed: a whole number")
    if value < least:
        raise InputError(f"{what}: found {value}; allowed: {least} or more")
    return int(value)
