"""Conducting a study: what is there already, what is left to do, and the index at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scheduler_sim.metrics.replication import needed_for
from scheduler_sim.remarks import pass_on
from scheduler_sim.study.carry import Runner, batches, here
from scheduler_sim.study.comparison import compared, compared_slices
from scheduler_sim.study.grid import Grid
from scheduler_sim.study.keys import spelt
from scheduler_sim.study.run import Run
from scheduler_sim.study.store import COMPARISON, INDEX, SLICE_COMPARISON, SLICED, Store
from scheduler_sim.version import __version__

SHOWN_ROWS = 60

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Conducted:
    """What a study has come to.

    Attributes
    ----------
    directory : of the study.
    index : a row a run: id, factors, state, error, metrics.
    comparison : how the levels of the baseline's factor compare; see :func:`compared`.
    new : different runs carried out; the others were there before, or are the same under another name.
    failed : error by run id.
    left_alone : paths in the directory of what is no run and no pack of a study; it stays as it is.
    """

    directory: Path
    index: pd.DataFrame
    comparison: pd.DataFrame
    new: int
    failed: dict[str, str]
    left_alone: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Show the comparison in a notebook, without one the index."""
        shown = self.comparison if len(self.comparison) else self.index
        hidden = [name for name in shown if shown[name].isna().all() or name in ("id", "error", "pack")]
        return str(shown.drop(columns=hidden).head(SHOWN_ROWS).to_html(index=False, escape=True))


def conduct(
    study: Grid,
    directory: str | Path,
    runner: Runner = here,
    progress: Progress | None = None,
    *,
    force: bool = False,
) -> Conducted:
    """Carry out all runs that are not in the directory yet, and write the index.

    Whenever it is interrupted, the directory holds the finished runs whole, and the next
    call with it goes on from there. Failed runs are tried again. Tables of an earlier study in the
    directory go before anything is done for this one: tables that stand there are always of
    the study that ``study.json`` describes. A directory that holds anything but a study is refused
    without ``force``; what is no part of a study is never touched.
    """
    store = Store(directory)
    with store.held(force=force):
        store.clear_leftovers()
        seeds = list(study.keys.seeds)
        failed: dict[str, str] = {}
        new = 0
        while True:
            runs = study.runs(seeds)
            document = study_document(study, seeds)
            store.packs.look()
            different = _different(runs)
            missing = [run for run in different if run.id not in failed and not store.is_done(run)]
            if missing:
                store.begin(document)
            errors = _carry_out(store, different, missing, runner, progress)
            new += len(missing) - len(errors)
            failed |= errors
            index = store.index(runs, failed)
            more = more_seeds(study, store, index, seeds)
            if not more:
                break
            seeds += more
        left_alone = store.clear_leftovers()
        tables = {INDEX: index}
        if study.keys.slices:
            tables[SLICED] = store.slices(index, study.factors)
            tables[SLICE_COMPARISON] = compared_slices(store.load, document, tables[SLICED])
        tables[COMPARISON] = comparison = compared(store.load, document, index)
        store.begin(document)
        store.write_tables(tables)
        return Conducted(store.directory, index, comparison, new, failed, tuple(left_alone))


def _different(runs: Sequence[Run]) -> list[Run]:
    """Return the first run of each id: the same one may stand under several names."""
    first: dict[str, Run] = {}
    for run in runs:
        first.setdefault(run.id, run)
    return list(first.values())


def _carry_out(
    store: Store, runs: list[Run], missing: list[Run], runner: Runner, progress: Progress | None
) -> dict[str, str]:
    """Carry out what is missing; return the errors of what failed."""
    done, errors = len(runs) - len(missing), {}
    told: set[str] = set()
    work = batches(runs, {run.id for run in missing}, store.pack_of)
    for ended in runner(str(store.directory.resolve()), work):
        done += 1
        pass_on(ended.remarks, told)
        if ended.error:
            errors[ended.run_id] = ended.error
        if progress is not None:
            progress(done, len(runs))
    store.packs.look()
    return errors


def more_seeds(study: Grid, store: Store, index: pd.DataFrame, seeds: list[int]) -> list[int]:
    """Return the seeds to add until the comparisons are narrow enough, none if they are or it is no use."""
    wanted = study.keys.replicates
    if wanted is None or len(seeds) >= wanted.most:
        return []
    table = compared(store.load, study_document(study, seeds), index, [wanted.metric])
    table = table[table["replicates"] == "seeds"]
    number = min(needed_for(table, wanted.half_width), wanted.most - len(seeds))
    return [max(seeds) + 1 + k for k in range(number)]


def study_document(study: Grid, seeds: list[int]) -> dict[str, Any]:
    """Return what ``study.json`` says: name, keys and inputs, nothing of who carried it out."""
    baseline = {factor: spelt(level) for factor, level in study.keys.baseline.items()}
    return {
        "version": __version__,
        "name": study.name,
        "factors": list(study.factors),
        "seeds": list(seeds),
        "keys": {**study.keys.model_dump(), "baseline": baseline},
        "systems": study.inputs.systems,
        "workloads": {
            name: {key: value for key, value in one.items() if key != "path"}
            for name, one in study.inputs.workloads.items()
        },
        "policies": {name: policy.to_dict() for name, policy in study.inputs.policies.items()},
        **({"models": study.inputs.models} if study.inputs.models is not None else {}),
    }
