"""Which features a component asks of its nodes, in Slurm's notation.

Keywords joined by ``&`` (and) and ``|`` (or), grouped by parentheses or brackets:
``intel&gpu``, ``(intel|amd)&gpu``. Without grouping the signs are read from left to
right, neither binding tighter, as Slurm does. Case does not matter.

Where the nodes of a module are alike there is no more to it. Where they differ, a count
asks for so many nodes with a feature (``fast*2&slow*1``), and an ``|`` in brackets
for nodes that are all alike (``[rack1|rack2]``: one rack or the other), as in sbatch(1),
option ``--constraint``.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from scheduler_sim.errors import InputError

NO_CONSTRAINT = ("", "NA", "-1")
MAX_CHARACTERS = 1000
MAX_WAYS = 64
_CLOSING = {"(": ")", "[": "]"}
_SIGNS = ("&", "|")
_ALIKE = "[|]"  # an | in brackets, in postfix order
_ALLOWED = "keywords joined by & and |, grouped by ( ) or [ ], each with an optional *count"


@dataclass(frozen=True)
class Constraint:
    """A feature expression, as its keywords and signs in postfix order; empty asks for nothing."""

    postfix: tuple[str, ...]

    def holds_for(self, features: Collection[str]) -> bool:
        """Tell whether nodes with these features will do, if all nodes have the same."""
        have = {feature.lower() for feature in features}
        stack = [True]
        for token in self.postfix:
            if token in (*_SIGNS, _ALIKE):
                right, left = stack.pop(), stack.pop()
                stack.append((left and right) if token == "&" else (left or right))
            else:
                stack.append(token.partition("*")[0] in have)
        return stack[-1]

    def ways(self) -> tuple[Way, ...]:
        """Return the ways to meet it where nodes differ, one for each alternative in brackets.

        Raises InputError for what Slurm has no meaning for: a count, or brackets, under ``|``.
        """
        stack: list[tuple[Way, ...]] = [(Way(Constraint(())),)]
        for token in self.postfix:
            if token not in (*_SIGNS, _ALIKE):
                stack.append((_way_of(token),))
                continue
            right, left = stack.pop(), stack.pop()
            if token == "|" and not (_is_plain(left) and _is_plain(right)):
                raise InputError(
                    "constraint: found a count or brackets beside |; allowed: keywords, or | in brackets"
                )
            if token == "&":
                stack.append(tuple(one.joined(other, "&") for one in left for other in right))
            else:
                stack.append((left[0].joined(right[0], "|"),) if token == "|" else left + right)
            if len(stack[-1]) > MAX_WAYS:
                raise InputError(f"constraint: found more than {MAX_WAYS} alternatives; allowed: fewer")
        return stack[-1]


@dataclass(frozen=True)
class Way:
    """One way to meet a constraint: what every node must have, and how many nodes must have more.

    Attributes
    ----------
    every : must hold for each node.
    counts : pairs (n, feature): at least n of the nodes must have it.
    """

    every: Constraint
    counts: tuple[tuple[int, Constraint], ...] = ()

    def joined(self, other: Way, sign: str) -> Way:
        """Put two ways together by ``&`` or, for those without counts, by ``|``."""
        left, right = self.every.postfix, other.every.postfix
        both = (*left, *right, sign) if left and right else (*left, *right)
        return Way(Constraint(both), self.counts + other.counts)


def _way_of(keyword: str) -> Way:
    name, _, count = keyword.partition("*")
    if not count:
        return Way(Constraint((name,)))
    return Way(Constraint(()), ((int(count), Constraint((name,))),))


def _is_plain(ways: tuple[Way, ...]) -> bool:
    return len(ways) == 1 and not ways[0].counts


@lru_cache(maxsize=4096)
def parse_constraint(text: str) -> Constraint:
    """Read a feature expression. Raises InputError where it cannot be understood."""
    if text.strip() in NO_CONSTRAINT:
        return Constraint(())
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"constraint of {len(text)} characters; allowed: at most {MAX_CHARACTERS}")
    return Constraint(tuple(_postfix(text)))


def _postfix(text: str) -> list[str]:
    """Signs wait on a stack until their right side is complete, which is the next keyword or group."""
    output: list[str] = []
    waiting: list[str] = []
    keyword_next = True
    for match in re.finditer(r"\s*([^\s&|()\[\]*]+(?:\s*\*\s*[0-9]+)?|\S)|\s+$", text):
        token = match[1]
        if token is None:  # blanks at the end
            continue
        opens, closes, sign = token in _CLOSING, token in _CLOSING.values(), token in _SIGNS
        if token == "*" or keyword_next != (opens or not (closes or sign)):
            raise _not_understood(text, match.start(1), token)
        if opens:
            waiting.append(token)
            continue
        if sign:
            waiting.append(_ALIKE if token == "|" and "[" in waiting else token)
        elif closes:
            if not waiting or _CLOSING.get(waiting.pop()) != token:
                raise _not_understood(text, match.start(1), token)
        else:
            output.append(re.sub(r"\s*\*\s*0*", "*", token).lower())
        keyword_next = sign
        if not sign and waiting and waiting[-1] in (*_SIGNS, _ALIKE):
            output.append(waiting.pop())
    if keyword_next or waiting:
        raise _not_understood(text, len(text), "the end")
    return output


def _not_understood(text: str, position: int, token: str) -> InputError:
    shown = text if len(text) <= 80 else text[:77] + "..."
    return InputError(f"constraint {shown!r}: found {token} at character {position + 1}; allowed: {_ALLOWED}")
