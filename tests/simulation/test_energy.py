"""Power and energy of a run: by hand, and whatever is simulated; without a profile nothing changes."""

from __future__ import annotations

import filecmp

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Result, Simulation, System, Workload, simulate
from scheduler_sim.applications.models import Models
from scheduler_sim.errors import ConfigError, InputError, TraceError
from scheduler_sim.result.store import FILES
from tests.conftest import examples

from .acting import at, simulation, trace

pytestmark = pytest.mark.interpreted

KEYS = {
    "peak_w": 500,
    "reference_khz": 2_000_000,
    "pstates": {"lowest_khz": 1_000_000, "highest_khz": 2_000_000},
}


def power(**modules: tuple[float, float]) -> dict:
    """Models with the idle and typical watts of some modules."""
    profiles = [
        {"name": name, "idle_w": idle, "typical_w": typical, **KEYS}
        for name, (idle, typical) in modules.items()
    ]
    return {"energy": {"power": {"modules": profiles}}}


def plain(**more: object) -> dict:
    """A cluster of nodes that draw 10 W idle and 100 W busy."""
    models = power(cluster=(10, 100))
    models["energy"] |= more
    return models


def drawn(result: Result, module: str = "total") -> dict[int, float]:
    rows = result.timeline[result.timeline["module"] == module]
    return dict(zip(rows["time"], rows["power_w"], strict=True))


def test_a_schedule_by_hand():
    # 2 nodes 0-10, 1 node 0-5, then 3 nodes 10-14, of 4
    result = simulate(System.homogeneous(4), trace((0, 2, 10), (0, 1, 5), (2, 3, 4)), models=plain())
    result.check()
    table = result.components
    assert table["power_w"].tolist() == [200, 100, 300]
    assert table["energy_j"].tolist() == [2000, 500, 1200]
    assert table["frequency_khz"].tolist() == [2_000_000] * 3
    # 3 of 4 nodes busy: 300 + 10; then 2: 200 + 20 with the queue changing at 2; then 3 again
    assert drawn(result) == {0: 310, 2: 310, 5: 220, 10: 310, 14: 40}
    found = result.metrics["energy"]
    assert found["components_j"] == found["job_j"] == 3700
    assert found["idle_j"] == 5 * 10 + 5 * 20 + 4 * 10
    assert (found["transition_j"], found["off_j"]) == (0, 0)
    assert found["system_j"] == 3700 + 190
    assert found["mean_power_w"] == round(3890 / 14, 6)
    assert found["max_power_w"] == 310
    assert (found["pue"], found["facility_j"], found["cost"], found["carbon_g"]) == (1, 3890, None, None)
    assert found["modules"]["cluster"]["system_j"] == 3890
    assert found["energy_delay_product"]["max"] == 20_000
    assert result.manifest["energy"]["power_from"] == {"typical": 3}
    assert result.manifest["energy"]["quality"] == {"guess": 11}


def test_power_that_alone_changes_has_a_row_of_its_own():
    signatures = {"workload": ["a", "b"], "frequency_khz": [2_000_000] * 2, "power_w": [100, 200.5]}
    jobs = trace((0, 1, 10), (10, 1, 5), app=["a", "b"])
    result = simulate(System.homogeneous(1), jobs, models=plain(signatures=signatures))
    result.check()
    assert drawn(result) == drawn(result, "cluster") == {0: 100, 10: 200.5, 15: 10}
    assert result.components["energy_j"].tolist() == [1000, 1002.5]
    assert result.manifest["energy"]["power_from"] == {"signature": 2}


def test_the_trace_may_state_the_power_of_a_node():
    jobs = trace((0, 2, 10), (0, 1, 10), reference_power_w=[150, -1])
    result = simulate(System.homogeneous(3), jobs, models=plain())
    assert result.components["power_w"].tolist() == [300, 100]
    assert result.manifest["energy"]["power_from"] == {"reference power": 1, "typical": 1}


def test_a_module_that_nobody_uses_draws_idle_power_from_the_first_submission_on():
    system = System.from_dict({"modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 3}]})
    jobs = trace((5, 1, 10), partition=["A"])
    result = simulate(system, jobs, models=power(A=(10, 100), B=(7, 70)))
    result.check()
    assert drawn(result, "B") == {5: 21}
    assert drawn(result) == {5: 131, 15: 41}
    assert result.metrics["energy"]["modules"]["B"]["system_j"] == 210
    assert result.metrics["energy"]["system_j"] == 1310


def test_what_ran_before_a_requeue_drew_what_it_drew_and_counts():
    sim = simulation(2, (0, 2, 10), models=plain())
    at(sim, 4, lambda: sim.requeue(1))
    result = sim.run()
    result.check()
    found = result.metrics["energy"]
    assert found["components_j"] == 2000
    assert found["job_j"] == 2000 + 4 * 200
    assert found["system_j"] == 14 * 200
    lost = result.runs.iloc[0]
    assert lost[["module", "nodes", "start_time", "end_time", "power_w"]].tolist() == [
        "cluster",
        2,
        0,
        4,
        200,
    ]
    assert result.runs["energy_lost_j"].tolist() == [4 * 200, 0]
    assert result.metrics["lost"]["energy_j"] == 4 * 200


def test_a_lost_run_has_the_power_of_its_component():
    """Of 300 W a node by the trace, where 100 are typical; the run of another that had ended is lost, too."""
    jobs = trace((0, 1, 10), (0, 1, 3), reference_power_w=[300, 150])
    sim = Simulation(System.homogeneous(2), jobs, "easy", models=plain())
    at(sim, 4, lambda: [sim.requeue(1), sim.requeue(2)])
    result = sim.run()
    result.check()
    assert drawn(result) == {0: 450, 3: 310, 4: 450, 7: 310, 14: 20}
    assert result.metrics["energy"]["job_j"] == 300 * 14 + 150 * 6


def test_a_run_that_was_lost_for_ever_counts_as_far_as_somebody_ran():
    """The second is requeued at 4 and cancelled at 5; the last end is at 2, and the first submission at 0."""
    sim = simulation(2, (0, 1, 2), (0, 1, 9), models=plain())
    at(sim, 4, lambda: sim.requeue(2))
    at(sim, 4, lambda: sim.cancel(2))
    result = sim.run()
    result.check()
    assert result.components["state"].tolist() == ["COMPLETED", "CANCELLED"]
    assert result.metrics["energy"]["job_j"] == 400


def test_nodes_out_of_service_draw_idle_power():
    sim = simulation(3, (0, 1, 10), models=plain())
    at(sim, 2, lambda: sim.drain("cluster", 2))
    result = sim.run()
    result.check()
    assert result.metrics["energy"]["idle_j"] == 2 * 10 * 10


def test_failures_count_what_was_run():
    sim = simulation(2, (0, 2, 10), (0, 1, 20), models=plain())
    at(sim, 4, lambda: sim.fail("cluster", 1))
    at(sim, 6, lambda: sim.resume("cluster", 1))
    result = sim.run()
    result.check()
    assert result.components["energy_j"].tolist() == [800, 2000]


def test_nobody_ran():
    result = simulate(System.homogeneous(1), trace((0, 2, 10)), models=plain(price=0.3))
    result.check()
    found = result.metrics["energy"]
    assert found["system_j"] is None
    assert found["components_j"] is None
    assert np.isnan(result.components["energy_j"]).all()


@pytest.mark.parametrize("policy", ["easy", "slurm"])
def test_without_a_profile_nothing_changes(tmp_path, policy):
    jobs = trace(*((3 * i, 1 + i % 3, 10 + 7 * i % 40, 60) for i in range(60)))
    system = System.homogeneous(4)
    without = simulate(system, jobs, policy)
    with_power = simulate(system, jobs, policy, models=plain())
    with_power.check()
    columns = [name for name in without.components if name not in ("frequency_khz", "power_w", "energy_j")]
    pd.testing.assert_frame_equal(without.components[columns], with_power.components[columns])
    simulate(system, jobs, policy).save(tmp_path / "one")
    assert set(without.metrics["energy"]) == {"components_j", "system_j", "mean_power_w", "max_power_w"}
    assert set(without.metrics["energy"].values()) <= {None, 0.0}
    assert "energy" not in without.manifest
    without.save(tmp_path / "two")
    assert filecmp.cmpfiles(tmp_path / "one", tmp_path / "two", FILES, shallow=False)[0] == list(FILES)


def test_the_manifest_repeats_the_run(tmp_path):
    (tmp_path / "watts.yaml").write_text(
        "modules: [{name: cluster, idle_w: 10, typical_w: 100, peak_w: 500, reference_khz: 2000000,"
        " pstates: {lowest_khz: 1000000, highest_khz: 2000000}}]\n"
    )
    (tmp_path / "prices.csv").write_text("time,value\n0,0.2\n5,0.4\n100,0\n")
    (tmp_path / "signatures.csv").write_text("workload,frequency_khz,power_w\na,2000000,150\n")
    (tmp_path / "models.yaml").write_text(
        "energy: {power: watts.yaml, price: prices.csv, signatures: signatures.csv, pue: 1.5, carbon: 100}\n"
    )
    jobs = trace((0, 1, 10), (0, 1, 10), app=["a", ""])
    first = simulate(System.homogeneous(2), jobs, models=tmp_path / "models.yaml")
    first.check()
    roles = [one["role"] for one in first.manifest["inputs"]]
    assert roles == ["workload", "models", "power profile", "signatures", "price"]
    found = first.metrics["energy"]
    assert found["cost"] == pytest.approx(1.5 * 250 * (5 * 0.2 + 5 * 0.4) / 3.6e6, abs=1e-6)
    assert found["carbon_g"] == pytest.approx(1.5 * 2500 * 100 / 3.6e6, abs=1e-6)
    first.save(tmp_path / "first")
    told = Result.load(tmp_path / "first").manifest["models"]
    again = simulate(System.homogeneous(2), jobs, models=Models.of(**told))
    assert again.metrics == first.metrics
    assert again.manifest["models"] == first.manifest["models"]


def test_a_fitted_model_stands_in_the_manifest_too(tmp_path):
    (tmp_path / "fitted.yaml").write_text(
        "name: mine\nkhz: [1000000, 2000000]\npower: {form: ratio, terms: ['1']}\n"
        "time: {form: stall, terms: ['1']}\n"
        "pairs: [{from: 2000000, to: 1000000, power: [0.6], time: [0.5]},"
        " {from: 1000000, to: 2000000, power: [1.6], time: [0.5]}]\n"
    )
    module = {"name": "cluster", "idle_w": 10, "typical_w": 100, "peak_w": 500, "reference_khz": 2_000_000}
    module |= {"pstates_khz": [1_000_000, 2_000_000], "model": "fitted.yaml"}
    signatures = {"workload": ["a"], "frequency_khz": [1_000_000], "power_w": [100]}
    keys = {"energy": {"power": {"modules": [module]}, "signatures": signatures}}
    models = Models.of(folder=tmp_path, **keys)
    again = Models.of(**models.to_dict())
    for one in (models, again):
        result = simulate(System.homogeneous(1), trace((0, 1, 10), app=["a"]), models=one)
        assert result.components["power_w"].tolist() == [160]


@pytest.mark.parametrize(
    ("keys", "error", "words"),
    [
        (power(other=(1, 2)), InputError, "module cluster: allowed: other"),
        ({"energy": {}}, ConfigError, "energy.power: missing"),
        ({"energy": {"power": 7}}, ConfigError, "energy.power: found 7; allowed: the path of a file"),
        ({"energy": {"power": "no-such-file.yaml"}}, ConfigError, "no-such-file.yaml"),
        (power(cluster=(-5, 100)), ConfigError, "idle_w.value: found -5"),
        (power(cluster=(200, 100)), ConfigError, "typical_w: found 100 W; allowed: at least idle_w, 200 W"),
        (plain(pue=0.9), ConfigError, "energy.pue: found 0.9"),
        (plain(price=-1), ConfigError, "energy.price: found -1; allowed: a number >= 0"),
        (plain(price="no-such-file.csv"), TraceError, "no such file"),
        (plain(price={"time": [0, 4], "value": [1, 2]}), InputError, "price: ends too early, at 8 s"),
        (plain(carbon={"time": [2, 4], "value": [1, 2]}), InputError, "carbon: begins too late, at 2 s"),
        (plain(price={"time": ["2024-01-01T00:00"], "value": [1]}), TraceError, "UnixStartTime"),
        (
            plain(signatures={"workload": ["a"], "frequency_khz": [123], "power_w": [100]}),
            InputError,
            "123",
        ),
        (
            plain(signatures={"workload": ["a"], "frequency_khz": [2_000_000], "power_w": [-1]}),
            TraceError,
            "not above 0",
        ),
    ],
)  # fmt: skip
def test_bad_input(keys, error, words):
    with pytest.raises(error) as caught:
        simulate(System.homogeneous(1), trace((0, 1, 10), app=["a"]), models=keys)
    assert words in str(caught.value)


def test_dates_are_on_the_clock_of_the_trace(tmp_path):
    path = tmp_path / "a.swf"
    path.write_text("; UnixStartTime: 1704067200\n1 0 0 3600 1 -1 -1 1 3600 -1 1 1 1 1 1 1 -1 -1\n")
    prices = {"time": ["2024-01-01T00:00", "2024-01-01T00:30", "2024-01-01T02:00"], "value": [0.1, 0.3, 0]}
    result = simulate(System.homogeneous(1), path, models=plain(price=prices))
    assert result.metrics["energy"]["cost"] == pytest.approx(0.1 * (0.05 + 0.15), abs=1e-6)


JOBS = st.lists(
    st.tuples(
        st.integers(0, 30), st.integers(1, 4), st.integers(0, 20), st.integers(1, 25), st.integers(0, 4)
    ),
    min_size=1,
    max_size=25,
)


@examples(60)
@given(jobs=JOBS, policy=st.sampled_from(["fcfs", "easy", "conservative"]), seed=st.integers(0, 5))
def test_the_parts_are_the_whole_whatever_is_simulated(jobs, policy, seed):
    jobs.sort(key=lambda job: job[0])
    submit, nodes, run, limit, kind = zip(*jobs, strict=True)
    workload = Workload.from_columns(
        submit_time=list(submit), nodes=list(nodes), run_time=list(run), time_limit=list(limit),
        app=[("", "a", "b", "c", "")[one] for one in kind],
        reference_power_w=[(-1, -1, -1, -1, 77)[one] for one in kind],
        partition=["A" if i % 3 else "B,A" for i in range(len(jobs))],
    )  # fmt: skip
    system = System.from_dict({"modules": [{"name": "A", "nodes": 4}, {"name": "B", "nodes": 2}]})
    models = power(A=(10.0004, 100), B=(7, 70.123))
    models["energy"]["signatures"] = {
        "workload": ["a", "b"], "frequency_khz": [2_000_000] * 2, "power_w": [33.3333, 44.4]
    }  # fmt: skip
    result = simulate(system, workload, policy, models=models, seed=seed)
    result.check()
    without = simulate(system, workload, policy, seed=seed)
    counted = ["time", "module", "nodes_busy", "nodes_down", "queue_components", "queue_nodes"]
    for module in ("A", "B", "total"):
        ours, theirs = (
            one.timeline[one.timeline["module"] == module][counted].reset_index(drop=True)
            for one in (result, without)
        )
        values = ours[counted[2:]]
        changes = (values != values.shift()).any(axis=1) & ((values != 0).any(axis=1) | (ours.index > 0))
        theirs = theirs[(theirs[counted[2:]] != 0).any(axis=1) | (theirs.index > 0)].reset_index(drop=True)
        pd.testing.assert_frame_equal(ours[changes].reset_index(drop=True), theirs)
