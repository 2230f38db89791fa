"""What jobs have of the resources that limits name, as far as a result tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.result.node_lists import numbers_of
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import Steps, from_changes, sum_of_intervals
from scheduler_sim.texts import TextColumn

NODE, GPU = "node", "gres/gpu"
PROCESSORS = ("cpu", "billing")
KB_PER_MB = 1024


class Amounts:
    """Of some jobs that ran: nodes; where nodes are shared, what each has; else what alike nodes have."""

    def __init__(self, schedule: Schedule, rows: np.ndarray) -> None:
        self._schedule, self._rows = schedule, rows
        self._shared = bool(schedule.shared)

    def told(self, resource: str) -> bool:
        """Tell whether the result says how much jobs have of it."""
        if self._shared:
            known = (NODE, "mem", GPU, *PROCESSORS)
            return set(self._schedule.shared) == set(self._schedule.modules) and resource in known
        modules = self._schedule.system["modules"]
        if resource in PROCESSORS:
            return all(_is_alike(one, "cores_per_node") for one in modules)
        return resource == NODE or (
            resource == GPU and all(_is_alike(one, "gpus_per_node") for one in modules)
        )

    def of(self, resource: str) -> np.ndarray:
        """int64[jobs]: how much each has."""
        if self._shared and resource != NODE:
            column = {"mem": "memory_kb", GPU: "gpus"}.get(resource, "cores")
            held = self._schedule.of(column)[self._rows]
            return np.asarray(held // KB_PER_MB if resource == "mem" else np.rint(held)).astype(np.int64)
        nodes: np.ndarray = self._schedule.of("nodes")[self._rows]
        if resource == NODE:
            return nodes
        each = {one["name"]: _of_node(one, resource) for one in self._schedule.system["modules"]}
        of_modules = self._schedule.components["module"].astype(str).map(each)
        has: np.ndarray = nodes * of_modules.fillna(0).to_numpy(dtype=np.int64)[self._rows]
        return has

    def in_use(self, resource: str, of: np.ndarray, begin: np.ndarray, end: np.ndarray) -> Steps:
        """Add up what the jobs ``of`` have; a node counts once, however many of them are on it."""
        if resource == NODE and self._shared:
            return self._nodes_in_use(of, begin, end)
        return sum_of_intervals(begin, end, self.of(resource)[of])

    def _nodes_in_use(self, of: np.ndarray, begin: np.ndarray, end: np.ndarray) -> Steps:
        count, node = numbers_of(TextColumn.of(self._schedule.components["node_list"]), self._rows[of])
        job = np.repeat(np.arange(len(of)), count)
        module = self._schedule.components["module"].astype("category").cat.codes.to_numpy()
        name = module[self._rows[of]][job] * (1 + node.max(initial=0)) + node
        name, time = np.concatenate((name, name)), np.concatenate((begin[job], end[job]))
        change = np.repeat([1, -1], len(job))
        order = np.lexsort((time, name))
        name, time, there = name[order], time[order], np.cumsum(change[order])
        last = np.append((name[1:] != name[:-1]) | (time[1:] != time[:-1]), True)
        busy = (there[last] > 0).astype(np.int64)
        return from_changes(time[last], np.diff(busy, prepend=0))


def _is_alike(module: Mapping[str, Any], key: str) -> bool:
    """Whether its nodes have equally much."""
    return not any(one.get(key) for one in module.get("node_sets", ()))


def _of_node(module: Mapping[str, Any], resource: str) -> int:
    """Of a node; one processor where nothing is said, as in Slurm."""
    if resource == GPU:
        return int(module.get("gpus_per_node") or 0)
    return max(int(module.get("cores_per_node", 0)), 1)
