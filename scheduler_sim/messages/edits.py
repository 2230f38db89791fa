"""What-ifs of a trace: other bursts in the same program."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints, alike
from scheduler_sim.config.problem import one_of
from scheduler_sim.errors import InputError
from scheduler_sim.messages.trace import COLLECTIVE, COMPUTE, MARK, NONE, PS, MessageTrace
from scheduler_sim.numerals import is_digits

HERTZ_IN_GHZ = 10**9


def accelerated(trace: MessageTrace, kernel: str, times: float) -> MessageTrace:
    """Return the trace with a kernel that is this many times faster.

    A kernel is a label, or a phase by TYPE:VALUE: the bursts after an event of that type with that value,
    until the
    next of the type. InputError for one that has no bursts.
    """
    rows = _kernel(trace, kernel)
    duration = trace.duration.copy()
    duration[rows] = np.rint(duration[rows] / times).astype(np.int64)
    return trace.with_durations(duration)


def balanced(trace: MessageTrace) -> MessageTrace:
    """Return the trace with, between two collective operations of all processes, the same computation for
    each.

    That is the mean of those processes that compute there, as in D2.3, 4.2 (Balanced); each burst keeps its
    share.
    """
    size = np.array([len(group) for group in trace.groups])
    cuts = (trace.kind == COLLECTIVE) & (size[trace.group] == trace.processes)
    passed = np.cumsum(cuts)
    first = trace.first()[:-1]
    before = np.concatenate([np.zeros(1, dtype=np.int64), passed])[first]
    segment = passed - before[trace.process]
    bursts = np.flatnonzero((trace.kind == COMPUTE) & (trace.duration > 0))
    place, _ = alike([segment[bursts], trace.process[bursts]])
    total = np.bincount(place, weights=trace.duration[bursts])
    where, one = np.unique(place, return_index=True)
    of = segment[bursts][one]
    mean = np.bincount(of, weights=total[where]) / np.maximum(np.bincount(of), 1)
    factor = mean[of] / total[where]
    duration = trace.duration.copy()
    duration[bursts] = np.rint(duration[bursts] * factor[place]).astype(np.int64)
    return trace.with_durations(duration)


def without_noise(trace: MessageTrace, how: str = "median") -> MessageTrace:
    """Return the trace with each burst as long as the median, or minimum, of its kind.

    Of one kind are the bursts of one process with the same label between the same two operations. The lower
    one of
    two medians counts.
    """
    bursts, kind = _kinds(trace)
    if not len(bursts):
        return trace
    order = np.lexsort((trace.duration[bursts], kind))
    start = np.searchsorted(kind[order], np.arange(kind.max() + 1))
    many = np.bincount(kind)
    middle = start if how == "minimum" else start + (many - 1) // 2
    duration = trace.duration.copy()
    duration[bursts] = trace.duration[bursts[order[middle]]][kind]
    return trace.with_durations(duration)


def by_cycles(trace: MessageTrace, ghz: float) -> MessageTrace:
    """Return the trace with bursts as long as their cycles take: without the time in which others ran.

    Cycles are not counted while a process is preempted (Rosas et al. 2014, 2.4.2). Bursts that have no count
    stay as measured. InputError where none has one.
    """
    counted = trace.cycles >= 0
    if not counted.any():
        raise InputError(f"{trace.name}: cycles: found no burst with a count; allowed: a trace with cycles")
    duration = trace.duration.copy()
    duration[counted] = np.rint(trace.cycles[counted] * (PS / (ghz * HERTZ_IN_GHZ))).astype(np.int64)
    return trace.with_durations(duration)


def _kernel(trace: MessageTrace, kernel: str) -> Ints:
    if kernel in trace.labels:
        return np.flatnonzero(trace.label == trace.labels.index(kernel))
    kind, _, value = kernel.partition(":")
    if is_digits(kind) and is_digits(value) and len(kernel) < 40:
        rows = np.flatnonzero((trace.kind == COMPUTE) & (_phase(trace, int(kind)) == int(value)))
        if len(rows):
            return rows
    types = np.unique(trace.tag[trace.kind == MARK])[:20].tolist()
    phases = f"TYPE:VALUE of the events {', '.join(map(str, types))}" if types else ""
    allowed = (
        one_of(trace.labels, kernel)
        if trace.labels
        else f"allowed: {phases or 'nothing, no burst has a label'}"
    )
    raise InputError(f"{trace.name}: kernel: found {kernel!r}; {allowed}")


def _phase(trace: MessageTrace, kind: int) -> Ints:
    """Return the value of the last event of a type before each record, int64[n]; -1 before the first of a
    process."""
    rows = np.arange(len(trace))
    marks = (trace.kind == MARK) & (trace.tag == kind)
    last = np.maximum.accumulate(np.where(marks, rows, NONE))
    there = (last >= 0) & (trace.process[last] == trace.process)
    return np.where(there, trace.bytes[last], NONE)


def _kinds(trace: MessageTrace) -> tuple[Ints, Ints]:
    """Return the rows of bursts, and number their kinds."""
    rows = np.flatnonzero(trace.kind != MARK)
    here = trace.kind[rows] == COMPUTE
    process = trace.process[rows]

    def beside(shift: int) -> list[np.ndarray]:
        near = np.roll(rows, shift)
        same = np.roll(process, shift) == process
        columns = (trace.kind, trace.peer, trace.tag, trace.operation, trace.bytes)
        return [np.where(same, column[near], NONE)[here] for column in columns]

    bursts = rows[here]
    kind, _ = alike([trace.process[bursts], trace.label[bursts], *beside(1), *beside(-1)])
    return bursts, kind
