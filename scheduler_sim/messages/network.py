"""A network: nodes, their links, where processes run, what messages take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Problem, one_of
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import InputError
from scheduler_sim.messages.collectives import USUAL
from scheduler_sim.messages.network_keys import LinkKeys, ModuleKeys, NetworkKeys, NodeLinkKeys, OperationKeys
from scheduler_sim.messages.paths import MICRO, Links, Places


@dataclass(frozen=True)
class Network:
    """A network on which traces are replayed.

    Attributes
    ----------
    name : for people
    modules : by name, in order; nodes are numbered through
    pairs : links between modules, by their two places in order, the smaller first
    mapping : fill, round_robin, or the node of each process
    eager_bytes : largest message that does not wait for its receive; None = all
    collectives : models by operation
    latency_times, bandwidth_times : what-ifs on all links
    ideal : no latency, no bandwidth, no limit, no time for collective operations
    """

    name: str
    modules: Mapping[str, ModuleKeys]
    pairs: Mapping[tuple[int, int], LinkKeys]
    mapping: str | tuple[int, ...]
    eager_bytes: int | None
    collectives: Mapping[str, OperationKeys]
    latency_times: float = 1.0
    bandwidth_times: float = 1.0
    ideal: bool = False

    def as_ideal(self) -> Network:
        """Return the instantaneous network: the same nodes, mapping and protocol, messages take no time."""
        return replace(self, ideal=True)

    def scaled(self, *, latency: float = 1.0, bandwidth: float = 1.0) -> Network:
        """Return the network with times as much latency (all that is given in µs) and bandwidth."""
        return replace(
            self,
            latency_times=self.latency_times * latency,
            bandwidth_times=self.bandwidth_times * bandwidth,
        )

    def places(self, processes: int) -> Places:
        """Put processes on nodes. InputError if there are more than cores, or the mapping does not fit
        them."""
        every = list(self.modules.values())
        nodes = np.array([module.nodes for module in every], dtype=np.int64)
        module_of_node = np.repeat(np.arange(len(every)), nodes)
        cores = np.array([module.cores for module in every], dtype=np.int64)[module_of_node]
        node = self._nodes(processes, cores)
        full = np.flatnonzero(np.bincount(node, minlength=len(cores)) > cores)
        if len(full):
            raise InputError(
                f"mapping: found {int((node == full[0]).sum())} processes on node {full[0]}, which has"
                f" {cores[full[0]]} cores; allowed: a process on a core"
            )
        used = np.unique(module_of_node[node]).tolist()
        apart = [(a, b) for a in used for b in used if a < b and (a, b) not in self.pairs]
        if apart:
            names = list(self.modules)
            a, b = (names[i] for i in apart[0])
            raise InputError(
                f"between_modules: no network between {a} and {b}, which have processes; allowed:"
                " one for each pair of modules in use"
            )
        return Places(node, module_of_node[node], module_of_node)

    def _nodes(self, processes: int, cores: Ints) -> Ints:
        if isinstance(self.mapping, tuple):
            if len(self.mapping) != processes or max(self.mapping) >= len(cores):
                raise InputError(
                    f"mapping: found {len(self.mapping)} nodes up to number {max(self.mapping)}; allowed"
                    f" for this trace: {processes}, one for each process, from 0 to {len(cores) - 1}"
                )
            return np.array(self.mapping, dtype=np.int64)
        if processes > cores.sum():
            raise InputError(
                f"network {self.name!r}: found a trace of {processes} processes; allowed: {cores.sum()},"
                " one a core"
            )
        if self.mapping == "fill":
            return np.repeat(np.arange(len(cores)), cores)[:processes]
        turn = np.concatenate([np.arange(count) for count in cores])
        node = np.repeat(np.arange(len(cores)), cores)
        return node[np.lexsort((node, turn))][:processes]

    def links(self) -> Links:
        """Return what messages take, by kind of path: within a node and between nodes of each module, then
        pairs."""
        modules = list(self.modules.values())
        every: list[LinkKeys] = [
            *(module.within_node for module in modules),
            *(module.between_nodes for module in modules),
            *self.pairs.values(),
        ]
        times = 0.0 if self.ideal else self.latency_times

        def ps(values: list[float], factor: float) -> Ints:
            return np.rint(np.array(values, dtype=np.float64) * (MICRO * factor)).astype(np.int64)

        bandwidth = np.array([link.bandwidth_mb_s for link in every], dtype=np.float64) * self.bandwidth_times
        return Links(
            latency=ps([link.latency_us for link in every], times),
            lookup=ps([link.receive_latency_us for link in every], times),
            flight=ps([link.flight_us for link in every], times),
            overhead=ps([link.overhead_us for link in every], times),
            bandwidth=np.zeros(len(every)) if self.ideal else bandwidth,
            buses=np.array([0 if self.ideal else link.buses for link in every], dtype=np.int64),
            modules=len(modules),
            pair={pair: 2 * len(modules) + i for i, pair in enumerate(self.pairs)},
        )

    def node_links(self, within: bool) -> tuple[Ints, Ints]:
        """Return the links out and in of a node of each module, int64; 0 = no limit."""
        every: list[NodeLinkKeys] = [
            module.within_node if within else module.between_nodes for module in self.modules.values()
        ]
        if self.ideal:
            return np.zeros(len(every), dtype=np.int64), np.zeros(len(every), dtype=np.int64)
        return (
            np.array([link.links_out for link in every], dtype=np.int64),
            np.array([link.links_in for link in every], dtype=np.int64),
        )


def read_network(path: str | Path) -> Network:
    """Read a network. Raises ConfigError with every problem, each with its line."""
    file = read_yaml(path)
    keys, problems = check_keys(NetworkKeys, file.data)
    if keys is None:
        raise file.error(problems)
    pairs: dict[tuple[int, int], LinkKeys] = {}
    names = list(keys.modules)
    if not names:
        problems.append(Problem(("modules",), "found no module; allowed: at least one"))
    for i, pair in enumerate(keys.between_modules):
        where = ("between_modules", i, "modules")
        wrong = [name for name in pair.modules if name not in names]
        if wrong:
            problems.append(Problem(where, f"found {wrong[0]!r}; {one_of(names, wrong[0])}"))
        elif len(set(pair.modules)) != 2 or len(pair.modules) != 2:
            problems.append(
                Problem(where, f"found {len(set(pair.modules))} modules; allowed: two different ones")
            )
        else:
            first, second = sorted(names.index(name) for name in pair.modules)
            if (first, second) in pairs:
                problems.append(Problem(where, "given twice; allowed: each pair once"))
            pairs[first, second] = pair
    if problems:
        raise file.error(problems)
    return Network(
        keys.name or Path(path).stem,
        keys.modules,
        pairs,
        keys.mapping,
        keys.eager_bytes,
        {**USUAL, **keys.collectives},
    )
