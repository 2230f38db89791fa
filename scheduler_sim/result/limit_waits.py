"""How long each limit held components back, as text: ``QOSMaxJobsPerUserLimit=60,AssocGrpCpuLimit=30``."""

from __future__ import annotations

import re

import numpy as np

ITEM = re.compile(r"(\w+)=([0-9]{1,18})")


def limit_waits(words: np.ndarray, waited: np.ndarray) -> np.ndarray:
    """Write what each of n components waited for each of w limits, int64[n, w] in s; ``words``: object[w]."""
    texts = np.full(len(waited), "", dtype=object)
    for row in np.flatnonzero(waited.any(axis=1)).tolist():
        own = np.flatnonzero(waited[row])
        texts[row] = ",".join(f"{words[i]}={waited[row, i]}" for i in own.tolist())
    return texts


def limit_waits_in(text: str) -> dict[str, int]:
    """Read one such text. Raises ValueError where it is none."""
    found = [ITEM.fullmatch(one) for one in text.split(",")] if text else []
    if not all(found):
        raise ValueError(f"{text!r:.60} are no waits for limits")
    return {one[1]: int(one[2]) for one in found if one}
