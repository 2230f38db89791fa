"""Columns as text for a page: integers as narrow as they fit, gzip, base64.

Before compression there stand: the length of the header (uint32), the header (JSON, padded with spaces),
then each column, all at multiples of 8 bytes, little-endian. ``unpack`` in ``assets/data.js`` reads it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scheduler_sim.arrays import Ints
from scheduler_sim.report.wording import plain

EXACT = 2**53
"""Integers below this are exact in JavaScript."""


@dataclass(frozen=True)
class Words:
    """A column of text: int64[n] codes into words."""

    codes: Ints
    words: list[str]


@dataclass(frozen=True)
class Growing:
    """A column that hardly ever falls, int64[n]: its differences are packed."""

    values: Ints


def words(values: pd.Series) -> Words:
    """Take a column of text as words in order of first appearance, made plain for people's eyes."""
    codes, found = pd.factorize(values.astype(object), use_na_sentinel=True)
    return Words(codes.astype(np.int64) + 1, ["", *map(_plain, found)])


def numbers(values: Ints) -> Ints | Words:
    """Take a column of integers; those beyond what JavaScript holds exactly become words."""
    if len(values) and np.abs(values.astype(np.float64)).max() >= EXACT:
        return words(pd.Series(values.astype(str)))
    return values


def pack(columns: Mapping[str, Ints | Words | Growing]) -> str:
    """Pack columns of any length as base64 text; the same columns give the same text."""
    described: list[dict[str, Any]] = []
    blocks: list[bytes] = []
    for name, column in columns.items():
        values = column if isinstance(column, np.ndarray) else None
        entry: dict[str, Any] = {"name": name}
        if isinstance(column, Words):
            values, entry["words"] = column.codes, column.words
        elif isinstance(column, Growing):
            values, entry["growing"] = np.diff(column.values, prepend=0), True
        assert values is not None
        narrow = _narrow(values)
        described.append(entry | {"type": narrow.dtype.str[1:], "length": len(narrow)})
        blocks.append(_padded(narrow.tobytes(), b"\0"))
    header = json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode()
    header = _padded(b"\0" * 4 + header, b" ")[4:]
    whole = len(header).to_bytes(4, "little") + header + b"".join(blocks)
    return base64.b64encode(gzip.compress(whole, 6, mtime=0)).decode("ascii")


def _narrow(values: Ints) -> NDArray[Any]:
    for dtype in ("<i1", "<i2", "<i4"):
        limits = np.iinfo(dtype)
        if len(values) == 0 or (values.min() >= limits.min and values.max() <= limits.max):
            return values.astype(dtype)
    return values.astype("<f8")


def _padded(block: bytes, filler: bytes) -> bytes:
    return block + filler * (-len(block) % 8)


def _plain(word: object) -> str:
    """Return :func:`plain`, the short way for the usual word."""
    text = str(word)
    usual = len(text) <= 40 and text.isascii() and text.isprintable() and " " not in text
    return text if usual else plain(text)
