"""Carrying out a study on Dask: many machines, the same bytes."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, cast

from pydantic import Field

from scheduler_sim.config.keys import Keys, check_keys
from scheduler_sim.config.value import Name, PositiveCount, Text
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.study.carry import Batch, Done, Runner, after_loss, carry_out

if TYPE_CHECKING:
    from distributed import Client

WAIT_S = 60
"""How long to wait for an answer of a scheduler."""

ASK_S = 20
"""So often the scheduler is asked whether it is still there, while nothing ends."""

POLL_S = 0.05


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
        finished = 0
        with client_of(where) as client:
            from distributed import as_completed
            from distributed.client import FutureCancelledError
            from distributed.scheduler import KilledWorker

            batch_of = {_submitted(client, directory, batch): batch for batch in work}
            running = as_completed(list(batch_of))
            try:
                for future in _as_they_end(running, client, where):
                    batch = batch_of.pop(future)
                    again: list[Batch] = []
                    try:
                        ended = future.result(timeout=WAIT_S)
                    except KilledWorker:
                        again, ended = after_loss(directory, batch, attempts)
                    yield from ended
                    finished += len(ended)
                    for one in again:
                        retried = _submitted(client, directory, one)
                        batch_of[retried] = one
                        running.add(retried)
                    future.release()
            except (FutureCancelledError, OSError, TimeoutError) as error:
                _say_no_more()
                runs = sum(len(batch.runs) for batch in work)
                raise SchedulerSimError(
                    f"--dask {where}: the Dask scheduler is lost, or does not answer; {finished} of {runs}"
                    f" runs were finished and are kept in {directory}, except those of unfinished packs;"
                    " the same command continues there"
                ) from error

    return runner


def _as_they_end(running: Any, client: Client, where: str) -> Iterator[Any]:
    """Yield futures as they end; ask the scheduler now and then whether it is there, and has workers.

    Raises OSError or TimeoutError if it does not answer.
    """
    asked, lonely = monotonic(), False
    while not running.is_empty():
        if running.has_ready():
            yield next(running)
            continue
        sleep(POLL_S)
        if monotonic() - asked > ASK_S:
            known = client.sync(cast(Any, client.scheduler).identity, callback_timeout=WAIT_S)
            asked = monotonic()
            if not known["workers"] and not lonely:
                lonely = True
                warnings.warn(
                    f"--dask {where}: it has no workers; waiting for one", UserWarning, stacklevel=2
                )


def _say_no_more() -> None:
    """Have Dask not log, with tracebacks, that it cannot close what it has lost."""
    logging.getLogger("distributed").disabled = True
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("distributed."):
            logging.getLogger(name).disabled = True


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
        raise InputError(
            "--dask needs distributed, which is not installed: pip install 'scheduler-sim[dask]'"
        ) from None
    answers: list[Client | Exception] = []

    def connect() -> None:
        try:
            answers.append(Client(scheduler, timeout=WAIT_S))
        except Exception as error:
            answers.append(error)

    asking = Thread(
        target=connect, daemon=True
    )  # where somebody listens and says nothing it never comes back
    asking.start()
    asking.join(2 * WAIT_S)
    answer = answers[0] if answers else TimeoutError("it accepts connections, and says nothing")
    if isinstance(answer, OSError | TimeoutError | ValueError):
        raise SchedulerSimError(f"--dask {where}: no Dask scheduler answers: {answer}") from answer
    if isinstance(answer, Exception):
        raise answer
    return answer


@contextmanager
def _slurm_cluster(path: str) -> Iterator[Any]:
    file = read_yaml(Path(path))
    keys, problems = check_keys(ClusterKeys, file.data)
    if keys is None or problems:
        raise file.error(problems)
    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError:
        raise InputError(
            "a cluster in YAML needs dask-jobqueue, which is not installed: pip install 'scheduler-sim[dask]'"
        ) from None
    given = keys.model_dump(exclude={"jobs"}, exclude_none=True)
    with SLURMCluster(**given) as cluster:
        cluster.adapt(minimum_jobs=keys.jobs, maximum_jobs=keys.jobs)  # so that lost ones are replaced
        yield cluster
