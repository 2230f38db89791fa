"""What each process did when, as intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.messages.replay import Records
from scheduler_sim.messages.trace import COMPUTE, ISEND, SEND, MessageTrace

COMPUTING, WAITING, TRANSFER = range(3)


class Intervals(NamedTuple):
    """Whose, which state, from when to when (ps), int64[k] each, those of a process one after the other."""

    process: Ints
    state: Ints
    begin: Ints
    end: Ints


def intervals(trace: MessageTrace, records: Records) -> Intervals:
    """Return what each process did when: two intervals a record, without the empty ones."""
    sends = (trace.kind == SEND) | (trace.kind == ISEND)
    computes = trace.kind == COMPUTE
    early = np.where(computes, COMPUTING, np.where(sends, TRANSFER, WAITING))
    late = np.where(computes, COMPUTING, np.where(sends, WAITING, TRANSFER))
    pairs = (
        np.repeat(trace.process, 2),
        np.stack([early, late], axis=1).ravel(),
        np.stack([records.begin, records.middle], axis=1).ravel(),
        np.stack([records.middle, records.end], axis=1).ravel(),
    )
    there = pairs[3] > pairs[2]
    return Intervals(*(column[there] for column in pairs))
