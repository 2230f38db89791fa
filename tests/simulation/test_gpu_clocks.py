"""Clocks of CPUs and GPUs chosen together: by hand, against all pairs tried, under a cap, and errors."""

from __future__ import annotations

from itertools import product
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Result, Simulation, System, Workload, simulate
from scheduler_sim.errors import InputError
from tests.conftest import examples

from .acting import at, trace

pytestmark = pytest.mark.interpreted

LOW, HIGH = 1_000_000, 2_000_000
GPU = {
    "idle_w": 20, "typical_w": 120, "peak_w": 220, "reference_khz": HIGH, "clocks_khz": [LOW, HIGH],
    "sensitivity": 1,
}  # fmt: skip
NODE = {
    "name": "cluster", "idle_w": 100, "typical_w": 150, "peak_w": 1000, "reference_khz": HIGH,
    "pstates_khz": [LOW, HIGH], "sensitivity": 0.5, "gpu": GPU,
}  # fmt: skip
"""At the lower clock, of CPU or GPU, a quarter of the power above idle; half as long again for the CPU."""

SIGNATURES = {
    "workload": ["gpu", "cpu", "both"],
    "frequency_khz": [HIGH] * 3,
    "power_w": [300, 200, 400],
    "gpu_power_w": [220, 20, 220],
    "gpu_sensitivity": [0.5] * 3,
}


def models(signatures: Any = SIGNATURES, node: Any = NODE, **keys: Any) -> dict[str, Any]:
    return {"energy": {"power": {"modules": [node]}, "signatures": signatures, **keys}}


def jobs(*apps: str) -> Workload:
    return trace(*((0, 1, 10) for _ in apps), app=list(apps))


def ran(result: Result) -> list[tuple[int, int, int, float]]:
    result.check()
    columns = ["frequency_khz", "gpu_frequency_khz", "run_time", "energy_j"]
    return list(result.components[columns].itertuples(index=False, name=None))


@pytest.mark.parametrize(
    ("app", "choice", "expected"),
    [
        # GPU 200 W above idle, CPU nothing: 300 W for 10 s, or 150 W for 15 s with the GPU at half its clock
        ("gpu", {"objective": "min_energy"}, (HIGH, LOW, 15, 2250)),
        ("gpu", {"objective": "min_energy", "slowdown": 0.4}, (HIGH, HIGH, 10, 3000)),
        # GPU idle, CPU 100 W above idle: 200 W for 10 s, or 125 W for 15 s
        ("cpu", {"objective": "min_energy"}, (LOW, HIGH, 15, 1875)),
        # both: 400 W for 10 s; CPU 325 W for 15 s; GPU 250 W for 15 s; both lower 175 W for 20 s
        ("both", {"objective": "min_energy"}, (LOW, LOW, 20, 3500)),
        ("both", {"objective": "min_energy", "slowdown": 0.5}, (HIGH, LOW, 15, 3750)),
        ("both", {"objective": "edp"}, (HIGH, HIGH, 10, 4000)),
        ("both", {"objective": "min_energy", "of": "module"}, (HIGH, HIGH, 10, 4000)),
        # of no signature: 150 W for 10 s, or 112.5 W for 15 s; nothing is known of its GPUs
        ("other", {"objective": "min_energy"}, (HIGH, HIGH, 10, 1500)),
    ],
)
def test_the_clocks_of_a_component(app, choice, expected, tmp_path):
    result = simulate(System.homogeneous(1), jobs(app), models=models(choice=choice))
    assert ran(result) == [expected]
    assert result.manifest["energy"]["gpu_clocks"] is True
    again = Result.load(result.save(tmp_path / "result"))
    assert ran(again) == [expected]


def test_without_a_choice_all_are_at_the_reference():
    result = simulate(System.homogeneous(3), jobs("gpu", "cpu", "both"), models=models())
    assert [one[:3] for one in ran(result)] == [(HIGH, HIGH, 10)] * 3


def test_where_signatures_tell_nothing_of_gpus_there_is_no_such_column():
    told = {name: SIGNATURES[name] for name in ("workload", "frequency_khz", "power_w")}
    for given_signatures in (told, told | {"gpu_power_w": [0] * 3}):
        result = simulate(System.homogeneous(1), jobs("gpu"), models=models(given_signatures))
        result.check()
        assert "gpu_frequency_khz" not in result.components
        assert "gpu_clocks" not in result.manifest["energy"]


@st.composite
def signatures(draw: Any) -> dict[str, list[float]]:
    gpu, cpu = draw(st.integers(0, 260)), draw(st.integers(0, 600))
    alpha = draw(st.sampled_from([0, 0.25, 0.5, 1]))
    return {
        "workload": ["a"],
        "frequency_khz": [HIGH],
        "power_w": [max(100 + cpu + max(gpu - 20, 0), 1)],
        "gpu_power_w": [gpu],
        "gpu_sensitivity": [alpha],
    }


@examples(60)
@given(signatures(), st.sampled_from(["min_energy", "edp", "min_time"]), st.integers(1, 40))
def test_no_other_pair_of_clocks_is_better(table, objective, run):
    """All pairs by the formulas of the page, in the seconds and milliwatts that are simulated."""
    watts, card, alpha = (table[name][0] for name in ("power_w", "gpu_power_w", "gpu_sensitivity"))
    above = min(max(card, 20), 220) - 20
    found = []
    for cpu, gpu in product((0.5, 1), repeat=2):
        if gpu < 1 and above == 0:
            continue
        node = min(100 + (watts - above - 100) * cpu**2, 1000)
        power = round(1000 * min(node + above * gpu**2, 1000)) / 1000
        seconds = ceil(round(run * (1 + 0.5 * (1 / cpu - 1) + alpha * (1 / gpu - 1)), 9))
        found.append(
            {"min_time": seconds, "min_energy": power * seconds, "edp": power * seconds**2}[objective]
        )
    result = simulate(
        System.homogeneous(1),
        trace((0, 1, run), app=["a"]),
        models=models(table, choice={"objective": objective}),
    )
    result.check()
    one = result.components.iloc[0]
    score = {"min_time": 1, "min_energy": one["power_w"], "edp": one["power_w"] * one["run_time"]}[objective]
    assert score * one["run_time"] == pytest.approx(min(found))


@pytest.mark.parametrize(
    ("cap", "expected"),
    [
        (400, (HIGH, HIGH, 10, 4000)),
        (260, (HIGH, LOW, 15, 3750)),  # not the lower clock of the CPU alone: as slow, at 325 W
        (200, (LOW, LOW, 20, 3500)),
    ],
)
def test_a_cap_lets_it_start_at_lower_clocks(cap, expected):
    keys = models(cap={"power_w": cap, "pstates": 3})
    assert ran(simulate(System.homogeneous(1), jobs("both"), "easy", models=keys)) == [expected]


def test_a_cap_that_falls_slows_the_gpu_first():
    """At 5 half of its time is left: 7.5 s at 250 W."""
    cap = {"power_w": {"time": [0, 5], "value": [400, 260]}, "slow_running": True}
    result = simulate(System.homogeneous(1), jobs("both"), "easy", models=models(cap=cap))
    result.check()
    assert result.components[["end_time", "slowed"]].to_numpy().tolist() == [[13, "5-13:250"]]


def test_runs_that_are_lost_drew_what_their_clocks_draw():
    sim = Simulation(
        System.homogeneous(1), jobs("gpu"), "easy", models=models(choice={"objective": "min_energy"})
    )
    at(sim, 4, lambda: sim.requeue(1))
    result = sim.run()
    assert ran(result)[0][:2] == (HIGH, LOW)
    assert result.runs["energy_lost_j"].iloc[0] == 4 * 150


@pytest.mark.parametrize(
    ("changed", "node", "words"),
    [
        ({}, {name: NODE[name] for name in NODE if name != "gpu"}, "found gpu_power_w above 0, and no gpu"),
        ({"gpu_power_w": [220, 20, -1]}, NODE, "gpu_power_w of both: found -1; allowed: from 0"),
        ({"power_w": [150, 200, 400]}, NODE, "gpu_power_w of gpu: found 220; allowed: from 0 to what"),
        ({"gpu_sensitivity": [0.5, 2, 0.5]}, NODE, "gpu_sensitivity of cpu: found 2; allowed: from 0 to 1"),
    ],
)
def test_bad_signatures(changed, node, words):
    with pytest.raises(InputError) as caught:
        simulate(System.homogeneous(1), jobs("gpu"), models=models(SIGNATURES | changed, node))
    assert words in str(caught.value)


def test_turbo_and_gpu_clocks_are_all_pairs():
    node = NODE | {"turbo": {"khz": HIGH + 1000, "effective_khz": 2_500_000}}
    result = simulate(
        System.homogeneous(1), jobs("both"), models=models(node=node, choice={"objective": "min_time"})
    )
    assert ran(result)[0][:3] == (HIGH + 1000, HIGH, 9)
