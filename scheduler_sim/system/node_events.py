"""When nodes are out of service: which, from when to when, and what becomes of the jobs on them."""

from __future__ import annotations

import re
from calendar import timegm
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import gmtime, strftime, strptime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.config.value import MOST_SECONDS, Check, Flag, Name, Text, choice, whole
from scheduler_sim.numerals import is_digits

DOWN, DRAIN, FAIL, RESUME = "DOWN", "DRAIN", "FAIL", "RESUME"
STATES = (DOWN, DRAIN, FAIL, RESUME)
MOST_COUNTED = 10_000_000
DATE = "%Y-%m-%dT%H:%M:%S"
_RANGE = r"[0-9]{1,8}(-[0-9]{1,8})?"


def _time(written: Any) -> int | str:
    """Accept seconds on the trace's clock, or a date."""
    if isinstance(written, bool) or not isinstance(written, int | str):
        raise ValueError
    if isinstance(written, str) and not is_digits(written):
        return strftime(DATE, gmtime(seconds_at(written.strip().replace(" ", "T"))))
    if not 0 <= (seconds := int(written)) <= MOST_SECONDS:
        raise ValueError
    return seconds


def seconds_at(date: str) -> int:
    """Return a date as s since 1970 on the same clock. Raises ValueError for what is none."""
    return timegm(strptime(date, DATE))


def _numbers(written: Any) -> str:
    """Accept node numbers as text, or one as a number."""
    text = str(written).replace(" ", "")
    if isinstance(written, bool) or not re.fullmatch(rf"{_RANGE}(,{_RANGE})*", text):
        raise ValueError
    return text


Time = Annotated[
    int | str, BeforeValidator(Check("seconds on the trace's clock, or a date as 2026-02-28T13:00:00", _time))
]
Numbers = Annotated[str, BeforeValidator(Check("node numbers of the module, from 0, as 0-3,7", _numbers))]


class NodeEventKeys(Keys):
    """Nodes that leave service, or come back."""

    time: Time = Field(
        description="time of the event: seconds on the trace's clock, or a date on the clock of the site"
    )
    state: Annotated[str, choice(*STATES)] = Field(
        description="`DOWN`: the jobs on the nodes end now; `DRAIN`, `FAIL`: they continue, and no"
        " other job starts there; `RESUME`: the nodes are back in service, whatever other"
        " events said"
    )
    nodes: Numbers | None = Field(
        default=None, description="which nodes: numbers in the module, from 0, as `0-3,7`"
    )
    count: Annotated[int | None, whole(1, MOST_COUNTED)] = Field(
        default=None,
        description="instead of nodes: how many; for `DOWN` drawn among all nodes in service, for the"
        " other states idle nodes first",
    )
    module: Name | None = Field(default=None, description="module of the nodes; by default the only one")
    end: Time | None = Field(
        default=None,
        description="when the nodes are back, which plans do not know; by default they stay out of service",
    )
    requeue: Flag = Field(
        default=True, description="for `DOWN`: jobs return to the queue; false: they end FAILED"
    )
    reason: Text = Field(default="", description="for people")


@dataclass(frozen=True)
class NodeEvent:
    """Nodes that leave service, or come back.

    Attributes
    ----------
    time : s on the trace's clock, or a date on that of the site.
    state : ``DOWN``: jobs on them end; ``DRAIN``, ``FAIL``: these run on; ``RESUME``: back in service.
    module : its name.
    nodes : numbers in the module, from 0, ascending; none: ``count`` nodes, whichever.
    count : how many.
    end : when they are back, as ``time``; None: never, by this event.
    requeue : whether jobs that end go back into the queue.
    reason : for people.
    """

    time: int | str
    state: str
    module: str
    nodes: tuple[int, ...] = ()
    count: int = 0
    end: int | str | None = None
    requeue: bool = True
    reason: str = ""

    @classmethod
    def of(cls, keys: NodeEventKeys, modules: list[str]) -> NodeEvent:
        """Take the keys of one, which have been checked."""
        name = next((one for one in modules if one.lower() == str(keys.module or one).lower()), modules[0])
        numbers = numbers_in(keys.nodes or "")
        count = len(numbers) or (keys.count or 0)
        return cls(
            keys.time, keys.state, name, numbers, count, keys.end, requeue=keys.requeue, reason=keys.reason
        )

    def to_dict(self) -> dict[str, Any]:
        """Return its keys, but those that have their default."""
        nodes = {"nodes": written(self.nodes)} if self.nodes else {"count": self.count}
        rest = {"end": self.end, "requeue": None if self.requeue else False, "reason": self.reason or None}
        given = {name: value for name, value in rest.items() if value is not None}
        return {"time": self.time, "state": self.state, "module": self.module, **nodes, **given}


def numbers_in(text: str) -> tuple[int, ...]:
    """Read node numbers as ``0-3,7``; each once, ascending."""
    numbers: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(numbers))


def written(numbers: tuple[int, ...]) -> str:
    """Write node numbers that ascend as ``0-3,7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)


def event_problems(listing: Any, modules: Mapping[str, int]) -> Iterator[Problem]:
    """Check what no single key can tell; ``modules`` are the nodes of each, where they can be read."""
    for i, entry in enumerate(listing) if isinstance(listing, list | tuple) else ():
        if isinstance(entry, dict):
            yield from _odd_event(("events", i), entry, modules)


def _odd_event(where: Location, entry: dict[str, Any], modules: Mapping[str, int]) -> Iterator[Problem]:
    given = [key for key in ("nodes", "count") if entry.get(key) is not None]
    if len(given) != 1:
        said = "both nodes and count" if given else "neither nodes nor count"
        yield Problem(where, f"found {said}; allowed: one of them")
    sizes = {name.lower(): nodes for name, nodes in modules.items()}
    named = entry.get("module")
    if named is None and len(modules) != 1:
        yield Problem((*where, "module"), f"found nothing, with several modules; {one_of(list(modules), '')}")
    elif named is not None and str(named).lower() not in sizes:
        yield Problem(
            (*where, "module"), f"{found(named)}, no such module; {one_of(list(modules), str(named))}"
        )
    else:
        nodes = sizes[str(named).lower()] if named is not None else next(iter(sizes.values()))
        yield from _odd_numbers(where, entry, nodes)
    begin, end = entry.get("time"), entry.get("end")
    if type(begin) is type(end) and isinstance(begin, int | str) and _follows(begin, end) is False:
        yield Problem((*where, "end"), f"{found(end)}; allowed: not before time, {begin}")
    if end is not None and entry.get("state") == RESUME:
        yield Problem((*where, "end"), f"{found(end)} with RESUME; allowed: nothing")


def _odd_numbers(where: Location, entry: dict[str, Any], nodes: int) -> Iterator[Problem]:
    """Numbers that run backwards, or that the module does not have."""
    try:
        text = _numbers(entry["nodes"]) if entry.get("nodes") is not None else ""
    except ValueError:
        return  # told as a mistake of its own
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if int(last or first) >= nodes or int(last or first) < int(first):
            allowed = f"numbers from 0 to {nodes - 1} that ascend"
            yield Problem((*where, "nodes"), f"found {part!r}; allowed: {allowed}")
            return


def _follows(begin: int | str, end: Any) -> bool | None:
    """Whether an end is not before a begin; None where these are not times."""
    try:
        first, last = (one if isinstance(one, int) else seconds_at(one) for one in (_time(begin), _time(end)))
    except ValueError:
        return None
    return first <= last
