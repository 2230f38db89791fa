"""From a recipe and a seed to a workload, stage by stage."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from scheduler_sim.errors import ConfigError
from scheduler_sim.generation.checks import MOST_RANLIB_SEED
from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.exact import draw_exact
from scheduler_sim.generation.merge import merge
from scheduler_sim.generation.module_lists import partitions
from scheduler_sim.generation.recipe import ModuleRecipe, Recipe
from scheduler_sim.generation.reference_draws import ReferenceDraws
from scheduler_sim.generation.scenarios import SCENARIOS, Scenario, columns_of
from scheduler_sim.generation.single import SingleTrace, Streams
from scheduler_sim.generation.workflows import Workflows, lay, lay_share
from scheduler_sim.streams import stream
from scheduler_sim.texts import TextColumn
from scheduler_sim.version import __version__
from scheduler_sim.workload.fields import CANCELLED
from scheduler_sim.workload.memory import check_memory
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload

MONDAY = 1704067200
"""2024-01-01, the date that second 0 is given where a format wants one."""

_PERCENT = 100.0
_BYTES_A_JOB = 250  # of memory, at the most


def generate(
    recipe: Recipe | str | Path | Mapping[str, Any], seed: int | None = None, scenario: str | None = None
) -> Workload:
    """Generate the trace of a recipe.

    Parameters
    ----------
    recipe : a :class:`Recipe`, the path of a recipe file, or the keys of one
    seed : seed of all random streams; by default the recipe's
    scenario : how workflows are written, instead of what the recipe says: ``DEP``, ``DEP+API``, ``HET``,
        ``HET+DELAY`` or ``HET+DELAY+API``. All five are the same base workload.

    Raises
    ------
    ConfigError : the recipe is wrong, with every problem and its line.
    """
    return Generated(_recipe(recipe), seed).scenario(scenario)


class Generated:
    """A base workload, from which each scenario is written.

    Attributes
    ----------
    base : the merged jobs; ``partition`` (codes into ``partitions``), ``app`` (type from 1, 0 for
        none), ``user`` (from 1, 0 for none) and ``workflows`` are what is laid over them.
    """

    def __init__(self, recipe: Recipe, seed: int | None = None) -> None:
        self.recipe = recipe
        self.seed = _checked_seed(recipe, recipe.seed if seed is None else seed)
        jobs = sum(module.jobs for module in recipe.modules)
        check_memory(jobs * _BYTES_A_JOB, recipe.name, f"generating {jobs:,} jobs")
        traces = [self._single(module) for module in recipe.modules]
        self.base = merge(traces, cut=recipe.cut)
        self.partition, self.partitions = self.base.module, [module.partition for module in recipe.modules]
        self.workflows: Workflows | None = None
        if recipe.exact:
            self._lay_as_reference()
        else:
            self._lay()
        self.app = self._applications()
        self.user = self._users()

    def scenario(self, name: str | None = None) -> Workload:
        """Return the workload of a scenario; by default the recipe's."""
        chosen = self.recipe.scenario if name is None else name
        if chosen not in SCENARIOS:
            raise ConfigError(f"scenario: found {chosen!r}; allowed: {', '.join(SCENARIOS)}")
        if self.workflows is None and chosen != "DEP":
            raise ConfigError(f"scenario: found {chosen!r} for a recipe without workflows; allowed: DEP")
        base, rows = self.base, len(self.base.nodes)
        columns = columns_of(base, self.workflows, cast(Scenario, chosen))
        cancelled = base.cancel_lag >= 0
        columns |= {
            "nodes": base.nodes,
            "listed_nodes": base.nodes,
            "listed_time_limit": columns["time_limit"],
            "run_time": np.where(cancelled, -1, columns["run_time"]),
            "wait_time": base.cancel_lag,
            "status": np.where(cancelled, 5, 0),
            "skipped": np.where(cancelled, CANCELLED, 0),
            "partition": TextColumn(self.partition, self.partitions),
            "app": self._app_text(),
            "listed_app": self._app_text(),
            "user": TextColumn(self.user, ["", *map(str, range(1, self.recipe.users + 1))]),
            "processes_per_node": 1,
            "threads_per_process": 1,
        }
        if self.recipe.exact:
            columns |= _reference_names(rows)
        return Workload(columns, TraceSource(name=self.recipe.name, header=self._header()))

    def _header(self) -> tuple[str, ...]:
        """Say where the trace comes from, for formats that have a place for it."""
        nodes = sum(module.nodes for module in self.recipe.modules)
        types = self.recipe.applications.names if self.recipe.applications else ()
        return (
            "; Computer: none, a synthetic trace",
            f"; MaxNodes: {nodes}",
            f"; MaxProcs: {nodes}",
            f"; Note: {self.recipe.name}, seed {self.seed}; generated by scheduler-sim {__version__}",
            f"; UnixStartTime: {MONDAY}",
            "; TimeZoneString: UTC",
            "; Note: the date is any Monday; one processor stands for one node",
            *(f"; Application: {number} {name}" for number, name in enumerate(types, start=1)),
        )

    def _single(self, module: ModuleRecipe) -> SingleTrace:
        if self.recipe.exact:
            return draw_exact(cast(Cirne, module.model), module.jobs, module.nodes, self._ranlib_seed(module))
        return module.model.draw(module.jobs, module.nodes, self._streams(module, twin=self.recipe.twin))

    def _streams(self, module: ModuleRecipe, *, twin: bool) -> Streams:
        seed = self.seed if module.seed is None else module.seed
        room = "generate" if twin else f"generate/{module.name}"
        return lambda purpose: stream(seed, f"{room}/{purpose}")

    def _ranlib_seed(self, module: ModuleRecipe) -> int:
        if module.seed is not None:
            return module.seed
        if self.recipe.twin:
            return self.seed
        draw = float(self._streams(module, twin=False)("ranlib").random())
        return 2 + int(draw * (MOST_RANLIB_SEED - 2))

    def _per_job(self, purpose: str) -> np.ndarray:
        """Draw a uniform in [0, 1) for each row, from its module's stream in the order of its jobs."""
        drawn = np.empty(len(self.base.nodes))
        for place, module in enumerate(self.recipe.modules):
            rows = self.base.module == place
            uniform = self._streams(module, twin=False)(purpose).random(module.jobs)
            drawn[rows] = uniform[self.base.number[rows]]
        return drawn

    def _lay(self) -> None:
        """Lay module lists and workflows over the jobs, each from streams of its own."""
        recipe, base = self.recipe, self.base
        if recipe.module_lists is not None:
            draws = (_PERCENT * self._per_job("module lists"), _PERCENT * self._per_job("which module list"))
            self.partition, self.partitions = partitions(
                base.module, tuple(self.partitions), recipe.module_lists, *draws
            )
        if recipe.workflows is not None:
            purposes = ("start", "shape", "delay", "api")
            uniforms = {purpose: self._per_job(f"workflow {purpose}") for purpose in purposes}
            given = (base, self._capacity(), uniforms)
            if recipe.share is None:
                self.workflows = lay(recipe.workflows, *given)
            else:
                self.workflows = lay_share(recipe.workflows, recipe.share, *given)

    def _lay_as_reference(self) -> None:
        """Lay module lists and workflows over the jobs by the reference's draws, in its order."""
        recipe, base = self.recipe, self.base
        draws = ReferenceDraws(self.seed % 2**32)
        lists = recipe.module_lists.lists if recipe.module_lists else (None,) * len(recipe.modules)
        options = [len(one.lists) if one else 1 for one in lists]
        taken = draws.module_lists(base.module, options)
        self.partition, self.partitions = partitions(
            base.module, tuple(self.partitions), recipe.module_lists, *taken
        )
        if recipe.workflows is not None and recipe.extension is not None:
            self.workflows = draws.workflows(*recipe.extension, recipe.workflows, base, self._capacity())

    def _capacity(self) -> list[int]:
        return [module.nodes for module in self.recipe.modules]

    def _applications(self) -> np.ndarray:
        """Return the type of each job from 1, or 0 without types."""
        if self.recipe.applications is None:
            return np.zeros(len(self.base.nodes), dtype=np.int64)
        key = int.from_bytes(stream(self.seed, "generate/application key").bytes(8), "big")
        names = [
            int(hashlib.sha256(m.name.lower().encode()).hexdigest()[:15], 16) for m in self.recipe.modules
        ]
        return 1 + self.recipe.applications.types(
            np.array(names)[self.base.module],
            self.base.number,
            key,
            lambda purpose: stream(self.seed, f"generate/{purpose}"),
        )

    def _users(self) -> np.ndarray:
        """Return the user of each job from 1, or 0 without users: few of them submit most jobs."""
        if not self.recipe.users:
            return np.zeros(len(self.base.nodes), dtype=np.int64)
        edges = np.cumsum(1.0 / np.arange(1, self.recipe.users + 1))
        numbers: np.ndarray = 1 + np.searchsorted(edges, edges[-1] * self._per_job("users"), side="right")
        return numbers

    def _app_text(self) -> TextColumn:
        types = len(self.recipe.applications.names) if self.recipe.applications else 0
        return TextColumn(self.app, ["", *map(str, range(1, types + 1))])


def _reference_names(rows: int) -> dict[str, Any]:
    """Return the names that the reference writes; those of components count from 0."""
    names = [f"job{number}" for number in range(rows + 1)]
    number = np.arange(rows)
    return {"modular_job_name": TextColumn(number, names[1:]), "name": TextColumn(number, names[:-1])}


def _checked_seed(recipe: Recipe, seed: int) -> int:
    least, most = (2, MOST_RANLIB_SEED) if recipe.exact and recipe.twin else (0, 2**63 - 1)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not least <= seed <= most:
        raise ConfigError(f"seed: found {seed!r}; allowed: an integer from {least} to {most}")
    return int(seed)


def _recipe(recipe: Recipe | str | Path | Mapping[str, Any]) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, Mapping):
        return Recipe.of(**recipe)
    if isinstance(recipe, str | Path):
        return Recipe.from_yaml(recipe)
    raise ConfigError(
        f"recipe: found {type(recipe).__name__}; allowed: a Recipe, the path of one, or its keys"
    )
