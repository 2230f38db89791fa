"""Compiled schedulers keep to Python's rules: what is wrong is the same error there, at the same line."""

from __future__ import annotations

import math
import re
from typing import Any

import numba
import numpy as np
import pytest

from scheduler_sim import Simulation, System, Workload, compiled, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.errors import ConfigError
from tests.schedulers.test_compiled import line_of

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiler is off")

njit: Any = numba.njit


added: Any = numba.vectorize(lambda one, other: one + other)


def three_jobs() -> tuple[System, Workload]:
    system = System.from_dict({"modules": [{"name": "a", "nodes": 9}]})
    return system, Workload.from_columns(
        component_id=[71, 72, 73], nodes=[2, 3, 4], submit_time=[0, 5, 5], run_time=[20] * 3
    )


class Arrays:
    """Arrays of all kinds; ``which`` says what is done with them."""

    def __init__(self, which: int = 0) -> None:
        self.which = which
        self.row = np.arange(5)
        self.table = np.arange(6).reshape(2, 3)
        self.turned = np.arange(6).reshape(2, 3).T
        self.odd = np.arange(10)[::2]
        self.small = np.array([1, 200], dtype=np.uint8)
        self.none = np.zeros(0, dtype=np.int64)
        self.result = 0
        self.half = 0.5


class Wrong(Arrays):
    """Each branch is an error in plain Python, or a number that 64 bits do not hold."""

    def schedule(self, view: Any) -> None:
        for job in view.queue:
            n, zero, numbers = job.nodes, job.nodes - job.nodes, [1, 2, 3]
            if job.nodes > 3 and self.which == 0:
                self.row[n + 1] = 1
            elif self.which == 1:
                self.result = self.row[n + 3]
            elif self.which == 2:
                self.row[-n - 4] += 1
            elif self.which == 3:
                self.table[n, 0] = 1
            elif self.which == 4:
                self.result = self.table[1, -n - 2]
            elif self.which == 5:
                self.result = self.turned[2, n]
            elif self.which == 6:
                self.odd[n + 3] = 1
            elif self.which == 7:
                self.result = self.table[n][0]
            elif self.which == 8:
                self.table[:, n + 1] = 1
            elif self.which == 9:
                self.result = self.row[np.array([0, n + 3])][0]
            elif self.which == 10:
                self.row[np.array([True, False, True])] = 1
            elif self.which == 11:
                self.row.flat[n + 3] = 1
            elif self.which == 12:
                self.row[0:3] = np.zeros(n, dtype=np.int64)
            elif self.which == 13:
                self.result = self.none[zero]
            elif self.which == 14:
                self.result = numbers[n + 1]
            elif self.which == 15:
                numbers[-n - 2] = 1
            elif self.which == 16:
                self.result = {1: 2}[n]
            elif self.which == 17:
                self.result = n // zero
            elif self.which == 18:
                self.result = n % zero
            elif self.which == 19:
                self.half = n / zero
            elif self.which == 20:
                self.result = n << (zero - 1)
            elif self.which == 21:
                self.result = n >> (zero - 1)
            elif self.which == 22:
                self.half = math.sqrt(zero - n)
            elif self.which == 23:
                self.half = math.log(zero)
            elif self.which == 24:
                self.half = math.exp(n * 1000)
            elif self.which == 25:
                self.result = int(math.nan * n)
            elif self.which == 26:
                self.result = math.floor(math.inf * n)
            elif self.which == 27:
                self.half = float(zero) ** -1.0
            elif self.which == 28:
                self.half = 10.0 ** (1000.0 * n)
            elif self.which == 29:
                self.small[0] = 200 * n
            elif self.which == 30:
                self.row[0] = math.nan * n
            elif self.which == 31:
                raise KeyError("not today")
            elif self.which == 32:
                self.result = view.queue[n + 2].nodes
            elif self.which == 33:
                self.result = view.queue[-n - 2].nodes
            elif self.which == 34:
                if n > 5:
                    late = 1
                self.result = late
            elif self.which == 35:
                self.row[:] += np.ones(n, dtype=np.int64)
            elif self.which == 36:
                self.table[:] *= self.row[:n]
            elif self.which == 37:
                mask = self.row > 0
                mask &= self.small > 0
            elif self.which == 38:
                np.add(self.row, self.odd[n:], self.row)
            elif self.which == 39:
                np.outer(self.row[:n], self.row[:n], self.table)
            elif self.which == 40:
                added(self.row, self.odd[n:], self.row)
            view.start(job)


IN_WRONG = 41


def said(kind: type, *arguments: Any) -> str:
    with pytest.raises(ConfigError) as error:
        simulate(*three_jobs(), kind(*arguments))
    return str(error.value)


@compiled
class WrongCompiled(Wrong):
    """The same."""


@pytest.mark.parametrize("which", range(IN_WRONG))
def test_an_error_is_the_same_with_line_and_job(which: int) -> None:
    parts = re.compile(r".*(test_python_rules\.py:\d+): \w+ fails at (\d+ s, with job 7\d): (\w+): ")
    plain, fast = (said(kind, which) for kind in (Wrong, WrongCompiled))
    assert parts.match(plain), plain
    assert parts.match(fast), fast
    assert parts.match(plain).groups() == parts.match(fast).groups()


class Large(Arrays):
    """What Python's integers can do, and those of 64 bits cannot."""

    def schedule(self, view: Any) -> None:
        for job in view.queue:
            n, much = job.nodes, 5_000_000_000_000_000_000
            if self.which == 0:
                self.half = float(much + much * n)
            elif self.which == 1:
                self.half = float(-much - much * n)
            elif self.which == 2:
                self.half = float(n**64)
            elif self.which == 3:
                self.half = float(much**2)
            elif self.which == 4:
                self.half = float(n << 63)
            elif self.which == 5:
                self.half = float(int(1e30 * n))
            elif self.which == 6:
                self.half = 2**-n
            view.start(job)


@compiled
class LargeCompiled(Large):
    """The same."""


@pytest.mark.parametrize("which", range(7))
def test_what_does_not_fit_is_an_error_never_another_number(which: int) -> None:
    simulate(*three_jobs(), Large(which))
    assert re.search(r"(OverflowError: the result is beyond 64 bits|ValueError: an int to a negative power)",
                     said(LargeCompiled, which))  # fmt: skip


class Right(Arrays):
    """Indices from the end, parts of arrays, lists two calls deep, and all that a job and the queue have."""

    base = np.arange(4)

    def weight(self, job: Any) -> int:
        return self.sum_of([job.nodes, job.limit, job.id])

    def sum_of(self, numbers: Any) -> int:
        more = [number * 2 for number in numbers]
        return sum(more) + more[-1]

    def schedule(self, view: Any) -> None:
        self.row[-1] += self.base[-1] + self.turned[-1, 1] + self.odd[-2]
        self.turned[2, -2] += 1
        self.odd[1:3] += 2
        self.table[:] += self.row[:3] + self.table[:, :1]
        np.add(self.row[:1], self.odd, self.odd)
        for module, free in view.free.items():
            self.row[0] += len(view.free) * free * (view.free[module] + 1)
        for job in view.queue:
            self.result += self.weight(job) + job.id * job.pending
            self.result += (job == view.queue[0]) + 10 * (job != view.queue[-1])
            self.result += job.placements[-1].nodes + (job.placements[0] == job.placements[-1])
            self.result += (-7 // 2) % 5 + (1 << job.nodes) + job.nodes**3 + (-job.nodes >> 1)
            view.start(job)
            self.result += view.running[0].id + view.running[-1].id + len(view.running) + job.pending
            self.half += job.nodes**-0.5 + round(job.nodes * 1.5) + math.log(job.nodes)


def test_what_is_right_is_the_same() -> None:
    states = []
    for kind in (Right, compiled(type("RightCompiled", (Right,), {}))):
        run = Simulation(*three_jobs(), kind())
        run.run()
        states.append({name: np.asarray(value).tolist() for name, value in vars(run.scheduler).items()})
    assert states[0] == states[1]
    assert states[0]["result"] > 1000


@njit
def of_row(row: Any, at: int) -> int:
    return int(row[at])


@njit(error_model="numpy")
def deeper(row: Any, at: int) -> int:
    if at < 0:
        return deeper(row, at - 1)
    return of_row(row, at)


@compiled
class Helps(Arrays):
    def schedule(self, view: Any) -> None:
        for job in view.queue:
            if self.which == 0:
                self.result += deeper(self.row, job.nodes * 4)
            elif self.which == 1:
                self.result += deeper(self.row, -job.nodes)
            self.result += deeper(self.row, job.nodes)
            view.start(job)


def test_functions_that_methods_call_are_tested_however_they_were_compiled() -> None:
    """Also where Python has called them before, without tests."""
    assert deeper(np.arange(5), 3) == 3
    line = of_row.py_func.__code__.co_firstlineno + 2
    assert re.search(rf"rules.py:{line}: Helps fails at 0 s, with job 71: IndexError", said(Helps, 0))
    assert re.search(
        r"Helps fails at 0 s, with job 71: RecursionError: maximum recursion depth", said(Helps, 1)
    )
    simulate(*three_jobs(), Helps(2))


@compiled
class BecomesAFloat(Arrays):
    def schedule(self, view: Any) -> None:
        self.result = 0.5 * view.now


@compiled
class Rounds(Arrays):
    def schedule(self, view: Any) -> None:
        self.half = round(0.1 * view.now, 2)


@compiled
class Another(Arrays):
    def schedule(self, view: Any) -> None:
        self.row += 1


@compiled
class Words(Arrays):
    def __init__(self) -> None:
        super().__init__()
        self.row = np.array(["a"])

    def schedule(self, view: Any) -> None:
        pass


@numba.njit
def most_first(nodes: int) -> int:
    return -nodes


@compiled
class ByKey(Arrays):
    def schedule(self, view: Any) -> None:
        for job in sorted(view.queue, key=lambda job: job.nodes):
            view.start(job)


@compiled
class SortsByKey(Arrays):
    def schedule(self, view: Any) -> None:
        nodes = [job.nodes for job in view.queue]
        nodes.sort(key=most_first)


@compiled
class Maps(Arrays):
    def schedule(self, view: Any) -> None:
        for nodes in map(most_first, [job.nodes for job in view.queue]):
            self.row[0] += nodes


@compiled
class Filters(Arrays):
    def schedule(self, view: Any) -> None:
        for nodes in filter(lambda nodes: nodes > 1, [job.nodes for job in view.queue]):
            self.row[0] += nodes


GIVEN = "key=, map and filter call a function of yours"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (ByKey, f"{line_of(ByKey, 3)}: .*{GIVEN}"),
        (SortsByKey, f"{line_of(SortsByKey, 4)}: .*{GIVEN}"),
        (Maps, f"{line_of(Maps, 3)}: .*{GIVEN}"),
        (Filters, f"{line_of(Filters, 3)}: .*{GIVEN}"),
        (BecomesAFloat, f"{line_of(BecomesAFloat, 3)}: .*self.result is an int when the object is created"),
        (Rounds, f"{line_of(Rounds, 3)}: .*to a number of digits"),
        (Another, f"{line_of(Another, 3)}: .*self.row stays the same array; allowed: self.row\\[:\\] = "),
        (Words, r"self.row: found an array of <U1; allowed: int, float, bool, arrays of numbers"),
    ],
)
def test_what_would_be_other_numbers_is_not_compiled(kind: type, text: str) -> None:
    assert re.search(text, said(kind))


@compiled
class Counts(Arrays):
    def schedule(self, view: Any) -> None:
        self.row[0] += 1
        for job in view.queue:
            view.start(job)


def test_an_array_may_be_another_when_the_run_goes_on() -> None:
    run = Simulation(*three_jobs(), Counts())
    run.run(until=3)
    run.scheduler.row = np.zeros(2, dtype=np.int64)
    run.run()
    assert run.scheduler.row.tolist() == [3, 0]
