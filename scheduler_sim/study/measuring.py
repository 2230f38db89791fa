"""What a study measures of a run: of what counts, slice by slice, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.metrics.blocks import NO_BLOCK, block_measures, block_spans, blocks
from scheduler_sim.metrics.measures import measures
from scheduler_sim.metrics.sharing import sharing_within
from scheduler_sim.metrics.slices import SLICES, sliced
from scheduler_sim.metrics.trimming import trim as trimmed
from scheduler_sim.metrics.trimming import trimmed_span
from scheduler_sim.metrics.utilization import utilization_within, window
from scheduler_sim.result.columns import TOTAL
from scheduler_sim.result.result import Result
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.table import columns_of


class Trim(NamedTuple):
    """Shares (0 to 1) of the span of submissions, at its beginning and end, that do not count."""

    warm_up: float = 0.0
    cool_down: float = 0.0

    def to_dict(self) -> dict[str, float]:
        """Return it as it is written."""
        return self._asdict()


def measured(result: Result, trim: Trim, slices: Sequence[str] = ()) -> dict[str, Any]:
    """Return ``measures.json`` of a run.

    Returns
    -------
    The shares left out; the measures of the components that count; with something left out also
    makespan and utilisation of what counts, by the rules of docs/reference/statistics.md; the
    measures of each slice by each way of slicing.
    """
    components = columns_of(result.tables[0])
    counted = trimmed(components, *trim)
    document: dict[str, Any] = {"trim": trim.to_dict(), **measures(components, counted)}
    if any(trim):
        document |= _trimmed_whole(result, trim, counted)
    document["slices"] = {by: sliced(result.components, by, counted).to_dict("index") for by in slices}
    return document


def _trimmed_whole(result: Result, trim: Trim, counted: np.ndarray) -> dict[str, Any]:
    """Makespan in s, and utilisation by module, without what is left out at beginning and end."""
    ran = window(result.components[counted])
    span = trimmed_span(result.components, *trim)
    modules = result.manifest["modules"]
    return {
        "makespan": None if ran is None else ran[1] - ran[0],
        "utilization": utilization_within(result.timeline, modules, span),
    }


def measured_in_blocks(result: Result, warm_up: float, cool_down: float) -> pd.DataFrame:
    """Return a row a block of time: its measures, and the use of nodes, and of parts of them, during it."""
    components = result.components
    block = blocks(components, counted=trimmed(components, warm_up, cool_down))
    table = block_measures(components, block)
    spans = block_spans(components, block)
    used = [utilization_within(result.timeline, result.manifest["modules"], span) for span in spans]
    table = table.join(pd.DataFrame(used).add_prefix("utilization_").astype(np.float64))
    sharing = result.metrics.get("sharing")
    if not sharing:
        return table
    modules = [name for name in next(iter(sharing.values())) if name != TOTAL]
    schedule = Schedule(components, result.timeline, result.metrics, result.manifest, result.runs)
    return table.join(sharing_within(schedule, modules, spans).add_prefix("sharing_"))


def sliced_in_blocks(result: Result, warm_up: float, cool_down: float, *, by: str) -> pd.DataFrame:
    """Return a row a slice and block of time in which it has components: ``slice`` and its measures."""
    components = result.components
    block = blocks(components, counted=trimmed(components, warm_up, cool_down))
    classes = SLICES[by](components)
    parts = [
        block_measures(components, np.where(classes.codes == code, block, NO_BLOCK)).assign(slice=str(name))
        for code, name in enumerate(classes.categories)
    ]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)
