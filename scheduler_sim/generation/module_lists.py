"""Modules a job may run on besides its own: D2.3 section 3.2, Figure 13."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Flexibility = Literal["none", "low", "medium", "full"]


@dataclass(frozen=True)
class ModuleList:
    """What the jobs of one module may name.

    Attributes
    ----------
    percent : of the module's jobs name a list, at full flexibility.
    lists : partition texts, as ``CM,DAM``; the preferred one comes first.
    shares : of each list among the jobs that name one, percent.
    """

    percent: float
    lists: tuple[str, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Flexible:
    """Module lists of all modules and how freely they are used.

    Attributes
    ----------
    lists : by module, None where its jobs name the module alone.
    level : ``full``, ``medium`` or ``low``; ``none`` draws the lists and writes none.
    less : percentage points by which the levels lower each percentage. The same draw decides at
        all levels: a job with a list at ``low`` has one at ``medium``.
    """

    lists: tuple[ModuleList | None, ...]
    level: Flexibility
    less: dict[str, float]

    def points_less(self) -> float:
        """Return the percentage points by which this level lowers the percentages."""
        return self.less.get(self.level, 0.0)


def partitions(
    module: np.ndarray, own: tuple[str, ...], flexible: Flexible | None, draws: np.ndarray, pick: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Return the partition text of each job, as codes into a list of texts.

    ``draws`` (is it flexible?) and ``pick`` (which list?) are uniforms in [0, 100), one a job;
    ``module`` counts modules from 0, ``own`` names their partitions.
    """
    codes, texts = module.copy(), list(own)
    if flexible is None or flexible.level == "none":
        return codes, texts
    for place, options in enumerate(flexible.lists):
        if options is None:
            continue
        chosen = (module == place) & (draws < options.percent - flexible.points_less())
        which = np.searchsorted(np.cumsum(options.shares), pick[chosen], side="right")
        places = [_place(text, texts) for text in options.lists]
        codes[chosen] = np.array(places)[np.minimum(which, len(places) - 1)]
    return codes, texts


def _place(text: str, texts: list[str]) -> int:
    if text not in texts:
        texts.append(text)
    return texts.index(text)
