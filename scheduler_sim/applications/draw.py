"""Application types of jobs, drawn with their shares: D2.3 section 3.3.2 and Table 7."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

Draw = Literal["hash", "sequence", "quota"]
DRAWS: tuple[Draw, ...] = ("hash", "sequence", "quota")
Streams = Callable[[str], np.random.Generator]
_ODD = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


@dataclass(frozen=True)
class Applications:
    """Application types and how jobs get theirs.

    Attributes
    ----------
    names, percents : of the types; the percentages sum to 100.
    draw : ``hash`` of the job's module and number: a job keeps its type whatever else is in the
        trace; ``sequence``: uniforms in the order of the trace, as the deliverable has it;
        ``quota``: a random order of exactly the stated shares.
    """

    names: tuple[str, ...]
    percents: tuple[float, ...]
    draw: Draw

    def types(self, module: np.ndarray, number: np.ndarray, key: int, streams: Streams) -> np.ndarray:
        """Return the type of each job, counted from 0.

        ``module`` has a number of each job's module that does not depend on the others, int64;
        ``key`` seeds the hash.
        """
        if self.draw == "quota":
            return _in_random_order(self._quota(len(module)), streams("applications"))
        if self.draw == "hash":
            where = hashed(key, module, number)
        else:
            where = streams("applications").random(len(module))
        edges = np.cumsum(self.percents)[:-1] / sum(self.percents)
        return np.searchsorted(edges, where, side="right")

    def _quota(self, jobs: int) -> np.ndarray:
        """Share out jobs exactly; what is left over goes to the largest remainders."""
        exact = np.array(self.percents) * jobs / sum(self.percents)
        count = np.floor(exact + 1e-9).astype(np.int64)
        largest = np.argsort(count - exact, kind="stable")[: jobs - int(count.sum())]
        count[largest] += 1
        return np.repeat(np.arange(len(count)), count)


def hashed(key: int, module: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return a uniform in [0, 1) for each job, by SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    mask = (1 << 64) - 1
    z = np.full(len(module), key & mask, dtype=np.uint64)
    for part in (module, number):
        z = z + (part.astype(np.uint64) + np.uint64(1)) * np.uint64(_ODD[0])
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_ODD[1])
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_ODD[2])
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _in_random_order(types: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return types[np.argsort(random.random(len(types)), kind="stable")]
