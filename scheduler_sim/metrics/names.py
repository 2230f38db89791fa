"""The names by which studies, slices and comparisons know metrics: ``wait_time_mean``, ``utilization_CM``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scheduler_sim.metrics import table
from scheduler_sim.metrics.metric import KIND, MODULE, SUMMARY, Metric
from scheduler_sim.result.documents import SPREAD

WITH_SINGLES = "workflow_with_single_components_"
OF_MODULES = "energy_modules_"
"""Beginnings of the names under which a block stands once more."""

BLOCKS = ("workflow", "energy", "sharing", "lost", "suspended", "topology", "counts")


class Named(NamedTuple):
    """A row of the table, what of it the name is: a statistic, or the value of one module or kind.

    ``base`` is the name without the statistic.
    """

    metric: Metric
    base: str
    statistic: str = ""
    part: str = ""


def named(name: str) -> Named:
    """Find the metric that a name is of.

    What the table does not have, as the cost of a mix or a count that only some runs have, is a
    metric without unit and words of which less is better, of the block that it begins with.
    """
    return next(_found(name), None) or _unlisted(name)


def better(name: str) -> str:
    """Tell which values of a metric are better: ``less``, ``more`` or ``neither``."""
    return named(name).metric.better


def _found(name: str) -> Iterator[Named]:
    """Yield the metric by its own name, by a statistic of it, or by a module or kind."""
    paths = {metric.path: metric for metric in table.METRICS}
    own = f"workflow_{name.removeprefix(WITH_SINGLES)}" if name.startswith(WITH_SINGLES) else name
    if own in paths:
        yield Named(paths[own], name)
    what, _, statistic = own.rpartition("_")
    if statistic in SPREAD and what in paths and paths[what].by == SUMMARY:
        yield Named(paths[what], name.rpartition("_")[0], statistic)
    for path, metric in paths.items():
        if metric.by in (MODULE, KIND) and own.startswith(f"{path}_"):
            yield Named(metric, name, part=own.removeprefix(f"{path}_"))
    for metric in table.of_block("energy"):
        if metric.by == MODULE and own.startswith(OF_MODULES) and own.endswith(f"_{metric.name}"):
            yield Named(metric, name, part=own.removeprefix(OF_MODULES).removesuffix(f"_{metric.name}"))


def _unlisted(name: str) -> Named:
    block, _, rest = name.partition("_")
    if block not in BLOCKS:
        block, rest = "", name
    what, _, statistic = name.rpartition("_")
    base, statistic = (what, statistic) if what and statistic in SPREAD else (name, "")
    return Named(Metric(name=rest, block=block), base, statistic)
