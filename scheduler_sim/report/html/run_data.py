"""The columns that the page of a run is made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.by_class import ways
from scheduler_sim.report.energy_words import WATTS
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of
from scheduler_sim.report.html.pack import Growing, Words, numbers, words
from scheduler_sim.report.module_use import UNITS, Resource
from scheduler_sim.report.module_view import ints, module_sizes
from scheduler_sim.report.reserved_bands import are_placed, bands, left_out
from scheduler_sim.report.wording import listing, plain
from scheduler_sim.result.columns import NEVER, TOTAL
from scheduler_sim.result.node_rows import NodeRows, node_rows

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

Columns = dict[str, "Ints | Words | Growing"]

COLOURS = {"cores": "#225522", "memory_kb": "#997700", "gpus": "#663399"}

MOST_STORIES, MOST_NEVER = 200, 50
"""Components whose whole explanation is in the page: longest waits, and some that never started."""


def origin(result: Result) -> int:
    """Return the first submission, in seconds on the trace's clock: what the page counts from."""
    submit = ints(result.components, "submit_time")
    return int(submit.min()) if len(submit) else 0


def columns(result: Result, found: Sequence[Resource]) -> Columns:
    """Return all that the page knows of components, nodes, timeline, resources; times in s from the origin.

    ``wait`` and ``stay`` are start − submit and end − submit, −1 where there was none.
    """
    nodes = _nodes(result, node_rows(result, module_sizes(result.manifest)))
    return _components(result) | nodes | _timeline(result) | _resources(found, origin(result))


def _components(result: Result) -> Columns:
    table = result.components
    submit = ints(table, "submit_time")

    def since(column: str) -> Ints:
        return np.where(ints(table, column) == NEVER, NEVER, ints(table, column) - submit)

    partition = {"partition": words(table["partition"])} if "partition" in ways(result) else {}
    return {
        "id": numbers(ints(table, "component_id")),
        "job": numbers(ints(table, "modular_job_id")),
        **{name: words(table[name]) for name in ("name", "user", "app", "state")},
        **partition,
        "module": _modules(result),
        "nodes": ints(table, "nodes"),
        "submit": Growing(submit - origin(result)),
        "dependency": since("eligible_time"),
        "wait": since("start_time"),
        "stay": since("end_time"),
        "limit": ints(table, "time_limit"),
        "priority": ints(table, "wait_priority"),
    }


def _modules(result: Result) -> Words:
    """Return where components were, the modules in their own order: module i is word i + 1."""
    used = result.components["module"].astype(object)
    names = list(dict.fromkeys([*module_sizes(result.manifest), *used.unique()]))
    places = {name: i + 1 for i, name in enumerate(names)}
    return Words(used.map(places).to_numpy(np.int64), ["", *map(plain, names)])


def _nodes(result: Result, places: NodeRows) -> Columns:
    """Return the rectangles of nodes; where jobs share nodes in parts of one, and how many these are.

    Where components are suspended, when they had them, in s from their submission.
    """
    runs: Columns = {
        "run_row": Growing(places.row),
        "run_first": places.low,
        "run_count": places.high - places.low,
    }
    if "suspended" in result.components:
        submit = ints(result.components, "submit_time")[places.row]
        runs |= {"run_start": places.start - submit, "run_end": places.end - submit}
    return runs if places.grains == 1 else runs | {"run_grains": np.array([places.grains], dtype=np.int64)}


def _timeline(result: Result) -> Columns:
    """Return the timeline module by module, the total last; of a single module the total is left out."""
    names = [*module_sizes(result.manifest), TOTAL]
    table = result.timeline
    if len(names) == 2:
        table = table[(table["module"] != TOTAL).to_numpy()]
    places = {name: i for i, name in enumerate(names)}
    codes = table["module"].astype(object).map(places).to_numpy().astype(np.int64)
    order = np.argsort(codes, kind="stable")
    columns: Columns = {
        "line_module": Growing(codes[order]),
        "line_time": Growing(ints(table, "time")[order] - origin(result)),
    }
    for short, name in (("busy", "nodes_busy"), ("down", "nodes_down"), ("queue", "queue_components")):
        columns[f"line_{short}"] = Growing(ints(table, name)[order])
    if power(result):
        columns["line_power"] = np.rint(table["power_w"].to_numpy(dtype=np.float64)[order]).astype(np.int64)
    return columns


def _resources(found: Sequence[Resource], first: int) -> Columns:
    """Return what was used and what was stranded of each resource, in whole units."""
    named = {f"resource{i}_used": one.used for i, one in enumerate(found)}
    named |= {
        f"resource{i}_stranded": one.stranded for i, one in enumerate(found) if one.stranded is not None
    }
    columns: Columns = {}
    for name, (time, value) in named.items():
        columns |= {f"{name}_time": Growing(time - first), f"{name}_value": value}
    return columns


def power(result: Result) -> dict[str, Any] | None:
    """Return what the chart of power is called, and how many W one on its axis is; None without a model."""
    watts = result.timeline["power_w"].to_numpy(dtype=np.float64)
    if not len(watts) or not np.isfinite(watts).all():
        return None
    scale = next((scale for scale in WATTS if watts.max() >= scale), 1.0)
    return {"label": f"power, {WATTS[scale]}", "scale": scale}


def described(result: Result, found: Sequence[Resource]) -> list[dict[str, Any]]:
    """Return what the charts of resources are called, and how many whole units one on the axis is."""
    names = [*module_sizes(result.manifest), TOTAL]
    last = 0 if len(names) == 2 else len(names) - 1
    return [
        {
            "module": last if one.module == TOTAL else names.index(one.module),
            "kind": one.kind,
            "there": one.there,
            "scale": UNITS[one.kind][0],
            "label": f"{UNITS[one.kind][1]} in use",
            "colour": COLOURS[one.kind],
        }
        for one in found
    ]


def reserved(result: Result, first: int, last: int) -> list[dict[str, Any]]:
    """Return the bands of advance reservations where rows are nodes; times in s from the origin."""
    begin = origin(result)
    return [
        {"module": i, "name": one.name, "start": one.start - begin, "end": one.end - begin}
        | {"low": one.low, "high": one.high}
        for i, module in enumerate(module_sizes(result.manifest))
        if are_placed(result.manifest, module)
        for one in bands(result.manifest, module, first + begin, last + begin)
    ]


def reserved_in_words(result: Result, first: int, last: int) -> list[str]:
    """Say what is hatched, and which reservations are not drawn on nodes."""
    manifest, begin = result.manifest, origin(result)
    names = {"on": set[str](), "counted": set[str]()}
    for module in module_sizes(manifest):
        where = "on" if are_placed(manifest, module) else "counted"
        names[where] |= {one.name for one in bands(manifest, module, first + begin, last + begin)}
    said = [f"Hatched: advance reservations, {listing(sorted(names['on']))}."] if names["on"] else []
    if names["counted"]:
        said.append(f"Not drawn, as rows are not nodes: reservations {listing(sorted(names['counted']))}.")
    return said + left_out(manifest)


def stories(result: Result) -> dict[str, str]:
    """Return whole explanations by row: of the longest waits, and of some components that never started.

    Of several components with one id only the first has an explanation; of an array the task that waited
    longest, so that one array does not fill the page.
    """
    table = result.components
    ids, start = ints(table, "component_id"), ints(table, "start_time")
    first = ~table["component_id"].duplicated().to_numpy()
    wait = np.where(first & (start != NEVER), start - ints(table, "submit_time"), 0)
    order = _one_of_each_array(result, np.argsort(-wait, kind="stable"))
    longest = order[wait[order] > 0][:MOST_STORIES]
    never = _one_of_each_array(result, np.flatnonzero(first & (start == NEVER)))[:MOST_NEVER]
    rows = sorted({*longest[wait[longest] > 0].tolist(), *never.tolist()})
    return {str(row): text_of(explain(result, int(ids[row]))) for row in rows}


def _one_of_each_array(result: Result, rows: Ints) -> Ints:
    """Return rows without all but the first of the tasks of an array."""
    if "array_job_id" not in result.components:
        return rows
    array = ints(result.components, "array_job_id")[rows]
    alone = np.where(array >= 0, array, -1 - np.arange(len(rows)))  # a job of no array is its own
    _, first = np.unique(alone, return_index=True)
    kept: Ints = rows[np.sort(first)]
    return kept
