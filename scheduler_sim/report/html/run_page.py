"""The report of a run: what it came to, in words, charts, a table of jobs, and how to repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scheduler_sim.metrics.sharing import STRANDED, USED
from scheduler_sim.metrics.slices import sliced
from scheduler_sim.metrics.table import shown_in
from scheduler_sim.report.column_unit import span_unit
from scheduler_sim.report.energy_words import power as watts
from scheduler_sim.report.html.class_section import class_section, classes, drawn
from scheduler_sim.report.html.energy_section import energy_section
from scheduler_sim.report.html.markup import Child, Markup, chart, pairs, section, table, tag
from scheduler_sim.report.html.pack import pack
from scheduler_sim.report.html.page import Page
from scheduler_sim.report.html.provenance import of_run
from scheduler_sim.report.html.recorded_section import recorded_section
from scheduler_sim.report.html.run_data import (
    columns,
    described,
    origin,
    power,
    reserved,
    reserved_in_words,
    stories,
)
from scheduler_sim.report.measures import in_full, metric_words, statistic_of, unit_of
from scheduler_sim.report.model_words import TITLE, unmatched_lines
from scheduler_sim.report.module_use import (
    SAID,
    UNITS,
    Resource,
    resources,
    shares_of_modules,
    stranded_in_words,
)
from scheduler_sim.report.module_view import ints, module_sizes, rows_in_words, unix_start
from scheduler_sim.report.pending_words import count_pending
from scheduler_sim.report.wording import count, date, doubts, duration, percent, plain
from scheduler_sim.result.columns import TOTAL
from scheduler_sim.result.documents import SPREAD

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

SCRIPTS = (
    *("data.js", "words.js", "tables.js", "charts.js", "classes.js", "timeline.js", "gantt.js"),
    *("waits.js", "parts.js", "story.js", "jobs.js", "run.js"),
)
COLUMNS = {"mean": "mean", "median": "median", "p90": "90 % below", "p99": "99 % below", "max": "largest"}

STACKED = (
    "Where there are more components than can be told apart, the picture shows how many nodes those of each"
    " colour held; zoom in to see them one by one. All are in the table of jobs."
)


def run_page(result: Result) -> Page:
    """Make the page of a run."""
    first, last = _span(result)
    found = resources(result)
    parted = classes(result)
    unix = unix_start(result.manifest)
    data = {
        "kind": "run",
        "modules": [[plain(name), nodes] for name, nodes in module_sizes(result.manifest).items()],
        "span": [first, max(last, first + 1)],
        "unix": None if unix is None else unix + origin(result),
        "policy": _policy(result.manifest),
        "reserved": reserved(result, first, last),
        "resources": described(result, found),
        "power": power(result),
        "classes": drawn(parted),
        "stories": stories(result),
    }
    body = [
        tag("p", _summary(result), class_="lead"),
        _doubts(result),
        section("summary", "Results", _numbers(result)),
        section("time", "Nodes and queue over time", _over_time(result, found, first, last)),
        *energy_section(result),
        section("waits", "How long jobs waited", chart("wait-chart", _distribution(result))),
        *class_section(parted),
        *recorded_section(result),
        section("story", "Why a job waited", _search(result)),
        section("jobs", "All jobs", tag("div", id="job-table")),
        section("provenance", "What was run, and how to repeat it", of_run(result)),
    ]
    return Page(_title(result.manifest), body, SCRIPTS, data, pack(columns(result, found)))


def _title(manifest: Mapping[str, Any]) -> str:
    trace = next((one["name"] for one in manifest.get("inputs") or [] if one.get("role") == "workload"), "")
    system = (manifest.get("system") or {}).get("name") or ""
    words = [plain(trace) or "A trace", f"on {plain(system)}" if system else "", f"under {_policy(manifest)}"]
    return " ".join(word for word in words if word)


def _policy(manifest: Mapping[str, Any]) -> str:
    policy = manifest.get("policy") or {}
    return plain(policy.get("name") or policy.get("order") or "an unnamed policy")


def _span(result: Result) -> tuple[int, int]:
    """Return the first and last second of the record, counted from the first submission."""
    if not len(result.components):
        return 0, 0
    last = max(int(ints(result.components, name).max()) for name in ("submit_time", "end_time"))
    return 0, last - origin(result)


def _summary(result: Result) -> str:
    """Say in words what came of it."""
    table, metrics = result.components, result.metrics
    if not len(table):
        return "The trace holds no component, so nothing ran."
    started = ints(table, "start_time") >= 0
    if not started.any():
        return f"None of {count(len(table), 'component')} ran."
    wait, used = metrics["wait_time"], (metrics.get("utilization") or {}).get(TOTAL)
    at_once = (ints(table, "start_time") == ints(table, "submit_time"))[started].mean()
    every = "All" if started.all() else f"{int(started.sum()):,} of"
    parts = [
        f"{every} {count(len(table), 'component')} ran, within {duration(metrics['makespan'] or 0)}.",
        f"{percent(at_once)} of them started at once; the mean wait was {duration(round(wait['mean']))},"
        f" the longest {duration(round(wait['max']))}.",
        "" if used is None else f"{percent(used)} of the node time was used.",
    ]
    return " ".join(part for part in parts if part)


def _doubts(result: Result) -> Child:
    """Say first what speaks against the numbers."""
    unmatched = [(TITLE, line) for line in unmatched_lines(result.manifest)]
    found = [*doubts(result.metrics), *unmatched]
    if not found:
        return None
    lines = [tag("p", tag("strong", f"{kind[0].upper()}{kind[1:]}: "), text) for kind, text in found]
    return tag("div", lines, class_="notice", role="note")


def _numbers(result: Result) -> Child:
    tables = [_waits(result), tag("div", _modules(result)), *_slices(result)]
    return [_counts(result), tag("div", tables, class_="side")]


def _counts(result: Result) -> Markup:
    counts = result.metrics.get("counts") or result.manifest.get("counts") or {}
    numbers = {"components": f"{len(result.components):,}"}
    numbers |= {
        key.replace("_", " "): f"{value:,}"
        for key, value in counts.items()
        if isinstance(value, int) and value
    }
    for key in ("rejected_because", "skipped_because", "not_honoured"):
        for reason, number in (counts.get(key) or {}).items():
            numbers[f"{key.replace('_', ' ')}: {plain(reason).replace('_', ' ')}"] = f"{number:,}"
    if counts.get("pending"):
        numbers |= {
            f"pending: {plain(word)}": f"{number:,}" for word, number in count_pending(result).items()
        }
    return pairs(numbers)


def _waits(result: Result) -> Markup:
    header = ["measure", *(COLUMNS[one] for one in SPREAD)]
    rows = [_spread(result.metrics, name) for name in shown_in("report")]
    return table("Waits of the components that ran", header, rows)


def _spread(metrics: Mapping[str, Any], name: str) -> list[str]:
    """Return the row of a measure, whose unit stands beside its name."""
    values = [statistic_of(metrics, name, one) for one in SPREAD]
    unit = unit_of(name, [value for value in values if value is not None])
    if unit is None:
        return [metric_words(name), *(in_full(value, name) for value in values)]
    return [unit.headed(metric_words(name)), *map(unit.written, values)]


def _modules(result: Result) -> Child:
    sizes = module_sizes(result.manifest)
    nodes = {**sizes, TOTAL: sum(sizes.values())} if len(sizes) > 1 else sizes
    shares = shares_of_modules(result, list(nodes))
    rows = [
        ["all modules" if name == TOTAL else plain(name), f"{nodes[name]:,}", *map(_share, own)]
        for name, *own in zip(nodes, *shares.values(), strict=True)
    ]
    used = table("Use of the modules", ["module", "nodes", *(word or "used" for word in shares)], rows)
    return [used, tag("p", SAID, class_="note")] if any("stranded" in word for word in shares) else used


def _share(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _slices(result: Result) -> Iterator[Markup]:
    """Yield waits by GPUs, where components ask for some."""
    if "gpus" not in result.components or not (result.components["gpus"] > 0).any():
        return
    waits, slowdown = ["wait_time_mean", "wait_time_p99"], "bounded_slowdown_mean"
    found = sliced(result.components, "gpus")
    unit = span_unit(*(found[key] for key in waits))
    rows = [
        [str(name), f"{int(row['jobs']):,}", *map(unit.written, row[waits]), in_full(row[slowdown], slowdown)]
        for name, row in found.iterrows()
    ]
    header = ["GPUs", "components", *map(unit.headed, ("mean wait", "99 % waited less"))]
    header.append("mean bounded slowdown")
    yield table("Waits by GPUs", header, rows)


def _over_time(result: Result, found: Sequence[Resource], first: int, last: int) -> Child:
    unix, dates = unix_start(result.manifest), ""
    if unix is not None and date(unix + last):
        begin = unix + origin(result)
        dates = f" That is {date(begin + first)} to {date(begin + last)}."
    when = f"Time counts days and hours from the first submission to {duration(last)} after it.{dates}"
    sizes, shares = module_sizes(result.manifest), result.metrics.get("utilization") or {}
    used = ", ".join(
        f"{plain(name)} {_share(shares.get(name))} of {count(sizes[name], 'node')}" for name in sizes
    )
    timeline = result.timeline
    total = timeline[(timeline["module"] == TOTAL).to_numpy()]
    longest = int(total["queue_components"].max()) if len(total) else 0
    return [
        tag(
            "p",
            when,
            tag(
                "span",
                " Drag over a chart, or use the buttons, to look closer; all charts share one span of time."
                " Click a component on its nodes to read why it waited.",
                class_="screen",
            ),
        ),
        tag("div", id="time-controls", class_="controls"),
        chart(
            "busy-chart", f"Busy nodes over time. Used on average over the whole run: {used or 'nothing'}."
        ),
        *_resources(result, found),
        chart(
            "queue-chart",
            f"Waiting components over time; in the whole run at most {longest:,} waited at once.",
        ),
        _power(result),
        tag("div", id="gantt"),
        tag(
            "p",
            " ".join(
                [
                    "Which component had which nodes.",
                    *rows_in_words(result.manifest, sizes),
                    *reserved_in_words(result, first, last),
                    STACKED,
                ]
            ),
            class_="note",
        ),
    ]


def _resources(result: Result, found: Sequence[Resource]) -> Iterator[Markup]:
    """Make the place of a chart for each kind of resource that jobs share."""
    kinds = dict.fromkeys(one.kind for one in found)
    sharing = result.metrics.get("sharing") or {}
    for kind in kinds:
        own = [one for one in found if one.kind == kind and one.module != TOTAL]
        scale, word = UNITS[kind]
        used = ", ".join(
            f"{plain(one.module)} {_share(sharing[USED[kind]][one.module])} of {one.there / scale:,.0f}"
            for one in own
        )
        hatched = f" Hatched: stranded. {stranded_in_words(own)}" if kind in STRANDED else ""
        words = f"{word[0].upper()}{word[1:]} in use over time. Used on average over the whole run: {used}."
        yield chart(f"{kind}-chart", words + hatched)


def _power(result: Result) -> Child:
    """Make the place of the chart of power, where the run has a model of it."""
    if not power(result):
        return None
    found = result.metrics["energy"]
    mean, most = (watts(found[key] or 0) for key in ("mean_power_w", "max_power_w"))
    return chart(
        "power-chart",
        f"Power of all nodes over time, including idle ones: {mean} on average over the whole run, {most} at"
        " most.",
    )


def _search(result: Result) -> Child:
    ids = result.components["component_id"]
    example = str(ids.iloc[0]) if len(ids) else ""
    field = tag(
        "input", id="story-field", type="search", autocomplete="off", placeholder=f"such as {example}"
    )
    return [
        tag("form", tag("label", "Component id or name", for_="story-field"), " ", field, " ",
            tag("button", "Find", type="submit"), id="story-form", class_="controls"),
        tag("div", id="story-text", aria_live="polite"),
    ]  # fmt: skip


def _distribution(result: Result) -> str:
    wait = result.metrics.get("wait_time") or {}
    if wait.get("mean") is None:
        return "No component ran."
    return (
        "Share of the components that ran and waited at most a given time, from submission to start: half at"
        f" most {duration(round(wait['median']))}, 90 % at most {duration(round(wait['p90']))}, 99 % at most"
        f" {duration(round(wait['p99']))}, all at most {duration(round(wait['max']))}."
    )
