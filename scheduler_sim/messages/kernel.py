"""The event loop: processes go through their records, messages take links and buses.

One file, so that Numba's cache, which looks at the file of a function alone, sees every change. With
``NUMBA_DISABLE_JIT=1`` the same runs as plain Python, to the same bytes. Events are ordered by time; at one
instant transfers end first, in the order of messages, then processes go on, by number.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import config, njit

from scheduler_sim.messages.state import Plan, Progress, Records

COMPUTE, SEND, ISEND, RECV, IRECV, WAIT, WAITALL, COLLECTIVE, ICOLLECTIVE, WAIT_COLLECTIVE, MARK = range(11)
"""As in ``trace``: constants of this file, as Numba's cache looks at no other."""

NEVER = -1
LATEST = 1 << 62

FINISHED, BLOCKED, TOO_LONG = 0, 1, 2
"""How a replay ends: all processes are through, some wait for ever, or the clock has no more room."""

OUT, IN, BUS = 0, 1, 2
STAGES = 3
STEPS = 3
"""Of a wait for one message: not begun, looking for it, blocked."""

Function = TypeVar("Function", bound=Callable[..., object])


INNER: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For functions that Python never calls: half the time to compile."""


def compiled(function: Function) -> Function:
    """Compile a function that only others here call."""
    return cast(Function, njit(**INNER)(function))


def entry(function: Function) -> Function:
    """Compile a function that Python calls, and keep it.

    It is kept in ``SCHEDULER_SIM_CACHE_DIR`` where that is set, else beside this file; where we cannot write
    there, in the user's own cache; nowhere, if that cannot be either.
    """
    settings: Any = config
    before = settings.CACHE_DIR
    if base := os.environ.get("SCHEDULER_SIM_CACHE_DIR"):
        settings.CACHE_DIR = os.path.join(os.path.abspath(base), "messages")
    try:
        return cast(Function, njit(error_model="numpy", cache=True)(function))
    except RuntimeError:
        return cast(Function, njit(error_model="numpy")(function))
    finally:
        settings.CACHE_DIR = before


@compiled
def _push(state: Progress, time: int, key: int) -> None:
    events = state.events
    place = state.many[0]
    state.many[0] = place + 1
    while place > 0:
        above = (place - 1) // 2
        if events[above].time < time or (events[above].time == time and events[above].key <= key):
            break
        events[place].time, events[place].key = events[above].time, events[above].key
        place = above
    events[place].time, events[place].key = time, key


@compiled
def _drop_first(state: Progress) -> None:
    events = state.events
    size = state.many[0] - 1
    state.many[0] = size
    time, key = events[size].time, events[size].key
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        right = below + 1
        if right < size and (
            events[right].time < events[below].time
            or (events[right].time == events[below].time and events[right].key < events[below].key)
        ):
            below = right
        if time < events[below].time or (time == events[below].time and key <= events[below].key):
            break
        events[place].time, events[place].key = events[below].time, events[below].key
        place = below
    events[place].time, events[place].key = time, key


@compiled
def _arrive(plan: Plan, state: Progress, message: int, time: int) -> None:
    """Set when a message is there, and wake who waits for it."""
    it = state.messages[message]
    it.arrival = time
    if it.receiver >= 0:
        _push(state, time + plan.messages[message].overhead, it.receiver)


@compiled
def _resource(plan: Plan, message: int, stage: int) -> int:
    """Return what a message takes next, -1 for nothing."""
    it = plan.messages[message]
    number: int = it.out if stage == OUT else it.into if stage == IN else it.bus
    return number


@compiled
def _climb(plan: Plan, state: Progress, message: int, now: int) -> None:
    """Take the links and the bus one after the other; where one is not free, queue for it."""
    it, fixed = state.messages[message], plan.messages[message]
    while it.stage < STAGES:
        number = _resource(plan, message, it.stage)
        if number >= 0:
            resource = state.resources[number]
            if resource.busy >= resource.capacity:
                it.following = NEVER
                if resource.head < 0:
                    resource.head = message
                else:
                    state.messages[resource.tail].following = message
                resource.tail = message
                return
            resource.busy += 1
        it.stage += 1
    if fixed.out >= 0 or fixed.into >= 0 or fixed.bus >= 0:
        _push(state, now + fixed.transfer, message - len(plan.messages))
    else:
        _arrive(plan, state, message, now + fixed.transfer + fixed.flight)


@compiled
def _end_transfer(plan: Plan, state: Progress, message: int, now: int) -> None:
    """Let go of links and bus; who queues for one gets it."""
    _arrive(plan, state, message, now + plan.messages[message].flight)
    for stage in range(STAGES):
        number = _resource(plan, message, stage)
        if number < 0:
            continue
        resource = state.resources[number]
        heir = resource.head
        if heir < 0:
            resource.busy -= 1
            continue
        resource.head = state.messages[heir].following
        state.messages[heir].stage += 1
        _climb(plan, state, heir, now)


@compiled
def _ask(plan: Plan, state: Progress, message: int, now: int) -> None:
    state.messages[message].ready = now
    _climb(plan, state, message, now)


@compiled
def _offer(plan: Plan, state: Progress, message: int, now: int) -> None:
    """Send off a message; one in rendezvous waits for its receive."""
    state.messages[message].offered = now
    if plan.messages[message].rendezvous == 0 or state.messages[message].posted >= 0:
        _ask(plan, state, message, now)


@compiled
def _post(plan: Plan, state: Progress, message: int, now: int) -> None:
    """Post the receive of a message; a sender in rendezvous goes on."""
    it = state.messages[message]
    it.posted = now
    if plan.messages[message].rendezvous == 1 and it.offered >= 0:
        _ask(plan, state, message, now)
        if it.sender >= 0:
            _push(state, now, it.sender)


@compiled
def _count(me: Records, until: int, now: int) -> int:
    """Count what a process was blocked: waiting until an instant, transfer from then on; returns the
    waiting."""
    waited: int = min(max(until - me.since, 0), now - me.since)
    me.waiting += waited
    me.transferring += now - me.since - waited
    return waited


@compiled
def _awaits(plan: Plan, state: Progress, message: int, receiving: bool, process: int, now: int) -> bool:
    """Tell whether a process has to wait for its receive, or its send, of a message; if so, it is woken
    then."""
    it, fixed = state.messages[message], plan.messages[message]
    if not receiving:
        if fixed.rendezvous == 0 or it.posted >= 0:
            return False
        it.sender = process
        return True
    if it.arrival < 0:
        it.receiver = process
        return True
    until = max(now, it.arrival) + fixed.overhead
    if until == now:
        return False
    _push(state, until, process)
    return True


@compiled
def _come(state: Progress, number: int, now: int) -> None:
    """Count a process that comes to a collective operation; the last one sets its end, and wakes all."""
    operation = state.operations[number]
    operation.missing -= 1
    if operation.missing > 0:
        return
    operation.last = now
    operation.done = now + operation.cost
    process = operation.waiters
    while process >= 0:
        _push(state, operation.done, process)
        process = state.processes[process].next_waiter


@compiled
def _joins(state: Progress, number: int, process: int, now: int) -> bool:
    """Tell whether a process has to wait for the end of a collective operation; if so, it is woken then."""
    operation = state.operations[number]
    if operation.done < 0:
        state.processes[process].next_waiter = operation.waiters
        operation.waiters = process
        return True
    if operation.done > now:
        _push(state, operation.done, process)
        return True
    return False


@compiled
def _compute(state: Progress, process: int, duration: int, now: int) -> bool:
    """Compute; tells whether that is over."""
    me = state.processes[process]
    if me.step == 1:
        return True
    me.step = 1
    me.useful += duration
    if duration == 0:
        return True
    _push(state, now + duration, process)
    return False


@compiled
def _send(plan: Plan, state: Progress, process: int, row: int, now: int) -> bool:
    """Pay the latency, send off, and in rendezvous wait for the receive; tells whether that is over."""
    me, message = state.processes[process], plan.value[row]
    if me.step == 0:
        me.step = 1
        if plan.messages[message].latency > 0:
            _push(state, now + plan.messages[message].latency, process)
            return False
    if me.step == 2:
        me.waiting += now - me.since
        return True
    me.transferring += now - me.since
    if len(state.notes) > 0:
        state.notes[row].middle = now
    _offer(plan, state, message, now)
    if (
        plan.kind[row] == SEND
        and plan.messages[message].rendezvous == 1
        and state.messages[message].posted < 0
    ):
        state.messages[message].sender = process
        me.since = now
        me.step = 2
        return False
    return True


@compiled
def _looked(me: Records, now: int) -> None:
    """Count the time in which a receiver looked for its message; it is blocked from here on."""
    me.transferring += now - me.since
    me.since = now


@compiled
def _receive(plan: Plan, state: Progress, process: int, row: int, now: int) -> bool:
    """Post, and wait for the message; tells whether it is there."""
    me, message = state.processes[process], plan.value[row]
    if me.step == 0:
        me.step = 1
        if plan.messages[message].lookup > 0:
            _push(state, now + plan.messages[message].lookup, process)
            return False
    if me.step == 1:
        me.step = 2
        _looked(me, now)
        _post(plan, state, message, now)
        if _awaits(plan, state, message, True, process, now):
            return False
    waited = _count(me, state.messages[message].ready, now)
    if len(state.notes) > 0:
        state.notes[row].middle += waited
    return True


@compiled
def _wait(plan: Plan, state: Progress, process: int, row: int, now: int) -> bool:
    """Wait for one message after the other, each in ``STEPS``; tells whether all are through."""
    me = state.processes[process]
    place = plan.wait_first[row] + me.step // STEPS
    while place < plan.wait_first[row + 1]:
        message, receiving = plan.waited[place] // 2, plan.waited[place] % 2 == 1
        if me.step % STEPS == 0:
            me.step += 1
            me.since = now
            if receiving and plan.messages[message].lookup > 0:
                _push(state, now + plan.messages[message].lookup, process)
                return False
        if me.step % STEPS == 1:
            me.step += 1
            _looked(me, now)
            if _awaits(plan, state, message, receiving, process, now):
                return False
        waited = _count(me, state.messages[message].ready if receiving else now, now)
        if len(state.notes) > 0:
            state.notes[row].middle += waited
        me.step += 1
        place += 1
    return True


@compiled
def _meet(plan: Plan, state: Progress, process: int, row: int, now: int) -> bool:
    """Take part in a collective operation, begin one, or wait for it; tells whether that is over."""
    me, kind, number = state.processes[process], plan.kind[row], plan.value[row]
    if me.step == 0:
        me.step = 1
        if kind != WAIT_COLLECTIVE:
            _come(state, number, now)
        if kind == ICOLLECTIVE:
            return True
        if _joins(state, number, process, now):
            return False
    waited = _count(me, state.operations[number].last, now)
    if len(state.notes) > 0:
        state.notes[row].middle += waited
    return True


@compiled
def _go_on(plan: Plan, state: Progress, process: int, now: int) -> None:
    """Take a process through its records until it has to wait for a later instant."""
    me, last, noted = state.processes[process], plan.first[process + 1], len(state.notes) > 0
    while me.at < last:
        row = me.at
        kind = plan.kind[row]
        if me.step == 0:
            me.since = now
            if noted:
                state.notes[row].begin = now
                state.notes[row].middle = now
        over = True
        if kind == COMPUTE:
            over = _compute(state, process, plan.value[row], now)
        elif kind in (SEND, ISEND):
            over = _send(plan, state, process, row, now)
        elif kind == RECV:
            over = _receive(plan, state, process, row, now)
        elif kind == IRECV:
            _post(plan, state, plan.value[row], now)
        elif kind in (WAIT, WAITALL):
            over = _wait(plan, state, process, row, now)
        elif kind != MARK:
            over = _meet(plan, state, process, row, now)
        if not over:
            return
        if noted:
            state.notes[row].end = now
        me.at = row + 1
        me.step = 0
    me.finish = now


@entry
def run(plan: Plan, state: Progress) -> int:
    """Replay to the end; returns how it ended, and leaves times in ``state``."""
    for process in range(len(state.processes)):
        _push(state, 0, process)
    while state.many[0] > 0:
        now, key = state.events[0].time, state.events[0].key
        if now > LATEST:
            return TOO_LONG
        _drop_first(state)
        if key < 0:
            _end_transfer(plan, state, key + len(plan.messages), now)
        else:
            _go_on(plan, state, key, now)
    for process in range(len(state.processes)):
        if state.processes[process].finish < 0:
            return BLOCKED
    return FINISHED
