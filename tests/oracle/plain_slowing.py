"""First come, first served under a power cap to which what runs is slowed: every job by itself, plainly."""

from __future__ import annotations

from dataclasses import dataclass, field

MS, MILLIONTHS = 1000, 1_000_000


@dataclass
class Task:
    """A job that is submitted at a time; ``states`` are its clocks, its own first: factor, W above idle."""

    submit: int
    nodes: int
    run: int
    states: list[tuple[int, int]]
    start: int = -1
    end: int = -1
    state: int = 0
    since: int = 0
    done: int = 0  # ms of its own time
    slowed: list[tuple[int, int, int]] = field(default_factory=list)  # since, until, state

    def asks(self, state: int) -> int:
        return self.nodes * self.states[state][1]

    def go(self, state: int, now: int) -> None:
        """Go on in another state from now on."""
        self.done += (now - self.since) * MS * MILLIONTHS // self.states[self.state][0]
        self.note(now)
        self.state, self.since = state, now
        self.end = now + -(-(self.run * MS - self.done) * self.states[state][0] // (MS * MILLIONTHS))

    def note(self, now: int) -> None:
        if self.state and now > self.since:
            self.slowed.append((self.since, now, self.state))


def play(tasks: list[Task], nodes: int, caps: list[tuple[int, int]]) -> None:
    """Run all tasks; ``caps`` are W above idle from a time on."""
    queue: list[Task] = []
    running: list[Task] = []
    to_come = sorted(tasks, key=lambda task: task.submit)
    place = {id(task): i for i, task in enumerate(tasks)}
    times = {task.submit for task in tasks} | {time for time, _ in caps}
    while times:
        now = min(times)
        times.discard(now)
        for task in [task for task in running if task.end == now]:
            task.note(now)
            running.remove(task)
        cap = [watts for time, watts in caps if time <= now][-1]
        queue += [task for task in to_come if task.submit == now]
        settle(sorted(running, key=lambda task: (-task.start, -place[id(task)])), cap, now)
        while queue:
            task = queue[0]
            power = cap - sum(one.asks(one.state) for one in running)
            if task.nodes > nodes - sum(one.nodes for one in running) or task.asks(0) > power:
                break
            queue.pop(0)
            task.start = task.since = now
            task.end = now + task.run
            running.append(task)
        fixed = {task.submit for task in tasks} | {time for time, _ in caps}
        times = {time for time in fixed | {task.end for task in running} if time > now}


def settle(youngest_first: list[Task], cap: int, now: int) -> None:
    """In rounds of one step each, from their own clocks down, until the cap is kept."""
    wanted = {id(task): 0 for task in youngest_first}

    def drawn() -> int:
        return sum(task.asks(wanted[id(task)]) for task in youngest_first)

    moved = True
    while drawn() > cap and moved:
        moved = False
        for task in youngest_first:
            if wanted[id(task)] + 1 < len(task.states):
                wanted[id(task)] += 1
                moved = True
                if drawn() <= cap:
                    break
    for task in youngest_first:
        if wanted[id(task)] != task.state:
            task.go(wanted[id(task)], now)
