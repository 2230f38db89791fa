"""Searching for the best mix of modules: candidates, looks at more and more seeds, which are left."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.selection import front, looks, margins, quantile, room_below, select, undominated
from scheduler_sim.output.whole import whole_file
from scheduler_sim.remarks import heard, pass_on
from scheduler_sim.result.store import read_document, write_document
from scheduler_sim.study.checks import SEED
from scheduler_sim.study.conduct import Progress, study_document
from scheduler_sim.study.grid import Grid
from scheduler_sim.study.keys import COST, SearchKeys
from scheduler_sim.study.measuring import measured
from scheduler_sim.study.mixes import mixed, mixes
from scheduler_sim.study.place import DOCUMENTS, claimed, clear_away
from scheduler_sim.study.run import Run, code_digest, digest
from scheduler_sim.study.store import flat, to_parquet

EVALUATIONS, TABLE, DOCUMENT = "evaluations.parquet", "search.parquet", DOCUMENTS["search"]
CHUNK = 8
INFEASIBLE, DROPPED, LEFT, WINNER = "infeasible", "dropped", "left", "winner"

Values = dict[tuple[int, int], tuple[float, ...]]
"""By candidate and seed: its metrics, and last how many components it rejects that others run."""


@dataclass(frozen=True)
class Searched:
    """What a search has come to.

    Attributes
    ----------
    directory : of the search.
    table : a row a candidate: factors, ``nodes_`` of each module, ``cost``, ``state``, ``seeds``, the mean of
        each metric, and for one metric ``above``, ``above_low``, ``above_high``: by how much its mean
        is above the winner's over their common seeds, with the interval of its last look; for two ``front``:
        whether it is on the front of the means of those that are left.
    loss : what the winner may at most be above the best one; None for two metrics.
    evaluated : simulations made for this; the others were there before.
    """

    directory: Path
    table: pd.DataFrame
    seeds: int
    loss: float | None
    confidence: float
    evaluated: int

    @property
    def left(self) -> pd.DataFrame:
        """The candidates among which the best one is, or which may be on the front."""
        return self.table[self.table["state"].isin((WINNER, LEFT))]

    @property
    def winner(self) -> pd.Series:
        """The candidate with the smallest mean of the first metric among them."""
        return self.table[self.table["state"] == WINNER].iloc[0]


@dataclass(frozen=True)
class Candidates:
    """What is searched: names of the systems, and levels of the other factors.

    Attributes
    ----------
    study : whose systems are the mixes. modules : names of the modules of the base system.
    factors : one row a candidate, with the levels of all factors but the seed.
    nodes : int64[candidates, modules]. cost : float64[candidates], units.
    """

    study: Grid
    modules: tuple[str, ...]
    factors: pd.DataFrame
    nodes: np.ndarray
    cost: np.ndarray

    @classmethod
    def of(cls, study: Grid) -> Candidates:
        """List them: mixes × policies × parameters, as far as include and exclude leave them."""
        keys = _search(study)
        (base,) = study.inputs.systems.values()
        names = [module["name"] for module in base["modules"]]
        costs = [module["cost_per_node"] for module in base["modules"]]
        last = names.index(keys.rest) if keys.rest else len(names) - 1
        bought = {
            mixed(base, nodes)["name"]: nodes
            for budget in keys.budget
            for nodes in mixes(budget, costs, keys.step, last)
        }
        systems = {name: mixed(base, nodes) for name, nodes in bought.items()}
        study = study.with_systems(systems)
        factors = pd.DataFrame([run.factors for run in study.runs(study.keys.seeds[:1])]).drop(columns=SEED)
        nodes = np.array([bought[name] for name in factors["system"]], dtype=np.int64)
        return cls(study, tuple(names), factors, nodes, nodes @ np.array(costs))

    def __len__(self) -> int:
        return len(self.factors)

    def runs(self, seed: int) -> list[Run]:
        """Return the run of every candidate with a seed."""
        return self.study.runs([seed])


def search(
    study: Grid,
    directory: str | Path,
    workers: int = 1,
    progress: Progress | None = None,
    *,
    force: bool = False,
) -> Searched:
    """Search until the winner is good enough, or there are no more seeds.

    A directory that holds evaluations of the same search goes on from them. The same study gives the same
    table, whatever the number of workers and however often it was interrupted. A directory that holds
    anything but a search is refused without ``force``.
    """
    keys = _search(study)
    place = Path(directory)
    with claimed(place, "search", force=force):
        clear_away(place, (DOCUMENT, EVALUATIONS, TABLE))
        return _searched(study, keys, place, workers, progress)


def _searched(
    study: Grid, keys: SearchKeys, place: Path, workers: int, progress: Progress | None
) -> Searched:
    candidates = Candidates.of(study)
    document = {**study_document(study, []), "code": code_digest()}
    values = _kept(place, document)
    there = len(values)
    with whole_file(place / DOCUMENT) as file:
        write_document({**document, "id": digest(document)}, file)

    left = np.arange(len(candidates))
    state = np.full(len(candidates), LEFT, dtype=object)
    alpha = 1 - keys.confidence / 100
    numbers = looks(keys.first_seeds, keys.most_seeds)
    feasible, loss, done = len(left), None, 0
    for look, number in enumerate(numbers):
        seeds = list(range(number))
        _evaluate(candidates, left, seeds, values, keys, workers, progress)
        _keep(place, values)
        rejecting = np.array([any(values[i, seed][-1] for seed in seeds) for i in left.tolist()])
        state[left[rejecting]] = INFEASIBLE
        left = left[~rejecting]
        feasible = len(left) if look == 0 else feasible
        found = [_table(values, left, seeds, metric) for metric in range(len(keys.metrics))]
        if len(found) == 1:
            chosen = select(found[0], feasible, alpha / len(numbers))
            keep, loss = chosen.left, chosen.loss
        else:
            keep = undominated(found[0], found[1], feasible, alpha / len(numbers))
        state[left[~keep]] = DROPPED
        left, found = left[keep], [one[keep] for one in found]
        done = number
        if loss is not None and loss <= keys.indifference_percent / 100 * found[0].mean(axis=1).min():
            break
        if len(left) == 1:
            break
    state[left[np.argmin(found[0].mean(axis=1))]] = WINNER
    t = quantile(done, alpha / len(numbers), feasible - 1)
    table = _summed_up(candidates, values, state, keys, t)
    with whole_file(place / TABLE) as file:
        to_parquet(table, file)
    return Searched(place, table, done, loss, keys.confidence / 100, len(values) - there)


def _search(study: Grid) -> SearchKeys:
    if study.keys.search is None:
        raise InputError(f"study {study.name} has no search")
    return study.keys.search


def _table(values: Values, rows: np.ndarray, seeds: Sequence[int], metric: int) -> np.ndarray:
    """float64[rows, seeds] of a metric."""
    return np.array([[values[i, seed][metric] for seed in seeds] for i in rows.tolist()])


def _evaluate(
    candidates: Candidates,
    left: np.ndarray,
    seeds: Sequence[int],
    values: Values,
    keys: SearchKeys,
    workers: int,
    progress: Progress | None,
) -> None:
    """Simulate what is missing of those that are left, seed by seed."""
    total, done = len(left) * len(seeds), 0
    todo = []
    for seed in seeds:
        missing = [i for i in left.tolist() if (i, seed) not in values]
        done += len(left) - len(missing)
        runs = candidates.runs(seed) if missing else []
        todo += [
            [(i, seed, runs[i]) for i in missing[at : at + CHUNK]] for at in range(0, len(missing), CHUNK)
        ]
    rejected: dict[tuple[int, int], frozenset[int]] = {}
    for chunk in _mapped(partial(_carried_out, tuple(keys.metrics)), todo, workers):
        for i, seed, found, lost in chunk:
            cost = {COST: float(candidates.cost[i])}
            values[i, seed] = tuple((found | cost)[name] for name in keys.metrics)
            rejected[i, seed] = lost
        done += len(chunk)
        if progress is not None:
            progress(done, total)
    for seed in seeds:
        lost_by = [lost for (_, of), lost in rejected.items() if of == seed]
        no_mix_runs = frozenset.intersection(*lost_by) if lost_by else frozenset()
        for (i, of), lost in rejected.items():
            if of == seed:
                values[i, seed] = (*values[i, seed], float(len(lost - no_mix_runs)))


def _carried_out(
    metrics: tuple[str, ...], chunk: list[tuple[int, int, Run]]
) -> list[tuple[int, int, dict[str, float], frozenset[int]]]:
    """Simulate; of each run its metrics, and the numbers of the components it rejects."""
    done = []
    for i, seed, run in chunk:
        result = run.carry_out()
        found = dict(flat(result.metrics))
        if any(run.trim) or any(name not in found and name != COST for name in metrics):
            found |= dict(flat(measured(result, run.trim)))
        lost = np.flatnonzero((result.components["state"] == "REJECTED").to_numpy())
        done.append(
            (i, seed, {name: found[name] for name in metrics if name != COST}, frozenset(lost.tolist()))
        )
    return done


def _mapped(task: Callable[[Any], Any], work: Sequence[Any], workers: int) -> Iterator[Any]:
    if workers < 2 or len(work) < 2:
        yield from map(task, work)
        return
    told: set[str] = set()
    with get_context("spawn").Pool(min(workers, len(work))) as pool:
        for done, remarks in pool.imap(partial(_with_remarks, task), work):
            pass_on(remarks, told)
            yield done


def _with_remarks(task: Callable[[Any], Any], work: Any) -> tuple[Any, list[str]]:
    remarks: list[str] = []
    with heard(remarks.append):
        done = task(work)
    return done, remarks


def _summed_up(
    candidates: Candidates, values: Values, state: np.ndarray, keys: SearchKeys, t: float
) -> pd.DataFrame:
    """Return the table of the search, the best first among those that are left."""
    table = candidates.factors.copy()
    for place, name in enumerate(candidates.modules):
        table[f"nodes_{name}"] = candidates.nodes[:, place]
    table[COST] = candidates.cost
    table["state"] = state
    seeds = [sorted(seed for (i, seed) in values if i == row) for row in range(len(table))]
    table["seeds"] = [len(own) for own in seeds]
    for metric, name in enumerate(keys.metrics):
        if name != COST:
            table[name] = [np.mean([values[i, seed][metric] for seed in own]) for i, own in enumerate(seeds)]
    if len(keys.metrics) == 1:
        winner = int(np.flatnonzero(state == WINNER)[0])
        found = [_above(values, winner, i, own, t) for i, own in enumerate(seeds)]
        for part, name in enumerate(("above", "above_low", "above_high")):
            table[name] = [one[part] for one in found]
    else:
        left = np.isin(state, (LEFT, WINNER))
        table["front"] = False
        first, second = (table.loc[left, name].to_numpy(dtype=float) for name in keys.metrics)
        table.loc[left, "front"] = front(first, second)
    rank = table["state"].map({WINNER: 0, LEFT: 1, DROPPED: 2, INFEASIBLE: 3})
    first_metric = table[keys.metrics[0]]
    return (
        table.assign(rank=rank, first=first_metric)
        .sort_values(["rank", "first"], kind="stable")
        .drop(columns=["rank", "first"])
    )


def _above(values: Values, winner: int, one: int, seeds: list[int], t: float) -> tuple[float, float, float]:
    """How much a candidate is above the winner over the seeds that it has, with the simultaneous interval.

    It ends where the candidate would be below 0, unless the metric can be.
    """
    if winner == one:
        return 0.0, 0.0, 0.0
    both = np.array([[values[i, seed][0] for seed in seeds] for i in (one, winner)])
    found = margins(both, 0, t)
    middle, half = float(found.difference[1]), float(found.chance[1])
    return middle, max(middle - half, -room_below(both, 1)), middle + half


def _kept(place: Path, document: dict[str, Any]) -> Values:
    """Evaluations that a directory holds of the same search."""
    if not os.path.isfile(place / EVALUATIONS):
        return {}
    if read_document(place / DOCUMENT).get("id") != digest(document):
        return {}
    table = pd.read_parquet(place / EVALUATIONS)
    return {(int(row[0]), int(row[1])): tuple(row[2:]) for row in table.itertuples(index=False, name=None)}


def _keep(place: Path, values: Values) -> None:
    """Write all evaluations, whole or not at all."""
    rows = [(*key, *values[key]) for key in sorted(values)]
    metrics = len(rows[0]) - 3
    columns = ["candidate", "seed", *(f"metric_{i}" for i in range(metrics)), "rejected"]
    with whole_file(place / EVALUATIONS) as file:
        to_parquet(pd.DataFrame(rows, columns=columns), file)
