"""Carrying out the runs of a study, wherever a runner puts them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.remarks import heard
from scheduler_sim.study.packs import FULL, Filling
from scheduler_sim.study.run import Run
from scheduler_sim.study.store import Store

MOST_ATTEMPTS = 3
"""A batch that takes its worker down so often is cut into single runs; a single run is given up."""

SHARING = 8
"""So many runs with the same workload are a batch, however few there are in all."""

PARTS, LARGEST = 64, 64
"""Small runs are put together to more, as long as that leaves so many batches to share out, and no batch
is larger than this or than a pack."""


class Done(NamedTuple):
    """What became of a run: ``error`` is empty if its result is in the store; ``remarks``: its warnings."""

    run_id: str
    error: str = ""
    remarks: tuple[str, ...] = ()


class Batch(NamedTuple):
    """Runs that one worker carries out; ``pack``: they are in that one already, and are measured anew."""

    runs: tuple[Run, ...]
    pack: str = ""


Runner = Callable[[str, Sequence[Batch]], Iterator[Done]]
"""Carries out batches of runs into the store of a directory, and yields what became of each run."""


def carry_out(directory: str, batch: Batch) -> list[Done]:
    """Carry out a batch of runs, one after the other."""
    return list(carried_out(directory, batch))


def carried_out(directory: str, batch: Batch, goes_on: Callable[[], bool] = lambda: True) -> Iterator[Done]:
    """Carry out runs one after the other; yield what became of each once it is kept.

    ``goes_on`` is asked after each run; what is not in a sealed pack by then is lost.
    """
    store = Store(directory)
    filling = Filling(store.packs, batch.pack)
    waiting: list[Done] = []
    for run in batch.runs:
        remarks: list[str] = []
        with heard(remarks.append):
            error = _tried(partial(_one, store, filling, batch.pack, run))
        waiting.append(Done(run.id, error, tuple(remarks)))
        if not goes_on():
            return
        if not len(filling) or filling.is_full or run is batch.runs[-1]:
            error = _tried(filling.seal) if len(filling) else ""
            yield from (done._replace(error=done.error or error) for done in waiting)
            waiting = []


def _one(store: Store, filling: Filling, pack: str, run: Run) -> None:
    if store.has_directory(run.id):  # by a worker that was lost, or measured otherwise
        store.measure(run, None)
        return
    result = store.load(run.id) if pack else run.carry_out()
    if run.own_directory:
        store.keep(run, result)
        store.measure(run, result)
    else:
        filling.add(run, result)


def _tried(work: Callable[[], None]) -> str:
    """Do something; return what went wrong."""
    try:
        work()
    except SchedulerSimError as error:
        return str(error)
    except MemoryError:
        return "out of memory"
    except Exception as error:
        return f"internal error, please report it: {type(error).__name__}: {error}"
    return ""


def batches(
    runs: Sequence[Run], wanted: Collection[str], pack_of: Callable[[str], str] = lambda _: ""
) -> list[Batch]:
    """Cut what is wanted into batches, neighbours with the same workload together.

    Parameters
    ----------
    runs : all of the study: what is there already does not change how the others are cut.
    wanted : ids of those to carry out. pack_of : the pack in which a run is, empty if in none.
    """
    cut = [
        Batch(tuple(run for run in one if run.id in wanted and not pack_of(run.id)))
        for one in _cut(runs, min(len(runs) // PARTS, LARGEST))
    ]
    packed: dict[str, list[Run]] = {}
    for run in runs:
        if run.id in wanted and (pack := pack_of(run.id)):
            packed.setdefault(pack, []).append(run)
    anew = [Batch(tuple(of_pack), pack) for pack, of_pack in packed.items()]
    return [*(batch for batch in cut if batch.runs), *anew]


def _cut(runs: Sequence[Run], most: int) -> list[list[Run]]:
    """Put runs with the same workload together, and neighbours up to ``most`` that fit into a pack."""
    groups: list[list[Run]] = []
    for run in runs:
        last = groups[-1] if groups else []
        if last and last[0].workload_id == run.workload_id and len(last) < SHARING:
            last.append(run)
        else:
            groups.append([run])
    joined: list[list[Run]] = []
    for group in groups:
        together = [*joined[-1], *group] if joined else group
        if joined and len(together) <= most and sum(run.jobs for run in together) <= FULL:
            joined[-1] += group
        else:
            joined.append(group)
    return joined


def here(directory: str, work: Sequence[Batch]) -> Iterator[Done]:
    """Carry everything out in this process."""
    for batch in work:
        yield from carried_out(directory, batch)


def after_loss(directory: str, batch: Batch, attempts: dict[str, int]) -> tuple[list[Batch], list[Done]]:
    """After a worker was lost: what to try again, and what is done or given up.

    A batch is tried again whole, so that it gives the same packs; in the end each run alone.
    """
    store = Store(directory)
    store.packs.look()
    ended = [Done(run.id) for run in batch.runs if store.is_done(run)]
    left = tuple(run for run in batch.runs if not store.is_done(run))
    for run in left:
        attempts[run.id] = attempts.get(run.id, 0) + 1
    if not left:
        return [], ended
    if max(attempts[run.id] for run in left) < MOST_ATTEMPTS:
        return [batch._replace(runs=left)], ended
    if len(left) > 1:
        return [batch._replace(runs=(run,)) for run in left], ended
    return [], [*ended, Done(left[0].id, f"its worker was lost {attempts[left[0].id]} times")]
