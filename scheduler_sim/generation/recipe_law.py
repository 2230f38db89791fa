"""What a recipe expects of its trace."""

from __future__ import annotations

from scheduler_sim.errors import InputError
from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.law import mixed_law
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.workload.curves import TraceCurves


def recipe_law(recipe: Recipe) -> TraceCurves:
    """Return the law of a recipe's trace: that of its modules, mixed by their jobs.

    What is laid over the jobs is not in it: workflows give components the submission of their
    first, and some scenarios other times.

    Raises
    ------
    InputError
        for a model other than Cirne's, whose laws are not tabulated.
    """
    parts = []
    for module in recipe.modules:
        if not isinstance(module.model, Cirne):
            raise InputError(f"module {module.name}: the law of its model is not known; allowed: kind: cirne")
        parts.append((module.model, module.nodes, module.jobs))
    return mixed_law(parts, recipe.name)
