"""Going from job to job, in the queue and among those that run."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import RefType, iternext_impl, lower_builtin
from numba.extending import register_jitable

from scheduler_sim.engine.core.state import WAITING
from scheduler_sim.engine.rules.holes import is_reserved_pool
from scheduler_sim.engine.rules.own_scheduler.taught.kinds import (
    JobsIterator,
    JobsType,
    PlacementsIterator,
    PlacementsType,
    QueueType,
    RunningType,
)


def _iterator(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    made = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    zero = context.get_constant(types.int64, 0)
    made.core = arguments[0]
    made.module = cgutils.alloca_once_value(builder, zero)
    made.place = cgutils.alloca_once_value(builder, zero)
    return made._getvalue()


def _next(context: Any, builder: Any, signature: Any, arguments: Any, result: Any) -> None:
    kind = signature.args[0]
    it = cgutils.create_struct_proxy(kind)(context, builder, value=arguments[0])
    find = next_waiting if isinstance(kind.jobs, QueueType) else next_running
    pair = types.UniTuple(types.int64, 3)
    found = context.compile_internal(
        builder,
        find,
        pair(kind.jobs.core, types.int64, types.int64),
        (it.core, builder.load(it.module), builder.load(it.place)),
    )
    module, place, number = cgutils.unpack_tuple(builder, found, 3)
    builder.store(module, it.module)
    builder.store(place, it.place)
    result.set_valid(builder.icmp_signed(">=", number, context.get_constant(types.int64, 0)))
    job = cgutils.create_struct_proxy(kind.yield_type)(context, builder)
    job.core, job.number = it.core, number
    result.yield_(job._getvalue())


def _placements(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = signature.args[0]
    of = cgutils.create_struct_proxy(kind)(context, builder, value=arguments[0])
    bounds = types.UniTuple(types.int64, 2)(kind.core, types.int64)
    found = context.compile_internal(builder, placements_between, bounds, (of.core, of.number))
    made = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    first, last = cgutils.unpack_tuple(builder, found, 2)
    made.core, made.place, made.last = of.core, cgutils.alloca_once_value(builder, first), last
    return made._getvalue()


def _next_placement(context: Any, builder: Any, signature: Any, arguments: Any, result: Any) -> None:
    kind = signature.args[0]
    it = cgutils.create_struct_proxy(kind)(context, builder, value=arguments[0])
    place = builder.load(it.place)
    builder.store(builder.add(place, context.get_constant(types.int64, 1)), it.place)
    result.set_valid(builder.icmp_signed("<", place, it.last))
    placement = cgutils.create_struct_proxy(kind.yield_type)(context, builder)
    placement.core, placement.number = it.core, place
    result.yield_(placement._getvalue())


def placements_between(core: Any, number: int) -> tuple[int, int]:
    """The first placement of a job, and one behind its last."""
    return core.jobs[number].first, core.jobs[number].last


def next_waiting(core: Any, module: int, place: int) -> tuple[int, int, int]:
    """The next job that waits, from a place of the queue on; -1 if there is none."""
    head, tail = core.queue.at.head, core.queue.at.tail
    while head + place < tail:
        number = core.queue.waiting[head + place]
        place += 1
        if is_queued(core, number):
            return module, place, number
    return module, place, -1


@register_jitable
def is_a_module(core: Any, pool: int) -> bool:
    """Whether a pool has nodes: it is a module, or what a reservation has of one."""
    return pool < core.clock.modules or is_reserved_pool(core, pool)


@register_jitable
def is_queued(core: Any, number: int) -> bool:
    """Whether a job waits, and is not to be held from the end of this pass on."""
    kept = core.own_scheduler.at.holding
    while kept > 0 and core.own_scheduler.hold[kept - 1] != number:
        kept -= 1
    return bool(core.jobs[number].state == WAITING and kept == 0)


def next_running(core: Any, module: int, place: int) -> tuple[int, int, int]:
    """The next job that runs, from a planned end of a module on; -1 if there is none."""
    while module < len(core.pools):
        pool = core.pools[module]
        while is_a_module(core, module) and pool.release_head + place < pool.release_tail:
            number = core.releases[module, pool.release_head + place].row
            place += 1
            if number >= 0:
                return module, place, number
        module, place = module + 1, 0
    return module, place, -1


for _kind in (QueueType, RunningType):
    lower_builtin("getiter", _kind)(_iterator)
lower_builtin("getiter", PlacementsType)(_placements)
lower_builtin("iternext", PlacementsIterator)(iternext_impl(RefType.UNTRACKED)(_next_placement))
lower_builtin("iternext", JobsIterator)(iternext_impl(RefType.UNTRACKED)(_next))


def count(jobs: Any) -> Any:
    """The number of jobs that wait, or run, or of placements."""
    if not isinstance(jobs, JobsType | PlacementsType):
        return None

    def counted(jobs: Any) -> int:
        number = 0
        for _ in jobs:
            number += 1
        return number

    return counted


def one_of(jobs: Any, at: Any) -> Any:
    """A job that waits, or runs, or a placement, by its place; negative places count from the end."""
    if not isinstance(jobs, JobsType | PlacementsType) or not isinstance(at, types.Integer):
        return None

    def of_place(jobs: Any, at: int) -> Any:
        left = at if at >= 0 else at + len(jobs)
        if left >= 0:
            for one in jobs:
                if left == 0:
                    return one
                left -= 1
        raise IndexError("no job of that place")

    return of_place
