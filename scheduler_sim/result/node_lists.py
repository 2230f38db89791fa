"""Lists of node numbers as text: ``0-3,7``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from scheduler_sim.texts import TextColumn

LISTS = re.compile(r"[0-9]+(?:-[0-9]+)?(?:[,\n][0-9]+(?:-[0-9]+)?)*")
COMMAS = str.maketrans("-\n", ",,")
NOTHING = np.zeros(0, dtype=np.int64)


def node_list(numbers: np.ndarray) -> str:
    """Write node numbers (int64[n], in any order, each once) as ranges that ascend: ``0-3,7``."""
    return str(node_lists(numbers, np.array([len(numbers)]))[0])


def node_lists(numbers: np.ndarray, count: np.ndarray) -> TextColumn:
    """Write the node numbers of n components, ``count`` of each (int64[n]) one after the other, as lists."""
    owner = np.repeat(np.arange(len(count)), count)
    order = np.lexsort((numbers, owner))
    ascending, owner = numbers[order], owner[order]
    begins = np.append(True, (np.diff(ascending) != 1) | (np.diff(owner) != 0))[: len(owner)]
    ends = np.append(begins[1:], True)[: len(owner)]
    first, last, of = ascending[begins], ascending[ends], owner[begins]
    _, some, kind = np.unique(
        first * (last.max(initial=0) + 1) + last, return_index=True, return_inverse=True
    )
    texts = ["", *(_range(*pair) for pair in zip(first[some].tolist(), last[some].tolist(), strict=True))]
    runs = np.bincount(of, minlength=len(count))
    behind = np.cumsum(runs)
    codes = np.zeros(len(count), dtype=np.int64)
    codes[runs == 1] = kind[behind[runs == 1] - 1] + 1
    known: dict[str, int] = {}
    for row in np.flatnonzero(runs > 1).tolist():
        text = ",".join(texts[i + 1] for i in kind[behind[row] - runs[row] : behind[row]].tolist())
        codes[row] = known.setdefault(text, len(texts) + len(known))
    return TextColumn(codes, [*texts, *known])


def _range(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}-{last}"


def runs_in(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read such lists: which each range of numbers stands in, its first and its last, int64[n] each.

    Raises ValueError where one is no such list.
    """
    listed = [i for i, text in enumerate(texts) if text]
    joined = "\n".join(texts[i] for i in listed)
    if not listed:
        return NOTHING, NOTHING, NOTHING
    if not LISTS.fullmatch(joined):
        raise ValueError("a list of nodes is not as a run writes it")
    numbers = np.fromstring(joined.translate(COMMAS), dtype=np.int64, sep=",")
    signs = np.frombuffer(joined.encode(), dtype=np.uint8)
    signs = np.append(signs[np.isin(signs, np.frombuffer(b"-,\n", dtype=np.uint8))], ord("\n"))
    ends = signs != ord("-")  # of each number: whether a range ends with it
    text = np.cumsum(np.append(0, signs[:-1] == ord("\n")))[ends]
    return np.array(listed)[text], numbers[np.append(True, ends[:-1])], numbers[ends]


def numbers_in(text: str) -> list[int]:
    """Read one such list. Raises ValueError where it is none."""
    _, first, last = runs_in([text])
    return [n for run in zip(first.tolist(), last.tolist(), strict=True) for n in range(run[0], run[1] + 1)]


def numbers_of(lists: TextColumn, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Read the lists of some components: how many nodes each has, and all of them, one after the other."""
    texts = [str(text) for text in lists.categories]
    of, first, last = runs_in(texts)
    length = last - first + 1
    numbers = np.arange(length.sum()) + np.repeat(first - np.cumsum(length) + length, length)
    each = np.bincount(of, length, minlength=len(texts)).astype(np.int64)
    codes = lists.codes[rows]
    count, begin = each[codes], (np.cumsum(each) - each)[codes]
    place = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(count.sum())
    return count, numbers[place]


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
