"""Networks and traces in few words."""

from __future__ import annotations

from typing import Any

from scheduler_sim.messages.collectives import USUAL
from scheduler_sim.messages.network import Network
from scheduler_sim.messages.network_keys import ModuleKeys, NodeLinkKeys
from scheduler_sim.messages.replay import Replay, replay
from scheduler_sim.messages.trace import PS, MessageTrace

US = PS // 10**6

HEAD = "process,kind,peer,bytes,seconds,tag,request,label,cycles"


def network(
    nodes: int = 64,
    cores: int = 1,
    *,
    eager: int | None = None,
    within: dict[str, Any] | None = None,
    cpu_ratio: float = 1.0,
    collectives: dict[str, Any] | None = None,
    **between: Any,
) -> Network:
    """One module; keywords are those of ``between_nodes``. By default messages take no time."""
    module = ModuleKeys(
        nodes=nodes,
        cores=cores,
        cpu_ratio=cpu_ratio,
        between_nodes=NodeLinkKeys(**between),
        within_node=NodeLinkKeys(**(within or {})),
    )
    return Network("test", {"M": module}, {}, "fill", eager, {**USUAL, **(collectives or {})})


def ends(trace: MessageTrace, on: Network) -> list[int]:
    """When each process ends, in whole µs."""
    ran = replay(trace, on)
    checked(ran)
    assert not (ran.finish % US).any()
    return (ran.finish // US).tolist()


def checked(ran: Replay) -> None:
    """What a process did adds up to when it ended."""
    assert (ran.useful + ran.waiting + ran.transfer == ran.finish).all()
