"""Learn linear rules by the cross-entropy method: ``python -m analysis.learnt_scheduler.train_linear``.

R. Rubinstein, "The cross-entropy method for combinatorial and continuous optimization", Methodol. Comput.
Appl. Probab. 1(2), 127-190, 1999.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import gymnasium
import numpy as np

from analysis.learnt_scheduler.agents import INPUTS, WEIGHTED, WEIGHTS, Linear
from analysis.learnt_scheduler.cases import training
from scheduler_sim.streams import stream

TRIED, KEPT, EPISODES = 10, 3, 2
LEAST_SPREAD = 0.05


def learn(rounds: int, seed: int, env: gymnasium.Env, *, holds_back: bool) -> np.ndarray:
    """Return the mean of the weights after so many rounds, float64[INPUTS].

    Each round tries weights drawn around it on the same episodes, and goes to those that did best.
    """
    draw = stream(seed, "learnt scheduler linear")
    mean, spread = np.zeros(INPUTS), np.ones(INPUTS)
    mean[WEIGHTED.index("there")] = 2.0  # to begin with, no pass is ended in which a job may start
    for number in range(rounds):
        tried = mean + spread * draw.standard_normal((TRIED, INPUTS))
        episodes = [seed + number * EPISODES + i for i in range(EPISODES)]
        rules = [Linear(one, holds_back=holds_back) for one in tried]
        values = np.array([np.mean([value_of(rule, env, e) for e in episodes]) for rule in rules])
        kept = tried[np.argsort(-values)[:KEPT]]
        mean, spread = kept.mean(axis=0), np.maximum(kept.std(axis=0), LEAST_SPREAD)
        print(f"round {number + 1}: best {values.max():.1f}, mean {values.mean():.1f}", flush=True)
    return mean


def value_of(agent: Linear, env: gymnasium.Env, episode: int) -> float:
    """Return what an episode is worth: log of the mean bounded slowdown, negative."""
    seen, info = env.reset(options={"seed": episode})
    over = False
    while not over:
        seen, _, over, _, info = env.step(agent(seen, info["action_mask"]))
    return -float(np.log(info["bounded_slowdown_mean"]))


def main() -> None:
    """Write the weights."""
    name = "python -m analysis.learnt_scheduler.train_linear"
    parser = argparse.ArgumentParser(prog=name, description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=str(WEIGHTS), help="folder of what is learnt")
    kinds = ("order", "rule")
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds, help="a rule may hold jobs back")
    given = parser.parse_args()
    for kind in given.kinds:
        weights = learn(given.rounds, given.seed, training(), holds_back=kind == "rule")
        np.savez(Path(given.out) / f"linear_{kind}.npz", weights=weights)


if __name__ == "__main__":
    main()
