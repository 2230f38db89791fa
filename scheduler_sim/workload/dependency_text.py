"""What the two text columns of dependencies say: which kinds, on which ids."""

from __future__ import annotations

import re
from typing import NamedTuple

from scheduler_sim.errors import TraceError, did_you_mean
from scheduler_sim.workload.mwf_text import is_missing

#: Kinds between two components: after its start, its end, its success, its failure, the success of its task.
PAIRED = ("AFTER", "AFTERANY", "AFTEROK", "AFTERNOTOK", "AFTERCORR")
#: Kinds that need no id, by the name under which components that ask for them are counted.
ALONE = {"DYNAMIC": "dynamic", "SINGLETON": "singleton", "SINGLE": "singleton"}
DYNAMIC = "DYNAMIC"

_ID = re.compile(r"([0-9]{1,18})(?:_([0-9]{1,18}))?")
_LATER = re.compile(r"AFTER\+([0-9]{1,9})")
_ALLOWED = ", ".join(("AFTER+minutes", *PAIRED, *ALONE))


class Wish(NamedTuple):
    """One dependency as the text gives it.

    ``wanted`` is the id, None where the kind needs none, or DYNAMIC stands without one; ``task`` a
    task of the array of that id, or None; ``minutes`` how long after the start (AFTER only).
    """

    kind: str
    wanted: int | None
    task: int | None = None
    minutes: int = 0


def parse_wishes(ids: str, kinds: str) -> list[Wish]:
    """Return the dependencies that a pair of texts asks for.

    One kind stands for all ids; SINGLETON needs no id of its own beside other kinds.

    Examples
    --------
    >>> [tuple(wish) for wish in parse_wishes("7,8", "AFTEROK")]
    [('AFTEROK', 7, None, 0), ('AFTEROK', 8, None, 0)]
    >>> [tuple(wish) for wish in parse_wishes("7_2", "after+10,singleton")]
    [('AFTER', 7, 2, 10), ('SINGLETON', None, None, 0)]

    Raises
    ------
    TraceError
        for an unknown kind, an id that is none, and lists that do not pair up.
    """
    named = [] if is_missing(kinds) else [_kind(part.strip().upper()) for part in kinds.split(",")]
    wanted = [] if is_missing(ids) else [_id(part.strip(), ids) for part in ids.split(",")]
    if len(named) == 1 and wanted:
        named *= len(wanted)
    alone = [Wish(kind, None) for kind, _ in named if kind in ALONE]
    paired = [(kind, minutes) for kind, minutes in named if kind not in ALONE]
    if len(wanted) == len(named):
        pairs = zip(named, wanted, strict=True)
    elif len(wanted) == len(paired):
        pairs = zip(paired, wanted, strict=True)
    else:
        raise TraceError(
            f"the kinds do not pair up with the ids {ids!r}",
            field="dependency_kinds",
            found=kinds,
            allowed=f"one kind for each id, or one for all, of {_ALLOWED}",
        )
    found = [
        Wish(kind, *of, minutes) for (kind, minutes), of in pairs if kind == DYNAMIC or kind not in ALONE
    ]
    tied = any(wish.kind == DYNAMIC for wish in found)
    return found + [wish for wish in alone if not (tied and wish.kind == DYNAMIC)]


def _kind(text: str) -> tuple[str, int]:
    later = _LATER.fullmatch(text)
    if later:
        return "AFTER", int(later[1])
    if text not in PAIRED and text not in ALONE:
        hint = did_you_mean(text, (*PAIRED, *ALONE))
        raise TraceError(
            f"unknown kind of dependency{hint}", field="dependency_kinds", found=text, allowed=_ALLOWED
        )
    return text, 0


def _id(text: str, ids: str) -> tuple[int, int | None]:
    match = _ID.fullmatch(text)
    if not match:
        raise TraceError(
            "not a dependency",
            field="dependency_ids",
            found=ids,
            allowed="ids separated by commas, a task of an array as array_task; -1 = none",
        )
    return int(match[1]), None if match[2] is None else int(match[2])
