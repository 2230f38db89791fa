"""The numbers of advance reservations, and which component names which."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.state import INF, UNSEEN
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.advance_reservations import FIRST_OF_ALL
from scheduler_sim.engine.rules.slurm.reservations import looks
from scheduler_sim.engine.rules.slurm.reservations.state import NONE_NAMED, UNKNOWN, ReservationSizes
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.policy.shares import Associations, associations
from scheduler_sim.simulation.reserved import reservations_told
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.slurm.masks import Masks
from scheduler_sim.simulation.rules.slurm.reservation_book import Book
from scheduler_sim.simulation.standing import (
    REASONS,
    Answer,
    Submitter,
    groups_of,
    make_standing,
    operators,
)
from scheduler_sim.system.reservations import ReservationChangeKeys, ReservationKeys
from scheduler_sim.texts import TextColumn
from scheduler_sim.workload.fields import DELAYED, TOGETHER


class Reservations(Numbers):
    """Writes what stands when the run begins, which components name what, and what operators do later."""

    part = "reservations"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = bool(run.system.reservations)
        if self.needed:
            self._refuse_what_is_not_there()
            self.book = Book(run.system)
            self._from = 0
            self._operators: list[tuple[int, ReservationKeys | ReservationChangeKeys]] = []
            self._names: list[str] = []
            self._by: list[Submitter] = []

    def _refuse_what_is_not_there(self) -> None:
        """Reservations are by the rules of 22.05, for components without delays."""
        found = f"system.reservations: found {len(self.run.system.reservations)}"
        self.run.refuse(DELAYED, f"{found} where components start with a delay; allowed: one of the two")
        if self._magnetic:
            drawing = f"system.reservations: found {self._magnetic} with MAGNETIC"
            self.run.refuse(TOGETHER, f"{drawing} where components start together; allowed: one of the two")
        keys = self.run.policy.slurm
        if keys.gangs:
            raise ConfigError(
                f"{found} beside PreemptMode {keys.PreemptMode}; allowed here: OFF, REQUEUE, CANCEL"
            )
        for name, written, needed in keys.older_rules():
            raise ConfigError(f"policy.slurm.{name}: found {written} beside reservations; allowed: {needed}")

    @property
    def _magnetic(self) -> int:
        """How many draw jobs that name none."""
        return sum("MAGNETIC" in one.flags for one in self.run.system.reservations)

    def describe(self, jobs: Jobs) -> None:
        """Which reservation each names, and by whom each is."""
        if not self.needed:
            return
        if not self._names:
            start = jobs.workload.source.header_number("UnixStartTime")
            self.book.unix_start, self.book.has_clock = start or 0, start is not None
        user, group, account = (jobs.text(name).tolist() for name in ("user", "group", "account"))
        self._names += jobs.text("reservation").mapped(str.lower).tolist()
        pairs = list(dict.fromkeys(zip(user, account, strict=True)))
        users, charged = zip(*pairs, strict=True) if pairs else ((), ())
        tree = associations(self.run.policy.slurm.accounts, users, charged)
        chains = {pair: _chain(tree, int(row)) for pair, row in zip(pairs, tree.row, strict=True)}
        groups = groups_of(user, group)
        rows = zip(user, groups, account, strict=True)
        self._by += [Submitter(user, of_user, chains[user, account]) for user, of_user, account in rows]

    def room(self, sizes: Sizes) -> ReservationSizes:
        """One row for each component, reservation and, beside magnetic ones, entry of the queue."""
        magnetic = self._magnetic
        entries = sizes.placements * (1 + magnetic) if magnetic else 0
        return ReservationSizes(
            sizes.rows, self.book.most, int(Masks(self.run.system).low[-1]), magnetic, entries
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write the reservations that stand, as the schedulers' looks before the trace left them."""
        rules = core.slurm.rules
        core.reservations.at.epoch = self.book.unix_start if self.book.has_clock else rules.epoch
        first = int(rules.starts_at)
        self._from = first + 1
        make_standing(self.run.system, lambda one: self.book.create(core, one, first))
        self._operators = operators(self.run.system, self.book.second)
        core.clock.now, core.clock.due = first, first + 1  # they are looked at before anything is submitted
        return core

    def write(self, core: FullCore, jobs: Jobs, described: None) -> FullCore:
        """Write what components name: they come before all others."""
        core.reservations.claim["of"][jobs.rows] = NONE_NAMED
        for row in range(jobs.rows.start, jobs.rows.stop):
            if self._names[row]:
                self._claim(core, row)
        self._admit(core, range(jobs.rows.start, jobs.rows.stop))
        return core

    def _admit(self, core: FullCore, rows: range) -> None:
        """Write which magnetic reservations may draw which components; those of equal users ask once."""
        magnetic = [one for one in self.book.standing.values() if "MAGNETIC" in one.flags]
        for one in magnetic:
            admitted: dict[Submitter, bool] = {}
            for row in rows:
                by = self._by[row]
                if by not in admitted:
                    admitted[by] = one.admits(by)
                core.reservations.admits[row, one.number] = admitted[by]

    def _claim(self, core: FullCore, row: int) -> None:
        """Write what a component names that has yet to be submitted."""
        one, claim = self.book.standing.get(self._names[row]), core.reservations.claim[row]
        if claim.of == NONE_NAMED:
            core.ranks[row].tier += FIRST_OF_ALL
            for placement in range(core.jobs[row].first, core.jobs[row].last):
                core.slurm.way[placement].tier += FIRST_OF_ALL
        claim.of = UNKNOWN if one is None else one.number
        claim.access = one is not None and one.admits(self._by[row])

    def told(self) -> list[dict[str, Any]]:
        """Return what a manifest says of them."""
        epoch = self.book.unix_start if self.book.has_clock else self.run.policy.slurm.epoch
        return reservations_told(self.run.system, epoch)

    def due(self) -> int:
        """When an operator does something next, s: in the first second of Slurm, or later; INF if never."""
        return max(self._operators[0][0], self._from) if self._operators else INF

    def is_to_change(self, core: FullCore) -> bool:
        """Whether an operator is to do something."""
        return bool(self._operators)

    is_endless = False  # turns are the core's own, which knows when none helps any more

    def is_vain(self, core: FullCore) -> bool:
        """Never: see ``is_endless``."""
        return False

    def carry_out(self, core: FullCore) -> FullCore:
        """Do what operators do now, or note what scontrol says where it refuses."""
        while self.due() <= core.clock.now:
            self._operate(core, self._operators.pop(0)[1])
        return core

    def _operate(self, core: FullCore, change: ReservationKeys | ReservationChangeKeys) -> None:
        if not self._is_done(core, change, int(core.clock.now)):
            return
        for row in np.flatnonzero(core.jobs["state"][: core.clock.jobs] == UNSEEN).tolist():
            if self._names[row] == change.name.lower():
                self._claim(core, row)
        self._admit(core, range(int(core.clock.jobs)))
        looks.hear(core)

    def _is_done(self, core: FullCore, change: ReservationKeys | ReservationChangeKeys, now: int) -> bool:
        try:
            if isinstance(change, ReservationKeys):
                self.book.create(core, change, now)
            elif change.action == "update":
                self.book.update(core, change, now)
            else:
                self.book.delete(core, change.name)
        except InputError as error:
            self.book.answers.append(Answer(now, change.name, str(error)))
            return False
        return True

    def columns(self, core: FullCore, rows: int) -> dict[str, Any]:
        """Which reservation each names, or was drawn into by a magnetic one, and what was said of it."""
        refused = core.reservations.claim["refused"][:rows]
        reasons = TextColumn.of(np.array(REASONS, dtype=object)[refused])
        names = self._names[:rows]
        drawn = core.reservations.claim["drawn"][:rows]
        for row in np.flatnonzero(drawn).tolist():
            names[row] = self.book.names[int(drawn[row]) - 1]
        return {"reservation": TextColumn.of(names), "reservation_reason": reasons}


def _chain(tree: Associations, row: int) -> tuple[str, ...]:
    """The account of an association, and those above it."""
    found = []
    while row >= 0:
        if not tree.user[row]:
            found.append(tree.names[row])
        row = int(tree.parent[row])
    return tuple(found)
