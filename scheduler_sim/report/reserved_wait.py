"""A wait beside advance reservations, under policies other than Slurm's: what a result tells of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_sim.report.explanation import Times
from scheduler_sim.report.wording import clock, count, listing, plain
from scheduler_sim.result.node_lists import numbers_in

Keys = Mapping[str, Any]

MOST_TURNS = 3
"""Of one reservation; those after it are as far from one another."""


def is_reserved(manifest: Keys) -> bool:
    """Whether advance reservations are holes in the plan."""
    slurm = (manifest.get("policy") or {}).get("backfill") == "slurm"
    return bool(manifest.get("reserved")) and not slurm


def why_not(facts: Keys) -> str:
    """Why one was rejected, or waits for ever, because of the reservation that it names; nothing if not."""
    said, name = str(facts.get("reservation_reason") or ""), plain(facts.get("reservation"))
    words = {
        "access denied": f"it may not use the reservation {name}",
        "no such reservation": f"no reservation {name} stood when it was submitted",
        "reservation is gone": f"the reservation {name} was over, or deleted, before it could start",
        "does not fit in its reservation": f"it asked for more nodes, or more time, than {name} ever has",
    }
    return words.get(said, "")


def notes(manifest: Keys, facts: Keys, times: Times) -> tuple[str, ...]:
    """Say what its run could have met from its eligibility to the end of its wait, and what is not told."""
    module, limit = str(facts["module"]), int(facts["time_limit"])
    if facts.get("reservation"):
        return (
            f"It named the reservation {plain(facts['reservation'])}: it had to start and, by"
            " its limit, end within that reservation and on its nodes, and waited only with"
            " other components that name it. Which they were is not recomputed.",
        )
    met = [
        text
        for one in manifest.get("reserved") or ()
        for text in _turns(one, module, times, times.waited_until + max(limit, 0))
    ]
    if met:
        text = (
            f"Nodes of {plain(module)} were reserved for others: {listing(met)}. It could"
            " start only when enough other nodes were free from then to its limit."
        )
    else:
        text = f"Nodes of {plain(module)} may have been reserved for others; the result does not say when."
    return (f"{text} What stood before it, and what idle nodes were kept for, is not recomputed.",)


def _turns(one: Keys, module: str, times: Times, until: int) -> Iterator[str]:
    """The turns of a reservation of some nodes of a module that it could have met, in words."""
    if not (one.keys() >= {"start", "end", "every_s", "nodes"} and one["nodes"].get(module)):
        return
    step, shown, nodes = int(one["every_s"]), 0, len(numbers_in(one["nodes"][module]))
    turn = max(0, -((int(one["end"]) - times.eligible - 1) // step)) if step else 0
    start, end = int(one["start"]) + turn * step, int(one["end"]) + turn * step
    while start < until and end > times.eligible and shown < MOST_TURNS:
        when = f"from {clock(start - times.origin)} to {clock(end - times.origin)}"
        yield f"{count(nodes, 'node')} {when} ({plain(one['name'])})"
        start, end, shown = start + step, end + step, shown + 1
        if not step:
            return
