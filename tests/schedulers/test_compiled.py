"""The same methods, compiled: the schedule, the state and the errors are those of plain Python."""

from __future__ import annotations

import signal
from inspect import getsourcelines
from typing import Any

import numba
import numpy as np
import pytest

from scheduler_sim import Policy, Simulation, System, Workload, compiled, read_trace, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.errors import ConfigError
from scheduler_sim.schedulers.unlawful import UnlawfulError
from tests.conftest import SHARED, needs_shared
from tests.schedulers.test_classic import BUILT_IN, CLASSIC

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiler is off")

JOBS = 400
KTH = SHARED / "data" / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz"


class Everything:
    """Uses all there is: large jobs at night, small ones beside reservations, odd ones after a hold."""

    large: int = 3
    refused: int = 0
    busiest: float = 0.0
    seen_late: bool = False

    def __init__(self, evening: int = 60) -> None:
        self.evening = evening
        self.count = np.zeros(3, dtype=np.int64)
        self.was_held = np.zeros(JOBS, dtype=np.bool_)

    def until_evening(self, now: int) -> int:
        return now // 100 * 100 + self.evening - now

    def schedule(self, view: Any) -> None:
        running = 0
        for job in view.running:
            running += job.nodes
            if job.planned_end < view.now:
                self.seen_late = True
        self.busiest = max(self.busiest, running / (1 + len(view.running)))
        blocked = False
        for job in view.queue:
            if job.number % 7 == 3 and not self.was_held[job.number]:
                self.was_held[job.number] = True
                view.hold(job)
            elif job.nodes >= self.large and self.until_evening(view.now) > 0:
                self.refused += 1
                view.wake_at(view.now + self.until_evening(view.now))
            elif blocked:
                chosen = len(job.placements)
                for placement in job.placements:
                    chosen -= 1
                    if view.fits(job, placement) and view.earliest_start(job, placement) == view.now:
                        self.count[2] += placement.nodes * placement.limit + chosen
                        view.start(job, placement)
                        break
            elif not view.start(job):
                view.reserve(job)
                blocked = True
        for job in view.queue:
            if job.submit + 500 > view.now:
                for placement in job.placements:
                    view.reserve(job, view.now + 5, placement)

    def on_submit(self, view: Any, job: Any) -> None:
        self.count[0] += job.limit

    def on_start(self, view: Any, job: Any) -> None:
        self.count[1] += job.start

    def on_end(self, view: Any, job: Any) -> None:
        self.count[2] += view.now * (1 + job.priority)


def crowd() -> tuple[System, Workload]:
    draw = np.random.default_rng(5)
    system = System.from_dict({"modules": [{"name": "a", "nodes": 6}, {"name": "b", "nodes": 4}]})
    run = draw.integers(1, 40, JOBS)
    return system, Workload.from_columns(
        nodes=draw.integers(1, 5, JOBS),
        submit_time=np.sort(draw.integers(0, 3000, JOBS)),
        run_time=run,
        time_limit=run + draw.integers(0, 20, JOBS),
        partition=draw.choice(["a", "b", "b,a"], JOBS).tolist(),
    )


def test_it_does_what_plain_python_does() -> None:
    system, workload = crowd()
    plain, fast = (Simulation(system, workload, kind()) for kind in (Everything, compiled(Marked)))
    ours, theirs = plain.run(), fast.run()
    columns = ["start_time", "end_time", "state", "module"]
    assert ours.components[columns].equals(theirs.components[columns])
    assert (ours.components["start_time"] >= 0).sum() > JOBS / 2
    assert vars_of(plain.scheduler) == vars_of(fast.scheduler)
    assert fast.scheduler.refused > 0
    assert fast.scheduler.was_held.any()
    theirs.check()


class Marked(Everything):
    """The same, to be compiled."""


def vars_of(scheduler: Any) -> list[Any]:
    names = ("refused", "busiest", "seen_late", "evening", "count", "was_held")
    return [np.asarray(getattr(scheduler, name)).tolist() for name in names]


def line_of(kind: type, place: int) -> int:
    """Where a line of a class stands in this file."""
    return getsourcelines(kind)[1] + place


@compiled
class Typo:
    def schedule(self, view: Any) -> None:
        for job in view.queue:
            view.start(job.nodez)


@compiled
class Twice:
    def schedule(self, view: Any) -> None:
        for job in view.queue:
            view.start(job)
            view.start(job)


@compiled
class Divides:
    def schedule(self, view: Any) -> None:
        left = 3
        while left > 0:
            if view.now >= 0:
                left -= 1
                self.share(view, left)

    def share(self, view: Any, left: int) -> int:
        return view.now // left


@compiled
class Elsewhere:
    def schedule(self, view: Any) -> None:
        seen = 0
        seen += view.free[9]


@compiled
class Raises:
    def schedule(self, view: Any) -> None:
        raise ValueError("not today")


@compiled
class KeepsWords:
    def __init__(self) -> None:
        self.name = "ada"

    def schedule(self, view: Any) -> None:
        pass


@compiled
class NoJob:
    def schedule(self, view: Any) -> None:
        view.start(3)


@compiled
class Asks:
    def schedule(self, view: Any) -> None:
        for job in view.queue:
            view.start(job["user"])


@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        (Typo, ConfigError, r"test_compiled.py:\d+: Typo cannot be compiled: .*'nodez' of type Job"),
        (
            Twice,
            UnlawfulError,
            rf"test_compiled.py:{line_of(Twice, 5)}: Twice: job \d+ at \d+ s: it is already running; a",
        ),
        (
            Raises,
            ConfigError,
            rf"test_compiled.py:{line_of(Raises, 3)}: Raises fails at \d+ s: ValueError: not",
        ),
        (
            Divides,
            ConfigError,
            rf"test_compiled.py:{line_of(Divides, 10)}: Divides fails at \d+ s: ZeroDivision",
        ),
        (
            Elsewhere,
            ConfigError,
            rf"test_compiled.py:{line_of(Elsewhere, 4)}: .*IndexError: no module of that",
        ),
        (KeepsWords, ConfigError, r"KeepsWords: self.name: found str; allowed: int, float, bool, arrays"),
        (NoJob, ConfigError, r"test_compiled.py:\d+: NoJob cannot be compiled"),
        (Asks, ConfigError, r"test_compiled.py:\d+: Asks cannot be compiled: No [^\x1b]*: >>> getitem\(Job,"),
    ],
)
def test_what_is_wrong_is_told_with_the_line(kind: type, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        simulate(*crowd(), kind())


@needs_shared
@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("how", ["plain", "compiled"])
def test_kth_sp2(name: str, how: str) -> None:
    kind = Policy.resolve(f"{CLASSIC}:{name}").own_scheduler().__class__
    scheduler = (compiled(kind) if how == "compiled" else kind)()
    system, workload = System.homogeneous(100), read_trace(KTH)
    own = simulate(system, workload, scheduler).components
    built_in = simulate(system, workload, Policy(backfill=BUILT_IN[name])).components
    assert own["start_time"].equals(built_in["start_time"])


# -- signals


@compiled
class Endless:
    def __init__(self, is_endless: bool) -> None:
        self.is_endless = is_endless
        self.turns = 0

    def schedule(self, view: Any) -> None:
        while self.is_endless:
            self.turns = (self.turns + 1) % 1000
        for job in view.queue:
            view.start(job)


@numba.njit
def turn(turns: int, is_endless: bool) -> int:
    while is_endless and turns < 1 << 62:
        turns = turns + 1 if turns < 1000 else 0
    return turns


@compiled
class EndlessInTry(Endless):
    def schedule(self, view: Any) -> None:
        while self.is_endless:
            try:
                self.turns = turn(self.turns, self.is_endless)
            except Exception:
                self.turns = 0
        for job in view.queue:
            view.start(job)


@pytest.mark.parametrize("kind", [Endless, EndlessInTry])
def test_a_loop_without_end_hears_signals(kind: type) -> None:
    """Ctrl-C comes once the loop goes round: what is compiled for the first run serves the second."""
    site = System.from_dict({"modules": [{"name": "A", "nodes": 1}]})
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[10])
    simulate(site, jobs, kind(is_endless=False))
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 2)
        with pytest.raises(KeyboardInterrupt):
            simulate(site, jobs, kind(is_endless=True))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
