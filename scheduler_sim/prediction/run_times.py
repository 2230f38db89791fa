"""How long jobs may take: as long as jobs like them took, those of one kind alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from scheduler_sim.arrays import Bools, Floats, Ints, alike
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.state import State

RECENT = 200
"""So many ended jobs of a kind count, those that started last, and those that run and began since."""

DOUBT = 5.0
"""A kind is believed with probability n / (n + DOUBT), else the next wider one is asked; the widest always.

n is the number of jobs of the narrowest kind, and of a wider one that of the narrowest kinds in it: a hundred
jobs of one campaign say little of the next one.
"""

OF_KIND, OF_USER, OF_ALL = 0.5, 0.2, 0.05
"""Correlation of the run times of jobs of one kind, of a user's jobs of two kinds, and of two users' jobs."""

EVEN: Floats = np.array([0.0, 1.0])
"""Ranks of run times where what is believed is right."""

SPAN = 1 << 41
"""More than any run time, s."""


@dataclass(frozen=True)
class RunTimes:
    """What each job of a state may take: a distribution for each kind it is of, the narrowest first.

    The last of them is the job's limit alone.

    Attributes
    ----------
    values : int64, the run times (s), those of a job and a kind ascending, job by job and kind by kind
    below : float64, as many: the number of such a distribution, and the share of it up to the value, above 0
    last : int64[rows, kinds], where each ends
    count : int64[rows, kinds], how many jobs that ended make the narrowest, how many narrowest kinds a wider
    kind, user : int64[rows], numbers of the narrowest kind a job is of, and of whose it is
    least, most : int64[rows], it has not ended yet; its limit, s
    ranks : float64, ascending: how run times lay in such distributions before; draws lie in them alike
    """

    values: Ints
    below: Floats
    last: Ints
    count: Ints
    kind: Ints
    user: Ints
    least: Ints
    most: Ints
    ranks: Floats

    def draw(self, random: np.random.Generator) -> Ints:
        """Return a run time for each job, int64[rows], s."""
        rows, kinds = self.count.shape
        groups, users = (int(number.max(initial=-1)) + 1 for number in (self.kind, self.user))
        of_all, of_kind = random.standard_normal(), random.standard_normal(groups)
        of_user, own = random.standard_normal(users), random.standard_normal(rows)
        doubt = random.random((groups, kinds))[self.kind]
        level = ndtr(
            np.sqrt(OF_ALL) * of_all
            + np.sqrt(OF_USER - OF_ALL) * of_user[self.user]
            + np.sqrt(OF_KIND - OF_USER) * of_kind[self.kind]
            + np.sqrt(1 - OF_KIND) * own
        )
        rank = np.interp(level, np.linspace(0, 1, len(self.ranks)), self.ranks)
        chosen, row = (doubt < self.belief).argmax(axis=1), np.arange(rows)
        place = np.searchsorted(self.below, row * kinds + chosen + rank)
        place = np.clip(place, self.first[row, chosen], self.last[row, chosen])  # ranks may be 0, or 1
        drawn: Ints = np.clip(self.values[place], self.least, self.most)
        return drawn

    @property
    def first(self) -> Ints:
        """Where each distribution begins, int64[rows, kinds]."""
        return np.append(0, self.last.ravel()[:-1] + 1).reshape(self.last.shape)

    @property
    def belief(self) -> Floats:
        """The probability that a kind is believed if the narrower ones are not, float64[rows, kinds]."""
        belief = self.count / (self.count + DOUBT)
        belief[:, -2] = np.where(self.count[:, -2] > 0, 1.0, 0.0)
        belief[:, -1] = 1.0
        return belief

    def shares(self, took: Ints) -> tuple[Floats, Floats]:
        """Return the probability of a run time less than some, and of one up to it, float64[rows] both.

        Of all kinds of a job, each as far as it is believed.

        Parameters
        ----------
        took : int64[rows], a run time for each job, s
        """
        rows, kinds = self.count.shape
        belief, number = self.belief, np.arange(rows * kinds)
        weight = belief * np.cumprod(np.column_stack((np.ones(rows), 1 - belief[:, :-1])), axis=1)
        first = self.first.ravel()
        of = np.repeat(number, self.last.ravel() + 1 - first)
        ascending, wanted = of * SPAN + self.values, number * SPAN + np.repeat(took, kinds)
        below, up_to = (
            np.where(place > first, self.below[place - 1] - number, 0.0).reshape(rows, kinds)
            for place in (np.searchsorted(ascending, wanted, side=side) for side in ("left", "right"))
        )
        return (weight * below).sum(axis=1), (weight * up_to).sum(axis=1)


class Kinds(NamedTuple):
    """Which jobs are alike: numbers of kinds, the narrowest kind first.

    Attributes
    ----------
    history, state : int64[rows] each, of the history's and of the state's jobs
    user : int64[rows], whose each of the state's jobs is
    """

    history: list[Ints]
    state: list[Ints]
    user: Ints


def run_times_of(state: State, history: History, kinds: Kinds, ranks: Floats = EVEN) -> RunTimes:
    """Return what the jobs of a state may take, by what jobs like them took.

    Of those that run, only what took longer than they have run by now counts. Those that run count for
    others, too, as jobs that take longer than that: of what began lately, the short ones ended first.
    """
    runs, elapsed = np.flatnonzero(~state.waits), state.elapsed
    start = np.append(history.submit + np.maximum(history.wait, 0), state.start[runs])
    ran = np.append(history.run, elapsed[runs])
    of = np.append(history.limit, state.limit[runs])
    ended = np.arange(len(ran)) < len(history.run)
    values, below, deep = [], [], len(kinds.state)
    last, count = (np.zeros((len(elapsed), deep + 1), dtype=np.int64) for _ in range(2))
    narrowest = np.append(kinds.history[0], kinds.state[0][runs])
    pairs, latest = zip(kinds.history, kinds.state, strict=True), np.argsort(start, kind="stable")
    members = [_members(np.append(old, new[runs]), np.unique(new), latest, ended) for old, new in pairs]
    place = 0
    for row, limit in enumerate(state.limit.tolist()):
        for number, new in enumerate(kinds.state):
            like = members[number][int(new[row])]
            took = np.where(of[like] > 0, np.ceil(ran[like] / np.maximum(of[like], 1) * limit), ran[like])
            value, mass = _distribution(np.minimum(took, limit), ended[like], limit)
            those = like[ended[like] & (took > elapsed[row])]
            count[row, number] = len(those) if number == 0 else len(np.unique(narrowest[those]))
            possible = value > elapsed[row]
            value, mass = value[possible], mass[possible]
            values.append(value)
            below.append(row * (deep + 1) + number + np.cumsum(mass) / max(mass.sum(), TINY))
            place += len(value)
            last[row, number] = place - 1
        values.append(np.array([limit]))
        below.append(np.array([row * (deep + 1) + deep + 1.0]))
        last[row, -1] = place
        place += 1
    least = np.maximum(elapsed + 1, 0)
    return RunTimes(
        values=np.concatenate(values) if values else np.zeros(0, dtype=np.int64),
        below=np.concatenate(below) if below else np.zeros(0),
        last=last,
        count=count,
        kind=np.unique(kinds.state[0], return_inverse=True)[1],
        user=np.unique(kinds.user, return_inverse=True)[1],
        least=least,
        most=np.maximum(state.limit, least),
        ranks=ranks,
    )


TINY = 1e-300


def _distribution(took: Floats, ended: Bools, limit: int) -> tuple[Ints, Floats]:
    """Return run times (s, ascending) and the probability of each, by Kaplan and Meier's product limit.

    E. L. Kaplan, P. Meier, J. Am. Stat. Assoc. 53 (1958) 457-481. What has not ended takes longer than it has
    run; if nothing that ended took longer, it takes its limit.
    """
    order = np.lexsort((~ended, took))
    took, ended = took[order], ended[order]
    at_risk = np.arange(len(took), 0, -1)
    left = np.cumprod(np.where(ended, 1 - 1 / at_risk, 1.0)) if len(took) else np.ones(0)
    before = np.append(1.0, left[:-1]) if len(took) else left
    mass = np.append(np.where(ended, before / np.maximum(at_risk, 1), 0.0), left[-1:] if len(left) else 1.0)
    value = np.append(took, limit).astype(np.int64)
    some = mass > 0
    return value[some], mass[some]


def _members(kind: Ints, wanted: Ints, latest: Ints, ended: Bools) -> dict[int, Ints]:
    """Return the rows of each kind that is wanted, from the ``RECENT``-last on that has ended.

    Parameters
    ----------
    latest : all rows, by start; ended : bool[rows], the others still run
    """
    rows = latest[np.isin(kind[latest], wanted)]
    rows = rows[np.argsort(kind[rows], kind="stable")]
    begin, end = (np.searchsorted(kind[rows], wanted, side=side) for side in ("left", "right"))
    known = np.append(0, np.cumsum(ended[rows]))
    first = np.searchsorted(known, known[end] - RECENT, side="right") - 1
    return {int(one): rows[max(a, f) : b] for one, a, b, f in zip(wanted, begin, end, first, strict=True)}


def kinds_of(state: State, history: History) -> Kinds:
    """Return which jobs of the history and of the state are alike.

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
    split, codes = len(history.limit), [alike(columns)[0] for columns in asked]
    old, new = [some[:split] for some in codes], [some[split:] for some in codes]
    return Kinds(old, new, users[split:] if _tells(users) else new[0])


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
