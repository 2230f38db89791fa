"""What the compiler is taught of a view, its jobs, and the state of a scheduler, so that its methods compile.

They are what they are in plain Python: a view is the core, a job its row there, the scheduler's own state a
structure in memory. Loaded where such a scheduler is compiled.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numba import carray
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.core.imputils import (
    RefType,
    iternext_impl,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
)
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import (
    intrinsic,
    overload,
    overload_attribute,
    overload_method,
    register_jitable,
    register_model,
)
from numba.np.numpy_support import from_dtype

from scheduler_sim.engine.compiler.compile import AS_PARTS, compiled, njit, reference_to
from scheduler_sim.engine.core.machine_code import Code, address_of
from scheduler_sim.engine.core.state import RUNNING, WAITING
from scheduler_sim.engine.rules.own_scheduler.asking import (
    NOT_NOW,
    earliest_start,
    fits_now,
    hold_job,
    release_job,
    reserve,
    start_now,
    wake_at,
)
from scheduler_sim.engine.rules.own_scheduler.state import ENDED, STARTED, SUBMITTED

# -- types


class ViewType(types.Type):
    """A pass: where the words of the core stand."""

    def __init__(self, core: Any) -> None:
        self.core = core
        super().__init__(f"View of {core.name}")


class FreeType(ViewType):
    """Idle nodes by module."""


class JobsType(types.IterableType):
    """Jobs of a view: those that wait, or those that run."""

    def __init__(self, core: Any) -> None:
        self.core = core
        super().__init__(f"{type(self).__name__} of {core.name}")

    @property
    def iterator_type(self) -> Any:
        """Return the type of what goes from job to job."""
        return JobsIterator(self)


class QueueType(JobsType):
    """Those that wait."""


class RunningType(JobsType):
    """Those that run."""


class JobsIterator(types.SimpleIteratorType):
    """Where it stands among jobs: a module, and a place in its list."""

    def __init__(self, jobs: Any) -> None:
        self.jobs = jobs
        super().__init__(f"iterator of {jobs.name}", JobType(jobs.core))


class JobType(types.Type):
    """A job: the core and its row."""

    def __init__(self, core: Any) -> None:
        self.core = core
        super().__init__(f"Job of {core.name}")


class StateType(types.Type):
    """The state of a scheduler: a structure; each class of schedulers has a type of its own kind."""

    def __init__(self, name: str, layout: np.dtype[Any]) -> None:
        self.fields = {
            key: (from_dtype(kind), offset) for key, (kind, offset, *_) in (layout.fields or {}).items()
        }
        super().__init__(f"{name} of Reference{id(self)}")


class _OfCore(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, dmm.lookup(fe_type.core).get_value_type())


for _kind in (ViewType, FreeType, QueueType, RunningType):
    register_model(_kind)(_OfCore)


@register_model(JobType)
class _Job(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("core", fe_type.core), ("number", types.int64)])


@register_model(JobsIterator)
class _Iterator(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        place = types.EphemeralPointer(types.int64)
        members = [("core", fe_type.jobs.core), ("module", place), ("place", place)]
        super().__init__(dmm, fe_type, members)


# -- from one to the other


@intrinsic
def core_of(typing_context: Any, view: Any) -> Any:
    """Return the core of a view, of jobs or of a job."""

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if isinstance(view, JobType):
            return cgutils.create_struct_proxy(view)(context, builder, value=arguments[0]).core
        return arguments[0]

    return view.core(view), generated


@intrinsic
def number_of(typing_context: Any, job: Any) -> Any:
    """Return the row of a job."""
    if not isinstance(job, JobType):
        raise TypingError(f"found {job} for a job; allowed: a job of view.queue or view.running")

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.create_struct_proxy(job)(context, builder, value=arguments[0]).number

    return types.int64(job), generated


@intrinsic
def job_at(typing_context: Any, core: Any, number: Any) -> Any:
    """Return the job of a row."""
    kind = JobType(core)

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = cgutils.create_struct_proxy(kind)(context, builder)
        made.core, made.number = arguments
        return made._getvalue()

    return kind(core, types.int64), generated


def _seen_as(kind: Callable[[Any], Any]) -> Any:
    """A function that sees a core as something else."""

    def typed(typing_context: Any, core: Any) -> Any:
        def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return arguments[0]

        return kind(core)(core), generated

    return intrinsic(typed)


view_of, free_of, queue_of, running_of = map(_seen_as, (ViewType, FreeType, QueueType, RunningType))


# -- going from job to job


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
        builder, find, pair(kind.jobs.core, types.int64, types.int64),
        (it.core, builder.load(it.module), builder.load(it.place)),
    )
    module, place, number = cgutils.unpack_tuple(builder, found, 3)
    builder.store(module, it.module)
    builder.store(place, it.place)
    result.set_valid(builder.icmp_signed(">=", number, context.get_constant(types.int64, 0)))
    job = cgutils.create_struct_proxy(kind.yield_type)(context, builder)
    job.core, job.number = it.core, number
    result.yield_(job._getvalue())


def next_waiting(core: Any, module: int, place: int) -> tuple[int, int, int]:
    """The next job that waits, from a place of the queue on; -1 if there is none."""
    head, tail = core.queue.at.head, core.queue.at.tail
    while head + place < tail:
        number = core.queue.waiting[head + place]
        place += 1
        kept = core.own_scheduler.at.holding
        while kept > 0 and core.own_scheduler.hold[kept - 1] != number:
            kept -= 1
        if core.jobs[number].state == WAITING and kept == 0:
            return module, place, number
    return module, place, -1


def next_running(core: Any, module: int, place: int) -> tuple[int, int, int]:
    """The next job that runs, from a planned end of a module on; -1 if there is none."""
    while module < core.clock.modules:
        pool = core.pools[module]
        while pool.release_head + place < pool.release_tail:
            number = core.releases[module, pool.release_head + place].row
            place += 1
            if number >= 0:
                return module, place, number
        module, place = module + 1, 0
    return module, place, -1


for _kind in (QueueType, RunningType):
    lower_builtin("getiter", _kind)(_iterator)
lower_builtin("iternext", JobsIterator)(iternext_impl(RefType.UNTRACKED)(_next))


@overload(len, strict=False)
def count(jobs: Any) -> Any:
    """The number of jobs that wait, or run."""
    if not isinstance(jobs, JobsType):
        return None

    def counted(jobs: Any) -> int:
        number = 0
        for _ in jobs:
            number += 1
        return number

    return counted


# -- what there is


def _attribute(kind: type, name: str) -> Any:
    """Teach an attribute; the function gets what it is of."""

    def taught(function: Any) -> Any:
        overload_attribute(kind, name, jit_options=AS_PARTS, strict=False)(lambda of: function)
        return function

    return taught


def _method(kind: type, name: str) -> Any:
    """Teach a method; the function gets what it is of, and the arguments."""

    def taught(function: Any) -> Any:
        overload_method(kind, name, jit_options=AS_PARTS, strict=False)(function)
        return function

    return taught


@_attribute(ViewType, "now")
def _now(view: Any) -> int:
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


@overload(operator.getitem, jit_options=AS_PARTS, strict=False)
def free_in(free: Any, module: Any) -> Any:
    """Idle nodes of a module."""
    if not isinstance(free, FreeType):
        return None
    return lambda free, module: core_of(free).pools[module].free


@_attribute(JobType, "number")
def _number(job: Any) -> int:
    return number_of(job)


@_attribute(JobType, "submit")
def _submit(job: Any) -> int:
    return core_of(job).jobs[number_of(job)].submit


@_attribute(JobType, "priority")
def _priority(job: Any) -> int:
    return core_of(job).ranks[number_of(job)].tier


@_attribute(JobType, "start")
def _start_time(job: Any) -> int:
    return core_of(job).jobs[number_of(job)].start


@register_jitable
def placement_of(job: Any) -> int:
    """The placement in which a job runs, or the first of its list."""
    it = core_of(job).jobs[number_of(job)]
    return it.placed if it.state == RUNNING else it.first


@_attribute(JobType, "module")
def _module(job: Any) -> int:
    return core_of(job).placements[placement_of(job)].module


@_attribute(JobType, "nodes")
def _nodes(job: Any) -> int:
    return core_of(job).placements[placement_of(job)].nodes


@_attribute(JobType, "limit")
def _limit(job: Any) -> int:
    return core_of(job).placements[placement_of(job)].limit


@_attribute(JobType, "planned_end")
def _planned_end(job: Any) -> int:
    it = core_of(job).jobs[number_of(job)]
    if it.state != RUNNING:
        return -1
    return it.start + core_of(job).placements[it.placed].limit


# -- what it may do


@_method(ViewType, "fits")
def _fits(view: Any, job: Any) -> Any:
    return lambda view, job: fits_now(core_of(view), number_of(job), -1)


@_method(ViewType, "start")
def _start(view: Any, job: Any) -> Any:
    def start(view: Any, job: Any) -> bool:
        return lawful(view, number_of(job), start_now(core_of(view), number_of(job), -1)) > NOT_NOW

    return start


@_method(ViewType, "earliest_start")
def _earliest_start(view: Any, job: Any) -> Any:
    def earliest(view: Any, job: Any) -> int:
        return lawful(view, number_of(job), earliest_start(core_of(view), number_of(job), -1))

    return earliest


@_method(ViewType, "reserve")
def _reserve(view: Any, job: Any, at: Any = None) -> Any:
    def at_earliest(view: Any, job: Any, at: Any = None) -> int:
        return lawful(view, number_of(job), reserve(core_of(view), number_of(job), -1, -1))

    def from_then(view: Any, job: Any, at: Any = None) -> int:
        return lawful(view, number_of(job), reserve(core_of(view), number_of(job), -1, max(at, 0)))

    return at_earliest if at is None or isinstance(at, types.NoneType | types.Omitted) else from_then


@_method(ViewType, "wake_at")
def _wake_at(view: Any, time: Any) -> Any:
    def wake(view: Any, time: Any) -> None:
        lawful(view, -1, wake_at(core_of(view), time))

    return wake


@_method(ViewType, "hold")
def _hold(view: Any, job: Any) -> Any:
    def hold(view: Any, job: Any) -> None:
        lawful(view, number_of(job), hold_job(core_of(view), number_of(job)))

    return hold


@_method(ViewType, "release")
def _release(view: Any, job: Any) -> Any:
    return lambda view, job: release_job(core_of(view), number_of(job)) > NOT_NOW


@register_jitable
def lawful(view: Any, number: int, answer: int) -> int:
    """The answer; if it says that this can never be, it is kept for Python to say, and all ends here."""
    if answer < 0:
        at = core_of(view).own_scheduler.at
        at.broken, at.broken_by = answer, number
        raise RuntimeError("unlawful")
    return answer


# -- its own state


@infer_getattr
class _StateFields(AttributeTemplate):
    key = StateType

    def generic_resolve(self, state: StateType, name: str) -> Any:  # type: ignore[override]
        return state.fields[name][0] if name in state.fields else None


def _field_at(context: Any, builder: Any, state: StateType, address: Any, name: str) -> tuple[Any, Any]:
    kind, offset = state.fields[name]
    place = cgutils.pointer_add(builder, address, offset)
    return kind, builder.bitcast(place, context.get_data_type(kind).as_pointer())


def _get_field(context: Any, builder: Any, state: StateType, address: Any, name: str) -> Any:
    kind, place = _field_at(context, builder, state, address, name)
    return context.unpack_value(builder, kind, place)


def _set_field(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    state, given = signature.args
    kind, place = _field_at(context, builder, state, arguments[0], name)
    value = context.cast(builder, arguments[1], given, kind)
    context.pack_value(builder, kind, value, place)


lower_getattr_generic(StateType)(_get_field)
lower_setattr_generic(StateType)(_set_field)


@intrinsic
def state_at(typing_context: Any, core: Any, kind: Any) -> Any:
    """Return the state of a scheduler that stands at an address; ``kind`` is its type."""
    state = kind.instance_type

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(state))

    return state(types.int64, kind), generated


def _pointer_to(typing_context: Any, address: Any, kind: Any) -> Any:
    pointer = types.CPointer(kind.dtype)

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(pointer))

    return pointer(types.int64, kind), generated


pointer_to: Any = intrinsic(_pointer_to)


# -- a scheduler as a whole


def kind_of(name: str, layout: np.dtype[Any], arrays: Mapping[str, np.ndarray], methods: Mapping[str, Any]) -> Any:
    """Return the type of the state of a scheduler.

    Parameters
    ----------
    layout : its fields; those of arrays are addresses
    arrays : those, by name
    methods : functions of the user's, by name
    """
    kind = type(name, (StateType,), {})
    register_model(kind)(models.OpaqueModel)
    for method, function in methods.items():
        overload_method(kind, method, jit_options=AS_PARTS, strict=False)(_always(function))
    for field, array in arrays.items():
        _teach_array(kind, field, array)
    return kind(name, layout)


def _always(function: Any) -> Any:
    def chosen(*arguments: Any) -> Any:
        return function

    chosen.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return chosen


def _teach_array(kind: Any, field: str, array: np.ndarray) -> None:
    shape, dtype = array.shape, from_dtype(array.dtype)
    at = address_field(field)

    def taught(state: Any) -> Any:
        return carray(pointer_to(getattr(state, at), dtype), shape)

    overload_attribute(kind, field, jit_options=AS_PARTS, strict=False)(lambda state: taught)


def address_field(array: str) -> str:
    """Name the field in which the address of an array stands."""
    return f"address_of_{array}"


def address_for(core: Any, state: StateType) -> int:
    """Compile the passes of a scheduler with such a state for such a core; returns the address."""

    def tell(core: Any, scheduler: Any, first: int) -> int:
        last = core.own_scheduler.at.told
        for i in range(first, last):
            kind, job = core.own_scheduler.log[i].kind, job_at(core, core.own_scheduler.log[i].row)
            if kind == SUBMITTED:
                scheduler.on_submit(view_of(core), job)
            elif kind == STARTED:
                scheduler.on_start(view_of(core), job)
            elif kind == ENDED:
                scheduler.on_end(view_of(core), job)
        return last

    told = njit(**AS_PARTS)(tell)

    def make_pass(core: Any) -> None:
        scheduler = state_at(core.own_scheduler.at.own, state)
        first = told(core, scheduler, 0)
        scheduler.schedule(view_of(core))
        told(core, scheduler, first)

    return address_of(Code(*compiled(make_pass, (reference_to(core),), allocates=True)))
