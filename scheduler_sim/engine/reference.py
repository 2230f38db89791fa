"""The core by reference: compiled functions pass on one address instead of every array.

Numba hands a tuple of arrays from function to function as its parts, here more than a
hundred words a call: it took most of the time of a run, and of its compilation. An entry
point puts the tuple on its stack once and passes the address. In plain Python nothing
is to be done: a tuple is passed by reference anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, cast

from scheduler_sim.engine.jit import COMPILED
from scheduler_sim.engine.state import Core

if COMPILED:
    from numba.core import cgutils, types
    from numba.core.datamodel import models
    from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
    from numba.core.typing.templates import AttributeTemplate, infer_getattr
    from numba.extending import intrinsic, register_model

    class Reference(types.Type):
        """Where a named tuple stands. Its name, which all functions have in theirs, is short."""

        def __init__(self, target: Any) -> None:
            self.target = target
            super().__init__(name=f"Reference{blake2b(str(target).encode(), digest_size=8).hexdigest()}")

    @register_model(Reference)
    class _Address(models.PrimitiveModel):
        def __init__(self, dmm: Any, fe_type: Reference) -> None:
            super().__init__(dmm, fe_type, dmm.lookup(fe_type.target).get_value_type().as_pointer())

    @infer_getattr
    class _FieldType(AttributeTemplate):
        key = Reference

        def generic_resolve(self, reference: Reference, name: str) -> Any:  # type: ignore[override]
            fields = reference.target.fields
            return reference.target.types[fields.index(name)] if name in fields else None

    @lower_getattr_generic(Reference)
    def _field(context: Any, builder: Any, reference: Reference, address: Any, name: str) -> Any:
        place = reference.target.fields.index(name)
        value = builder.load(cgutils.gep_inbounds(builder, address, 0, place))
        return impl_ret_borrowed(context, builder, reference.target.types[place], value)

    @intrinsic
    def _put_on_stack(typing_context: Any, core: Any) -> Any:
        """Where the tuple stands, for functions that are called from here."""

        def on_stack(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return cgutils.alloca_once_value(builder, arguments[0])

        return Reference(core)(core), on_stack

    by_reference: Callable[[Core], Core] = cast(Any, _put_on_stack)
    """Put the core on the stack; functions called with what this returns get its address."""

else:

    def by_reference(core: Core) -> Core:
        """Return the core."""
        return core
