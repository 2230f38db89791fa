"""The page: text around the figure and tables, every number from the runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from analysis.common.markdown import table
from analysis.common.numbers import change, in_percent, mean, with_interval
from analysis.common.page import text_of, write_page
from analysis.learnt_scheduler.agents import WEIGHTED, Linear, linear_order, linear_rule
from analysis.learnt_scheduler.cases import JOBS, NODES, PLAIN, SEEN, TRACES, WINDOW
from analysis.learnt_scheduler.conduct import MEASURES, SCHEDULERS, Conducted
from analysis.learnt_scheduler.figures import slowdown_figure
from analysis.learnt_scheduler.findings import findings

PAGE, RESULTS = "learnt_scheduler.md", "learnt_scheduler/results"
SAME_FOR_ALL = ("module", "free", "waiting")
"""What a linear rule cannot tell actions by, on one module."""
_text = partial(text_of, Path(__file__).parent / "texts")


def write(conducted: Conducted, folder: Path) -> Path:
    """Write page and figure; return the page."""
    figures = {"slowdowns": slowdown_figure(conducted.runs)}
    return write_page(folder / PAGE, page_text(conducted), folder / RESULTS, figures)


def page_text(conducted: Conducted) -> str:
    """Return the page in Markdown."""
    said = {
        "version": conducted.version,
        "runs": f"{len(conducted.runs):,}",
        "results": RESULTS,
        "jobs": JOBS,
        "nodes": NODES,
        "seen": SEEN,
        "window": f"{WINDOW:,}",
        "counts": ", ".join(f"{conducted.on(trace)['seed'].nunique()} {trace}" for trace in TRACES),
        "order": _weights(linear_order()),
        "rule": _weights(linear_rule()),
    }
    parts = [_text("head").format(**said), *(f"- {one}\n" for one in findings(conducted))]
    parts.append(_text("what").format(**said))
    parts += [_means(conducted, trace) for trace in TRACES]
    return "".join([*parts, _text("end").format(**said)])


def _weights(agent: Linear) -> str:
    """Write the weights of what differs between actions."""
    pairs = zip(WEIGHTED, agent.weights, strict=True)
    shown = [f"`{name}` {weight:+.2f}" for name, weight in pairs if name not in SAME_FOR_ALL]
    return ", ".join(shown).replace("-", "−")


def _means(conducted: Conducted, trace: str) -> str:
    """Write the means of each scheduler on a trace, and the changes against EASY and SJF."""
    runs, rows = conducted.on(trace), []
    for name in SCHEDULERS:
        own = runs[runs["scheduler"] == name]
        changes = [
            "" if name == base else in_percent(change(runs, "slowdown", name, base, by="scheduler"))
            for base in PLAIN
        ]
        rows.append((name, *(with_interval(mean(own, measure)) for measure in MEASURES), *changes))
    header = ("", *MEASURES.values(), *(f"slowdown against {base}" for base in PLAIN))
    return f"### {trace[0].upper()}{trace[1:]}\n\n" + table(header, rows)
