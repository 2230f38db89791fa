"""Carrying out the runs of a study, wherever a runner puts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.remarks import heard
from scheduler_sim.study.run import Run
from scheduler_sim.study.store import Store

MOST_ATTEMPTS = 3
"""A run that takes its worker down so often is given up."""


class Done(NamedTuple):
    """What became of a run: ``error`` is empty if its result is in the store; ``remarks``: its warnings."""

    run_id: str
    error: str = ""
    remarks: tuple[str, ...] = ()


Batch = tuple[Run, ...]
Runner = Callable[[str, Sequence[Batch]], Iterator[Done]]
"""Carries out batches of runs into the store of a directory, and yields what became of each run."""


def carry_out(directory: str, batch: Batch) -> list[Done]:
    """Carry out runs that share a workload, one after the other, each kept as soon as it is done."""
    store = Store(directory)
    ended = []
    for run in batch:
        remarks: list[str] = []
        with heard(remarks.append):
            done = _one(store, run)
        ended.append(done._replace(remarks=tuple(remarks)))
    return ended


def _one(store: Store, run: Run) -> Done:
    try:
        if store.is_finished(run.id):  # by a worker that was lost, or measured otherwise
            store.measure(run, None)
        else:
            result = run.carry_out()
            store.keep(run, result)
            store.measure(run, result)
    except SchedulerSimError as error:
        if store.is_done(run):  # a worker of an interrupted study came first
            return Done(run.id)
        return Done(run.id, str(error))
    except MemoryError:
        return Done(run.id, "out of memory")
    except Exception as error:
        return Done(run.id, f"internal error, please report it: {type(error).__name__}: {error}")
    return Done(run.id)


def batches(runs: Sequence[Run], largest: int) -> list[Batch]:
    """Put neighbouring runs with the same workload together, at most ``largest`` of them."""
    grouped: list[list[Run]] = []
    for run in runs:
        last = grouped[-1] if grouped else []
        if last and last[0].workload_id == run.workload_id and len(last) < largest:
            last.append(run)
        else:
            grouped.append([run])
    return [tuple(batch) for batch in grouped]


def here(directory: str, work: Sequence[Batch]) -> Iterator[Done]:
    """Carry everything out in this process."""
    for batch in work:
        for run in batch:
            yield from carry_out(directory, (run,))


def after_loss(directory: str, batch: Batch, attempts: dict[str, int]) -> tuple[list[Batch], list[Done]]:
    """After a worker was lost: what to try again, each run alone, and what is done or given up."""
    store = Store(directory)
    again: list[Batch] = []
    ended: list[Done] = []
    for run in batch:
        if store.is_done(run):
            ended.append(Done(run.id))
            continue
        attempts[run.id] = attempts.get(run.id, 0) + 1
        if attempts[run.id] < MOST_ATTEMPTS:
            again.append((run,))
        else:
            ended.append(Done(run.id, f"its worker was lost {MOST_ATTEMPTS} times"))
    return again, ended
