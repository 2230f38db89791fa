"""Devices that are told apart: whether enough of a node are free, and which of them a job takes.

A part of a device lies on one; whole ones are idle ones. What is free on them stands behind what nodes have
of all else (``device_state``).
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import first_between
from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.records import Ints, Words
from scheduler_sim.engine.rules.shared_nodes.device_state import NOTED, WHOLE
from scheduler_sim.engine.rules.shared_nodes.state import SharedCore


@only_with("devices", otherwise=False)
def asks_for_devices(core: SharedCore, demand: int) -> bool:
    """Whether a demand asks for GPUs."""
    return core.devices.demand[demand].count > 0


@only_with("devices", otherwise=True)
def has_devices(core: SharedCore, demand: int, node: int, free: Ints) -> bool:
    """Whether enough devices of a node are free for a demand, by what is free on it."""
    return has_common_devices(core, demand, node, free, free)


@only_with("devices", otherwise=True)
def has_common_devices(core: SharedCore, demand: int, node: int, now: Ints, then: Ints) -> bool:
    """Whether enough devices of a node are free for a demand in both of two states."""
    it = core.devices
    asked, first, found = it.demand[demand], it.rules.first, 0
    if asked.count == 0:
        return True
    among = it.of_type[asked.type, node]
    for device in range(it.rules.devices):
        least = min(now[first + device, node], then[first + device, node])
        found += may_be_taken(core, demand, device, least, among)
    return found >= asked.count


@only_with("devices")
def note_common_devices(core: SharedCore, demand: int, able: Words, now: Ints, then: Ints) -> None:
    """Note which devices of able nodes are free for a demand in both of two states."""
    part, it = core.shared_nodes, core.devices
    first, asked = it.rules.first, it.demand[demand]
    for i in range(part.demand[demand].first, part.demand[demand].last):
        end = part.range[i].end
        node = first_between(able, part.range[i].begin, end)
        while node < end:
            it.noted[node] = 0
            among = it.of_type[asked.type, node]
            for device in range(it.rules.devices):
                least = min(now[first + device, node], then[first + device, node])
                if may_be_taken(core, demand, device, least, among):
                    it.noted[node] |= 1 << device
            node = first_between(able, node + 1, end)


@only_with("devices", otherwise=0)
def taken_of_device(core: SharedCore, demand: int, at: int, kind: int) -> int:
    """What a job has of a device, which is a kind, of the node in a slot."""
    it = core.devices
    if (it.taken[at] >> (kind - it.rules.first)) & 1:
        return it.demand[demand].part
    return 0


@only_with("devices")
def changed_now(core: SharedCore, node: int) -> None:
    """What is free on a node now has changed."""
    core.devices.version[node] += 1


# -- which devices


@inlined
def allowed_on(core: SharedCore, demand: int, node: int, view: int) -> int:
    """The devices of a node that a demand may take, as a set: of its type, or those that were noted."""
    it = core.devices
    return int(it.noted[node] if view == NOTED else it.of_type[it.demand[demand].type, node])


@inlined
def may_be_taken(core: SharedCore, demand: int, device: int, free: int, among: int) -> bool:
    """Whether a device, of which so much is free, is one that a demand may take."""
    return bool((among >> device) & 1) and free >= core.devices.demand[demand].part


@part
def first_idle(core: SharedCore, demand: int, node: int, free: Ints, among: int) -> int:
    """The first idle devices of a node, as many as are asked for, as a set."""
    it, bits, wanted = core.devices, 0, core.devices.demand[demand].count
    for device in range(it.rules.devices):
        if wanted > 0 and may_be_taken(core, demand, device, free[it.rules.first + device, node], among):
            bits |= 1 << device
            wanted -= 1
    return bits


@part
def fullest(core: SharedCore, demand: int, node: int, free: Ints, among: int) -> int:
    """The device of a node on which least is free of those that hold a part; the first of equals."""
    it, best, least = core.devices, -1, WHOLE + 1
    for device in range(it.rules.devices):
        left = free[it.rules.first + device, node]
        if left < least and may_be_taken(core, demand, device, left, among):
            best, least = device, left
    return best
