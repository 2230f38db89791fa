"""What can be wrong with the keys of a study beyond each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.metrics.names import better
from scheduler_sim.study.inputs import Inputs
from scheduler_sim.study.keys import COST, SearchKeys, StudyKeys, spelt
from scheduler_sim.study.mixes import mixes
from scheduler_sim.study.run import Run
from scheduler_sim.study.store import known_metrics

SEED = "seed"


def problems_of(keys: StudyKeys, inputs: Inputs) -> Iterator[Problem]:
    """Yield what is wrong between the keys, and between them and the files they name."""
    yield from _baseline(keys)
    yield from _matching(keys, "include")
    yield from _matching(keys, "exclude")
    yield from _trim(keys)
    yield from _metrics(keys, inputs)
    yield from _replicates(keys, inputs)
    yield from _search(keys, inputs)


def levels(keys: StudyKeys) -> dict[str, list[str]]:
    """Return the levels of each factor, by their names."""
    named = {"system": keys.systems, "workload": keys.workloads, "policy": keys.policies}
    by_factor = {factor: list(names) for factor, names in named.items()}
    by_factor |= {key: [spelt(value) for value in values] for key, values in keys.parameters.items()}
    return by_factor | {SEED: [str(seed) for seed in keys.seeds]}


def _baseline(keys: StudyKeys) -> Iterator[Problem]:
    known = levels(keys)
    if len(keys.baseline) > 1:
        yield Problem(("baseline",), f"found {len(keys.baseline)} factors; allowed: one, as policy: easy")
    for factor, level in keys.baseline.items():
        where = ("baseline", factor)
        if factor not in known or factor == SEED:
            allowed = [name for name in known if name != SEED]
            yield Problem(where, f"{found(factor)}, no factor of this study; {one_of(allowed, factor)}")
        elif spelt(level) not in known[factor]:
            yield Problem(where, f"{found(level)}; {one_of(known[factor], spelt(level))}")


def baseline_left(keys: StudyKeys, runs: Sequence[Run]) -> Iterator[Problem]:
    """Yield that no run is left of the baseline."""
    for factor, level in keys.baseline.items():
        left = list(dict.fromkeys(run.factors[factor] for run in runs))
        if spelt(level) not in left:
            text = f"{found(level)}, of which include and exclude leave no run; {one_of(left, spelt(level))}"
            yield Problem(("baseline", factor), text)


def _replicates(keys: StudyKeys, inputs: Inputs) -> Iterator[Problem]:
    if keys.replicates is None:
        return
    if not keys.baseline:
        yield Problem(("replicates",), "found without baseline; allowed: with one, as policy: easy")
    if inputs.workloads and not any(map(inputs.is_random, inputs.workloads)):
        text = "found with traces only, which are run once; allowed: with a recipe"
        yield Problem(("replicates",), text)


def _search(keys: StudyKeys, inputs: Inputs) -> Iterator[Problem]:
    """Check what a search needs: one system with prices, one recipe, metrics of which less is better."""
    if keys.search is None:
        return
    search = keys.search
    if len(inputs.systems) > 1:
        yield Problem(
            ("systems",), f"found {len(inputs.systems)} with search; allowed: one, whose modules mix"
        )
    if any(not inputs.is_random(name) for name in inputs.workloads) or len(inputs.workloads) > 1:
        yield Problem(
            ("workloads",), "found something other than one recipe with search; allowed: one recipe"
        )
    for key in keys.parameters:
        if key.startswith(("system.", "recipe.")):
            text = f"{found(key)} with search; allowed: policy.KEY or models.KEY"
            yield Problem(("parameters", key), text)
    for name in ("replicates", "baseline"):
        if getattr(keys, name):
            yield Problem((name,), "found with search, which has its own; allowed: one of them")
    if search.first_seeds > search.most_seeds:
        text = f"{found(search.most_seeds)}; allowed: at least first_seeds, {search.first_seeds}"
        yield Problem(("search", "most_seeds"), text)
    modules = [module for system in inputs.systems.values() for module in system["modules"]]
    names = [module["name"] for module in modules]
    if search.rest is not None and search.rest not in names:
        yield Problem(("search", "rest"), f"{found(search.rest)}; {one_of(names, search.rest)}")
    for module in modules:
        if not module["cost_per_node"] > 0:
            text = f"found nodes of {module['name']} at no cost with search; allowed: cost_per_node > 0"
            yield Problem(("systems",), text)
        if module.get("node_sets"):
            text = f"found node_sets in {module['name']} with search; allowed: modules of equal nodes"
            yield Problem(("systems",), text)
    yield from _too_many_mixes(search, modules)
    yield from _searched_metrics(search.metrics, _known_metrics(inputs))


def _too_many_mixes(search: SearchKeys, modules: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    costs = [module["cost_per_node"] for module in modules]
    if not costs or not all(cost > 0 for cost in costs):
        return  # told as a mistake of its own
    for budget in search.budget:
        try:
            mixes(budget, costs, search.step, len(costs) - 1)
        except InputError as error:
            yield Problem(("search", "budget"), str(error))
            return


def _energy(inputs: Inputs) -> dict[str, Any] | None:
    return None if inputs.models is None else inputs.models.get("energy")


def _searched_metrics(metrics: Sequence[str], of_runs: Sequence[str]) -> Iterator[Problem]:
    if len(metrics) not in (1, 2) or len(set(metrics)) < len(metrics) or metrics[0] == COST:
        text = (
            f"found {', '.join(metrics) or 'none'}; allowed: one metric, or two for a front, cost not first"
        )
        yield Problem(("search", "metrics"), text)
    known = [COST, *of_runs]
    for i, name in enumerate(metrics):
        if name not in known:
            text = f"{found(name)}; allowed: {COST}, or a metric of the index, as wait_time_mean"
            yield Problem(("search", "metrics", i), text + did_you_mean(name, known))
        elif better(name) != "less":
            text = f"{found(name)}, of which {better(name)} is better; allowed: of which less is better"
            yield Problem(("search", "metrics", i), text)


def _trim(keys: StudyKeys) -> Iterator[Problem]:
    if keys.trim.warm_up + keys.trim.cool_down >= 100:
        yield Problem(
            ("trim",), "found a span that is left out completely; allowed: percentages with a sum below 100"
        )


def _known_metrics(inputs: Inputs) -> list[str]:
    """The metrics that its index will have."""
    modules = [module for system in inputs.systems.values() for module in system["modules"]]
    shared = dict.fromkeys(module["name"] for module in modules if module.get("shared"))
    return known_metrics(dict.fromkeys(module["name"] for module in modules), _energy(inputs), shared)


def _metrics(keys: StudyKeys, inputs: Inputs) -> Iterator[Problem]:
    known = _known_metrics(inputs)
    wanted: list[tuple[Location, str]] = [(("metrics", i), name) for i, name in enumerate(keys.metrics)]
    if keys.replicates is not None:
        wanted.append((("replicates", "metric"), keys.replicates.metric))
    for where, name in wanted:
        if name not in known:
            hint = did_you_mean(name, known)
            text = f"{found(name)}; allowed: a metric of the index, as wait_time_mean{hint}"
            yield Problem(where, text)


def _matching(keys: StudyKeys, section: str) -> Iterator[Problem]:
    known = levels(keys)
    for i, one in enumerate(getattr(keys, section)):
        for factor, wanted in one.items():
            where = (section, i, factor)
            if factor not in known:
                yield Problem(
                    where, f"{found(factor)}, no factor of this study; {one_of(list(known), factor)}"
                )
                continue
            for level in wanted:
                if level not in known[factor] and factor != SEED:
                    yield Problem(where, f"{found(level)}; {one_of(known[factor], level)}")
