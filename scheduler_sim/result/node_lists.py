"""Lists of node numbers as text: ``0-3,7``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def node_list(numbers: np.ndarray) -> str:
    """Write node numbers (int64[n], in any order, each once) as ranges that ascend: ``0-3,7``."""
    if not len(numbers):
        return ""
    ascending = np.sort(numbers)
    cuts = np.flatnonzero(np.diff(ascending) != 1) + 1
    runs = zip(ascending[np.append(0, cuts)], ascending[np.append(cuts, len(ascending)) - 1], strict=True)
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)


def numbers_in(text: str) -> list[range]:
    """Read such a list as ranges of numbers. Raises ValueError where it is none."""
    return list(_ranges(text)) if text else []


def _ranges(text: str) -> Iterable[range]:
    for item in text.split(","):
        first, _, last = item.partition("-")
        yield range(int(first), int(last or first) + 1)
