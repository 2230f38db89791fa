"""How long jobs may take: as long as jobs like them took, those of one kind alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from scheduler_sim.arrays import Floats, Ints, alike
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.state import State

RECENT = 200
"""So many jobs of a kind count, those that ended last."""

DOUBT = 5.0
"""A kind of n jobs is believed with probability n / (n + DOUBT); else the next wider one is asked."""

OF_KIND, OF_ALL = 0.5, 0.05
"""Correlation of the run times of jobs of one kind, and part of it that all jobs of a draw have."""


@dataclass(frozen=True)
class RunTimes:
    """What each job of a state may take: values by kind, the narrowest first, the job's limit as the last.

    Attributes
    ----------
    values : float64, the run times (s) of all kinds of all jobs, those of a kind ascending
    first, count : int64[rows, kinds], where those of a kind begin, and how many they are
    kind : int64[rows], number of the narrowest kind a job is of, 0 .. kinds - 1
    least, most : int64[rows], it has not ended yet; its limit, s
    """

    values: Floats
    first: Ints
    count: Ints
    kind: Ints
    least: Ints
    most: Ints

    def draw(self, random: np.random.Generator) -> Ints:
        """Return a run time for each job, int64[rows], s."""
        rows, kinds = self.count.shape
        groups = int(self.kind.max(initial=-1)) + 1
        of_all, of_kind, own = (
            random.standard_normal(),
            random.standard_normal(groups),
            random.standard_normal(rows),
        )
        doubt = random.random((groups, kinds))[self.kind]
        level = ndtr(
            np.sqrt(OF_ALL) * of_all
            + np.sqrt(OF_KIND - OF_ALL) * of_kind[self.kind]
            + np.sqrt(1 - OF_KIND) * own
        )
        believed = doubt < self.count / (self.count + DOUBT)
        believed[:, -1] = True
        chosen, row = believed.argmax(axis=1), np.arange(rows)
        first, count = self.first[row, chosen], self.count[row, chosen]
        place = first + np.minimum((level * count).astype(np.int64), count - 1)
        drawn: Ints = np.clip(self.values[place].astype(np.int64), self.least, self.most)
        return drawn


def run_times_of(state: State, history: History) -> RunTimes:
    """Return what the jobs of a state may take, by what jobs like them took.

    Of those that run, only what took longer than they have run by now counts.
    """
    last = np.argsort(history.end, kind="stable")
    history = history.rows(last)
    elapsed, limit = state.elapsed, state.limit
    share = np.where(history.limit > 0, history.run / np.maximum(history.limit, 1), np.nan)
    kinds = kinds_of(state, history)
    values: list[Floats] = []
    first, count = (np.zeros((len(limit), len(kinds) + 1), dtype=np.int64) for _ in range(2))
    place = 0
    for number, (of_history, of_state) in enumerate(kinds):
        members = _members(of_history, np.unique(of_state))
        for row, kind in enumerate(of_state.tolist()):
            recent = members[kind][-RECENT:]
            took = np.where(
                history.limit[recent] > 0,
                np.ceil(share[recent] * limit[row]),
                np.minimum(history.run[recent], limit[row]),
            )
            took = np.sort(took[took > elapsed[row]])
            first[row, number], count[row, number] = place, len(took)
            values.append(took)
            place += len(took)
    first[:, -1], count[:, -1] = place + np.arange(len(limit)), 1
    narrowest = kinds[0][1] if kinds else np.zeros(len(limit), dtype=np.int64)
    least = np.maximum(elapsed + 1, 0)
    return RunTimes(
        values=np.concatenate([*values, limit.astype(float)]),
        first=first,
        count=count,
        kind=np.unique(narrowest, return_inverse=True)[1],
        least=least,
        most=np.maximum(limit, least),
    )


def _members(kind: Ints, wanted: Ints) -> dict[int, Ints]:
    """Return the rows (ascending) of each kind that is wanted."""
    order = np.argsort(kind, kind="stable")
    begin, end = (np.searchsorted(kind[order], wanted, side=side) for side in ("left", "right"))
    return {int(one): order[a:b] for one, a, b in zip(wanted, begin, end, strict=True)}


def kinds_of(state: State, history: History) -> list[tuple[Ints, Ints]]:
    """Return numbers of kinds, of the history's and of the state's jobs; the narrowest first.

    Of one user: by application (or name), limit and nodes; by limit and nodes; by limit; all. Of all users:
    by application, limit and nodes; by nodes and limit; by about such a size and limit; by about such a
    limit; all.
    A column that says the same everywhere tells nothing, and kinds by it are left out.
    """
    texts = {name: _texts(state, history, name) for name in ("user", "app", "name")}
    users, limit = texts["user"], np.append(history.limit, state.limit)
    what = texts["app"] if _tells(texts["app"]) else texts["name"]
    nodes = np.append(history.jobs["nodes"], state.jobs["nodes"])
    size, length = np.log2(nodes).astype(np.int64), (2 * np.log2(np.maximum(limit, 1))).astype(np.int64)
    asked: list[tuple[Ints, ...]] = []
    if _tells(users):
        asked += [(users, what, limit, nodes)] if _tells(what) else []
        asked += [(users, limit, nodes), (users, limit), (users,)]
    asked += [(what, limit, nodes)] if _tells(what) else []
    asked += [(limit, nodes), (size, length), (length,), (np.zeros_like(nodes),)]
    split = len(history.limit)
    return [(codes[:split], codes[split:]) for codes in (alike(columns)[0] for columns in asked)]


def _texts(state: State, history: History, name: str) -> Ints:
    """Return a number for each text of a column, the same in history and state."""
    words: dict[str, int] = {}
    codes: list[Ints] = []
    for column in (history.jobs.columns[name], state.jobs.columns[name]):
        numbers = np.array(
            [words.setdefault(str(word), len(words)) for word in column.categories], dtype=np.int64
        )
        codes.append(numbers[column.codes] if len(numbers) else np.zeros(len(column), dtype=np.int64))
    return np.concatenate(codes)


def _tells(codes: Ints) -> bool:
    """Whether a column is not the same everywhere."""
    return bool(np.ptp(codes) > 0)
