"""Arrays of the core, counted from 0: the compiler is told that no index is negative.

Numba counts negative indices from the end, as Python does, and so compiles a test of the sign, a load of the
length and a multiplication into every access. The core never means that. To the compiler its arrays
are of a type of their own, the indices of which are taken as they are.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import types
from numba.core.cgutils import unpack_tuple
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_cast
from numba.extending import register_model
from numba.np import arrayobj


class FromZero(types.Array):
    """An array whose indices are not negative; a row or a stretch of it is one, too."""

    def __init__(self, array: Any) -> None:
        super().__init__(
            array.dtype, array.ndim, array.layout, not array.mutable, f"from zero {array}", array.aligned
        )

    def copy(self, *args: Any, **kwargs: Any) -> Any:
        """Return the type of a part of it."""
        return FromZero(super().copy(*args, **kwargs))

    def unify(self, typing_context: Any, other: Any) -> Any:
        """Return the type of what may be this or another."""
        both = super().unify(typing_context, other)
        return FromZero(both) if both is not None and isinstance(other, FromZero) else both


register_model(FromZero)(models.ArrayModel)


def _as_any_array(context: Any, builder: Any, kind: Any, other: Any, value: Any) -> Any:
    return value


def _counted(context: Any, builder: Any, kind: Any, index: Any) -> tuple[Any, Any]:
    """The index, or each index of a tuple, without a sign; a slice stays as it is."""
    if isinstance(kind, types.Integer):
        return types.uintp, context.cast(builder, index, kind, types.uintp)
    if not isinstance(kind, types.UniTuple | types.Tuple):
        return kind, index
    places = unpack_tuple(builder, index, len(kind))
    pairs = [_counted(context, builder, *pair) for pair in zip(kind.types, places, strict=True)]
    counted = types.Tuple([one for one, _ in pairs])
    return counted, context.make_tuple(builder, counted, [place for _, place in pairs])


def _item(lowered: Any) -> Any:
    def item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, values = list(signature.args), list(arguments)
        kinds[1], values[1] = _counted(context, builder, kinds[1], values[1])
        return lowered(context, builder, signature.replace(args=tuple(kinds)), tuple(values))

    return item


lower_cast(FromZero, types.Array)(_as_any_array)
lower_builtin(operator.getitem, FromZero, types.Integer)(_item(arrayobj.getitem_arraynd_intp))
lower_builtin(operator.getitem, FromZero, types.BaseTuple)(_item(arrayobj.getitem_array_tuple))
lower_builtin(operator.setitem, FromZero, types.Any, types.Any)(_item(arrayobj.setitem_array))


def counted_from_zero(kind: Any) -> Any:
    """Return the type of a core with its arrays, and those of its parts, as ones counted from 0."""
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple(tuple(map(counted_from_zero, kind.types)), kind.instance_class)
    if isinstance(kind, types.NamedUniTuple):
        return types.NamedUniTuple(counted_from_zero(kind.dtype), kind.count, kind.instance_class)
    return FromZero(kind) if isinstance(kind, types.Array) else kind
