"""Slurm's hostlist expressions: ``node[001-100,200],login1``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from scheduler_sim.errors import InputError

MOST_NAMES = 1_000_000
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def expand(text: str) -> list[str]:
    """Return the names that an expression stands for, in its order.

    A range keeps the leading zeros of its first number: ``[08-10]`` is 08, 09, 10. Several
    brackets in one name give all combinations, the last one running fastest.
    Raises InputError where the expression cannot be understood, or stands for over a million names.
    """
    names: list[str] = []
    for part in split(text):
        pieces = [_choices(piece, part) for piece in re.split(r"(\[[^\[\]]*\])", part)]
        count = len(names)
        for choices in pieces:
            count = max(count, 1) * len(choices)
        if count > MOST_NAMES:
            raise InputError(f"{_shown(part)} stands for more than {MOST_NAMES:,} names")
        names.extend("".join(chosen) for chosen in product(*pieces))
        if len(names) > MOST_NAMES:
            raise InputError(f"{_shown(text)} stands for more than {MOST_NAMES:,} names")
    return names


def split(text: str) -> list[str]:
    """Split at the commas outside brackets. Raises InputError on an empty part or an open bracket."""
    parts = re.findall(r"(?:\[[^\[\]]*\]|[^,\[\]])+|,", text.strip())
    if "".join(parts) != text.strip():
        raise InputError(
            f"found {_shown(text)}; allowed: names with closed brackets, as in node[001-100,200]"
        )
    names, commas = parts[::2], parts[1::2]
    if any(comma != "," for comma in commas) or "," in names or len(names) != len(commas) + 1:
        raise InputError(f"found {_shown(text)}; allowed: names separated by single commas")
    return [name.strip() for name in names]


def natural_key(name: str) -> tuple[tuple[str, int], ...]:
    """Key that sorts names as people do, numbers by value: node2 before node10."""
    pieces = re.split(r"([0-9]+)", name)
    return tuple((word, int(number)) for word, number in zip(pieces[::2], [*pieces[1::2], "-1"], strict=True))


def _choices(piece: str, part: str) -> list[str]:
    """The texts that one piece of a name stands for: itself, or the numbers in its brackets."""
    if not piece.startswith("["):
        return [piece]
    return [number for item in piece[1:-1].split(",") for number in _numbers(item.strip(), part)]


def _numbers(item: str, part: str) -> Iterator[str]:
    match = _RANGE.fullmatch(item)
    if match is None:
        raise InputError(f"{_shown(part)}: found {_shown(item)} in brackets; allowed: numbers and ranges")
    low, high = match[1], match[2] or match[1]
    if int(high) < int(low):
        raise InputError(f"{_shown(part)}: found the range {item}; allowed: the smaller number first")
    if int(high) - int(low) >= MOST_NAMES:
        raise InputError(f"{_shown(part)} stands for more than {MOST_NAMES:,} names")
    return (str(number).zfill(len(low)) for number in range(int(low), int(high) + 1))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
