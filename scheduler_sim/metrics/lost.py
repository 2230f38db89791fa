"""What was lost as runs ended before their time: with their nodes, for others, or for one more run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.metrics.metric import Run
from scheduler_sim.metrics.statistics import DECIMALS, ratio, rounded
from scheduler_sim.result.columns import TOTAL, numbers, rows_named
from scheduler_sim.result.node_use import WHOLE


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
    gone = earlier | (lost > 0)
    found: dict[str, Any] = {
        "runs": int(np.count_nonzero(gone)),
        "components": len(np.unique(name[gone])),
        "node_seconds": _by_module(run, lost),
        "repeated_node_seconds": _by_module(run, np.where(again, lost, 0)),
        "share": _shares(run, _by_module(run, nodes * lost_s), _by_module(run, work)),
    }
    if run.shared:
        found["core_seconds"] = _by_module(run, np.nan_to_num(numbers(table, "cores")) * lost_s, run.shared)
    found["energy_j"] = _joules(numbers(table, "energy_lost_j"))
    return found | (_checkpoints(run, gone) if (numbers(table, "work_s") >= 0).any() else {})


def _checkpoints(run: Run, gone: np.ndarray) -> dict[str, Any]:
    """Return what checkpoints cost, and what they have saved of the runs that are GONE, by module."""
    assert run.runs is not None
    names = ("lost_s", "checkpoint_s", "restart_s")
    lost_s, checkpoint_s, restart_s = (numbers(run.runs, name) for name in names)
    ran = numbers(run.runs, "end_time") - numbers(run.runs, "start_time")
    writes, nodes = numbers(run.runs, "work_s") >= 0, numbers(run.runs, "parts") / WHOLE
    saved = np.where(gone & writes, ran - lost_s - checkpoint_s - restart_s, 0)
    of = {"checkpoint": checkpoint_s, "restart": restart_s, "saved": saved}
    power = numbers(run.runs, "power_w")
    return {
        **{f"{name}_node_seconds": _by_module(run, nodes * seconds) for name, seconds in of.items()},
        **{f"{name}_energy_j": _joules(power * seconds) for name, seconds in of.items()},
    }


def _joules(amount: np.ndarray) -> float | None:
    """Sum up energy, J; None where it is not known."""
    return None if np.isnan(amount).any() else rounded(float(amount.sum()))


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
