"""Which features a component asks of its nodes, in Slurm's notation.

Keywords joined by ``&`` (and) and ``|`` (or), grouped by parentheses or brackets:
``intel&gpu``, ``(intel|amd)&gpu``. Without grouping the signs are read from left to
right, neither binding tighter, as Slurm does. A count, ``x*4`` (four nodes with x), asks
for no more than ``x`` here, because the nodes of a module are identical; for the same
reason brackets (all nodes alike) mean the same as parentheses. Case does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from scheduler_sim.errors import InputError

NO_CONSTRAINT = ("", "NA", "-1")
MAX_CHARACTERS = 1000
_CLOSING = {"(": ")", "[": "]"}
_ALLOWED = "keywords joined by & and |, grouped by ( ) or [ ], each with an optional *count"


@dataclass(frozen=True)
class Constraint:
    """A feature expression, as its keywords and signs in postfix order; empty asks for nothing."""

    postfix: tuple[str, ...]

    def holds_for(self, features: Collection[str]) -> bool:
        """Tell whether nodes with these features will do."""
        have = {feature.lower() for feature in features}
        stack = [True]
        for token in self.postfix:
            if token in ("&", "|"):
                right, left = stack.pop(), stack.pop()
                stack.append((left and right) if token == "&" else (left or right))
            else:
                stack.append(token in have)
        return stack[-1]


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
        opens, closes, sign = token in _CLOSING, token in _CLOSING.values(), token in ("&", "|")
        if token == "*" or keyword_next != (opens or not (closes or sign)):
            raise _not_understood(text, match.start(1), token)
        if opens:
            waiting.append(token)
            continue
        if sign:
            waiting.append(token)
        elif closes:
            if not waiting or _CLOSING.get(waiting.pop()) != token:
                raise _not_understood(text, match.start(1), token)
        else:
            output.append(re.sub(r"\s*\*\s*[0-9]+$", "", token).lower())
        keyword_next = sign
        if not sign and waiting and waiting[-1] in ("&", "|"):
            output.append(waiting.pop())
    if keyword_next or waiting:
        raise _not_understood(text, len(text), "the end")
    return output


def _not_understood(text: str, position: int, token: str) -> InputError:
    shown = text if len(text) <= 80 else text[:77] + "..."
    return InputError(f"constraint {shown!r}: found {token} at character {position + 1}; allowed: {_ALLOWED}")
