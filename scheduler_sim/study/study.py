"""A study: systems × workloads × policies × parameters × seeds, as runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Problem, found, listed, one_of
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import ConfigError, InputError, did_you_mean
from scheduler_sim.metrics.names import better
from scheduler_sim.study.inputs import Inputs
from scheduler_sim.study.keys import COST, MOST_RUNS, SearchKeys, StudyKeys, spelt
from scheduler_sim.study.mixes import mixes
from scheduler_sim.study.run import Run
from scheduler_sim.study.store import known_metrics

if TYPE_CHECKING:
    from scheduler_sim.study.conduct import Conducted

SEED = "seed"
FACTORS = ("system", "workload", "policy")


@dataclass(frozen=True)
class Study:
    """A checked study. Build one with :meth:`from_yaml`, or with :meth:`of` from the same keys."""

    name: str
    keys: StudyKeys
    inputs: Inputs = field(repr=False)

    @classmethod
    def from_yaml(cls, path: str | Path) -> Study:
        """Read a study file. Raises ConfigError with every problem, each with its line."""
        file = read_yaml(path)
        keys, problems = check_keys(StudyKeys, file.data)
        if keys is None or problems:
            raise file.error(problems)
        study, problems = cls._checked(keys, file.path.parent, file.path.stem)
        if study is None or problems:
            raise file.error(problems)
        return study

    @classmethod
    def of(cls, **keys: Any) -> Study:
        """Build a study from the keys of a study file. Raises ConfigError with every problem."""
        checked, problems = check_keys(StudyKeys, keys)
        study = None
        if checked is not None and not problems:
            study, problems = cls._checked(checked, Path(), "study")
        if study is None or problems:
            raise ConfigError(listed(f"study: {problem}" for problem in problems))
        return study

    @classmethod
    def _checked(cls, keys: StudyKeys, folder: Path, name: str) -> tuple[Study | None, list[Problem]]:
        inputs = Inputs(folder)
        problems = [
            *inputs.open(keys),
            *_baseline(keys),
            *_matching(keys, "include"),
            *_matching(keys, "exclude"),
            *_trim(keys),
            *_metrics(keys, inputs),
            *_replicates(keys, inputs),
            *_search(keys, inputs),
        ]
        if problems:
            return None, problems
        study = cls(keys.name or name, keys, inputs)
        if (combined := study.combinations) > MOST_RUNS:
            text = f"found {combined:,} combinations of their values; allowed: at most {MOST_RUNS:,}"
            return None, [Problem(("parameters",), text)]
        try:
            by_seed = any(SEED in one for one in (*keys.include, *keys.exclude))
            runs = study.runs(keys.seeds if by_seed else keys.seeds[:1])
        except ConfigError as error:
            return None, [Problem(("parameters",), text) for text in error.problems]
        if not runs:
            return None, [Problem(("include",), "no run is left by include and exclude")]
        number = len(runs) * (1 if by_seed else len(keys.seeds))
        if number > MOST_RUNS:
            text = f"found {number:,} runs, with {len(keys.seeds):,} seeds; allowed: at most {MOST_RUNS:,}"
            return None, [Problem(("seeds",), text)]
        return study, list(_baseline_left(keys, runs))

    def _repr_html_(self) -> str:
        """Show in a notebook what is crossed, compared with what; names are escaped."""
        levels = {factor: ", ".join(names) for factor, names in _levels(self.keys).items() if factor != SEED}
        seeds = self.keys.seeds
        levels["seeds"] = f"{len(seeds)} ({min(seeds)} to {max(seeds)})" if len(seeds) > 1 else str(seeds[0])
        levels["compared with"] = (
            ", ".join(f"{k} {spelt(v)}" for k, v in self.keys.baseline.items()) or "nothing"
        )
        rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in levels.items())
        return f"<table><caption>Study: {escape(self.name)}</caption><tbody>{rows}</tbody></table>"

    def conduct(self, directory: str | Path, workers: int = 1, *, force: bool = False) -> Conducted:
        """Carry out what the directory lacks, on so many processes; return index and comparison.

        With more than one worker a script must be guarded by ``if __name__ == "__main__":``, as
        the processes start anew. A directory that holds anything but a study is refused without ``force``.
        """
        from scheduler_sim.study.carry import here
        from scheduler_sim.study.conduct import conduct
        from scheduler_sim.study.processes import local

        return conduct(self, directory, here if workers == 1 else local(workers), force=force)

    def with_systems(self, systems: Mapping[str, dict[str, Any]]) -> Study:
        """Return the study with other systems, as keys by name."""
        return replace(self, inputs=self.inputs.with_systems(systems))

    @property
    def factors(self) -> tuple[str, ...]:
        """The factors, in the order of the index."""
        return (*FACTORS, *self.keys.parameters, SEED)

    def runs(self, seeds: list[int] | None = None) -> list[Run]:
        """Return the runs, workload by workload and seed by seed; of traces the first seed alone.

        Combinations that mean the same, as a policy under two names, have one id: they are one
        run on disk, and each is a row of the index. A trace has no level of a recipe's keys.
        """
        chosen = self.keys.seeds if seeds is None else seeds
        return [
            self.inputs.run(labels, settings, seed, self.keys)
            for workload in self.inputs.workloads
            for settings, levels in self._settings(self.inputs.is_random(workload))
            for seed in (chosen if self.inputs.is_random(workload) else self.keys.seeds[:1])
            for system, policy in product(self.inputs.systems, self.inputs.policies)
            for labels in [
                {"system": system, "workload": workload, "policy": policy, **levels, SEED: str(seed)}
            ]
            if self._wanted(labels)
        ]

    @property
    def combinations(self) -> int:
        """Number of combinations of all factors but the seed, before include and exclude."""
        named = len(self.inputs.systems) * len(self.inputs.workloads) * len(self.inputs.policies)
        return named * prod(len(values) for values in self.keys.parameters.values())

    def _settings(self, random: bool) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
        """Yield the combinations of the parameters that apply, and all levels; the first varies slowest."""
        applying = {
            key: values
            for key, values in self.keys.parameters.items()
            if random or not key.startswith("recipe.")
        }
        for values in product(*applying.values()):
            settings = dict(zip(applying, values, strict=True))
            yield (
                settings,
                {key: spelt(settings[key]) if key in settings else "" for key in self.keys.parameters},
            )

    def _wanted(self, labels: Mapping[str, str]) -> bool:
        included = not self.keys.include or any(_match(labels, one) for one in self.keys.include)
        return included and not any(_match(labels, one) for one in self.keys.exclude)


def _match(labels: Mapping[str, str], wanted: Mapping[str, list[str]]) -> bool:
    return all(labels[factor] in levels for factor, levels in wanted.items())


def _levels(keys: StudyKeys) -> dict[str, list[str]]:
    named = {"system": keys.systems, "workload": keys.workloads, "policy": keys.policies}
    levels = {factor: list(names) for factor, names in named.items()}
    levels |= {key: [spelt(value) for value in values] for key, values in keys.parameters.items()}
    return levels | {SEED: [str(seed) for seed in keys.seeds]}


def _baseline(keys: StudyKeys) -> Iterator[Problem]:
    levels = _levels(keys)
    if len(keys.baseline) > 1:
        yield Problem(("baseline",), f"found {len(keys.baseline)} factors; allowed: one, as policy: easy")
    for factor, level in keys.baseline.items():
        where = ("baseline", factor)
        if factor not in levels or factor == SEED:
            allowed = [name for name in levels if name != SEED]
            yield Problem(where, f"{found(factor)}, no factor of this study; {one_of(allowed, factor)}")
        elif spelt(level) not in levels[factor]:
            yield Problem(where, f"{found(level)}; {one_of(levels[factor], spelt(level))}")


def _baseline_left(keys: StudyKeys, runs: Sequence[Run]) -> Iterator[Problem]:
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
        text = "found for traces alone, which are run once; allowed: with a recipe"
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
        yield Problem(("workloads",), "found other than one recipe with search; allowed: one recipe")
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
    yield from _searched_metrics(search.metrics, known_metrics(names, _energy(inputs)))


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
        yield Problem(("trim",), "found all of the span left out; allowed: percentages together below 100")


def _metrics(keys: StudyKeys, inputs: Inputs) -> Iterator[Problem]:
    modules = [module["name"] for system in inputs.systems.values() for module in system["modules"]]
    known = known_metrics(dict.fromkeys(modules), _energy(inputs))
    wanted = [(("metrics", i), name) for i, name in enumerate(keys.metrics)]
    if keys.replicates is not None:
        wanted.append((("replicates", "metric"), keys.replicates.metric))  # type: ignore[arg-type]
    for where, name in wanted:
        if name not in known:
            hint = did_you_mean(name, known)
            text = f"{found(name)}; allowed: a metric of the index, as wait_time_mean{hint}"
            yield Problem(where, text)


def _matching(keys: StudyKeys, section: str) -> Iterator[Problem]:
    levels = _levels(keys)
    for i, one in enumerate(getattr(keys, section)):
        for factor, wanted in one.items():
            where = (section, i, factor)
            if factor not in levels:
                yield Problem(
                    where, f"{found(factor)}, no factor of this study; {one_of(list(levels), factor)}"
                )
                continue
            for level in wanted:
                if level not in levels[factor] and factor != SEED:
                    yield Problem(where, f"{found(level)}; {one_of(levels[factor], level)}")
