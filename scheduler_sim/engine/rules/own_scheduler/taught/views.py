"""What there is in a pass, and what may be asked for."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numba.extending
from numba.core import types
from numba.extending import register_jitable

from scheduler_sim.engine.compiler.compile import AS_PARTS
from scheduler_sim.engine.core.state import RUNNING
from scheduler_sim.engine.rules.own_scheduler.asking import (
    BEFORE_ALL,
    NOT_NOW,
    earliest_start,
    fits_now,
    hold_job,
    release_job,
    reserve,
    start_now,
    wake_at,
)
from scheduler_sim.engine.rules.own_scheduler.taught.kinds import (
    FreeType,
    JobType,
    PlacementType,
    ViewType,
    core_of,
    free_of,
    number_of,
    placements_at,
    queue_of,
    running_of,
)
from scheduler_sim.engine.rules.own_scheduler.taught.queues import count, is_a_module, is_queued, one_of

F = TypeVar("F", bound=Callable[..., Any])

TAUGHT: Any = {"jit_options": AS_PARTS, "strict": False}
"""How functions are taught; the names of their arguments may be others than in the first part."""

overload: Any = numba.extending.overload
overload_attribute: Any = numba.extending.overload_attribute
overload_method: Any = numba.extending.overload_method

# -- what there is


def _attribute(kind: type, name: str) -> Callable[[F], F]:
    """Teach an attribute; the function gets what it is of."""

    def taught(function: F) -> F:
        overload_attribute(kind, name, **TAUGHT)(lambda of: function)
        return function

    return taught


def _method(kind: type, name: str) -> Callable[[F], F]:
    """Teach a method: the function returns what is to be compiled for such arguments."""

    def taught(function: F) -> F:
        overload_method(kind, name, **TAUGHT)(function)
        return function

    return taught


@_attribute(ViewType, "now")
def _now(view: Any) -> Any:
    return core_of(view).clock.now


@_attribute(ViewType, "queue")
def _queue(view: Any) -> Any:
    return queue_of(core_of(view))


@_attribute(ViewType, "running")
def _running(view: Any) -> Any:
    return running_of(core_of(view))


@_attribute(ViewType, "free")
def _free(view: Any) -> Any:
    return free_of(core_of(view))


def free_in(free: Any, module: Any) -> Any:
    """Idle nodes of a module, by its number."""
    if not isinstance(free, FreeType):
        return None

    def of_module(free: Any, module: Any) -> Any:
        if module < 0 or module >= len(core_of(free).pools) or not is_a_module(core_of(free), module):
            raise IndexError("no module of that number")
        return core_of(free).pools[module].free

    return of_module


@register_jitable
def module_numbers(core: Any) -> Any:
    """What a module is called in compiled code, and what a reservation has of it."""
    return [pool for pool in range(len(core.pools)) if is_a_module(core, pool)]


def modules_of(free: Any) -> Any:
    """The number of modules."""
    return (lambda free: len(module_numbers(core_of(free)))) if isinstance(free, FreeType) else None


def are_equal(one: Any, other: Any) -> Any:
    """Whether two are the same job, or the same placement."""
    if not isinstance(one, JobType | PlacementType) or type(one) is not type(other):
        return None
    return lambda one, other: number_of(one) == number_of(other)


def are_different(one: Any, other: Any) -> Any:
    """Whether two are not the same job, or placement."""
    if not isinstance(one, JobType | PlacementType) or type(one) is not type(other):
        return None
    return lambda one, other: number_of(one) != number_of(other)


def keys_of(free: Any) -> Any:
    """The numbers of modules."""
    return lambda free: module_numbers(core_of(free))


def values_of(free: Any) -> Any:
    """Idle nodes of each module."""
    return lambda free: [free[module] for module in module_numbers(core_of(free))]


def items_of(free: Any) -> Any:
    """Each module with its idle nodes."""
    return lambda free: [(module, free[module]) for module in module_numbers(core_of(free))]


overload(len, **TAUGHT)(count)
overload(len, **TAUGHT)(modules_of)
overload(operator.getitem, **TAUGHT)(free_in)
overload(operator.getitem, **TAUGHT)(one_of)
overload(operator.eq, **TAUGHT)(are_equal)
overload(operator.ne, **TAUGHT)(are_different)
overload_method(FreeType, "keys", **TAUGHT)(keys_of)
overload_method(FreeType, "values", **TAUGHT)(values_of)
overload_method(FreeType, "items", **TAUGHT)(items_of)


@_attribute(JobType, "number")
def _number(job: Any) -> Any:
    return number_of(job)


@_attribute(JobType, "id")
def _id(job: Any) -> Any:
    return core_of(job).own_scheduler.ids[number_of(job)]


@_attribute(JobType, "pending")
def _pending(job: Any) -> Any:
    return is_queued(core_of(job), number_of(job))


@_attribute(PlacementType, "number")
def _number_of_placement(placement: Any) -> Any:
    return number_of(placement)


@_attribute(JobType, "submit")
def _submit(job: Any) -> Any:
    return core_of(job).jobs[number_of(job)].submit


@_attribute(JobType, "priority")
def _priority(job: Any) -> Any:
    return core_of(job).ranks[number_of(job)].tier


@_attribute(JobType, "start")
def _start_time(job: Any) -> Any:
    return core_of(job).jobs[number_of(job)].start


@register_jitable
def placement_of(job: Any) -> Any:
    """The placement in which a job runs, or the first of its list."""
    it = core_of(job).jobs[number_of(job)]
    return it.placed if it.state == RUNNING else it.first


@_attribute(JobType, "module")
def _module(job: Any) -> Any:
    return core_of(job).placements[placement_of(job)].module


@_attribute(JobType, "nodes")
def _nodes(job: Any) -> Any:
    return core_of(job).placements[placement_of(job)].nodes


@_attribute(JobType, "limit")
def _limit(job: Any) -> Any:
    return core_of(job).placements[placement_of(job)].limit


@_attribute(JobType, "placements")
def _placements(job: Any) -> Any:
    return placements_at(core_of(job), number_of(job))


@_attribute(PlacementType, "module")
def _module_of_placement(placement: Any) -> Any:
    return core_of(placement).placements[number_of(placement)].module


@_attribute(PlacementType, "nodes")
def _nodes_of_placement(placement: Any) -> Any:
    return core_of(placement).placements[number_of(placement)].nodes


@_attribute(PlacementType, "limit")
def _limit_of_placement(placement: Any) -> Any:
    return core_of(placement).placements[number_of(placement)].limit


@_attribute(JobType, "planned_end")
def _planned_end(job: Any) -> Any:
    it = core_of(job).jobs[number_of(job)]
    if it.state != RUNNING:
        return -1
    return it.start + core_of(job).placements[it.placed].limit


# -- what it may do


def number_or_any(placement: Any) -> int:
    """The row of a placement, -1 for any."""
    raise NotImplementedError


def time_or_earliest(at: Any) -> int:
    """A time, -1 for the earliest there is."""
    raise NotImplementedError


def _is_none(kind: Any) -> bool:
    return kind is None or isinstance(kind, types.NoneType | types.Omitted)


def _number_or_any(placement: Any) -> Any:
    return (lambda placement: -1) if _is_none(placement) else (lambda placement: number_of(placement))


def _time_or_earliest(at: Any) -> Any:
    return (lambda at: -1) if _is_none(at) else (lambda at: at if at >= 0 else BEFORE_ALL)


overload(number_or_any, **TAUGHT)(_number_or_any)
overload(time_or_earliest, **TAUGHT)(_time_or_earliest)


@_method(ViewType, "fits")
def _fits(view: Any, job: Any, placement: Any = None) -> Any:
    def fits(view: Any, job: Any, placement: Any = None) -> Any:
        return fits_now(core_of(view), number_of(job), number_or_any(placement))

    return fits


@_method(ViewType, "start")
def _start(view: Any, job: Any, placement: Any = None) -> Any:
    def start(view: Any, job: Any, placement: Any = None) -> Any:
        answer = start_now(core_of(view), number_of(job), number_or_any(placement))
        return lawful(view, number_of(job), answer) > NOT_NOW

    return start


@_method(ViewType, "earliest_start")
def _earliest_start(view: Any, job: Any, placement: Any = None) -> Any:
    def earliest(view: Any, job: Any, placement: Any = None) -> Any:
        answer = earliest_start(core_of(view), number_of(job), number_or_any(placement))
        return lawful(view, number_of(job), answer)

    return earliest


@_method(ViewType, "reserve")
def _reserve(view: Any, job: Any, at: Any = None, placement: Any = None) -> Any:
    def reserve_then(view: Any, job: Any, at: Any = None, placement: Any = None) -> Any:
        time, which = time_or_earliest(at), number_or_any(placement)
        return lawful(view, number_of(job), reserve(core_of(view), number_of(job), which, time))

    return reserve_then


@_method(ViewType, "wake_at")
def _wake_at(view: Any, time: Any) -> Any:
    def wake(view: Any, time: Any) -> Any:
        lawful(view, -1, wake_at(core_of(view), time))

    return wake


@_method(ViewType, "hold")
def _hold(view: Any, job: Any) -> Any:
    def hold(view: Any, job: Any) -> Any:
        lawful(view, number_of(job), hold_job(core_of(view), number_of(job)))

    return hold


@_method(ViewType, "release")
def _release(view: Any, job: Any) -> Any:
    return lambda view, job: release_job(core_of(view), number_of(job)) > NOT_NOW


@register_jitable
def lawful(view: Any, number: int, answer: int) -> Any:
    """The answer; if it says that this can never be, it is kept for Python to say, and all ends here."""
    if answer < 0:
        at = core_of(view).own_scheduler.at
        at.broken, at.broken_by = answer, number
        raise RuntimeError("unlawful")
    return answer
