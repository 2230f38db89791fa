"""Mixes of modules that a budget buys: systems like a base system, with other numbers of nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from scheduler_sim.errors import InputError
from scheduler_sim.study.keys import MOST_MIXES

_TINY = 1e-9


def mixes(budget: float, costs: Sequence[float], step: int, last: int) -> list[tuple[int, ...]]:
    """Return the numbers of nodes that spend a budget.

    Parameters
    ----------
    budget : in the unit of ``costs``, of a node of each module, above 0.
    step : the modules have multiples of it, or as many nodes as the budget buys of them alone.
    last : number of the module that gets what is left, in whole nodes.

    Raises InputError where there are more than MOST_MIXES.

    Examples
    --------
    >>> mixes(10, [1, 2.5], step=2, last=0)
    [(10, 0), (5, 2), (0, 4)]
    """
    others = [i for i in range(len(costs)) if i != last]

    def bought(places: Sequence[int], left: float) -> Iterator[dict[int, int]]:
        if not places:
            yield {last: math.floor(left / costs[last] + _TINY)}
            return
        place, *rest = places
        most = math.floor(left / costs[place] + _TINY)
        alone = math.floor(budget / costs[place] + _TINY)
        levels = range(0, most + 1, step)
        last_one = [alone] if most == alone and alone % step else []
        for nodes in chain(levels, last_one):
            for more in bought(rest, left - nodes * costs[place]):
                yield {place: nodes, **more}

    found = (tuple(one[i] for i in range(len(costs))) for one in bought(others, budget))
    first = list(islice(found, MOST_MIXES + 1))
    if len(first) > MOST_MIXES:
        raise InputError(
            f"found {budget:g}, which allows more than {MOST_MIXES:,} mixes in steps of {step}"
            " nodes; allowed: less, or a larger step"
        )
    return [one for one in dict.fromkeys(first) if any(one)]


def mixed(system: Mapping[str, Any], nodes: Sequence[int]) -> dict[str, Any]:
    """Return the keys of a system with these numbers of nodes; a module of none is left out."""
    there = [module["name"] for module, number in zip(system["modules"], nodes, strict=True) if number]
    modules = [
        {**module, "nodes": number} for module, number in zip(system["modules"], nodes, strict=True) if number
    ]
    partitions = [one for one in system["partitions"] if one["module"] in there]
    names = [one["name"] for one in partitions]
    numbers = {key: name for key, name in system["swf"]["partitions"].items() if name in names}
    name = mix_name([module["name"] for module in system["modules"]], nodes)
    return {
        **system,
        "name": name,
        "modules": modules,
        "partitions": partitions,
        "swf": {"partitions": numbers},
    }


def mix_name(names: Sequence[str], nodes: Sequence[int]) -> str:
    """Name a mix: ``CM 50 + ESB 115``."""
    return " + ".join(f"{name} {number}" for name, number in zip(names, nodes, strict=True) if number)
