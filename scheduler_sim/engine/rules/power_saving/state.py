"""What is kept of nodes that are switched off."""

from __future__ import annotations

from typing import NamedTuple, cast

from scheduler_sim.engine.core.records import Layers, Rows, Table, rows, table
from scheduler_sim.engine.core.state import INF, Core

SWITCHED_COLUMNS = ("off", "booting", "stopping")
"""Of the timeline, behind ``held``."""

IDLE, BOOTING, STOPPING = 0, 1, 2
LINES = 3
"""Lines of batches: nodes that are idle since, up at, off at some time."""


class Switch:
    """A module, or a shared resource, of which only ``latest`` matters."""

    timeout: int  # s a node is idle before it is switched off, INF = never
    awake: int  # idle nodes that are kept on
    boot_s: int
    stop_s: int
    off: int
    booting: int
    stopping: int
    planned: int  # when those that are off are planned to be up, 0 = there are none
    latest: int  # fcfs: the last start for which nodes are booted
    written_off: int
    written_booting: int
    written_stopping: int


class Batch:
    """Nodes that have been idle since a time, or are up or off at it."""

    time: int
    nodes: int


class Window:
    """Where in its row of batches a line is."""

    head: int
    tail: int


class PowerSaving(NamedTuple):
    """Nodes that are off, booting and shutting down."""

    module: Table[Switch]  # [k]
    batch: Layers[Batch]  # [m, LINES, nodes]
    window: Rows[Window]  # [m, LINES]


class PowerSavingCore(Core):
    """A core whose idle nodes are switched off."""

    power_saving: PowerSaving


class SwitchSizes(NamedTuple):
    """How much room it has."""

    pools: int
    modules: int
    nodes: int  # of the widest module


def blank_power_saving(sizes: SwitchSizes) -> PowerSaving:
    """Return a part in which all is on and stays on."""
    made = PowerSaving(
        module=table(Switch, sizes.pools),
        batch=cast("Layers[Batch]", rows(Batch, sizes.modules, LINES, sizes.nodes)),
        window=rows(Window, sizes.modules, LINES),
    )
    made.module["timeout"] = INF
    for name in SWITCHED_COLUMNS:
        made.module[f"written_{name}"] = -1
    return made
