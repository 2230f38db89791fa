"""A Dask cluster described in YAML: the Slurm job that is made of it, and mistakes in it."""

from __future__ import annotations

import pytest

from scheduler_sim.errors import ConfigError, SchedulerSimError
from scheduler_sim.study import dask_runner
from scheduler_sim.study.dask_runner import on_dask

jobqueue = pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")

CLUSTER = """\
jobs: 3
cores: 8
processes: 4
memory: 16GB
walltime: "00:30:00"
queue: batch
"""


def test_a_cluster_in_yaml_is_so_many_slurm_jobs(tmp_path, monkeypatch):
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER)
    asked = []
    monkeypatch.setattr(jobqueue.SLURMCluster, "adapt", lambda cluster, **jobs: asked.append(jobs))
    with dask_runner._slurm_cluster(str(path)) as cluster:
        script = cluster.job_script()
    assert asked == [{"minimum_jobs": 3, "maximum_jobs": 3}]
    for line in ("-p batch", "-t 00:30:00", "--cpus-per-task=8", "--mem=15G"):
        assert f"#SBATCH {line}" in script
    assert "--nworkers 4" in script


def test_mistakes_in_a_cluster_are_told(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text("jobs: 0\ncores: 8\nmemory: 16GB\nnodes: 4\n")
    with pytest.raises(ConfigError) as raised:
        list(on_dask(str(path))(str(tmp_path), []))
    assert "cluster.yaml:1: jobs: found 0" in str(raised.value)
    assert "cluster.yaml:4: nodes: unknown key" in str(raised.value)


def test_a_scheduler_that_does_not_answer_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_runner, "WAIT_S", 1)
    with pytest.raises(SchedulerSimError, match="no Dask scheduler answers"):
        list(on_dask("tcp://127.0.0.1:9")(str(tmp_path), []))
