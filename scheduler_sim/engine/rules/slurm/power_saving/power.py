"""Beside a power cap: nodes that are off leave their power to jobs, and there must be some for boots."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, copy, count, count_common, lowest_in, ones_in
from scheduler_sim.engine.core.hooks import on, only_with, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.profile import build_profile, earliest_in
from scheduler_sim.engine.rules.slurm.change import expect_change, note_change
from scheduler_sim.engine.rules.slurm.main_pass import main_begins
from scheduler_sim.engine.rules.slurm.node_space import plan_opens
from scheduler_sim.engine.rules.slurm.nodes import is_first_of_its_module, put_nodes_of
from scheduler_sim.engine.rules.slurm.power_cap import boots_kept, boots_picked
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore


@only_with("power_budget")
def follow_power(core: SlurmPowerCore) -> None:
    """Jobs may draw what nodes that are off do not; those that boot, or are about to, draw more than that."""
    power, drawn = core.slurm_power_saving, draw_more_for_jobs(core)
    for i in range(len(power.module)):
        it = power.module[i]
        drawn += it.booting * it.boot_adds + it.stopping * it.stop_adds - (it.off - it.wanted) * it.off_saves
    more = drawn - power.looks.drawn
    power.looks.drawn = drawn
    core.pools[core.power_budget.at.pool].free -= more
    if more < 0:
        expect_change(core)
        note_change(core, core.clock.now)


@question
def draw_more_for_jobs(core: SlurmPowerCore) -> int:
    """What nodes that are off will draw more (mW) as they boot for jobs, and those that boot draw less.

    What a job asks for is kept for it while its nodes boot, and not drawn yet: it counts for that.
    """
    power, drawn = core.slurm_power_saving, 0
    for i in range(power.looks.configuring):
        row = power.rows[i]
        put_nodes_of(core, row, power.sets.mine)
        size = len(power.sets.mine)
        it = power.module[core.placements[core.jobs[row].placed].module]
        adds = max(it.boot_adds - _asked_of_a_node(core, row), 0)
        drawn += adds * count_common(power.sets.mine, power.sets.off, 0, size)
        drawn -= (it.boot_adds - adds) * count_common(power.sets.mine, power.sets.booting, 0, size)
    return drawn


@on(draw_more_for_jobs, "slurm_power_saving", "cons_tres")
def draw_more_for_shares(core: SlurmPowerCore) -> int:
    """The same where a node may boot for several jobs: what all of them ask for counts."""
    power, drawn = core.slurm_power_saving, 0
    sets = power.sets
    for i in range(power.looks.configuring):
        put_nodes_of(core, power.rows[i], sets.mine)
        asked = _asked_of_a_node(core, power.rows[i])
        for word in range(len(sets.mine)):
            bits = sets.mine[word] & (sets.off[word] | sets.booting[word])
            while bits != NONE:
                power.node[(word << 6) + lowest_in(bits)].kept += asked
                bits &= bits - ONE
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        if not is_first_of_its_module(core, number):
            continue
        for word in range(it.low, it.high):
            bits = sets.awaited[word] & (sets.off[word] | sets.booting[word])
            while bits != NONE:
                bit = bits & (~bits + ONE)
                bits &= ~bit
                node, boot_adds = power.node[(word << 6) + lowest_in(bit)], power.module[it.module].boot_adds
                adds = max(boot_adds - node.kept, 0)
                drawn += adds if sets.off[word] & bit != NONE else adds - boot_adds
                node.kept = 0
    return drawn


@part
def _asked_of_a_node(core: SlurmPowerCore, row: int) -> int:
    """What a job asks for, on each of its nodes."""
    placed = core.jobs[row].placed
    return int(core.demand[placed, core.demand.shape[1] - 1]) // core.placements[placed].nodes


@on(boots_picked, "slurm_power_saving", "power_budget")
def draw_of_boots(core: SlurmPowerCore, placement: int) -> int:
    """What the nodes PICKED draw more from now on that are off: as idle ones, or as they boot.

    Those that others wait for will do so in any case, and that is known.
    """
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm_power_saving.sets
    module, picked, off = core.slurm_power_saving.module[it.module], core.slurm.sets.picked, 0
    for word in range(it.low, it.high):
        off += ones_in(picked[word] & sets.off[word] & ~sets.booked[word])
    if off == 0:
        return 0
    asked = int(core.demand[placement, core.demand.shape[1] - 1]) // count(picked, it.low, it.high)
    return int(off * (module.off_saves + max(module.boot_adds - asked, 0)))


@on(main_begins, "slurm_power_saving", "power_budget")
def know_wanted_in_main(core: SlurmPowerCore) -> None:
    """The pass begins with what is drawn for the nodes that jobs wait for."""
    sets = core.slurm_power_saving.sets
    copy(sets.booked, sets.wanted, 0, len(sets.booked))


@on(plan_opens, "slurm_power_saving", "power_budget")
def know_wanted_in_plan(core: SlurmPowerCore) -> None:
    """Likewise."""
    know_wanted_in_main(core)


@on(boots_kept, "slurm_power_saving", "power_budget")
def book_boots(core: SlurmPowerCore, placement: int) -> None:
    """The nodes PICKED boot for a job: the next one on them needs no power for that."""
    sets = core.slurm_power_saving.sets
    it = core.slurm.partition[core.slurm.way[placement].partition]
    for word in range(it.low, it.high):
        sets.booked[word] |= core.slurm.sets.picked[word] & sets.off[word]


@only_with("power_budget", otherwise=True)
def may_stop(core: SlurmPowerCore, module: int) -> bool:
    """Whether there is power for one more node to shut down, until it is off: the cap may fall meanwhile."""
    pool, it = core.power_budget.at.pool, core.slurm_power_saving.module[module]
    if it.stop_adds == 0:
        return True
    build_profile(core, pool, False)
    return bool(earliest_in(core, pool, core.clock.now, it.stop_s, it.stop_adds) == core.clock.now)
