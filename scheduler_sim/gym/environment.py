"""What all environments share: episodes, steps, what is seen, and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.gym.episodes import MOST_SEED, Episodes
from scheduler_sim.gym.observation import Observation, Seen
from scheduler_sim.gym.rewards import Jobs, Reward, reward_of
from scheduler_sim.policy.policy import Policy
from scheduler_sim.result.result import Result
from scheduler_sim.schedulers.columns import Columns
from scheduler_sim.schedulers.stepping import Stepped
from scheduler_sim.schedulers.view import View
from scheduler_sim.simulation.simulation import Simulation
from scheduler_sim.system.read_system import read_system
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

Mask = NDArray[np.int8]
OPTIONS = ("seed", "first")


class Scheduling(gymnasium.Env[Seen, Any]):
    """An episode schedules some jobs on a system that is empty at first; subclasses define a step.

    Parameters
    ----------
    system : a System, or the path of one
    workload : a Workload, or the path of a trace, of which an episode is a window
    recipe : a Recipe, its path or its keys, in place of a workload: each episode generates a trace
    jobs : number of consecutive jobs in an episode; None = the whole trace
    window : number of jobs at the front of the queue that are observed
    reward : ``bounded_slowdown``, ``wait``, ``utilization``, or a function of (Jobs, since, now)

    Attributes
    ----------
    simulation : of this episode
    view : the pass in which a decision is due; None when the episode is over

    Raises InputError for anything wrong with what is given.
    """

    simulation: Simulation

    def __init__(
        self,
        *,
        system: System | str | Path,
        workload: Workload | str | Path | None = None,
        recipe: Recipe | str | Path | Mapping[str, Any] | None = None,
        jobs: int | None = 256,
        window: int = 32,
        reward: str | Reward = "bounded_slowdown",
    ) -> None:
        if isinstance(window, bool) or not isinstance(window, int) or window < 1:
            raise InputError(f"window: found {window!r}; allowed: an integer >= 1")
        self.system = system if isinstance(system, System) else read_system(system)
        self._episodes, self._reward = Episodes(workload, recipe, jobs), reward_of(reward)
        self._observation, self.window = Observation(self.system, window), window
        self.observation_space = self._observation.space()
        self.view: View | None = None

    # -- the interface of Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin an episode.

        ``options``: ``seed``, of this episode alone, in place of one that is drawn; ``first``, the first job
        of the window. Raises InputError for others, and for jobs none of which the system can run.
        """
        super().reset(seed=seed)
        given = dict(options or {})
        for name in given:
            if name not in OPTIONS:
                raise InputError(
                    f"options: found {name!r}; allowed: seed, first{did_you_mean(name, OPTIONS)}"
                )
        drawn = int(self.np_random.integers(MOST_SEED))
        self._seed = int(given.get("seed", drawn))
        workload = self._episodes.draw(self._seed, given.get("first"))
        policy = Policy(name="gym", backfill="none", scheduler=Stepped())
        self.simulation = Simulation(self.system, workload, policy, seed=self._seed)
        self._refused = 0
        self.view = self.simulation.next_pass()
        if self.view is None:
            raise InputError(f"{self.system.name}: none of the {len(workload)} jobs of this episode can run")
        self._columns = Columns(self.view)
        self._prepare()
        if self.view is None:
            raise InputError(f"{self.system.name}: no job of this episode ever fits in the window")
        self._now = self.view.now
        return self._look(), self._info()

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Decide, and go on to where the next decision is due.

        Raises ResetNeeded when the episode is over.
        """
        if self.view is None:
            raise ResetNeeded("the episode is over: call reset")
        since = self._now
        self._decide(action)
        jobs = self._jobs()
        if self.view is None:
            ran = jobs.start >= 0
            self._now = max(since, int((jobs.start + jobs.run)[ran].max(initial=0)))
        else:
            self._now = self.view.now
        reward = float(self._reward(jobs, since, self._now))
        return self._look(), reward, self.view is None, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are allowed now: bool[actions], as sb3-contrib asks for them."""
        return self._mask().astype(np.bool_)

    def result(self) -> Result:
        """Return the schedule so far."""
        return self.simulation.result()

    # -- what an environment says of its own

    def _prepare(self) -> None:
        """The first pass of an episode: go on to where a decision is due."""

    def _decide(self, action: Any) -> None:
        """Carry out a decision, and go on to where the next is due."""
        raise NotImplementedError

    def _mask(self) -> Mask:
        """Which actions are allowed now: int8[actions]; all, where an environment says nothing else."""
        assert isinstance(self.action_space, Discrete)
        return np.ones(int(self.action_space.n), dtype=np.int8)

    # -- what they use

    def _go_on(self) -> None:
        """Leave this pass for the next in which jobs wait."""
        self.view = self.simulation.next_pass()

    def _refuse(self) -> None:
        """An action is not allowed now: count it."""
        self._refused += 1

    def _look(self) -> Seen:
        if self.view is None:
            return self._observation.nothing()
        return self._observation.look(self._columns, self.view.now)

    def _jobs(self) -> Jobs:
        """The jobs of the episode as they are now."""
        it = self._columns
        able = it.able
        nodes, limit, run = (it.placed(name)[able] for name in ("nodes", "limit", "duration"))
        machine = sum(module.nodes for module in self.system.modules)
        return Jobs(it.submit[able], it.start[able], nodes, limit, run, machine)

    def _info(self) -> dict[str, Any]:
        """What is told besides: at the end of an episode its metrics, too."""
        info: dict[str, Any] = {"now": self._now, "refused": self._refused, "seed": self._seed}
        if isinstance(self.action_space, Discrete):
            info["action_mask"] = self._mask()
        return info if self.view is not None else info | figures(self.result())


def figures(result: Result) -> dict[str, float]:
    """Return the metrics of a schedule that an episode ends with, by their names in ``metrics.json``."""
    metrics = result.metrics
    return {
        "wait_time_mean": metrics["wait_time"]["mean"],
        "bounded_slowdown_mean": metrics["bounded_slowdown"]["mean"],
        "utilization_total": metrics["utilization"]["total"],
        "makespan": metrics["makespan"],
        "pending": metrics["counts"]["pending"],
    }
