"""Conducting a study: what is there already, what is left to do, and the index at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from scheduler_sim.study.carry import Runner, batches, here
from scheduler_sim.study.store import Store
from scheduler_sim.study.study import Study

LARGEST_BATCH = 8
"""Most runs that a worker takes at once: they share a workload, and are lost together at worst."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Conducted:
    """What a study has come to.

    Attributes
    ----------
    directory : of the study.
    index : a row a run: id, factors, state, error, metrics.
    already : runs that were there before.
    failed : error by run id.
    """

    directory: Path
    index: pd.DataFrame
    already: int
    failed: dict[str, str]


def conduct(
    study: Study, directory: str | Path, runner: Runner = here, progress: Progress | None = None
) -> Conducted:
    """Carry out all runs that are not in the directory yet, and write the index.

    Whenever it is interrupted, the directory holds the finished runs whole, and the next
    call with it goes on from there. Failed runs are tried again.
    """
    store = Store(directory)
    with store.held():
        store.clear_leftovers()
        runs = study.runs()
        missing = [run for run in runs if not store.is_finished(run.id)]
        store.write_study(study_document(study, len(runs)))
        failed: dict[str, str] = {}
        done = len(runs) - len(missing)
        already = done
        for ended in runner(str(store.directory.resolve()), batches(missing, LARGEST_BATCH)):
            done += 1
            if ended.error:
                failed[ended.run_id] = ended.error
            if progress is not None:
                progress(done, len(runs))
        store.clear_leftovers()
        return Conducted(store.directory, store.write_index(runs, failed), already, failed)


def study_document(study: Study, runs: int) -> dict[str, object]:
    """Return what ``study.json`` says: name, keys and inputs, nothing of who carried it out."""
    return {
        "name": study.name,
        "factors": list(study.factors),
        "runs": runs,
        "keys": study.keys.model_dump(),
        "systems": study.inputs.systems,
        "workloads": {
            name: {key: value for key, value in one.items() if key != "path"}
            for name, one in study.inputs.workloads.items()
        },
        "policies": {name: policy.to_dict() for name, policy in study.inputs.policies.items()},
    }
