"""The keys of a network on which message traces are replayed."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import (
    Amount,
    Check,
    Count,
    Name,
    Positive,
    PositiveCount,
    Text,
    Title,
    choice,
    whole,
)
from scheduler_sim.messages.trace import MOST_BYTES, OPERATIONS

VERSION = 1
MODELS = ("none", "constant", "linear", "logarithmic")
SIZES = ("current", "min", "max", "mean", "twice_max", "sum")
SPREADS = ("fill", "round_robin")


def _spread(written: Any) -> str | tuple[int, ...]:
    if isinstance(written, str):
        if written.lower() not in SPREADS:
            raise ValueError
        return written.lower()
    nodes = tuple(written)
    if isinstance(written, dict) or not nodes or not all(type(node) is int and node >= 0 for node in nodes):
        raise ValueError
    return nodes


Spread = Annotated[
    Any,
    BeforeValidator(
        Check(
            f"{', '.join(SPREADS)}, or a list of the node of each process, counted from 0", _spread, SPREADS
        )
    ),
]


class LinkKeys(Keys):
    """How messages travel: latency + size / bandwidth + flight + overhead, and what they wait for links."""

    latency_us: Amount = Field(
        default=0.0, description="time of the sender's processor before a message may leave, µs"
    )
    bandwidth_mb_s: Amount = Field(
        default=0.0, description="10^6 bytes per second; 0 = transfers take no time"
    )
    receive_latency_us: Amount = Field(
        default=0.0,
        description="time of the receiver's processor before a blocking receive or wait looks for a"
        " message, µs; in Dimemas the latency",
    )
    flight_us: Amount = Field(
        default=0.0, description="time on the wire, after links and bus are free again, µs"
    )
    overhead_us: Amount = Field(
        default=0.0, description="time of the receiver's processor after a message has arrived, µs"
    )
    buses: Count = Field(default=0, description="messages in transit at once; 0 = no limit")


class NodeLinkKeys(LinkKeys):
    """How messages travel between the nodes of a module, or within one."""

    links_out: Count = Field(default=0, description="messages that leave a node at once; 0 = no limit")
    links_in: Count = Field(default=0, description="messages that arrive at a node at once; 0 = no limit")


class ModuleKeys(Keys):
    """Nodes that are alike."""

    nodes: PositiveCount = Field(description="number of nodes")
    cores: PositiveCount = Field(default=1, description="processes that a node holds; cores are not shared")
    cpu_ratio: Positive = Field(
        default=1.0,
        description="speed of a processor / speed of the processor of the trace; bursts are divided by it",
    )
    between_nodes: NodeLinkKeys = Field(
        default=NodeLinkKeys(), description="messages to other nodes of the module"
    )
    within_node: NodeLinkKeys = Field(default=NodeLinkKeys(), description="messages within a node")


class PairKeys(LinkKeys):
    """Messages between two modules, either way; they take the links of their nodes, too."""

    modules: list[Name] = Field(description="names of the two modules")


class PhaseKeys(Keys):
    """One phase of a collective operation."""

    model: Annotated[str, choice(*MODELS)] = Field(
        description="how often the message of this phase is counted: never, once, n - 1 times, or"
        " once per stage of a tree"
    )
    size: Annotated[str, choice(*SIZES)] = Field(
        default="max",
        description="size of that message, from the amounts that the processes give and get; current:"
        " given in fan_in, got in fan_out",
    )


class OperationKeys(Keys):
    """Time of a collective operation after its last process has arrived: fan in, then fan out."""

    fan_in: PhaseKeys = Field(description="gathering")
    fan_out: PhaseKeys = Field(description="spreading")


class NetworkKeys(Keys):
    """The whole file of a network."""

    version: Annotated[int, whole(VERSION, VERSION)] = Field(description=f"version of this format: {VERSION}")
    name: Title = Field(default="", description="for people")
    modules: dict[Name, ModuleKeys] = Field(description="modules by name, their nodes numbered in this order")
    between_modules: list[PairKeys] = Field(default=[], description="networks between modules")
    mapping: Spread = Field(
        default="fill",
        description="node of each process: fill one node after the other, deal round robin, or as listed",
    )
    eager_bytes: Annotated[int, whole(0, MOST_BYTES)] | None = Field(
        default=None,
        description="largest message sent without waiting for its receive; default: as in the trace",
    )
    collectives: dict[Annotated[str, choice(*OPERATIONS)], OperationKeys] = Field(
        default={}, description="models of collective operations by name, in place of the usual ones"
    )
    source: Text = Field(default="", description="where the numbers come from")
    notes: list[Text] = Field(default=[], description="for people")
