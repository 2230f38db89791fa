"""Begin times in cheap or clean hours: by hand, against all begins there are, and that the bound holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import System, Workload, simulate
from scheduler_sim.applications.models import Models
from scheduler_sim.energy.shift import cheapest_begin
from scheduler_sim.energy.tariff import Series
from scheduler_sim.errors import ConfigError, InputError
from tests.conftest import examples

from .acting import at, simulation, trace

pytestmark = pytest.mark.interpreted

NODE = {
    "name": "cluster", "idle_w": 0, "typical_w": 3600, "peak_w": 4000, "reference_khz": 2_000_000,
    "pstates_khz": [1_000_000, 2_000_000],
}  # fmt: skip


def models(bound_s: int, *steps: tuple[int, float], by: str = "price", **more: object) -> dict:
    given_series = {"time": [time for time, _ in steps], "value": [value for _, value in steps]}
    keys = {"power": {"modules": [NODE]}, by: given_series, "shift": {"by": by, "bound_s": bound_s}}
    return {"energy": keys | more}


NIGHT = (0, 3.0), (100, 1.0), (200, 2.0), (300, 1.0), (10_000, 9.0), (20_000, 9.0)


@pytest.mark.parametrize(
    ("bound_s", "begins"),
    [
        (0, [0, 50]),
        (20, [0, 50]),  # nothing is cheaper so soon
        (60, [0, 100]),
        (95, [95, 100]),  # half of the first in the cheap hour
        (100, [100, 100]),
        (500, [100, 100]),  # 300 would be as cheap, and later
    ],
)
def test_components_wait_for_cheap_hours(bound_s, begins):
    result = simulate(System.homogeneous(2), trace((0, 1, 10), (50, 1, 10)), models=models(bound_s, *NIGHT))
    result.check()
    assert result.components["eligible_time"].tolist() == begins
    assert result.components["start_time"].tolist() == begins
    assert result.components["wait_dependency"].tolist() == [begins[0], begins[1] - 50]
    assert result.metrics["counts"].get("shifted", 0) == int(begins[0] > 0) + int(begins[1] > 50)


def test_the_window_is_as_long_as_the_time_limit():
    """150 s from 100 on cost 100 + 50 · 2 = 200; from 300 on 150, for which 400 s must be waited for."""
    jobs = trace((0, 1, 10, 150), (0, 1, 10, 150))
    for bound, begin in ((299, 299), (300, 300), (250, 100)):
        result = simulate(System.homogeneous(2), jobs, models=models(bound, *NIGHT))
        assert result.components["start_time"].tolist() == [begin] * 2


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "slurm"])
def test_a_shift_is_cheaper_under_every_policy(policy):
    jobs = trace(*((i, 1, 20) for i in range(4)))
    plain = simulate(System.homogeneous(4), jobs, policy, models=models(0, *NIGHT))
    shifted = simulate(System.homogeneous(4), jobs, policy, models=models(400, *NIGHT))
    shifted.check()
    assert (shifted.components["start_time"] >= 100).all()
    assert shifted.metrics["energy"]["cost"] < plain.metrics["energy"]["cost"]


def test_carbon_is_another_series():
    keys = models(500, (0, 400.0), (70, 50.0), (10_000, 400.0), by="carbon")
    result = simulate(System.homogeneous(1), trace((0, 1, 10)), models=keys)
    assert result.components["start_time"].tolist() == [70]


def test_who_waits_for_others_and_who_starts_with_others_is_not_shifted():
    jobs = trace(
        (0, 1, 10), (0, 1, 10), (0, 1, 10), (0, 1, 10),
        component_id=[1, 2, 3, 4], modular_job_id=[1, 2, 3, 3],
        dependency_ids=["", "1", "", ""], dependency_kinds=["", "AFTERANY", "", ""],
    )  # fmt: skip
    result = simulate(System.homogeneous(4), jobs, models=models(150, *NIGHT))
    result.check()
    assert result.components["start_time"].tolist() == [100, 110, 0, 0]


def test_one_that_is_cancelled_before_its_begin_never_runs():
    sim = simulation(2, (0, 1, 10), (0, 1, 10), models=models(150, *NIGHT))
    at(sim, 30, lambda: sim.cancel(1))
    at(sim, 40, lambda: sim.submit(nodes=1, run_time=5))  # a process knows when it submits
    result = sim.run()
    assert result.components["start_time"].tolist() == [-1, 100, 40]


def test_many_may_be_submitted_beside_those_that_wait():
    sim = simulation(4, *((0, 1, 5) for _ in range(30)), models=models(150, *NIGHT))
    at(sim, 10, lambda: [sim.submit(nodes=1, run_time=1) for _ in range(200)])
    result = sim.run()
    result.check()
    assert set(result.components["state"]) == {"COMPLETED"}
    assert result.components["start_time"][:30].min() == 100


@pytest.mark.parametrize(
    ("keys", "error", "words"),
    [
        ({"shift": {"by": "cost", "bound_s": 5}}, ConfigError, "energy.shift.by: found 'cost'"),
        ({"shift": {"by": "carbon", "bound_s": 5}}, ConfigError, "energy.shift.by: found 'carbon', and no"),
        ({"shift": {"by": "price", "bound_s": -5}}, ConfigError, "energy.shift.bound_s: found -5"),
        ({"shift": {"by": "price"}}, ConfigError, "energy.shift.bound_s: missing"),
        ({"shift": {"by": "price", "bound_s": 40_000}}, InputError, "too early, at 30000 s; allowed: 40010"),
    ],
)
def test_bad_shifts(keys, error, words):
    with pytest.raises(error) as caught:
        simulate(System.homogeneous(1), trace((0, 1, 10)), models=models(5, *NIGHT, **keys))
    assert words in str(caught.value)


STEPS = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 4)), max_size=8)


@given(
    jobs=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 30)), min_size=1, max_size=8),
    first=st.integers(0, 4),
    steps=STEPS,
    bound=st.integers(0, 50),
)
def test_no_begin_within_the_bound_is_cheaper(jobs, first, steps, bound):
    values = {0: first} | dict(steps) | {1000: 0}
    series = Series.of(sorted(values), [values[t] for t in sorted(values)], name="price")
    submit, length = (np.array(column, np.int64) for column in zip(*jobs, strict=True))
    begin = cheapest_begin(submit, length, bound, series)
    for one, seconds, chosen in zip(submit, length, begin, strict=True):
        all_begins = np.arange(one, one + bound + 1)
        cost = series.integral(all_begins, all_begins + seconds)
        assert chosen == all_begins[cost == cost.min()][0]


@examples(60)
@given(
    jobs=st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 3), st.integers(0, 20), st.integers(1, 25)),
        min_size=1, max_size=12,
    ),
    steps=STEPS,
    bound=st.integers(0, 60),
    policy=st.sampled_from(["fcfs", "easy", "conservative", "sjf"]),
)  # fmt: skip
def test_the_bound_holds_in_every_schedule(jobs, steps, bound, policy):
    values = {0: 2} | dict(steps) | {1000: 0}
    keys = models(bound, *((t, values[t]) for t in sorted(values)))
    jobs.sort(key=lambda job: job[0])
    result = simulate(System.homogeneous(3), trace(*jobs), policy, models=keys)
    result.check()
    table = result.components
    assert (table["wait_dependency"].between(0, bound)).all()
    assert (table["state"] != "PENDING").all()


def test_many_are_chosen_for_in_parts():
    hours = range(0, 4_000_000, 3600)
    count, series = 100_000, Series.of(hours, [i % 7 for i in range(len(hours))], name="price")
    submit = np.sort(np.random.default_rng(1).integers(0, 3_000_000, count))
    begin = cheapest_begin(submit, np.full(count, 7000), 86_400, series)
    assert ((begin >= submit) & (begin <= submit + 86_400)).all()


def test_without_a_shift_nothing_changes():
    jobs = trace(*((i % 5, 1 + i % 2, 5 + i % 7, 15) for i in range(40)))
    plain = simulate(System.homogeneous(3), jobs)
    unshifted = simulate(System.homogeneous(3), jobs, models=models(0, *NIGHT))
    names = ["start_time", "end_time", "wait_resources", "wait_priority", "wait_dependency"]
    assert unshifted.components[names].equals(plain.components[names])
    assert Models.of(**models(0, *NIGHT)).energy is not None
    nobody = Workload.from_columns(nodes=[], submit_time=[], run_time=[])
    assert simulate(System.homogeneous(1), nobody, models=models(5, *NIGHT)).metrics["jobs"] == 0
