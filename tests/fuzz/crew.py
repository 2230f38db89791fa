"""Workers that carry out cases, each with limits on memory and time; one that is lost is told and replaced."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.judge import Finding

MEMORY = 3_000_000_000
"""Bytes of address space that a worker may take beside what it has when it begins."""

PATIENCE_S = 300
"""A worker that says nothing for so long is taken for lost: the alarm of a case is 20 s of processor time."""

CHUNK = 200
SPAWN = get_context("spawn")


class Found(NamedTuple):
    """A finding, or what else a worker answers of a case, and the number of the case."""

    number: int
    finding: Any


def carry_out(
    seed: int, numbers: Sequence[int], workers: int, work: Callable[[int, Connection], None] | None = None
) -> Iterator[tuple[int, Found | None]]:
    """Yield how many cases were done since the last time, with a finding if there is one.

    Parameters
    ----------
    work : what a worker does with the numbers that come through its pipe, by default the cases of this package
    """
    work = work or work_on_inputs
    todo = [numbers[at : at + CHUNK] for at in range(0, len(numbers), CHUNK)][::-1]
    crew = [_Worker(seed, work) for _ in range(min(workers, len(todo)))]
    try:
        while True:
            for worker in crew:
                if not worker.left and todo:
                    worker.take(todo.pop())
            busy = {worker.pipe: worker for worker in crew if worker.left}
            if not busy:
                return
            ready = wait(list(busy), timeout=1)
            for worker in list(busy.values()):
                if worker.pipe in ready:
                    with suppress(EOFError, OSError):
                        number, finding = worker.pipe.recv()
                        done = worker.done(number)
                        yield done, None if finding is None else Found(number, finding)
                        continue
                elif worker.is_heard():
                    continue
                lost, rest = worker.lost()
                yield 1, Found(lost, Finding("worker lost", f"exit code {worker.process.exitcode}"))
                crew[crew.index(worker)] = _Worker(seed, work)
                if rest:
                    todo.append(rest)
    finally:
        for worker in crew:
            worker.process.kill()
            worker.process.join()


class _Worker:
    """A process, and the numbers it has yet to do."""

    def __init__(self, seed: int, work: Callable[[int, Connection], None]) -> None:
        self.pipe, inner = SPAWN.Pipe()
        self.process: Any = SPAWN.Process(target=work, args=(seed, inner), daemon=True)
        self.process.start()
        inner.close()
        self.left: list[int] = []
        self.since = time.monotonic()
        self.is_ready = False  # before its first answer it may have the engine to compile

    def take(self, numbers: Sequence[int]) -> None:
        self.left, self.since = list(numbers), time.monotonic()
        with suppress(OSError):
            self.pipe.send(list(numbers))

    def done(self, number: int) -> int:
        """Take off the numbers up to one; return how many."""
        self.since, self.is_ready = time.monotonic(), True
        count = self.left.index(number) + 1
        del self.left[:count]
        return count

    def is_heard(self) -> bool:
        waited = time.monotonic() - self.since
        return self.process.is_alive() and (not self.is_ready or waited < PATIENCE_S)

    def lost(self) -> tuple[int, list[int]]:
        """Return the case at which it was lost, and what it has not begun."""
        self.process.kill()
        self.process.join()
        return self.left[0], self.left[1:]


def work_on_inputs(seed: int, pipe: Connection) -> None:
    """Carry out the cases that come through a pipe; answer for each, or for the last of some quick ones."""
    from tests.fuzz.cases import case
    from tests.fuzz.judge import judged

    prepare()
    with suppress(EOFError, OSError):
        while True:
            for number in pipe.recv():
                folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
                try:
                    pipe.send((number, judged(case(seed, number), folder)))
                finally:
                    shutil.rmtree(folder, ignore_errors=True)


def prepare() -> None:
    """Make results to tamper with, which also compiles the engine; then limit memory, and watch the paths."""
    from tests.fuzz.confine import watch
    from tests.fuzz.tampering import results

    os.environ["SCHEDULER_SIM_DEBUG"] = "1"  # errors with their traceback
    sys.dont_write_bytecode = True  # of what a case is the first to import
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="numba.*")
    results()
    platform.platform()  # asks another process once
    __import__("matplotlib.pyplot")  # makes a directory for its fonts
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    watch()
