"""When waiting jobs will start, as many draws have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.errors import InputError
from scheduler_sim.policy.policy import Policy
from scheduler_sim.prediction.arrivals import WEEK, WEEKS, drawn_from
from scheduler_sim.prediction.draws import LATER, Case, Piece, carry_out, case_of
from scheduler_sim.prediction.history import FEWEST, History
from scheduler_sim.prediction.past import Used, with_past
from scheduler_sim.prediction.past_ranks import past_ranks
from scheduler_sim.prediction.run_times import EVEN, kinds_of, run_times_of
from scheduler_sim.prediction.state import State
from scheduler_sim.prediction.workers import Mapped, here
from scheduler_sim.simulation import Simulation
from scheduler_sim.system.system import System
from scheduler_sim.units import DAY

DRAWS = 199
"""With 199 draws the 20th, the 100th and the 180th start are those of 10, 50 and 90 %."""

SHARES = (0.1, 0.5, 0.9)
PIECE = 25
"""Draws that a worker carries out at a time."""

BEYOND = 1.5
"""The horizon is so many times as far as the last start by limits, and a day more; at most ``WEEKS``."""

Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Prediction:
    """What was predicted at an instant.

    Attributes
    ----------
    starts : int64[draws, jobs of the state], s; ``LATER`` beyond the horizon
    by_limits : int64[jobs], the start if all ran to their limits and nobody came, s; ``LATER``: it never can
    """

    state: State
    starts: Ints
    by_limits: Ints
    horizon: int

    def table(self) -> pd.DataFrame:
        """Return a row a waiting job, in the order of submission.

        ``job``, what it asks for, ``by_limits``, ``start_10``, ``start_50``, ``start_90``: s on the state's
        clock. ``LATER`` in the last three is beyond the horizon.
        """
        rows = np.flatnonzero(self.state.waits)
        jobs = self.state.jobs
        quantiles = quantiles_of(self.starts[:, rows])
        return pd.DataFrame(
            {
                "job": [self.state.labels[row] for row in rows.tolist()],
                **{name: jobs[name][rows] for name in ("user", "partition", "nodes", "submit_time")},
                "time_limit": self.state.limit[rows],
                "by_limits": self.by_limits[rows],
                **{f"start_{round(100 * share)}": quantiles[i] for i, share in enumerate(SHARES)},
            }
        )

    def share_by(self, time: int) -> Floats:
        """Return the share of draws in which each waiting job has started by a time (s)."""
        share: Floats = (self.starts[:, self.state.waits] <= time).mean(axis=0)
        return share


def quantiles_of(starts: Ints) -> Ints:
    """Return the starts of ``SHARES``, int64[shares, jobs], of starts int64[draws, jobs].

    Of n draws it is the one of rank p · (n + 1), or the nearest there is: as likely as p to be reached.
    """
    count = len(starts)
    ranks = [min(max(round(share * (count + 1)), 1), count) - 1 for share in SHARES]
    return np.sort(starts, axis=0)[ranks]


def predict(
    system: System,
    policy: Policy,
    states: Sequence[State],
    history: History,
    *,
    used: Used | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    mapped: Mapped = here,
    told: Told | None = None,
) -> list[Prediction]:
    """Return when the waiting jobs of each of some states start, draw by draw.

    A draw has run times by what jobs alike took (those that run: longer than they have run), and later
    arrivals from history. Each has a random stream of its own, so that the same seed gives the same, wherever
    it is carried out; draws of the same number are of the same stream in all states.

    Parameters
    ----------
    used : what users had used by then, for fair share under policy slurm: processor seconds, decayed, by
        account and user; None: as the history has it
    mapped : where draws are carried out. told : called with draws that are done, and all.

    Raises
    ------
    InputError where too few jobs had ended, and for a job that runs but has no room on the system.
    """
    ranks = past_ranks(history, min(state.at for state in states))
    cases = [_with_horizon(_case(system, policy, state, history, seed, used, ranks)) for state in states]
    pieces = [
        Piece(case, first, min(first + PIECE, draws))
        for case in range(len(cases))
        for first in range(0, draws, PIECE)
    ]
    starts: list[list[Ints]] = [[] for _ in cases]
    done = 0
    for piece, some in zip(pieces, mapped(partial(carry_out, cases), pieces), strict=True):
        starts[piece.case].append(some)
        done += len(some)
        if told is not None:
            told(done, draws * len(cases))
    return [
        Prediction(case.state, np.concatenate(own), case.by_limits, case.arrivals.horizon)
        for case, own in zip(cases, starts, strict=True)
    ]


def simulation_by_limits(
    system: System, policy: Policy, state: State, history: History, used: Used | None = None
) -> Simulation:
    """Return the simulation in which all run to their limits: all draws need the engine that it needs."""
    return _case(system, policy, state, history, 0, used, EVEN).simulation_by_limits()


def _case(
    system: System,
    policy: Policy,
    state: State,
    history: History,
    seed: int,
    used: Used | None,
    ranks: Floats,
) -> Case:
    """Put together what draws need, so far without a horizon."""
    if len(history.submit) < FEWEST:
        raise InputError(
            f"the history: found {len(history.submit)} jobs that had ended by then; allowed: {FEWEST} or more"
        )
    run_times = run_times_of(state, history, kinds_of(state, history), ranks)
    recent = drawn_from(history, state.at)
    going_on = with_past(policy, system, state, history, used)
    return case_of(system, going_on, state, recent, run_times, seed)


def _with_horizon(case: Case) -> Case:
    """Find the starts by limits, and with them the horizon up to which others come."""
    state, able = case.state, case.starts_by_limits()
    by_then = state.at if case.policy.backfill == "slurm" else state.start
    elsewhere = np.flatnonzero(~state.waits & (able > by_then))
    if len(elsewhere):
        raise InputError(
            f"{state.jobs.source.name}: job {state.labels[elsewhere[0]]} runs, but would not start on this"
            " system: it has no room beside the other running jobs, or breaks a limit of its partition, QOS"
            " or account; allowed: a system on which all jobs may run that do"
        )
    last = int(np.max(np.where(able == LATER, state.at, able), initial=state.at))
    return case.beside(able).until(state.at + min(int(BEYOND * (last - state.at)) + DAY, WEEKS * WEEK))
