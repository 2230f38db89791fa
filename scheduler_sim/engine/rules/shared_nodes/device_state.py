"""What is kept of devices that are told apart, and of what the packings that score nodes look at.

A GPU is a device. Devices are told apart where jobs ask for parts of one, a packing looks at each, or nodes
have several types of them. What is free on each is a further kind of what nodes have, in thousandths, behind
those that jobs ask for by amount: so plans and shadow states have it, too. Which devices a job has of a node
is a set of bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Record, Rows, Short, Table, Words, one, rows, table

WHOLE = 1000
"""Thousandths of a device."""

MOST_DEVICES = 62
"""Of a node: a set of them is a number of 8 bytes."""

ANY = -1
"""All devices of a node, as a set."""

NOW, THEN, NOTED = 0, 1, 2
"""Ways to look at nodes: at what is free on them now, or in another state; or there, but only at devices that
were noted."""

SCORES = 100
"""The largest score; the least is 0."""


class DeviceRules(Record):
    """Where devices stand among the kinds of what nodes have, and what draws begin with."""

    first: int  # the kind that is the first device
    devices: int  # most of a node
    kinds: int  # the first kind that counts jobs by what GPUs they ask for: a part, one, two ...
    salt: int  # 32 bits


class DeviceDemand:
    """How many devices a demand asks for on each node, and thousandths of each."""

    count: int
    part: int
    type: int  # row of ``of_type``; 0 = any


class Kept:
    """The score of a node for a demand, as the node was at a version."""

    score: Short
    version: Short


class Scale:
    """By what a module is measured."""

    cores: int  # thousandths, of the node that has most
    gpus: int  # thousandths, of the node that has most; at least 1
    first: int  # its typical demands: first .. last - 1
    last: int


class Typical:
    """What many jobs ask for on a node."""

    cores: int
    count: int
    part: int
    weight: int  # how many nodes are asked for so


class Devices(NamedTuple):
    """n nodes, m modules, d demands, p placements, s slots, t typical demands, g devices, k types of them."""

    rules: DeviceRules
    demand: Table[DeviceDemand]  # [d]
    of_type: Ints  # [1 + k, n] the devices of each type, first of any
    taken: Ints  # [s] the devices that a job has of the node in a slot
    noted: Ints  # [n] those that are free for what is looked at in two states, or for long enough
    free: Ints  # [g] what is free on the devices of the node that is looked at
    number: Ints  # [p] names the component in draws
    version: Ints  # [n] goes up as what is free on a node now changes
    kept: Rows[Kept]  # [d, n]
    scale: Table[Scale]  # [m]
    typical: Table[Typical]  # [t]
    suited: Words  # [t, n / 64] bits: the nodes that will do, if they are large enough
    threshold: (
        Ints  # [m, SCORES]: at which fall of fragmentation, by weight, each score begins; [m, 0] unused
    )


class DeviceSizes(NamedTuple):
    """How much room it has."""

    modules: int
    nodes: int
    devices: int
    placements: int
    demands: int
    scored: int  # demands whose scores are kept: all, or none
    slots: int
    typical: int
    types: int


def blank_devices(sizes: DeviceSizes) -> Devices:
    """Return a part of which no job has anything."""
    return Devices(
        rules=one(DeviceRules),
        demand=table(DeviceDemand, sizes.demands),
        of_type=np.full((1 + sizes.types, sizes.nodes), ANY, dtype=np.int64),
        taken=np.zeros(sizes.slots, dtype=np.int64),
        noted=np.zeros(sizes.nodes, dtype=np.int64),
        free=np.zeros(max(sizes.devices, 1), dtype=np.int64),
        number=np.zeros(sizes.placements, dtype=np.int64),
        version=np.ones(sizes.nodes, dtype=np.int64),
        kept=rows(Kept, sizes.scored, sizes.nodes),
        scale=table(Scale, sizes.modules),
        typical=table(Typical, sizes.typical),
        suited=np.zeros((sizes.typical, (sizes.nodes + 63) >> 6), dtype=np.uint64),
        threshold=np.zeros((sizes.modules, SCORES), dtype=np.int64),
    )
