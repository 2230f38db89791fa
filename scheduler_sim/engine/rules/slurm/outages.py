"""Under Slurm, whole nodes that are out of service by name: in no plan, idle ones at once out of use.

A node that a job has is down when the job has given it back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.engine.core.bits import NONE, ONE, ones_in
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.nodes import nodes_given_back, out_by_name
from scheduler_sim.engine.rules.slurm.state import SlurmCore


class Outages(NamedTuple):
    """Nodes of all modules, a bit each."""

    named: Words  # [w] out of service by name
    down: Words  # [w] ... and counted as down


class OutagesCore(SlurmCore):
    """A core with Slurm's schedulers, and nodes that are out of service by name."""

    outages: Outages


def blank_outages(size: int) -> Outages:
    """Return the part for so many words; no node is out of service."""
    return Outages(*words(2, size))


@on(nodes_given_back, "outages")
def put_idle_ones_down(core: OutagesCore) -> None:
    """Nodes that are out by name, and that no job has any more, are down."""
    idle, named = core.slurm.sets.idle, core.outages.named
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        for word in range(it.low, it.high):
            gone = idle[word] & named[word]
            if gone == NONE:
                continue
            idle[word] &= ~gone
            core.outages.down[word] |= gone
            core.pools[it.module].free -= ones_in(gone)
            core.pools[it.module].down += ones_in(gone)
            core.pools[it.module].touched = 1


@on(out_by_name, "outages")
def named_in(core: OutagesCore, word: int) -> Any:
    """Those of a word."""
    return core.outages.named[word]


@entry
def take_out(core: OutagesCore, node: int) -> None:
    """Take a node out of service, at the latest when its job is gone; nodes are numbered by their words."""
    word, bit = node >> 6, ONE << np.uint64(node & 63)
    core.outages.named[word] |= bit
    core.slurm.sets.up[word] &= ~bit
    put_idle_ones_down(core)
    _note(core)
    core.clock.lost = 1


@entry
def put_back(core: OutagesCore, node: int, module: int) -> None:
    """Put a node back into service."""
    word, bit = node >> 6, ONE << np.uint64(node & 63)
    core.outages.named[word] &= ~bit
    core.slurm.sets.up[word] |= bit
    if core.outages.down[word] & bit != NONE:
        core.outages.down[word] &= ~bit
        core.slurm.sets.idle[word] |= bit
        core.pools[module].free += 1
        core.pools[module].down -= 1
        core.pools[module].touched = 1
    _note(core)


@part
def _note(core: OutagesCore) -> None:
    """The schedulers are told of nodes."""
    core.clock.dirty = core.clock.early = 1
