"""What there is to say about one wait, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["dependency", "priority", "resources"]
Rule = Literal["blocked", "shadow", "reserved", "other"]


@dataclass(frozen=True)
class Request:
    """What a component asked for; times in seconds, ``time_limit`` -1 where unknown."""

    component_id: int
    modular_job_id: int
    name: str
    user: str
    app: str
    module: str
    capacity: int
    nodes: int
    time_limit: int


@dataclass(frozen=True)
class Times:
    """When things happened to it, in seconds on the trace's clock; -1 where they never did.

    ``origin`` is the first submission of the trace, ``waited_until`` the start or, for one
    that never started, the last moment of the record; ``unix_start`` the Unix time of
    the trace's second 0, if the trace states it; ``suspended`` how long it was so since its start.
    """

    submit: int
    eligible: int
    start: int
    end: int
    waited_until: int
    origin: int
    unix_start: int | None
    suspended: int = 0


@dataclass(frozen=True)
class Wait:
    """One kind of wait: seconds, and its share of the whole wait (0 to 1)."""

    kind: Kind
    seconds: int
    share: float


@dataclass(frozen=True)
class Reason:
    """Why it waited so many seconds, as Slurm calls it; several words where it is not known apart."""

    words: tuple[str, ...]
    seconds: int


@dataclass(frozen=True)
class Had:
    """A component that had some of a resource while it was short: its share of all that others had then.

    The share is by amount and time, 0 to 1.
    """

    component_id: int
    user: str
    share: float


@dataclass(frozen=True)
class Lack:
    """How much of a resource was free during a wait, for how many seconds too little, and who had it then.

    Attributes
    ----------
    least, most : nodes that had enough; of what is counted for all nodes together, how much was free
    seconds : s in which these were too few
    holders : those that had most of it in these seconds; ``users`` have so large a share of it
    holding : components that had any
    """

    resource: str
    least: int
    most: int
    seconds: int
    holders: tuple[Had, ...] = ()
    users: tuple[tuple[str, float], ...] = ()
    holding: int = 0


@dataclass(frozen=True)
class OfKind:
    """Nodes of one kind that a component could use, and how many of them had all that it asked for."""

    name: str
    nodes: int
    least: int
    most: int


@dataclass(frozen=True)
class Shortage:
    """What a component asked for of each of its nodes, which nodes it could use, and what they lacked.

    Attributes
    ----------
    each : empty for one that had nodes to itself
    in_percent : it asked for unequal parts of nodes, or for so much in all: ``lacks`` are in % of that
    together : which resources were short at the same time, s each; the longest first
    kinds : the nodes by kind, if there are several
    """

    each: str
    where: str
    nodes: int
    lacks: tuple[Lack, ...]
    in_percent: bool = False
    together: tuple[tuple[tuple[str, ...], int], ...] = ()
    kinds: tuple[OfKind, ...] = ()


@dataclass(frozen=True)
class Kept:
    """For whom nodes were kept that a component could have had, at one moment (s).

    Attributes
    ----------
    moment, until : s, the longest time in which enough was free; nodes : that had all it asked for, then
    takers : components that waited then and later started on some of these nodes, first come first
    reservations : advance reservations of some of these nodes that would have met its run
    """

    moment: int
    until: int
    nodes: int
    takers: tuple[Reserved, ...]
    reservations: tuple[str, ...]


@dataclass(frozen=True)
class Dependency:
    """What it probably waited for before it could be scheduled.

    A result does not record dependencies; ``component_ids`` are the components that ended
    at the very instant it became eligible, those of its own job or user if there are any.
    """

    component_ids: tuple[int, ...]


@dataclass(frozen=True)
class Holder:
    """A running component that held nodes: until when (seconds), and until when by its limit."""

    component_id: int
    user: str
    nodes: int
    end: int
    planned_end: int


@dataclass(frozen=True)
class Arrival:
    """How its module stood when it became eligible (seconds, nodes)."""

    moment: int
    idle: int
    down: int
    running: int
    ahead: int
    ahead_nodes: int
    holders: tuple[Holder, ...]


@dataclass(frozen=True)
class Reserved:
    """A reservation: nodes from start to end (seconds) for a component."""

    component_id: int
    nodes: int
    start: int
    end: int


@dataclass(frozen=True)
class Verdict:
    """Why it was kept waiting at one moment although enough nodes were idle.

    Attributes
    ----------
    rule : ``blocked`` by the front; the two tests of EASY against the ``shadow``; nodes ``reserved``
        for components before it; ``other``: nodes alone do not explain it
    moment, would_end : seconds; idle : nodes
    bound : seconds; the shadow time, or when nodes it needed were promised away
    left : nodes; the extra nodes, or what was free at the bound
    reserved : the reservations it met
    """

    rule: Rule
    moment: int
    idle: int
    would_end: int
    bound: int = -1
    left: int = -1
    reserved: tuple[Reserved, ...] = ()


@dataclass(frozen=True)
class Phase:
    """A stretch of the wait with one component first in the queue.

    Attributes
    ----------
    start, end, resources, priority : seconds; the last two add up to the phase
    front : component id, -1 where the queue order cannot be recomputed; itself if it was first
    idle_least, idle_most : idle nodes during the phase
    passes : instants in it at which enough nodes were idle
    verdict : why it was kept then, at the first instant of the longest such stretch
    """

    start: int
    end: int
    resources: int
    priority: int
    front: int
    front_user: str
    front_nodes: int
    idle_least: int
    idle_most: int
    passes: int
    verdict: Verdict | None = None

    @property
    def seconds(self) -> int:
        """Length of the phase."""
        return self.end - self.start


@dataclass(frozen=True)
class Overtaker:
    """A component later in the queue that started first; node-seconds of its whole run."""

    component_id: int
    user: str
    nodes: int
    start: int
    end: int

    @property
    def node_seconds(self) -> int:
        """Nodes times run time."""
        return self.nodes * (self.end - self.start)


@dataclass(frozen=True)
class Overtaking:
    """All that started on its module while it waited, although later in queue order.

    ``smaller`` asked for fewer nodes than it, ``gone`` had ended when it started.
    """

    count: int
    node_seconds: int
    smaller: int
    gone: int
    top: tuple[Overtaker, ...]


@dataclass(frozen=True)
class Explanation:
    """Why one component waited, recomputed from a result.

    Under policy slurm there are Slurm's ``reasons``, and on which nodes it was ``confined`` to run.
    Of ``licences`` it is told which were short, and for whom nodes were ``kept`` that it could have had.
    Where jobs share nodes it need not ask for ``whole_nodes``, and there is the ``shortage`` if the result
    tells it; idle nodes of arrival, phases and verdicts are those that had what it asked for, then.
    ``phases`` are the longest ones in order of time, ``phase_count`` and
    ``phase_seconds`` speak of all of them.
    """

    request: Request
    times: Times
    state: str
    policy: str
    waits: tuple[Wait, ...]
    reason: str = ""
    dependency: Dependency | None = None
    arrival: Arrival | None = None
    phases: tuple[Phase, ...] = ()
    phase_count: int = 0
    phase_seconds: int = 0
    overtaking: Overtaking | None = None
    whole_nodes: bool = True
    shortage: Shortage | None = None
    licences: tuple[Lack, ...] = ()
    kept: Kept | None = None
    reasons: tuple[Reason, ...] = ()
    confined: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def were_idle(self) -> str:
        """What is said of nodes that it could have had."""
        return "had all that free" if self.shortage and self.shortage.each else "were idle"

    @property
    def wait(self) -> int:
        """Seconds from submission to start, or to the end of the record."""
        return self.times.waited_until - self.times.submit
