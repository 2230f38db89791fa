"""Columns of others that no column of ours is: carried on, to Parquet, CSV and the results, as they are."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

from scheduler_sim.arrays import in_order_of_appearance
from scheduler_sim.texts import TextColumn

CARRIED = "trace_"
"""Begins the names of such columns."""

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")


def carried_values(column: pa.Array) -> Any:
    """Return a column as it is carried: int64[rows], float64[rows] or text; None for lists and the like.

    Numbers stay numbers: whole ones int64 where none is missing, else float64, NaN where nothing is said.
    Text that is nothing but whole numbers is such. All else is text, empty where nothing is said.
    """
    kind = column.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return None
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    kind = column.type
    if pa.types.is_integer(kind) and not column.null_count and not pa.types.is_uint64(kind):
        return column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
    texts = texts_of(column)
    words = list(texts.categories)
    if words and all(map(_WHOLE.fullmatch, words)):
        return np.array([int(word) for word in words], dtype=np.int64)[texts.codes]
    return texts


def carried_numbers(values: np.ndarray) -> np.ndarray:
    """Return numbers as they are carried: whole ones int64."""
    whole = bool((values == np.rint(values)).all() and (np.abs(values) < 2**53).all())
    return np.array(values, dtype=np.int64 if whole else np.float64)


def texts_of(column: pa.Array) -> TextColumn:
    """Return a column as text; empty where it says nothing."""
    if pa.types.is_floating(column.type):
        column = _as_whole_numbers(column)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    words = ["" if word is None else str(word) for word in column.dictionary.to_pylist()]
    codes = column.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    of_row = [*words, ""]
    used = in_order_of_appearance(codes, len(of_row))
    known = {word: code for code, word in enumerate(dict.fromkeys(of_row[code] for code in used.tolist()))}
    places = np.array([known.get(word, 0) for word in of_row], dtype=np.int64)
    return TextColumn(places[codes], known)


def _as_whole_numbers(column: pa.Array) -> pa.Array:
    """Numbers such as ids are whole though they stand as decimals, as some were missing."""
    values = column.to_numpy(zero_copy_only=False)
    there = ~np.isnan(values)
    if (np.abs(values[there]) < 2**53).all() and (values[there] == np.floor(values[there])).all():
        return pa.array(np.where(there, values, 0).astype(np.int64), mask=~there)
    return column
