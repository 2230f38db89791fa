"""Jobs as blocks: who has which rows of a picture, from when to when. Times are minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.concepts.cases import MINUTE, Pass
from scheduler_sim import Result
from scheduler_sim.result.node_lists import numbers_in

RAN, PLANNED, RESERVED = "ran", "planned", "reserved"


@dataclass(frozen=True)
class Block:
    """A job on some rows for a time: it ran, it is planned to go on, or it has a reservation."""

    name: str
    module: str
    kind: str
    start: float
    end: float
    rows: tuple[int, ...]


class Rows:
    """The rows of a module, and who has them when."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._taken: list[tuple[float, float, frozenset[int]]] = []

    def take(
        self, start: float, end: float, count: int, among: Sequence[int] | None = None
    ) -> tuple[int, ...]:
        """Take rows that are free throughout: the lowest that lie together, else the lowest."""
        busy = {row for begin, until, rows in self._taken if begin < end and start < until for row in rows}
        free = [row for row in among or range(self.number) if row not in busy]
        if len(free) < count:
            raise ValueError(f"{count} rows from {start} to {end}: only {len(free)} are free")
        together = (free[i : i + count] for i in range(len(free) - count + 1))
        rows = next((some for some in together if some[-1] - some[0] == count - 1), free[:count])
        self._taken.append((start, end, frozenset(rows)))
        return tuple(rows)


def schedule(result: Result, number: int, order: str = "", cores: int = 0) -> list[Block]:
    """Return what ran, on ``number`` rows a module.

    Parameters
    ----------
    order : names of the jobs that are laid down first; the others follow by their starts
    cores : of each node, where rows are cores
    """
    rows = {module: Rows(number) for module in result.components["module"].unique()}
    blocks = []
    for _, job in _laid(result, order):
        name, module = str(job["name"]), str(job["module"])
        start, end = job["start_time"] / MINUTE, job["end_time"] / MINUTE
        if cores:
            (node,) = numbers_in(str(job["node_list"]))
            among = range(cores * node, cores * (node + 1))
            taken = rows[module].take(start, end, int(job["cores"]), among)
        else:
            taken = rows[module].take(start, end, int(job["nodes"]))
        blocks.append(Block(name, module, RAN, start, end, taken))
    return blocks


def plan(result: Result, seen: Pass, number: int, order: str = "") -> list[Block]:
    """Return what a pass knows: what ran up to it, until when that is planned, and what is reserved."""
    rows, blocks = Rows(number), []
    for _, job in _laid(result, order):
        name, module, nodes = str(job["name"]), str(job["module"]), int(job["nodes"])
        start, limit = job["start_time"] / MINUTE, job["time_limit"] / MINUTE
        if name in seen.running:
            taken = rows.take(start, seen.running[name], nodes)
            if start < seen.now:
                blocks.append(Block(name, module, RAN, start, seen.now, taken))
            blocks.append(Block(name, module, PLANNED, seen.now, seen.running[name], taken))
        elif name in seen.reserved:
            at = seen.reserved[name]
            blocks.append(Block(name, module, RESERVED, at, at + limit, rows.take(at, at + limit, nodes)))
        elif start < seen.now:
            end = job["end_time"] / MINUTE
            blocks.append(Block(name, module, RAN, start, end, rows.take(start, end, nodes)))
    return blocks


def _laid(result: Result, order: str) -> list[tuple[Any, Any]]:
    """Return the rows of the components in the order in which they are laid down."""
    table = result.components
    first = [order.find(name) if name in order else len(order) for name in table["name"]]
    return list(table.assign(first=first).sort_values(["first", "start_time"], kind="stable").iterrows())
