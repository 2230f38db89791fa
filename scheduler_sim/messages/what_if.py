"""What-ifs by name: edits of the trace and of the network, one after the other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_sim.config.problem import one_of
from scheduler_sim.errors import InputError
from scheduler_sim.messages.edits import accelerated, balanced, by_cycles, without_noise
from scheduler_sim.messages.network import Network
from scheduler_sim.messages.trace import MessageTrace
from scheduler_sim.numerals import finite

WORDS: Mapping[str, str] = {
    "ideal": "messages take no time",
    "balanced": "between collective operations of all, each process computes the mean",
    "no-noise": "each burst is as long as the median of its kind; `no-noise:minimum`: as the shortest",
    "cycles:GHZ": "each burst is as long as its cycles take at this clock",
    "faster:KERNEL:TIMES": "a kernel (label, or TYPE:VALUE of events) is this many times faster",
    "bandwidth:TIMES": "the bandwidth is this many times as large",
    "latency:TIMES": "the latency (and everything else in µs) is this many times as large",
}
"""Edits and what they do; several are joined by +."""

_NAMES = [word.partition(":")[0] for word in WORDS]
_JOINED = re.compile(rf"\+(?={'|'.join(_NAMES)})")
NOISE = ("median", "minimum")


@dataclass(frozen=True)
class Edit:
    """One edit: its name, what it is for (a kernel, or how), and a number."""

    name: str
    what: str = ""
    number: float = 1.0

    def applied(self, trace: MessageTrace, network: Network) -> tuple[MessageTrace, Network]:
        """Return trace and network with this edit. InputError where the trace has not what it asks for."""
        if self.name == "ideal":
            return trace, network.as_ideal()
        if self.name == "bandwidth":
            return trace, network.scaled(bandwidth=self.number)
        if self.name == "latency":
            return trace, network.scaled(latency=self.number)
        if self.name == "balanced":
            return balanced(trace), network
        if self.name == "no-noise":
            return without_noise(trace, self.what), network
        if self.name == "cycles":
            return by_cycles(trace, self.number), network
        return accelerated(trace, self.what, self.number), network


def read_what_if(text: str) -> tuple[Edit, ...]:
    """Read edits joined by +. InputError says what is allowed."""
    return tuple(_edit(part) for part in _JOINED.split(text))


def _edit(text: str) -> Edit:
    name, _, rest = text.partition(":")
    if name not in _NAMES:
        raise InputError(f"--what-if: found {text!r:.60}; {one_of(list(WORDS), name)}")
    if name in ("ideal", "balanced") and not rest and ":" not in text:
        return Edit(name)
    if name == "no-noise" and (rest or NOISE[0]) in NOISE:
        return Edit(name, rest or NOISE[0])
    what, _, number = rest.rpartition(":") if name == "faster" else ("", "", rest)
    try:
        value = finite(number)
    except ValueError:
        value = 0.0
    if (
        name in ("ideal", "balanced", "no-noise")
        or not 1e-9 <= value <= 1e9
        or (name == "faster") != bool(what)
    ):
        allowed = next(word for word in WORDS if word.partition(":")[0] == name)
        more = (
            f", or no-noise:{NOISE[1]}"
            if name == "no-noise"
            else ", a number from 1e-9 to 1e9"
            if ":" in allowed
            else ""
        )
        raise InputError(f"--what-if: found {text!r:.60}; allowed: {allowed}{more}")
    return Edit(name, what, value)
