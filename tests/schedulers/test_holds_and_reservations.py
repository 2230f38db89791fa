"""A scheduler of one's own that holds jobs, and beside advance reservations: small cases, in plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.schedulers.unlawful import UnlawfulError
from tests.schedulers.test_classic import BUILT_IN, CLASSIC
from tests.schedulers.test_view import FOUR, in_order, jobs, schedules

pytestmark = pytest.mark.interpreted


class HoldsTheSecond:
    """Holds a job that has waited for some time, and releases it later."""

    held: Any = None

    def schedule(self, view: Any) -> None:
        for job in view.queue:
            if not view.start(job) and view.now >= 5 and self.held is None:
                view.hold(job)
                self.held = job
                view.wake_at(8)
        if self.held is not None and view.now >= 8:
            view.release(self.held)


def test_a_job_that_had_waited_when_it_was_held_is_counted() -> None:
    result = simulate(FOUR, jobs((0, 4, 10), (1, 4, 10), (5, 4, 10)), HoldsTheSecond())
    result.check()
    assert result.components["eligible_time"].tolist() == [0, 8, 5]
    assert result.metrics["counts"]["held_back"] == 1


def test_a_job_that_is_held_and_released_in_one_pass_was_never_held() -> None:
    def hesitate(view: Any) -> None:
        for job in view.queue:
            view.hold(job)
            assert not job.pending
            assert view.release(job)
            assert job.pending
            view.start(job)

    result = simulate(FOUR, jobs((0, 4, 10), (1, 4, 10)), schedules(hesitate))
    result.check()
    assert result.components["start_time"].tolist() == [0, 10]
    assert result.metrics["counts"].get("held_back", 0) == 0


def test_holding_and_releasing_without_end_is_an_error() -> None:
    held: list[Any] = []

    def undecided(view: Any) -> None:
        while held:
            view.release(held.pop())
        for job in view.queue:
            view.hold(job)
            held.append(job)

    with pytest.raises(
        UnlawfulError, match=r"Scheduler: at 9 s: it holds and releases jobs in pass after pass"
    ):
        simulate(FOUR, jobs((3, 4, 10), (9, 4, 10)), schedules(undecided))


def test_releasing_many_one_by_one_at_one_instant_has_an_end() -> None:
    held: list[Any] = []

    def by_and_by(view: Any) -> None:
        for job in view.queue:
            if view.now < 50:
                view.hold(job)
                held.append(job)
                view.wake_at(50)
        if view.now >= 50 and held:
            view.release(held.pop())
        elif not held:
            in_order(view)

    result = simulate(FOUR, jobs(*[(place, 1, 10) for place in range(30)]), schedules(by_and_by))
    result.check()
    assert result.components["start_time"].min() == 50
    assert result.metrics["counts"]["held_back"] == 30


def reserved(**keys: Any) -> System:
    one = {"name": "R", "start": 100, "end": 200, "nodes": "ALL", "users": ["ada"], **keys}
    return System.from_dict({"modules": [{"name": "A", "nodes": 4}], "reservations": [one]})


@pytest.mark.parametrize("limit", [70, 71])
def test_no_job_starts_on_nodes_that_leave_before_its_end(limit: int) -> None:
    seen = []

    def look(view: Any) -> None:
        for job in view.queue:
            seen.append((view.now, view.fits(job), view.earliest_start(job), view.start(job)))

    workload = Workload.from_columns(nodes=[4], submit_time=[30], run_time=[5], time_limit=[limit])
    result = simulate(reserved(), workload, schedules(look))
    result.check()
    late = limit > 70
    assert seen[0] == (30, not late, 200 if late else 30, not late)
    assert result.components["start_time"].tolist() == [200 if late else 30]


def test_a_job_in_a_reservation_has_a_module_of_its_own() -> None:
    seen = []

    def look(view: Any) -> None:
        for job in view.queue:
            free, where = dict(view.free), [one.module for one in job.placements]
            seen.append((view.now, job.module, free, where, view.start(job)))
        seen.append([job.id for job in view.running])

    workload = Workload.from_columns(
        nodes=[1], submit_time=[110], run_time=[5], user=["ada"], reservation=["R"]
    )
    result = simulate(reserved(nodes=["A[1-3]"]), workload, schedules(look))
    result.check()
    assert seen[:2] == [(110, "A:R", {"A": 1, "A:R": 3}, ["A:R"], True), [1]]
    assert result.components["module"].tolist() == ["A"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_beside_reservations_the_classic_ones_are_the_built_in(name: str) -> None:
    draw, count = np.random.default_rng(3), 60
    system = System.from_dict({
        "modules": [{"name": "A", "nodes": 6}, {"name": "B", "nodes": 4}],
        "reservations": [
            {"name": "R", "start": 60, "end": 260, "nodes": ["A[1-3]"], "users": ["ada"]},
            {"name": "M", "start": 400, "end": 500, "nodes": "ALL", "users": ["root"], "flags": ["MAINT"]},
        ],
    })  # fmt: skip
    users = draw.choice(["ada", "bob"], count).tolist()
    workload = Workload.from_columns(
        nodes=draw.integers(1, 4, count), submit_time=np.sort(draw.integers(0, 400, count)),
        run_time=draw.integers(5, 60, count), time_limit=draw.integers(60, 90, count), user=users,
        reservation=["R" if user == "ada" and draw.random() < 0.6 else "" for user in users],
        partition=draw.choice(["A", "B"], count).tolist(),
    )  # fmt: skip
    scheduler = Policy.resolve(f"{CLASSIC}:{name}").own_scheduler()
    own, built_in = (
        simulate(system, workload, policy) for policy in (scheduler, {"backfill": BUILT_IN[name]})
    )
    own.check()
    assert own.components["start_time"].equals(built_in.components["start_time"])


def test_a_branch_knows_the_reservations() -> None:
    workload = Workload.from_columns(
        nodes=[1, 1], submit_time=[110, 150], run_time=[5, 5], user=["ada"] * 2, reservation=["R"] * 2
    )
    run = Simulation(reserved(), workload, schedules(in_order))
    run.run(until=120)
    assert run.branch().run().components["start_time"].tolist() == [110, 150]


def test_a_python_file_without_the_name_of_a_class(tmp_path: Path) -> None:
    file = tmp_path / "slack.py"
    classes = "class Slack:\n    def schedule(self, view):\n        pass\nclass Fast(Slack):\n    pass\n"
    file.write_text(f"raise SystemExit('carried out')\n{classes}class Other:\n    pass\n")
    with pytest.raises(
        Exception, match=rf"without the name of a class; allowed here: {file}:Slack, {file}:Fast$"
    ):
        Policy.resolve(str(file))
    with pytest.raises(Exception, match=r"nowhere.py': no such file: nowhere.py$"):
        Policy.resolve("nowhere.py")
    file.write_text("def schedule(view):\n    pass\n")
    with pytest.raises(Exception, match=r"slack.py has no class with a method schedule\(self, view\)$"):
        Policy.resolve(file)
    file.write_text("class Slack(:\n")
    with pytest.raises(Exception, match=r"slack.py: not valid Python: "):
        Policy.resolve(file)
