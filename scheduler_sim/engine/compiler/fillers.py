"""Functions that write the keys of an order: compiled code calls them by their address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import signature
from numba.extending import register_model

from scheduler_sim.engine.compiler.compile import compiled
from scheduler_sim.engine.compiler.instructions import called

SIGNATURE = (types.int64, types.int64[::1], types.float64[:, ::1], types.float64[::1])


class FillerType(types.Callable, types.Opaque):
    """The type of such a function: its address."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the types of a call."""
        return signature(types.none, *SIGNATURE, recvr=self)

    def get_call_signatures(self) -> Any:
        """Return what Numba wants to know of a function for its messages."""
        return [signature(types.none, *SIGNATURE)], False

    def get_impl_key(self, sig: Any) -> Any:
        """Return where the code of a call is."""
        return FillerType


FILLER = FillerType("filler")
register_model(FillerType)(models.OpaqueModel)


def _call(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    kind = context.call_conv.get_function_type(types.none, SIGNATURE).as_pointer()
    return called(context, builder, builder.bitcast(arguments[0], kind), SIGNATURE, arguments[1:])


lower_builtin(FillerType, FillerType, *[types.Any] * len(SIGNATURE))(_call)


def filler_code(function: Callable[..., None]) -> tuple[str, bytes, bool]:
    """Return a function of the engine that writes keys, see ``compiled``."""
    return compiled(function, SIGNATURE)


def address_here(function: Callable[..., None]) -> tuple[int, Any]:
    """Return where a function that writes keys stands in this process, for as long as what else is returned.

    It may do all that Numba can.
    """
    dispatcher: Any = numba.njit(function)
    dispatcher.compile(SIGNATURE)
    made = dispatcher.overloads[SIGNATURE]
    return made.library.get_pointer_to_function(made.fndesc.llvm_func_name), dispatcher
