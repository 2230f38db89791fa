"""Arrow arrays of numbers and of text without pandas, which ``pyarrow.array`` loads whatever it is given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from scheduler_sim.texts import TextColumn

if TYPE_CHECKING:
    import pyarrow as pa


def number_array(values: np.ndarray) -> pa.Array:
    """Return numbers as they are, in the same memory where that is contiguous; NaN is a number."""
    import pyarrow as pa

    whole = np.ascontiguousarray(values)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(whole.dtype), len(whole), [None, pa.py_buffer(whole)], null_count=0
    )


def numbers_of(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return a column of numbers, none of which is missing, as an array; of one chunk in the same memory."""
    chunks = getattr(column, "chunks", [column])
    dtype = column.type.to_pandas_dtype()
    parts = [
        np.frombuffer(chunk.buffers()[1], dtype, len(chunk), chunk.offset * np.dtype(dtype).itemsize)
        for chunk in chunks
        if len(chunk)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


def word_array(texts: Iterable[str]) -> pa.StringArray:
    """Return texts one by one. Raises UnicodeEncodeError for one that is not Unicode."""
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(encoded), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))], null_count=0
    )


def text_array(column: TextColumn) -> pa.DictionaryArray:
    """Return a column of text as a dictionary, its categories as they are."""
    import pyarrow as pa

    codes = number_array(column.codes.astype(np.int32, copy=False))
    return pa.DictionaryArray.from_arrays(codes, word_array(column.categories))
