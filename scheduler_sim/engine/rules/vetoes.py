"""A veto of the user's own: which jobs may start at this time, asked before each pass.

A job that may not is in no queue for this pass: others pass it, and nothing is reserved for it. As the answer
may change with the time alone, it is asked again with each minute, until nothing else has happened for a
week.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.allocation import nothing
from scheduler_sim.engine.core.events import KIND, push_end
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import plan_anew
from scheduler_sim.engine.core.moments import event_due, pass_begins
from scheduler_sim.engine.core.queue import entry_of
from scheduler_sim.engine.core.records import Floats, Ints, Record, one
from scheduler_sim.engine.core.state import WAITING, Core, Filler
from scheduler_sim.engine.core.waiting import add_newcomer, settle_wait, withdraw

ASK_AGAIN = 12 * KIND
"""Event: a minute begins, and some jobs may not start."""

MINUTE, WEEK = 60, 7 * 86400


class VetoAt(Record):
    """How far the lists reach."""

    aside: int  # jobs that may not start now
    failed: int  # questions that had no answer
    changed: int  # when anything else happened last
    expected: int  # 1 = it is known when to ask again


class Vetoes(NamedTuple):
    """n jobs."""

    at: VetoAt
    aside: Ints  # [n] at.aside of them
    answers: Floats  # [n] 1 = it may, 0 = it may not
    ask: Filler


class VetoesCore(Core):
    """A core in which some jobs may not start at any time."""

    vetoes: Vetoes


def blank_vetoes(rows: int) -> Vetoes:
    """Return a part with room for so many jobs."""
    return Vetoes(one(VetoAt), np.empty(rows, dtype=np.int64), np.empty(rows + 1), nothing)


@on(pass_begins, "vetoes")
def ask_who_may_start(core: VetoesCore) -> None:
    """Those who may not are set aside; those who might not before are asked again."""
    it, before = core.vetoes, core.vetoes.at.aside
    if core.clock.events > it.at.expected or core.queue.at.seen < core.clock.jobs:
        it.at.changed = core.clock.now
    it.at.aside = 0
    for i in range(before):
        _come_back(core, it.aside[i])
    core.queue.at.new = _kept(core, core.queue.newcomers, 0, core.queue.at.new)
    core.queue.at.tail = _kept(core, core.queue.waiting, core.queue.at.head, core.queue.at.tail)
    if before + it.at.aside > 0:
        plan_anew(core)
    if it.at.aside > 0 and it.at.expected == 0 and core.clock.now - it.at.changed <= WEEK:
        it.at.expected = 1
        push_end(core, (core.clock.now // MINUTE + 1) * MINUTE, ASK_AGAIN)


@part
def _come_back(core: VetoesCore, row: int) -> None:
    """One that was set aside is a newcomer, unless it has ended, is held or has come back by itself."""
    if core.jobs[row].state != WAITING or entry_of(core, row) != row:
        return
    for i in range(core.queue.at.new):
        if core.queue.newcomers[i] == row:
            return
    add_newcomer(core, row)


@part
def _kept(core: VetoesCore, rows: Ints, first: int, last: int) -> int:
    """Set aside those of a list who may not start; returns where the list ends that is left."""
    it, kept = core.vetoes, first
    it.ask(core.clock.now - core.clock.origin, rows[first:last], core.orders.columns, it.answers)
    for i in range(first, last):
        row, answer = rows[i], it.answers[i - first]
        if answer == 0.0:
            _set_aside(core, row)
            continue
        if answer != 1.0:
            it.at.failed += 1
        rows[kept] = row
        kept += 1
    return kept


@part
def _set_aside(core: VetoesCore, row: int) -> None:
    """A job may not start now, and has no reservation; until it may, it does not wait for nodes."""
    settle_wait(core, row)
    if core.jobs[row].reserved_placement >= 0:
        withdraw(core, row)
    for module in range(core.clock.modules):
        if core.pools[module].front == row:
            core.pools[module].front = -1
    core.vetoes.aside[core.vetoes.at.aside] = row
    core.vetoes.at.aside += 1


@on(event_due, "vetoes")
def ask_again(core: VetoesCore, kind: int, number: int) -> None:
    """A minute begins: the pass that follows asks."""
    if kind == ASK_AGAIN:
        core.vetoes.at.expected = 0
