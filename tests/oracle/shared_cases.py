"""Short words for small cases of shared nodes: nodes, jobs, and when and where each started."""

from __future__ import annotations

from tests.oracle.plain_shared import SharedClock, schedule
from tests.oracle.plain_shared_records import Node, Request
from tests.oracle.records import Component

Job = tuple[int, Request]
"""A submit time and a request."""

FIRST_FIT, EASY = {"backfill": "first_fit"}, {"backfill": "easy"}
DEPTH_1, DEPTH_2 = {"backfill": "easy", "depth": 1}, {"backfill": "easy", "depth": 2}
SCRATCH, KEEP = {"backfill": "conservative"}, {"backfill": "conservative", "replan": "keep"}
RESERVING = [EASY, DEPTH_1, DEPTH_2, SCRATCH, KEEP]
EVERY = [{}, FIRST_FIT, *RESERVING]


def cluster(*cores: int, module: str = "m", **amounts: int) -> list[Node]:
    """Nodes x, y, z and so on, with so many cores each, and the same of all else."""
    return [Node(name, n, module=module, **amounts) for name, n in zip("xyzuvw", cores, strict=False)]


def job(
    submit: int,
    cores: int,
    run: int,
    limit: int | None = None,
    *,
    nodes: int = 1,
    partition: str = "all",
    module: str = "m",
    memory: int = 0,
    gpus: int = 0,
    exclusive: bool = False,
) -> Job:
    """One job; ``limit`` is the run time if it is not given, and at least 1 s."""
    asked = (partition, cores, memory, gpus, exclusive)
    return submit, Request(module, nodes, run, max(1, run) if limit is None else limit, 1.0, {}, *asked)


def play(jobs: list[Job], nodes: list[Node], **settings: object) -> SharedClock:
    components = [Component(row, submit, (request,)) for row, (submit, request) in enumerate(jobs)]
    return schedule(components, nodes, **settings)


def starts(jobs: list[Job], nodes: list[Node], **settings: object) -> list[int]:
    return [outcome.start for outcome in play(jobs, nodes, **settings).outcomes.values()]


def went(jobs: list[Job], nodes: list[Node], **settings: object) -> list[tuple[int, str]]:
    """When and where each started: the names of its nodes, in node order."""
    clock = play(jobs, nodes, **settings)
    return [(outcome.start, "".join(sorted(clock.names(row)))) for row, outcome in clock.outcomes.items()]
