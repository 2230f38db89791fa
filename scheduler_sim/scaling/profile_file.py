"""Profiles as YAML files: reading with line numbers, applying what-ifs, writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Location, Problem
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.output.rule import Kind
from scheduler_sim.scaling.curves import Curve, read_curve
from scheduler_sim.scaling.edits import accelerated, moved, with_factor, without_phase
from scheduler_sim.scaling.modular_profile import ModularProfile, Part
from scheduler_sim.scaling.parameters import CLOCK, PARAMETERS, PROCESSES, SIZE
from scheduler_sim.scaling.profile import Profile, Reference, Sizes
from scheduler_sim.scaling.profile_keys import (
    VERSION,
    ComponentKeys,
    EditKeys,
    ModularKeys,
    NodeKeys,
    ProfileKeys,
)
from scheduler_sim.scaling.tree import Factor, Group, Tree, read_tree

MODELS = ("efficiency", "speedup", "time")


def read_profile(path: str | Path) -> Profile:
    """Read the profile of an application. Raises ConfigError with every problem, each with its line."""
    found = read_any_profile(path)
    if isinstance(found, ModularProfile):
        raise ConfigError(f"{path}: found a modular application; allowed here: a profile without components")
    return found


PROFILE = Kind.read_by("a profile of an application", read_profile)


def read_any_profile(path: str | Path) -> Profile | ModularProfile:
    """Read the profile of an application, or of a modular one. Raises ConfigError with every problem."""
    file = read_yaml(path)
    found, problems = profile_of(file.data)
    if found is None:
        raise file.error(problems)
    return found


def profile_of(data: dict[str, Any]) -> tuple[Profile | ModularProfile | None, list[Problem]]:
    """Build a profile from the keys of its file: the profile, or None and all problems."""
    if "metric" in data:
        said = f"found a model of {data['metric']!s:.40}; allowed here: run times or efficiencies"
        return None, [Problem(("metric",), said)]
    if "components" in data:
        return _modular(data)
    keys, problems = check_keys(ProfileKeys, data)
    model, more = _model(data, ())
    problems += more
    if keys is None or model is None or problems:
        return None, problems
    profile, problems = _profile(keys, keys.app, model, (), keys.share)
    for place, edit in enumerate(keys.edits):
        if profile is not None:
            profile, more = _edited(profile, edit, ("edits", place))
            problems += more
    return (None if problems else profile), problems


def _model(data: dict[str, Any], where: Location) -> tuple[Tree | Curve | None, list[Problem]]:
    given = [name for name in MODELS if data.get(name) is not None]
    if len(given) != 1:
        said = f"found {' and '.join(given)}" if given else "missing"
        return None, [
            Problem(
                (*where, given[-1] if given else MODELS[0]), f"{said}; allowed: one of {', '.join(MODELS)}"
            )
        ]
    (name,) = given
    place = (*where, name)
    if name == "efficiency":
        return read_tree(data[name], "global", place)
    curve, problems = read_curve(data[name], place)
    if curve is None:
        return None, problems
    allowed = ("speedup", "efficiency") if name == "speedup" else ("time", "work")
    of = (PROCESSES,) if name == "speedup" else tuple(PARAMETERS)
    if curve.quantity not in allowed or not set(curve.inputs) <= set(of):
        said = f"{curve.NAME} gives a {curve.quantity} of {', '.join(curve.inputs)}"
        return None, [
            Problem((*place, "curve"), f"{said}; allowed here: {' or '.join(allowed)} of {', '.join(of)}")
        ]
    return (Factor("global", curve) if name == "speedup" else curve), []


def _profile(
    keys: ComponentKeys, app: str, model: Tree | Curve, where: Location, share: float | None = None
) -> tuple[Profile | None, list[Problem]]:
    problems = []
    if not keys.modules:
        problems.append(Problem((*where, "modules"), "found no module; allowed: modules with their speeds"))
    ranks = keys.ranks_per_node
    missing = [] if isinstance(ranks, int) else [name for name in keys.modules if name not in ranks]
    if missing:
        said = f"missing for {', '.join(missing)}; allowed: one number, or one for each of modules"
        problems.append(Problem((*where, "ranks_per_node"), said))
    if keys.nodes.min > keys.nodes.max:
        said = f"found {keys.nodes.min}, above max {keys.nodes.max}; allowed: min <= max"
        problems.append(Problem((*where, "nodes", "min"), said))
    depends = model.inputs if isinstance(model, Curve) else ()
    if CLOCK in depends and (keys.frequency is None or keys.frequency.beta):
        said = f"found {'beta' if keys.frequency else 'none'} beside a curve that depends on {CLOCK}"
        said += "; allowed: nominal_khz, the usual clock, without beta"
        problems.append(Problem((*where, "frequency"), said))
    if problems:
        return None, problems
    profile = Profile(
        app=app,
        scaling=keys.scaling,
        model=model,
        ranks_per_node=ranks,
        threads=keys.threads,
        speeds=keys.modules,
        beta=keys.frequency.beta if keys.frequency else 0.0,
        nominal_khz=keys.frequency.nominal_khz if keys.frequency else 1,
        size=keys.size,
        sizes=Sizes(keys.nodes.min, keys.nodes.max, keys.nodes.only, keys.nodes.floor),
        provenance=keys.provenance,
        share=share,
    )
    try:  # at the smallest size on each module: what a formula or a table gives there
        for module in keys.modules:
            profile.relative_time(keys.nodes.min, module, 1.0 if keys.size is None else None)
    except InputError as error:
        name = next((name for name in MODELS if getattr(keys, name) is not None), MODELS[0])
        return None, [Problem((*where, name), str(error))]
    return profile, []


def _edited(profile: Profile, edit: EditKeys, where: Location) -> tuple[Profile | None, list[Problem]]:
    """Apply one what-if to the profile of an application or a component."""
    given = [name for name in ("replace", "accelerate", "remove", "move") if getattr(edit, name) is not None]
    if len(given) != 1:
        said = f"found {' and '.join(given) or 'none'}"
        return None, [Problem(where, f"{said}; allowed: one of replace, accelerate, remove, move")]
    try:
        if edit.accelerate is not None:
            return accelerated(profile, edit.accelerate, edit.by or 0.0), []
        if edit.remove is not None:
            return without_phase(profile, edit.remove), []
        if edit.move is not None and edit.nodes is None:
            return moved(profile, edit.move), []
        if edit.replace is not None:
            curve, problems = read_curve(edit.curve or {}, (*where, "curve"))
            return (None, problems) if curve is None else (with_factor(profile, edit.replace, curve), [])
    except InputError as error:
        return None, [Problem((*where, given[0]), str(error))]
    said = "found a number of nodes for an application without components; allowed: of a component"
    return None, [Problem((*where, "nodes"), said)]


def _modular(data: dict[str, Any]) -> tuple[ModularProfile | None, list[Problem]]:
    keys, problems = check_keys(ModularKeys, data)
    if keys is None:
        return None, problems
    parts: dict[str, Part] = {}
    for name, part in keys.components.items():
        where = ("components", name)
        model, more = _model(data["components"][name], where)
        profile, further = (
            (None, []) if model is None else _profile(part, f"{keys.app}, {name}", model, where)
        )
        problems += more + further
        runs = part.runs
        if runs.module not in part.modules:
            said = f"found {runs.module!r}; allowed: {', '.join(part.modules)}"
            problems.append(Problem((*where, "runs", "module"), said))
        elif profile is not None:
            parts[name] = Part(
                profile, Reference(runs.time, runs.nodes, runs.module), runs.module, runs.nodes
            )
    if not keys.components:
        problems.append(Problem(("components",), "found no component; allowed: at least one"))
    if problems:
        return None, problems
    whole = ModularProfile(keys.app, keys.coupling, keys.exchange, parts)
    for place, edit in enumerate(keys.edits):
        try:
            component = whole.part(edit.component or "")
            if edit.move is not None:
                whole = whole.moved(edit.component or "", edit.move, edit.nodes)
                continue
        except InputError as error:
            problems.append(Problem(("edits", place), str(error)))
            continue
        edited, more = _edited(component.profile, edit, ("edits", place))
        problems += more
        if edited is not None:
            whole = whole.with_profile(edit.component or "", edited)
    return (None if problems else whole), problems


def profile_dict(profile: Profile) -> dict[str, Any]:
    """Return a profile as the keys of its file. InputError for one with what-ifs: those stand in its file."""
    if profile.measured is not None:
        raise InputError(
            f"{profile.app}: a profile with what-ifs is written as the one measured and its edits"
        )
    written: dict[str, Any] = {"version": VERSION, "app": profile.app, "scaling": profile.scaling}
    ranks = profile.ranks_per_node
    written["ranks_per_node"] = ranks if isinstance(ranks, int) else dict(ranks)
    if profile.threads != 1:
        written["threads"] = profile.threads
    written["modules"] = dict(profile.speeds)
    if profile.beta:
        written["frequency"] = {"beta": profile.beta, "nominal_khz": profile.nominal_khz}
    elif CLOCK in profile.depends_on:
        written["frequency"] = {"nominal_khz": profile.nominal_khz}
    if profile.size is not None:
        written[SIZE] = profile.size
    sizes, usual = profile.sizes, NodeKeys()
    only = list(sizes.only) if isinstance(sizes.only, tuple) else sizes.only
    nodes = {"min": sizes.least, "max": sizes.most, "only": only, "floor": sizes.floor}
    if nodes := {name: value for name, value in nodes.items() if value != getattr(usual, name)}:
        written["nodes"] = nodes
    model = profile.model
    if isinstance(model, Curve):
        written["time"] = model.to_dict()
    elif isinstance(model, Group):
        written["efficiency"] = model.to_dict()
    else:
        written["speedup"] = model.to_dict()
    said = {name: getattr(profile.provenance, name) for name in type(profile.provenance).model_fields}
    if said := {name: value for name, value in said.items() if value not in ("", [], {}, None)}:
        written["provenance"] = said
    if profile.share is not None:
        written["share"] = profile.share
    return written


def profile_text(profile: Profile) -> str:
    """Return the text of a profile's file, numbers to 14 significant digits: 1 − f of some is 1e-7."""
    return plain_text(profile_dict(profile))


def plain_text(keys: dict[str, Any]) -> str:
    """Return keys as YAML, numbers to 14 significant digits."""
    return yaml.safe_dump(
        _rounded(keys), sort_keys=False, allow_unicode=True, width=100, default_flow_style=None
    )


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return float(f"{value:.14g}") if isinstance(value, float) else value
