"""From traces to points and profiles."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.errors import InputError
from scheduler_sim.messages.network import read_network
from scheduler_sim.messages.outcome import outcome
from scheduler_sim.messages.patterns import stencil
from scheduler_sim.messages.profile import points, points_text, profile
from scheduler_sim.scaling.fitting import read_points
from scheduler_sim.scaling.profile import Reference
from scheduler_sim.scaling.profile_file import profile_text, read_profile
from tests.conftest import ROOT

CLUSTER = read_network(ROOT / "configs" / "networks" / "cluster.yaml")


@pytest.fixture(scope="module")
def runs():
    return [outcome(stencil(p, 2), CLUSTER) for p in (4, 8, 16, 32, 64)]


def test_one_trace_gives_its_factors(runs, tmp_path):
    learnt = profile(runs[2:3], "stencil", scaling="strong")
    path = tmp_path / "stencil.yaml"
    path.write_text(profile_text(learnt.profile))
    again = read_profile(path)
    assert again.efficiency(4, "CLUSTER") == pytest.approx(float(runs[2].efficiency.parallel), rel=1e-9)
    assert again.ranks_per_node == 4
    assert again.provenance.source == "replay of message traces on cluster"


def test_several_traces_give_points_that_fit_reads(runs, tmp_path):
    table = points(runs, scaling="strong")
    path = tmp_path / "points.csv"
    path.write_text(points_text(table))
    read = read_points(path)
    assert list(read.efficiencies) == ["load_balance", "serialization", "transfer", "computation"]
    for name, series in table.efficiencies.items():
        assert np.allclose(read.efficiencies[name].values, series.values, atol=1e-9)
    assert table.efficiencies["computation"].values[0] == 1
    assert (np.diff(table.efficiencies["computation"].values) < 0).all()  # a hundredth does not shrink


def test_the_profile_predicts_run_times_that_were_replayed(runs):
    learnt = profile(runs, "stencil", scaling="strong").profile
    known = Reference(runs[0].efficiency.run_time / 1e12, 1, "CLUSTER")
    predicted = learnt.run_times([1, 2, 4, 8, 16], "CLUSTER", known)
    replayed = [run.efficiency.run_time / 1e12 for run in runs]
    assert np.allclose(predicted, replayed, rtol=0.1)


def test_weak_scaling_compares_the_work_of_a_process(runs):
    work = points(runs[:2], scaling="weak").efficiencies["computation"].values
    strong = points(runs[:2], scaling="strong").efficiencies["computation"].values
    assert work[1] == pytest.approx(2 * strong[1])


def test_what_gives_no_points(runs, table):
    with pytest.raises(InputError, match="one for each number"):
        points([runs[0], runs[0]], scaling="strong")
    idle = outcome(table("0 barrier", "1 barrier"), CLUSTER)
    with pytest.raises(InputError, match="without computation"):
        points([idle, runs[0]], scaling="strong")
    prototype = read_network(ROOT / "configs" / "networks" / "deep-est-prototype.yaml")
    from dataclasses import replace

    over = outcome(stencil(4, 1), replace(prototype, mapping=(0, 1, 50, 51)))
    with pytest.raises(InputError, match="on CM and DAM; allowed: on one module"):
        profile([over], "x", scaling="strong")
