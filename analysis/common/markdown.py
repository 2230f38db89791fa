"""Parts of a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table, and an empty line after it."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


def listed(names: Sequence[str]) -> str:
    """Write names as in ``fcfs, easy and conservative``."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
