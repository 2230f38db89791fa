"""Why components were still waiting when a run was over, and why others were rejected: counts, and who."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from scheduler_sim.report.slurm_words import MEANING, OF_LIMITS
from scheduler_sim.report.wording import listing
from scheduler_sim.result.columns import Columns, numbers
from scheduler_sim.result.table import pieces
from scheduler_sim.texts import TextColumn

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

SHOWN = 3
"""Components that are named for each reason."""

BY_ITSELF = re.compile("PerJob|PerNode|Min|MaxWall")
"""Limits of a job by itself, in Slurm's words: whoever is beyond one waits for ever."""

GONE = "reservation is gone"
NOT_ELIGIBLE, IN_QUEUE, NO_MORE = "", "in the queue", "ReservationDeleted"


_Words = Callable[[Columns, np.ndarray], list[str]]
"""What says for some rows of a table why they are as they are."""


def first_of(ids: list[int], number: int) -> str:
    """Name the first of some components: ``components 4, 7 and 9, and 12 more``."""
    more = number - len(ids)
    names = f"component{'s' if number > 1 else ''} {listing(ids)}"
    return f"{names}, and {more:,} more" if more > 0 else names


def never_starts(word: str) -> bool:
    """Tell whether a limit stands for good against whoever is beyond it."""
    return bool(BY_ITSELF.search(word)) and word not in MEANING


def meaning_of(word: str) -> str:
    """Say why components wait that were still waiting at the end."""
    if word == NOT_ELIGIBLE:
        return "never eligible: what they wait for did not happen, or they were held"
    if word == IN_QUEUE:
        return "in the queue, with nothing more to come: too few nodes in service, or the run was stopped"
    if word in MEANING or ", " in word:
        return f"{word}: {'; '.join(MEANING.get(one, one) for one in word.split(', '))}"
    said = f"{word}: {OF_LIMITS}"
    return f"{said}; a job by itself is beyond it, and never starts" if never_starts(word) else said


def pending_lines(result: Result) -> Iterator[str]:
    """Yield how many components wait for what at the end, most first, with the first of each."""
    found = _by_word(result, "PENDING", _pending_words)
    for word, (number, ids) in found.items():
        yield f"pending: {number:,} {meaning_of(word)} ({first_of(ids, number)})"


def rejected_first(result: Result) -> dict[str, str]:
    """Return the first components that were rejected, in words, by reason; nothing if a result has none."""
    if not (result.metrics.get("counts") or {}).get("rejected"):
        return {}
    found = _by_word(result, "REJECTED", _rejected_words)
    return {word: first_of(ids, number) for word, (number, ids) in found.items() if word}


def count_pending(result: Result) -> dict[str, int]:
    """Return how many components wait for what at the end, by reason."""
    found = _by_word(result, "PENDING", _pending_words)
    return {word or "not eligible": number for word, (number, _) in found.items()}


def why_pending(facts: Columns) -> str:
    """Return why one component waits at the end, by its row of a table."""
    return str(_pending_words(facts, np.array([0]))[0])


def _by_word(result: Result, state: str, words_of: _Words) -> dict[str, tuple[int, list[int]]]:
    """Return the number of components in a state, and the ids of the first, by word; the most first."""
    found: dict[str, tuple[int, list[int]]] = {}
    for piece in pieces(result.tables[0]):
        rows = np.flatnonzero(TextColumn.of(piece["state"]) == state)
        if not len(rows):
            continue
        ids = numbers(piece, "component_id")[rows].tolist()
        for word, number in zip(words_of(piece, rows), ids, strict=True):
            before, first = found.get(word, (0, []))
            found[word] = (before + 1, [*first, number] if len(first) < SHOWN else first)
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


def _pending_words(piece: Columns, rows: np.ndarray) -> list[str]:
    eligible = numbers(piece, "eligible_time")[rows] >= 0
    held, limit, said = (
        _texts(piece, name, rows) for name in ("held_by", "limit_reason", "reservation_reason")
    )
    return [
        NO_MORE if gone == GONE else (of_limit or IN_QUEUE) if stands else kept or NOT_ELIGIBLE
        for stands, kept, of_limit, gone in zip(eligible, held, limit, said, strict=True)
    ]


def _rejected_words(piece: Columns, rows: np.ndarray) -> list[str]:
    return _texts(piece, "rejected_because", rows)


def _texts(piece: Columns, name: str, rows: np.ndarray) -> list[str]:
    if name not in piece:
        return [""] * len(rows)
    texts = TextColumn.of(piece[name])
    return [str(texts.categories[code]) for code in texts.codes[rows].tolist()]
