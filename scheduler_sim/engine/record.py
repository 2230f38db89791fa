"""What is written down as the clock moves: the timeline and the reason of each wait."""

from __future__ import annotations

from scheduler_sim.engine.crew import starts_with_others
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.advance import held_idle
from scheduler_sim.engine.state import COMPLEX, HEAD, MODULES, NOW, QUEUE, ROWS, SWITCHING, TAIL, Core

HELD_COLUMN, OFF_COLUMN, BOOTING_COLUMN, STOPPING_COLUMN = 6, 7, 8, 9


@part
def settle(core: Core, until: int) -> None:
    """Close the instant NOW: nothing more happens before ``until``."""
    for module in range(core.clock[MODULES]):
        if core.pool[module].touched:
            core.pool[module].touched = 0
            _write_row(core, module)
            _account_free(core, module)
    if core.rules[COMPLEX]:
        _account_complex_waits(core, until - core.clock[NOW])


@part
def short_so_far(core: Core, module: int, nodes: int) -> int:
    """Seconds, up to NOW, in which fewer than ``nodes`` nodes of ``module`` were free after a pass."""
    tree = core.short[module]
    seconds = core.clock[NOW] - core.pool[module].short_since if core.pool[module].short_free < nodes else 0
    place = min(nodes, len(tree) - 1)
    while place > 0:
        seconds += tree[place]
        place -= place & -place
    return seconds


@part
def _account_free(core: Core, module: int) -> None:
    """The free nodes changed at NOW: credit the time since their last change."""
    if core.pool[module].free == core.pool[module].short_free:
        return
    tree, now = core.short[module], core.clock[NOW]
    place = core.pool[module].short_free + 1
    while place < len(tree):
        tree[place] += now - core.pool[module].short_since
        place += place & -place
    core.pool[module].short_free = core.pool[module].free
    core.pool[module].short_since = now


@part
def _write_row(core: Core, module: int) -> None:
    it, held = core.pool[module], 0
    if core.timeline.shape[1] > HELD_COLUMN:
        held = held_idle(core, module)
    if (
        it.written_held == held
        and it.written_busy == it.busy
        and it.written_down == it.down
        and it.written_queued == it.queued
        and it.written_nodes == it.queued_nodes
        and not (core.rules[SWITCHING] and _has_switched(core, module))
    ):
        return
    it.written_busy, it.written_down, it.written_held = it.busy, it.down, held
    it.written_queued, it.written_nodes = it.queued, it.queued_nodes
    row = core.clock[ROWS]
    core.clock[ROWS] = row + 1
    core.timeline[row, 0] = core.clock[NOW]
    core.timeline[row, 1] = module
    core.timeline[row, 2] = it.busy
    core.timeline[row, 3] = it.down
    core.timeline[row, 4] = it.queued
    core.timeline[row, 5] = it.queued_nodes
    if core.timeline.shape[1] > HELD_COLUMN:
        core.timeline[row, HELD_COLUMN] = held
    if core.rules[SWITCHING]:
        switch = core.switch[module]
        switch.written_off, switch.written_booting = switch.off, switch.booting
        switch.written_stopping = switch.stopping
        core.timeline[row, OFF_COLUMN] = switch.off
        core.timeline[row, BOOTING_COLUMN] = switch.booting
        core.timeline[row, STOPPING_COLUMN] = switch.stopping


@part
def _has_switched(core: Core, module: int) -> bool:
    it = core.switch[module]
    if it.written_off != it.off or it.written_booting != it.booting:
        return True
    return it.written_stopping != it.stopping


@part
def _account_complex_waits(core: Core, seconds: int) -> None:
    """With several placements or shared resources about: one look at each component, each step."""
    for i in range(core.clock[HEAD], core.clock[TAIL]):
        row = core.lists[QUEUE, i]
        if starts_with_others(core, row):
            _account_unit(core, row, seconds)
        elif not fits_somewhere(core, row):
            core.comp[row].wait_resources += seconds


@part
def _account_unit(core: Core, leader: int, seconds: int) -> None:
    """All members of a unit wait for nodes while one that starts at once has too few."""
    unit = core.unit[core.member[leader].unit]
    if unit_fits(core, leader):
        return
    for i in range(unit.first, unit.last):
        core.comp[core.crew[i]].wait_resources += seconds


@part
def unit_fits(core: Core, leader: int) -> bool:
    """Whether the free nodes and resources are enough for all members that start at once."""
    unit = core.unit[core.member[leader].unit]
    for i in range(unit.at_once, unit.at_once_last):
        if core.rect[i].offset == 0 and core.rect[i].nodes > core.pool[core.rect[i].pool].free:
            return False
    return True


@part
def fits(core: Core, placement: int) -> bool:
    """Whether the free nodes and resources are enough for ``placement`` now."""
    if core.place[placement].nodes > core.pool[core.place[placement].module].free:
        return False
    modules = core.clock[MODULES]
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > core.pool[modules + i].free:
            return False
    return True


@part
def fits_somewhere(core: Core, row: int) -> bool:
    """Whether any placement of ``row`` fits now."""
    for placement in range(core.comp[row].first, core.comp[row].last):
        if fits(core, placement):
            return True
    return False
