"""What each drawing shows: a case, simulated."""

from __future__ import annotations

from collections.abc import Callable

from analysis.concepts import cases
from analysis.concepts.blocks import PLANNED, RAN, RESERVED, Block, plan, schedule
from analysis.concepts.drawing import Drawing, Panel
from scheduler_sim import simulate

LONGEST_BELOW = "B F G"
"""Jobs of the backfill case that are laid down first, so that the others lie together."""


def one_pass() -> Drawing:
    """What one pass sees and does."""
    seen = cases.watched(*cases.ONE_PASS, "Fcfs", 6)
    blocks = plan(simulate(*cases.ONE_PASS, "fcfs"), seen, 4, "B")
    return Drawing([Panel("A pass at minute 6", 4, blocks, [(6, "the pass")])], 14, (RAN, PLANNED))


def fcfs() -> Drawing:
    """No job passes the first one that waits."""
    blocks = schedule(simulate(*cases.BACKFILL, "fcfs"), 8, LONGEST_BELOW)
    return Drawing([Panel("FCFS: the schedule", 8, blocks)], 30)


def easy() -> Drawing:
    """One reservation, and who may start beside it."""
    return _backfilled("Easy", "EASY", shadow=True)


def conservative() -> Drawing:
    """A plan for every job."""
    return _backfilled("Conservative", "Conservative")


def _backfilled(name: str, title: str, *, shadow: bool = False) -> Drawing:
    """What a pass plans, above what came of it; EASY has one reservation, at the shadow time."""
    seen = cases.watched(*cases.BACKFILL, name, 2)
    result = simulate(*cases.BACKFILL, name.lower())
    known = plan(result, seen, 8, LONGEST_BELOW)
    lines = [(2, "the pass"), *([(seen.reserved["C"], "shadow time")] if shadow else [])]
    return Drawing(
        [
            Panel(f"{title}: the pass at minute 2", 8, known, lines),
            Panel(f"{title}: the schedule", 8, schedule(result, 8, LONGEST_BELOW)),
        ],
        30,
        (RAN, PLANNED, RESERVED),
    )


def heterogeneous() -> Drawing:
    """Components that start together."""
    blocks = schedule(simulate(*cases.HETEROGENEOUS, "easy"), 4)
    together = [(8, "C starts")]
    panels = [Panel(f"Module {name}", 4, _of(blocks, name), together) for name in ("CM", "ESB")]
    return Drawing(panels, 16)


def delay() -> Drawing:
    """A component that starts some time after the first."""
    blocks = schedule(simulate(*cases.DELAYED, "conservative"), 4)
    lines = [(3, "delay of 7 minutes"), (10, "reserved from here on")]
    return Drawing(
        [
            Panel("Module CM", 4, _of(blocks, "CM"), [(3, "C starts")]),
            Panel("Module ESB", 4, _of(blocks, "ESB"), lines, [(3, 10)]),
        ],
        23,
    )


def calls() -> Drawing:
    """A dependency that is satisfied while the job runs."""
    without = simulate(*cases.CALLING, {"backfill": "easy", "calls": False})
    called = simulate(*cases.CALLING, "easy")
    return Drawing(
        [
            Panel("Without calls", 5, schedule(without, 5), [(12, "A ends")]),
            Panel("With the call", 5, schedule(called, 5, "E"), [(7, "A calls")]),
        ],
        22,
    )


def shared_nodes() -> Drawing:
    """Several jobs on one node."""
    blocks = schedule(simulate(*cases.SHARED, "easy"), 2 * cases.CORES, cores=cases.CORES)
    title, nodes = "Two nodes of four cores", ("node 0", "node 1")
    return Drawing([Panel(title, 8, blocks, [(2, "C is submitted")], nodes=nodes)], 18)


def _of(blocks: list[Block], module: str) -> list[Block]:
    return [block for block in blocks if block.module == module]


PICTURES: dict[str, Callable[[], Drawing]] = {
    "pass": one_pass,
    "fcfs": fcfs,
    "easy": easy,
    "conservative": conservative,
    "heterogeneous": heterogeneous,
    "delay": delay,
    "calls": calls,
    "shared-nodes": shared_nodes,
}
"""By the names of their files."""
