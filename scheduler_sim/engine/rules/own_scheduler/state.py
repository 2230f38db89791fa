"""What is kept for a scheduler of the user's own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.instant import is_over, no_job_is_left
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import stopped, submitted
from scheduler_sim.engine.core.records import Ints, Record, Table, Tiny, one, room
from scheduler_sim.engine.core.state import HELD
from scheduler_sim.engine.rules.coscheduling.members import reservation_is_ahead
from scheduler_sim.engine.rules.coscheduling.state import UnitsCore

SUBMITTED, STARTED, ENDED = 0, 1, 2
"""What a scheduler is told of."""

MORE_WAKES = 1024
"""So many times to be woken at beside one for each job."""


class Asked(Record):
    """How to call it, and what it has asked for."""

    address: int  # of the function that makes a pass
    own: int  # address of its own state, where it is compiled
    told: int  # entries of the log
    wakes: int  # times at which it wants to be woken
    planned: int  # 1 = the profiles hold the plan of this pass
    reserved: int  # reservations of this pass
    holding: int  # jobs that are to be held when this pass is over
    held: int  # jobs that it has held so far, out of the queue
    last_pass: int  # when that was, s
    vain_passes: int  # at this instant, one after the other, in which nothing came, started or ended
    endless: int  # 1 = so many that it would go on for ever
    broken: int  # the law that compiled code would break, and by which job
    broken_by: int
    line: int  # of the user's file, at which compiled code has failed
    looked_at: int  # the job that it had looked at last, -1 = none


class Told:
    """What has happened since the last pass."""

    kind: Tiny
    row: int


def address_field(array: str) -> str:
    """Name the field in which the address of an array of a compiled scheduler stands."""
    return f"address_of_{array}"


class OwnScheduler(NamedTuple):
    """n jobs."""

    at: Asked
    log: Table[Told]
    wakes: Ints  # [n + MORE_WAKES] at.wakes of them, the earliest first
    hold: Ints  # [n] at.holding of them
    ids: Ints  # [n] component ids


class OwnCore(UnitsCore):
    """A core whose passes a scheduler of the user's own makes."""

    own_scheduler: OwnScheduler


def blank_own_scheduler(rows: int) -> OwnScheduler:
    """Return a part with room for so many jobs; of each an instant has at most three entries in the log."""
    return OwnScheduler(
        one(Asked),
        room(Told, 3 * rows + 1),
        np.empty(rows + MORE_WAKES, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.zeros(rows, dtype=np.int64),
    )


@on(submitted, "own_scheduler")
def tell_of_submission(core: OwnCore, row: int) -> None:
    """A job arrives."""
    tell(core, SUBMITTED, row)


@on(stopped, "own_scheduler")
def tell_of_end(core: OwnCore, row: int) -> None:
    """A job runs no longer."""
    tell(core, ENDED, row)


@on(is_over, "own_scheduler")
def only_wakes_left(core: OwnCore) -> bool:
    """Whether no job runs, waits, is held by hand or is to come: it may ask to be woken for ever."""
    if not no_job_is_left(core) or reservation_is_ahead(core):
        return False
    for row in range(core.clock.jobs):
        if core.jobs[row].state == HELD and core.jobs[row].held:
            return False
    return True


@part
def tell(core: OwnCore, kind: int, row: int) -> None:
    """The scheduler is told with the next pass."""
    it = core.own_scheduler
    if it.at.told < len(it.log):
        it.log[it.at.told].kind, it.log[it.at.told].row = kind, row
        it.at.told += 1
