"""Systems by budget: what nodes cost, a budget and shares of it give the numbers of nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from scheduler_sim.config.keys import Keys, check_keys
from scheduler_sim.config.problem import Location, Problem, found
from scheduler_sim.config.value import Percent, Positive, choice

FILL, DOWN = ROUNDINGS = ("fill", "down")
_TINY = 1e-9
"""Of a node or a unit: what rounding of floats may miss."""


class BudgetKeys(Keys):
    """Budget for the nodes of a system."""

    units: Positive = Field(description="the budget, in the unit of cost_per_node")
    rounding: Annotated[str, choice(*ROUNDINGS)] = Field(
        default=FILL,
        description="down: round down to whole nodes; fill: then add one node to each module that the"
        " rest of the budget can pay for, the largest remainder first, ties in the order"
        " of the file",
    )


class ShareKeys(Keys):
    """Share of the budget that a module gets."""

    share_percent: Percent = Field(description="percentage of the budget; 0 leaves the module out")


def node_counts(
    units: float, costs: Sequence[float], percents: Sequence[float], rounding: str = FILL
) -> list[int]:
    """Return the nodes of each module that a budget buys.

    Parameters
    ----------
    units : the budget. costs : of a node of each module, above 0, in the same unit.
    percents : of the budget for each module, at most 100 in all.
    rounding : ``fill`` or ``down``, as in :class:`BudgetKeys`.

    Examples
    --------
    >>> node_counts(165, [1, 1], [30, 70])  # D2.3, section 3.3.1: 49.5 and 115.5 nodes
    [50, 115]
    """
    exact = [units * percent / 100 / cost for percent, cost in zip(percents, costs, strict=True)]
    counts = [math.floor(nodes + _TINY) for nodes in exact]
    if rounding == DOWN:
        return counts
    left = units * sum(percents) / 100 - sum(n * cost for n, cost in zip(counts, costs, strict=True))
    remainders = [round(nodes - count, 9) for nodes, count in zip(exact, counts, strict=True)]
    for i in sorted(range(len(costs)), key=lambda i: -remainders[i]):
        if remainders[i] > 0 and costs[i] <= left + _TINY:
            counts[i] += 1
            left -= costs[i]
    return counts


def with_node_counts(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the keys of a system file with the nodes that its budget buys, and what is wrong with it.

    Works on unchecked data; without ``budget`` they stay as they are.
    """
    rest = {key: value for key, value in data.items() if key != "budget"}
    if data.get("budget") is None:
        return rest, []
    budget, problems = check_keys(BudgetKeys, data["budget"])
    problems = [Problem(("budget", *one.where), one.text) for one in problems]
    modules = data.get("modules")
    if not isinstance(modules, list) or not all(isinstance(one, dict) for one in modules):
        return rest, problems
    percents, costs = [], []
    for i, module in enumerate(modules):
        where: Location = ("modules", i)
        share, wrong = check_keys(ShareKeys, {k: v for k, v in module.items() if k == "share_percent"})
        problems += [Problem((*where, *one.where), one.text) for one in wrong]
        if module.get("nodes") is not None:
            text = f"{found(module['nodes'])} with a budget; allowed: share_percent, from which it follows"
            problems.append(Problem((*where, "nodes"), text))
        cost = module.get("cost_per_node", 1)
        if not isinstance(cost, int | float) or isinstance(cost, bool) or not cost > 0:
            problems.append(
                Problem((*where, "cost_per_node"), f"{found(cost)} with a budget; allowed: a number > 0")
            )
            cost = 1
        percents.append(share.share_percent if share else 0.0)
        costs.append(float(cost))
    if sum(percents) > 100 + 1e-6:
        text = f"found shares of {sum(percents):g} % in all; allowed: at most 100 %"
        problems.append(Problem(("modules",), text))
    if budget is None or problems:
        return {**rest, "modules": [_bought(module, 1) for module in modules]}, problems
    counts = node_counts(budget.units, costs, percents, budget.rounding)
    bought = []
    for i, (module, nodes, percent) in enumerate(zip(modules, counts, percents, strict=True)):
        if nodes:
            bought.append(_bought(module, nodes))
        elif percent:
            text = f"{found(module['share_percent'])}, which buys no node; allowed: more, or 0"
            problems.append(Problem(("modules", i, "share_percent"), text))
    return {**rest, "modules": bought}, problems


def _bought(module: Mapping[str, Any], nodes: int) -> dict[str, Any]:
    return {**{key: value for key, value in module.items() if key != "share_percent"}, "nodes": nodes}
