"""What a scheduler sees and may do: hand-computed cases, in plain Python and compiled."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from scheduler_sim import NEVER, Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.schedulers.unlawful import UnlawfulError

pytestmark = pytest.mark.interpreted

FOUR = System.homogeneous(4)


def jobs(*rows: tuple[int, int, int], **more: Any) -> Workload:
    """(submit, nodes, run time) of each; limits are run times."""
    submit, nodes, run = zip(*rows, strict=True)
    return Workload.from_columns(nodes=nodes, submit_time=submit, run_time=run, time_limit=run, **more)


def starts(scheduler: Any, workload: Workload, system: System = FOUR, **keys: Any) -> list[int]:
    result = simulate(system, workload, {"scheduler": scheduler, **keys})
    result.check()
    return result.components["start_time"].tolist()


def schedules(function: Any) -> Any:
    """A scheduler that does so in each pass."""

    class Scheduler:
        def schedule(self, view: Any) -> None:
            function(view)

    return Scheduler()


def in_order(view: Any) -> None:
    for job in view.queue:
        view.start(job)


def test_wakes_alone_do_not_keep_a_run_going() -> None:
    """It asks to be woken for ever; what it holds it may still release."""
    woken, held = [], []

    def hourly(view: Any) -> None:
        woken.append(view.now)
        view.wake_at(view.now + 100)
        for job in view.queue:
            if job.id == 2 and view.now < 150:
                view.hold(job)
                held.append(job)
            else:
                view.start(job)
        if view.now == 200 and held:
            view.release(held.pop())

    assert starts(schedules(hourly), jobs((0, 1, 10), (5, 1, 10))) == [0, 200]
    assert (woken[:4], woken[-1]) == ([0, 5, 10, 100], 210)


def test_later_than_ever_is_never() -> None:
    """Numbers that 64 bits do not hold are no times in the past."""

    def late(view: Any) -> None:
        view.wake_at(2**70)
        view.wake_at(NEVER)
        for job in view.queue:
            assert view.reserve(job, at=2**80) == NEVER or view.start(job)
            view.start(job)

    assert starts(schedules(late), jobs((0, 1, 10), (5, 4, 10))) == [0, 10]


def test_what_a_signal_raises_as_a_pass_is_called_ends_the_run() -> None:
    """There only the hook of what nobody can catch hears of it."""
    simulation, passes = None, []

    def interrupted(view: Any) -> None:
        passes.append(view.now)
        hook = sys.unraisablehook
        if view.now == 2:
            called = hook.__self__._called  # type: ignore[attr-defined]
            hook(SimpleNamespace(object=called, exc_value=KeyboardInterrupt()))  # type: ignore[arg-type]
        in_order(view)

    before = sys.unraisablehook
    simulation = Simulation(
        FOUR, jobs((0, 1, 10), (2, 1, 10), (4, 1, 10)), {"scheduler": schedules(interrupted)}
    )
    with pytest.raises(KeyboardInterrupt):
        simulation.run()
    assert passes == [0, 2]
    assert sys.unraisablehook is before


def test_what_is_seen_of_a_pass() -> None:
    seen = []

    def look(view: Any) -> None:
        queue = view.queue.columns()
        ends = [(job.id, job.start, job.planned_end, job.nodes) for job in view.running]
        seen.append((view.now, view.free, queue["nodes"].tolist(), ends))
        in_order(view)

    assert starts(schedules(look), jobs((0, 3, 10), (0, 1, 20), (2, 2, 5))) == [0, 0, 10]
    assert seen == [
        (0, {"cluster": 4}, [3, 1], []),
        (2, {"cluster": 0}, [2], [(1, 0, 10, 3), (2, 0, 20, 1)]),
        (10, {"cluster": 3}, [2], [(2, 0, 20, 1)]),
        (15, {"cluster": 3}, [], [(2, 0, 20, 1)]),
        (20, {"cluster": 4}, [], []),
    ]


def test_a_job_that_does_not_fit_is_not_started_and_nothing_changes() -> None:
    answers = []

    def start_all(view: Any) -> None:
        for job in view.queue:
            answers.append((view.now, job.id, view.fits(job), view.start(job), view.free["cluster"]))

    assert starts(schedules(start_all), jobs((0, 3, 10), (0, 2, 5))) == [0, 10]
    assert answers == [(0, 1, True, True, 1), (0, 2, False, False, 1), (10, 2, True, True, 2)]


def test_a_job_that_was_started_is_no_longer_in_the_queue() -> None:
    def start_the_last(view: Any) -> None:
        before = [job.id for job in view.queue]
        if before:
            assert view.start(view.queue[-1])
            assert [job.id for job in view.queue] == before[:-1]
            assert len(view.queue) == len(before) - 1

    assert starts(schedules(start_the_last), jobs((0, 1, 10), (0, 1, 10))) == [10, 0]


def test_earliest_starts_know_what_runs_and_what_is_reserved() -> None:
    times = []

    def plan(view: Any) -> None:
        waiting = list(view.queue)
        for job in waiting:
            if view.now == 0 and job.id == 1:
                view.start(job)
                continue
            times.append((view.now, job.id, view.earliest_start(job), view.reserve(job)))
            if times[-1][3] == view.now:
                view.start(job)

    #  4 nodes: 1 has 3 until 10; 2 asks for 4 from 10 to 15, 3 for 2 behind it, 4 fits beside 1 until 10
    workload = jobs((0, 3, 10), (0, 4, 5), (0, 2, 7), (0, 1, 10))
    assert starts(schedules(plan), workload) == [0, 10, 15, 0]
    assert times[:3] == [(0, 2, 10, 10), (0, 3, 15, 15), (0, 4, 0, 0)]


def test_a_reservation_at_a_time_of_ones_own() -> None:
    times = []

    def plan(view: Any) -> None:
        for job in view.queue:
            if view.now < 7:
                times.append(view.reserve(job, at=7))
            else:
                view.start(job)

    assert starts(schedules(plan), jobs((0, 4, 5), (0, 1, 5))) == [7, 12]
    assert times == [7, NEVER]


def test_a_job_has_one_reservation() -> None:
    times = []

    def plan(view: Any) -> None:
        if view.now == 0:
            first, second = view.queue
            times.append(view.reserve(first, at=3))
            times.append(view.earliest_start(second))  # 4 nodes from 0 to 5 do not go before 3
            times.append(view.reserve(first))
            times.append(view.earliest_start(second))
            view.start(first)
            times.append(view.earliest_start(second))
        else:
            in_order(view)

    assert starts(schedules(plan), jobs((0, 2, 5), (0, 4, 5))) == [0, 5]
    assert times == [3, 8, 0, 5, 5]


def test_it_is_woken_at_the_times_it_asks_for() -> None:
    passes = []

    def wait(view: Any) -> None:
        passes.append(view.now)
        if view.now == 0:
            for time in (9, 5, 9):
                view.wake_at(time)
        if view.now == 9:
            in_order(view)

    assert starts(schedules(wait), jobs((0, 1, 3))) == [9]
    assert passes == [0, 5, 9, 12]


def test_a_job_that_is_held_comes_back_when_it_is_released() -> None:
    class Holds:
        held: Any = None

        def schedule(self, view: Any) -> None:
            for job in view.queue:
                if job.id == 2 and self.held is None:
                    self.held = job
                    view.hold(job)
                    with pytest.raises(UnlawfulError, match="start: job 2 at 0 s: it is held"):
                        view.start(job)
                else:
                    view.start(job)

        def on_end(self, view: Any, job: Any) -> None:
            if job.id == 1:
                assert view.release(self.held)
                assert not view.release(job)

    assert starts(Holds(), jobs((0, 1, 6), (0, 1, 3), (0, 1, 4))) == [0, 6, 0]


def test_it_is_told_what_happens_in_order() -> None:
    class Listens:
        def __init__(self) -> None:
            self.heard: list[tuple[str, int, int]] = []

        def schedule(self, view: Any) -> None:
            in_order(view)

        def on_submit(self, view: Any, job: Any) -> None:
            self.heard.append(("submit", view.now, job.id))

        def on_start(self, view: Any, job: Any) -> None:
            self.heard.append(("start", view.now, job.id))

        def on_end(self, view: Any, job: Any) -> None:
            self.heard.append(("end", view.now, job.id))

    listener = Listens()
    simulation = Simulation(FOUR, jobs((0, 3, 4), (1, 2, 5)), listener)
    simulation.run()
    assert simulation.scheduler.heard == [
        ("submit", 0, 1),
        ("start", 0, 1),
        ("submit", 1, 2),
        ("end", 4, 1),
        ("start", 4, 2),
        ("end", 9, 2),
    ]
    assert listener.heard == []  # each simulation has a copy


def test_placements_are_tried_in_order_unless_one_is_named() -> None:
    system = System.from_dict({"modules": [{"name": "cm", "nodes": 2}, {"name": "esb", "nodes": 2}]})
    seen = []

    def choose(view: Any) -> None:
        for job in view.queue:
            seen.append([(one.module, one.nodes, one.limit) for one in job.placements])
            last = job.placements[-1]
            assert view.fits(job, last)
            assert view.earliest_start(job, last) == 0
            assert view.start(job, last if job.id == 2 else None)

    workload = jobs((0, 1, 5), (0, 2, 5), partition=["cm,esb", "cm,esb"])
    result = simulate(system, workload, schedules(choose))
    assert result.components["module"].tolist() == ["cm", "esb"]
    assert seen[0] == [("cm", 1, 5), ("esb", 1, 5)]


def test_what_is_free_on_nodes_that_jobs_share() -> None:
    module = {
        "name": "m",
        "nodes": 2,
        "shared": True,
        "cores_per_node": 4,
        "memory_gb": 2,
        "gpus_per_node": 2,
    }
    system, seen = System.from_dict({"modules": [module]}), []

    def look(view: Any) -> None:
        in_order(view)
        free = view.nodes["m"]
        seen.append((view.free["m"], free.cores.tolist(), free.memory_kb.tolist(), free.gpus.tolist()))

    workload = jobs((0, 1, 5), (1, 1, 5), cores=[3, 1], gpus=[0.5, 0], memory_kb=[1024, -1], exclusive=[0, 1])
    assert starts(schedules(look), workload, system) == [0, 1]
    gb2 = 2 * 1024**2
    assert seen[:2] == [
        (1, [1.0, 4.0], [gb2 - 1024, gb2], [1.5, 2.0]),
        (0, [1.0, 0.0], [gb2 - 1024, 0], [1.5, 0.0]),
    ]


def test_columns_of_the_trace() -> None:
    def ask(view: Any) -> None:
        for job in view.queue:
            assert (job["user"], job["nodes"], job.submit, job.priority) == ("ada", 1, 0, 0)
            with pytest.raises(InputError, match=r"no column 'usr' in the trace .did you mean 'user'"):
                job["usr"]
            view.start(job)

    assert starts(schedules(ask), jobs((0, 1, 5), user=["ada"])) == [0]


@pytest.mark.parametrize(
    ("what", "law"),
    [
        (lambda view, job: view.start(job), "start: job 1 at 0 s: it is already running; a job starts once"),
        (lambda view, job: view.earliest_start(job), "earliest_start: job 1 at 0 s: it is already running"),
        (lambda view, job: view.reserve(job), "reserve: job 1 at 0 s: it is already running"),
        (lambda view, job: view.hold(job), "hold: job 1 at 0 s: it is already running"),
        (lambda view, job: view.wake_at(0), r"wake_at\(0\): at 0 s: that time is not in the future"),
    ],
)
def test_what_can_never_be_is_refused_with_the_law(what: Any, law: str) -> None:
    def break_it(view: Any) -> None:
        for job in view.queue:
            view.start(job)
            what(view, job)

    with pytest.raises(UnlawfulError, match=f"test_view.py:\\d+: {law}"):
        starts(schedules(break_it), jobs((0, 1, 5)))


def test_more_laws() -> None:
    ended = []

    class Breaks:
        def schedule(self, view: Any) -> None:
            in_order(view)

        def on_submit(self, view: Any, job: Any) -> None:
            if job.id == 2:
                with pytest.raises(UnlawfulError, match="job 1 at 9 s: it has ended"):
                    view.start(ended[0])
                with pytest.raises(UnlawfulError, match="job 2 at 9 s: that time is not in the future"):
                    view.reserve(job, at=8)
                with pytest.raises(UnlawfulError, match="job 2 at 9 s: the placement is not one of this job"):
                    view.start(job, ended[0].placements[0])

        def on_end(self, view: Any, job: Any) -> None:
            ended.append(job)

    assert starts(Breaks(), jobs((0, 1, 5), (9, 1, 5))) == [0, 9]


def test_what_fails_in_the_users_file_is_told_with_its_line() -> None:
    def fail(view: Any) -> None:
        raise ValueError("not today")

    with pytest.raises(ConfigError, match=r"test_view.py:\d+: Scheduler fails at 0 s: ValueError: not today"):
        starts(schedules(fail), jobs((0, 1, 5)))


def test_ctrl_c_stays_what_it_is() -> None:
    def interrupt(view: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        starts(schedules(interrupt), jobs((0, 1, 5)))


def test_jobs_that_processes_submit_are_seen() -> None:
    simulation = Simulation(FOUR, jobs((0, 1, 5)), schedules(in_order))

    def submit() -> Any:
        for number in range(3):
            yield simulation.env.timeout(2)
            simulation.submit(nodes=1, run_time=3, user=f"u{number}")

    simulation.process(submit())
    assert simulation.run().components["start_time"].tolist() == [0, 2, 4, 6]
