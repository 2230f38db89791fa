"""Putting components on a system into the tables of the core: a whole trace, then what comes later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.core.records import Table
from scheduler_sim.engine.engine import FullCore, Sizes, blank, has
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy import order
from scheduler_sim.simulation.components import write_components, write_placements, write_request
from scheduler_sim.simulation.growth import with_room
from scheduler_sim.simulation.rules.numbers import Edge, Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm, tells_apart
from scheduler_sim.simulation.rules.table import rules_of
from scheduler_sim.simulation.scheme import Scheme
from scheduler_sim.workload.table import Workload

SPARE_RELEASES = 64
"""Room for announced returns of nodes; grown when more are announced."""


class Loader:
    """Writes components, and the numbers of every rule, into the core of one simulation.

    Attributes
    ----------
    scheme : how the core is driven, by what it holds
    """

    def __init__(self, run: Run, scheme: Scheme) -> None:
        self.run, self.scheme = run, scheme
        self._rules = list(rules_of(run))
        self.be_driven()
        self._rigid, self._used = True, 0

    def load(self, workload: Workload, placements: Placements) -> FullCore:
        """Return a core that holds the whole trace, nothing of it submitted yet."""
        rows, self._rigid = len(placements.rows), placements.rigid
        jobs = self._with_needs(Jobs(workload, placements))
        self._used = rows if self._rigid else len(placements.module)
        described = [rule.describe(jobs) for rule in self._rules]
        sizes = self._sizes(rows, self._used, placements.demand.shape[1])
        core = blank(sizes, self._needs(sizes), self.scheme.name)
        core.clock.jobs = rows
        core.clock.now = core.clock.origin = int(jobs.column("submit_time")[0]) if rows else 0
        self._put_system(core)
        core = self.scheme.write_rules(
            core,
            complex_components=not self._rigid or bool(self.run.units.members) or has(core, "holes"),
        )
        jobs = write_components(core, jobs, 0, self.scheme)
        for rule, found in zip(self._rules, described, strict=True):
            if has(core, rule.part):
                core = rule.write(rule.begin(core, jobs), jobs, found)
        return core

    def pattern(self, scheme: str) -> FullCore:
        """Return a core with all parts of the run, of this scheme, and next to no room."""
        resources = len(self.run.amounts)
        sizes = self._sizes(1, 1, resources)
        return self.scheme.with_fillers(blank(sizes, self._needs(sizes), scheme))

    def append(
        self, core: FullCore, workload: Workload, placements: Placements, edges: Sequence[Sequence[Edge]]
    ) -> FullCore:
        """Put components into the core, to be submitted at this instant after what the trace has.

        Raises ConfigError for a dialect that is not defined for them.
        """
        jobs = self._with_needs(Jobs(workload, placements, int(core.clock.jobs), edges=edges))
        if not placements.rigid:
            self.allow_several()
        self.look_at_each(core)
        if jobs.first == 0:
            core.clock.origin = core.clock.now
        described = [rule.describe(jobs) for rule in self._rules]
        used = self._used
        self._used += len(placements.module) if core.rules.complex else len(placements.rows)
        core = self._with_room(core, jobs.rows.stop)
        jobs = write_components(core, jobs, used, self.scheme)
        for rule, found in zip(self._rules, described, strict=True):
            if has(core, rule.part):
                core = rule.write(core, jobs, found)
        _arrive(core, jobs.rows)
        return core

    def rows_for(self, core: FullCore, row: int, placements: Placements) -> tuple[FullCore, slice]:
        """Return the core, and where in it other placements of a component may stand.

        In the rows of its old ones if they are enough, and nothing reads those any more.
        """
        first, last = int(core.jobs["first"][row]), int(core.jobs["last"][row])
        count, kept = len(placements.module), any(rule.reads_placements(core, row) for rule in self._in(core))
        if kept:
            self.allow_several()
        self.look_at_each(core)
        if count > last - first or kept:
            first, self._used = self._used, self._used + count
        return self._with_room(core, len(core.jobs)), slice(first, first + count)

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write what one component asks for instead of its request."""
        jobs = self._with_needs(jobs)
        write_placements(core, jobs.where, jobs.placements, self.scheme)
        for rule in self._in(core):
            core = rule.place_anew(core, jobs)
        write_request(core, jobs, self.scheme)
        return core

    def columns(self, core: FullCore, rows: int) -> dict[str, Any]:
        """Return the columns that rules add to the result, of so many components in the order of the core."""
        found: dict[str, Any] = {}
        for rule in self._in(core):
            found |= rule.columns(core, rows)
        return found

    def rule(self, part: str) -> Any:
        """Return what writes the numbers of a part, which the run may have."""
        return next(one for one in self._rules if one.part == part)

    def be_driven(self, core: FullCore | None = None) -> None:
        """Have cores driven by what calls the scheduler of the user's own, where there is one: this, too."""
        if self.caller:
            self.caller.trace.reserved = self.reservations and self.reservations.book
            self.scheme = replace(self.scheme, drive=self.caller.drive)
            if core is not None:
                self.caller.look_at(core)

    @property
    def caller(self) -> Any:
        """What calls the scheduler of the user's own that makes the passes; None without one."""
        return None if self.run.policy.scheduler is None else self.rule("own_scheduler").caller

    @property
    def reservations(self) -> Any:
        """What knows the advance reservations of the run; None without any."""
        return next(
            (one for one in self._rules if one.part in ("reservations", "holes") and one.needed), None
        )

    def with_rule(self, core: FullCore, part: str) -> FullCore:
        """Return the core with the part of a rule that it may not have needed up to now."""
        for rule in self._rules:
            rule.needed |= rule.part == part
        return self._with_room(core, len(core.jobs))

    def allow_several(self) -> None:
        """Have the core driven so that components may have several placements, or need shared resources.

        Raises ConfigError for a dialect that is not defined for them.
        """
        if self._rigid:
            self.scheme, self._rigid = self.scheme.for_several(), False

    def look_at_each(self, core: FullCore) -> None:
        """Tell the core once that components may have several placements."""
        if not self._rigid and not core.rules.complex:
            drive.look_at_each(core)

    def _with_needs(self, jobs: Jobs) -> Jobs:
        """Several rules of Slurm's read what placements need of shared nodes: it is worked out once."""
        if not shares_under_slurm(self.run.system, self.run.policy):
            return jobs
        from scheduler_sim.simulation.rules.slurm_needs import Needs

        return jobs._replace(needs=Needs(jobs, self.run.system, self.run.policy))

    def _put_system(self, core: FullCore) -> None:
        """All nodes idle, all shared resources free."""
        modules = self.run.system.modules
        for i, module in enumerate(modules):
            core.pools[i].free = core.pools[i].short_free = module.nodes
            core.pools[i].short_since = core.clock.now
            core.pools[i].cost = module.cost_per_node
        for i, amount in enumerate(self.run.amounts, len(modules)):
            core.pools[i].free = amount

    def _sizes(self, rows: int, placements: int, resources: int) -> Sizes:
        """Room for so many components on this system."""
        nodes = [module.nodes for module in self.run.system.modules]
        most = (
            rows if tells_apart(self.run.system, self.run.policy) else min(rows, sum(nodes))
        )  # jobs that run at once
        running = max(most, 1) + SPARE_RELEASES
        return Sizes(
            rows=max(rows, 1),
            placements=max(placements, 1),
            modules=len(nodes),
            pools=len(nodes) + resources,
            nodes=max(nodes),
            columns=len(order.COLUMNS),
            releases=running,
            profile=running + 4 * rows + 8,
            timeline=2 * rows + 8 * len(nodes) + 1024,
        )

    def _in(self, core: FullCore) -> list[Numbers]:
        """The rules that a core has."""
        return [rule for rule in self._rules if has(core, rule.part)]

    def _needs(self, sizes: Sizes) -> dict[str, Any]:
        return {rule.part: rule.room(sizes) for rule in self._rules if rule.needed}

    def _with_room(self, core: FullCore, rows: int) -> FullCore:
        """Return the core with room for so many components and all placements, and the parts it needs."""
        there = all(has(core, rule.part) for rule in self._rules if rule.needed)
        if there and rows <= len(core.jobs) and self._used <= len(core.placements):
            return core
        rows, used = _room(rows, core.jobs), _room(self._used, core.placements)
        sizes = self._sizes(rows, used, core.demand.shape[1])
        return with_room(core, sizes, self._needs(sizes))


def _room(needed: int, table: Table[Any]) -> int:
    """Return how long a table is to be: as it is, or with room for as many again."""
    return len(table) if needed <= len(table) else 2 * needed


def _arrive(core: FullCore, rows: slice) -> None:
    """Let components arrive at this instant, behind what the trace submits at it."""
    arrivals, submit, place = core.queue.arrivals, core.jobs["submit"], int(core.queue.at.seen)
    at, count = rows.start, rows.stop - rows.start
    while place < at and submit[arrivals[place]] <= core.clock.now:
        place += 1
    arrivals[place + count : rows.stop] = arrivals[place:at].copy()
    arrivals[place : place + count] = np.arange(at, rows.stop)
    core.clock.jobs = rows.stop
