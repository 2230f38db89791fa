"""The systems, workloads and policies of a study: opened once, varied by its parameters."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from scheduler_sim.applications.models import Models
from scheduler_sim.config.problem import Problem, found
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.loaders.contents import told_by
from scheduler_sim.policy.policy import Policy
from scheduler_sim.study.keys import StudyKeys
from scheduler_sim.study.measuring import Trim
from scheduler_sim.study.run import Run, digest, file_digest, nameless
from scheduler_sim.study.sites import StudySite, site_at
from scheduler_sim.system.read_system import read_system
from scheduler_sim.system.system import System

RECIPE_SUFFIXES = (".yaml", ".yml")
BYTES_A_JOB = 16
"""Of a trace, at the least: a compressed line of SWF."""


class Inputs:
    """What a study varies, by name.

    Attributes
    ----------
    folder : that relative paths start from.
    systems : keys of each system.
    sites : of those that are a slurm.conf or the folder of a site, what it says, by name.
    workloads : ``trace`` (path, sha256) or ``recipe`` (keys) with ``scenario``, by name.
    policies : by name.
    models : keys of the models, None without.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.systems: dict[str, dict[str, Any]] = {}
        self.sites: dict[str, StudySite] = {}
        self.workloads: dict[str, dict[str, Any]] = {}
        self.policies: dict[str, Policy] = {}
        self._own_settings: dict[str, dict[str, Any]] = {}
        self.models: dict[str, Any] | None = None
        self._parts: dict[tuple[str, str, str], Any] = {}

    def open(self, keys: StudyKeys) -> Iterator[Problem]:
        """Open everything a study names; yield what is wrong."""
        opened_systems: dict[str, tuple[dict[str, Any], StudySite | None]] = {}
        opened_policies: dict[str, tuple[Policy, dict[str, Any]]] = {}
        rooms: list[tuple[str, Mapping[str, Any], Callable[[Any], Any], dict[str, Any]]] = [
            ("systems", keys.systems, self._system, opened_systems),
            ("workloads", keys.workloads, self._workload, self.workloads),
            ("policies", keys.policies, self._policy, opened_policies),
        ]
        for section, given, read, opened in rooms:
            if not given:
                yield Problem((section,), "found none; allowed: at least one")
            for name, what in given.items():
                try:
                    opened[name] = read(what)
                except InputError as error:
                    yield Problem((section, name), str(error).replace("\n", "; "))
        self.systems = {name: system for name, (system, _) in opened_systems.items()}
        self.sites = {name: site for name, (_, site) in opened_systems.items() if site is not None}
        self.policies = {name: policy for name, (policy, _) in opened_policies.items()}
        self._own_settings = {name: settings for name, (_, settings) in opened_policies.items() if settings}
        yield from self._set_policies()
        if keys.models is not None:
            try:
                self.models = self._opened_models(keys.models).to_dict()
            except InputError as error:
                yield Problem(("models",), str(error).replace("\n", "; "))
        for key in keys.parameters:
            if key.partition(".")[0] not in ("policy", "system", "recipe", "models") or "." not in key:
                text = f"{found(key)}; allowed: policy.KEY, system.KEY, recipe.KEY or models.KEY"
                yield Problem(("parameters", key), text)
            elif key.startswith("models.") and keys.models is None:
                yield Problem(("parameters", key), "found for a study without models; allowed: models")
            elif key.startswith("recipe.") and not any("recipe" in one for one in self.workloads.values()):
                yield Problem(("parameters", key), "found for a study without recipes; allowed: a recipe")

    def with_systems(self, systems: Mapping[str, dict[str, Any]]) -> Inputs:
        """Return these inputs with other systems."""
        other = copy.copy(self)
        other.systems, other.sites, other._parts = dict(systems), {}, {}
        return other

    def is_random(self, workload: str) -> bool:
        """Tell whether other seeds give other jobs."""
        return "recipe" in self.workloads[workload]

    def run(self, labels: Mapping[str, str], settings: Mapping[str, Any], seed: int, keys: StudyKeys) -> Run:
        """Return the run of some levels. Raises ConfigError for a parameter that does not apply."""
        site = self.sites.get(labels["system"])
        policy, files, policy_digest = self._part(
            "policy", labels["policy"], settings, partial(self._varied_policy, site=site), of=labels["system"]
        )
        system, system_digest = self._part(
            *("system", labels["system"], settings),
            partial(self._varied_system, policy=policy),
            of=policy.backfill if site is not None else "",
        )
        workload, of_workload, jobs = self._part(
            "recipe", labels["workload"], settings, self._varied_workload
        )
        models, models_digest = self._part("models", "", settings, self._varied_models)
        random = self.is_random(labels["workload"])
        if random:
            workload, of_workload = {**workload, "seed": seed}, digest([of_workload, seed])
        return Run(
            factors=dict(labels),
            system=system,
            workload=workload,
            policy=policy,
            seed=seed,
            models=models,
            digests={
                "system": system_digest,
                "workload": of_workload,
                "policy": policy_digest,
                "models": models_digest,
            },
            files=files,
            honour_status=keys.honour_status,
            trace_path="" if random else self.workloads[labels["workload"]]["path"],
            trim=Trim(keys.trim.warm_up / 100, keys.trim.cool_down / 100),
            slices=tuple(dict.fromkeys(keys.slices)),
            own_directory=keys.results == "each",
            jobs=jobs,
        )

    def _part(
        self,
        section: str,
        name: str,
        settings: Mapping[str, Any],
        make: Callable[[str, dict[str, Any]], Any],
        of: str = "",
    ) -> Any:
        """Return what ``make`` makes of a name and the settings of a section, made and hashed once.

        ``of`` tells apart what else it depends on.
        """
        own = {key: value for key, value in settings.items() if key.startswith(f"{section}.")}
        place = section, name, repr((own, of))
        if place not in self._parts:
            self._parts[place] = make(name, own)
        return self._parts[place]

    def _varied_system(
        self, name: str, settings: dict[str, Any], policy: Policy
    ) -> tuple[dict[str, Any], str]:
        system = System.from_dict(_varied(self.systems[name], settings, "system"))
        if name in self.sites:
            system = self.sites[name].with_outages(system, policy)
        keys = system.to_dict()
        if not system.gpu_types:
            return keys, digest(keys)
        types = [one.gpu_types for module in system.modules for one in module.sets]  # their order counts
        return keys, digest([keys, types])

    def _varied_policy(
        self, name: str, settings: dict[str, Any], site: StudySite | None
    ) -> tuple[Policy, dict[str, str], str]:
        policy, all_settings = self.policies[name], {**self._own_settings.get(name, {}), **settings}
        if site is not None:
            policy = site.with_keys(policy, all_settings)
        policy = policy.with_settings(all_settings) if all_settings else policy
        files = {role: file_digest(path) for role, path in policy.files if role != "policy"}
        return policy, files, digest(nameless(policy, files))

    def _varied_workload(self, name: str, settings: dict[str, Any]) -> tuple[dict[str, Any], str, int]:
        """Return what determines a workload but its seed, its hash, and about how many jobs it has."""
        workload = self.workloads[name]
        if not self.is_random(name):
            jobs = Path(workload["path"]).stat().st_size // BYTES_A_JOB
            return {"trace": workload["trace"]}, digest(workload["trace"]), jobs
        recipe = Recipe.of(**_varied(workload["recipe"], settings, "recipe"))
        scenario = workload.get("scenario")
        varied = {"recipe": recipe.to_dict(), **({"scenario": scenario} if scenario else {})}
        return varied, digest(varied), sum(module.jobs for module in recipe.modules)

    def _varied_models(self, _: str, settings: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
        if self.models is None:
            return None, ""
        models = Models.of(**_varied(self.models, settings, "models")).to_dict()
        return models, digest(models)

    def _opened_models(self, given: Any) -> Models:
        return (
            Models.of(folder=self.folder, **given)
            if isinstance(given, dict)
            else Models.from_yaml(self._place(given))
        )

    def _system(self, given: Any) -> tuple[dict[str, Any], StudySite | None]:
        if isinstance(given, dict):
            return System.from_dict(given).to_dict(), None
        place = self._place(given)
        site = site_at(place)
        return (read_system(place) if site is None else site.system).to_dict(), site

    def _set_policies(self) -> Iterator[Problem]:
        """Give the policies their settings where no site has keys of its own for them; else each run does."""
        if self.sites:
            return
        for name, settings in self._own_settings.items():
            try:
                self.policies[name] = self.policies[name].with_settings(settings)
            except InputError as error:
                yield Problem(("policies", name), str(error).replace("\n", "; "))
        self._own_settings = {}

    def _workload(self, given: Any) -> dict[str, Any]:
        keys = given if isinstance(given, dict) else {_kind(given): given}
        unknown = set(keys) - {"trace", "recipe", "scenario"}
        if unknown or ("trace" in keys) == ("recipe" in keys):
            allowed = "a file, or a mapping with trace or recipe, and scenario"
            raise ConfigError(f"{found(given)}; allowed: {allowed}")
        if "trace" in keys:
            path = self._place(keys["trace"])
            told_by(path)
            return {"path": str(path.resolve()), "trace": file_digest(path)}
        what = keys["recipe"]
        recipe = Recipe.of(**what) if isinstance(what, dict) else Recipe.from_yaml(self._place(what))
        scenario = keys.get("scenario")
        if scenario is not None:
            Recipe.of(**{**recipe.to_dict(), "scenario": scenario})
        return {"recipe": recipe.to_dict(), **({"scenario": scenario} if scenario else {})}

    def _policy(self, given: Any) -> tuple[Policy, dict[str, Any]]:
        """Return a policy and the settings that change it."""
        if isinstance(given, dict):
            base = {key: value for key, value in given.items() if key != "set"}
            start = base.pop("policy", None)
            if start is not None and base:
                raise ConfigError(f"{found(given)}; allowed: keys of a policy, or policy with set")
            policy = Policy.resolve(self._policy_source(start) if start else base, self.folder)
            settings = given.get("set", {})
            if not isinstance(settings, dict):
                raise ConfigError(f"set: {found(settings)}; allowed: a mapping of keys to values")
            return policy, settings
        return Policy.resolve(self._policy_source(given), self.folder), {}

    def _policy_source(self, given: Any) -> str | Path:
        is_file = str(given).lower().endswith(RECIPE_SUFFIXES)
        return self._place(given) if is_file else str(given)

    def _place(self, path: Any) -> Path:
        if not isinstance(path, str):
            raise ConfigError(f"{found(path)}; allowed: the path of a file")
        return self.folder / path


def _kind(path: Any) -> str:
    return "recipe" if str(path).lower().endswith(RECIPE_SUFFIXES) else "trace"


def _varied(keys: Mapping[str, Any], settings: Mapping[str, Any], section: str) -> dict[str, Any]:
    """Return keys with the settings of a section in place: ``modules.CM.nodes`` finds CM by its name."""
    varied = copy.deepcopy(dict(keys))
    for setting, value in settings.items():
        room, _, path = setting.partition(".")
        if room == section:
            *steps, last = path.split(".")
            here: Any = varied
            for step in steps:
                here = _inside(here, step, setting)
            _put(here, last, value, setting)
    return varied


def _inside(here: Any, step: str, setting: str) -> Any:
    if isinstance(here, dict):
        return here.setdefault(step, {})
    if isinstance(here, list):
        for i, entry in enumerate(here):
            if isinstance(entry, dict) and step in (str(entry.get("name")), str(i)):
                return entry
        names = [str(entry.get("name", i)) for i, entry in enumerate(here) if isinstance(entry, dict)]
        raise ConfigError(f"{setting}: found {step!r}; allowed: {', '.join(names)}")
    raise ConfigError(f"{setting}: {step!r} matches no key; allowed: keys of mappings, names in lists")


def _put(here: Any, last: str, value: Any, setting: str) -> None:
    if not isinstance(here, dict):
        raise ConfigError(f"{setting}: {last!r} matches no key; allowed: a key of a mapping")
    here[last] = value
