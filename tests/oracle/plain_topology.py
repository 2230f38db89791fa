"""Slurm's topology/tree and topology/block as a slow, plain model: which nodes a job gets by where they lie.

The rules are those that were read in the source (`_eval_nodes_topo`, `_topo_choose_best_switch` and
`_eval_nodes_dfly` of cons_tres/job_test.c in 22.05; eval_nodes_block.c in 24.05). Switches are objects with
sets of nodes; links are counted one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.oracle.plain_cons_tres_choice import Attempt
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_passes import Passes
from tests.oracle.plain_slurm_records import Job

Enough = Callable[[int], bool]
Weight = Mapping[int, object]


@dataclass(eq=False)
class Switch:
    """A switch of the site, in the order of its table."""

    name: str
    nodes: set[int] = field(default_factory=set)
    below: list[Switch] = field(default_factory=list)
    parent: Switch | None = None

    @property
    def level(self) -> int:
        return 1 + max(one.level for one in self.below) if self.below else 0

    def all_nodes(self) -> set[int]:
        return self.nodes.union(*(one.all_nodes() for one in self.below))

    def leaves(self) -> list[Switch]:
        return [leaf for one in self.below for leaf in one.leaves()] if self.below else [self]


class Tree:
    """topology/tree: `switches` in the order of the table."""

    def __init__(self, switches: list[Switch]):
        self.switches = switches
        for one in switches:
            for inner in one.below:
                inner.parent = one

    def distance(self, one: Switch, other: Switch) -> int:
        """Links between two switches, found by walking."""
        reached, links = {one.name}, 0
        while other.name not in reached:
            links += 1
            reached |= {n.name for s in self.switches if s.name in reached for n in self._beside(s)}
        return links

    def _beside(self, switch: Switch) -> Iterator[Switch]:
        yield from switch.below
        if switch.parent is not None:
            yield switch.parent

    def top(self, enough: Enough, usable: set[int], weight: Weight) -> set[int] | None:
        """The nodes of the highest switch with nodes of the lowest weight; of several, of the last."""
        able = [one for one in self.switches if one.all_nodes() & usable]
        able = [one for one in able if enough(len(one.all_nodes() & usable))]
        if not able:
            return None
        lightest = {one.name: min(weight[n] for n in one.all_nodes() & usable) for one in able}
        lowest = min(lightest.values())
        able = [one for one in able if lightest[one.name] == lowest]
        highest = max(one.level for one in able)
        return [one for one in able if one.level == highest][-1].all_nodes()

    def next_leaf(self, used: list[Switch], usable: set[int], remaining: int) -> Switch | None:
        best = None
        for leaf in self.switches:
            if leaf.below or leaf in used or not leaf.nodes & usable:
                continue
            if best is None:
                best = leaf
                continue
            fit = self._fit(leaf, best, usable, remaining)
            here = sum(self.distance(leaf, one) for one in used)
            there = sum(self.distance(best, one) for one in used)
            if (here < there and fit >= 0) or (here == there and fit > 0):
                best = leaf
        return best

    def _fit(self, one: Switch, other: Switch, usable: set[int], remaining: int) -> int:
        """More than 0: `one` fits better."""
        here, there = len(one.all_nodes() & usable), len(other.all_nodes() & usable)
        if here >= remaining and there >= remaining:
            return there - here
        if here >= remaining or there >= remaining:
            return 1 if here >= remaining else -1
        above, beside = one.parent or one, other.parent or other
        if above is beside or (above is one and beside is other):
            return here - there
        return self._fit(above, beside, usable, remaining)

    def leaf_of(self, node: int) -> Switch:
        return next(one for one in self.switches if node in one.nodes)

    def by_weights(self) -> bool:
        return True


class Blocks(Tree):
    """topology/block: `switches` are the base blocks, `sizes` nodes of those jobs are kept in."""

    def __init__(self, switches: list[Switch], sizes: list[int]):
        super().__init__(switches)
        self.sizes, self.asked = sizes, 0

    def top(self, enough: Enough, usable: set[int], weight: Weight) -> set[int] | None:
        holding = [size for size in self.sizes if size >= self.asked]
        joined = min(holding) // self.sizes[0] if holding else len(self.switches)
        blocks = [self.switches[i : i + joined] for i in range(0, len(self.switches), joined)]
        sets = [set().union(*(one.nodes for one in block)) for block in blocks]
        able = [nodes for nodes in sets if nodes & usable and enough(len(nodes & usable))]
        return min(able, key=lambda nodes: len(nodes & usable)) if able else None

    def distance(self, one: Switch, other: Switch) -> int:
        return 0

    def by_weights(self) -> bool:
        return False


class Dragonfly(Tree):
    """topology/tree with Dragonfly: one leaf holds a job, or it has a node of each in turn."""

    def top(self, enough: Enough, usable: set[int], weight: Weight) -> set[int] | None:
        """The nodes of the highest switch with usable nodes; of several, of the first."""
        able = [one for one in self.switches if one.all_nodes() & usable]
        highest = max((one.level for one in able), default=0)
        found = next((one.all_nodes() for one in able if one.level == highest), set())
        return found if found and enough(len(found & usable)) else None

    def alone(self, taken: set[int], usable: set[int]) -> set[int]:
        """The nodes of the leaf that is tried alone: the used one, else the fullest; none if several are."""
        leaves = [one for one in self.switches if not one.below]
        used = [leaf for leaf in leaves if leaf.nodes & taken]
        if len(used) > 1:
            return set()
        return (used or [max(leaves, key=lambda leaf: len(leaf.nodes & usable))])[0].nodes - taken

    def in_turn(self, free: set[int]) -> Iterator[int]:
        """A node of each leaf, then the next of each."""
        while free:
            for leaf in self.switches:
                if not leaf.below and leaf.nodes & free:
                    free.remove(node := min(leaf.nodes & free))
                    yield node


def choose(tree: Tree, wanted: int, usable: set[int], weight: Mapping[int, object]) -> set[int] | None:
    """Whole nodes for a job."""
    if isinstance(tree, Blocks):
        tree.asked = wanted
    inside = tree.top(lambda count: count >= wanted, usable, weight)
    if inside is None:
        return None
    usable = usable & inside
    taken: list[int] = []
    if tree.by_weights():
        for value in sorted({weight[node] for node in usable}):
            if sum(weight[node] <= value for node in usable) >= wanted:
                usable = {node for node in usable if weight[node] <= value}
                break
            taken += [node for node in sorted(usable) if weight[node] == value]
    if isinstance(tree, Dragonfly):
        alone, free = tree.alone(set(taken), usable) & usable, usable - set(taken)
        order = sorted(alone) if len(alone) >= wanted - len(taken) else list(tree.in_turn(free))
        return {*taken, *order[: wanted - len(taken)]}
    used = [leaf for leaf in tree.switches if leaf.nodes & set(taken)]
    order = list(used)
    while len(taken) < wanted:
        if not order:
            order.append(tree.next_leaf(used, usable, wanted - len(taken)))
            used.append(order[-1])
        leaf = order.pop(0)
        free = [node for node in sorted(leaf.nodes & usable) if node not in taken]
        taken += free[: wanted - len(taken)]
    return set(taken)


class Waits(Passes):
    """--switches: what is chosen on more leaves does not count until the job has waited long enough."""

    tree: Tree
    most_wait: int = 300
    optional: bool = False

    def takes(self, job: Job, nodes: set[int] | None) -> bool:
        if nodes is None:
            return False
        leaves = {self.tree.leaf_of(node).name for node in nodes}
        wait = self.most_wait if job.switch_wait < 0 else min(job.switch_wait, self.most_wait)
        most = 0 if isinstance(self.tree, Dragonfly) and job.switches > 1 else job.switches
        return most <= 0 or len(leaves) <= most or self.now >= job.sought + wait

    def seek(self, job: Job) -> None:
        if job.sought is None:
            job.sought = self.now

    def _stuck(self, job: Job) -> bool:
        return super()._stuck(job) and (job.sought is None or self.now > job.sought + self.most_wait + 200)


class TopologySlurm(Waits, Slurm):
    """Whole nodes; `weights` of nodes."""

    def __init__(self, *given, tree: Tree, weights: Mapping[int, int], optional: bool = False):
        super().__init__(*given)
        self.tree, self.weights, self.optional = tree, weights, optional

    def chosen(self, room: set[int], job: Job, part: str, usable: set[int]) -> set[int] | None:
        idle = room & usable
        if self.optional and job.switches <= 0:
            return super().chosen(room, job, part, usable)
        if len(idle) < job.nodes:
            return None
        self.seek(job)
        nodes = choose(self.tree, job.nodes, idle, self.weights)
        return nodes if self.takes(job, nodes) else None

    def will_run(self, now: int, job: Job, part: str, avail: set[int], now_only: bool):
        self.seek(job)
        return super().will_run(now, job, part, avail, now_only)


class TopologySharedSlurm(Waits, SharedSlurm):
    """Nodes that jobs share."""

    def chosen(self, room, job, part: str, usable: set[int]) -> set[int] | None:
        if len(usable) >= self.needs(job, part).min_nodes:
            self.seek(job)
        nodes = super().chosen(room, job, part, usable)
        return nodes if self.takes(job, nodes) else None

    def start_on(self, now: int, job, part: str, usable: set[int], by: str) -> bool:
        fits = self.chosen(self.room(), job, part, usable) is not None
        return fits and super().start_on(now, job, part, usable, by)


class TopologyAttempt(Attempt):
    """select/cons_tres on a topology: instead of sets of nodes side by side."""

    tree: Tree

    def _by_sets(self) -> bool:
        usable = {node for node in sorted(self.offers) if self._look(node) > 0}
        if isinstance(self.tree, Blocks):
            self.tree.asked = self.nodes
        inside = self.tree.top(self._enough_nodes, usable, self.weights)
        if inside is None:
            return False
        usable &= inside
        if self.tree.by_weights():
            lower = self._lower_weights(usable)
            if lower is None:
                return False
            for node in lower:
                if self.most > 0:
                    self._take(node, self._cut(node))
        if isinstance(self.tree, Dragonfly):
            self._in_turn(self.tree, usable)
            return self.cpus <= 0 and self._has_gpus() and self._enough_nodes(0)
        used = [leaf for leaf in self.tree.switches if leaf.nodes & set(self.taken)]
        order = list(used)
        while self.most > 0 and not self._satisfied():
            if not order:
                leaf = self.tree.next_leaf(used, usable, self.nodes)
                if leaf is None:
                    break
                order.append(leaf)
                used.append(leaf)
            for node in sorted(order.pop(0).nodes & usable - set(self.taken)):
                if self.most > 0 and not self._satisfied():
                    self._take(node, self._cut(node))
        return self.cpus <= 0 and self._has_gpus() and self._enough_nodes(0)

    def _in_turn(self, tree: Dragonfly, usable: set[int]) -> None:
        among = sorted(tree.alone(set(self.taken), usable) & usable)
        cpus = sum(self.usable[node] for node in among)
        if cpus >= self.cpus and self._enough_nodes(len(among)) and self._would_have_gpus(among):
            self._take_all(among)
        self._take_all(list(tree.in_turn(usable - set(self.taken))))

    def _take_all(self, nodes: list[int]) -> None:
        for node in nodes:
            if self.most > 0 and not self._satisfied():
                self._take(node, self._cut(node))

    def _lower_weights(self, usable: set[int]) -> list[int] | None:
        """The nodes of all weights below the one that suffices; those of larger weights leave `usable`."""
        for value in sorted({self.weights[node] for node in usable}):
            among = [node for node in sorted(usable) if self.weights[node] <= value]
            cpus = sum(self.usable[node] for node in among)
            if cpus >= self.cpus and self._enough_nodes(len(among)) and self._would_have_gpus(among):
                usable -= {node for node in usable if self.weights[node] > value}
                return [node for node in among if self.weights[node] < value]
        return None
