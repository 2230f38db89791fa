"""Which names in models mean nothing in a run: a slip there would change results without a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from scheduler_sim.applications.models import Models
from scheduler_sim.applications.names import Known
from scheduler_sim.arrays import Ints
from scheduler_sim.energy.layer import EnergyLayer
from scheduler_sim.energy.points import MODULE, WORKLOAD


def unmatched(
    models: Models, modules: Sequence[str], known: Known, type_number: Ints
) -> dict[str, list[str]]:
    """Return the names that mean nothing, by what they name; of kinds of which there are none, nothing.

    ``types``: no component is of that type. ``modules``: the system, of ``modules``, has none of that name.
    ``signatures``: no component's application is called so, or another signature comes first for all of them.

    Parameters
    ----------
    known, type_number : the applications of the components, and their types (n,), as in ``Names.known``.
    """
    used = set(pd.unique(type_number).tolist())
    there = {name.lower() for name in modules}
    named = {name.lower(): name for name in _modules(models)}
    found = {
        "types": [name for number, name in enumerate(models.type_names) if number not in used],
        "modules": [name for text, name in named.items() if text not in there],
        "signatures": [] if models.energy is None else _signatures(models.energy, modules, known),
    }
    return {kind: names for kind, names in found.items() if names and len(type_number)}


def _modules(models: Models) -> Iterator[str]:
    """Yield the modules on which something is said to run; not the one whose run times the trace has."""
    if models.keys.applications is not None:
        of_trace = models.keys.applications.reference.lower()
        for one in models.keys.applications.types:
            yield from (name for name in one.ratios or {} if name.lower() != of_trace)
    for scaling in models.scalings:
        yield from () if scaling is None else scaling.profile.speeds
    for conversion in models.keys.conversions:
        yield from (conversion.origin, conversion.to)
    if models.energy is not None:
        yield from models.energy.profiles.modules
        signatures = models.energy.signatures
        if signatures is not None and signatures.has(MODULE):
            yield from signatures.table[MODULE]


def _signatures(layer: EnergyLayer, modules: Sequence[str], known: Known) -> list[str]:
    """Return the signatures that no component has; with the module, where another module's is in use."""
    if layer.signatures is None:
        return []
    spelt = {name.lower(): set(layer.spelt(known.names, name).values()) for name in modules}
    every = set[str]().union(*spelt.values())
    table = layer.signatures.table
    if not layer.signatures.has(MODULE):
        return [name for name in dict.fromkeys(table[WORKLOAD]) if name not in every]
    rows = zip(table[WORKLOAD], table[MODULE], strict=True)
    found = [
        f"{name} on {module}" if name in every else name
        for name, module in rows
        if name not in spelt.get(module.lower(), ())
    ]
    return list(dict.fromkeys(found))
