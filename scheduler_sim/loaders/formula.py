"""Formulas over columns: names, numbers, ``+ - * /`` and parentheses, never evaluated as code.

    sum     = product { ("+" | "-") product }
    product = factor { ("*" | "/") factor }
    factor  = number | name | quoted | "-" factor | "(" sum ")"

A name is letters, digits, ``_`` and ``.``, not beginning with a digit; any other name stands between double
quotes or backticks. ``×``, ``÷`` and ``−`` are read as the signs of the keyboard.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from scheduler_sim.errors import InputError

MOST_DEEP = 50
"""Parentheses and signs within one another."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|(?P<name>[^\W\d][\w.]*)"
    r"|\"(?P<quoted>[^\"]+)\"|`(?P<ticked>[^`]+)`|(?P<sign>[-+*/()×÷−]))"
)
_SAME = {"×": "*", "÷": "/", "−": "-"}
_ALLOWED = "names of columns, numbers, + - * / and parentheses"

Value = Callable[[str], np.ndarray]
"""Returns the column of a name as float64[rows], NaN where it says nothing."""


@dataclass(frozen=True)
class Formula:
    """A formula that was read.

    Attributes
    ----------
    text : as it was written
    names : the columns that it needs, each once
    """

    text: str
    names: tuple[str, ...]
    _steps: tuple[tuple[str, str | float], ...]

    @property
    def column(self) -> str | None:
        """The column that it is, if it is nothing but the name of one."""
        return self.names[0] if len(self._steps) == 1 and self.names else None

    def __call__(self, value: Value) -> np.ndarray:
        """Return what it comes to, float64[rows]; NaN where a column says nothing, or on a division by 0."""
        stack: list[np.ndarray] = []
        with np.errstate(all="ignore"):
            for kind, what in self._steps:
                if kind == "name":
                    stack.append(value(str(what)))
                elif kind == "number":
                    stack.append(np.array(what, dtype=np.float64))
                elif kind == "negative":
                    stack.append(-stack.pop())
                else:
                    right, left = stack.pop(), stack.pop()
                    stack.append(_OPERATIONS[kind](left, right))
        found = np.asarray(stack.pop(), dtype=np.float64)
        return np.where(np.isfinite(found), found, np.nan)


_OPERATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}


def read_formula(text: str) -> Formula:
    """Read a formula. Raises InputError with what was found and what is allowed.

    Examples
    --------
    >>> hours = {"a": np.array([1.0, 2.0]), "b c": np.array([0.5, 0.0])}
    >>> read_formula('(a - "b c") * 60')(hours.__getitem__).tolist()
    [30.0, 120.0]
    """
    reader = _Reader(text)
    reader.sum(0)
    if reader.next[0] != "end":
        raise reader.unexpected()
    steps = tuple(reader.steps)
    names = dict.fromkeys(str(what) for kind, what in steps if kind == "name")
    return Formula(text, tuple(names), steps)


class _Reader:
    """Reads from left to right, and writes what is to be done, operands first."""

    def __init__(self, text: str) -> None:
        self.text, self.steps = text, list[tuple[str, str | float]]()
        self._tokens = self._split()
        self.next = next(self._tokens)

    def _split(self) -> Iterator[tuple[str, str]]:
        place, text = 0, self.text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise InputError(
                    f"formula {self.text!r:.80}: found {text[place : place + 20]!r}; allowed: {_ALLOWED}"
                )
            kind = str(match.lastgroup)
            word = match[kind]
            yield ("name" if kind in ("quoted", "ticked") else kind), _SAME.get(word, word)
            place = match.end()
        yield "end", ""

    def _take(self) -> str:
        word = self.next[1]
        self.next = next(self._tokens)
        return word

    def sum(self, depth: int) -> None:
        self._joined("+-", self._product, depth)

    def _product(self, depth: int) -> None:
        self._joined("*/", self._factor, depth)

    def _joined(self, signs: str, part: Callable[[int], None], depth: int) -> None:
        part(depth)
        while self.next[0] == "sign" and self.next[1] in signs:
            sign = self._take()
            part(depth)
            self.steps.append((sign, ""))

    def _factor(self, depth: int) -> None:
        kind, word = self.next
        if depth > MOST_DEEP:
            raise InputError(
                f"formula {self.text!r:.80}: more than {MOST_DEEP} parentheses within one another"
            )
        if kind == "number":
            self.steps.append(("number", float(self._take())))
        elif kind == "name":
            self.steps.append(("name", self._take()))
        elif word == "-":
            self._take()
            self._factor(depth + 1)
            self.steps.append(("negative", ""))
        elif word == "(":
            self._take()
            self.sum(depth + 1)
            if self.next[1] != ")" or self.next[0] != "sign":
                raise self.unexpected("a closing parenthesis")
            self._take()
        else:
            raise self.unexpected()

    def unexpected(self, allowed: str = _ALLOWED) -> InputError:
        what = repr(self.next[1]) if self.next[0] != "end" else "its end"
        return InputError(f"formula {self.text!r:.80}: found {what}; allowed here: {allowed}")
