"""Which nodes a job takes: ``choose_nodes``, ``_eval_nodes`` and ``_eval_nodes_lln`` of select/cons_tres.

Nodes that may be had stand in sets, side by side and of one weight. Of sets that suffice the one with fewest
CPUs is taken, else that with most. Where that does not work out, the smallest nodes are left out.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, lowest_in
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.cons_tres.offers import look, make_offer, may_use
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore, Room

SINGLE = 1


@part
def choose_nodes(core: ConsTresCore, need: int, room: Room, nodes: Words, all_cores: bool) -> bool:
    """Choose among nodes with what is free on them; CHOSEN are those taken, in order, with their offers.

    What an attempt has cut down of an offer stays cut for the next.
    """
    part, it = core.cons_tres, core.cons_tres.need[need]
    least = it.min_nodes
    if it.tasks_per_node:
        least = max(least, -(-it.tasks // it.tasks_per_node))
    most = max(it.tasks, least) if 0 < it.tasks < it.limit else it.limit
    if takes_first_that_fits(core, need):
        return _first_that_fits(core, need, room, nodes, all_cores)
    left = _list_offers(core, need, room, nodes, all_cores)
    if left < least or not _may_suffice(core, need, left, most):
        return False
    if _attempt(core, need, left, least, most):
        return True
    if left == least:
        return _attempt(core, need, left, least, most)
    largest = 0
    for i in range(left):
        largest = max(largest, part.offer[part.list[i]].size)
    for size in range(1, largest):
        kept = _leave_out(core, left, size, least)
        if kept < left or size == 1:
            if _attempt(core, need, kept, least, most):
                return True
            if kept < left and kept <= least:
                return False
        left = kept
    return False


@part
def takes_first_that_fits(core: ConsTresCore, need: int) -> bool:
    """Whether a job that may have one node takes the first that fits: since 26.05 (``_get_one_res``)."""
    it = core.cons_tres.need[need]
    return bool(core.slurm.rules.first_that_fits and (it.limit == SINGLE or it.tasks == SINGLE))


@part
def _first_that_fits(core: ConsTresCore, need: int, room: Room, nodes: Words, all_cores: bool) -> bool:
    """Try node by node, by weight and number."""
    part, left = core.cons_tres, _list_offers(core, need, room, nodes, all_cores)
    weight = -INF
    while True:
        part.attempt.left = left
        weight = next_weight(core, weight)
        if weight == INF:
            return False
        for i in range(left):
            node = part.list[i]
            if part.offer[node].weight != weight:
                continue
            part.list[i], part.list[0] = part.list[0], node
            if _attempt(core, need, 1, SINGLE, SINGLE):
                return True
            part.list[0], part.list[i] = part.list[i], node


@part
def _list_offers(core: ConsTresCore, need: int, room: Room, nodes: Words, all_cores: bool) -> int:
    """List the nodes of a set that can have the job, in order; returns how many."""
    part = core.cons_tres
    it = core.slurm.partition[part.need[need].partition]
    begin, left = core.shared_nodes.module[it.module].begin, 0
    for word in range(it.low, it.high):
        bits = nodes[word]
        while bits != NONE:
            node = begin + ((word - it.low) << 6) + lowest_in(bits)
            bits &= bits - ONE
            if may_use(core, need, room, node) and make_offer(core, need, room, node, all_cores):
                part.list[left] = node
                left += 1
    return left


@part
def _may_suffice(core: ConsTresCore, need: int, left: int, most: int) -> bool:
    """Whether all that is offered is enough, were there no order in which it is taken.

    With CPUs for each GPU to look at an offer is to cut it down: that is left to the attempts.
    """
    part, it = core.cons_tres, core.cons_tres.need[need]
    if it.gpu_cpus:
        return True
    for kind in range(part.each.shape[1]):
        part.wanted[kind] = part.total[need, kind]
    cpus = largest = 0
    for i in range(left):
        usable = look(core, need, part.list[i])
        cpus += usable
        largest = max(largest, usable)
    return bool(cpus >= it.min_cpus and (most > SINGLE or largest >= it.min_cpus))


@part
def _leave_out(core: ConsTresCore, left: int, size: int, least: int) -> int:
    """Take nodes that are no larger off the list, from the front, as long as enough are left."""
    part, kept, may_go = core.cons_tres, 0, left - least
    for i in range(left):
        node = part.list[i]
        if may_go > 0 and 0 < part.offer[node].size <= size:
            may_go -= 1
        else:
            part.list[kept] = node
            kept += 1
    return kept


# -- one attempt


@part
def _attempt(core: ConsTresCore, need: int, left: int, least: int, most: int) -> bool:
    part, it, now = core.cons_tres, core.cons_tres.need[need], core.cons_tres.attempt
    if left < least:
        return False
    now.least = now.least_left = least
    now.most, now.left, now.taken, now.before = most, left, 0, -1
    now.nodes = min(least, it.asked_nodes) if it.in_all else max(least, it.asked_nodes)
    now.cpus = it.min_cpus
    in_all = max(part.total[need, 0], part.each[need, 0] * it.min_nodes)
    now.most_cpus = max(it.min_cpus, _cpus_of_a_node(core, need) * now.nodes, it.gpu_cpus * in_all)
    for kind in range(part.each.shape[1]):
        part.wanted[kind] = part.total[need, kind]
    for i in range(left):
        part.offer[part.list[i]].taken = 0
    if part.rules.least_loaded or part.sharing[it.partition].least_loaded:
        found = _take_least_loaded(core, need)
    else:
        found = takes_nodes(core, need)
    if found:
        _keep_chosen(core, need)
    return found


@question
def takes_nodes(core: ConsTresCore, need: int) -> bool:
    """Take nodes of the list until the need is satisfied; whether it is."""
    return take_by_sets(core, need)


@part
def _keep_chosen(core: ConsTresCore, need: int) -> None:
    """CHOSEN in order of nodes; with generic resources they have only the cores that tasks can use."""
    part, count = core.cons_tres, 0
    for i in range(part.attempt.left):
        node = part.list[i]
        if not part.offer[node].taken:
            continue
        part.chosen[count] = node
        count += 1
        if part.need[need].generic:
            cores = 0
            for socket in range(part.machine[node].sockets):
                part.cores[socket, node] = part.usable[socket, node]
                cores += part.usable[socket, node]
            part.offer[node].cpus = min(part.offer[node].cpus, cores * part.machine[node].threads)


@part
def has_generic(core: ConsTresCore, need: int) -> bool:
    """Whether the nodes taken have all generic resources that are wanted of all together."""
    if not core.cons_tres.need[need].in_all:
        return True
    for kind in range(len(core.cons_tres.wanted)):
        if core.cons_tres.wanted[kind] > 0:
            return False
    return True


@inlined
def is_satisfied(core: ConsTresCore, need: int) -> bool:
    """Whether nothing is wanted any more."""
    now = core.cons_tres.attempt
    return bool(now.nodes <= 0 and now.cpus <= 0 and has_generic(core, need))


@inlined
def enough_nodes(core: ConsTresCore, need: int, count: int) -> bool:
    """The least is enough, though the job named more."""
    now = core.cons_tres.attempt
    return bool(count >= now.nodes - max(0, core.cons_tres.need[need].asked_nodes - now.least))


@inlined
def _cpus_of_a_node(core: ConsTresCore, need: int) -> int:
    """CPUs for the GPUs that it must have of each node."""
    part, it = core.cons_tres, core.cons_tres.need[need]
    each = part.each[need, 0] or (1 if part.total[need, 0] > 0 else 0)
    if part.per_task[need, 0] > 0:
        each = part.per_task[need, 0] * it.tasks_per_node
    return int(it.gpu_cpus * each)


@part
def cut(core: ConsTresCore, need: int, node: int) -> int:
    """CPUs that the job means to take: a core is left for each of the other nodes it must have."""
    part, it, now = core.cons_tres, core.cons_tres.need[need], core.cons_tres.attempt
    offer, machine = part.offer[node], part.machine[node]
    if it.whole:
        return offer.usable
    together = machine.threads * (machine.cores if part.rules.whole_sockets else 1)
    most = now.most_cpus - max(now.least_left - 1, 0) * together
    if offer.usable <= most:
        return offer.usable
    offer.cpus = max(most, it.node_cpus, _cpus_of_a_node(core, need))
    offer.size = offer.all_gpus + offer.cpus
    return offer.cpus


@part
def take(core: ConsTresCore, need: int, node: int, cpus: int) -> None:
    """Take so many CPUs of a node, and what it has of generic resources."""
    part, it, now = core.cons_tres, core.cons_tres.need[need], core.cons_tres.attempt
    part.offer[node].taken = 1
    now.before = node
    if it.in_all:
        for kind in range(len(part.wanted)):
            if part.total[need, kind] == 0:
                continue
            found = part.there[kind, node]
            if kind == 0 and it.gpu_cpus_said:
                found = min(found, cpus // it.gpu_cpus)
                cpus = found * it.gpu_cpus or cpus
            part.wanted[kind] -= found
    now.cpus -= cpus
    now.most_cpus -= cpus
    now.nodes -= 1
    now.least_left -= 1
    now.most -= 1
    now.taken += 1


# -- sets of nodes beside one another


@part
def take_by_sets(core: ConsTresCore, need: int) -> bool:
    """Take nodes set by set; whether the need is satisfied."""
    part, now = core.cons_tres, core.cons_tres.attempt
    runs = _list_runs(core, need)
    for _ in range(runs):
        if now.most <= 0:
            break
        best = _best_run(core, need, runs)
        part.run[best].gone = 1
        _take_from(core, need, part.run[best].first, part.run[best].last)
        if is_satisfied(core, need):
            return True
    return now.cpus <= 0 and has_generic(core, need) and enough_nodes(core, need, 0)


@part
def _list_runs(core: ConsTresCore, need: int) -> int:
    """List the sets: nodes that can be used, of one weight, one beside the other; returns how many."""
    part, runs, before = core.cons_tres, 0, -1
    for i in range(part.attempt.left):
        node = part.list[i]
        usable = look(core, need, node)
        if usable <= 0:
            continue
        weight = part.offer[node].weight
        if before != node - 1 or before < 0 or part.run[runs - 1].weight != weight:
            one = part.run[runs]
            one.first, one.cpus, one.weight, one.gone = i, 0, weight, 0
            runs += 1
        part.run[runs - 1].last = i + 1
        part.run[runs - 1].cpus += usable
        before = node
    return runs


@part
def _best_run(core: ConsTresCore, need: int, runs: int) -> int:
    """The lowest weight; the fewest CPUs that are enough; the most if none has enough."""
    part = core.cons_tres
    best, best_enough = -1, False
    for i in range(runs):
        one = part.run[i]
        if one.gone:
            continue
        enough = (
            one.cpus >= part.attempt.cpus
            and enough_nodes(core, need, one.last - one.first)
            and would_have_generic(core, need, one.first, one.last)
        )
        if best >= 0:
            other = part.run[best]
            tighter = not best_enough or one.cpus < other.cpus
            better = tighter if enough else one.cpus > other.cpus
            if one.weight > other.weight or (one.weight == other.weight and not better):
                continue
        best, best_enough = i, enough
    return best


@part
def would_have_generic(core: ConsTresCore, need: int, first: int, last: int) -> bool:
    """Whether listed nodes have all generic resources that are still wanted."""
    part = core.cons_tres
    if not part.need[need].in_all:
        return True
    for kind in range(len(part.wanted)):
        if part.total[need, kind] == 0:
            continue
        there = 0
        for i in range(first, last):
            there += part.there[kind, part.list[i]]
        if there < part.wanted[kind]:
            return False
    return True


@part
def _take_from(core: ConsTresCore, need: int, first: int, last: int) -> None:
    """The one node that suffices with fewest CPUs; else one after the other, in order."""
    part, now = core.cons_tres, core.cons_tres.attempt
    if now.nodes <= 1:
        alone, fewest = -1, INF
        for i in range(first, last):
            usable = part.offer[part.list[i]].usable
            if now.cpus <= usable < fewest and would_have_generic(core, need, i, i + 1):
                alone, fewest = i, usable
        if alone >= 0:
            first, last = alone, alone + 1
    for i in range(first, last):
        if now.most == 0 or is_satisfied(core, need):
            return
        node = part.list[i]
        if now.most > 1 or part.offer[node].usable >= now.cpus:
            take(core, need, node, cut(core, need, node))


# -- the least loaded


@part
def _take_least_loaded(core: ConsTresCore, need: int) -> bool:
    """Weight by weight the node of which most is free, again and again."""
    part, it, now = core.cons_tres, core.cons_tres.need[need], core.cons_tres.attempt
    if it.tasks:
        now.most = min(now.most, it.tasks)
    weight = next_weight(core, -INF)
    while weight < INF:
        while now.most > 0:
            node = _freest(core, need, weight)
            if node < 0:
                break
            take(core, need, node, part.offer[node].usable)
            if is_satisfied(core, need):
                return True
        weight = next_weight(core, weight)
    return bool(now.cpus <= 0 and now.least_left <= 0 and has_generic(core, need))


@part
def next_weight(core: ConsTresCore, bound: int) -> int:
    """The next larger weight of listed nodes, INF if there is none."""
    part, weight = core.cons_tres, INF
    for i in range(part.attempt.left):
        own = part.offer[part.list[i]].weight
        if bound < own < weight:
            weight = own
    return weight


@part
def _freest(core: ConsTresCore, need: int, weight: int) -> int:
    """The node with the largest part of its CPUs free; -1 if there is none."""
    part, best, best_share = core.cons_tres, -1, 0.0
    before = part.offer[part.attempt.before].free_cpus if part.attempt.before >= 0 else -1
    for i in range(part.attempt.left):
        node = part.list[i]
        offer, machine = part.offer[node], part.machine[node]
        if offer.weight != weight or offer.taken or look(core, need, node) == 0:
            continue
        offer.usable = cut(core, need, node)
        share = offer.free_cpus / (machine.sockets * machine.cores * machine.threads)
        if best < 0 or best_share < share:
            best, best_share = node, share
            if offer.free_cpus == before:
                break
    return best
