"""Advance reservations: nodes kept for some users from a time on, and what operators do to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Problem, found, one_of
from scheduler_sim.config.value import (
    Check,
    Count,
    Duration,
    Moment,
    Name,
    OptionalCount,
    choice,
)
from scheduler_sim.errors import InputError
from scheduler_sim.system.constraint import parse_constraint

ALL = "ALL"
REPEATED = ("HOURLY", "DAILY", "WEEKLY", "WEEKDAY", "WEEKEND")
FLAGS = (
    "MAINT",
    "OVERLAP",
    "IGNORE_JOBS",
    "FLEX",
    "ANY_NODES",
    "PURGE_COMP",
    "NO_HOLD_JOBS_AFTER",
    "PART_NODES",
    "SPEC_NODES",
    "STATIC_ALLOC",
    "MAGNETIC",
    "REPLACE",
    "REPLACE_DOWN",
    *REPEATED,
)
"""Slurm's words that are modelled; SPEC_NODES and STATIC_ALLOC say that nodes stay the same."""

REPLACING = ("REPLACE", "REPLACE_DOWN")
FLAGS_OF_SLURM = ("OVERLAP", "FLEX", "ANY_NODES", "PURGE_COMP", "MAGNETIC", *REPLACING)
"""Of these, what is modelled under policy slurm alone."""

_WORD = re.compile(r"([^\[\],]+)(?:\[([0-9,\- ]+)\])?")


def as_list(written: Any) -> list[str]:
    """Accept a list of words, or one text with commas outside brackets between them."""
    if isinstance(written, str):
        return [word.strip() for word in re.findall(r"(?:\[[^\[\]]*\]|[^,\[\]])+", written)]
    if not all(isinstance(one, str | int) and not isinstance(one, bool) for one in written):
        raise ValueError
    return [str(one) for one in written]


def as_features(written: Any) -> str:
    """Accept an expression of what each node must have; no counts of nodes, and no brackets."""
    if not isinstance(written, str) or set(written) & set("[]*"):
        raise ValueError
    try:
        parse_constraint(written)
    except InputError as error:
        raise ValueError from error
    return written


Features = Annotated[str, BeforeValidator(Check("keywords joined by & and |", as_features))]
Words = Annotated[list[str], BeforeValidator(Check("a list of words, or words with commas between", as_list))]


class ReservationKeys(Keys):
    """Nodes kept for some users, by Slurm's rules."""

    name: Name = Field(description="name by which jobs ask for it")
    at: Moment = Field(
        default=None, description="when an operator creates it; by default it exists when the run begins"
    )
    start: Moment = Field(default=None, description="its beginning; by default when it is created")
    end: Moment = Field(default=None, description="its end; by default start + duration")
    duration: Duration = Field(default=None, description="time from start to end; by default a year")
    nodes: Words = Field(
        default=[],
        description="ALL, or modules and their nodes by number from 0: [main], [main[0-9,12]]; "
        "by default as many as node_count says",
    )
    node_count: OptionalCount = Field(
        default=None,
        description="number of nodes of its partition: those with the lowest numbers that are free then",
    )
    partition: Name | None = Field(
        default=None,
        description="partition from which node_count takes nodes; by default the default partition",
    )
    features: Features = Field(
        default="", description="keywords that nodes of node_count must have, joined by & and |"
    )
    users: Words = Field(default=[], description="users who may use it; -name: all users but this one")
    groups: Words = Field(
        default=[],
        description="groups whose members may use it; -name: all but the members of this one. Not"
        " together with users",
    )
    accounts: Words = Field(
        default=[], description="accounts whose jobs may use it; -name: all accounts but this one"
    )
    flags: list[Annotated[str, choice(*FLAGS)]] = Field(
        default=[], description="flags, by the names of scontrol"
    )
    purge_comp_s: Count = Field(
        default=300, description="with PURGE_COMP: it is deleted when it has had no jobs for this time, s"
    )


class ReservationChangeKeys(Keys):
    """Change of a reservation by an operator during the run; what is not given does not change."""

    name: Name = Field(description="name of the reservation")
    at: Moment = Field(description="time of the change")
    action: Annotated[str, choice("update", "delete")] = Field(default="update", description="kind of change")
    start: Moment = Field(default=None, description="new beginning; not if the reservation has begun")
    end: Moment = Field(default=None, description="new end")
    duration: Duration = Field(default=None, description="new duration, from start to end")
    nodes: Words = Field(default=[], description="new nodes")
    node_count: OptionalCount = Field(default=None, description="new number of nodes")
    users: Words = Field(default=[], description="users who may use it from now on")
    groups: Words = Field(
        default=[], description="groups whose members may use it from now on; not beside users"
    )
    accounts: Words = Field(default=[], description="accounts whose jobs may use it from now on")

    @model_validator(mode="after")
    def _is_known(self) -> ReservationChangeKeys:
        if self.at is None:
            raise ValueError
        return self


class NodeRange(NamedTuple):
    """Nodes of a module, by number from 0."""

    module: int
    numbers: range


def nodes_named(words: Sequence[str], modules: Sequence[tuple[str, int]]) -> list[NodeRange]:
    """Return the nodes that words name; ALL is all of all modules.

    Parameters
    ----------
    words : ``main``, ``main[0-9,12]``, ALL
    modules : names of the modules, and how many nodes each has

    Raises
    ------
    InputError for modules and nodes that are not there.
    """
    if [word.upper() for word in words] == [ALL]:
        return [NodeRange(i, range(nodes)) for i, (_, nodes) in enumerate(modules)]
    return [one for word in words for one in _nodes_of(word.strip(), modules)]


def _nodes_of(word: str, modules: Sequence[tuple[str, int]]) -> Iterator[NodeRange]:
    parts = _WORD.fullmatch(word)
    if parts is None:
        raise InputError(f"found {word[:60]!r}; allowed: ALL, a module, or its nodes, as main[0-9,12]")
    names = [name.lower() for name, _ in modules]
    if parts[1].lower() not in names:
        raise InputError(f"{found(word)}, no such module; {one_of([name for name, _ in modules], parts[1])}")
    module = names.index(parts[1].lower())
    nodes = modules[module][1]
    if parts[2] is None:
        yield NodeRange(module, range(nodes))
        return
    for item in parts[2].split(","):
        limits = re.fullmatch(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?", item)
        first, last = (-1, -1) if limits is None else (int(limits[1]), int(limits[2] or limits[1]))
        if not 0 <= first <= last < nodes:
            raise InputError(f"{found(word)}; allowed: numbers from 0 to {nodes - 1}, as {parts[1]}[0-1]")
        yield NodeRange(module, range(first, last + 1))


def reservation_problems(data: dict[str, Any], partitions: list[str]) -> Iterator[Problem]:
    """Check what no single key of a reservation can tell."""
    modules = [
        (str(one["name"]), one["nodes"])
        for one in _mappings(data.get("modules"))
        if "name" in one and isinstance(one.get("nodes"), int)
    ]
    seen = set()
    for key in ("reservations", "reservation_changes"):
        for i, one in enumerate(_mappings(data.get(key))):
            if key == "reservations":
                yield from _problems_of_new(one, (key, i), partitions)
                seen.add(str(one.get("name", "")).lower())
            elif str(one.get("name", "")).lower() not in seen:
                yield Problem((key, i, "name"), f"{found(one.get('name'))}, which is never created")
            yield from _problems_of_both(one, (key, i), modules)


def _problems_of_new(one: dict[str, Any], where: tuple[str, int], partitions: list[str]) -> Iterator[Problem]:
    flags = {str(flag).upper() for flag in one.get("flags") or ()}
    if not any(one.get(key) for key in ("users", "groups", "accounts")):
        text = "found none, and no groups or accounts; allowed: its users, such as [root]"
        yield Problem((*where, "users"), text)
    if not one.get("nodes") and not one.get("node_count") and "ANY_NODES" not in flags:
        yield Problem((*where, "nodes"), "found none, and no node_count; allowed: one of them, or ANY_NODES")
    if one.get("features") and not one.get("node_count"):
        yield Problem((*where, "features"), "found without node_count; allowed: beside node_count")
    for flag in REPLACING:
        if flag in flags and not one.get("node_count"):
            yield Problem((*where, "flags"), f"found {flag} without node_count; allowed: beside node_count")
    if sum(flag in flags for flag in REPEATED) > 1:
        yield Problem(
            (*where, "flags"), f"found several ways to repeat; allowed: one of {', '.join(REPEATED)}"
        )
    named = one.get("partition")
    if named is not None and partitions and str(named).lower() not in {name.lower() for name in partitions}:
        text = f"{found(named)}, no such partition; {one_of(partitions, str(named))}"
        yield Problem((*where, "partition"), text)


def _problems_of_both(
    one: dict[str, Any], where: tuple[str, int], modules: list[tuple[str, int]]
) -> Iterator[Problem]:
    if one.get("users") and one.get("groups"):
        yield Problem((*where, "groups"), "found beside users; allowed: one of them")
    if one.get("nodes") and one.get("node_count"):
        yield Problem((*where, "node_count"), "found beside nodes; allowed: one of them")
    if one.get("end") is not None and one.get("duration") is not None:
        yield Problem((*where, "duration"), "found beside end; allowed: one of them")
    if isinstance(one.get("start"), int) and isinstance(one.get("end"), int) and one["end"] <= one["start"]:
        yield Problem((*where, "end"), f"{found(one['end'])}; allowed: later than start, {one['start']}")
    try:
        nodes_named(as_list(one.get("nodes") or []), modules)
    except InputError as error:
        yield Problem((*where, "nodes"), str(error))
    except (TypeError, ValueError):
        return  # told as a mistake of its own


def _mappings(listing: Any) -> list[dict[str, Any]]:
    return [one for one in listing if isinstance(one, dict)] if isinstance(listing, list | tuple) else []
