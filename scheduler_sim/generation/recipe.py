"""A recipe: everything that determines a generated trace but the seed."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from scheduler_sim.applications.draw import Applications
from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Problem, listed
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import ConfigError
from scheduler_sim.generation.checks import contradictions
from scheduler_sim.generation.keys import ModuleKeys, ModuleListKeys, RecipeKeys, WorkflowKeys
from scheduler_sim.generation.model_of import merged, model_of
from scheduler_sim.generation.module_lists import Flexibility, Flexible, ModuleList
from scheduler_sim.generation.scenarios import Scenario
from scheduler_sim.generation.shapes import Shape
from scheduler_sim.generation.single import Model
from scheduler_sim.generation.workflows import (
    WorkflowLaw,
    extension_chains,
    extension_for_share,
    start_for_share,
)
from scheduler_sim.system.read_system import read_system
from scheduler_sim.system.system import System


@dataclass(frozen=True)
class ModuleRecipe:
    """One module: its name, what the trace calls it, its nodes, and the jobs submitted to it.

    ``seed`` is a seed of its own; None: that of the recipe.
    """

    name: str
    partition: str
    nodes: int
    jobs: int
    seed: int | None
    model: Model


@dataclass(frozen=True)
class Recipe:
    """A checked recipe. Build one with :meth:`from_yaml`, or with :meth:`of` from the same keys.

    Attributes
    ----------
    name, description : text for the reader.
    seed : seed of all random streams, unless one is given to ``generate``.
    exact : whether the draws are the reference generator's.
    modules : at least one.
    twin : whether all modules draw the same numbers.
    cut : whether the trace ends where its first module does.
    module_lists, applications, workflows : what is laid over it; None for nothing.
    extension : (probability, most components) where workflows are extended job by job.
    share : share of the jobs that are in workflows; None if the extension is given.
    users : number of users, 0 for none; the k-th submits 1/k as much as the first.
    scenario : how workflows are written.
    keys : as they were given, without the system; see :meth:`to_dict`.
    """

    name: str
    description: str
    seed: int
    exact: bool
    modules: tuple[ModuleRecipe, ...]
    twin: bool
    cut: bool
    module_lists: Flexible | None
    applications: Applications | None
    workflows: WorkflowLaw | None
    extension: tuple[float, int] | None
    share: float | None
    users: int
    scenario: Scenario
    keys: Mapping[str, Any] = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys that were given, modules with their nodes: ``Recipe.of`` of them is the same."""
        return copy.deepcopy(dict(self.keys))

    @classmethod
    def from_yaml(cls, path: str | Path) -> Recipe:
        """Read a recipe file. Raises ConfigError with every problem, each with its line."""
        file = read_yaml(path)
        keys, problems = check_keys(RecipeKeys, file.data)
        if keys is not None and not problems:
            system, problems = _system(keys, file.path.parent)
            problems += contradictions(keys, system)
            if not problems:
                return _recipe_of(keys, system, file.path.stem)
        raise file.error(problems)

    @classmethod
    def of(cls, **keys: Any) -> Recipe:
        """Build a recipe from the keys of a recipe file; ``system`` may also be a System.

        Raises ConfigError with every problem.

        Examples
        --------
        >>> recipe = Recipe.of(modules=[{"name": "CM", "nodes": 50, "jobs": 1000}])
        >>> recipe.modules[0].partition
        'CM'
        """
        given = keys.pop("system", None)
        system = given if isinstance(given, System) else None
        data = keys if system is not None else {**keys, "system": given}
        checked, problems = check_keys(RecipeKeys, data)
        if checked is not None and not problems:
            if system is None:
                system, problems = _system(checked, Path())
            problems += contradictions(checked, system)
            if not problems:
                return _recipe_of(checked, system, "recipe")
        raise ConfigError(listed(f"recipe: {problem}" for problem in problems))


def _system(keys: RecipeKeys, directory: Path) -> tuple[System | None, list[Problem]]:
    if keys.system is None:
        return None, []
    try:
        return read_system(directory / keys.system), []
    except ConfigError as error:
        return None, [Problem(("system",), problem) for problem in error.problems]


def _recipe_of(keys: RecipeKeys, system: System | None, name: str) -> Recipe:
    flows = keys.workflows
    extended = flows is not None and not flows.shapes
    law = _workflow_law(flows) if flows is not None else None
    return Recipe(
        name=keys.name or name,
        description=keys.description,
        seed=keys.seed,
        exact=keys.rng == "ranlib",
        modules=tuple(_module(module, keys, system) for module in keys.modules),
        twin=keys.seeds == "twin",
        cut=keys.cut,
        module_lists=_module_lists(keys),
        applications=_applications(keys),
        workflows=law,
        extension=(law.start, flows.max_components) if law and flows and extended else None,
        share=flows.percent / 100 if flows is not None and flows.percent is not None else None,
        users=keys.users,
        scenario=cast(Scenario, keys.scenario),
        keys=_given(keys, system),
    )


def _given(keys: RecipeKeys, system: System | None) -> dict[str, Any]:
    given = keys.model_dump(exclude_unset=True, exclude_none=True, exclude={"system"})
    for module, checked in zip(given["modules"], keys.modules, strict=True):
        module["nodes"] = checked.nodes or (system.module(checked.name).nodes if system else 0)
    return given


def _module(module: ModuleKeys, keys: RecipeKeys, system: System | None) -> ModuleRecipe:
    nodes = module.nodes or (system.module(module.name).nodes if system else 0)
    return ModuleRecipe(
        name=module.name,
        partition=module.partition or module.name,
        nodes=nodes,
        jobs=module.jobs or keys.jobs or 0,
        seed=module.seed,
        model=model_of(merged(keys.model, module.model), nodes),
    )


def _module_lists(keys: RecipeKeys) -> Flexible | None:
    if keys.module_lists is None:
        return None
    written = {module.name.lower(): module.partition or module.name for module in keys.modules}
    by_name = {name.lower(): options for name, options in keys.module_lists.modules.items()}
    lists = tuple(_lists_of(by_name.get(module.name.lower()), written) for module in keys.modules)
    less = {"medium": keys.module_lists.medium_less, "low": keys.module_lists.low_less}
    return Flexible(lists, cast(Flexibility, keys.module_lists.level), less)


def _lists_of(options: ModuleListKeys | None, written: Mapping[str, str]) -> ModuleList | None:
    if options is None:
        return None
    return ModuleList(
        options.percent,
        tuple(",".join(written[name.lower()] for name in one.modules) for one in options.lists),
        tuple(one.percent for one in options.lists),
    )


def _applications(keys: RecipeKeys) -> Applications | None:
    if keys.applications is None:
        return None
    types = keys.applications.types
    draw = cast(Literal["hash", "sequence", "quota"], keys.applications.draw)
    return Applications(tuple(t.name for t in types), tuple(t.percent for t in types), draw)


def _workflow_law(keys: WorkflowKeys) -> WorkflowLaw:
    share = (keys.percent or 0.0) / 100
    if keys.shapes:
        shapes: Mapping[Shape, float] = dict(_shapes(keys))
        start = start_for_share(share, shapes)
    else:
        extends = keys.extension_percent
        start = extends / 100 if extends is not None else extension_for_share(share, keys.max_components)
        shapes = extension_chains(start, keys.max_components)
    (least_delay, most_delay), (least_call, most_call) = keys.delay_factor, keys.api_factor
    return WorkflowLaw(start, shapes, (least_delay, most_delay), (least_call, most_call))


def _shapes(keys: WorkflowKeys) -> Iterator[tuple[Shape, float]]:
    """Return every shape that may come up, with its probability; the same one may come from several keys."""
    total: dict[Shape, float] = {}
    for keyed in keys.shapes:
        for width, of_width in keyed.width.items():
            for depth, of_depth in keyed.depth.items():
                shape = Shape(keyed.shape, width, depth)
                total[shape] = total.get(shape, 0.0) + keyed.percent * of_width * of_depth / 1e6
    yield from ((shape, probability) for shape, probability in sorted(total.items()) if probability > 0)
