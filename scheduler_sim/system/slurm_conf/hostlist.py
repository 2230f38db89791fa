"""Slurm's hostlist expressions: ``node[001-100,200],login1``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, product
from math import prod
from typing import Any

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
        count = prod(sum(map(len, choices)) for choices in pieces)
        if len(names) + count > MOST_NAMES:
            raise InputError(
                f"{_shown(part if count > MOST_NAMES else text)} expands to more than {MOST_NAMES:,} names"
            )
        names.extend("".join(chosen) for chosen in product(*(chain(*choices) for choices in pieces)))
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


def natural_key(name: str) -> tuple[tuple[str, int, str], ...]:
    """Key that sorts names as people do, numbers by value, of any length: node2 before node10."""
    *pieces, last = re.split(r"([0-9]+)", name)
    numbers = (number.lstrip("0") for number in pieces[1::2])
    by_value = ((word, len(number), number) for word, number in zip(pieces[::2], numbers, strict=True))
    return (*by_value, (last, -1, ""))


def _choices(piece: str, part: str) -> list[Sequence[str]]:
    """The texts that one piece of a name stands for: itself, or the ranges of numbers in its brackets."""
    if not piece.startswith("["):
        return [[piece]]
    return [_numbers(item.strip(), part) for item in piece[1:-1].split(",")]


class _Numbers(Sequence[str]):
    """A range as texts of at least so many digits, none of them made before it is asked for."""

    def __init__(self, numbers: range, digits: int) -> None:
        self.numbers, self.digits = numbers, digits

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: Any) -> Any:
        return str(self.numbers[place]).zfill(self.digits)


def _numbers(item: str, part: str) -> Sequence[str]:
    match = _RANGE.fullmatch(item)
    if match is None:
        raise InputError(f"{_shown(part)}: found {_shown(item)} in brackets; allowed: numbers and ranges")
    low, high = match[1], match[2] or match[1]
    if int(high) < int(low):
        raise InputError(f"{_shown(part)}: found the range {item}; allowed: the smaller number first")
    if int(high) - int(low) >= MOST_NAMES:
        raise InputError(f"{_shown(part)} expands to more than {MOST_NAMES:,} names")
    return _Numbers(range(int(low), int(high) + 1), len(low))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
