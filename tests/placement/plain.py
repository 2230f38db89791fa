"""Rules 9 and 10 as a plain loop over components, partitions and alternatives."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from scheduler_sim import System


class Found(NamedTuple):
    """Placements as (module, nodes, limit, run, demand), why there are none, held for ever?"""

    ways: list[tuple[Any, ...]]
    reason: str | None
    held: bool


def placements(system: System, job: dict[str, Any]) -> Found:
    """Return the ways in which a component can run; the reason is that of the first it asked for."""
    ways, closed, reasons = [], [], []
    for partition in asked_partitions(system, job["partition"]):
        module = next(m for m in system.modules if m.name == partition.module)
        limit = job["time_limit"]
        if limit < 0:
            stated = [t for t in (partition.default_time_s, partition.max_time_s) if t is not None]
            limit = stated[0] if stated else job["run_time"]
        limit = max(limit, 1)
        for demand in alternatives(system, job):
            reason = why_not(system, job, module, partition, limit, demand)
            reasons.append(reason)
            if reason is None:
                way = (system.modules.index(module), job["nodes"], limit, job["run_time"], demand)
                (closed if partition.state == "DOWN" else ways).append(way)
    held = bool(closed) and not ways
    return Found(closed if held else ways, None if ways or held else reasons[0], held)


def asked_partitions(system: System, text: str) -> list[Any]:
    if text in ("", "NA", "-1"):
        marked = [p for p in system.partitions if p.default]
        return (marked or list(system.partitions))[:1]
    names = [name.strip().lower() for name in text.split(",")]
    found = [next(p for p in system.partitions if p.name.lower() == name) for name in names]
    return [p for i, p in enumerate(found) if p not in found[:i]]


def alternatives(system: System, job: dict[str, Any]) -> list[tuple[int | None, ...]]:
    """Demand vectors; None in place of a number stands for a licence that the system does not have."""
    licences = [r.name for r in system.resources if r.kind == "licence"]
    options: list[dict[str, int]] = [{}]
    if job["licences"] and licences:
        options = []
        for part in job["licences"].split("|"):
            wanted: dict[str, int] = {}
            for item in re.split("[&,;]", part):
                name, _, count = item.strip().partition(":")
                wanted[name] = wanted.get(name, 0) + int(count or 1)
            options.append(wanted)
    nam = max(job["nam_kb"], 0)
    return [
        tuple(nam if r.kind == "nam" else wanted.get(r.name, 0) for r in system.resources)
        + tuple(None for name in wanted if name not in licences)
        for wanted in options
    ]


def why_not(
    system: System,
    job: dict[str, Any],
    module: Any,
    partition: Any,
    limit: int,
    demand: tuple[int | None, ...],
) -> str | None:
    cores = max(job["processes_per_node"], 0) * max(job["threads_per_process"], 1)
    if partition.state in ("DRAIN", "INACTIVE"):
        return "partition_state"
    if job["nodes"] > module.nodes:
        return "too_large"
    if partition.max_nodes is not None and job["nodes"] > partition.max_nodes:
        return "max_nodes"
    if job["nodes"] < partition.min_nodes:
        return "min_nodes"
    if partition.max_time_s is not None and limit > partition.max_time_s:
        return "max_time"
    if module.memory_gb and job["memory_kb"] > module.memory_gb * 1024 * 1024:
        return "memory"
    if module.cores_per_node and cores > module.cores_per_node:
        return "cores"
    if not has_features(module.features, job["constraint"]):
        return "features"
    if None in demand or any(d > r.amount for d, r in zip(demand, system.resources, strict=False)):
        return "resources"
    return None


def has_features(features: tuple[str, ...], text: str) -> bool:
    """Signs from left to right, no parentheses."""
    if not text:
        return True
    words = re.split("([&|])", text)
    value = words[0] in features
    for sign, word in zip(words[1::2], words[2::2], strict=True):
        value = (value and word in features) if sign == "&" else (value or word in features)
    return value
