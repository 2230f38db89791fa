"""Advance reservations under all policies but Slurm's: holes in the plan, and who may run in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.state import INF, REJECTED, RUNNING, UNSEEN, WAITING
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules import holes
from scheduler_sim.engine.rules.holes import HoleSizes
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.simulation.pools import modules_of
from scheduler_sim.simulation.reserved import reservations_told
from scheduler_sim.simulation.rules.hole_book import HoleBook, Runs
from scheduler_sim.simulation.rules.hole_plan import HolePlan
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.turns import longest_stay, repeats
from scheduler_sim.simulation.standing import (
    ALLOWED,
    DELETED,
    DENIED,
    INVALID,
    REASONS,
    TOO_LARGE,
    Answer,
    Standing,
    Submitter,
    groups_of,
    make_standing,
    operators,
)
from scheduler_sim.system.reservations import FLAGS_OF_SLURM, ReservationChangeKeys, ReservationKeys
from scheduler_sim.texts import TextColumn
from scheduler_sim.units import DAY
from scheduler_sim.workload.fields import TOGETHER

IN_VAIN_S = 14 * DAY
"""If nothing has happened for so long but turns, none will help those that wait."""


class Holes(Numbers):
    """Tells the core what is reserved of each module, now and later, and which components are for which."""

    part = "holes"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = bool(run.system.reservations)
        self._modules = len(run.system.modules)
        self._names: list[str] = []
        self._by: list[Submitter] = []
        self._operators: list[tuple[int, ReservationKeys | ReservationChangeKeys]] = []
        self._has_begun, self._seen, self._last_news = False, -INF, -INF
        if self.needed:
            self.book = HoleBook(run.system)
            self._plan = HolePlan(self.book.most, self._modules)
            self._refuse_what_is_not_there()

    def _refuse_what_is_not_there(self) -> None:
        found = f"system.reservations: found {len(self.run.system.reservations)}"
        where = {
            "where idle nodes are switched off": self.run.switching is not None,
            "with policy.preempt": self.run.policy.preempt is not None,
            "with policy.extend_job: grant": self.run.policy.extend_job == "grant",
        }
        for words in (words for words, is_so in where.items() if is_so):
            raise ConfigError(f"{found} {words}; allowed: one of the two")
        self.run.refuse(TOGETHER, f"{found} where components start together; allowed: one of the two")
        for i, one in enumerate(self.run.system.reservations):
            if one.features:
                raise ConfigError(
                    f"system.reservations[{i}].features: found {one.features!r:.60} under policy"
                    f" {self.run.policy.name}, which counts nodes; allowed here: policy slurm"
                )
            if unknown := [flag for flag in one.flags if flag in FLAGS_OF_SLURM]:
                raise ConfigError(
                    f"system.reservations[{i}].flags: found {unknown[0]} under policy {self.run.policy.name};"
                    " allowed here: policy slurm"
                )

    # -- what components name

    def describe(self, jobs: Jobs) -> None:
        """Which reservation each names, and by whom each is."""
        if not self.needed:
            return
        if not self._names:
            start = jobs.workload.source.header_number("UnixStartTime")
            self.book.unix_start, self.book.has_clock = start or 0, start is not None
        user, group, account = (jobs.text(name).tolist() for name in ("user", "group", "account"))
        self._names += jobs.text("reservation").mapped(str.lower).tolist()
        groups = groups_of(user, group)
        rows = zip(user, groups, account, strict=True)
        self._by += [Submitter(user, of_user, (account,)) for user, of_user, account in rows]

    def room(self, sizes: Sizes) -> HoleSizes:
        """Each reservation may have nodes of each module."""
        return HoleSizes(sizes.rows, self.book.most * self._modules)

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Make the reservations that stand; from the first instant on the core has them."""
        core.holes.at.first = self._modules + core.demand.shape[1]
        for i in range(len(core.holes.hole)):
            module = i % self._modules
            core.holes.hole[i].module = module
            core.pools[core.holes.at.first + i].cost = core.pools[module].cost
        make_standing(self.run.system, lambda one: self.book.create(one, int(core.clock.now)))
        self._operators = operators(self.run.system, self.book.second)
        return core

    def write(self, core: FullCore, jobs: Jobs, described: None) -> FullCore:
        """Write what components name."""
        for row in range(jobs.rows.start, jobs.rows.stop):
            if self._names[row]:
                self._claim(core, row)
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Likewise of one that asks for something else."""
        return self.write(core, jobs, None)

    def _claim(self, core: FullCore, row: int) -> None:
        """Have a component that has yet to start run in its reservation, or be rejected when it comes."""
        one, claim = self.book.standing.get(self._names[row]), core.holes.claim[row]
        if one is None:
            claim.refused = INVALID
            return
        stay = longest_stay(one, self.book.times[one.number], self.book.unix_start)
        there, fits, homes = self.book.counts(one.nodes), False, modules_of(core)
        for placement in range(core.jobs[row].first, core.jobs[row].last):
            it = core.placements[placement]
            module = int(homes[it.module])
            it.module = core.holes.at.first + one.number * self._modules + module
            fits = fits or bool(it.nodes <= there[module] and (stay is None or it.limit <= stay))
        admitted = one.admits(self._by[row])
        claim.refused = DENIED if not admitted else ALLOWED if fits else TOO_LARGE

    def columns(self, core: FullCore, rows: int) -> dict[str, Any]:
        """Which reservation each names, and what was said of it."""
        refused = np.asarray(core.holes.claim)["refused"][:rows]
        told = (core.jobs["state"][:rows] == REJECTED) | (refused == DELETED)
        reasons = TextColumn.of(np.array(REASONS, dtype=object)[np.where(told, refused, ALLOWED)])
        return {"reservation": TextColumn.of(self._names[:rows]), "reservation_reason": reasons}

    # -- as the clock moves on

    def told(self) -> list[dict[str, Any]]:
        """Return what a manifest says of them."""
        return reservations_told(self.run.system, self.book.unix_start, counted=True)

    def due(self) -> int:
        """When something is to be done next, s; INF if never."""
        if not self._has_begun:
            return -INF
        turns = [edge for times in self.book.times.values() for edge in times[:2] if edge > self._seen]
        return min([*turns, self._plan.due, *(time for time, _ in self._operators[:1])])

    def is_to_change(self, core: FullCore) -> bool:
        """Whether something is to come that may help those that wait."""
        if self._operators or not all(repeats(one) for one in self.book.standing.values()):
            return self.due() < INF
        rows = np.asarray(core.jobs)[: core.clock.jobs]
        last = max(int(rows[name].max(initial=-1)) for name in ("eligible", "start", "end"))
        return self.due() < max(last, self._last_news) + IN_VAIN_S

    @property
    def is_endless(self) -> bool:
        """Whether something is due again and again."""
        return any(repeats(one) for one in self.book.standing.values())

    def is_vain(self, core: FullCore) -> bool:
        """Whether none but turns are to come, which have helped nobody for long: plans go on around them."""
        queue, clock = core.queue.at, core.clock
        if clock.events or clock.pass_requested or queue.released or queue.seen < clock.jobs:
            return False
        return self.is_endless and not self.is_to_change(core)

    def carry_out(self, core: FullCore) -> FullCore:
        """Do what is due now: what operators do, nodes that change hands, turns that come into view."""
        now, is_news = int(core.clock.now), not self._has_begun
        self._has_begun, self._seen = True, now
        self._plan.carry_out(core, now)
        while self._operators and self._operators[0][0] <= now:
            is_news = self._operate(core, self._operators.pop(0)[1], now) or is_news
        for one in self.book.move_on(now):
            self._end(core, one)
            self._last_news = now
        if is_news:
            self._last_news = now
            core.clock.dirty = core.clock.early = core.clock.lost = 1
            self._claim_anew(core)
        return self._plan.laid(core, self.book, anew=is_news)

    def _operate(self, core: FullCore, change: ReservationKeys | ReservationChangeKeys, now: int) -> bool:
        """Do what an operator does, or note what scontrol says where it refuses; True if it is done."""
        try:
            if isinstance(change, ReservationKeys):
                self.book.create(change, now, self._runs(core))
            elif change.action == "update":
                self.book.update(change, now, self._runs(core))
            else:
                self._end(core, self.book.delete(change.name, self._in_use(core)))
        except InputError as error:
            self.book.answers.append(Answer(now, change.name, str(error)))
            return False
        return True

    def _claim_anew(self, core: FullCore) -> None:
        """Those that have yet to come name what stands now."""
        for row in np.flatnonzero(core.jobs["state"][: core.clock.jobs] == UNSEEN).tolist():
            if self._names[row]:
                self._claim(core, row)

    def _end(self, core: FullCore, one: Standing) -> None:
        """What waits for a reservation that is gone waits for ever, or goes on without."""
        first = core.holes.at.first + one.number * self._modules
        place, jobs = np.asarray(core.placements), np.asarray(core.jobs)[: core.clock.jobs]
        for row in np.flatnonzero((jobs["state"] <= WAITING) & (jobs["first"] < jobs["last"])).tolist():
            if not first <= place["module"][jobs["first"][row]] < first + self._modules:
                continue
            if jobs["state"][row] == UNSEEN:
                core.holes.claim[row].refused = INVALID
            elif "NO_HOLD_JOBS_AFTER" in one.flags:
                holes.leave_reservation(core, row)
            else:
                core.holes.claim[row].refused = DELETED

    def _runs(self, core: FullCore) -> Runs:
        """What runs outside of reservations."""
        jobs, place = np.asarray(core.jobs)[: core.clock.jobs], np.asarray(core.placements)
        jobs = jobs[jobs["state"] == RUNNING]
        it = place[jobs["placed"]]
        outside = it["module"] < self._modules
        return Runs(it["module"][outside], it["nodes"][outside], (jobs["start"] + it["limit"])[outside])

    def _in_use(self, core: FullCore) -> list[int]:
        """The numbers of reservations in which some job runs."""
        jobs, place = np.asarray(core.jobs)[: core.clock.jobs], np.asarray(core.placements)
        pools = place["module"][jobs["placed"][jobs["state"] == RUNNING]]
        return list((pools[pools >= self._modules] - core.holes.at.first) // self._modules)
