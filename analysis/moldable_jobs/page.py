"""The page: text around the figures and tables, every number from the runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from analysis.common.markdown import table
from analysis.common.numbers import change, in_percent, mean, with_interval
from analysis.common.page import text_of, write_page
from analysis.moldable_jobs.cases import (
    FLOORS,
    JOBS,
    LOADS,
    MAIN_LOAD,
    NODES,
    PART_MAIN,
    PART_OPEN,
    PART_SHARES,
    POLICIES,
    RIGID,
)
from analysis.moldable_jobs.conduct import MEASURES, Conducted
from analysis.moldable_jobs.figures import loads_figure, open_figure, shares_figure, whom_figure
from analysis.moldable_jobs.findings import findings

PAGE, RESULTS = "moldable_jobs.md", "moldable_jobs/results"
_text = partial(text_of, Path(__file__).parent / "texts")
SHOWN = (
    "wait_h",
    "run_h",
    "response_h",
    "response_median_h",
    "bounded_slowdown",
    "work",
    "fewer",
    "more",
    "later",
)


def write(conducted: Conducted, folder: Path) -> Path:
    """Write page and figures; return the page."""
    main = conducted.part(PART_MAIN, level=MAIN_LOAD)
    figures = {
        "loads": loads_figure(conducted.part(PART_MAIN)),
        "whom": whom_figure(main, MAIN_LOAD),
        "open": open_figure(main, conducted.part(PART_OPEN), MAIN_LOAD),
        "shares": shares_figure(main, conducted.part(PART_SHARES), MAIN_LOAD),
    }
    return write_page(folder / PAGE, page_text(conducted), folder / RESULTS, figures)


def page_text(conducted: Conducted) -> str:
    """Return the page in Markdown."""
    said = {
        "version": conducted.version,
        "seeds": conducted.setup.seeds,
        "jobs": f"{conducted.setup.jobs:,}",
        "usual_jobs": f"{JOBS:,}",
        "simulations": f"{conducted.setup.simulations():,}",
        "nodes": NODES,
        "load": MAIN_LOAD,
        "results": RESULTS,
    }
    parts = [_text("head").format(**said), *(f"- {one}\n" for one in findings(conducted))]
    parts += [_text("what").format(**said), _responses(conducted)]
    parts += [_text("whom").format(**said), _details(conducted)]
    parts += [_text("hurts").format(**said), _text("end").format(**said)]
    return "".join(parts)


def _responses(conducted: Conducted) -> str:
    """Write how the mean response changes against rigid jobs, by policy, load and floor."""
    rows = []
    for policy in POLICIES:
        for load in LOADS:
            runs = conducted.part(PART_MAIN, policy, load)
            rigid = with_interval(mean(runs[runs["floor"] == RIGID], "response_h"))
            cells = (in_percent(change(runs, "response_h", floor, RIGID, by="floor")) for floor in FLOORS)
            rows.append((policy, load, rigid, *cells))
    names = (f"moldable, at least {floor}" for floor in FLOORS)
    return table(("policy", "load", "mean response, rigid (h)", *names), rows)


def _details(conducted: Conducted) -> str:
    """Write the means at the main load."""
    rows = []
    for policy in POLICIES:
        runs = conducted.part(PART_MAIN, policy, MAIN_LOAD)
        for floor in (RIGID, *FLOORS):
            own = runs[runs["floor"] == floor]
            rows.append((policy, floor, *(with_interval(mean(own, measure)) for measure in SHOWN)))
    return table(("policy", "least efficiency", *(MEASURES[name] for name in SHOWN)), rows)
