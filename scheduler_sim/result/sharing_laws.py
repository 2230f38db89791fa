"""What holds where jobs share nodes: what each node has is enough, and the timeline counts what is taken."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler_sim.result.columns import BUSY, rows_named
from scheduler_sim.result.node_use import (
    MOST_DEVICES,
    Changes,
    Held,
    able_nodes,
    capacities,
    devices_in,
    held_in,
    jobs_of_a_core,
    nodes_in_use,
    unit,
    working_in,
)
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import first_difference, sum_of_intervals
from scheduler_sim.result.suspensions import spans_of

Breach = str | None


def node_lists(schedule: Schedule) -> Breach:
    """A component that ran has as many nodes as stated, each once, and only nodes that it may use."""
    for module in schedule.shared:
        held, nodes = held_in(schedule, module), schedule.modules[module]
        count = np.bincount(held.row, minlength=len(schedule.components))
        wrong = schedule.ran & schedule.in_module(module) & (count != schedule.of("nodes"))
        wrong[held.row[(held.node < 0) | (held.node >= nodes)]] = True
        if not wrong.any():
            sets, own = able_nodes(schedule, module)
            wrong[held.row[~sets[own[held.row], held.node]]] = True
        if wrong.any():
            row = int(np.argmax(wrong))
            listed, asked = schedule.components["node_list"].iloc[row], schedule.of("nodes")[row]
            return f"{schedule.name(row)} has the nodes {listed!r:.60}, not {asked} of {nodes}"
    return None


def parts_of_nodes(schedule: Schedule) -> Breach:
    """At no instant do jobs have more of a node than it has; a core counts as often as jobs may share it."""
    for module in schedule.shared:
        held = held_in(schedule, module)
        for kind, there in capacities(schedule, module).items():
            amount = held.amount(schedule, kind, there)
            for jobs, mine, times in _who_shares(schedule, module, kind, held):
                if breach := _beyond(held, np.where(mine, amount, 0), there * times):
                    node, instant, used = breach
                    return (
                        f"{jobs} have {used / unit(kind):g} of the {kind} of node {node} of {module} at"
                        f" {instant}, it has {there[node] / unit(kind):g}" + f", {times} times" * (times > 1)
                    )
    return None


def _who_shares(
    schedule: Schedule, module: str, kind: str, held: Held
) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield jobs, which of those on nodes they are, and how many of them may have the same at once."""
    each = jobs_of_a_core(schedule, module) if kind == "cores" else {}
    together = sum(jobs for jobs, shares in each.values() if shares)
    yield "jobs", np.ones(len(held.row), dtype=bool), max(together, 1)
    for partition, (jobs, _) in each.items():
        mine = rows_named(schedule.components["partition"], partition)[held.row]
        yield f"jobs of partition {partition}", mine, jobs


def turns(schedule: Schedule) -> Breach:
    """Where jobs take turns, those of a partition that work have no core of a node twice at any instant."""
    for module in schedule.shared if schedule.gang else ():
        held, there = held_in(schedule, module), capacities(schedule, module)["cores"]
        working, place = working_in(schedule, module)
        amount = held.amount(schedule, "cores", there)[place]
        for partition in jobs_of_a_core(schedule, module):
            mine = rows_named(schedule.components["partition"], partition)[working.row]
            if breach := _beyond(working, np.where(mine, amount, 0), there):
                node, instant, used = breach
                return (
                    f"jobs of partition {partition} work on {used / unit('cores'):g} cores of node {node} of"
                    f" {module} at {instant}, it has {there[node] / unit('cores'):g}"
                )
    return None


def devices(schedule: Schedule) -> Breach:
    """A component has as many GPUs as stated, and at no instant do jobs have more than the whole of a GPU."""
    if not schedule.further.devices:
        return None
    for module in schedule.shared:
        held, there = devices_in(schedule, module), capacities(schedule, module)["gpus"]
        amount = np.zeros(len(schedule.components), dtype=np.int64)
        np.add.at(amount, held.row, held.amount)
        says = np.rint(schedule.of("gpus") * unit("gpus")).astype(np.int64)
        wrong = np.flatnonzero((amount != says) & schedule.ran & schedule.in_module(module))
        if len(wrong):
            listed = schedule.components["gpu_list"].iloc[wrong[0]]
            return f"{schedule.name(wrong[0])} has the GPUs {listed!r:.60}, not {says[wrong[0]] / 1000:g}"
        room = np.clip(there[:, np.newaxis] - unit("gpus") * np.arange(MOST_DEVICES), 0, unit("gpus"))
        if breach := _beyond(held.of_device, held.amount, room.ravel()):
            device, instant, used = breach
            node, gpu = divmod(device, MOST_DEVICES)
            return f"jobs have {used / 1000:g} of GPU {gpu} of node {node} of {module} at {instant}"
    return None


def _beyond(held: Held, amount: np.ndarray, there: np.ndarray) -> tuple[int, int, int] | None:
    """Find the first node, by number, of which jobs have too much: it, when, and how much."""
    changes = Changes.of(held)
    node, used = changes.node, changes.taken(amount)
    over = np.flatnonzero((used > there[node]) & changes.last & (there[node] > 0))
    if not len(over):
        return None
    at = over[0]
    return int(node[at]), int(changes.time[at]), int(used[at])


def parts_busy(schedule: Schedule) -> Breach:
    """At every instant the timeline agrees with the components on cores, memory, GPUs and nodes.

    Suspended components do not work on cores; they keep memory and GPUs.
    """
    if schedule.lost_runs:
        return None
    for module in schedule.shared:
        mine = schedule.ran & schedule.in_module(module)
        start, end = (schedule.of(name)[mine] for name in ("start_time", "end_time"))
        for kind, column in BUSY.items():
            amount = np.rint(schedule.of(kind)[mine] * unit(kind)).astype(np.int64)
            begin, finish = start, end
            if kind == "cores" and schedule.further.suspended:  # what else they have they keep
                row, since, until = spans_of(schedule.components[mine])
                begin, finish = np.append(start, since), np.append(end, until)
                amount = np.append(amount, -amount[row])
            time, value = schedule.recorded(module, column)
            recorded = time, np.rint(value * unit(kind)).astype(np.int64)
            if breach := first_difference(sum_of_intervals(begin, finish, amount), recorded):
                instant, used, written = breach
                return (
                    f"components have {used / unit(kind):g} of the {kind} of {module} at {instant},"
                    f" the timeline has {written / unit(kind):g}"
                )
        if breach := first_difference(
            nodes_in_use(schedule, module), schedule.recorded(module, "nodes_busy")
        ):
            instant, used, written = breach
            return f"components are on {used} nodes of {module} at {instant}, the timeline has {written} busy"
    return None
