"""The runs of a study: seed by seed on one or two processes, and as files beside its page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from scheduler_sim import __version__

MOST_WORKERS = 2
RUNS, SETUP = "runs.csv", "setup.json"

Progress = Callable[[int, int], None]


def mapped(task: Callable[[int], Any], seeds: Sequence[int], workers: int) -> Iterator[Any]:
    """Carry out the task for each seed, in their order, on at most ``MOST_WORKERS`` processes."""
    if min(workers, MOST_WORKERS) < 2:
        yield from map(task, seeds)
        return
    with get_context("spawn").Pool(MOST_WORKERS) as pool:
        yield from pool.imap(task, seeds)


def by_seed(
    task: Callable[[int], list[dict[str, Any]]], seeds: int, workers: int, progress: Progress | None
) -> list[dict[str, Any]]:
    """Return the rows that the task makes for seeds 1 .. ``seeds``, one after the other."""
    rows: list[dict[str, Any]] = []
    for number, found in enumerate(mapped(task, range(1, seeds + 1), workers), start=1):
        rows += found
        if progress is not None:
            progress(number, seeds)
    return rows


def in_order(rows: list[dict[str, Any]], factors: Sequence[str]) -> pd.DataFrame:
    """Return rows as a table: by ``factors`` but the seed, the last of them, as they came; then by seed."""
    runs = pd.DataFrame(rows)
    order = runs.groupby(list(factors[:-1]), sort=False).ngroup()
    return runs.assign(order=order).sort_values(["order", factors[-1]], kind="stable").drop(columns="order")


def save(runs: pd.DataFrame, setup: Any, folder: Path, digits: str) -> None:
    """Write the runs, and the fields of ``setup`` with the version that made them."""
    folder.mkdir(parents=True, exist_ok=True)
    runs.to_csv(folder / RUNS, index=False, float_format=digits, lineterminator="\n")
    document = {"version": __version__, **setup.__dict__}
    (folder / SETUP).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def load(folder: Path, texts: Sequence[str]) -> tuple[pd.DataFrame, dict[str, Any], str]:
    """Read what :func:`save` wrote, some columns as texts: the runs, the setup, the version."""
    document = json.loads((folder / SETUP).read_text(encoding="utf-8"))
    version = document.pop("version")
    names = pd.read_csv(folder / RUNS, nrows=0).columns.difference(list(texts))
    kinds, missing = dict.fromkeys(texts, str), {name: [""] for name in names}
    runs = pd.read_csv(folder / RUNS, dtype=kinds, keep_default_na=False, na_values=missing)
    return runs, document, version
