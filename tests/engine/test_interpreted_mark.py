"""Small cases run in plain Python and nothing else does: what stands in is taken away again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED, Entry
from scheduler_sim.simulation import scheme
from tests.engine import interpreted

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiler is off")


def stand_ins() -> tuple[object, ...]:
    return Entry.__call__, Entry.is_compiled, scheme._built_in, scheme.orders.compiled


def run(jobs: int = 2) -> list[int]:
    workload = Workload.from_columns(nodes=[1] * jobs, submit_time=range(jobs), run_time=[5] * jobs)
    return simulate(System.homogeneous(1), workload, "easy").components["start_time"].tolist()


def test_what_stands_in_is_taken_away_whatever_happens():
    before, meanwhile = stand_ins(), []

    def fail():
        with interpreted.interpreted():
            meanwhile.extend(stand_ins())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert all(new is not old for new, old in zip(meanwhile, before, strict=True))
    assert stand_ins() == before


def test_results_are_those_of_compiled_code():
    with interpreted.interpreted():
        plain = run()
    assert plain == run() == [0, 5]


def test_another_thread_is_refused():
    with (
        interpreted.interpreted(),
        ThreadPoolExecutor(1) as pool,
        pytest.raises(AssertionError, match="one thread"),
    ):
        pool.submit(run).result()


def test_what_is_not_small_is_refused(monkeypatch):
    monkeypatch.setattr(interpreted, "MOST_JOBS", 2)
    with interpreted.interpreted(), pytest.raises(AssertionError, match="3 jobs are for compiled code"):
        run(3)


@pytest.mark.interpreted
def test_the_mark_does_it(request):
    is_long = request.config.getoption("hypothesis_profile", None) == "long"
    assert (Entry.__call__.__module__ == interpreted.__name__) == (not is_long)


@pytest.mark.interpreted
@pytest.mark.compiled
def test_the_other_mark_takes_it_away():
    assert Entry.__call__.__module__ != interpreted.__name__
