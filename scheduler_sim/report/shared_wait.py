"""What a component lacked while it waited for parts of nodes: cores, memory, GPUs, or whole nodes.

A result names the nodes that it may have had. What is told here is told only where these give the very
wait that the run recorded: licences, other resources of a node and nodes out of service are not known. Under
Slurm, whose runs do not record it, it is told of those that had the same of each of their nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.explanation import Lack
from scheduler_sim.report.module_view import ModuleView
from scheduler_sim.report.wording import listing, plain, short
from scheduler_sim.result.node_use import KB_PER_GB, Changes, able_nodes, capacities, held_by, unit
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import Steps, from_changes, value_at

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

WORDS = {"cores": "cores", "memory_kb": "memory", "gpus": "GPUs"}
MUCH = np.iinfo(np.int64).max // 4
ALL_FREE = "idle"
"""What a component with nodes to itself asks of each."""


@dataclass(frozen=True)
class SharedWait:
    """Nodes that a component may have had, and how many had what it asked for.

    Attributes
    ----------
    nodes : bool[nodes of the module], those it may use
    where : what they are called
    each : what it asked for of each node, in words; empty if it had nodes to itself
    having : nodes that have enough free over time, by resource
    able : nodes that have enough of everything over time
    beside : int64[n], rows of the components that had some of these nodes
    """

    nodes: np.ndarray
    where: str
    each: str
    having: dict[str, Steps]
    able: Steps
    beside: Ints

    def lacks(self, instants: Ints, last: int, needed: int) -> tuple[Lack, ...]:
        """Return in how many nodes there was enough of each resource, and of all, and how long too few.

        Parameters
        ----------
        instants : int64[n], s, at which anything changed; last : s, the end of the wait
        needed : nodes
        """
        spans = np.diff(np.append(instants, last))
        several = {**self.having, "all of these": self.able} if len(self.having) > 1 else self.having
        return tuple(_lack(name, value_at(steps, instants), spans, needed) for name, steps in several.items())


def _lack(name: str, nodes: np.ndarray, spans: Ints, needed: int) -> Lack:
    return Lack(name, int(nodes.min()), int(nodes.max()), int(spans[nodes < needed].sum()))


def told_apart(result: Result, module: str) -> bool:
    """Tell whether the result knows which nodes of a module its components had."""
    return module in (result.manifest.get("shared_nodes") or {}) and "node_list" in result.components


def shared_wait(result: Result, row: int, view: ModuleView, recorded: int | None) -> SharedWait | None:
    """Rebuild what a component waited for; None if the result does not tell.

    Parameters
    ----------
    row : of the component in the result
    view : its module during its wait
    recorded : s, its wait for resources by the run; None if it never started
    """
    out_of_service = value_at(view.down, view.instants()).any()  # how many, but not which
    if out_of_service or (result.manifest.get("counts") or {}).get("requeued"):
        return None
    schedule = Schedule(result.components, result.timeline, result.metrics, result.manifest, result.runs)
    if schedule.dealt and not _same_of_each(schedule, row):  # it is not known what it asked for of each node
        return None
    sets, own = able_nodes(schedule, view.name)
    nodes = sets[own[row]]
    found = _in_nodes(schedule, row, view, nodes, _called(schedule, view.name, nodes))
    checked = recorded is not None and not schedule.dealt
    return None if checked and _wait(found, view, row) != recorded else found


def _same_of_each(schedule: Schedule, row: int) -> bool:
    """Tell whether Slurm dealt the same to each of its nodes, of GPUs that are of one type there."""
    described = (module.get("node_sets") or [module] for module in schedule.system["modules"])
    types = [[name for name in one.get("gres") or {} if ":" in name] for sets in described for one in sets]
    dealt_alike = not schedule.components["node_shares"].iloc[row]
    return bool(schedule.ran[row]) and dealt_alike and max(map(len, types)) <= 1


def _wait(found: SharedWait, view: ModuleView, row: int) -> int:
    """Return the wait for resources, s, had it been for these nodes."""
    instants = view.instants()
    spans = np.diff(np.append(instants, view.last))
    return int(spans[value_at(found.able, instants) < view.nodes[view.position(row)]].sum())


def _called(schedule: Schedule, module: str, nodes: np.ndarray) -> str:
    """Say which nodes of a module these are: all, those of a partition, or some."""
    if nodes.all():
        return plain(module)
    described = next(one for one in schedule.system["modules"] if one["name"] == module)
    names = [
        plain(one["name"])
        for one in schedule.system.get("partitions") or []
        if one["module"] == module and np.array_equal(_nodes_of(one, described), nodes)
    ]
    if not names:
        return f"{plain(module)} that suit it"
    return f"partition{'s' if len(names) > 1 else ''} {listing(names)}"


def _nodes_of(partition: Mapping[str, Any], module: Mapping[str, Any]) -> np.ndarray:
    """Return which nodes of its module a partition has, bool[nodes]."""
    sets, wanted = module.get("node_sets") or [], partition.get("node_sets")
    if not sets or not wanted:
        return np.ones(module["nodes"], dtype=bool)
    return np.repeat([one["name"] in wanted for one in sets], [one["nodes"] for one in sets])


def _in_nodes(schedule: Schedule, row: int, view: ModuleView, nodes: np.ndarray, where: str) -> SharedWait:
    """Count the nodes among ``nodes`` that had what the component asks for, over time."""
    there = capacities(schedule, view.name)
    held = held_by(schedule, view.row[schedule.ran[view.row]])
    changes, inside = Changes.of(held), nodes[held.node]
    last = changes.last
    node, time = changes.node[last], changes.time[last]
    wanted = _wanted(schedule, row, there)
    marks: list[tuple[str, np.ndarray, np.ndarray]] = []  # a resource, who has enough at first, and then
    for kind, each in wanted.items():
        taken = np.ones(len(held.row), dtype=np.int64)
        total = np.zeros(len(nodes), dtype=np.int64)
        if kind != ALL_FREE:
            stated = (there[kind] > 0) | (kind != "memory_kb")  # memory that is not stated is not checked
            taken, total = held.amount(schedule, kind, there[kind]), np.where(stated, there[kind], MUCH)
        free = total[node] - changes.taken(np.where(inside, taken, 0))[last]
        marks.append((WORDS.get(kind, kind), nodes & (total >= each), nodes[node] & (free >= each)))
    having = {name: _steps(node, time, first, then) for name, first, then in marks}
    first = np.logical_and.reduce([mark[1] for mark in marks])
    then = np.logical_and.reduce([mark[2] for mark in marks])
    able, beside = _steps(node, time, first, then), np.unique(held.row[inside])
    return SharedWait(nodes, where, _in_words(wanted), having, able, beside)


def _steps(node: np.ndarray, time: np.ndarray, first: np.ndarray, then: np.ndarray) -> Steps:
    """Count the nodes that have enough: ``first`` of each, ``then`` after each change, by node."""
    before = np.append(False, then[:-1])
    new = np.append(True, node[1:] != node[:-1])[: len(node)]
    before = np.where(new, first[node], before[: len(node)])
    turned = then.astype(np.int64) - before
    return from_changes(np.append(-MUCH, time), np.append(int(first.sum()), turned))


def _wanted(schedule: Schedule, row: int, there: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Return what it asked for of each node in whole units, or that it be idle."""
    if schedule.of("exclusive")[row]:
        return {ALL_FREE: 0}
    nodes = max(int(schedule.of("nodes")[row]), 1)
    held = {kind: int(np.rint(schedule.of(kind)[row] * unit(kind))) for kind in there}
    return {kind: held[kind] // nodes for kind in there if kind == "cores" or held[kind]}


def _in_words(wanted: Mapping[str, int]) -> str:
    return listing(_amounts(wanted)) if ALL_FREE not in wanted else ""


def _amounts(wanted: Mapping[str, int]) -> Iterator[str]:
    for kind, each in wanted.items():
        if kind == "memory_kb":
            yield f"{short(each / KB_PER_GB)} GB of memory"
        else:
            word = WORDS[kind] if each != unit(kind) else WORDS[kind].removesuffix("s")
            yield f"{each / unit(kind):,g} {word}"
