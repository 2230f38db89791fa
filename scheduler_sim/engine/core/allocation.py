"""How much room the tables of a core have, and a core with all its room and nothing in it."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from scheduler_sim.engine.core.hooks import ABSENT
from scheduler_sim.engine.core.records import Table, one, room, rows, table
from scheduler_sim.engine.core.scheme import PLANLESS, Scheme
from scheduler_sim.engine.core.state import (
    INF,
    KEPT,
    Clock,
    End,
    IdleRow,
    Job,
    Orders,
    Placement,
    Pool,
    Queue,
    QueueAt,
    Rank,
    Release,
    Row,
    Rules,
    Slots,
    Step,
)


class Sizes(NamedTuple):
    """How much room a core has."""

    rows: int
    placements: int
    modules: int
    pools: int
    nodes: int  # of the widest module
    columns: int
    releases: int  # jobs running at once, and announced returns of nodes
    profile: int
    timeline: int
    more_events: int = 0  # what rules put among the events
    idle_rows: int = 0  # 1 = idle nodes can be held for a job, or switched off
    more_pools: int = 0  # without nodes or an amount: lists of planned ends alone
    plans: bool = False  # planned ends are kept also where no pass looks at them


def blank_core(sizes: Sizes, scheme: str) -> dict[str, Any]:
    """Return the parts that every core has, by name, with all their room and nothing in them."""
    pools = sizes.pools + sizes.more_pools
    clock, pool = one(Clock), table(Pool, pools)
    clock.modules, clock.due = sizes.modules, INF
    pool["front"] = -1
    for name in ("written_busy", "written_down", "written_queued", "written_nodes", "written_held"):
        pool[name] = -1
    pool["release_head"] = pool["release_tail"] = sizes.releases // 2
    return {
        "clock": clock,
        "rules": one(Rules),
        "scheme": Scheme(scheme),
        "jobs": _blank_jobs(sizes.rows),
        "ranks": table(Rank, sizes.rows),
        "placements": table(Placement, sizes.placements),
        "demand": np.zeros((sizes.placements, sizes.pools - sizes.modules), dtype=np.int64),
        "pools": pool,
        "queue": _blank_queue(sizes.rows),
        "orders": Orders(np.zeros((sizes.columns, sizes.rows)), np.zeros(sizes.rows + 1), nothing),
        "heap": room(End, sizes.releases + 1 + sizes.more_events),
        "releases": rows(Release, pools, sizes.releases) if sizes.plans or scheme not in PLANLESS else ABSENT,
        "profile": room(Step, pools, sizes.profile),
        "slots": Slots(*(np.zeros((pools, KEPT), dtype=np.int64) for _ in range(3))),
        "short": np.zeros((sizes.modules, sizes.nodes + 2), dtype=np.int64),
        "timeline": room(Row, sizes.timeline),
        "idle_rows": table(IdleRow, sizes.timeline) if sizes.idle_rows else ABSENT,
    }


def _blank_jobs(rows: int) -> Table[Job]:
    blank = one(Job)
    blank.eligible = blank.start = blank.end = blank.placed = blank.reserved_placement = -1
    blank.reserved_start = INF
    return cast("Table[Job]", np.repeat(cast(Any, blank), rows))


def _blank_queue(rows: int) -> Queue:
    queue = Queue(one(QueueAt), *(np.zeros(rows + 1, dtype=np.int64) for _ in range(6)))
    queue.arrivals[:rows] = np.arange(rows)
    return queue


def nothing(now: int, rows: Any, columns: Any, keys: Any) -> None:
    """Write no keys: the order is not known yet."""
