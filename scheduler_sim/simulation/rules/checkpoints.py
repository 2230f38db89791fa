"""How components write checkpoints, by their types of application and where they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.applications.conversion import NO_TYPE
from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.engine.rules.checkpoints import CheckpointSizes
from scheduler_sim.errors import ConfigError
from scheduler_sim.placement.placements import Placements
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.system.failures import of_module

PAST_LIMIT = "checkpoints_past_limit"
"""What counts components that would end within their limit, but for their checkpoints."""

FIELDS = ("work", "interval", "cost", "restart")


class Habit(NamedTuple):
    """How checkpoints are written in a placement, all in s: see the engine's. Also of many, a column each."""

    work: Any = 0
    interval: Any = 0
    cost: Any = 0
    restart: Any = 0

    @classmethod
    def of(cls, core: FullCore, placements: Any) -> Habit:
        """Return that of a placement of the core, or of several; nothing where no job writes any."""
        if not has(core, "checkpoints"):
            return cls()
        return cls(*(core.checkpoints.habit[name][placements] for name in FIELDS))

    def picked(self, which: np.ndarray) -> Habit:
        """Return some of many."""
        return Habit(*(column[which] for column in self))

    def work_left(self, left: Any, work: Any) -> Any:
        """How long there is to work after a checkpoint with LEFT of the WORK to do, s; 0: without one."""
        return np.where(work > 0, -(-left * self.work // np.maximum(work, 1)), self.work)

    def run_time(self, left: Any, work: Any) -> Any:
        """How long a run takes that begins so: to read the checkpoint, to work, to write others, s."""
        to_do = self.work_left(left, work)
        return np.where(work > 0, self.restart, 0) + to_do + self.written(to_do) * self.cost

    def written(self, left: Any) -> Any:
        """How many a run writes that works for so long, s: none at its end."""
        return np.where(self.interval > 0, np.maximum(left - 1, 0) // np.maximum(self.interval, 1), 0)


class Checkpoints(Numbers):
    """Writes how components write checkpoints.

    Attributes
    ----------
    together : components that start with others, and write none though their type does
    past_limit : components that would end within their limit, but for their checkpoints
    """

    part = "checkpoints"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = any(one is not None for one in run.checkpoints)
        self.together = self.past_limit = 0
        self._members = np.concatenate([np.zeros(0, dtype=np.int64), *run.units.members])

    def room(self, sizes: Sizes) -> CheckpointSizes:
        """For all there are."""
        return CheckpointSizes(sizes.rows, sizes.placements)

    def write(self, core: FullCore, jobs: Jobs, described: Any) -> FullCore:
        """Write what they take with checkpoints."""
        self.past_limit += int(np.count_nonzero(self._write(core, jobs)))
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """What one has saved stays saved; it goes on from there in another placement."""
        self._write(core, jobs)
        return core

    def _write(self, core: FullCore, jobs: Jobs) -> np.ndarray:
        """Write placements; tell of which first ones checkpoints are the reason why they pass the limit."""
        placements, where, owner = jobs.placements, jobs.where, jobs.placements.owner
        habit = self._habits(placements, jobs.first)
        for name, column in zip(FIELDS, habit, strict=True):
            core.checkpoints.habit[name][where] = column
        rows = np.arange(where.start, where.stop) if isinstance(where, slice) else where
        at = np.flatnonzero(habit.interval > 0)
        rows, habit, saved = rows[at], habit.picked(at), core.checkpoints.saved[jobs.rows][owner[at]]
        run = habit.run_time(saved["left"], saved["work"])
        allowed = core.placements["limit"][rows] + core.rules.overrun
        core.placements["duration"][rows] = np.minimum(run, allowed)
        core.placements["killed"][rows] = run > allowed
        if has(core, "slurm"):
            core.slurm.way["run"][rows] = run
            allowed = core.placements["limit"][rows] + core.slurm.rules.over_time
        passes: np.ndarray = (
            np.isin(at, placements.first[:-1]) & (run > allowed) & (placements.run[at] <= allowed)
        )
        return passes

    def _habits(self, placements: Placements, first_row: int) -> Habit:
        """Return how components write checkpoints in their placements, int64[p] each; 0 where they do not."""
        owner = placements.owner
        kind = placements.type_number[owner]
        writes = np.array([one is not None for one in self.run.checkpoints], dtype=bool)
        able = (kind != NO_TYPE) & writes[kind]
        united = np.isin(owner + first_row, self._members)
        self.together += len(np.unique(owner[able & united]))
        habit = Habit(*(np.zeros(len(owner), dtype=np.int64) for _ in FIELDS))
        at = np.flatnonzero(able & ~united)
        asked = np.stack((kind[at], placements.module[at], placements.nodes[at]), axis=1)
        different, which = np.unique(asked, axis=0, return_inverse=True)
        known = np.array([self._habit(*one) for one in different.tolist()], dtype=np.int64).reshape(-1, 3)
        habit.work[at] = placements.run[at]
        habit.interval[at], habit.cost[at], habit.restart[at] = known[which.ravel()].T
        return habit

    def _habit(self, kind: int, module: int, nodes: int) -> tuple[int, int, int]:
        """Interval, cost and restart of a type on so many nodes, s. Raises ConfigError without failures."""
        keys, names = self.run.checkpoints[kind], [one.name for one in self.run.system.modules]
        assert keys is not None
        failures = of_module(self.run.system.failures, names[module], names)
        if isinstance(keys.interval, str) and not failures:
            raise ConfigError(
                f"models: applications.types[{kind}].checkpoint.interval: found {keys.interval!r},"
                " which depends on the failure rate of nodes, and no failures of module"
                f" {names[module]} in the system; allowed: seconds, or failures in the system"
                " (mtbf: UNLIMITED, if no node fails)"
            )
        rate = sum(one.job_rate(nodes) for one in failures)
        return keys.interval_s(rate), keys.cost, keys.restart_s


def checkpoint_warnings(counts: Mapping[str, Any]) -> list[str]:
    """Return what a reader should know first of what checkpoints cost."""
    if not (past := int(counts.get(PAST_LIMIT, 0))):
        return []
    words = "component takes" if past == 1 else "components take"
    return [f"{past:,} {words} longer than the time limit because of checkpoints (TIMEOUT)"]
