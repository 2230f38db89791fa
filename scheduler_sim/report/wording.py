"""How times, sizes and names are written for people."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from textwrap import wrap

LINE = 96
LONGEST_NAME = 40


def clock(seconds: int) -> str:
    """Write a point in time, in seconds after the trace began, as ``12d 03:05:00``."""
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    days, rest = divmod(int(seconds), 86400)
    return f"{sign}{days}d {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def duration(seconds: int) -> str:
    """Write a span of time exactly: ``52 s``, ``4:47:50``, ``2d 04:47:50``."""
    seconds = int(seconds)
    if abs(seconds) < 60:
        return f"{seconds} s"
    if abs(seconds) < 86400:
        sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return clock(seconds)


def date(unix_time: int) -> str:
    """Write a Unix time as a date in UTC, or nothing where the calendar ends."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(unix_time))
    except OverflowError:
        return ""
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def count(number: int, noun: str) -> str:
    """Write a number and its noun: ``1 node``, ``12,000 nodes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Write a share as ``42 %``; what is neither nothing nor all is never written as such."""
    if 0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{100 * share:.0f} %"


def plain(name: object) -> str:
    """Make a name from a trace safe to print: no control or direction characters, not endless.

    Names are whatever somebody put into a file; on a terminal an escape sequence
    in one of them could hide or forge what is around it.
    """
    text = "".join(sign if unicodedata.category(sign)[0] not in "CZ" else " " for sign in str(name))
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3] + "..."


def listing(words: Iterable[object]) -> str:
    """Join words as a person would: ``3, 4 and 7``."""
    texts = [str(word) for word in words]
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def paragraph(text: str, indent: int = 0) -> list[str]:
    """Break a sentence or more into lines of at most ``LINE`` characters."""
    space = " " * indent
    return wrap(text, LINE, initial_indent=space, subsequent_indent=space, break_long_words=False)
