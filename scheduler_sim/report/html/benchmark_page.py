"""The page of benchmarks over time: every step, and every series as a picture."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from io import BytesIO

from matplotlib import rc_context

from scheduler_sim.benchmarking.series import Series
from scheduler_sim.benchmarking.steps import FALSE_ALARMS, FEWEST, SHORTEST, Step
from scheduler_sim.report.benchmark_figure import series_figure
from scheduler_sim.report.benchmark_words import (
    date_words,
    environment_words,
    level_words,
    number_words,
    parameter_words,
)
from scheduler_sim.report.html.markup import Child, section, table, tag
from scheduler_sim.report.html.page import Page
from scheduler_sim.report.look import Picture, look
from scheduler_sim.report.wording import count, plain

SCRIPTS = ("data.js", "words.js", "tables.js", "benchmarks.js")


def benchmark_page(
    series: Sequence[Series], store: str, told: Callable[[int, int], object] | None = None
) -> Page:
    """Make the page; ``told`` hears how many series are drawn."""
    stepped = sorted(
        ((one, step) for one in series for step in one.steps), key=lambda pair: -pair[0].times[pair[1].at]
    )
    parts: list[Child] = [tag("p", _summary(series), class_="lead"), tag("p", _how(series), class_="note")]
    if stepped:
        parts.append(section("steps", "Steps, the latest first", _steps(stepped)))
    done = 0
    for i, benchmark in enumerate(dict.fromkeys(one.benchmark for one in series)):
        own = [one for one in series if one.benchmark == benchmark]
        figures = []
        for one in sorted(own, key=lambda one: (not one.steps, one.metric)):
            figures.append(_figure(one))
            done += 1
            if told is not None:
                told(done, len(series))
        parts.append(section(f"benchmark-{i}", plain(benchmark), figures))
    return Page(
        f"Benchmarks: {plain(store)}", parts, SCRIPTS, {"kind": "benchmarks", "unix": None}, charts=False
    )


def _summary(series: Sequence[Series]) -> str:
    first, last = min(int(one.times[0]) for one in series), max(int(one.times[-1]) for one in series)
    benchmarks = len({one.benchmark for one in series})
    steps, stepped = sum(len(one.steps) for one in series), sum(bool(one.steps) for one in series)
    told = f"{count(benchmarks, 'benchmark')} in {len(series):,} series, "
    told += f"{date_words(first)} to {date_words(last)}: "
    return told + (f"{count(steps, 'step')} in {stepped:,} series." if steps else "no steps.")


def _how(series: Sequence[Series]) -> str:
    few = sum(not one.looked_at for one in series)
    text = (
        f"Of series whose level never changes at most {FALSE_ALARMS:.0%} show a step by chance:"
        f" of {len(series) - few:,} about {FALSE_ALARMS * (len(series) - few):.2g}."
        f" A step has {SHORTEST} runs or more on either side; what drifts slowly shows as several."
    )
    return f"{text} Not looked at, with fewer than {FEWEST} runs: {few:,} series." if few else text


def _steps(stepped: Sequence[tuple[Series, Step]]) -> Child:
    """Make the table of steps; each can be found by any column."""
    rows, keys = [], []
    for one, step in stepped:
        unit, when = plain(one.unit), int(one.times[step.at])
        names = [plain(one.benchmark), plain(one.metric), parameter_words(one.parameters)]
        levels = [f"{number_words(level)} {unit}".strip() for level in (step.before, step.after)]
        changes = environment_words(one, step)
        rows.append([date_words(when), *names, changes, *levels, f"{step.change:+.1%}"])
        keys.append([when, *names, changes, step.before, step.after, step.change])
    header = [
        "First run after",
        "Benchmark",
        "Metric",
        "Parameters",
        "Environment that changed",
        "Before",
        "After",
        "Change",
    ]
    return table("Each change of level", header, rows, text=5, keys=keys)


def _figure(one: Series) -> Child:
    level = level_words(one.values[one.since :], one.unit)
    since = f" since {date_words(int(one.times[one.since]))}" if one.steps else ""
    runs = count(len(one.times), "run")
    words = f"{plain(one.metric)}, {parameter_words(one.parameters)}: {runs}, {level}{since}"
    image = base64.b64encode(_svg(series_figure(one))).decode("ascii")
    return tag(
        "figure",
        tag("img", src=f"data:image/svg+xml;base64,{image}", alt=words, loading="lazy"),
        tag("figcaption", words),
    )


def _svg(figure: Picture) -> bytes:
    file = BytesIO()
    with look(), rc_context({"svg.hashsalt": "scheduler-sim", "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": "scheduler-sim"})
    return file.getvalue()
