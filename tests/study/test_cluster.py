"""A Dask cluster described in YAML: the Slurm job that is made of it, and mistakes in it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import pytest

from scheduler_sim.errors import ConfigError, SchedulerSimError
from scheduler_sim.study import dask_runner
from scheduler_sim.study.carry import Batch
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


@pytest.fixture
def scheduler():
    """A Dask scheduler in a process of its own, and its address; it has no workers."""
    pytest.importorskip("distributed", reason="Dask is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--no-dashboard",
        "--host",
        "127.0.0.1",
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*command, "--port", str(port)], **quiet) as process:
        yield process, f"tcp://127.0.0.1:{port}"
        process.kill()


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_scheduler_that_is_lost_says_what_is_kept(scheduler, how, monkeypatch, tmp_path, capfd):
    process, address = scheduler
    warned = []

    def lose(text, *_, **__):
        warned.append(text)
        process.send_signal(how)

    monkeypatch.setattr(dask_runner, "ASK_S", 0.2)
    monkeypatch.setattr(dask_runner.warnings, "warn", lose)
    monkeypatch.setattr(dask_runner, "WAIT_S", 10)
    with pytest.raises(SchedulerSimError) as raised:
        list(on_dask(address)(str(tmp_path), [Batch(())]))
    assert warned == [f"--dask {address}: it has no workers; waiting for one"]
    assert str(raised.value) == (
        f"--dask {address}: the Dask scheduler is lost, or does not answer; 0 of 0 runs were finished and are"
        f" kept in {tmp_path}, except those of unfinished packs; the same command continues there"
    )
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.long
def test_a_scheduler_that_never_answers(monkeypatch, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr(dask_runner, "WAIT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(SchedulerSimError, match="no Dask scheduler answers"):
            list(on_dask(address)(str(tmp_path), []))
