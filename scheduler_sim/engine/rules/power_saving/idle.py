"""Batches of nodes that are idle, booting or shutting down, in order of time.

Nodes idle for the shortest time are taken first, so that the others are idle long enough to be switched
off. A line is a window of its row: every batch has a node, so that it never holds more than the module does.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.power_saving.state import PowerSavingCore


@part
def append(core: PowerSavingCore, module: int, line: int, time: int, nodes: int) -> None:
    """Add a batch, none before it in time; nothing where there are no nodes."""
    if nodes == 0:
        return
    batch, window = core.power_saving.batch[module, line], core.power_saving.window[module, line]
    if window.tail == len(batch):
        for i in range(window.head, window.tail):
            to = i - window.head
            batch[to].time, batch[to].nodes = batch[i].time, batch[i].nodes
        window.head, window.tail = 0, window.tail - window.head
    batch[window.tail].time, batch[window.tail].nodes = time, nodes
    window.tail += 1


@part
def take_last(core: PowerSavingCore, module: int, line: int, nodes: int) -> None:
    """Take so many nodes out of the last batches."""
    batch, window = core.power_saving.batch[module, line], core.power_saving.window[module, line]
    while nodes > 0:
        last = batch[window.tail - 1]
        some = min(nodes, last.nodes)
        last.nodes -= some
        nodes -= some
        if last.nodes == 0:
            window.tail -= 1


@part
def take_first(core: PowerSavingCore, module: int, line: int, nodes: int) -> None:
    """Take so many nodes out of the first batches."""
    batch, window = core.power_saving.batch[module, line], core.power_saving.window[module, line]
    while nodes > 0:
        first = batch[window.head]
        some = min(nodes, first.nodes)
        first.nodes -= some
        nodes -= some
        if first.nodes == 0:
            window.head += 1


@part
def is_due(core: PowerSavingCore, module: int, line: int, time: int) -> bool:
    """Whether the first batch, if there is one, is not later than ``time``."""
    window = core.power_saving.window[module, line]
    return window.head < window.tail and core.power_saving.batch[module, line, window.head].time <= time
