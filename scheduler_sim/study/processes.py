"""Carrying out a study on processes of this machine.

Each worker has a pipe of its own, so that it is known which runs a lost one was at: pools of the
standard library and around it give up all that is under way, or break, when a worker is killed.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from scheduler_sim.study.carry import Batch, Done, Runner, after_loss, carried_out

SPAWN = get_context("spawn")
"""New interpreters: what the parent has open, running or locked does not come along."""


def local(workers: int) -> Runner:
    """Return a runner on so many processes; one that is lost is replaced, its runs tried again."""

    def runner(directory: str, work: Sequence[Batch]) -> Iterator[Done]:
        attempts: dict[str, int] = {}
        queue = list(reversed(work))
        pool: list[_Worker] = []
        try:
            while queue or pool:
                while queue and len(pool) < workers:
                    pool.append(_Worker(directory))
                for worker in pool:
                    if worker.batch is None and queue:
                        worker.take(queue.pop())
                busy = [worker for worker in pool if worker.batch is not None]
                for idle in [worker for worker in pool if worker.batch is None]:
                    pool.remove(idle)  # nothing is left for it
                    idle.dismiss()
                ready = wait([worker.pipe for worker in busy]) if busy else []
                for worker in [worker for worker in busy if worker.pipe in ready]:
                    batch = worker.batch or Batch(())
                    done = worker.result()
                    if done is None:
                        pool.remove(worker)
                        worker.dismiss()
                        again, done = after_loss(directory, batch, attempts)
                        queue += again
                    yield from done
        finally:
            for worker in pool:
                worker.process.kill()
                worker.process.join()

    return runner


class _Worker:
    """A process that carries out one batch after the other."""

    def __init__(self, directory: str) -> None:
        self.pipe, inner = SPAWN.Pipe()
        self.batch: Batch | None = None
        self.process: Any = SPAWN.Process(target=_work, args=(directory, inner), daemon=True)
        self.process.start()
        inner.close()  # so that its death ends the pipe

    def take(self, batch: Batch) -> None:
        """Give it something to do; a worker that is dead already shows when its result is due."""
        self.batch = batch
        with suppress(OSError):
            self.pipe.send(batch)

    def result(self) -> list[Done] | None:
        """Return what it has done, None if it was lost."""
        try:
            done: list[Done] = self.pipe.recv()
        except (EOFError, OSError):
            return None
        self.batch = None
        return done

    def dismiss(self) -> None:
        """Let it end: it does when its pipe does."""
        self.pipe.close()
        self.process.join()


def _work(directory: str, pipe: Connection) -> None:
    """Carry out batches until the other end is closed, or its process gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that gives out the work
    parent = parent_process()

    def goes_on() -> bool:
        return parent is None or parent.is_alive()

    with suppress(EOFError, OSError):
        while goes_on():
            pipe.send(list(carried_out(directory, pipe.recv(), goes_on)))
