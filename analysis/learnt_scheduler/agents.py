"""What was learnt: a score of each job that may start, and of the end of the pass, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

QUEUE = ("there", "module", "nodes", "limit", "wait", "earliest", "fits", "harmless")
"""The columns of the queue, as the environment has them: pages are made without it, too."""

WEIGHTS = Path(__file__).parent / "weights"
INPUTS = len(QUEUE) + 2
LAYERS = (32, 16)
WEIGHTED = (*QUEUE, "free", "waiting")
"""What is known of an action, by name."""

Seen = Mapping[str, Any]


def inputs(seen: Seen) -> np.ndarray:
    """Return what is known of each action: float[window + 1, INPUTS].

    Of a job its columns, of the end of the pass zeros; then how much is idle, and how many wait.
    """
    queue = np.concatenate([seen["queue"], np.zeros((1, len(QUEUE)))])
    about = [seen["free"].mean(), seen["time"][-1]]
    return np.concatenate([queue, np.broadcast_to(about, (len(queue), 2))], axis=1)


def spread(given: Any) -> Any:
    """Return inputs of a network, from −2 to 2, of what is from 0 to 1."""
    return 4 * given - 2


class Linear:
    """A rule that is linear in what is known of a job; what is the same for all changes nothing.

    ``weights``: float64[INPUTS]; ``holds_back``: whether it may end a pass while a job may start.
    """

    def __init__(self, weights: np.ndarray, *, holds_back: bool) -> None:
        self.weights, self.holds_back = weights, holds_back

    def __call__(self, seen: Seen, mask: np.ndarray) -> int:
        """Return the action with the highest score; of equal ones the first."""
        scores = inputs(seen) @ self.weights
        if not self.holds_back:
            scores[-1] = scores.min() - 1
        return best(scores, mask)


class Kernel:
    """A small network that scores each action by itself, with the same weights for all.

    ``layers``: weights float32[out, in] and bias float32[out] of each layer; between them tanh.
    """

    def __init__(self, layers: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.layers = layers

    def __call__(self, seen: Seen, mask: np.ndarray) -> int:
        """Return the action with the highest score; of equal ones the first."""
        return best(self.scores(spread(inputs(seen))), mask)

    def scores(self, given: np.ndarray) -> np.ndarray:
        """Return float[...] of float[..., INPUTS]."""
        *hidden, (weights, bias) = self.layers
        for into, shift in hidden:
            given = np.tanh(given @ into.T + shift)
        return (given @ weights.T + bias)[..., 0]


def best(scores: np.ndarray, mask: np.ndarray) -> int:
    """Return the place of the highest score that is allowed."""
    return int(np.argmax(np.where(mask > 0, scores, -np.inf)))


def linear_rule(folder: Path = WEIGHTS) -> Linear:
    """Return the linear rule that was learnt, which may hold jobs back."""
    with np.load(folder / "linear_rule.npz", allow_pickle=False) as kept:
        return Linear(kept["weights"], holds_back=True)


def linear_order(folder: Path = WEIGHTS) -> Linear:
    """Return the linear order that was learnt: with reservations it is EASY in that order."""
    with np.load(folder / "linear_order.npz", allow_pickle=False) as kept:
        return Linear(kept["weights"], holds_back=False)


def kernel(folder: Path = WEIGHTS) -> Kernel:
    """Return the network that was learnt."""
    with np.load(folder / "ppo.npz", allow_pickle=False) as kept:
        places = range(len(LAYERS) + 1)
        return Kernel([(kept[f"weights_{i}"], kept[f"bias_{i}"]) for i in places])


AGENTS = {"linear order": linear_order, "linear rule": linear_rule, "MaskablePPO": kernel}
"""What was learnt, by the name that pages have."""
