"""What the compiler is taught about the core: parts by reference, moments, the scheme as a type.

Numba hands a tuple of arrays from function to function as its parts, here more than a
hundred words a call: it took most of the time of a run, and of its compilation. Here
functions pass the address of the words (see ``core/words``).
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed, lower_constant, lower_getattr_generic
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, register_model

WORD = 8
"""Bytes."""


def _is_part(kind: Any) -> bool:
    return isinstance(kind, types.BaseNamedTuple)


def _is_absent(kind: Any) -> bool:
    return isinstance(kind, types.BaseTuple) and len(kind) == 0


class Reference(types.Type):
    """Where a named tuple stands. Its name, which all functions have in theirs, is short."""

    def __init__(self, target: Any) -> None:
        self.target = target
        super().__init__(name=f"Reference{blake2b(str(target).encode(), digest_size=8).hexdigest()}")

    def kind_of(self, name: str) -> Any:
        """Return the type of a field; a part that is a tuple again is passed on by reference, too."""
        if name not in self.target.fields:
            return None
        kind = self.target.types[self.target.fields.index(name)]
        return Reference(kind) if _is_part(kind) else kind


@register_model(Reference)
class _Address(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Reference) -> None:
        super().__init__(dmm, fe_type, dmm.lookup(fe_type.target).get_value_type().as_pointer())


@infer_getattr
class _FieldType(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference: Reference, name: str) -> Any:  # type: ignore[override]
        return reference.kind_of(name)


def bytes_of(core: Any) -> int:
    """Return how many bytes the words of a core are."""
    context = cpu_target.target_context
    size: int = context.get_abi_sizeof(context.get_value_type(core))
    return size


def _field(context: Any, builder: Any, reference: Reference, address: Any, name: str) -> Any:
    place = reference.target.fields.index(name)
    at = cgutils.gep_inbounds(builder, address, 0, place)
    kind = reference.target.types[place]
    return at if _is_part(kind) else impl_ret_borrowed(context, builder, kind, builder.load(at))


lower_getattr_generic(Reference)(_field)


def _on_stack(typing_context: Any, core: Any) -> Any:
    """Copy the words of a core onto the stack, which nothing that is written elsewhere can change."""

    def copied(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        there = arguments[0].type.pointee
        here = cgutils.alloca_once(builder, there)
        size = context.get_constant(types.intp, context.get_abi_sizeof(there))
        cgutils.raw_memcpy(builder, here, arguments[0], size, 1, WORD)
        return here

    return core(core), copied


on_stack: Any = intrinsic(_on_stack)


class Called(types.Callable, types.Dummy):
    """Something that is called with the core: which function that is, the parts of the core say."""

    def function_for(self, core: Any) -> Any:
        """Return the compiled function for a core of this type."""
        raise NotImplementedError

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the types of a call, as of that function."""
        return self.function_for(args[0].target)._numba_type_.get_call_type(context, args, kws)

    def get_call_signatures(self) -> Any:
        """Return what Numba wants to know of a function for its messages."""
        return [], True

    def get_impl_key(self, sig: Any) -> Any:
        """Return where the code of a call is, as of that function."""
        return self.function_for(sig.args[0].target)._numba_type_.get_impl_key(sig)


def _called(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.get_dummy_value()


lower_constant(Called)(_called)


class MomentType(Called):
    """The type of a moment: a call of it is a call of what hangs on it in a core with such parts."""

    def __init__(self, moment: Any) -> None:
        self.moment = moment
        super().__init__(f"moment {moment.__name__} {id(moment)}")

    def function_for(self, core: Any) -> Any:
        """Return what hangs on the moment."""
        absent = {name for name, kind in zip(core.fields, core.types, strict=True) if _is_absent(kind)}
        return self.moment.chosen(core.fields, absent)


class SchemeType(types.Opaque):
    """The type of a scheme: it says no more than its name."""

    def __init__(self, name: str) -> None:
        self.scheme = name
        super().__init__(f"scheme {name}")


class ScheduleType(Called):
    """The type of what makes the pass of the scheme that the core has."""

    def __init__(self, passes: dict[str, Any]) -> None:
        self.passes = passes
        super().__init__("schedule")

    def function_for(self, core: Any) -> Any:
        """Return the pass."""
        return self.passes[core.types[core.fields.index("scheme")].scheme]


for kind in (MomentType, SchemeType, ScheduleType):
    register_model(kind)(models.OpaqueModel)
