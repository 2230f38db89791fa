"""Processes that wait for ever, in words."""

from __future__ import annotations

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.messages.kernel import STEPS
from scheduler_sim.messages.matching import MOST_NAMED
from scheduler_sim.messages.state import Plan, Progress
from scheduler_sim.messages.trace import COLLECTIVE, RECV, SEND, WAIT_COLLECTIVE, MessageTrace


def deadlock(trace: MessageTrace, plan: Plan, state: Progress) -> InputError:
    """Return the error that names who waits for whom: a circle where there is one, else the first that
    wait."""
    stuck = np.flatnonzero(state.processes.finish < 0).tolist()
    awaited = {process: _awaited(trace, plan, state, process) for process in stuck}
    circle = _circle(awaited)
    shown = circle or stuck
    lines = [
        f"  {trace.where(int(state.processes[process].at))}, waits for process {awaited[process]}"
        for process in shown[:MOST_NAMED]
    ]
    if len(shown) > MOST_NAMED:
        lines.append(f"  and {len(shown) - MOST_NAMED} more")
    kind = f"{len(circle)} wait in a circle" if circle else f"{len(stuck)} wait for ever"
    return InputError(
        f"{trace.name}: deadlock: of {trace.processes} processes {kind}; allowed: an order in which all end\n"
        + "\n".join(lines)
    )


def _awaited(trace: MessageTrace, plan: Plan, state: Progress, process: int) -> int:
    """Return the process that another one waits for."""
    row = int(state.processes[process].at)
    if plan.kind[row] in (SEND, RECV):
        return int(trace.peer[row])
    if plan.kind[row] in (COLLECTIVE, WAIT_COLLECTIVE):
        members = trace.groups[trace.group[row]]
        operation = plan.value[row]
        come = np.isin(members, trace.process[(plan.value == operation) & _begun(trace, plan, state)])
        return int(members[~come][0])
    message = int(plan.waited[plan.wait_first[row] + state.processes[process].step // STEPS])
    sends = np.flatnonzero((trace.kind == SEND) | (trace.kind == SEND + 1))
    send = int(sends[message // 2])
    return int(trace.process[send] if message % 2 else trace.peer[send])


def _begun(trace: MessageTrace, plan: Plan, state: Progress) -> np.ndarray:
    """Tell which records of collective operations processes have come to."""
    rows = np.arange(len(trace))
    come: np.ndarray = (
        (plan.kind >= COLLECTIVE)
        & (plan.kind < WAIT_COLLECTIVE)
        & (rows <= state.processes.at[trace.process])
    )
    return come


def _circle(awaited: dict[int, int]) -> list[int]:
    """Return processes of which each waits for the next, and the last for the first; none if there are
    none."""
    seen: dict[int, int] = {}
    for start in awaited:
        path: list[int] = []
        process = start
        while process in awaited and process not in seen:
            seen[process] = start
            path.append(process)
            process = awaited[process]
        if seen.get(process) == start and process in path:
            return path[path.index(process) :]
    return []
