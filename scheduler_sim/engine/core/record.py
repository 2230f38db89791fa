"""What is written down as the clock moves: the timeline and the reason of each wait."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question, suspicion
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.moments import write_more
from scheduler_sim.engine.core.state import Core


@inlined
def settle(core: Core, until: int) -> None:
    """Close the instant NOW: nothing more happens before ``until``."""
    for module in range(core.clock.modules):
        if core.pools[module].touched:
            core.pools[module].touched = 0
            _account_free(core, module)
            _write_row(core, module)
    if core.rules.complex or core.rules.named:
        _account_complex_waits(core, until - core.clock.now)


@part
def short_so_far(core: Core, module: int, nodes: int) -> int:
    """Seconds, up to NOW, in which some job waited and fewer than ``nodes`` nodes of ``module`` were free."""
    tree, pool = core.short[module], core.pools[module]
    seconds = 0
    if pool.written_queued > 0 and pool.short_free < nodes:
        seconds = core.clock.now - pool.short_since
    place = min(nodes, len(tree) - 1)
    while place > 0:
        seconds += tree[place]
        place -= place & -place
    return seconds


@inlined
def _account_free(core: Core, module: int) -> None:
    """Credit the time since the free nodes changed last, if a job has waited meanwhile."""
    tree, pool, now = core.short[module], core.pools[module], core.clock.now
    if pool.written_queued > 0:
        if pool.free == pool.short_free and pool.queued > 0:
            return
        place = pool.short_free + 1
        while place < len(tree):
            tree[place] += now - pool.short_since
            place += place & -place
    pool.short_free, pool.short_since = pool.free, now


@inlined
def _write_row(core: Core, module: int) -> None:
    it = core.pools[module]
    if (
        it.written_busy == it.busy
        and it.written_down == it.down
        and it.written_queued == it.queued
        and it.written_nodes == it.queued_nodes
        and not has_more_to_write(core, module)
    ):
        return
    it.written_busy, it.written_down = it.busy, it.down
    it.written_queued, it.written_nodes = it.queued, it.queued_nodes
    row = core.clock.rows
    core.clock.rows = row + 1
    written = core.timeline[row]
    written.time, written.module = core.clock.now, module
    written.busy, written.down = it.busy, it.down
    written.queued, written.queued_nodes = it.queued, it.queued_nodes
    write_more(core, module, row)


@suspicion
def has_more_to_write(core: Core, module: int) -> bool:
    """Whether the further columns of the timeline differ from the last row of the module."""
    return False


@part
def _account_complex_waits(core: Core, seconds: int) -> None:
    """With several placements or shared resources about: one look at each job, each step."""
    for i in range(core.queue.at.head, core.queue.at.tail):
        account_wait(core, core.queue.waiting[i], seconds)


@question
def account_wait(core: Core, row: int, seconds: int) -> None:
    """``row`` has waited for so many more s: for nodes, if it fits nowhere."""
    if not fits_somewhere(core, row):
        core.jobs[row].wait_resources += seconds


@part
def fits(core: Core, placement: int) -> bool:
    """Whether the free nodes and resources are enough for ``placement`` now."""
    if not nodes_fit(core, placement):
        return False
    modules = core.clock.modules
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > core.pools[modules + i].free:
            return False
    return True


@question
def nodes_fit(core: Core, placement: int) -> bool:
    """Whether the free nodes of its module are enough for ``placement`` now."""
    return core.placements[placement].nodes <= core.pools[core.placements[placement].module].free


@question
def has_room(core: Core, module: int) -> bool:
    """Whether anything may start in a module: it has idle nodes."""
    return core.pools[module].free > 0


@part
def fits_somewhere(core: Core, row: int) -> bool:
    """Whether any placement of ``row`` fits now."""
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        if fits(core, placement):
            return True
    return False
