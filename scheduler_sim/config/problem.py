"""One thing that is wrong with a configuration, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from scheduler_sim.errors import did_you_mean

Location = tuple[str | int, ...]

MOST_LISTED = 50


@dataclass(frozen=True)
class Problem:
    """A key, what was found under it and what is allowed.

    Attributes
    ----------
    where : keys and list positions from the top, as in ``("modules", 0, "nodes")``.
    text : what is wrong, usually ``found ...; allowed: ...``.
    """

    where: Location
    text: str

    def __str__(self) -> str:
        key = key_path(self.where)
        return f"{key}: {self.text}" if key else self.text


def key_path(where: Location) -> str:
    """``modules[0].nodes`` for ``("modules", 0, "nodes")``."""
    path = ""
    for step in where:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            shown = step if step.isprintable() and len(step) <= 60 else repr(step[:60])
            path += f".{shown}" if path else shown
    return path


def found(value: object) -> str:
    """Name a value in a message: short, on one line."""
    if value is None:
        return "found nothing"
    if isinstance(value, bool):
        return f"found {str(value).lower()}"
    if isinstance(value, dict):
        return "found a mapping"
    if isinstance(value, list | tuple):
        return "found a list"
    try:
        shown = repr(value[:100] if isinstance(value, str) else value)
    except ValueError:  # an integer of thousands of digits
        return "found a number of thousands of digits"
    return f"found {shown if len(shown) <= 80 else shown[:77] + '...'}"


def one_of(words: Sequence[str], wrong: object) -> str:
    """List what is allowed, with a hint at the nearest word; cut where the list is long."""
    hint = did_you_mean(wrong[:80], words) if isinstance(wrong, str) else ""
    if len(words) > MOST_LISTED:
        return f"allowed: {', '.join(words[:5])} ... and {len(words) - 5} more{hint}"
    return f"allowed: {', '.join(words)}{hint}"


def listed(problems: Iterable[str]) -> list[str]:
    """Return the problems, cut after the first fifty."""
    rest = iter(problems)
    shown = list(islice(rest, MOST_LISTED))
    more = sum(1 for _ in rest)
    return [*shown, f"... and {more} more"] if more else shown
