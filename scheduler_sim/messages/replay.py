"""Replaying a trace on a network: when each process ends, and what it did until then."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import InputError
from scheduler_sim.messages.deadlock import deadlock
from scheduler_sim.messages.kernel import BLOCKED, LATEST, TOO_LONG, run
from scheduler_sim.messages.matching import Matching, match
from scheduler_sim.messages.network import Network
from scheduler_sim.messages.plan import plan_of
from scheduler_sim.messages.state import Progress, beginning
from scheduler_sim.messages.trace import PS, MessageTrace


@dataclass(frozen=True)
class Records:
    """When each record began and ended, and where its waiting gives way to transfer (a send's: transfer to
    waiting).

    int64[n] each, ps.
    """

    begin: Ints
    middle: Ints
    end: Ints


@dataclass(frozen=True)
class Replay:
    """How a trace ran on a network.

    Attributes
    ----------
    useful, waiting, transfer, finish : int64[processes], ps; the first three add up to the last
    records : times of all records, where asked for
    """

    useful: Ints
    waiting: Ints
    transfer: Ints
    finish: Ints
    records: Records | None = None

    @property
    def run_time(self) -> int:
        """Until the last process ends, ps."""
        return int(self.finish.max(initial=0))


@dataclass(frozen=True)
class Efficiency:
    """Parallel efficiency and its factors, from whole picoseconds (Rosas et al. 2014, eqs 1 to 4; D2.3, 4.1).

    Attributes
    ----------
    processes : how many
    useful, most_useful : of all processes together, and of the one that computes longest, ps
    ideal, run_time : on the instantaneous network, and on the real one, ps
    """

    processes: int
    useful: int
    most_useful: int
    ideal: int
    run_time: int

    @property
    def load_balance(self) -> Fraction:
        """Mean useful time over the largest."""
        return _share(self.useful, self.processes * self.most_useful)

    @property
    def serialization(self) -> Fraction:
        """Largest useful time over the run time on the instantaneous network."""
        return _share(self.most_useful, self.ideal)

    @property
    def transfer(self) -> Fraction:
        """Run time on the instantaneous network over the real one."""
        return _share(self.ideal, self.run_time)

    @property
    def parallel(self) -> Fraction:
        """Mean useful time over the run time: the product of the three factors."""
        return _share(self.useful, self.processes * self.run_time)


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(1)


def replay(
    trace: MessageTrace, network: Network, *, matching: Matching | None = None, record: bool = False
) -> Replay:
    """Replay a trace on a network.

    Parameters
    ----------
    matching : of this trace, where it is known already
    record : keep the times of all records

    Raises InputError for what does not match, processes that find no core, and deadlocks, which name the
    processes and records that wait for each other.
    """
    matching = matching or match(trace)
    plan = plan_of(trace, matching, network)
    state = beginning(plan, note=record)
    ended = run(plan, state)
    if ended == TOO_LONG:
        raise InputError(
            f"{trace.name}: the run takes longer than {LATEST / PS:.4g} s; allowed: shorter bursts"
        )
    if ended == BLOCKED:
        raise deadlock(trace, plan, state)
    return _result(state, record)


def _result(state: Progress, record: bool) -> Replay:
    did, notes = state.processes, state.notes
    return Replay(
        np.ascontiguousarray(did["useful"]),
        np.ascontiguousarray(did["waiting"]),
        np.ascontiguousarray(did["transferring"]),
        np.ascontiguousarray(did["finish"]),
        Records(notes["begin"], notes["middle"], notes["end"]) if record else None,
    )


def efficiency(
    trace: MessageTrace, network: Network, real: Replay, matching: Matching | None = None
) -> Efficiency:
    """Return the factors of a replay; the trace is replayed once more, on the instantaneous network."""
    ideal = replay(trace, network.as_ideal(), matching=matching)
    useful = real.useful.tolist()
    return Efficiency(trace.processes, sum(useful), max(useful, default=0), ideal.run_time, real.run_time)
