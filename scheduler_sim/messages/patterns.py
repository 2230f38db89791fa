"""Made-up message traces: the patterns of which closed forms are known, and a stencil with uneven work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scheduler_sim.messages.trace import (
    COLLECTIVE,
    COMPUTE,
    IRECV,
    ISEND,
    NONE,
    OPERATIONS,
    PS,
    RECV,
    SEND,
    WAIT,
    Columns,
    MessageTrace,
)
from scheduler_sim.streams import stream

Row = tuple[int, int, int, int, int, int]
"""Kind, process, ps, peer, bytes, label or operation."""


class Script:
    """Writes a trace record by record.

    Parameters
    ----------
    name : of the trace; processes : how many
    labels : kernels by number
    """

    def __init__(self, name: str, processes: int, labels: Sequence[str] = ()) -> None:
        self.name, self.processes, self.labels = name, processes, tuple(labels)
        self.rows: list[Row] = []

    def compute(self, process: int, seconds: float, label: int = NONE) -> None:
        """Add a burst."""
        self.rows.append((COMPUTE, process, round(seconds * PS), NONE, 0, label))

    def message(self, kind: int, process: int, peer: int, size: int) -> None:
        """Add a send or receive, blocking or not, or a wait for the receive."""
        self.rows.append((kind, process, 0, peer, size, NONE))

    def everywhere(self, operation: str, size: int) -> None:
        """Add a collective operation of all processes."""
        number = OPERATIONS.index(operation)
        self.rows += [(COLLECTIVE, process, 0, NONE, size, number) for process in range(self.processes)]

    def trace(self) -> MessageTrace:
        """Return the trace."""
        kind, process, duration, peer, size, extra = (
            np.array(column) for column in zip(*self.rows, strict=True)
        )
        columns = Columns.blank(len(self.rows))
        columns.kind[:], columns.process[:], columns.duration[:] = kind, process, duration
        columns.peer[:], columns.bytes[:] = peer, size
        columns.received[kind == COLLECTIVE] = size[kind == COLLECTIVE]
        columns.label[kind == COMPUTE] = extra[kind == COMPUTE]
        columns.operation[kind == COLLECTIVE] = extra[kind == COLLECTIVE]
        return columns.trace(self.name, self.processes, (), self.labels)


def ring(processes: int, size: int = 1000, seconds: float = 0.0, rounds: int = 1) -> MessageTrace:
    """Return a token that goes around: each process computes and sends it on."""
    script = Script("ring", processes)
    for _ in range(rounds):
        for process in range(processes):
            if process:
                script.message(RECV, process, process - 1, size)
            script.compute(process, seconds)
            script.message(SEND, process, (process + 1) % processes, size)
        script.message(RECV, 0, processes - 1, size)
    return script.trace()


def broadcast_tree(processes: int, size: int = 1000, seconds: float = 0.0) -> MessageTrace:
    """Return a binomial tree: process 0 sends to the farthest first; all compute once they have it."""
    script = Script("broadcast tree", processes)
    top = 1
    while top < processes:
        top *= 2
    for process in range(processes):
        low = process & -process if process else top  # its subtree
        if process:
            script.message(RECV, process, process - low, size)
        while low > 1:
            low //= 2
            if process + low < processes:
                script.message(SEND, process, process + low, size)
        script.compute(process, seconds)
    return script.trace()


def all_to_all(processes: int, size: int = 1000, seconds: float = 0.0) -> MessageTrace:
    """Return an exchange of each with each: process p sends to p + 1, p + 2, ... and then receives
    likewise."""
    script = Script("all to all", processes)
    for process in range(processes):
        script.compute(process, seconds)
        for step in range(1, processes):
            script.message(SEND, process, (process + step) % processes, size)
        for step in range(1, processes):
            script.message(RECV, process, (process - step) % processes, size)
    return script.trace()


def wavefront(
    across: int, down: int, size: int = 1000, seconds: float = 1e-3, sweeps: int = 1
) -> MessageTrace:
    """Return sweeps over a grid of processes: each waits for west and north, computes, sends east and
    south."""
    script = Script("wavefront", across * down)
    for _ in range(sweeps):
        for process in range(across * down):
            row, column = divmod(process, across)
            if column:
                script.message(RECV, process, process - 1, size)
            if row:
                script.message(RECV, process, process - across, size)
            script.compute(process, seconds)
            if column < across - 1:
                script.message(SEND, process, process + 1, size)
            if row < down - 1:
                script.message(SEND, process, process + across, size)
    return script.trace()


def stencil(
    processes: int,
    iterations: int = 10,
    seconds: float = 1.0,
    size: int = 200_000,
    uneven: float = 0.1,
    noise: float = 0.02,
    seed: int = 1,
) -> MessageTrace:
    """Return a problem of ``seconds`` of work an iteration, shared by a grid of processes (strong scaling).

    Each iteration exchanges borders with up to four neighbours, computes the inner part and a ``border``, and
    agrees on
    a residual. Sizes fall with the root of the processes. ``uneven`` is the spread of work over processes,
    which stays,
    ``noise`` what is added to each burst (both lognormal); a hundredth of the work does not shrink.
    """
    down = max(d for d in range(1, int(processes**0.5) + 1) if processes % d == 0)
    across = processes // down
    draws = stream(seed, "messages")
    share = np.exp(draws.normal(0, uneven, processes))
    share *= processes / share.sum()
    jitter = np.exp(np.abs(draws.normal(0, noise, (iterations, processes, 2))))
    border = max(1, round(size / processes**0.5))
    work = seconds * (0.99 / processes + 0.01)
    script = Script(f"stencil of {processes}", processes, ("inner", "border"))
    for iteration in range(iterations):
        for process in range(processes):
            row, column = divmod(process, across)
            near = [(row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column)]
            peers = [r * across + c for r, c in near if 0 <= r < down and 0 <= c < across]
            for kind in (IRECV, ISEND):
                for peer in peers:
                    script.message(kind, process, peer, border)
            script.compute(process, 0.8 * work * share[process] * jitter[iteration, process, 0], 0)
            for peer in peers:
                script.message(WAIT, process, peer, border)
            script.compute(process, 0.2 * work * share[process] * jitter[iteration, process, 1], 1)
        script.everywhere("allreduce", 8)
    return script.trace()


PATTERNS: Mapping[str, Callable[..., MessageTrace]] = {
    "ring": ring,
    "broadcast_tree": broadcast_tree,
    "all_to_all": all_to_all,
    "wavefront": wavefront,
    "stencil": stencil,
}
"""By name."""
