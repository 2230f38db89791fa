"""Which receive gets which message, which wait is for what, and which collective operations are one.

All of that is fixed by the order in which each process does things: the k-th message of a channel (sender,
receiver, tag, group) goes to its k-th receive, the k-th operation of a process in a group is the k-th of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import InputError
from scheduler_sim.messages.trace import (
    COLLECTIVE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    NONE,
    OPERATIONS,
    SEND,
    WAIT,
    WAIT_COLLECTIVE,
    WAITALL,
    MessageTrace,
)

MOST_NAMED = 8
"""Records that one message of an error names."""


@dataclass(frozen=True)
class Matching:
    """What belongs together.

    Attributes
    ----------
    sends, receives : int64[m], rows of each message; a message that nobody receives has receive -1
    message : int64[n], message of a send or receive; -1 elsewhere
    wait_first, waited : a row that waits does so for the rows ``waited[wait_first[row]:wait_first[row +
        1]]``, in
        their order; wait_first is int64[n + 1]
    operation_rows : int64[k], first row of each collective operation
    operation_of : int64[n], which collective operation a row is of or waits for; -1 elsewhere
    members : int64[k], how many processes take part
    sent, received : int64[k], the most bytes that one of them gives and gets
    """

    sends: Ints
    receives: Ints
    message: Ints
    wait_first: Ints
    waited: Ints
    operation_rows: Ints
    operation_of: Ints
    members: Ints
    sent: Ints
    received: Ints


def match(trace: MessageTrace) -> Matching:
    """Find what belongs together.

    Raises InputError, naming process and record, for a receive without its message, a wait without what it
    waits
    for, and collective operations that are not the same for all.
    """
    sends, receives, message = _messages(trace)
    wait_first, waited = _waits(trace)
    return Matching(sends, receives, message, wait_first, waited, *_operations(trace))


def named(trace: MessageTrace, rows: Iterable[int], total: int) -> str:
    """Name some records of many, a line each."""
    lines = [f"  {trace.where(int(row))}" for row in islice(rows, MOST_NAMED)]
    if total > len(lines):
        lines.append(f"  and {total - len(lines)} more")
    return "\n".join(lines)


def _messages(trace: MessageTrace) -> tuple[Ints, Ints, Ints]:
    rows = np.flatnonzero((trace.kind >= SEND) & (trace.kind <= IRECV))
    is_send = trace.kind[rows] <= ISEND
    here, there = trace.process[rows], trace.peer[rows]
    pair = np.where(is_send, here * trace.processes + there, there * trace.processes + here)
    key = [column for column in (trace.tag[rows], trace.group[rows], pair) if (column != column[:1]).any()]
    order = np.lexsort((~is_send, *key))  # stable: rows of a channel keep their order, sends first
    rows, is_send = rows[order], is_send[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = False
    for column in key:
        new[1:] |= np.diff(column[order]) != 0
    start = np.flatnonzero(new)
    channel = np.cumsum(new) - 1
    sent = np.bincount(channel, weights=is_send).astype(np.int64)
    place = np.arange(len(rows)) - start[channel]  # within the channel
    nth = np.where(is_send, place, place - sent[channel])
    lonely = ~is_send & (nth >= sent[channel])
    if lonely.any():
        found = np.sort(rows[lonely])
        raise InputError(
            f"{trace.name}: {len(found)} receives get no message: deadlock; allowed: a send for each\n"
            + named(trace, found, len(found))
        )
    sends = np.sort(rows[is_send])
    number = np.full(len(trace), NONE, dtype=np.int64)
    number[sends] = np.arange(len(sends))
    got = ~is_send
    number[rows[got]] = number[rows[start[channel[got]] + nth[got]]]
    receives = np.full(len(sends), NONE, dtype=np.int64)
    receives[number[rows[got]]] = rows[got]
    return sends, receives, number


def _waits(trace: MessageTrace) -> tuple[Ints, Ints]:
    """Say what each wait is for: its request, the oldest receive of a channel, or all that is under way."""
    n = len(trace)
    posts = np.flatnonzero((trace.kind == ISEND) | (trace.kind == IRECV))
    by = np.full(n, n, dtype=np.int64)  # row of the wait of each post
    for which in (_by_request(trace, posts), _by_channel(trace, posts)):
        posted, wait = which
        later = posted < wait
        by[posted[later]] = wait[later]
    every = np.flatnonzero(trace.kind == WAITALL)
    if len(every):
        after = np.append(every, n)[np.searchsorted(every, posts)]
        same = trace.process[np.minimum(after, n - 1)] == trace.process[posts]
        by[posts] = np.minimum(by[posts], np.where(same, after, n))
    waits = by[posts]
    posts, waits = posts[waits < n], waits[waits < n]
    order = np.argsort(waits, kind="stable")
    many = np.bincount(waits, minlength=n).astype(np.int64)
    idle = np.flatnonzero((trace.kind == WAIT) & (many[:n] == 0))
    if len(idle):
        raise InputError(
            f"{trace.name}: {len(idle)} waits have no operation to wait for; allowed: an isend"
            f" or irecv before each\n{named(trace, idle, len(idle))}"
        )
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(many)]), posts[order]


def _by_request(trace: MessageTrace, posts: Ints) -> tuple[Ints, Ints]:
    waits = np.flatnonzero((trace.kind == WAIT) & (trace.request >= 0))
    rows = np.concatenate([posts[trace.request[posts] >= 0], waits])
    order = np.lexsort((rows, trace.request[rows], trace.process[rows]))
    rows = rows[order]
    same = (np.diff(trace.request[rows]) == 0) & (np.diff(trace.process[rows]) == 0)
    pairs = same & (trace.kind[rows[:-1]] != WAIT) & (trace.kind[rows[1:]] == WAIT)
    return rows[:-1][pairs], rows[1:][pairs]


def _by_channel(trace: MessageTrace, posts: Ints) -> tuple[Ints, Ints]:
    """Pair the k-th wait for a channel with its k-th irecv, as Dimemas' traces have it."""
    waits = np.flatnonzero((trace.kind == WAIT) & (trace.request < 0))
    posts = posts[(trace.kind[posts] == IRECV) & (trace.request[posts] < 0)]

    def in_order(rows: Ints) -> tuple[Ints, np.ndarray]:
        keys = [column[rows] for column in (trace.tag, trace.group, trace.peer, trace.process)]
        order = np.lexsort((rows, *keys))
        return rows[order], np.stack([key[order] for key in keys])

    posts, channel = in_order(posts)
    waits, asked = in_order(waits)
    if len(posts) == len(waits) and (channel == asked).all():
        return posts, waits
    first: dict[tuple[int, ...], list[int]] = {}
    for row, key in zip(posts.tolist(), channel.T.tolist(), strict=True):
        first.setdefault(tuple(key), []).append(row)
    left = {key: iter(rows) for key, rows in first.items()}
    found = [
        (next(left.get(tuple(key), iter(())), NONE), row)
        for row, key in zip(waits.tolist(), asked.T.tolist(), strict=True)
    ]
    pairs = np.array([pair for pair in found if pair[0] != NONE], dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _operations(trace: MessageTrace) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    begun = np.flatnonzero((trace.kind == COLLECTIVE) | (trace.kind == ICOLLECTIVE))
    of = np.full(len(trace), NONE, dtype=np.int64)
    group, process = trace.group[begun], trace.process[begun]
    order = np.lexsort((begun, process, group))
    rows, group, process = begun[order], group[order], process[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (np.diff(group) != 0) | (np.diff(process) != 0)
    place = np.arange(len(rows)) - np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))
    order = np.lexsort((process, place, group))  # the k-th of each process of a group, together
    rows, group, place = rows[order], group[order], place[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (np.diff(group) != 0) | (np.diff(place) != 0)
    number = np.cumsum(new) - 1
    start = np.flatnonzero(new)
    of[rows] = number
    _check_members(trace, rows, number, start)
    members = np.bincount(number, minlength=len(start)).astype(np.int64)
    sent, received = np.zeros(len(start), dtype=np.int64), np.zeros(len(start), dtype=np.int64)
    np.maximum.at(sent, number, trace.bytes[rows])
    np.maximum.at(received, number, trace.received[rows])
    _waited_operations(trace, of)
    return rows[start], of, members, sent, received


def _check_members(trace: MessageTrace, rows: Ints, number: Ints, start: Ints) -> None:
    for group in np.unique(trace.group[rows]).tolist():
        mine = rows[trace.group[rows] == group]
        foreign = mine[~np.isin(trace.process[mine], trace.groups[group])] if group else mine[:0]
        if len(foreign):
            raise InputError(
                f"{trace.name}: {trace.where(int(foreign[0]))}: the process is not a member of its"
                " group; allowed: members"
            )
    other = trace.operation[rows] != trace.operation[rows[start]][number]
    if other.any():
        row = int(rows[other][0])
        first = int(rows[start][number[other][0]])
        raise InputError(
            f"{trace.name}: found different collective operations where one was expected:"
            f" {trace.where(row)}, but {trace.where(first)}; allowed: the same operation of"
            " all processes of a group"
        )
    sizes = np.array([len(group) for group in trace.groups], dtype=np.int64)
    missing = np.bincount(number, minlength=len(start)) < sizes[trace.group[rows[start]]]
    if missing.any():
        which = int(np.flatnonzero(missing)[0])
        there = trace.process[rows[number == which]]
        away = np.setdiff1d(trace.groups[trace.group[rows[start[which]]]], there)
        raise InputError(
            f"{trace.name}: deadlock: {trace.where(int(rows[start[which]]))}: process"
            f" {away[0]}{f' and {len(away) - 1} more' if len(away) > 1 else ''} of its group"
            " never reach it; allowed: an operation of all processes of a group"
        )


def _waited_operations(trace: MessageTrace, of: Ints) -> None:
    """Pair waits for operations with those that were begun, by process, group and operation, in order."""
    waits = np.flatnonzero(trace.kind == WAIT_COLLECTIVE)
    if not len(waits):
        return
    begun = np.flatnonzero(trace.kind == ICOLLECTIVE)
    left: dict[tuple[int, ...], list[int]] = {}
    for row in begun[::-1].tolist():
        left.setdefault(_asked(trace, row), []).append(row)
    for row in waits.tolist():
        found = left.get(_asked(trace, row))
        if not found or found[-1] > row:
            name = OPERATIONS[trace.operation[row]]
            raise InputError(
                f"{trace.name}: {trace.where(row)}: no {name} is under way; allowed: one begun for each"
            )
        of[row] = of[found.pop()]


def _asked(trace: MessageTrace, row: int) -> tuple[int, ...]:
    return int(trace.process[row]), int(trace.group[row]), int(trace.operation[row])
