"""What was lost as runs ended before their time: with their nodes, for others, or for one more run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.metrics.metric import Run
from scheduler_sim.metrics.statistics import DECIMALS, ratio, rounded
from scheduler_sim.result.columns import TOTAL, numbers, rows_named


def lost_of(run: Run) -> dict[str, Any]:
    """Return how many runs were lost, and what they had done, by module."""
    table = run.runs
    assert table is not None
    lost_s, name = numbers(table, "lost_s"), numbers(table, "component_id")
    ended, lost = numbers(table, "end_time"), numbers(table, "node_seconds_lost")
    last = np.append(name[1:] != name[:-1], True)
    of_ran = np.isin(name, numbers(run.components, "component_id")[run.ran])
    earlier = ~(last & of_ran)  # not in the components
    nodes = numbers(table, "nodes")
    work = np.where(earlier, (ended - numbers(table, "start_time")) * nodes, 0)
    again = earlier & of_ran
    found: dict[str, Any] = {
        "runs": int(np.count_nonzero(earlier | (lost > 0))),
        "components": len(np.unique(name)),
        "node_seconds": _by_module(run, lost),
        "repeated_node_seconds": _by_module(run, np.where(again, lost, 0)),
        "share": _shares(run, _by_module(run, nodes * lost_s), _by_module(run, work)),
    }
    if run.shared:
        found["core_seconds"] = _by_module(run, np.nan_to_num(numbers(table, "cores")) * lost_s, run.shared)
    joules = numbers(table, "energy_lost_j")
    return found | {"energy_j": None if np.isnan(joules).any() else rounded(float(joules.sum()))}


def _by_module(run: Run, amount: np.ndarray, modules: Mapping[str, Any] | None = None) -> dict[str, float]:
    """Sum up an amount of each run by module, and ``total``."""
    assert run.runs is not None
    found = {
        name: float(amount[rows_named(run.runs["module"], name)].sum()) for name in modules or run.modules
    }
    return {name: round(value, DECIMALS) for name, value in (found | {TOTAL: sum(found.values())}).items()}


def _shares(run: Run, lost: dict[str, float], earlier: dict[str, float]) -> dict[str, float | None]:
    """What was lost of the node-seconds of all runs; None of a module without any."""
    work = {**run.work, TOTAL: sum(run.work.values())}
    return {name: ratio(lost[name], work[name] + earlier[name]) for name in work}
