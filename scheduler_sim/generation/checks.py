"""What must hold between the keys of a recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

import numpy as np

from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.errors import ConfigError
from scheduler_sim.generation.exact import inexact
from scheduler_sim.generation.keys import ModuleKeys, RecipeKeys, ShapeKeys, WorkflowKeys
from scheduler_sim.generation.lublin import JobType
from scheduler_sim.generation.model_keys import ArrivalKeys, ModelKeys, SizeKeys
from scheduler_sim.generation.model_of import arrivals_of, cirne_of, merged, model_of
from scheduler_sim.generation.shapes import Shape
from scheduler_sim.system.system import System

MOST_RANLIB_SEED = 2147483398
MOST_RANLIB_DAYS = 100_000
"""The reference steps through every second: longer would take minutes."""
MOST_LOG2 = 32
"""Durations of a law lie within 2^±32 s, 136 years."""
LEAST_A_DAY, MOST_A_DAY = 1e-3, 1e9
LAWS_OF_TYPES = ("batch", "interactive")


def contradictions(keys: RecipeKeys, system: System | None) -> list[Problem]:
    """Return what no single key can tell; all of it, so that it shows at once."""
    problems = [
        *_modules(keys, system),
        *_module_lists(keys),
        *_applications(keys),
        *_workflows(keys, system),
        *_models(keys),
    ]
    if all(_nodes(module, system) for module in keys.modules):
        problems += _exactness(keys, system)
    return problems or list(_parameters(keys, system))


def _modules(keys: RecipeKeys, system: System | None) -> Iterator[Problem]:
    if not keys.modules:
        yield Problem(("modules",), "found an empty list; allowed: at least one module")
    seen: set[str] = set()
    partitions: set[str] = set()
    for i, module in enumerate(keys.modules):
        where: Location = ("modules", i)
        if module.name.lower() in seen:
            yield Problem((*where, "name"), f"{found(module.name)} again; allowed: each module once")
        seen.add(module.name.lower())
        written = (module.partition or module.name).lower()
        if written in partitions:
            key = "partition" if module.partition else "name"
            yield Problem((*where, key), f"{found(written)} again; allowed: a partition of its own for each")
        partitions.add(written)
        if module.jobs is None and keys.jobs is None:
            yield Problem(
                where, "missing: jobs; allowed: jobs here, or for all modules at the top of the recipe"
            )
        yield from _in_system(module, where, system)


def _in_system(module: ModuleKeys, where: Location, system: System | None) -> Iterator[Problem]:
    if system is None:
        if module.nodes is None:
            yield Problem(where, "missing: nodes; allowed: nodes here, or a system that has the module")
        return
    names = [known.name for known in system.modules]
    own = next((known for known in system.modules if known.name.lower() == module.name.lower()), None)
    if own is None:
        text = f"{found(module.name)}, no module of system {system.name}"
        yield Problem((*where, "name"), f"{text}; {one_of(names, module.name)}")
        return
    if module.nodes is not None and module.nodes > own.nodes:
        text = f"found {module.nodes}, more than module {own.name} of system {system.name} has"
        yield Problem((*where, "nodes"), f"{text}; allowed: at most {own.nodes}")
    written = module.partition or module.name
    partitions = [p.name for p in system.partitions if p.module == own.name]
    if written.lower() not in {name.lower() for name in partitions}:
        key = "partition" if module.partition else "name"
        text = f"{found(written)}, no partition of module {own.name} in system {system.name}"
        yield Problem((*where, key), f"{text}; {one_of(partitions, written)}")


def _module_lists(keys: RecipeKeys) -> Iterator[Problem]:
    if keys.module_lists is None:
        return
    names = [module.name for module in keys.modules]
    known = {name.lower() for name in names}
    given: set[str] = set()
    for name, options in keys.module_lists.modules.items():
        where: Location = ("module_lists", "modules", name)
        if name.lower() in given:
            yield Problem(where, f"{found(name)} again; allowed: each module once")
        given.add(name.lower())
        if name.lower() not in known:
            yield Problem(where, f"{found(name)}, no module of the recipe; {one_of(names, name)}")
        yield from _sum_to_100([(one.percent, ()) for one in options.lists], (*where, "lists"))
        for i, one in enumerate(options.lists):
            here = (*where, "lists", i, "modules")
            if not one.modules or one.modules[0].lower() != name.lower():
                yield Problem(here, f"{found(', '.join(one.modules))}; allowed: {name} first, then others")
            if len({other.lower() for other in one.modules}) < len(one.modules):
                yield Problem(here, f"{found(', '.join(one.modules))}; allowed: each module once")
            for other in one.modules:
                if other.lower() not in known:
                    yield Problem(here, f"{found(other)}, no module of the recipe; {one_of(names, other)}")


def _applications(keys: RecipeKeys) -> Iterator[Problem]:
    if keys.applications is None:
        return
    types = keys.applications.types
    where: Location = ("applications", "types")
    yield from _sum_to_100([(one.percent, ()) for one in types], where)
    names = [one.name for one in types]
    for i, name in enumerate(names):
        if name in names[:i]:
            yield Problem((*where, i, "name"), f"{found(name)} again; allowed: each type once")


def _sum_to_100(shares: Sequence[tuple[float, object]], where: Location) -> Iterator[Problem]:
    total = sum(percent for percent, _ in shares)
    if abs(total - 100) > 1e-6:
        yield Problem(where, f"found percentages that sum to {total:g}; allowed: a sum of 100")


def _workflows(keys: RecipeKeys, system: System | None) -> Iterator[Problem]:
    flows = keys.workflows
    if flows is None:
        if keys.scenario != "DEP":
            text = f"{found(keys.scenario)} without workflows; allowed: DEP, or a recipe with workflows"
            yield Problem(("scenario",), text)
        return
    where: Location = ("workflows",)
    if (flows.percent is None) == (flows.extension_percent is None):
        given = "neither percent nor" if flows.percent is None else "both percent and"
        yield Problem(where, f"found {given} extension_percent; allowed: one of them")
    if flows.shapes and flows.extension_percent is not None:
        yield Problem((*where, "extension_percent"), "found with shapes; allowed: percent")
    for key in ("delay_factor", "api_factor"):
        factors = getattr(flows, key)
        if len(factors) != 2 or factors[0] > factors[1]:
            yield Problem((*where, key), "allowed: two numbers, the least and the most, as in [0.5, 0.9]")
    if flows.shapes:
        yield from _sum_to_100([(one.percent, ()) for one in flows.shapes], (*where, "shapes"))
    yield from _sizes_of_workflows(flows, keys, system)


def _sizes_of_workflows(flows: WorkflowKeys, keys: RecipeKeys, system: System | None) -> Iterator[Problem]:
    """A component needs a node: workflows of more components than there are nodes can never fit."""
    if any(_nodes(module, system) == 0 for module in keys.modules):
        return
    nodes = sum(_most_jobs_at_once(module, keys, system) for module in keys.modules)
    have = "the module has" if len(keys.modules) == 1 else "all modules together have"
    if not flows.shapes and flows.max_components > nodes:
        text = f"found {flows.max_components}, more components than {have} nodes for"
        yield Problem(("workflows", "max_components"), f"{text}; allowed: at most {nodes}")
    for i, keyed in enumerate(flows.shapes):
        where: Location = ("workflows", "shapes", i)
        yield from _odd_shape(keyed, where)
        largest = Shape(keyed.shape, max(keyed.width), max(keyed.depth)).components
        if largest > nodes:
            text = f"found workflows of {largest} components, more than {have} nodes for"
            yield Problem(where, f"{text}; allowed: at most {nodes} components")


def _most_jobs_at_once(module: ModuleKeys, keys: RecipeKeys, system: System | None) -> int:
    """Return how many of the smallest jobs of a module fit it."""
    nodes, model = _nodes(module, system), merged(keys.model, module.model)
    if model.kind != "cirne" or list(_sizes(model.sizes)):
        return nodes
    pmf = cirne_of(model, nodes).sizes.pmf(nodes, model.reduction_factor)
    return nodes // int(np.flatnonzero(pmf > 0)[0])


def _odd_shape(keyed: ShapeKeys, where: Location) -> Iterator[Problem]:
    if keyed.shape == "chain":
        if set(keyed.width) != {1}:
            yield Problem((*where, "width"), "found a width of a chain; allowed: depth alone")
        if min(keyed.depth) < 2:
            yield Problem((*where, "depth"), "found a chain of 1 component; allowed: 2 or more")
    elif min(keyed.width) < 2:
        yield Problem((*where, "width"), f"found a {keyed.shape} of 1 branch; allowed: 2 or more")


def _models(keys: RecipeKeys) -> Iterator[Problem]:
    told: set[Location] = set()
    for i, module in enumerate(keys.modules):
        model = merged(keys.model, module.model)
        jobs = module.jobs or keys.jobs or 0
        problems = (
            *_arrivals(model.arrivals, jobs),
            *_sizes(model.sizes),
            *_durations(model),
            *_lublin(model),
        )
        for problem in problems:
            where = _where_given(i, module, problem.where)
            if where not in told:
                told.add(where)
                yield Problem(where, problem.text)


def _parameters(keys: RecipeKeys, system: System | None) -> Iterator[Problem]:
    """Yield what the models themselves find wrong with their parameters."""
    for i, module in enumerate(keys.modules):
        try:
            model_of(merged(keys.model, module.model), _nodes(module, system))
        except ConfigError as error:
            yield from (Problem(("modules", i, "model"), text) for text in error.problems)


def _where_given(i: int, module: ModuleKeys, where: Location) -> Location:
    """Point into the module's model if it gives the key's section, else into the recipe's."""
    own = module.model is not None and str(where[0]) in module.model.model_fields_set
    return ("modules", i, "model", *where) if own else ("model", *where)


def _arrivals(keys: ArrivalKeys, jobs: int) -> Iterator[Problem]:
    where: Location = ("arrivals",)
    if keys.offered_load is not None and jobs == 1:
        yield Problem((*where, "offered_load"), "found with 1 job; allowed: 2 jobs or more")
    if keys.reference_nodes is not None and not (keys.hourly or keys.polynomial):
        yield Problem((*where, "reference_nodes"), "found with a site; allowed: with hourly or polynomial")
    if keys.hourly is not None and (len(keys.hourly) != 24 or not sum(keys.hourly) > 0):
        yield Problem((*where, "hourly"), f"found {len(keys.hourly)} numbers; allowed: 24, not all 0")
    if keys.weekly is not None and (len(keys.weekly) != 7 or not sum(keys.weekly) > 0):
        yield Problem((*where, "weekly"), f"found {len(keys.weekly)} numbers; allowed: 7, not all 0")
    if keys.polynomial is not None and not keys.polynomial:
        yield Problem((*where, "polynomial"), "found no coefficients; allowed: at least one")
    if not _has_no_cycle(keys):
        a_day = arrivals_of(keys, 1).cycle.jobs_per_day(arrivals_of(keys, 1).cycle.reference_nodes)
        if not LEAST_A_DAY <= a_day <= MOST_A_DAY:
            allowed = f"{LEAST_A_DAY:g} to {MOST_A_DAY:g} jobs a day"
            yield Problem(where, f"found a cycle of {a_day:g} jobs a day; allowed: {allowed}")
    given = [key for key in ("site", "hourly", "polynomial") if key in keys.model_fields_set]
    if len(given) > 1:
        yield Problem((*where, given[1]), f"found besides {given[0]}; allowed: one cycle")


def _has_no_cycle(keys: ArrivalKeys) -> bool:
    """Tell whether the cycle cannot be worked out."""
    hours, days = keys.hourly, keys.weekly
    bad_hours = hours is not None and (len(hours) != 24 or not sum(hours) > 0)
    bad_days = days is not None and (len(days) != 7 or not sum(days) > 0)
    return bad_hours or bad_days or keys.polynomial == []


def _durations(keys: ModelKeys) -> Iterator[Problem]:
    """Laws of time must stay within what an integer of seconds holds."""
    if keys.kind != "cirne":
        return
    model = cirne_of(keys, 1)
    laws = {("requests",): model.requests, ("cancellations", "lag"): model.cancellations.lag}
    for where, law in laws.items():
        least, most = -law.intercept / law.slope, (1.0 - law.intercept) / law.slope
        if not -MOST_LOG2 <= least < most <= MOST_LOG2:
            text = f"found durations of 2^{least:.4g} to 2^{most:.4g} s"
            yield Problem(where, f"{text}; allowed: 2^-{MOST_LOG2} to 2^{MOST_LOG2} s")


def _sizes(keys: SizeKeys) -> Iterator[Problem]:
    if keys.largest is not None and keys.slope is not None:
        yield Problem(("sizes", "largest"), "found besides slope; allowed: one of them")
    if keys.largest is not None and keys.intercept == 1.0:
        yield Problem(("sizes", "intercept"), "found 1, all jobs serial, besides largest; allowed: below 1")


def _lublin(keys: ModelKeys) -> Iterator[Problem]:
    cirne_only = {"arrivals", "sizes", "requests", "accuracy", "cancellations", "load_multiplier",
                  "reduction_factor", "size_time_correlation", "preset"}  # fmt: skip
    if keys.kind == "cirne":
        if "lublin" in keys.model_fields_set:
            yield Problem(("lublin",), "found with kind: cirne; allowed: kind: lublin")
        return
    for key in sorted(cirne_only & keys.model_fields_set):
        yield Problem((key,), "found with kind: lublin; allowed: kind, lublin, estimates")
    names = [field.name for field in fields(JobType)]
    for section in ("law", *LAWS_OF_TYPES):
        law: Mapping[str, float] = getattr(keys.lublin, section)
        for name in law:
            if name not in names:
                yield Problem(("lublin", section, name), f"unknown key; {one_of(names, name)}")
        if law and (section in LAWS_OF_TYPES) != keys.lublin.types:
            needed = "types: true" if section in LAWS_OF_TYPES else "batch and interactive with types: true"
            yield Problem(("lublin", section), f"found without effect; allowed: {needed}")


def _exactness(keys: RecipeKeys, system: System | None) -> Iterator[Problem]:
    """With ``rng: ranlib`` only what the reference knows."""
    if keys.rng != "ranlib":
        return
    seeds: list[tuple[Location, int]] = [(("seed",), keys.seed)] if keys.seeds == "twin" else []
    seeds += [(("modules", i, "seed"), m.seed) for i, m in enumerate(keys.modules) if m.seed is not None]
    for where, seed in seeds:
        if not 2 <= seed <= MOST_RANLIB_SEED:
            yield Problem(where, f"found {seed}; allowed with rng: ranlib: 2 to {MOST_RANLIB_SEED}")
    for i, module in enumerate(keys.modules):
        model = merged(keys.model, module.model)
        beyond = ["kind"] if model.kind != "cirne" else inexact(cirne_of(model, _nodes(module, system)))
        beyond += ["estimates"] if model.estimates else []
        for key in beyond:
            where_given = _where_given(i, module, tuple(key.split(".")))
            yield Problem(where_given, "found with rng: ranlib; allowed: what the reference generator knows")
        if model.kind == "cirne" and not beyond:
            yield from _too_long_to_step(i, model, module.jobs or keys.jobs or 0, _nodes(module, system))
        cancelling = model.kind == "cirne" and cirne_of(model, 1).cancellations.probability > 0
        if keys.workflows is not None and cancelling:
            where_given = _where_given(i, module, ("cancellations",))
            yield Problem(where_given, "found with rng: ranlib and workflows; allowed: probability 0")
    if keys.workflows is not None and keys.workflows.extension_percent is None:
        yield Problem(("workflows",), "found percent with rng: ranlib; allowed: extension_percent")


def _too_long_to_step(i: int, model: ModelKeys, jobs: int, nodes: int) -> Iterator[Problem]:
    cirne = cirne_of(model, nodes)
    days = jobs / (cirne.rate_factor * cirne.arrivals.cycle.jobs_per_day(nodes))
    if days > MOST_RANLIB_DAYS:
        text = f"found {jobs:,} jobs over {days:,.0f} days with rng: ranlib"
        yield Problem(("modules", i), f"{text}; allowed: {MOST_RANLIB_DAYS:,} days")


def _nodes(module: ModuleKeys, system: System | None) -> int:
    """Return the nodes of a module; 0 where they are not known."""
    if module.nodes or system is None:
        return module.nodes or 0
    return next((known.nodes for known in system.modules if known.name.lower() == module.name.lower()), 0)
