"""Turning given values into columns of the table: types, shared constants, text categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.fields import Field


def as_column(field: Field, values: Any, rows: int) -> Any:
    """Return ``values`` (a sequence, or one value for all rows) as a column of ``field``'s type."""
    if field.is_text:
        return _text_column(field, values, rows)
    return _number_column(field, values, rows)


def shared(array: np.ndarray) -> np.ndarray:
    """Return an array without memory of its own if all its values are equal, else the array."""
    if len(array) > 1 and array[0] == array[-1] and bool((array == array[0]).all()):
        return np.broadcast_to(array[0], array.shape)
    return array


def categories_of(codes: np.ndarray, texts: Any) -> pd.Categorical:
    """Return a categorical with the used categories only, in order of first appearance."""
    order, used = pd.factorize(codes)
    return pd.Categorical.from_codes(
        order, categories=pd.Index([str(texts[code]) for code in used], dtype=object)
    )


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
    if array.ndim == 0:
        return np.broadcast_to(array.astype(field.dtype), (rows,))
    return shared(array.astype(field.dtype, copy=False))


def _text_column(field: Field, values: Any, rows: int) -> pd.Categorical:
    if isinstance(values, str):
        return pd.Categorical.from_codes(
            np.zeros(rows, dtype=np.int8), categories=pd.Index([values], dtype=object)
        )
    if not isinstance(values, pd.Categorical):
        codes, texts = pd.factorize(np.asarray(values, dtype=object))
    else:
        codes, texts = values.codes, values.categories
    if len(codes) and codes.min() < 0:
        raise TraceError(
            f"column {field.name} has missing values", allowed="text; empty text where there is none"
        )
    return categories_of(codes, texts)
