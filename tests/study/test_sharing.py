"""Studies of nodes that jobs share: what was used and stranded of them, and slices by GPUs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import Result, Workload, write_trace
from scheduler_sim.study.conduct import conduct
from tests.study.studies import run_of, small

JOBS = 400
MODULE = {"name": "G", "nodes": 4, "shared": True, "cores_per_node": 8, "gpus_per_node": 2}
FRAGMENTATION, USE = "sharing_gpu_fragmentation_G", "sharing_gpu_utilization_total"


@pytest.fixture(scope="module")
def conducted(tmp_path_factory):
    """Runs of a trace under two policies, compared by blocks of time."""
    folder = tmp_path_factory.mktemp("sharing")
    draw = np.random.default_rng(5)
    jobs = Workload.from_columns(
        nodes=1,
        submit_time=np.arange(JOBS) * 10,
        run_time=draw.integers(5, 120, JOBS),
        cores=draw.integers(1, 9, JOBS),
        gpus=draw.integers(0, 3, JOBS),
    )
    write_trace(jobs, folder / "trace.parquet")
    study = small(
        systems={"shared": {"modules": [MODULE]}},
        workloads=[str(folder / "trace.parquet")],
        seeds=1,
        baseline={"policy": "easy"},
        metrics=[FRAGMENTATION, USE],
        slices=["gpus"],
    )
    return folder / "study", conduct(study, folder / "study")


def test_the_index_and_the_comparison_have_the_shares(conducted):
    directory, found = conducted
    index = pd.read_parquet(directory / "index.parquet")
    for run_id, share in zip(index["id"], index[FRAGMENTATION], strict=True):
        told = Result.load(run_of(directory, run_id)).metrics["sharing"]["gpu_fragmentation"]
        assert share == told["G"] > 0
    assert found.comparison["metric"].tolist() == [FRAGMENTATION, USE]
    assert (found.comparison["pairs"] >= 8).all()  # blocks of time have the shares, too


def test_slices_by_gpus(conducted):
    directory, _ = conducted
    slices = pd.read_parquet(directory / "slices.parquet")
    assert set(slices["by"]) == {"gpus"}
    assert set(slices["slice"]) == {"none", "1", "2–4"}
    assert slices["jobs"].sum() == 2 * JOBS
