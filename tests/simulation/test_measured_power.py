"""Jobs that draw what was measured of them: by hand, whatever was measured, and what goes with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Result, Simulation, System, Workload, read_trace, simulate, write_trace
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.workload.as_ran import as_ran
from tests.conftest import ROOT, examples

from .acting import at, trace
from .test_energy import drawn, plain

pytestmark = pytest.mark.interpreted

MEASURED = plain(jobs="measured")
CLUSTER = System.homogeneous(4)


def test_a_schedule_by_hand():
    """2 nodes of 151.5 W, 1 as is typical (100 W), and 3 of a job that drew 900 W on 2: 1350 W."""
    jobs = trace(
        *((0, 2, 10), (0, 1, 5), (2, 3, 4)), measured_power_w=[303.0, -1, 900], allocated_nodes=[2, -1, 2]
    )
    result = simulate(CLUSTER, jobs, models=MEASURED)
    result.check()
    assert result.components["power_w"].tolist() == [303, 100, 1350]
    assert result.components["energy_j"].tolist() == [3030, 500, 5400]
    assert drawn(result) == {0: 413, 2: 413, 5: 323, 10: 1360, 14: 40}
    found = result.metrics["energy"]
    assert found["components_j"] == found["job_j"] == 8930
    assert result.manifest["energy"]["power_from"] == {"typical": 1, "measured": 2}
    assert found["power_from"]["measured"] == {"components": 2, "node_seconds": 32, "share": 0.864865}
    untold = simulate(CLUSTER, jobs, models=plain())
    assert untold.components["power_w"].tolist() == [200, 100, 300]


@given(st.data())
@examples(25)
def test_a_job_takes_its_power_times_its_time_and_all_jobs_together_their_sum(data):
    count = data.draw(st.integers(1, 8))

    def numbers(least, most):
        return data.draw(st.lists(st.integers(least, most), min_size=count, max_size=count))

    milliwatts, nodes, run = numbers(-1, 3_000_000), numbers(1, 4), numbers(0, 50)
    jobs = Workload.from_columns(
        submit_time=numbers(0, 30), nodes=nodes, run_time=run,
        measured_power_w=[-1.0 if one <= 0 else one / 1000 for one in milliwatts],
    )  # fmt: skip
    if max(milliwatts) <= 0:
        with pytest.raises(InputError, match="no job of the trace has a measured_power_w"):
            simulate(CLUSTER, jobs, models=MEASURED)
        return
    result = simulate(CLUSTER, jobs, models=MEASURED)
    result.check()
    each = [(one if one > 0 else 100_000 * n) * s for one, n, s in zip(milliwatts, nodes, run, strict=True)]
    assert np.rint(result.components["energy_j"] * 1000).astype(int).tolist() == each
    assert result.metrics["energy"]["job_j"] == pytest.approx(sum(each) / 1000)
    started = [job.start_time for job in result.components.itertuples()]
    assert started == [job.start_time for job in simulate(CLUSTER, jobs).components.itertuples()]


def test_what_was_lost_drew_it_too():
    sim = Simulation(CLUSTER, trace((0, 2, 10), measured_power_w=[500.0]), models=MEASURED)
    at(sim, 4, lambda: sim.requeue(1))
    result = sim.run()
    result.check()
    assert result.metrics["energy"]["job_j"] == 14 * 500
    assert result.metrics["lost"]["energy_j"] == 4 * 500


def test_what_is_submitted_may_say_what_it_draws():
    sim = Simulation(CLUSTER, models=MEASURED)
    at(sim, 3, lambda: sim.submit(nodes=2, run_time=10, time_limit=10, measured_power_w=77.5))
    result = sim.run()
    result.check()
    assert result.components["power_w"].tolist() == [77.5]


def test_a_job_with_a_part_of_a_node_draws_what_it_drew():
    system = System.from_dict(
        {"modules": [{"name": "cluster", "nodes": 2, "shared": True, "cores_per_node": 4}]}
    )
    jobs = trace((0, 1, 10), (0, 1, 10), cores=[2.0, 1.0], measured_power_w=[33.0, -1])
    result = simulate(system, jobs, models=MEASURED)
    result.check()
    assert result.components["power_w"].tolist() == [33, 25]


def test_a_power_cap_knows_what_was_measured():
    """400 W for all: idle nodes draw 40 W; two jobs that drew 250 W have no room beside each other."""
    jobs = trace((0, 1, 10), (0, 1, 10), (0, 1, 10), measured_power_w=[250.0, 250.0, -1])
    result = simulate(CLUSTER, jobs, "fcfs", models=plain(jobs="measured", cap={"power_w": 400}))
    result.check()
    assert result.components["start_time"].tolist() == [0, 10, 10]
    assert result.metrics["energy"]["above_cap_s"] == 0
    free = simulate(CLUSTER, jobs, "fcfs", models=plain(cap={"power_w": 400}))
    assert free.components["start_time"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"choice": {"objective": "min_energy"}}, "choice"),
        ({"cap": {"power_w": 1000, "pstates": 2}}, "cap.pstates above 1"),
    ],
)
def test_other_clocks_are_refused(more, where):
    with pytest.raises(ConfigError, match=f"found measured beside energy.{where}"):
        simulate(CLUSTER, trace((0, 1, 1), measured_power_w=[1.0]), models=plain(jobs="measured", **more))


def test_a_run_is_replayed_as_it_ran(tmp_path):
    """What a run drew, in MWF in whole W, is drawn again under models that would say otherwise."""
    jobs = trace((0, 2, 10), (0, 1, 5), (2, 3, 4), reference_power_w=[150, -1, 333])
    first = simulate(CLUSTER, jobs, models=plain())
    done = as_ran(jobs, first.components)
    for suffix in ("parquet", "csv", "mwf"):
        write_trace(done, tmp_path / f"done.{suffix}")
        back = read_trace(tmp_path / f"done.{suffix}")
        assert back["measured_power_w"].tolist() == [300, 100, 999]
        again = simulate(CLUSTER, back.replace(reference_power_w=-1), models=MEASURED)
        assert again.components["energy_j"].tolist() == first.components["energy_j"].tolist()
    halves = done.replace(measured_power_w=[300.25, -1, -1])
    assert "measured_power_w: MWF has whole W; 1 values rounded" in write_trace(halves, tmp_path / "half.mwf")
    back = read_trace(tmp_path / "half.mwf")
    assert back["measured_power_w"].tolist() == [300, -1, -1]


def test_a_trace_with_measured_power_from_file_to_result(tmp_path):
    """Marconi100's layout: the energy of a job is the mean of its series over its run time."""
    jobs = read_trace(ROOT / "workloads" / "sources" / "pm100.parquet", "pm100").select(range(20))
    node = {"name": "M100", "idle_w": 500, "typical_w": 1200, "peak_w": 2200, "reference_khz": 3_800_000}
    node["pstates"] = {"lowest_khz": 3_800_000, "highest_khz": 3_800_000}
    models = {"energy": {"power": {"modules": [node]}, "jobs": "measured"}}
    result = simulate(ROOT / "configs" / "systems" / "marconi100.yaml", jobs, models=models)
    result.check()
    expected = np.rint(jobs["measured_power_w"] * 1000) * jobs["run_time"] / 1000
    assert result.components["energy_j"].tolist() == pytest.approx(expected.tolist())
    loaded = Result.load(result.save(tmp_path / "result"))
    loaded.check()
    assert loaded.metrics["energy"]["power_from"]["measured"]["components"] == 20


LEARNT = {
    "user": ["", "ada", "ada"],
    "application": ["", "", "cfd"],
    "nodes": [0, 0, 0],
    "power_w": [200, 300, 350.5],
    "jobs": [9, 5, 2],
}


def test_what_was_learnt_by_hand(tmp_path):
    """Best first: measured, a signature, what the trace states, what was learnt."""
    jobs = trace(
        *[(0, 1, 10)] * 6,
        user=["ada", "ada", "eve", "ada", "ada", "ada"],
        app=["cfd", "x", "x", "s", "cfd", "cfd"],
        reference_power_w=[-1, -1, -1, -1, 120, 120],
        measured_power_w=[-1, -1, -1, -1, -1, 77.0],
    )
    signatures = {"workload": ["s"], "frequency_khz": [2_000_000], "power_w": [99]}
    models = plain(jobs="measured", learnt=LEARNT, signatures=signatures)
    result = simulate(System.homogeneous(6), jobs, models=models)
    result.check()
    assert result.components["power_w"].tolist() == [350.5, 300, 200, 99, 120, 77]
    told = result.manifest["energy"]
    assert told["power_from"] == {"signature": 1, "reference power": 1, "learnt": 3, "measured": 1}
    assert told["learnt_from"] == {"application": 1, "user": 1, "all": 1}
    assert told["without_signature"] == {"cfd": 20, "x": 20}


def test_it_may_stand_in_a_file_which_the_result_then_needs_no_more(tmp_path):
    (tmp_path / "learnt.csv").write_text("user,application,nodes,power_w,jobs\n,,,200,9\nada,,,300,5\n")
    (tmp_path / "models.yaml").write_text(
        "energy:\n  learnt: learnt.csv\n  power: {modules: [{name: cluster, idle_w: 10, typical_w: 100,"
        " peak_w: 250, reference_khz: 2, pstates_khz: [2]}]}\n"
    )
    jobs = trace((0, 1, 10), (0, 1, 10), user=["ada", "bob"])
    result = simulate(CLUSTER, jobs, models=tmp_path / "models.yaml")
    assert result.components["power_w"].tolist() == [250, 200], "never above the peak"
    assert result.manifest["models"]["energy"]["learnt"]["power_w"] == [200, 300]
    (tmp_path / "learnt.csv").write_text("user,application,nodes,power_w,jobs\n,,,nothing,9\n")
    with pytest.raises(InputError, match=r"learnt\.csv:2: .*field power_w"):
        simulate(CLUSTER, jobs, models=tmp_path / "models.yaml")
