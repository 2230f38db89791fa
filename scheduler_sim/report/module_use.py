"""How much of each module was used: its nodes, and where jobs share them cores, memory and GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler_sim.metrics.fragmentation import NodeHistory, stranded
from scheduler_sim.metrics.sharing import STRANDED, USED
from scheduler_sim.report.module_view import module_sizes, shared_modules
from scheduler_sim.result.columns import BUSY, TOTAL
from scheduler_sim.result.node_use import KB_PER_GB, unit
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import Steps, from_changes

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

WORDS = {"cores": "cores", "memory_kb": "memory", "gpus": "GPUs"}
UNITS = {"cores": (1000, "cores"), "memory_kb": (KB_PER_GB, "GB of memory"), "gpus": (1000, "GPUs")}
"""How many whole units one in a chart is, and what it is called."""

NOT_KNOWN = (
    "Which cores and GPUs were stranded is not known under Slurm, and where nodes were out of service or jobs"
    " requeued."
)
SAID = "Stranded: free on nodes on which none of the components that waited for such a resource fitted."

Shares = dict[str, list[float | None]]


def shares_of_modules(result: Result, names: Sequence[str]) -> Shares:
    """Return what was used of nodes, where jobs share them of cores, memory and GPUs, and what was stranded.

    Returns
    -------
    For each column of a table its name, and the share of each of ``names``: modules, or ``total``.
    """
    metrics = result.metrics
    sharing = metrics.get("sharing") or {}
    columns = {"": metrics.get("utilization") or {}}
    columns |= {WORDS[kind]: sharing.get(key) or {} for kind, key in USED.items()}
    columns |= {f"{WORDS[kind]} stranded": sharing.get(key) or {} for kind, key in STRANDED.items()}
    shares: Shares = {word: [found.get(name) for name in names] for word, found in columns.items()}
    return {word: values for word, values in shares.items() if not word or any(v is not None for v in values)}


@dataclass(frozen=True)
class Resource:
    """Cores, memory or GPUs of a module over time, in whole units: thousandths, of memory KB.

    ``there`` is all that there is; ``stranded`` is None where it is not known, and of memory.
    """

    module: str
    kind: str
    there: int
    used: Steps
    stranded: Steps | None


def resources(result: Result) -> list[Resource]:
    """Return what modules have that jobs share, one after the other; with several, all together at last."""
    schedule = Schedule(result.components, result.timeline, result.metrics, result.manifest, result.runs)
    names = [name for name in module_sizes(result.manifest) if name in shared_modules(result.manifest)]
    found = []
    for name in names:
        history = NodeHistory.of(schedule, name)
        found += [_resource(schedule, name, kind, history) for kind in WORDS]
    if len(names) > 1:
        found += [_together([one for one in found if one.kind == kind], schedule) for kind in WORDS]
    return [one for one in found if one.there]


def stranded_in_words(found: Sequence[Resource]) -> str:
    """Say what is called stranded, or why it is not known."""
    unknown = any(one.stranded is None for one in found if one.kind in STRANDED)
    return NOT_KNOWN if unknown else SAID


def _resource(schedule: Schedule, module: str, kind: str, history: NodeHistory | None) -> Resource:
    lost = stranded(history, kind) if history is not None and kind in STRANDED else None
    there = round(schedule.shared[module][kind] * unit(kind))
    return Resource(module, kind, there, _used(schedule, module, kind), lost)


def _used(schedule: Schedule, module: str, kind: str) -> Steps:
    time, value = schedule.recorded(module, BUSY[kind])
    return time, np.rint(value * unit(kind)).astype(np.int64)


def _together(several: list[Resource], schedule: Schedule) -> Resource:
    """Add up the same resource of several modules."""
    kind, lost = several[0].kind, [one.stranded for one in several if one.stranded is not None]
    whole = None
    if len(lost) == len(several):
        changes = [np.diff(value, prepend=0) for _, value in lost]
        whole = from_changes(np.concatenate([time for time, _ in lost]), np.concatenate(changes))
    return Resource(TOTAL, kind, sum(one.there for one in several), _used(schedule, TOTAL, kind), whole)
