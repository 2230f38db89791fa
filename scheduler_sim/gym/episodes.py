"""Where the jobs of an episode come from: a window of a trace, or a trace that a recipe makes anew."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.generation.generate import generate
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.loaders.read import read_trace
from scheduler_sim.streams import stream
from scheduler_sim.workload.table import Workload

MOST_SEED = 2**31


class Episodes:
    """Draws episodes by seed.

    Parameters
    ----------
    workload : a Workload or the path of a trace; or None
    recipe : a Recipe, its path or its keys, from which each episode generates a trace; or None
    jobs : an episode has so many jobs in a row; None = all there are

    Raises InputError unless one of both is given, and where jobs of a part would wait for others of another.
    """

    def __init__(
        self,
        workload: Workload | str | Path | None,
        recipe: Recipe | str | Path | Mapping[str, Any] | None,
        jobs: int | None,
    ) -> None:
        if (workload is None) == (recipe is None):
            given = "neither" if workload is None else "both"
            raise InputError(f"found {given} of workload and recipe; allowed: one of them")
        if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
            raise InputError(f"jobs: found {jobs!r}; allowed: an integer >= 1, or None for all")
        self._jobs, self._recipe = jobs, _recipe_of(recipe)
        self._workload = read_trace(workload) if isinstance(workload, str | Path) else workload
        if self._workload is not None:
            self._rows = self._in_order(self._workload)

    def draw(self, seed: int, first: int | None = None) -> Workload:
        """Return the jobs of an episode.

        ``first``: the first of them, counted from 0 in order of submission; by default drawn.
        """
        workload, rows = self._workload, np.arange(0)
        if workload is None:
            assert self._recipe is not None
            workload = generate(self._recipe, seed=seed)
            rows = self._in_order(workload)
        else:
            rows = self._rows
        last = len(rows) - (self._jobs or len(rows))
        if last <= 0 and not first:
            return workload
        if first is None:
            first = int(stream(seed, "gym window").integers(last + 1))
        if isinstance(first, bool) or not isinstance(first, int | np.integer) or not 0 <= first <= last:
            raise InputError(f"first: found {first!r}; allowed: an integer from 0 to {max(last, 0)}")
        return workload.select(rows[first : first + (self._jobs or len(rows))])

    def _in_order(self, workload: Workload) -> np.ndarray:
        """Rows of jobs in order of submission."""
        rows = np.flatnonzero(workload["skipped"] == 0)
        tied = len(workload.edges.row) > 0 or bool((workload["components_total"] > 1).any())
        if tied and self._jobs is not None and self._jobs < len(rows):
            raise InputError(
                f"jobs: found {self._jobs} with a trace whose jobs wait for each other; allowed: None for all"
            )
        return rows[np.argsort(workload["submit_time"][rows], kind="stable")]


def _recipe_of(recipe: Recipe | str | Path | Mapping[str, Any] | None) -> Recipe | None:
    if isinstance(recipe, Mapping):
        return Recipe.of(**recipe)
    return Recipe.from_yaml(recipe) if isinstance(recipe, str | Path) else recipe
