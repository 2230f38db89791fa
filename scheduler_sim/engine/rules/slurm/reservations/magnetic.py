"""Magnetic reservations: a job that names none is tried in each that it may use, before it is tried without.

Such an entry of the queue counts for no limit of the backfill scheduler, and is not planned. A job that
starts by it runs in the reservation as if it had named it; if it waits again, it is free of it.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import started, stopped
from scheduler_sim.engine.rules.slurm.advance_reservations import FIRST_OF_ALL
from scheduler_sim.engine.rules.slurm.backfill_pass import is_extra
from scheduler_sim.engine.rules.slurm.job_partition_queue import (
    build_by_partition,
    build_queue,
    entry,
    entry_by_partition,
    goes_before,
)
from scheduler_sim.engine.rules.slurm.reservations.exchange import exchange
from scheduler_sim.engine.rules.slurm.reservations.state import NONE_NAMED, ReservationsCore


@on(build_queue, "reservations")
def build_with_drawn(core: ReservationsCore) -> int:
    """Of each job that is drawn there is one more entry, in the place of one that names the reservation."""
    size = build_by_partition(core)
    if core.reservations.at.magnetic == 0:
        return size
    written, first = 0, 0
    for i in range(size):
        row, placement = entry_by_partition(core, i)
        if core.reservations.claim[row].of != NONE_NAMED:
            continue
        for number in range(len(core.reservations.table)):
            one = core.reservations.table[number]
            if one.stands and one.magnetic and core.reservations.admits[row, number]:
                while first < size and _goes_before_drawn(core, first, row, placement):
                    written = _put_as_it_is(core, written, first)
                    first += 1
                written = _put(core, written, row, placement, number)
    for i in range(first, size):
        written = _put_as_it_is(core, written, i)
    return written


@part
def _goes_before_drawn(core: ReservationsCore, i: int, row: int, placement: int) -> bool:
    """Whether an entry comes before one that is drawn, which stands where those in reservations do."""
    other_row, other = entry_by_partition(core, i)
    core.slurm.way[placement].tier += FIRST_OF_ALL
    before = goes_before(core, other_row, other, row, placement)
    core.slurm.way[placement].tier -= FIRST_OF_ALL
    return before


@part
def _put_as_it_is(core: ReservationsCore, at: int, i: int) -> int:
    row, placement = entry_by_partition(core, i)
    return _put(core, at, row, placement, NONE_NAMED)


@part
def _put(core: ReservationsCore, at: int, row: int, placement: int, inside: int) -> int:
    it = core.reservations.entry[at]
    it.row, it.placement, it.inside = row, placement, inside
    return at + 1


@on(entry, "reservations")
def entry_with_drawn(core: ReservationsCore, i: int) -> tuple[int, int]:
    """From here on it is known whether its job is drawn."""
    if core.reservations.at.magnetic == 0:
        return entry_by_partition(core, i)
    it = core.reservations.entry[i]
    core.reservations.at.drawn = it.inside
    return it.row, it.placement


@on(is_extra, "reservations")
def is_drawn(core: ReservationsCore) -> bool:
    """Whether the job is tried in a reservation that it does not name."""
    return bool(core.reservations.at.drawn >= 0)


@on(started, "reservations")
def runs_inside(core: ReservationsCore, row: int) -> None:
    """It has the reservation in which it starts, which may exchange its nodes for others."""
    at, claim = core.reservations.at, core.reservations.claim[row]
    claim.drawn = 0
    if at.drawn >= 0:
        claim.of, claim.drawn = at.drawn, at.drawn + 1
    if at.inside >= 0:
        exchange(core, at.inside)


@on(stopped, "reservations")
def is_free_again(core: ReservationsCore, row: int) -> None:
    """One that was drawn has no reservation any more."""
    if core.reservations.claim[row].drawn > 0:
        core.reservations.claim[row].of = NONE_NAMED
