"""An order of their own for the candidates behind a blocked job (key ``backfill_order``)."""

from __future__ import annotations

from typing import NamedTuple

from scheduler_sim.engine.core.allocation import nothing
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.queue import sort_candidates, sort_rows
from scheduler_sim.engine.core.state import Core, Filler


class SecondOrder(NamedTuple):
    """What it is made of; its keys stand in ``ranks``."""

    fill: Filler  # writes the keys, where they depend on time


class SecondOrderCore(Core):
    """A core with an order of candidates."""

    second_order: SecondOrder


def blank_second_order(_: bool) -> SecondOrder:
    """Return a part without an order."""
    return SecondOrder(nothing)


@on(sort_candidates, "second_order")
def sort_by_second_order(core: SecondOrderCore, size: int) -> None:
    """Swap the keys of that order in for a moment."""
    if core.rules.two_orders == 2:
        rows = core.queue.candidates[:size]
        core.second_order.fill(
            core.clock.now - core.clock.origin, rows, core.orders.columns, core.orders.keys
        )
        for i in range(size):
            core.ranks[rows[i]].second_key = core.orders.keys[i]
    _swap_keys(core, size)
    sort_rows(core, core.queue.candidates, 0, size)
    _swap_keys(core, size)


@part
def _swap_keys(core: Core, size: int) -> None:
    for i in range(size):
        it = core.ranks[core.queue.candidates[i]]
        it.key, it.second_key = it.second_key, it.key
