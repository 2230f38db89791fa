"""Who is who among the jobs of a site, and what is measured of each group and of a run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.site_rules.cases import COUNTED, DAY, HOUR, LEAF, SHORT_H, URGENT, WINDOW
from scheduler_sim import Result
from scheduler_sim.errors import SchedulerSimError

ALL = "all"
SIZES = {"1 to 16 nodes": (1, 16), "17 to 128 nodes": (17, 128), "129 to 512 nodes": (129, 512)}
LIMITS = {
    f"limit up to {SHORT_H} h": (0, SHORT_H),
    f"limit {SHORT_H} to 8 h": (SHORT_H, 8),
    "limit 8 to 24 h": (8, 25),
}
"""Hours, the first not included."""
HEAVIEST = 10
HEAVY, LIGHT = f"the {HEAVIEST} heaviest users", "all other users"
OF_PARTITION = {"not urgent": False, "urgent": True}

MEASURES = {
    "jobs": "jobs",
    "wait_h": "mean wait (h)",
    "bounded_slowdown": "mean bounded slowdown",
    "lost_h": "work thrown away (node-hours)",
    "lost_jobs": "jobs that lost a run (%)",
    "unfinished": "jobs ended for others (%)",
    "drain_h": "node-hours idle in the day before the window",
    "leaves": "leaf switches, times the fewest",
}
"""What each column of ``runs.csv`` holds, after those that name a run and a group.

``drain_h`` is of all jobs alone, ``leaves`` where the site has switches, of jobs on more than one node.
"""

Mask = np.ndarray


def groups(table: pd.DataFrame) -> dict[str, Mask]:
    """Return which of the components belong to each group: by size, limit, user and partition; and all."""
    nodes, hours = table["nodes"].to_numpy(), table["time_limit"].to_numpy() / HOUR
    heavy = table["user"].isin(heaviest(table)).to_numpy()
    urgent = (table["partition"] == URGENT).to_numpy()
    return {
        ALL: np.ones(len(table), dtype=bool),
        **{name: (least <= nodes) & (nodes <= most) for name, (least, most) in SIZES.items()},
        **{name: (least < hours) & (hours <= most) for name, (least, most) in LIMITS.items()},
        HEAVY: heavy,
        LIGHT: ~heavy,
        **{name: urgent == which for name, which in OF_PARTITION.items()},
    }


GROUPS = (ALL, *SIZES, *LIMITS, HEAVY, LIGHT, *OF_PARTITION)
"""The names of :func:`groups`, as tables show them."""


def heaviest(table: pd.DataFrame) -> list[str]:
    """Return the users who ask for most, in node-seconds of their limits."""
    asked = (table["nodes"] * table["time_limit"]).groupby(table["user"].astype(str)).sum()
    return list(asked.sort_values(ascending=False, kind="stable").index[:HEAVIEST])


def measured(result: Result) -> dict[str, dict[str, float]]:
    """Return ``MEASURES`` of each group, of the jobs that count.

    Who is heavy is told by all jobs, as is what was thrown away.

    Raises
    ------
    SchedulerSimError : some never ran.
    """
    table = result.components
    if (table["start_time"] < 0).any():
        raise SchedulerSimError(f"{int((table['start_time'] < 0).sum())} jobs never ran")
    lost = _lost(result, table)
    submit, start, end = (table[f"{name}_time"].to_numpy() for name in ("submit", "start", "end"))
    slowdown = np.maximum(1.0, (end - submit) / np.maximum(end - start, 10))
    finished = (table["state"] == "COMPLETED").to_numpy()
    counts = (COUNTED[0] <= submit) & (submit < COUNTED[1])
    found = {}
    for name, members in groups(table).items():
        which = members & counts
        found[name] = {
            "jobs": int(which.sum()),
            "wait_h": _mean((start - submit)[which]) / HOUR,
            "bounded_slowdown": _mean(slowdown[which & finished]),
            "lost_h": float(lost[members].sum()) / HOUR,
            "lost_jobs": 100 * _mean(lost[which] > 0),
            "unfinished": 100 * _mean(~finished[which]),
            "drain_h": idle_h(result) if name == ALL else np.nan,
            "leaves": leaves(table[which]),
        }
    return found


def idle_h(result: Result) -> float:
    """Return the node-hours that are idle in the day before the window, whoever waits."""
    rows = result.timeline[result.timeline["module"] == "total"]
    begin, end = WINDOW - DAY, WINDOW
    time = np.clip(np.append(rows["time"].to_numpy(), end), begin, end)
    busy = float((np.diff(time) * rows["nodes_busy"].to_numpy()).sum()) / HOUR
    return nodes_of(result) * DAY / HOUR - busy


def nodes_of(result: Result) -> int:
    """Return the nodes of the system."""
    return sum(int(module["nodes"]) for module in result.manifest["system"]["modules"])


def leaves(table: pd.DataFrame) -> float:
    """Return over how many leaves jobs on several nodes are spread, on average, by the fewest possible."""
    if "leaves" not in table:
        return np.nan
    several = table[table["nodes"] > 1]
    return _mean((several["leaves"] / np.ceil(several["nodes"] / LEAF)).to_numpy())


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else np.nan


def _lost(result: Result, table: pd.DataFrame) -> np.ndarray:
    """Return the node-seconds that each component lost in runs that were not its last, or cut short."""
    by_job = result.runs.groupby("component_id")["node_seconds_lost"].sum()
    return table["component_id"].map(by_job).fillna(0.0).to_numpy(dtype=float)
