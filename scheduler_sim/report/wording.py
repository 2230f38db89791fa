"""How times, sizes and names are written for people."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from textwrap import wrap
from typing import Any

LINE = 96
LONGEST_NAME = 40

NOT_HONOURED = {
    "cores": "components that ask for part of a node's cores; they have their nodes to themselves",
    "memory": "components that ask for part of a node's memory; they have their nodes to themselves",
    "gpus": "components that ask for GPUs, which are not counted; they have their nodes to themselves",
    "gres": "components that ask for other resources of a node (gres, TRES), which are not modelled",
    "nice": "components with a nice value, which has no effect",
    "switches": "components that ask to wait for few switches; they start on any",
    "oversubscribe": "components that would share their cores; they have them to themselves",
    "qos": "components of a QOS that policy.slurm.qos does not list, so their QOS factor is 0",
    "delay": "components with a delay that counts from nothing: alone, or the first of their job; they start"
    " without it",
    "association": "components of users in no association; associations are not enforced, so that they run,"
    " with one share each and no limits of their own",
    "array_limit": "tasks that start with other components: the limit of their array has no effect",
    "unknown_call": "calls of a kind that is not known, which have no effect",
    "preceding_job": "jobs that name a preceding job; they are submitted at their recorded times",
    "skipped_predecessor": "dependencies on records that are not simulated, which are left out",
    "reservation": "components that name a reservation; the system states none, so they run without one",
    "reservation_change": "changes of reservations that were refused, as scontrol refuses them",
    "licences": "components that ask for licences; the system states none, so they are not limited",
    "nam": "components that ask for network attached memory; the system states none, so it is not limited",
}
"""What the counts of ``not_honoured`` mean."""

REJECTED = {
    "partition_state": "whose partition takes no submissions (State DRAIN or INACTIVE)",
    "too_large": "larger than their partition",
    "max_nodes": "larger than MaxNodes of their partition",
    "min_nodes": "smaller than MinNodes of their partition",
    "max_time": "with a time limit above MaxTime of their partition",
    "memory": "that ask for more memory than a node has",
    "cores": "that ask for more cores than a node has",
    "gpus": "that ask for more GPUs than a node has",
    "features": "for which too few nodes have everything they ask for: features, types of GPU,"
    " amounts on one node",
    "reservation": "that may not use the reservation they name, or find none",
    "association": "of users in no association, or with an account that is not theirs",
    "limit": "beyond a limit of their QOS or association, at submission",
    "no_room": "for which the nodes of their partition have too little room even if all are idle",
    "resources": "that ask for more of a shared resource than there is",
    "application": "whose type of application runs on no module that they may use",
    "power_cap": "that would draw more than the power cap ever allows beside idle nodes",
}
"""What the counts of ``rejected_because`` mean, after a number of components."""


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


def span_text(seconds: float) -> str:
    """Write a mean span of time with sensible digits: ``0 s``, ``3.2 min``, ``1.9 h``, ``4.1 d``."""
    if seconds < 0:
        return f"−{span_text(-seconds)}"
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * size:
            return f"{short(seconds / size)} {unit}"
    return f"{short(seconds)} s"


def short(number: float) -> str:
    """Write a number with sensible digits: ``1,234``, ``3.2``, ``0.071``."""
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.3g}"


def percent_change(ratio: float) -> str:
    """Write a ratio as what changed: ``no change``, ``+12 %``, ``−3.4 %``, from twice on ``3.2 times``."""
    if ratio >= 2:
        return f"{short(float(f'{ratio:.3g}'))} times"
    change = 100 * (ratio - 1)
    digits = 0 if abs(change) >= 9.5 else 1
    text = f"{abs(change):.{digits}f}"
    if float(text) == 0:
        return "no change" if change == 0 else "under 0.1 %"
    return f"{'−' if change < 0 else '+'}{text} %"


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First signs of what spreadsheets evaluate."""


def no_formula(name: str) -> str:
    """Return a name that no spreadsheet evaluates: with an apostrophe before it, where one would."""
    return f"'{name}" if name.startswith(FORMULA) else name


def plain(name: object) -> str:
    """Make a name from a trace safe to print: no control or direction characters, not endless.

    Names are whatever somebody put into a file; on a terminal an escape sequence
    in one of them could hide or forge what is around it.
    """
    text = printable(str(name))
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3] + "..."


def printable(text: str) -> str:
    """Return a text that may hold names from files without control and direction characters."""
    return " ".join(
        "".join(sign if unicodedata.category(sign)[0] not in "CZ" else " " for sign in text).split()
    )


def doubts(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a reader of a run's metrics has to know first, and of which kind each is.

    ``not honoured``: what components ask for in vain, with its number of lines. ``warning``: the warnings.
    """
    asked = ((metrics.get("counts") or {}).get("not_honoured") or {}).items()
    lines = [f"{count(lines, 'line')}: {NOT_HONOURED.get(name, plain(name))}" for name, lines in asked]
    return [
        *(("not honoured", line) for line in lines),
        *(("warning", printable(text)) for text in metrics.get("warnings") or []),
    ]


def listing(words: Iterable[object]) -> str:
    """Join words as a person would: ``3, 4 and 7``."""
    texts = [str(word) for word in words]
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def paragraph(text: str, indent: int = 0) -> list[str]:
    """Break a sentence or more into lines of at most ``LINE`` characters."""
    space = " " * indent
    return wrap(text, LINE, initial_indent=space, subsequent_indent=space, break_long_words=False)
