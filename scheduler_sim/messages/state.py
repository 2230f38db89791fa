"""What the event loop reads and changes: records of int64, and tuples of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Ints
from scheduler_sim.messages.trace import NONE


def record(*names: str) -> np.dtype[np.void]:
    """Return a record of int64: what is read together lies together."""
    return np.dtype([(name, np.int64) for name in names])


MESSAGE = record("latency", "lookup", "flight", "transfer", "overhead", "rendezvous", "out", "into", "bus")
"""Of the sender's processor, of the receiver's before it looks, on the wire, holding links and bus, of the
receiver's
processor (ps); 1 where it waits for its receive; the resources that it takes one after the other: link out,
link in,
bus, -1 = without limit."""

UNDER_WAY = record("offered", "posted", "ready", "arrival", "sender", "receiver", "stage", "following")
"""A message so far, -1 = not yet: sent off, receive posted, asking for links, arrived (ps); processes that
wait for it;
resources held; next in the queue of the one that it waits for."""

PROCESS = record("at", "step", "since", "finish", "useful", "waiting", "transferring", "next_waiter")
"""A process: its record, place within it, and since when it is blocked; end and what it did (ps); the next
that
waits for the same collective operation."""

RESOURCE = record("capacity", "busy", "head", "tail")
"""A link or bus: messages that may have it, and do; its queue."""

OPERATION = record("missing", "cost", "last", "done", "waiters")
"""A collective operation: processes still to come, what it takes then (ps), when the last came, end, first
that waits."""

NOTE = record("begin", "middle", "end")
"""When a record began and ended, and where its waiting gives way to transfer (of a send: transfer to
waiting); ps."""

EVENT = record("time", "key")
"""A process that goes on, or, below 0, a message less all of them whose transfer ends."""

Records = Any
"""A record array; the compiler knows its fields."""


class Plan(NamedTuple):
    """What is replayed.

    Attributes
    ----------
    first : int64[processes + 1], first record of each process
    kind : int8[n]; value : int64[n], duration (ps), message, or collective operation of a record
    wait_first, waited : of the records that wait, twice each message, and 1 more where its receive is meant
    messages : MESSAGE[m]
    capacity : int64[r], of links and buses
    members, cost : int64[k], processes of each collective operation, and what it takes, ps
    """

    first: Ints
    kind: NDArray[np.int8]
    value: Ints
    wait_first: Ints
    waited: Ints
    messages: Records
    capacity: Ints
    members: Ints
    cost: Ints


class Progress(NamedTuple):
    """How far it is.

    Attributes
    ----------
    processes : PROCESS[processes]
    messages : UNDER_WAY[m]
    resources : RESOURCE[r]
    operations : OPERATION[k]
    notes : NOTE[n], or empty
    events : EVENT[room], a heap; many : int64[1], events in it
    """

    processes: Records
    messages: Records
    resources: Records
    operations: Records
    notes: Records
    events: Records
    many: Ints


def beginning(plan: Plan, *, note: bool) -> Progress:
    """Return the state before the first event; with ``note`` the times of all records are kept."""
    limited = sum((plan.messages[name] >= 0).astype(np.int8) for name in ("out", "into", "bus"))
    under_way = min(int(np.count_nonzero(limited)), int(plan.capacity.sum()))
    processes = blank(len(plan.first) - 1, PROCESS, at=plan.first[:-1], finish=NONE, next_waiter=NONE)
    never = ("offered", "posted", "ready", "arrival", "sender", "receiver", "following")
    return Progress(
        processes=processes,
        messages=blank(len(plan.messages), UNDER_WAY, **dict.fromkeys(never, NONE)),
        resources=blank(len(plan.capacity), RESOURCE, capacity=plan.capacity, head=NONE, tail=NONE),
        operations=blank(
            len(plan.cost),
            OPERATION,
            missing=plan.members,
            cost=plan.cost,
            last=NONE,
            done=NONE,
            waiters=NONE,
        ),
        notes=blank(len(plan.kind) if note else 0, NOTE),
        events=blank(len(processes) + under_way + 1, EVENT),
        many=np.zeros(1, dtype=np.int64),
    )


def blank(many: int, kind: np.dtype[np.void], **fields: Ints | int) -> Records:
    """Return so many records, 0 but for the fields given."""
    records = np.zeros(many, dtype=kind).view(np.recarray)
    for name, values in fields.items():
        records[name] = values
    return records
