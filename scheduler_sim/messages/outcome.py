"""A trace, replayed: factors, what-ifs, and what each process did; its points and its profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.messages.matching import Matching, match
from scheduler_sim.messages.network import Network
from scheduler_sim.messages.replay import Efficiency, Replay, efficiency, replay
from scheduler_sim.messages.trace import NONE, MessageTrace
from scheduler_sim.messages.what_if import read_what_if


@dataclass(frozen=True)
class Outcome:
    """What came of one trace.

    Attributes
    ----------
    trace, network, matching : what was replayed
    real : on the network
    efficiency : its factors
    what_ifs : factors by what-if, in the order asked for
    """

    trace: MessageTrace
    network: Network
    matching: Matching
    real: Replay
    efficiency: Efficiency
    what_ifs: dict[str, Efficiency]

    @property
    def not_received(self) -> int:
        """Messages that nobody receives; they take links all the same."""
        return int(np.count_nonzero(self.matching.receives == NONE))

    @property
    def messages(self) -> int:
        """Messages sent."""
        return len(self.matching.sends)

    @property
    def bytes(self) -> int:
        """Bytes sent in messages."""
        return int(self.trace.bytes[self.matching.sends].sum())


def outcome(
    trace: MessageTrace, network: Network, what_ifs: Sequence[str] = (), *, record: bool = False
) -> Outcome:
    """Replay a trace, and once more for each what-if.

    Raises InputError for what-ifs that cannot be read, and as ``replay`` does.
    """
    edits = {text: read_what_if(text) for text in what_ifs}
    matching = match(trace)
    real = replay(trace, network, matching=matching, record=record)
    found = {}
    for text, several in edits.items():
        other, where = trace, network
        for edit in several:
            other, where = edit.applied(other, where)
        found[text] = efficiency(other, where, replay(other, where, matching=matching), matching)
    return Outcome(trace, network, matching, real, efficiency(trace, network, real, matching), found)


def module_of(outcomes: Sequence[Outcome]) -> tuple[str, int]:
    """Return the module that all processes ran on, and its cores. InputError where there are several."""
    used = {
        int(module)
        for one in outcomes
        for module in np.unique(one.network.places(one.trace.processes).module)
    }
    modules = outcomes[0].network.modules
    names = [name for i, name in enumerate(modules) if i in used]
    if len(names) != 1:
        raise InputError(f"profile: found processes on {' and '.join(names)}; allowed: on one module")
    return names[0], modules[names[0]].cores
