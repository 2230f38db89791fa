"""The grid of a study: systems × workloads × policies × parameters × seeds, as runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Self

from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Problem, listed
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.study.checks import SEED, baseline_left, problems_of
from scheduler_sim.study.inputs import Inputs
from scheduler_sim.study.keys import MOST_RUNS, StudyKeys, spelt
from scheduler_sim.study.run import Run
from scheduler_sim.study.sites import with_own_workloads

FACTORS = ("system", "workload", "policy")


@dataclass(frozen=True)
class Grid:
    """What a study crosses, checked."""

    name: str
    keys: StudyKeys
    inputs: Inputs = field(repr=False)

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
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
    def of(cls, **keys: Any) -> Self:
        """Build a study from the keys of a study file. Raises ConfigError with every problem."""
        checked, problems = check_keys(StudyKeys, keys)
        study = None
        if checked is not None and not problems:
            study, problems = cls._checked(checked, Path(), "study")
        if study is None or problems:
            raise ConfigError(listed(f"study: {problem}" for problem in problems))
        return study

    @classmethod
    def _checked(cls, keys: StudyKeys, folder: Path, name: str) -> tuple[Self | None, list[Problem]]:
        try:
            keys = with_own_workloads(keys, folder)
        except InputError as error:
            return None, [Problem(("systems",), str(error).replace("\n", "; "))]
        inputs = Inputs(folder)
        problems = [*inputs.open(keys), *problems_of(keys, inputs)]
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
        return study, list(baseline_left(keys, runs))

    def with_systems(self, systems: Mapping[str, dict[str, Any]]) -> Self:
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
