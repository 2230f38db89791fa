"""The choice among nodes that are alike: each offers all its cores, as many as any other, at one weight.

What ``choice`` does among any nodes comes to this: the shortest set of nodes side by side that is long
enough, else the longest, and so on with what is still wanted.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.bits import FULL, clear, lowest_in
from scheduler_sim.engine.core.hooks import agreement
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore
from scheduler_sim.engine.rules.slurm.state import Partition


@agreement
def weigh_alike(core: ConsTresCore) -> bool:
    """Whether nodes weigh the same for the entry as for any other."""
    return True


@part
def pick_alike(core: ConsTresCore, it: Partition, nodes: Words, wanted: int) -> None:
    """PICKED become so many of some nodes, which are enough."""
    run, picked = core.cons_tres.run, core.slurm.sets.picked
    clear(picked, it.low, it.high)
    runs = _list_runs(core, it, nodes)
    while wanted > 0:
        best = _best_run(core, runs, wanted)
        size = min(run[best].last - run[best].first, wanted)
        _put_stretch(picked, run[best].first, run[best].first + size)
        run[best].gone = 1
        wanted -= size


@part
def _list_runs(core: ConsTresCore, it: Partition, nodes: Words) -> int:
    """List the sets of nodes side by side, by first bit and the one behind the last; returns how many."""
    run, runs, inside = core.cons_tres.run, 0, False
    for word in range(it.low, it.high):
        seen = 0
        while seen < 64:
            bits = (~nodes[word] if inside else nodes[word]) >> np.uint64(seen)
            step = lowest_in(bits)
            if seen + step >= 64:
                break
            seen += step
            if inside:
                run[runs].last = (word << 6) + seen
                runs += 1
            else:
                run[runs].first, run[runs].gone = (word << 6) + seen, 0
            inside = not inside
    if inside:
        run[runs].last = it.high << 6
        runs += 1
    return runs


@part
def _best_run(core: ConsTresCore, runs: int, wanted: int) -> int:
    """The first of the shortest that are long enough, else of the longest."""
    run, best, best_size = core.cons_tres.run, -1, 0
    for i in range(runs):
        if run[i].gone:
            continue
        size = run[i].last - run[i].first
        if best < 0 or (best_size < wanted and size > best_size) or wanted <= size < best_size:
            best, best_size = i, size
    return best


@inlined
def _put_stretch(bits: Words, first: int, last: int) -> None:
    """Put nodes from one up to before another into a set."""
    for word in range(first >> 6, (last + 63) >> 6):
        begin, end = max(first - (word << 6), 0), min(last - (word << 6), 64)
        bits[word] |= (FULL >> np.uint64(64 - (end - begin))) << np.uint64(begin)
