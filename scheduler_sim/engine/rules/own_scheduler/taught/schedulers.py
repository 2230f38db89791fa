"""A scheduler as a whole: its state, a structure in memory, its methods, and the pass made of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, register_model
from numba.np.numpy_support import from_dtype

from scheduler_sim.engine.compiler.compile import AS_PARTS, compiled, njit, reference_to
from scheduler_sim.engine.core.machine_code import Code, address_of
from scheduler_sim.engine.rules.own_scheduler.state import ENDED, STARTED, SUBMITTED
from scheduler_sim.engine.rules.own_scheduler.taught.kinds import job_at, view_of
from scheduler_sim.engine.rules.own_scheduler.taught.views import (
    TAUGHT,
    overload_attribute,
    overload_method,
)

carray: Any = numba.carray  # type: ignore[attr-defined]


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


def _pointer_to(typing_context: Any, address: Any, kind: Any) -> Any:
    pointer = types.CPointer(kind.dtype)

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(pointer))

    return pointer(types.int64, kind), generated


pointer_to: Any = intrinsic(_pointer_to)


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
        overload_method(kind, method, **TAUGHT)(_always(function))
    for field, array in arrays.items():
        _teach_array(kind, field, array)
    return kind(name, layout)


def _always(function: Any) -> Any:
    def chosen(*arguments: Any) -> Any:
        return function

    chosen.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return chosen


def _teach_array(kind: Any, field: str, array: np.ndarray) -> Any:
    shape, dtype = array.shape, from_dtype(array.dtype)
    at = address_field(field)

    def taught(state: Any) -> Any:
        return carray(pointer_to(getattr(state, at), dtype), shape)

    overload_attribute(kind, field, **TAUGHT)(lambda state: taught)


def address_field(array: str) -> str:
    """Name the field in which the address of an array stands."""
    return f"address_of_{array}"


def address_for(core: Any, state: StateType) -> int:
    """Compile the passes of a scheduler with such a state for such a core; returns the address."""

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
        first = told(core, scheduler, 0)
        scheduler.schedule(view_of(core))
        told(core, scheduler, first)

    return address_of(Code(*compiled(make_pass, (reference_to(core),), allocates=True)))
