"""Numbers as people write them: what ``int`` and ``float`` take beyond that is none.

Python reads ``30_1`` as 301, digits of other scripts, ``inf`` and ``nan``; a person who writes them means
something else.
"""

from __future__ import annotations

import math
import re

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


def integer(text: str) -> int:
    """Return the whole number that a text is, blanks around it aside. Raises ValueError for any other.

    Examples
    --------
    >>> integer(" -12 ")
    -12
    """
    if not _WHOLE.fullmatch(text.strip(" \t")):
        raise ValueError(f"not a whole number: {text[:40]!r}")
    return int(text)


def finite(text: str) -> float:
    """Return the finite number that a text is, blanks around it aside. Raises ValueError for any other.

    Examples
    --------
    >>> finite("2.5e3")
    2500.0
    """
    value = float(text) if _NUMBER.fullmatch(text.strip(" \t")) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"not a number: {text[:40]!r}")
    return value


def is_digits(text: str) -> bool:
    """Whether a text is nothing but the digits 0 to 9, at least one."""
    return text.isascii() and text.isdigit()
