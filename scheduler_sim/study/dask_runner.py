"""Carrying out a study on Dask: many machines, the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from scheduler_sim.config.keys import Keys, check_keys
from scheduler_sim.config.value import Name, PositiveCount, Text
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.study.carry import Batch, Done, Runner, after_loss, carry_out

if TYPE_CHECKING:
    from distributed import Client

WAIT_S = 60
"""How long to wait for a scheduler, and for the first worker."""


class ClusterKeys(Keys):
    """A cluster of Dask workers that are Slurm jobs."""

    jobs: PositiveCount = Field(description="Slurm jobs to start")
    cores: PositiveCount = Field(description="cores of each")
    processes: PositiveCount = Field(default=1, description="workers in each")
    memory: Text = Field(description="memory of each, as 16GB")
    walltime: Text = Field(default="01:00:00", description="time limit of each")
    queue: Name | None = Field(default=None, description="partition")
    account: Name | None = Field(default=None, description="account")
    interface: Name | None = Field(default=None, description="network interface, as ib0")


def on_dask(where: str) -> Runner:
    """Return a runner on the Dask scheduler at an address, or on the cluster that a YAML file describes.

    The study's directory must be on a file system that all workers share. A worker that is
    lost loses the runs it was at; Dask gives them to others.
    """

    def runner(directory: str, work: Sequence[Batch]) -> Iterator[Done]:
        attempts: dict[str, int] = {}
        with client_of(where) as client:
            from distributed import as_completed
            from distributed.scheduler import KilledWorker

            batch_of = {_submitted(client, directory, batch): batch for batch in work}
            running = as_completed(list(batch_of))
            for future in running:
                batch = batch_of.pop(future)
                try:
                    yield from future.result()
                except KilledWorker:
                    again, lost = after_loss(directory, batch, attempts)
                    yield from lost
                    for one in again:
                        retried = _submitted(client, directory, one)
                        batch_of[retried] = one
                        running.add(retried)
                future.release()

    return runner


def _submitted(client: Client, directory: str, batch: Batch) -> Any:
    return client.submit(carry_out, directory, batch, pure=False)


@contextmanager
def client_of(where: str) -> Iterator[Client]:
    """Connect to a scheduler, or start a cluster for as long as the study takes."""
    if where.lower().endswith((".yaml", ".yml")):
        with _slurm_cluster(where) as cluster, _connected(cluster, where) as client:
            yield client
    else:
        with _connected(where, where) as client:
            yield client


def _connected(scheduler: Any, where: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--dask needs the package distributed: pip install 'scheduler-sim[dask]'") from None
    try:
        return Client(scheduler, timeout=WAIT_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise SchedulerSimError(f"--dask {where}: no Dask scheduler answers: {error}") from error


@contextmanager
def _slurm_cluster(path: str) -> Iterator[Any]:
    file = read_yaml(Path(path))
    keys, problems = check_keys(ClusterKeys, file.data)
    if keys is None or problems:
        raise file.error(problems)
    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError:
        raise InputError("a cluster in YAML needs dask-jobqueue: pip install 'scheduler-sim[dask]'") from None
    given = keys.model_dump(exclude={"jobs"}, exclude_none=True)
    with SLURMCluster(**given) as cluster:
        cluster.adapt(minimum_jobs=keys.jobs, maximum_jobs=keys.jobs)  # so that lost ones are replaced
        yield cluster
