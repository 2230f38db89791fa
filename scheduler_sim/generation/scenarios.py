"""The five ways to write one base workload with workflows: D2.3 section 3.4.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from scheduler_sim.generation.merge import BaseTrace
from scheduler_sim.generation.workflows import Workflows
from scheduler_sim.texts import TextColumn

Scenario = Literal["DEP", "DEP+API", "HET", "HET+DELAY", "HET+DELAY+API"]
SCENARIOS: tuple[str, ...] = get_args(Scenario)


@dataclass(frozen=True)
class HandOver:
    """When the components of workflows hand over, by the trace's own times; int64 arrays, one a row.

    Attributes
    ----------
    head : row of the workflow's first component; the row itself for a plain job.
    components : of the workflow; 1 for a plain job.
    call : s from its own start at which a producer calls, −1 where no component follows.
    delay : s from the first component's start at which a consumer is due, −1 for all others.
    waited : s that a consumer waits for its producers' calls if all start together.
    path : requested times (s) summed along the longest chain of the workflow.
    longest : limit (s) that covers every component if all start together: its own request, its
        request after its delay, and its run after its wait.
    producers : for each consumer, its row and the rows it follows.
    """

    head: np.ndarray
    components: np.ndarray
    call: np.ndarray
    delay: np.ndarray
    waited: np.ndarray
    path: np.ndarray
    longest: np.ndarray
    producers: list[tuple[np.ndarray, np.ndarray]]


def hand_over(trace: BaseTrace, workflows: Workflows) -> HandOver:
    """Work out when components hand over, one shape after the other."""
    rows = len(trace.nodes)
    said = HandOver(
        head=np.arange(rows),
        components=np.ones(rows, dtype=np.int64),
        call=np.full(rows, -1),
        delay=np.full(rows, -1),
        waited=np.zeros(rows, dtype=np.int64),
        path=trace.time_limit.copy(),
        longest=trace.time_limit.copy(),
        producers=[],
    )
    for shape in workflows.heads:
        members = workflows.members(shape)
        said.head[members] = members[:, :1]
        said.components[members] = shape.components
        for producer, consumer in shape.links():
            p, q = members[:, producer], members[:, consumer]
            limit, run = trace.time_limit[p], trace.run_time[p]
            said.call[p] = np.rint(workflows.api_factor[p] * run).astype(np.int64)
            due = np.rint(workflows.delay_factor[q] * limit).astype(np.int64) + np.maximum(said.delay[p], 0)
            said.delay[q] = np.maximum(said.delay[q], due)
            said.waited[q] = np.maximum(said.waited[q], said.waited[p] + said.call[p])
            said.path[q] = np.maximum(said.path[q], said.path[p] + trace.time_limit[q])
            said.producers.append((q, p))
        said.path[members] = said.path[members].max(axis=1)[:, None]
        asked = trace.time_limit[members] + np.maximum(said.delay[members], 0)
        ran = trace.run_time[members] + said.waited[members]
        said.longest[members] = np.maximum(asked, ran).max(axis=1)[:, None]
    return said


def columns_of(trace: BaseTrace, workflows: Workflows | None, scenario: Scenario) -> dict[str, Any]:
    """Return the workload columns in which the scenarios differ, and ids and submissions."""
    number = np.arange(1, len(trace.nodes) + 1)
    columns: dict[str, Any] = {
        "modular_job_id": number,
        "component_id": number,
        "submit_time": trace.submit_time,
        "time_limit": trace.time_limit,
        "run_time": trace.run_time,
    }
    if workflows is None:
        return columns
    said = hand_over(trace, workflows)
    columns["submit_time"] = trace.submit_time[said.head]
    if scenario.startswith("DEP"):
        columns |= _dependencies(said, len(number))
    else:
        columns |= {"modular_job_id": said.head + 1, "components_total": said.components}
    if scenario == "HET":
        columns |= {"time_limit": said.longest, "run_time": trace.run_time + said.waited}
    if "DELAY" in scenario:
        columns |= {"time_limit": said.path, "delay": said.delay}
    if scenario.endswith("API"):
        columns["api_calls"] = _numbers_as_text(said.call)
    return columns


def _dependencies(said: HandOver, rows: int) -> dict[str, Any]:
    """Return which component follows which, AFTEROK: ids and kinds as comma lists of equal length."""
    named: dict[int, list[int]] = {}
    for consumers, producers in said.producers:
        for consumer, producer in zip(consumers.tolist(), producers.tolist(), strict=True):
            named.setdefault(consumer, []).append(producer + 1)
    waiting = np.fromiter(named, dtype=np.int64, count=len(named))
    lists = [sorted(ids) for ids in named.values()]
    return {
        "dependency_ids": _text_at(waiting, [",".join(map(str, ids)) for ids in lists], rows),
        "dependency_kinds": _text_at(waiting, [",".join(["AFTEROK"] * len(ids)) for ids in lists], rows),
    }


def _text_at(places: np.ndarray, texts: list[str], rows: int) -> TextColumn:
    """Return a text column that is empty but for some rows."""
    codes, known = pd.factorize(np.array(texts, dtype=object))
    column = np.zeros(rows, dtype=np.int64)
    column[places] = codes + 1
    return TextColumn(column, ["", *known])


def _numbers_as_text(numbers: np.ndarray) -> TextColumn:
    """Return numbers as text, empty where they are negative."""
    values, codes = np.unique(np.maximum(numbers, -1), return_inverse=True)
    texts = ["" if value < 0 else str(value) for value in values.tolist()]
    return TextColumn(codes, texts)
