"""Lists of node numbers as text: ``0-3,7``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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


def node_shares(shares: Mapping[str, np.ndarray]) -> str:
    """Write what a job has of each node, of each kind of which that differs: ``cores=7,1;gpus=1,0``."""
    differing = ((kind, own) for kind, own in shares.items() if len(own) and (own != own[0]).any())
    return ";".join(
        f"{kind}={','.join(f'{value:.15g}' for value in own.tolist())}" for kind, own in differing
    )


def shares_in(text: str) -> dict[str, list[float]]:
    """Read such shares, by kind. Raises ValueError where they are none."""
    return {kind: list(map(float, own.split(","))) for kind, own in _items(text)} if text else {}


def _items(text: str) -> Iterable[tuple[str, str]]:
    for item in text.split(";"):
        kind, sign, own = item.partition("=")
        if not sign:
            raise ValueError(f"{text!r:.60} are no shares of nodes")
        yield kind, own


def _ranges(text: str) -> Iterable[range]:
    for item in text.split(","):
        first, _, last = item.partition("-")
        yield range(int(first), int(last or first) + 1)
