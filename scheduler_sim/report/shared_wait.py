"""What a component lacked while it waited for parts of nodes: cores, memory, GPUs, or whole nodes.

A result names the nodes that it may have had, and what others had of them. Under Slurm that is told of all
jobs; where a job had unequal parts of its nodes, whether as much in all was free on as many. Elsewhere it is
told only where it gives the very wait that the run recorded: other resources are not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.explanation import Lack, OfKind, Shortage
from scheduler_sim.report.holders import Holding
from scheduler_sim.report.module_view import ModuleView
from scheduler_sim.report.wording import listing, plain, short
from scheduler_sim.result.node_lists import shares_in
from scheduler_sim.result.node_use import (
    KB_PER_GB,
    KINDS,
    Changes,
    Held,
    able_nodes,
    capacities,
    generic_capacities,
    had_in_all,
    held_by,
    jobs_of_a_core,
    unit,
)
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import Steps, from_changes, from_samples, value_at
from scheduler_sim.result.tres import tres_in

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

WORDS = {"cores": "cores", "memory_kb": "memory", "gpus": "GPUs"}
MUCH = np.iinfo(np.int64).max // 4
ALL_FREE = "idle"
"""What a component with nodes to itself asks of each."""

TOGETHER = "all of these"
PERCENT = 100
MOST_CELLS = 50_000_000
"""Nodes times instants at which unequal parts of nodes are looked at; of more nothing is told."""


@dataclass(frozen=True)
class SharedWait:
    """Nodes that a component may have had, and how many had what it asked for.

    Attributes
    ----------
    nodes : bool[nodes of the module], those it may use
    where : what they are called
    each : what it asked for of each node, in words; empty if it had nodes to itself
    needed : so many nodes, or % of what it asked for in all
    having : nodes that have enough free over time, by resource, or % of what it asked for
    able : nodes that have enough of everything over time
    by_kind : the same of each kind of node; empty if they are of one
    held : who had which of these nodes; taken : how much of each resource, int64[held]
    usable : which nodes had all that it asked for of one
    """

    nodes: np.ndarray
    where: str
    each: str
    needed: int
    in_percent: bool
    having: dict[str, Steps]
    able: Steps
    by_kind: dict[str, tuple[int, Steps]]
    held: Held
    taken: dict[str, Ints]
    usable: _Usable

    @property
    def beside(self) -> Ints:
        """Rows of the components that had some of these nodes."""
        return np.unique(self.held.row)

    def free_at(self, moment: int) -> np.ndarray:
        """Tell which nodes had what it asked for of one at a moment, bool[nodes]."""
        return self.usable.at(moment)

    def shortage(self, view: ModuleView, of: Schedule, nodes_needed: int) -> Shortage:
        """Return what was short and for how long, who had it, and on which kind of node."""
        instants, last = view.instants(), view.last
        spans = np.diff(np.append(instants, last))
        few = {name: value_at(steps, instants) < self.needed for name, steps in self.having.items()}
        none_able = value_at(self.able, instants) < nodes_needed
        holding = Holding(of, self.held, np.append(instants, last))
        lacks = [
            self._lack(name, steps, instants, np.where(few[name], spans, 0), holding)
            for name, steps in self.having.items()
        ]
        if len(lacks) > 1 and not self.in_percent:
            able, seconds = value_at(self.able, instants), np.where(none_able, spans, 0)
            lacks.append(Lack(TOGETHER, int(able.min()), int(able.max()), int(seconds.sum())))
        kinds = ((name, nodes, value_at(steps, instants)) for name, (nodes, steps) in self.by_kind.items())
        return Shortage(
            self.each,
            self.where,
            int(self.nodes.sum()),
            tuple(lacks),
            self.in_percent,
            _together(few, none_able, spans),
            tuple(OfKind(name, nodes, int(had.min()), int(had.max())) for name, nodes, had in kinds),
        )

    def _lack(self, name: str, steps: Steps, instants: Ints, seconds: Ints, holding: Holding) -> Lack:
        had = value_at(steps, instants)
        lack = Lack(name, int(had.min()), int(had.max()), int(seconds.sum()))
        return holding.told(lack, self.taken[name], seconds) if lack.seconds else lack


def _together(few: Mapping[str, np.ndarray], none_able: np.ndarray, spans: Ints) -> tuple[Any, ...]:
    """Add up for how long which resources were short at the same time; no name: each was there, not all."""
    found: dict[tuple[str, ...], int] = {}
    codes = np.zeros(len(spans), dtype=np.int64)
    for i, one in enumerate(few.values()):
        codes += one.astype(np.int64) << i
    for code in np.unique(codes[none_able]).tolist():
        names = tuple(name for i, name in enumerate(few) if code >> i & 1)
        found[names] = int(spans[none_able & (codes == code)].sum())
    return tuple(sorted(found.items(), key=lambda item: -item[1]))


def told_apart(result: Result, module: str) -> bool:
    """Tell whether the result knows which nodes of a module its components had."""
    return module in (result.manifest.get("shared_nodes") or {}) and "node_list" in result.components


def shared_wait(schedule: Schedule, row: int, view: ModuleView, recorded: int | None) -> SharedWait | None:
    """Rebuild what a component waited for; None if the result does not tell.

    Parameters
    ----------
    row : of the component in the result
    view : its module during its wait
    recorded : s, its wait for resources by the run; None if it never started
    """
    sets, own = able_nodes(schedule, view.name)
    nodes = sets[own[row]]
    if schedule.dealt:
        shares = jobs_of_a_core(schedule, view.name) or schedule.further.suspended
        return None if shares or not nodes.any() else _in_nodes(schedule, row, view, nodes)
    out_of_service = value_at(view.down, view.instants()).any()  # how many, but not which
    if out_of_service or schedule.counts.get("requeued"):
        return None
    found = _in_nodes(schedule, row, view, nodes)
    return None if found is None or (recorded is not None and _wait(found, view, row) != recorded) else found


def in_service(able: Steps, view: ModuleView) -> Steps:
    """Take nodes out of service from those that could be had: a result says how many they are."""
    if not view.down[1].any():
        return able
    instants = np.unique(np.concatenate((able[0], view.down[0])))
    return from_samples(instants, np.maximum(value_at(able, instants) - value_at(view.down, instants), 0))


def unsure(schedule: Schedule, view: ModuleView) -> Iterator[str]:
    """Say what else may have held nodes under Slurm, of which a result does not say on which ones."""
    if value_at(view.down, view.instants()).any():
        yield (
            "Nodes were out of service while it waited; a result says how many, not which. They count here as"
            " nodes that it could have had otherwise."
        )
    if len(schedule.runs):
        yield (
            "Some jobs ran more than once; on which nodes their earlier runs were is not in a result, so"
            " those count here as free."
        )


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


@dataclass(frozen=True)
class _Usable:
    """Whether each node has what is asked for of one: ``first`` at the beginning, ``then`` after changes.

    Changes are of ``node`` at ``time``, by node.
    """

    node: Ints
    time: Ints
    first: np.ndarray
    then: np.ndarray

    def steps(self, among: np.ndarray | None = None) -> Steps:
        """Count the nodes that have, all or some of them, over time."""
        if among is None:
            return _steps(self.node, self.time, self.first, self.then)
        return _steps(self.node, self.time, self.first & among, self.then & among[self.node])

    def at(self, moment: int) -> np.ndarray:
        """Tell which nodes have at a moment."""
        there, before = self.first.copy(), np.flatnonzero(self.time <= moment)
        there[self.node[before]] = self.then[before]  # of each node the last one counts
        return there

    def __and__(self, other: _Usable) -> _Usable:
        return _Usable(self.node, self.time, self.first & other.first, self.then & other.then)


def _in_nodes(schedule: Schedule, row: int, view: ModuleView, nodes: np.ndarray) -> SharedWait | None:
    """Count the nodes among ``nodes`` that had what the component asks for, over time."""
    there = capacities(schedule, view.name)
    if schedule.dealt:
        there |= generic_capacities(schedule, view.name)
    others = view.row[schedule.ran[view.row] & (view.row != row)]
    held = held_by(schedule, others)
    held = Held(*(column[nodes[held.node]] for column in held))
    shares = _asked(schedule, row, there)
    taken = {kind: _taken(schedule, held, kind, there) for kind in shares}
    changes = Changes.of(held)
    last = changes.last
    node, time = changes.node[last], changes.time[last]
    totals = {kind: _total(kind, there, len(nodes)) for kind in shares}
    marks = dict[str, _Usable]()
    for kind, own in shares.items():
        free = totals[kind][node] - changes.taken(taken[kind])[last]
        least = int(own.min())
        marks[kind] = _Usable(node, time, nodes & (totals[kind] >= least), nodes[node] & (free >= least))
    usable = next(iter(marks.values()))
    for one in marks.values():
        usable = usable & one
    unequal = any(len(np.unique(own)) > 1 for own in shares.values())
    having, able = {kind: one.steps() for kind, one in marks.items()}, usable.steps()
    if unequal:
        parts = _parts_free(view, nodes, held, shares, taken, totals)
        if parts is None:
            return None
        having, able = parts
    kinds = _kinds(schedule, view.name, nodes)
    named = {kind: _word(kind) for kind in shares}
    return SharedWait(
        nodes=nodes,
        where=_called(schedule, view.name, nodes),
        each=_in_words(shares, unequal=unequal),
        needed=PERCENT if unequal else int(view.nodes[view.position(row)]),
        in_percent=unequal,
        having={named[kind]: one for kind, one in having.items()},
        able=able,
        by_kind={} if unequal else {n: (int(own.sum()), usable.steps(own)) for n, own in kinds.items()},
        held=held,
        taken={named[kind]: own for kind, own in taken.items()},
        usable=usable,
    )


def _parts_free(
    view: ModuleView,
    nodes: np.ndarray,
    held: Held,
    shares: Mapping[str, Ints],
    taken: Mapping[str, Ints],
    totals: Mapping[str, Ints],
) -> tuple[dict[str, Steps], Steps] | None:
    """Return how much of what is asked for in all was free, in %, on as many nodes as it had, over time.

    And in how many nodes there was enough of everything: as many as it had, or fewer. None if there is too
    much to look at.
    """
    instants, which = view.instants(), np.flatnonzero(nodes)
    if len(instants) * len(which) > MOST_CELLS:
        return None
    wanted = len(next(iter(shares.values())))
    place = np.searchsorted(which, held.node)
    begin, end = (np.searchsorted(instants, time, side="left") for time in (held.start, held.end))
    part, found = np.full((len(which), len(instants)), np.inf), dict[str, Steps]()
    for kind, own in shares.items():
        change = np.zeros((len(which), len(instants) + 1), dtype=np.int64)
        np.add.at(change, (place, begin), taken[kind])
        np.add.at(change, (place, end), -taken[kind])
        free = totals[kind][which][:, np.newaxis] - np.cumsum(change, axis=1)[:, :-1]
        mine = np.maximum(free, 0) / max(int(own.sum()), 1)
        part = np.minimum(part, mine)
        found[kind] = from_samples(instants, _best(mine, wanted))
    enough = np.where(_best(part, wanted) >= PERCENT, wanted, 0)
    return found, from_samples(instants, enough)


def _best(part: np.ndarray, nodes: int) -> Ints:
    """How many % the best nodes have together, at each instant; never rounded up to all."""
    most = np.sort(np.minimum(part, 1.0), axis=0)[-nodes:].sum(axis=0)
    percents: Ints = np.minimum(np.floor(PERCENT * most + 1e-9), PERCENT).astype(np.int64)
    return percents


def _asked(schedule: Schedule, row: int, there: Mapping[str, np.ndarray]) -> dict[str, Ints]:
    """Return what it had, or asks for, of each of its nodes, in whole units; or that they be idle."""
    nodes = max(int(schedule.of("nodes")[row]), 1)
    if schedule.of("exclusive")[row]:
        return {ALL_FREE: np.zeros(nodes, dtype=np.int64)}
    found = {kind: int(had_in_all(schedule, kind)[row]) for kind in KINDS}
    if not _consumes_memory(schedule):
        del found["memory_kb"]
    named = tres_in(str(schedule.components["asked"].iloc[row])) if "asked" in schedule.components else {}
    for name, amount in named.items():
        kind = name.removeprefix("gres/")
        if name.startswith("gres/") and kind in there and kind not in KINDS:
            found[kind] = amount * unit(kind)
            if kind.startswith("gpu:"):
                found.pop("gpus", None)  # any GPU of another type is of no use
    return {
        kind: _dealt(schedule, row, kind, amount, nodes)
        for kind, amount in found.items()
        if kind == "cores" or amount
    }


def _dealt(schedule: Schedule, row: int, kind: str, amount: int, nodes: int) -> Ints:
    """Return the share of each node: the same, or what Slurm dealt."""
    told = shares_in(str(schedule.components["node_shares"].iloc[row])) if schedule.dealt else {}
    name = "gpus" if kind.startswith("gpu:") and kind not in told else kind
    if name in told:
        own: Ints = np.rint(np.array(told[name]) * unit(kind)).astype(np.int64)
        return own
    return np.full(nodes, amount // nodes if schedule.ran[row] else -(-amount // nodes), dtype=np.int64)


def _consumes_memory(schedule: Schedule) -> bool:
    """Whether memory is given out: under Slurm unless SelectTypeParameters say otherwise."""
    words = (schedule.policy.get("slurm") or {}).get("SelectTypeParameters") or []
    return not words or any(str(word).upper().endswith("MEMORY") for word in words)


def _taken(schedule: Schedule, held: Held, kind: str, there: Mapping[str, np.ndarray]) -> Ints:
    if kind == ALL_FREE:
        return np.ones(len(held.row), dtype=np.int64)
    return held.amount(schedule, kind, there[kind])


def _total(kind: str, there: Mapping[str, np.ndarray], nodes: int) -> Ints:
    """What nodes have; memory that is not stated is not checked."""
    if kind == ALL_FREE:
        return np.zeros(nodes, dtype=np.int64)
    stated = (there[kind] > 0) | (kind != "memory_kb")
    return np.where(stated, there[kind], MUCH)


def _kinds(schedule: Schedule, module: str, nodes: np.ndarray) -> dict[str, np.ndarray]:
    """Return the nodes by kind, bool[nodes] each; nothing if they are all of one."""
    described = next(one for one in schedule.system["modules"] if one["name"] == module)
    first, found = 0, dict[str, np.ndarray]()
    for one in described.get("node_sets") or []:
        own = np.zeros(len(nodes), dtype=bool)
        own[first : first + one["nodes"]] = nodes[first : first + one["nodes"]]
        first += one["nodes"]
        if own.any():
            found[plain(one["name"])] = own
    return found if len(found) > 1 else {}


def _word(kind: str) -> str:
    """What a resource is called."""
    if kind.startswith("gpu:"):
        return f"GPUs of type {plain(kind.removeprefix('gpu:'))}"
    return WORDS.get(kind, plain(kind))


def _in_words(shares: Mapping[str, Ints], *, unequal: bool) -> str:
    if ALL_FREE in shares:
        return ""
    if unequal:
        return listing(amount_in_words(kind, int(own.sum())) for kind, own in shares.items())
    return listing(amount_in_words(kind, int(own[0])) for kind, own in shares.items())


def amount_in_words(kind: str, amount: int) -> str:
    """Write an amount in whole units: ``2 cores``, ``1 GPU of type a100``, ``8 GB of memory``."""
    if kind == "memory_kb":
        return f"{short(amount / KB_PER_GB)} GB of memory"
    word = _word(kind)
    if amount == unit(kind) and word.endswith("s"):
        word = word.removesuffix("s")
    return f"{amount / unit(kind):,g} {word.replace('GPUs of', 'GPU of') if amount == unit(kind) else word}"


def _steps(node: np.ndarray, time: np.ndarray, first: np.ndarray, then: np.ndarray) -> Steps:
    """Count the nodes that have enough: ``first`` of each, ``then`` after each change, by node."""
    before = np.append(False, then[:-1])
    new = np.append(True, node[1:] != node[:-1])[: len(node)]
    before = np.where(new, first[node], before[: len(node)])
    turned = then.astype(np.int64) - before
    return from_changes(np.append(-MUCH, time), np.append(int(first.sum()), turned))
