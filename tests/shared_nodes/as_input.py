"""Sites of the reference for shared nodes as what users bring: a System and a Workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from scheduler_sim import Result, System, Workload
from tests.oracle.plain_shared import SharedClock
from tests.oracle.plain_shared_records import WHOLE, Node, request_of
from tests.oracle.records import Component

MEMORY_UNIT_KB = 1024
"""The reference counts MB."""

MODULE = "m"


def system_of(nodes: Sequence[Node], **keys: Any) -> System:
    """Return a system of one shared module: a node set for each run of equal nodes, all partitions."""
    sets: list[dict[str, Any]] = []
    covers: dict[str, list[str]] = {}
    for like, run in groupby(
        nodes, lambda node: (node.cores, node.memory, node.gpus, node.partitions, node.model, node.types)
    ):
        cores, memory, gpus, partitions, model, types = like
        name = f"set{len(sets)}"
        sets.append(
            {
                "name": name,
                "nodes": len(list(run)),
                "cores_per_node": cores,
                "memory_gb": max(memory, 0.001) * MEMORY_UNIT_KB / 1024**2,
                "gpus_per_node": gpus,
                "features": [model] if model else [],
                "gres": {f"gpu:{kind}": types.count(kind) for kind in types},
            }
        )
        for partition in partitions:
            covers.setdefault(partition, []).append(name)
    module = {"name": MODULE, "nodes": len(nodes), "shared": True, "node_sets": sets}
    partitions = [{"name": name, "module": MODULE, "node_sets": own} for name, own in covers.items()]
    return System.from_dict({"modules": [module], "partitions": partitions} | keys)


def workload_of(jobs: Sequence[Component], **more: Any) -> Workload:
    """Return the jobs as a workload."""
    asked = [request_of(job) for job in jobs]
    return Workload.from_columns(
        submit_time=[job.submit for job in jobs],
        nodes=[one.nodes for one in asked],
        run_time=[one.run for one in asked],
        time_limit=[one.limit for one in asked],
        cores=[one.cores if one.cores else -1 for one in asked],
        memory_kb=[one.memory * MEMORY_UNIT_KB for one in asked],
        gpus=[one.gpus * one.part / WHOLE for one in asked],
        gres=[f"gpu:{one.type}:{one.gpus * one.part / WHOLE:g}" if one.type else "" for one in asked],
        constraint=["|".join(one.models) for one in asked],
        exclusive=[int(one.exclusive) for one in asked],
        partition=[one.partition for one in asked],
        **more,
    )


def in_known_partitions(nodes: Sequence[Node], jobs: Sequence[Component]) -> list[Component]:
    """Return the jobs with the partition of all nodes in place of one that no node is in."""
    known = {name for node in nodes for name in node.partitions}
    asked = [(job, request_of(job)) for job in jobs]
    return [
        job if one.partition in known else replace(job, placements=(replace(one, partition="all"),))
        for job, one in asked
    ]


def outcomes_of(result: Result) -> list[tuple[Any, ...]]:
    """Start, end, state, waits and nodes of each component, as the result has them."""
    columns = ["start_time", "end_time", "state", "wait_priority", "wait_resources", "node_list"]
    columns += ["gpu_list"] if "gpu_list" in result.components else []
    rows = result.components[columns].itertuples(index=False)
    return [tuple(row) for row in rows]


def outcomes_of_reference(clock: SharedClock) -> list[tuple[Any, ...]]:
    """The same of the reference."""
    found = []
    for row, outcome in clock.outcomes.items():
        started = outcome.start >= 0
        resources, priority = outcome.waits if started else (-1, -1)
        names = ",".join(_ranges(sorted(clock.nodes_of[row]))) if started else ""
        gpus = [_gpu_list(clock, row)] if clock.tells_gpus_apart else []
        found.append((outcome.start, outcome.end, outcome.state, priority, resources, names, *gpus))
    return found


def _gpu_list(clock: SharedClock, row: int) -> str:
    taken, request = clock.nodes_of.get(row, {}), request_of(clock.components[row])
    gpus = [range(clock.nodes[node].gpus) if request.whole else taken[node] for node in sorted(taken)]
    return ";".join(",".join(_ranges(sorted(own))) for own in gpus) if any(map(len, gpus)) else ""


def _ranges(numbers: list[int]) -> list[str]:
    texts = []
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        own = [number for _, number in run]
        texts.append(str(own[0]) if len(own) == 1 else f"{own[0]}-{own[-1]}")
    return texts
