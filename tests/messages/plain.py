"""A slow, plain replay: one generator a process, dictionaries, messages matched as they come. Shares no
code."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scheduler_sim.messages.network_keys import LinkKeys, ModuleKeys

SEND, ISEND, RECV, IRECV, WAIT, WAITALL = "send", "isend", "recv", "irecv", "wait", "waitall"
US = 10**6


@dataclass
class Record:
    """What a process does next; times in ps."""

    process: int
    kind: str
    peer: int = -1
    bytes: int = 0
    duration: int = 0
    tag: int = 0
    request: int = -1
    members: tuple[int, ...] = ()
    cost: int = 0
    number: int = -1
    """Of a send: its place among all sends."""


@dataclass
class Message:
    """A message, as far as it is known."""

    size: int = 0
    rendezvous: bool = False
    sent: bool = False
    posted: bool = False
    ready: int | None = None
    arrival: int | None = None
    number: int = -1
    link: LinkKeys = field(default_factory=LinkKeys)
    resources: list[Any] = field(default_factory=list)
    taken: list[Any] = field(default_factory=list)
    woken_when_posted: int | None = None
    woken_when_there: int | None = None


class Stage:
    """A link or bus: so many at once, first come first served."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.users, self.queue = capacity, 0, deque[Message]()


class Plain:
    """Replays records of one module."""

    def __init__(self, records: list[Record], processes: int, module: ModuleKeys, eager: int | None) -> None:
        self.module, self.eager, self.processes = module, eager, processes
        self.node = [min(p // module.cores, module.nodes - 1) for p in range(processes)]
        self.mine = [[r for r in records if r.process == p] for p in range(processes)]
        sends = [r for each in self.mine for r in each if r.kind in (SEND, ISEND)]
        for number, record in enumerate(sends):
            record.number = number
        self.events: list[tuple[int, int, int, Any]] = []
        self.channels: dict[Any, list[Message]] = defaultdict(list)
        self.ordinal: dict[Any, int] = defaultdict(int)
        self.stages: dict[Any, Stage] = {}
        self.meetings: dict[Any, list[Any]] = defaultdict(lambda: [0, None, None, []])
        self.useful, self.waiting, self.transfer = ([0] * processes for _ in range(3))
        self.finish = [-1] * processes
        self.now = 0

    def run(self) -> list[int]:
        """Return when each process ends, ps; -1 for one that waits for ever."""
        lives = [self.life(p) for p in range(self.processes)]
        for p in range(self.processes):
            self.at(0, p)
        while self.events:
            self.now, is_process, number, what = heapq.heappop(self.events)
            if is_process:
                next(lives[number], None)
            else:
                self.end_transfer(what)
        return self.finish

    def at(self, time: int, process: int) -> None:
        heapq.heappush(self.events, (time, 1, process, None))

    def life(self, p: int) -> Iterator[None]:
        """What a process does; yields where it has to be woken."""
        under_way: dict[int, tuple[Message, bool]] = {}
        for record in self.mine[p]:
            since = self.now
            if record.kind == "compute":
                self.useful[p] += record.duration
                yield from self.until(p, self.now + record.duration)
            elif record.kind in (SEND, ISEND):
                message = self.message((p, record.peer, record.tag), "out")
                self.fill(message, record)
                yield from self.until(p, self.now + round(message.link.latency_us * US))
                self.transfer[p] += self.now - since
                message.sent = True
                self.ask_if_ready(message)
                under_way[record.request] = message, False
                if record.kind == SEND:
                    yield from self.wait_for_post(p, message)
            elif record.kind in (RECV, IRECV):
                if record.kind == RECV:
                    yield from self.look(p, self.link(p, record.peer))
                message = self.message((record.peer, p, record.tag), "in")
                message.link = self.link(p, record.peer)
                self.post(message)
                under_way[record.request] = message, True
                if record.kind == RECV:
                    yield from self.wait_for_message(p, message)
            elif record.kind == WAIT:
                yield from self.wait(p, *under_way.pop(record.request))
            elif record.kind == WAITALL:
                for request in list(under_way):
                    if request >= 0:
                        yield from self.wait(p, *under_way.pop(request))
            else:
                yield from self.meet(p, record)
        self.finish[p] = self.now

    def until(self, p: int, time: int) -> Iterator[None]:
        if time > self.now:
            self.at(time, p)
            yield

    def message(self, channel: Any, end: str) -> Message:
        k = self.ordinal[channel, end]
        self.ordinal[channel, end] += 1
        if len(self.channels[channel]) <= k:
            self.channels[channel].append(Message())
        return self.channels[channel][k]

    def fill(self, message: Message, record: Record) -> None:
        a, b = self.node[record.process], self.node[record.peer]
        link = self.module.within_node if a == b else self.module.between_nodes
        message.size, message.number, message.link = record.bytes, record.number, link
        message.rendezvous = self.eager is not None and record.bytes > self.eager
        inside = a == b
        for name, capacity in (
            (("out", inside, a), link.links_out),
            (("in", inside, b), link.links_in),
            (("bus", inside, a if inside else 0), link.buses),
        ):
            if capacity:
                message.resources.append(self.stages.setdefault(name, Stage(capacity)))

    def wait(self, p: int, message: Message, receiving: bool) -> Iterator[None]:
        if receiving:
            yield from self.look(p, message.link)
            yield from self.wait_for_message(p, message)
        else:
            yield from self.wait_for_post(p, message)

    def link(self, one: int, other: int) -> LinkKeys:
        inside = self.node[one] == self.node[other]
        return self.module.within_node if inside else self.module.between_nodes

    def look(self, p: int, link: LinkKeys) -> Iterator[None]:
        took = round(link.receive_latency_us * US)
        self.transfer[p] += took
        yield from self.until(p, self.now + took)

    def wait_for_post(self, p: int, message: Message) -> Iterator[None]:
        since = self.now
        if message.rendezvous and not message.posted:
            message.woken_when_posted = p
            yield
        self.waiting[p] += self.now - since

    def wait_for_message(self, p: int, message: Message) -> Iterator[None]:
        since = self.now
        if message.arrival is None:
            message.woken_when_there = p
            yield
        assert message.arrival is not None
        yield from self.until(p, max(self.now, message.arrival) + round(message.link.overhead_us * US))
        assert message.ready is not None
        waited = min(max(message.ready - since, 0), self.now - since)
        self.waiting[p] += waited
        self.transfer[p] += self.now - since - waited

    def post(self, message: Message) -> None:
        message.posted = True
        if message.rendezvous:
            self.ask_if_ready(message)
            if message.woken_when_posted is not None:
                self.at(self.now, message.woken_when_posted)

    def ask_if_ready(self, message: Message) -> None:
        if message.sent and message.ready is None and (message.posted or not message.rendezvous):
            message.ready = self.now
            self.take(message)

    def take(self, message: Message) -> None:
        """Take what is still missing, in order; queue where it is not free."""
        while len(message.taken) < len(message.resources):
            stage = message.resources[len(message.taken)]
            if stage.users == stage.capacity:
                stage.queue.append(message)
                return
            stage.users += 1
            message.taken.append(stage)
        speed = message.link.bandwidth_mb_s
        done = self.now + (round(message.size * US / speed) if speed else 0)
        if message.resources:
            heapq.heappush(self.events, (done, 0, message.number, message))
        else:
            self.there(message, done)

    def end_transfer(self, message: Message) -> None:
        self.there(message, self.now)
        for stage in message.taken:
            stage.users -= 1
            if stage.queue:
                self.take(stage.queue.popleft())

    def there(self, message: Message, time: int) -> None:
        message.arrival = time + round(message.link.flight_us * US)
        if message.woken_when_there is not None:
            self.at(message.arrival, message.woken_when_there)

    def meet(self, p: int, record: Record) -> Iterator[None]:
        since = self.now
        self.ordinal[record.members, p] += 1
        meeting = self.meetings[record.members, self.ordinal[record.members, p]]
        meeting[0] += 1
        if meeting[0] == len(record.members):
            meeting[1], meeting[2] = self.now, self.now + record.cost
            for other in meeting[3]:
                self.at(meeting[2], other)
            yield from self.until(p, meeting[2])
        else:
            meeting[3].append(p)
            yield
        self.waiting[p] += meeting[1] - since
        self.transfer[p] += self.now - meeting[1]
