"""Where draws are carried out: here, on processes of this machine, or on Dask; the same draws anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from scheduler_sim.errors import SchedulerSimError

Task = Callable[[Any], Any]
Mapped = Callable[[Task, Sequence[Any]], Iterator[Any]]
"""Carries out a task for each piece of work, and yields what it returns in their order."""

_TASK: list[Task] = []
"""What a process of this machine was given to do, once: it may hold much."""


def here(task: Task, pieces: Sequence[Any]) -> Iterator[Any]:
    """Carry out all of it in this process."""
    yield from map(task, pieces)


def local(workers: int) -> Mapped:
    """Return what carries it out on so many processes of this machine."""

    def mapped(task: Task, pieces: Sequence[Any]) -> Iterator[Any]:
        with ProcessPoolExecutor(
            min(workers, len(pieces)), get_context("spawn"), initializer=_receive, initargs=(task,)
        ) as pool:
            try:
                yield from pool.map(_carried_out, pieces)
            except BrokenProcessPool:
                raise SchedulerSimError("a worker process was lost; try fewer workers") from None

    return mapped


def on_dask(where: str) -> Mapped:
    """Return what carries it out on Dask: a scheduler's address, or a YAML file of a cluster."""

    def mapped(task: Task, pieces: Sequence[Any]) -> Iterator[Any]:
        from scheduler_sim.study.dask_runner import client_of

        with client_of(where) as client:
            from distributed.scheduler import KilledWorker

            given = client.submit(_itself, task, pure=False)  # which goes to the cluster once
            futures = [client.submit(_called, given, piece, pure=False) for piece in pieces]
            try:
                for future in futures:
                    yield future.result()
            except KilledWorker:
                raise SchedulerSimError(f"--dask {where}: a worker was lost") from None

    return mapped


def _receive(task: Task) -> None:
    _TASK.append(task)


def _carried_out(piece: Any) -> Any:
    return _TASK[0](piece)


def _itself(task: Task) -> Task:
    return task


def _called(task: Task, piece: Any) -> Any:
    return task(piece)
