"""A job that is not submitted yet: ``--job "nodes=4 time=2:00:00 partition=gpu"``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from scheduler_sim.errors import InputError, TraceError, did_you_mean
from scheduler_sim.workload.sacct_text import duration

TEXTS = ("partition", "user", "account", "qos", "name", "constraint")
KEYS = ("nodes", "time", *TEXTS)
SHORTER = (1, 2, 4)
"""A limit that stands alone is tried whole, halved and quartered."""
LEAST_S = 60
MOST = 24
"""So many sizes and limits are tried at most: each takes all draws once more."""


@dataclass(frozen=True)
class Asked:
    """One size and limit of a job: nodes, limit in s (-1 = that of the partition), and texts by column."""

    nodes: int
    limit: int
    texts: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """What it is called."""
        return "asked for"

    @property
    def rest(self) -> str:
        """What it asks for beside nodes and limit."""
        return "".join(f", {key} {text}" for key, text in self.texts)

    def columns(self, at: int) -> dict[str, Any]:
        """Return the columns of its row, submitted at an instant (s)."""
        said = {"nodes": self.nodes, "time_limit": self.limit, "submit_time": at, "run_time": 0}
        return {**said, **dict(self.texts)}


def read_asked(text: str) -> tuple[Asked, ...]:
    """Return the sizes and limits that a text asks for, several with commas: ``nodes=2,4 time=60,240``.

    A limit that stands alone is also tried halved and quartered.

    Examples
    --------
    >>> [(one.nodes, one.limit) for one in read_asked("nodes=4 time=2:00:00")]
    [(4, 7200), (4, 3600), (4, 1800)]
    """
    said = dict(_pairs(text))
    if "nodes" not in said:
        raise InputError(
            f"--job: found {text!r} without nodes; allowed: nodes=N with any of {', '.join(KEYS[1:])}"
        )
    nodes = [_nodes(word) for word in said.pop("nodes").split(",")]
    times = [_limit(word) for word in said.pop("time", "").split(",")]
    if len(times) == 1 and times[0] > 0:
        times = [times[0] // part for part in SHORTER if part == 1 or times[0] // part >= LEAST_S]
    if len(nodes) * len(times) > MOST:
        raise InputError(f"--job: found {len(nodes) * len(times)} sizes and limits; allowed: at most {MOST}")
    return tuple(Asked(size, limit, tuple(said.items())) for size, limit in product(nodes, times))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    seen = set()
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals or key not in KEYS or not value:
            allowed = f"KEY=VALUE with {', '.join(KEYS)}{did_you_mean(key, KEYS)}"
            raise InputError(f"--job: found {word!r}; allowed: {allowed}")
        if key in seen:
            raise InputError(f"--job: found {key} twice; allowed: once, several values with commas")
        seen.add(key)
        yield key, value


def _nodes(word: str) -> int:
    if not word.isascii() or not word.isdigit() or len(word) > 9 or int(word) < 1:
        raise InputError(f"--job: nodes: found {word!r}; allowed: whole numbers above 0, with commas")
    return int(word)


def _limit(word: str) -> int:
    """Return a limit in s, read as sbatch reads --time; -1 for none."""
    try:
        limit = duration(word)
    except TraceError as error:
        raise InputError(f"--job: time: found {word!r}; allowed: {error.allowed}") from None
    if word and limit < 1:
        raise InputError(f"--job: time: found {word!r}; allowed: minutes, h:mm:ss or d-hh:mm:ss, above 0")
    return limit
