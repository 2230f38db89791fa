"""A scheduler as a whole: its state, a structure in memory, its methods, and the pass made of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from scheduler_sim.engine.compiler.compile import AS_PARTS, compiled, njit, reference_to
from scheduler_sim.engine.compiler.outside import DEPTH, LINE, ROW
from scheduler_sim.engine.compiler.users_code import CHECKED, users_code, word_at
from scheduler_sim.engine.core.machine_code import Code
from scheduler_sim.engine.rules.own_scheduler.asking import DONE, ENDLESS
from scheduler_sim.engine.rules.own_scheduler.state import ENDED, STARTED, SUBMITTED, address_field
from scheduler_sim.engine.rules.own_scheduler.taught.kinds import job_at, view_of
from scheduler_sim.engine.rules.own_scheduler.taught.views import (
    TAUGHT,
    lawful,
    overload_attribute,
    overload_method,
)


class StateType(types.Type):
    """The state of a scheduler: a structure; each class of schedulers has a type of its own kind."""

    def __init__(self, name: str, layout: np.dtype[Any]) -> None:
        self.fields = {
            key: (from_dtype(kind), offset) for key, (kind, offset, *_) in (layout.fields or {}).items()
        }
        super().__init__(f"{name} of Reference{id(self)}")


# -- its state


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


def _state_at(typing_context: Any, core: Any, kind: Any) -> Any:
    """Return the state of a scheduler that stands at an address; ``kind`` is its type."""
    state = kind.instance_type

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(state))

    return state(types.int64, kind), generated


state_at: Any = intrinsic(_state_at)


def _array_like(array: np.ndarray) -> Any:
    """A function of an address that gives an array there, which lies in memory as another does."""
    contiguous, writeable = array.flags.c_contiguous, array.flags.writeable
    kind = types.Array(
        from_dtype(array.dtype), array.ndim, "C" if contiguous else "A", readonly=not writeable
    )

    def typed(typing_context: Any, address: Any) -> Any:
        def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = context.make_array(kind)(context, builder)
            shape, strides = (
                [context.get_constant(types.intp, one) for one in of] for of in (array.shape, array.strides)
            )
            size = context.get_constant(types.intp, array.itemsize)
            data = builder.inttoptr(arguments[0], made.data.type)
            populate_array(made, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
            return made._getvalue()

        return kind(types.int64), generated

    return intrinsic(typed)


# -- the whole


def kind_of(
    name: str, layout: np.dtype[Any], arrays: Mapping[str, np.ndarray], methods: Mapping[str, Any]
) -> Any:
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
        overload_method(kind, method, **TAUGHT | {"jit_options": CHECKED})(_always(function))
    for field, array in arrays.items():
        _teach_array(kind, field, array)
    return kind(name, layout)


def _always(function: Any) -> Any:
    def chosen(*arguments: Any) -> Any:
        return function

    chosen.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return chosen


def _teach_array(kind: Any, field: str, array: np.ndarray) -> Any:
    at, array_at = address_field(field), _array_like(array)

    def taught(state: Any) -> Any:
        return array_at(getattr(state, at))

    overload_attribute(kind, field, **TAUGHT)(lambda state: taught)


def pass_code(core: Any, state: StateType, file: str) -> Code:
    """Compile the passes of a scheduler with such a state for such a core.

    Parameters
    ----------
    file : the user's, of which the line is told where something fails
    """

    def tell(core: Any, scheduler: Any, first: int) -> Any:
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

    def make_pass(core: Any) -> Any:
        scheduler = state_at(core.own_scheduler.at.own, state)
        begin()
        first = told(core, scheduler, 0)
        begin()
        lawful(view_of(core), -1, ENDLESS if core.own_scheduler.at.endless else DONE)
        scheduler.schedule(view_of(core))
        told(core, scheduler, first)

    tried = _tried(njit(**AS_PARTS)(make_pass))

    def whole_pass(core: Any) -> Any:
        tried(core)

    with users_code(file):
        return Code(*compiled(whole_pass, (reference_to(core),), allocates=True))


def _begin(typing_context: Any) -> Any:
    """Nothing has been looked at."""

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for word, value in ((LINE, 0), (ROW, -1), (DEPTH, 0)):
            builder.store(ir.Constant(ir.IntType(64), value), word_at(builder, word))
        return context.get_dummy_value()

    return types.none(), generated


begin: Any = intrinsic(_begin)


def _tried(function: Any) -> Any:
    """A call of a function with the core, which keeps where the user's code was when it failed.

    It is read there at once: other simulations of this process write to the same place.
    """

    def typed(typing_context: Any, core: Any) -> Any:
        kind = typing_context.resolve_value_type(function)
        kind.get_call_type(typing_context, (core,), {})

        def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = function.overloads[(core,)]
            context.active_code_library.add_linking_library(made.library)
            status, _ = context.call_internal_no_propagate(builder, made.fndesc, signature, arguments)
            with cgutils.if_unlikely(builder, status.is_error):
                where = [builder.load(word_at(builder, word)) for word in (LINE, ROW)]
                kinds = types.none(core, types.int64, types.int64)
                context.compile_internal(builder, _keep_where, kinds, [arguments[0], *where])
                context.call_conv.return_status_propagate(builder, status)
            return context.get_dummy_value()

        return types.none(core), generated

    return intrinsic(typed)


def _keep_where(core: Any, line: int, row: int) -> None:
    core.own_scheduler.at.line = line
    core.own_scheduler.at.looked_at = row
