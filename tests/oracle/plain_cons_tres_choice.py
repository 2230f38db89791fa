"""Which nodes a job takes (`choose_nodes`, `_eval_nodes`, `_eval_nodes_lln` in job_test.c of cons_tres).

Left out: nodes that the job names, --contiguous, --spread-job, bf_busy_nodes, pack_serial_at_end, topology.
"""

from __future__ import annotations

from itertools import groupby

from tests.oracle.plain_cons_tres_gres import cpus_of_a_node, cpus_of_all_nodes
from tests.oracle.plain_cons_tres_needs import Needs, is_gpu
from tests.oracle.plain_cons_tres_offers import Offer, usable_cpus

Offers = dict[int, Offer]
Weights = dict[int, tuple[bool, int, int]]  # the lower comes first


def choose_nodes(
    needs: Needs, offers: Offers, weights: Weights, lln: bool, whole_sockets: bool
) -> Offers | None:
    """The nodes with the CPUs that are meant to be taken of them; None if it does not work out.

    Where it does not, the nodes with fewest CPUs and GPUs are left out, then those with few more. What an
    attempt has cut down of an offer stays cut for the next.
    """
    least = needs.min_nodes
    if needs.tasks_per_node:
        least = max(least, -(-needs.tasks // needs.tasks_per_node))
    most = max(needs.tasks, least) if 0 < needs.tasks < needs.limit else needs.limit
    left = set(offers)

    def attempt() -> Offers | None:
        mine = {node: offers[node] for node in sorted(left)}
        return Attempt(needs, mine, weights, least, most, whole_sockets).run(lln)

    found = attempt()
    if found is not None or len(left) < least:
        return found
    if len(left) == least:
        return attempt()
    for size in range(1, max(offer.size for offer in offers.values())):
        small = [node for node in sorted(left) if 0 < offers[node].size <= size][: len(left) - least]
        left -= set(small)
        if small or size == 1:
            found = attempt()
        if found is not None or (small and len(left) <= least):
            return found
    return None


class Attempt:
    """One go at it: what is still wanted, as node after node is taken."""

    def __init__(
        self, needs: Needs, offers: Offers, weights: Weights, least: int, most: int, whole_sockets: bool
    ):
        self.needs, self.offers, self.weights = needs, offers, weights
        self.least, self.most = least, most  # nodes; the most is counted down
        self.whole_sockets = whole_sockets
        asked = needs.asked_nodes
        self.nodes = min(least, asked) if needs.gpus else max(least, asked)
        self.least_left = least
        self.cpus = needs.min_cpus
        self.most_cpus = max(
            needs.min_cpus, cpus_of_a_node(needs) * self.nodes, cpus_of_all_nodes(needs, needs.min_nodes)
        )
        self.gpus = dict(needs.gpus)
        self.usable: dict[int, int] = {}
        self.cores: dict[int, frozenset[int]] = {}
        self.taken: list[int] = []

    def run(self, lln: bool) -> Offers | None:
        if len(self.offers) < self.least:
            return None
        ok = self._least_loaded() if lln else self._by_sets()
        return self._result() if ok else None

    def _result(self) -> Offers:
        for node in self.taken:
            offer = self.offers[node]
            if self.needs.gres or self.needs.gpus:
                offer.cores = self.cores[node]
                offer.cpus = min(offer.cpus, len(offer.cores) * offer.node.threads)
        return {node: self.offers[node] for node in sorted(self.taken)}

    # ------------------------------------------------------------------ what is wanted

    def _look(self, node: int) -> int:
        """CPUs that the job could use of the node."""
        self.usable[node], self.cores[node] = usable_cpus(self.needs, self.offers[node], self.gpus)
        return self.usable[node]

    def _has_gpus(self) -> bool:
        return all(count <= 0 for count in self.gpus.values())

    def _satisfied(self) -> bool:
        return self.nodes <= 0 and self.cpus <= 0 and self._has_gpus()

    def _would_have_gpus(self, nodes: list[int]) -> bool:
        return all(
            count <= sum(self.offers[node].gres[name] for node in nodes) for name, count in self.gpus.items()
        )

    def _enough_nodes(self, count: int) -> bool:
        """The least is enough, though -N gave more."""
        return count >= self.nodes - max(0, self.needs.asked_nodes - self.least)

    def _cut(self, node: int) -> int:
        """CPUs that the job means to take of the node: a core is left for each of the others it must have."""
        offer, cpus = self.offers[node], self.usable[node]
        if self.needs.whole:
            return cpus
        core = offer.node.threads * (offer.node.cores if self.whole_sockets else 1)
        most = self.most_cpus - max(self.least_left - 1, 0) * core
        if cpus > most:
            cpus = max(most, self.needs.node_cpus, cpus_of_a_node(self.needs))
            offer.size = offer.all_gpus + cpus
            offer.cpus = cpus
        return cpus

    def _take(self, node: int, cpus: int) -> None:
        self.taken.append(node)
        for name in self.gpus:
            found = self.offers[node].gres[name]
            if self.needs.gpu_cpus_said and is_gpu(name):
                found = min(found, cpus // self.needs.gpu_cpus)
                cpus = found * self.needs.gpu_cpus or cpus
            self.gpus[name] -= found
        self.cpus -= cpus
        self.most_cpus -= cpus
        self.nodes -= 1
        self.least_left -= 1
        self.most -= 1

    # ------------------------------------------------------------------ sets of nodes beside one another

    def _by_sets(self) -> bool:
        sets = self._sets()
        while sets and self.most > 0:
            best = self._best(sets)
            sets.remove(best)
            self._take_from(best)
            if self._satisfied():
                return True
        return self.cpus <= 0 and self._has_gpus() and self._enough_nodes(0)

    def _sets(self) -> list[list[int]]:
        """Runs of usable nodes of one weight, one beside the other in slurm.conf."""
        usable = [node for node in sorted(self.offers) if self._look(node) > 0]
        runs = groupby(enumerate(usable), key=lambda pair: (pair[1] - pair[0], self.weights[pair[1]]))
        return [[node for _, node in run] for _, run in runs]

    def _best(self, sets: list[list[int]]) -> list[int]:
        """The lowest weight; the fewest CPUs that are enough; the most if none has enough."""
        best, best_cpus, best_weight, best_enough = None, 0, (0, 0), False
        for nodes in sets:
            cpus, weight = sum(self.usable[node] for node in nodes), self.weights[nodes[0]]
            enough = cpus >= self.cpus and self._enough_nodes(len(nodes)) and self._would_have_gpus(nodes)
            tighter = not best_enough or cpus < best_cpus
            better = tighter if enough else cpus > best_cpus
            if best is None or weight < best_weight or (weight == best_weight and better):
                best, best_cpus, best_weight, best_enough = nodes, cpus, weight, enough
        return best

    def _take_from(self, nodes: list[int]) -> None:
        """The one node that suffices with fewest CPUs; else one after the other, in order."""
        if self.nodes <= 1:
            alone = [
                node for node in nodes if self.usable[node] >= self.cpus and self._would_have_gpus([node])
            ]
            nodes = [min(alone, key=self.usable.get)] if alone else nodes
        for node in nodes:
            if self.most == 0 or self._satisfied():
                return
            if self.most > 1 or self.usable[node] >= self.cpus:
                self._take(node, self._cut(node))

    # ------------------------------------------------------------------ the least loaded

    def _least_loaded(self) -> bool:
        """Weight by weight the node of which most is free, again and again."""
        self.most = min(self.most, self.needs.tasks or self.most)
        for weight in sorted({self.weights[node] for node in self.offers}):
            same = [node for node in sorted(self.offers) if self.weights[node] == weight]
            while self.most > 0 and (node := self._freest(same)) is not None:
                self._take(node, self.usable[node])
                if self._satisfied():
                    return True
        return self.cpus <= 0 and self.least_left <= 0 and self._has_gpus()

    def _freest(self, nodes: list[int]) -> int | None:
        best, before = None, self.offers[self.taken[-1]].free_cpus if self.taken else -1
        for node in nodes:
            if node in self.taken or not self._look(node):
                continue
            self.usable[node] = self._cut(node)
            if best is None or self._free_share(best) < self._free_share(node):
                best = node
                if self.offers[node].free_cpus == before:
                    break
        return best

    def _free_share(self, node: int) -> float:
        return self.offers[node].free_cpus / self.offers[node].node.cpus
