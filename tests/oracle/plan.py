"""The future as the scheduler plans it: a heap of rectangles, looked at afresh each time."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.records import Placement


@dataclass(frozen=True)
class Slot:
    """A place in the plan: placement number ``index`` of a component from ``start`` on."""

    start: int
    index: int
    placement: Placement


class Plan:
    """Who is planned to hold how much of which pool, from when to when."""

    def __init__(self, capacity: dict[str, int], now: int) -> None:
        self.capacity, self.now = capacity, now
        self.rectangles: list[tuple[int, int, dict[str, int]]] = []

    def add(self, begin: int, end: int, demand: dict[str, int]) -> None:
        self.rectangles.append((begin, end, demand))

    def remove(self, begin: int, end: int, demand: dict[str, int]) -> None:
        self.rectangles.remove((begin, end, demand))

    def available(self, pool: str, time: int) -> int:
        taken = sum([demand.get(pool, 0) for begin, end, demand in self.rectangles if begin <= time < end])
        return self.capacity[pool] - taken

    def fits(self, demand: dict[str, int], begin: int, end: int) -> bool:
        """Whether ``demand`` is there from ``begin`` to ``end``; it can only shrink where one begins."""
        if any(self.available(pool, begin) < n for pool, n in demand.items()):
            return False
        moments = {other for other, _, _ in self.rectangles if begin < other < end}
        return all(self.available(pool, time) >= n for pool, n in demand.items() for time in moments)

    def earliest(self, demand: dict[str, int], length: int) -> int:
        """Return the earliest start from now on; it can only become possible where one ends."""
        moments = sorted({self.now} | {end for _, end, _ in self.rectangles if end > self.now})
        return next(time for time in moments if self.fits(demand, time, time + length))


def rank(strategy: str, slot: Slot, now: int) -> tuple[float, ...]:
    """Rule 9: smaller is better."""
    place = slot.placement
    if strategy == "earliest_end":
        return (slot.start + place.limit, slot.start, slot.index)
    if strategy == "least_cost":
        return (place.nodes * place.cost * place.limit, slot.start, slot.index)
    if strategy == "first_available":
        return (slot.start > now, slot.index)
    return (slot.start, slot.index)


def best(strategy: str, slots: list[Slot], now: int) -> Slot | None:
    """Return the slot the strategy ranks first. ``first_available`` waits for the first placement only."""
    if strategy == "first_available":
        slots = [slot for slot in slots if slot.start == now or slot.index == 0]
    return min(slots, key=lambda slot: rank(strategy, slot, now), default=None)
