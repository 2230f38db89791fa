"""Turning given values into columns of the table: types, shared constants, text categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.texts import TextColumn
from scheduler_sim.workload.fields import Field


def as_column(field: Field, values: Any, rows: int) -> Any:
    """Return ``values`` (a sequence, or one value for all rows) as a column of ``field``'s type."""
    if field.is_text:
        return _text_column(field, values, rows)
    return _number_column(field, values, rows)


def shared(array: np.ndarray) -> np.ndarray:
    """Return an array without memory of its own if all its values are equal, else the array."""
    if is_shared(array):
        return array
    if len(array) > 1 and array[0] == array[-1] and bool((array == array[0]).all()):
        return np.broadcast_to(array[0], array.shape)
    return array


def is_shared(array: np.ndarray) -> bool:
    """Whether an array is one value for all rows, without memory of its own."""
    return array.strides == (0,) and len(array) > 0


def once(array: np.ndarray) -> np.ndarray:
    """Return an array, of one that is one value for all rows the first alone: what to look at."""
    return array[:1] if is_shared(array) else array


def by_row(rule: Callable[..., np.ndarray], *columns: np.ndarray) -> np.ndarray:
    """Return what ``rule`` makes of each row of some columns; once where none has more than one value."""
    if all(map(is_shared, columns)):
        return np.broadcast_to(rule(*map(once, columns))[0], columns[0].shape)
    return rule(*columns)


def _number_column(field: Field, values: Any, rows: int) -> np.ndarray:
    array = np.asarray(values)
    exact = "iub" if field.dtype != "float64" else "iubf"
    if array.dtype.kind not in exact and array.size > 0:
        raise TraceError(
            f"column {field.name} holds values of type {array.dtype}",
            allowed="whole numbers within int64" if field.dtype != "float64" else "numbers",
        )
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise TraceError(f"column {field.name} is beyond int64", found=int(array.max()))
    if array.ndim == 0 or is_shared(array):
        return np.broadcast_to(array.flat[0].astype(field.dtype), (rows,))
    return shared(array.astype(field.dtype, copy=False))


def _text_column(field: Field, values: Any, rows: int) -> TextColumn:
    if isinstance(values, str):
        return TextColumn.constant(values, rows)
    column = TextColumn.of(values)
    if len(column) and column.codes.min() < 0:
        raise TraceError(
            f"column {field.name} has missing values", allowed="text; empty text where there is none"
        )
    return column.in_order()
