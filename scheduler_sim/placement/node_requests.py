"""What components ask for on each of their nodes, where nodes are told apart."""

from __future__ import annotations

import math

import numpy as np

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.config.value import MOST_COUNTED
from scheduler_sim.placement.node_demand import ANY_TYPE, SEVERAL_TYPES, Choices, NodeDemands
from scheduler_sim.placement.parse_once import parse_once
from scheduler_sim.placement.repeating import as_slice
from scheduler_sim.system.constraint import parse_constraint
from scheduler_sim.system.gres import GPU, gpus_in, is_gpu, parse_gres, types_of_gpus
from scheduler_sim.system.node_resources import CORES, GPUS, KINDS, MEMORY, THOUSANDTHS
from scheduler_sim.system.system import System
from scheduler_sim.workload.parts import stated_cores
from scheduler_sim.workload.table import Workload

NOT_STATED = -1


class NodeRequests:
    """The requests of n components.

    Attributes
    ----------
    cores : int64[n], thousandths on each node; of SWF ``NOT_STATED``, as processors are its nodes there
    in_vain : bool[n], whether one asks for generic resources of which no node has any
    """

    def __init__(self, workload: Workload, system: System, rows: Ints) -> None:
        self.system, self._here = system, as_slice(rows)
        self.by_processors = workload.source.format == "swf"
        self.cores = _thousandths(stated_cores(workload.columns)[self._here])
        self._memory, gpus, self._exclusive = (
            workload.columns[name][self._here] for name in ("memory_kb", "gpus", "exclusive")
        )
        self._gres, self._gres_of = parse_once(workload, rows, "gres", parse_gres)
        typed = np.array([gpus_in(one) for one in self._gres])[self._gres_of]
        self._gpus = np.maximum(_thousandths(gpus), _thousandths(typed))
        self._spread_over_nodes(workload, rows)
        self._constraints, self._constraint_of = parse_once(workload, rows, "constraint", _checked)
        self._gres, self.in_vain = self._without_unknown(system)
        self._shared = np.array([system.module(p.module).shared for p in system.partitions], dtype=bool)
        self._types = system.gpu_types

    def _spread_over_nodes(self, workload: Workload, rows: Ints) -> None:
        """What is asked for each core, each task, or in all: of each node so much, rounded up."""
        column = {
            name: workload.columns[name][self._here]
            for name in ("nodes", "tasks", "tasks_per_node", "memory_per_core_kb")
        }
        nodes, of_node = column["nodes"], column["tasks_per_node"]
        tasks = np.where(of_node > 0, of_node, -(-np.maximum(column["tasks"], 1) // nodes))
        for name, times, over in (("gres_per_job", 1, nodes), ("gres_per_task", tasks, 1)):
            lists, of = parse_once(workload, rows, name, parse_gres)
            if any(lists):
                gpus = np.array([gpus_in(one) for one in lists])[of]
                self._gpus = np.maximum(self._gpus, _thousandths(np.ceil(gpus * times / over)))
                self._add_shares(lists, of, np.broadcast_to(times, of.shape), np.broadcast_to(over, of.shape))
        of_cores = -(-self.cores * column["memory_per_core_kb"] // THOUSANDTHS)
        asked = (self._memory < 0) & (column["memory_per_core_kb"] >= 0) & (self.cores > 0)
        if asked.any():
            self._memory = np.where(asked, of_cores, self._memory)

    def _add_shares(self, lists: list[dict[str, float]], of: Ints, times: Ints, over: Ints) -> None:
        """What is listed elsewhere is asked for on each node, too: ``times`` a list, ``over`` so many."""
        counted = np.array([any(not is_gpu(name) for name in one) for one in lists])[of]
        shares = np.column_stack((self._gres_of, of, times * counted, over * counted))
        each, which = np.unique(shares, axis=0, return_inverse=True)
        self._gres = [_with_share(self._gres[i], lists[k], n, m) for i, k, n, m in each.tolist()]
        self._gres_of = which.reshape(-1).astype(np.int64)

    def _without_unknown(self, system: System) -> tuple[list[dict[str, float]], Bools]:
        """Leave out generic resources of which no node has any, as licences that are not declared.

        And types of GPUs where no node has any type.
        """
        there = {name.lower() for module in system.modules for one in module.sets for name in one.gres}
        typed = bool(types_of_gpus(there))
        known = [
            {n: amount for n, amount in one.items() if n in there or (is_gpu(n) and (typed or ":" not in n))}
            for one in self._gres
        ]
        lost = [len(kept) < len(one) for kept, one in zip(known, self._gres, strict=True)]
        return known, np.array(lost, dtype=bool)[self._gres_of]

    def nodes_for(self, processors: Ints, partition: Ints) -> Ints:
        """Return as few nodes of each way's partition as hold so many processors, the same on each.

        More than the partition has where they never fit.
        """
        nodes = processors.copy()
        for number, part in enumerate(self.system.partitions):
            here = np.flatnonzero(partition == number)
            if not (len(here) and self.system.module(part.module).shared):
                continue
            sizes = [(one.cores_per_node, one.nodes) for one, _ in self.system.sets_of(part.name)]
            cores = np.sort(np.repeat(*np.array(sizes).T.astype(np.int64)))[::-1]
            most = np.maximum.accumulate(cores * np.arange(1, len(cores) + 1))
            nodes[here] = np.searchsorted(most, processors[here]) + 1
        return nodes

    def demands(self, owner: Ints, partition: Ints, processors: Ints, nodes: Ints) -> NodeDemands:
        """Return what the ways of components ask of their nodes.

        ``processors`` is what an SWF trace asks for, ``nodes`` how many nodes hold them.
        """
        cores, memory, gpus = self.cores[owner], self._memory[owner], self._gpus[owner]
        shared = self._shared[partition]
        if self.by_processors:
            each = -(-processors // nodes)
            cores = np.where(shared & (cores < 0), each * THOUSANDTHS, cores)
            memory = np.where(shared & (memory > 0), memory * each, memory)
        gres = self._gres_of[owner]
        alone = np.array([p.exclusive for p in self.system.partitions])[partition]
        exclusive = ~shared | alone | (cores < 0) | (self._exclusive[owner] != 0)
        columns = [np.maximum(asked, 0) for asked in (cores, memory, gpus)]
        for kind in self.system.counted[len(KINDS) :]:
            of_spelling = np.array([one.get(kind, 0) for one in self._gres], dtype=float)
            columns.append(_thousandths(of_spelling)[gres])
        amounts = np.column_stack(columns) * shared[:, np.newaxis]
        types = self.gpu_types(owner, partition)
        columns += [columns[GPUS] * (types == i + 1) for i in range(len(self._types))]
        which, kinds = self._choices(owner, partition, columns, self._gres)
        return NodeDemands(which, kinds, amounts, exclusive, types)

    def gpu_types(self, owner: Ints, partition: Ints) -> Ints:
        """Return the type of GPU that ways of components ask for: see ``NodeDemands``."""
        if not self._types:
            return np.full(len(owner), ANY_TYPE, dtype=np.int64)
        number = {name: i for i, name in enumerate(self._types, 1)}
        codes = []
        for types in map(types_of_gpus, self._gres):
            one = number.get(types[0], ANY_TYPE) if types else ANY_TYPE
            codes.append(SEVERAL_TYPES if len(types) > 1 else one)
        found: Ints = np.where(self._shared[partition], np.array(codes)[self._gres_of[owner]], ANY_TYPE)
        return found

    def _choices(
        self, owner: Ints, partition: Ints, columns: list[Ints], gres: list[dict[str, float]]
    ) -> tuple[Ints, tuple[Choices, ...]]:
        """Return the nodes that ways may take, each kind of choice once, and which kind each has.

        ``columns`` is what is asked for on each node, of each kind that is counted, then of each type of GPU
        that stands beside others, ``gres`` the generic resources by spelling; only nodes that jobs share are
        asked for these, and for GPUs.
        """
        shared, spelling = self._shared[partition], self._gres_of[owner]
        constraint = self._constraint_of[owner]
        told_apart = np.column_stack((partition, constraint, spelling * shared, self._classes(columns)))
        _, first, which = np.unique(told_apart, axis=0, return_index=True, return_inverse=True)
        kinds = (
            self.system.node_choices(
                self.system.partitions[partition[i]].name,
                self._constraints[constraint[i]],
                cores=columns[CORES][i] / THOUSANDTHS,
                memory_kb=int(columns[MEMORY][i]),
                gpus=columns[GPUS][i] / THOUSANDTHS if shared[i] else 0,
                gres=_of_type(gres[spelling[i]], columns[GPUS][i] / THOUSANDTHS) if shared[i] else {},
            )
            for i in first
        )
        return which.reshape(-1).astype(np.int64), tuple(kinds)

    def _classes(self, columns: list[Ints]) -> Ints:
        """[ways, kinds]: what is asked for, as a number that is the same where the same nodes have it."""
        sizes = np.array(self.system.sizes_of_nodes).T
        classes = [
            np.searchsorted(np.unique(size), column) for size, column in zip(sizes, columns, strict=True)
        ]
        return np.column_stack(classes)


def _of_type(gres: dict[str, float], gpus: float) -> dict[str, float]:
    """Generic resources, in which all GPUs are of the type if one is named."""
    types = types_of_gpus(gres)
    return gres | {types[0]: max(gpus, gres[types[0]])} if len(types) == 1 else gres


def _with_share(own: dict[str, float], listed: dict[str, float], times: int, over: int) -> dict[str, float]:
    """Generic resources of a node, with its share of what is listed; of GPUs the types, how many is known."""
    share = {name: 0 if is_gpu(name) else math.ceil(listed[name] * times / over) for name in listed}
    share.pop(GPU, None)
    return share | {name: max(amount, share.get(name, 0)) for name, amount in own.items()}


def _checked(text: str) -> str:
    """The constraint itself, once it is clear what it means for nodes that differ."""
    parse_constraint(text).ways()
    return text


def _thousandths(numbers: np.ndarray) -> Ints:
    """int64: whole thousandths of numbers, ``NOT_STATED`` of those below 0."""
    thousandths = np.rint(np.minimum(np.asarray(numbers, dtype=float), MOST_COUNTED) * THOUSANDTHS)
    return np.where(numbers >= 0, thousandths, NOT_STATED).astype(np.int64)
