"""Advance reservations as operators have made them: for whom, from when to when, and what may be changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.system.reservations import ReservationChangeKeys, ReservationKeys
from scheduler_sim.system.system import System
from scheduler_sim.units import DAY, HOUR

Flags = NDArray[np.bool_]

YEAR_S = 365 * DAY
WEEK = 7 * DAY
MOST_DELAY_S = 600  # so far in the past a start may lie
MOST_DELAY_OF_CHANGE_S = 60
EVERY_S = {"HOURLY": HOUR, "DAILY": DAY, "WEEKLY": WEEK}
"""From one turn to the next."""

REASONS = (
    "",
    "access denied",
    "no such reservation",
    "reservation is gone",
    "does not fit in its reservation",
)
"""Why a component was rejected, or waits for ever, by the numbers of the core."""

ALLOWED, DENIED, INVALID, DELETED, TOO_LARGE = range(5)


@dataclass(frozen=True)
class Standing:
    """A reservation as it was made, and changed since. Its times, which move on, stand elsewhere.

    Attributes
    ----------
    duration : s, None: it was given an end
    nodes : bool[..], those of all modules
    features : what those must have that it gets by number
    """

    name: str
    number: int
    partition: str
    users: tuple[str, ...]
    groups: tuple[str, ...]
    accounts: tuple[str, ...]
    flags: frozenset[str]
    duration: int | None
    nodes: Flags
    features: str = ""

    @property
    def may_overlap(self) -> bool:
        """Whether it may have nodes of others."""
        return bool(self.flags & {"MAINT", "OVERLAP"})

    def admits(self, by: Submitter) -> bool:
        """Whether it is for the jobs of that user, groups and account."""
        return (
            _lists((by.user,), self.users)
            and _lists(by.groups, self.groups)
            and _lists(by.accounts, self.accounts)
        )

    def for_others(self, keys: ReservationChangeKeys) -> Standing:
        """Return it as it is for whom a change names; users take the place of groups, and groups of users."""
        users, groups = tuple(keys.users), tuple(keys.groups)
        if not users and not groups:
            users, groups = self.users, self.groups
        return replace(self, users=users, groups=groups, accounts=tuple(keys.accounts) or self.accounts)


class Submitter(NamedTuple):
    """By whom a job is: its user, the groups known of that user, and its account, with those it stands in."""

    user: str
    groups: tuple[str, ...]
    accounts: tuple[str, ...]


def groups_of(users: Sequence[str], groups: Sequence[str]) -> list[tuple[str, ...]]:
    """Return of each job the groups of its user: of all jobs of that user; of no user, its own."""
    members: dict[str, set[str]] = {}
    pairs = dict.fromkeys(zip(users, groups, strict=True))
    for user, group in pairs:
        members.setdefault(user, set()).add(group)
    known = {(user, group): {group} if user == "" else members[user] for user, group in pairs}
    sets = {pair: tuple(sorted(found - {""})) for pair, found in known.items()}
    return [sets[pair] for pair in zip(users, groups, strict=True)]


class Answer(NamedTuple):
    """What an operator was told; nothing if it was done."""

    time: int
    name: str
    said: str


class Times(NamedTuple):
    """From when to when one stands, s, and how long that was to be where it was given no end."""

    start: int
    end: int
    duration: int | None


def operators(
    system: System, second: Callable[[int | str], int]
) -> list[tuple[int, ReservationKeys | ReservationChangeKeys]]:
    """Return what operators do while a run goes on, by time; ``second`` tells a moment in s."""
    told: tuple[ReservationKeys | ReservationChangeKeys, ...] = (
        *system.reservations,
        *system.reservation_changes,
    )
    found = [(second(one.at), one) for one in told if one.at is not None]
    return sorted(found, key=lambda change: change[0])


def make_standing(system: System, create: Callable[[ReservationKeys], object]) -> None:
    """Make what stands when a run begins; raises ConfigError with what scontrol says where it refuses."""
    for i, one in enumerate(system.reservations):
        if one.at is None:
            try:
                create(one)
            except InputError as error:
                raise ConfigError(
                    f"system.reservations[{i}]: {one.name}: {error}; allowed: other nodes or times, or flags"
                    " that permit it (MAINT beside others, IGNORE_JOBS beside jobs)"
                ) from None


def times_asked(keys: ReservationKeys, now: int, second: Callable[[int | str], int]) -> Times:
    """Return from when to when a new one is to stand; ``second`` tells a moment in s.

    Raises InputError with what scontrol says where it refuses.
    """
    start = now if keys.start is None else second(keys.start)
    if keys.at is not None and start < now - MOST_DELAY_S:
        raise InputError("Invalid time specified")
    duration = None if keys.end is not None else keys.duration or YEAR_S
    end = second(keys.end) if keys.end is not None else start + int(duration or 0)
    if end <= start:
        raise InputError("Invalid time specified")
    return Times(start, end, duration)


def standing(keys: ReservationKeys, number: int, system: System, times: Times, nodes: Flags) -> Standing:
    """Return a new one, with the nodes that it has so far."""
    partition = system.partition(keys.partition) if keys.partition else system.default_partition
    flags = frozenset(keys.flags)
    users, groups, accounts = tuple(keys.users), tuple(keys.groups), tuple(keys.accounts)
    return Standing(
        keys.name,
        number,
        partition.name,
        users,
        groups,
        accounts,
        flags,
        times.duration,
        nodes,
        keys.features,
    )


def moved(old: Times, keys: ReservationChangeKeys, asked: Times, now: int) -> Times:
    """Return the times as far as they are to be others; ``asked`` has the moments of the keys in s.

    Raises InputError with what scontrol says where it refuses.
    """
    start, end, duration = old
    if keys.start is not None:
        if start <= now:
            raise InputError("Reservation already started")
        start = asked.start
        if start < now - MOST_DELAY_OF_CHANGE_S:
            raise InputError("Invalid time specified")
        end = end if duration is None else start + duration
    if keys.end is not None:
        end, duration = asked.end, None
        if end < now - MOST_DELAY_OF_CHANGE_S:
            raise InputError("Invalid time specified")
    if keys.duration is not None:
        duration = keys.duration
        end = max(now, start + duration)
    if start >= end:
        raise InputError("Invalid time specified")
    return Times(start, end, duration)


def meet(one: tuple[int, int, frozenset[str]], other: tuple[int, int, frozenset[str]]) -> bool:
    """Whether they stand at the same time, those HOURLY and DAILY at any time within a week."""
    mine, theirs = _turns(*one), _turns(*other)
    return bool(((mine[:, None, 0] < theirs[None, :, 1]) & (theirs[None, :, 0] < mine[:, None, 1])).any())


def lowest(nodes: Flags, count: int) -> Flags:
    """Return so many of the nodes, those of the lowest numbers."""
    kept = np.zeros_like(nodes)
    kept[np.flatnonzero(nodes)[:count]] = True
    return kept


def _turns(start: int, end: int, flags: frozenset[str]) -> Ints:
    """int64[t, 2]: start and end of each turn that counts: those of a week are held against others."""
    step = next((EVERY_S[flag] for flag in EVERY_S if flag in flags), WEEK)
    moves = step * np.arange(WEEK // step, dtype=np.int64)
    return np.stack([start + moves, end + moves], axis=1)


def _lists(names: Sequence[str], listed: tuple[str, ...]) -> bool:
    """Whether a list has one of the names; one with minus signs has all others."""
    if not listed:
        return True
    if listed[0].startswith("-"):
        return not any(f"-{name}" in listed for name in names)
    return any(name in listed for name in names)
