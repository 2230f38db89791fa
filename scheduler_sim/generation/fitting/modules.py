"""Fits of a modular trace: one for each module, put together into one recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_sim.generation.fitting.model_fit import Fit, fit
from scheduler_sim.generation.law import mixed_law
from scheduler_sim.workload.curves import NO_MODULE, TraceCurves, module_names
from scheduler_sim.workload.table import Workload


def fit_modules(workload: Workload, nodes: Mapping[str, int] | None = None, seed: int = 0) -> list[Fit]:
    """Learn Cirne's parameters for each module that components of an MWF trace name first.

    Other traces are learnt as a whole: their partitions share the machine. Module lists,
    dependencies, applications and users are not learnt. ``nodes`` says how many nodes modules
    have, by name in lower case; without it, as :func:`fit` finds out.

    Raises
    ------
    InputError
        as :func:`fit`, for any of the modules.
    """
    modules = module_names(workload) if workload.source.format == "mwf" else []
    if len(modules) < 2 or NO_MODULE in modules:
        return [fit(workload, sum(nodes.values()) if nodes else None, seed=seed)]
    known = nodes or {}
    return [fit(workload, known.get(module.lower()), module, seed) for module in modules]


def joint_recipe(fits: Sequence[Fit], jobs: int | None = None) -> dict[str, Any]:
    """Return one recipe for all modules, of as many jobs as the trace had, or of so many a module."""
    recipes = [each.recipe(jobs) for each in fits]
    return {"name": recipes[0]["name"], "modules": [recipe["modules"][0] for recipe in recipes]}


def joint_law(fits: Sequence[Fit]) -> TraceCurves:
    """Return what the models together expect of the trace."""
    if len(fits) == 1:
        return fits[0].law()
    return mixed_law([(each.model, each.nodes, each.jobs) for each in fits], f"fit to {fits[0].name}")
