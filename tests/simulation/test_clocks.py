"""P-states and modules chosen by energy before the run: by hand, and that a bound holds for what runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.applications.models import Models
from scheduler_sim.errors import ConfigError
from scheduler_sim.placement.table import expand
from tests.conftest import examples

from .acting import at, simulation, trace

pytestmark = pytest.mark.interpreted


def module(name: str, idle: float, typical: float, **more: object) -> dict:
    """Two P-states, 1 and 2 GHz; at the lower one a quarter of the power above idle, and twice the time."""
    return {
        "name": name, "idle_w": idle, "typical_w": typical, "peak_w": 1000, "reference_khz": 2_000_000,
        "pstates_khz": [1_000_000, 2_000_000], **more,
    }  # fmt: skip


def models(*modules: dict, **choice: object) -> dict:
    return {"energy": {"power": {"modules": list(modules)}, "choice": choice}}


def ran(result) -> list[tuple[str, int, int, float]]:
    result.check()
    columns = ["module", "frequency_khz", "run_time", "energy_j"]
    return list(result.components[columns].itertuples(index=False, name=None))


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        # 2 GHz: 10 s at 110 W, 1100 J; 1 GHz: 20 s at 35 W, 700 J
        ({"objective": "min_time"}, (2_000_000, 10, 1100)),
        ({"objective": "min_energy"}, (1_000_000, 20, 700)),
        ({"objective": "min_energy", "slowdown": 0.99}, (2_000_000, 10, 1100)),
        ({"objective": "min_energy", "slowdown": 1}, (1_000_000, 20, 700)),
        ({"objective": "edp"}, (2_000_000, 10, 1100)),  # 11,000 against 14,000 J·s
        ({"objective": "sum_of_squares"}, (2_000_000, 10, 1100)),  # 2.47 + 1 against 1 + 4
        ({"objective": "min_energy", "of": "module"}, (2_000_000, 10, 1100)),
    ],
)
def test_the_clock_of_a_component(choice, expected):
    result = simulate(
        System.homogeneous(1), trace((0, 1, 10)), models=models(module("cluster", 10, 110), **choice)
    )
    assert ran(result) == [("cluster", *expected)]
    assert result.components["time_limit"].tolist() == [expected[1]]


def test_an_idle_node_that_draws_much_is_better_fast():
    result = simulate(
        System.homogeneous(1),
        trace((0, 1, 10)),
        models=models(module("cluster", 90, 110), objective="min_energy"),
    )
    assert ran(result) == [("cluster", 2_000_000, 10, 1100)]


SYSTEM = System.from_dict({"modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 2}]})


def test_the_module_of_a_component():
    jobs = trace((0, 1, 10), partition=["A,B"])
    powers = module("A", 10, 110), module("B", 10, 60)  # B: 10 s at 60 W or 20 s at 22.5 W
    both = simulate(SYSTEM, jobs, models=models(*powers, objective="min_energy"))
    assert ran(both) == [("B", 1_000_000, 20, 450)]
    alone = simulate(SYSTEM, jobs, models=models(*powers, objective="min_energy", of="module"))
    assert ran(alone) == [("B", 2_000_000, 10, 600)]
    clock = simulate(SYSTEM, jobs, models=models(*powers, objective="min_energy", of="frequency"))
    assert ran(clock) == [("A", 1_000_000, 20, 700)]  # the policy takes the first that starts at once
    held = simulate(SYSTEM, jobs, models=models(*powers, objective="min_energy", slowdown=0.5))
    assert ran(held) == [("B", 2_000_000, 10, 600)]


def test_sensitivity_and_hint_say_how_much_longer_it_takes():
    power = module("cluster", 10, 110, sensitivity=0.5, hints={"memory_intensive": 0})
    jobs = trace((0, 1, 10, 30), (0, 1, 10, 30), hint=["", "memory_intensive"])
    result = simulate(System.homogeneous(2), jobs, models=models(power, objective="min_energy"))
    assert ran(result) == [("cluster", 1_000_000, 15, 525), ("cluster", 1_000_000, 10, 350)]
    assert result.components["time_limit"].tolist() == [45, 30]


def test_a_limit_may_not_pass_that_of_its_partition():
    system = System.from_dict(
        {
            "modules": [{"name": "A", "nodes": 2}],
            "partitions": [{"name": "short", "module": "A", "max_time": 30}, {"name": "long", "module": "A"}],
        }
    )
    jobs = trace((0, 1, 10, 20), (0, 1, 10, 15), (0, 1, 10, 20), partition=["short", "short", "long"])
    result = simulate(system, jobs, models=models(module("A", 10, 110), objective="min_energy"))
    assert [one[1] for one in ran(result)] == [2_000_000, 1_000_000, 1_000_000]


def test_what_processes_submit_is_chosen_too():
    sim = simulation(1, (0, 1, 10), models=models(module("cluster", 10, 110), objective="min_energy"))
    at(sim, 3, lambda: sim.submit(nodes=1, run_time=4, time_limit=5))
    assert ran(sim.run()) == [("cluster", 1_000_000, 20, 700), ("cluster", 1_000_000, 8, 280)]


def test_with_a_choice_limits_do_not_change():
    chosen = models(module("cluster", 10, 110), objective="min_energy")
    sim = simulation(1, (0, 1, 10), models=chosen)
    with pytest.raises(ConfigError, match="time_limit"):
        sim.update(1, time_limit=30)
    with pytest.raises(ConfigError, match="extend_job"):
        Simulation(SYSTEM, trace((0, 1, 10)), Policy(extend_job="grant"), models=chosen)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"objective": "least"}, "energy.choice.objective: found 'least'"),
        ({}, "energy.choice.objective: missing"),
        ({"objective": "edp", "slowdown": -0.1}, "energy.choice.slowdown: found -0.1"),
        (
            {"objective": "edp", "of": "node"},
            "energy.choice.of: found 'node'; allowed: frequency, module, both",
        ),
    ],
)
def test_bad_choices(choice, words):
    with pytest.raises(ConfigError) as caught:
        Models.of(**models(module("cluster", 10, 110), **choice))
    assert words in str(caught.value)


JOBS = st.lists(
    st.tuples(*(st.integers(*ends) for ends in ((0, 30), (1, 4), (0, 60), (1, 60), (0, 3)))),
    min_size=1,
    max_size=12,
)
CHOICES = st.fixed_dictionaries(
    {
        "objective": st.sampled_from(["min_time", "min_energy", "edp", "sum_of_squares"]),
        "slowdown": st.sampled_from([0, 0.013, 0.05, 0.1, 0.5, 1.25]),
        "of": st.sampled_from(["frequency", "module", "both"]),
    }
)
PROFILES = [
    {
        "name": name, "idle_w": idle, "typical_w": typical, "peak_w": 500, "reference_khz": 2_000_000,
        "pstates": {"lowest_khz": 1_000_000, "highest_khz": 2_000_000},
        "turbo": {"khz": 2_001_000, "effective_khz": 2_300_000},
        "sensitivity": 0.83, "hints": {"memory": 0.07},
    }
    for name, idle, typical in (("A", 40, 200), ("B", 20, 90))
]  # fmt: skip
KHZ = {*range(1_000_000, 2_000_001, 100_000), 2_001_000}


def workload(jobs) -> Workload:
    jobs.sort(key=lambda job: job[0])
    submit, nodes, run, limit, kind = (list(column) for column in zip(*jobs, strict=True))
    return Workload.from_columns(
        submit_time=submit, nodes=nodes, run_time=run, time_limit=limit,
        hint=[("", "memory", "", "memory")[one] for one in kind],
        app=[("", "", "x", "x")[one] for one in kind],
        partition=[("A", "B,A", "A,B", "B")[one] for one in kind],
    )  # fmt: skip


@examples(60)
@given(jobs=JOBS, choice=CHOICES, policy=st.sampled_from(["fcfs", "easy", "conservative"]))
def test_the_bound_holds_for_the_seconds_that_are_simulated(jobs, choice, policy):
    trace_of = workload(jobs)
    system = System.from_dict({"modules": [{"name": "A", "nodes": 4}, {"name": "B", "nodes": 4}]})
    keys = {"energy": {"power": {"modules": PROFILES}, "choice": choice}}
    result = simulate(system, trace_of, policy, models=keys)
    result.check()
    table = result.components
    assert set(table["frequency_khz"]) <= (KHZ if choice["of"] != "module" else {2_000_000})
    run, limit = trace_of["run_time"], trace_of["time_limit"]
    assert (table["run_time"] <= (1 + choice["slowdown"]) * np.minimum(run, limit)).all()
    assert (table["time_limit"] <= np.maximum((1 + choice["slowdown"]) * limit, 1)).all()
    assert (table["state"] == "COMPLETED").to_numpy()[run <= limit].all()


@examples(40)
@given(jobs=JOBS, choice=CHOICES)
def test_one_by_one_as_all_at_once(jobs, choice):
    trace_of = workload(jobs)
    system = System.from_dict({"modules": [{"name": "A", "nodes": 4}, {"name": "B", "nodes": 2}]})
    given_models = Models.of(energy={"power": {"modules": PROFILES}, "choice": choice})
    table = expand(trace_of, system, models=given_models)
    for i in range(len(trace_of)):
        one = expand(trace_of.select([i]), system, models=given_models)
        mine = slice(table.first[i], table.first[i + 1])
        for name in ("module", "nodes", "limit", "run", "clock"):
            assert getattr(one, name).tolist() == getattr(table, name)[mine].tolist()
