"""A draw: what runs and waits goes on with drawn run times, and others come; when does each job start?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.policy.policy import Policy
from scheduler_sim.prediction.arrivals import Arrivals
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.run_times import RunTimes
from scheduler_sim.prediction.state import State
from scheduler_sim.simulation import Simulation
from scheduler_sim.streams import stream
from scheduler_sim.system.system import System
from scheduler_sim.texts import is_text_column
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload

LATER = np.iinfo(np.int64).max
"""The start of a job that did not start before the horizon."""

LOOKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
"""At these parts of the horizon a draw is over if all jobs of the state have started.

Of a job that gives way to others later, the start that is seen first counts.
"""

NOBODY = np.zeros(0, dtype=np.int64)

ASKED = (
    *(
        "name",
        "user",
        "group",
        "account",
        "qos",
        "app",
        "nodes",
        "partition",
        "memory_kb",
        "cores",
        "gpus",
        "gres",
    ),
    *("exclusive", "oversubscribe", "constraint", "licences", "nice"),
)
"""What jobs ask for, beside their time limits."""


@dataclass(frozen=True)
class Case:
    """All that draws need, as it goes to other processes.

    Attributes
    ----------
    jobs : columns of ``ASKED``, those of the state's jobs first, then the history's
    by_limits : int64[rows], when each starts if all run to their limits and nobody comes, s
    """

    system: System
    policy: Policy
    state: State
    jobs: dict[str, Any]
    history_run: Ints
    history_limit: Ints
    run_times: RunTimes
    arrivals: Arrivals
    seed: int
    by_limits: Ints

    def until(self, horizon: int) -> Case:
        """Return the case with jobs that come up to a horizon (s)."""
        return replace(self, arrivals=replace(self.arrivals, horizon=horizon))

    def starts(self, number: int) -> Ints:
        """Carry out one draw: when each job starts, int64[rows], s; ``LATER`` beyond the horizon."""
        random = stream(self.seed, f"prediction draw {number}")
        late = np.where(self.state.waits, 0, self.by_limits - self.state.start)
        run = self.run_times.draw(random) - late  # what runs ends as long after its start as it takes
        rows, submit = self.arrivals.draw(random)
        return self.simulated(run, rows, submit, self.arrivals.horizon)

    def beside(self, able: Ints) -> Case:
        """Return the case with its starts by limits, which tell when what runs starts in draws."""
        return replace(self, by_limits=able)

    def starts_by_limits(self) -> Ints:
        """Return when each would start if all ran to their limits and nobody came; ``LATER``: never."""
        return self.simulated(self.run_times.most, NOBODY, NOBODY, None)

    def simulation_by_limits(self) -> Simulation:
        """Return the simulation in which all run to their limits and nobody comes."""
        return self.simulation(self.run_times.most, NOBODY, NOBODY)

    def simulated(self, run: Ints, rows: Ints, submit: Ints, until: int | None) -> Ints:
        """Return when the state's jobs start, with these run times and these jobs of the history to come."""
        simulation, at, count = self.simulation(run, rows, submit), self.state.at, len(self.state.start)
        looks = [at + 1] + ([] if until is None else [at + int(part * (until - at)) for part in LOOKS])
        starts = np.full(count, -1)
        for look in looks:  # what comes after the last of these starts does not matter
            simulation.env.run(until=look)
            starts = np.where(starts < 0, simulation.starts()[:count], starts)
            if (starts >= 0).all():
                break
        if until is None:
            simulation.run()
            starts = np.where(starts < 0, simulation.starts()[:count], starts)
        return np.where(starts < 0, LATER, starts)

    def simulation(self, run: Ints, rows: Ints, submit: Ints) -> Simulation:
        """Return the simulation of a draw.

        What runs is submitted when it started, alone, and so starts then; what waits may start from the
        second after the instant on: at the instant itself its pass has been. Where it is known, the clock has
        its date, by which reservations and nodes out of service go.
        """
        state, count = self.state, len(self.state.start)
        every = np.concatenate((np.arange(count), count + rows))
        waits = state.waits
        workload = Workload(
            {
                **{name: column[every] for name, column in self.jobs.items()},
                "submit_time": np.append(np.where(waits, state.jobs["submit_time"], state.start), submit),
                "begin_time": np.append(np.where(waits, state.at + 1, -1), np.full(len(rows), -1)),
                "run_time": np.append(run, self.history_run[rows]),
                "time_limit": np.append(state.limit, self.history_limit[rows]),
            },
            TraceSource(format=state.jobs.source.format, header=_dated(state.origin)),
        )
        return Simulation(self.system, workload, self.policy, seed=self.seed)


def case_of(
    system: System, policy: Policy, state: State, history: History, run_times: RunTimes, seed: int
) -> Case:
    """Put together what draws need, so far without a horizon: nobody comes."""
    return Case(
        system,
        policy,
        state,
        {
            name: _joined(state.jobs.columns[name], history.jobs.columns[name])
            for name in _said(state, history)
        },
        history.run,
        history.limit,
        run_times,
        Arrivals(history.submit, state.at, state.at),
        seed,
        state.start,
    )


def _dated(origin: int | None) -> tuple[str, ...]:
    """Return the line of a header that says when second 0 was, in Unix time; None: nobody knows."""
    return () if origin is None else (f"; UnixStartTime: {origin}",)


class Piece(NamedTuple):
    """Draws ``first`` to ``last`` - 1 of one of several cases."""

    case: int
    first: int
    last: int


def carry_out(cases: Sequence[Case], piece: Piece) -> Ints:
    """Carry out some draws: int64[draws, jobs of the state], s."""
    case = cases[piece.case]
    return np.array([case.starts(number) for number in range(piece.first, piece.last)], dtype=np.int64)


def _said(state: State, history: History) -> list[str]:
    """Return the columns in which somebody asks for something."""
    names = []
    for name in ASKED:
        default = FIELDS[name].default
        columns = (state.jobs.columns[name], history.jobs.columns[name])
        if any(bool((np.asarray(_of(column)) != default).any()) for column in columns):
            names.append(name)
    return names


def _of(column: Any) -> Any:
    return column.categories if is_text_column(column) else column


def _joined(first: Any, second: Any) -> Any:
    """Return two columns as one."""
    if is_text_column(first):
        return first.followed_by(second)
    return np.append(first, second)
