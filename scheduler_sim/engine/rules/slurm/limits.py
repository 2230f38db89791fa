"""How many jobs a backfill pass tries, and which of them may reserve."""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.limit_questions import least_priority_that_reserves
from scheduler_sim.engine.rules.slurm.state import SlurmCore


@part
def over_a_limit(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether enough jobs of its partition or its user have been tried; if not, it counts itself."""
    if enough_were_tried(core, row, placement):
        return True
    number, user = core.slurm.way[placement].partition, core.slurm.job[row].user
    core.slurm.partition[number].tried += 1
    core.slurm.counter[user, 0].tried += 1
    core.slurm.counter[user, 1 + number].tried += 1
    return False


@part
def enough_were_tried(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether the pass has tried as many jobs of its partition or its user as it may."""
    number, user = core.slurm.way[placement].partition, core.slurm.job[row].user
    _renew(core, user, 0)
    _renew(core, user, 1 + number)
    if _reached(core.slurm.rules.bf_max_job_part, core.slurm.partition[number].tried):
        return True
    if _reached(core.slurm.rules.bf_max_job_user, core.slurm.counter[user, 0].tried):
        return True
    return _reached(core.slurm.rules.bf_max_job_user_part, core.slurm.counter[user, 1 + number].tried)


@part
def may_reserve(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether it is planned ahead; if not, it may only start now."""
    slurm, now = core.slurm, core.clock.now
    if slurm.rules.bf_min_age_reserve and now - core.holds.term[row].begin < slurm.rules.bf_min_age_reserve:
        holds_until(core, core.holds.term[row].begin + slurm.rules.bf_min_age_reserve)
        return False
    least = least_priority_that_reserves(core, placement)
    if least and -core.slurm.way[placement].key < least:
        return False
    if slurm.rules.bf_one_resv_per_job and core.jobs[row].reserved_placement >= 0:
        return False
    array = core.holds.term[row].array
    if array >= 0:
        if core.holds.array[array].made_in != slurm.memory.pass_number:
            core.holds.array[array].made_in, core.holds.array[array].reserved = slurm.memory.pass_number, 0
        if _reached(slurm.rules.bf_max_job_array_resv, core.holds.array[array].reserved):
            return False
    return not _reached(
        slurm.rules.bf_job_part_count_reserve,
        core.slurm.partition[core.slurm.way[placement].partition].reserved,
    )


@part
def array_is_planned(core: SlurmCore, row: int) -> bool:
    """Whether as many tasks of its array are planned in this pass, and run, as may run at a time."""
    array = core.holds.term[row].array
    if not core.slurm.rules.array_limit_planned or array < 0:
        return False
    it = core.holds.array[array]
    planned = it.reserved if it.made_in == core.slurm.memory.pass_number else 0
    return bool(planned > 0 and 0 <= it.limit <= planned + it.running)


@part
def _reached(limit: int, number: int) -> bool:
    """Whether a limit is reached; 0 is no limit."""
    return limit > 0 and number >= limit


@part
def _renew(core: SlurmCore, user: int, which: int) -> None:
    """Counters of an earlier pass start again."""
    if core.slurm.counter[user, which].made_in != core.slurm.memory.pass_number:
        core.slurm.counter[user, which].made_in, core.slurm.counter[user, which].tried = (
            core.slurm.memory.pass_number,
            0,
        )
