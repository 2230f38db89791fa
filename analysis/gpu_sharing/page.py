"""The page: text around the figure and tables, every number from the runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from analysis.common.markdown import table
from analysis.common.numbers import mean, with_interval
from analysis.common.page import text_of, write_page
from analysis.gpu_sharing.cases import BACKFILLS, CUT, HOURS, IN_ORDER, LOADS, PUBLISHED_IN, SHARE, WARM_UP
from analysis.gpu_sharing.conduct import MEASURES, Conducted
from analysis.gpu_sharing.figures import waits_figure
from analysis.gpu_sharing.findings import findings
from scheduler_sim.metrics.intervals import Interval

PAGE, RESULTS = "gpu_sharing.md", "gpu_sharing/results"
SHOWN = ("several_wait_min", "one_wait_min", "part_wait_min", "wait_min", "waited", "allocated")
LEAST = 0.05
_text = partial(text_of, Path(__file__).parent / "texts")


def write(conducted: Conducted, folder: Path) -> Path:
    """Write page and figure; return the page."""
    figures = {"waits": waits_figure(conducted.runs)}
    return write_page(folder / PAGE, page_text(conducted), folder / RESULTS, figures)


def page_text(conducted: Conducted) -> str:
    """Return the page in Markdown."""
    said = {
        "version": conducted.version,
        "seeds": conducted.setup.seeds,
        "simulations": f"{conducted.setup.simulations():,}",
        "results": RESULTS,
        "published": PUBLISHED_IN,
        "share": SHARE,
        "hours": HOURS,
        "warm_up": WARM_UP,
        "cut": CUT,
    }
    parts = [_text("head").format(**said), *(f"- {one}\n" for one in findings(conducted))]
    parts.append(_text("what").format(**said))
    parts += [_means(conducted, backfill, load) for backfill in BACKFILLS for load in LOADS]
    return "".join([*parts, _text("end").format(**said)])


def _means(conducted: Conducted, backfill: str, load: str) -> str:
    """Write the means of each packing under a policy at a load."""
    runs, rows = conducted.under(backfill, load), []
    for packing in IN_ORDER:
        own = runs[runs["packing"] == packing]
        rows.append((f"`{packing}`", *(_cell(mean(own, measure)) for measure in SHOWN)))
    return f"Under {backfill}, load {load}:\n\n" + table(("", *(MEASURES[name] for name in SHOWN)), rows)


def _cell(found: Interval) -> str:
    """Write a mean with its interval; of next to nothing two decimals."""
    return with_interval(found) if found.value >= LEAST else f"{found.value:.2f}"
