"""The page: text around the figures and tables, every number from the runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from analysis.common.markdown import table
from analysis.common.numbers import change, in_percent, mean, with_interval
from analysis.common.page import text_of, write_page
from analysis.energy.cases import BASE, MAIN_POLICY, POLICIES, SAVERS, system
from analysis.energy.conduct import MEASURES, Conducted
from analysis.energy.figures import brings_figure, front_figure
from analysis.energy.findings import findings

PAGE, RESULTS = "energy.md", "energy/results"
_text = partial(text_of, Path(__file__).parent / "texts")
COMPARED = ("job_mwh", "above_idle_mwh", "system_mwh", "wait_h", "response_h", "price")
SHOWN = ("job_mwh", "above_idle_mwh", "system_mwh", "wait_h", "run_h", "bounded_slowdown", "peak_kw", "price",
         "completion_h", "moved", "slower")  # fmt: skip


def write(conducted: Conducted, folder: Path) -> Path:
    """Write page and figures; return the page."""
    figures = {
        "front": front_figure(conducted.under(MAIN_POLICY), MAIN_POLICY),
        "brings": brings_figure(conducted.runs),
    }
    return write_page(folder / PAGE, page_text(conducted), folder / RESULTS, figures)


def page_text(conducted: Conducted) -> str:
    """Return the page in Markdown."""
    said = {
        "version": conducted.version,
        "seeds": conducted.setup.seeds,
        "simulations": f"{conducted.setup.simulations():,}",
        "nodes": listed_nodes(),
        "policy": MAIN_POLICY,
        "results": RESULTS,
    }
    parts = [_text("head").format(**said), *(f"- {one}\n" for one in findings(conducted))]
    parts += [_text("what").format(**said), *(_changes(conducted, policy) for policy in POLICIES)]
    parts += [_text("counts").format(**said), _details(conducted), _text("end").format(**said)]
    return "".join(parts)


def listed_nodes() -> str:
    """Return the modules with their nodes."""
    return ", ".join(f"{module.nodes} {module.name}" for module in system().modules)


def _changes(conducted: Conducted, policy: str) -> str:
    """Write how each way to save changes what matters against jobs as asked."""
    runs = conducted.under(policy)
    rows = []
    for saver in SAVERS:
        if saver.name == BASE:
            continue
        cells = (in_percent(change(runs, measure, saver.name, BASE, by="saver")) for measure in COMPARED)
        rows.append((saver.kind, saver.name, *cells))
    names = (MEASURES[name].rpartition(" (")[0] for name in COMPARED)
    return f"Under {policy}:\n\n" + table(("", "", *names), rows)


def _details(conducted: Conducted) -> str:
    """Write the means under the main policy."""
    runs = conducted.under(MAIN_POLICY)
    rows = []
    for saver in SAVERS:
        own = runs[runs["saver"] == saver.name]
        rows.append((saver.name, *(with_interval(mean(own, measure)) for measure in SHOWN)))
    return table(("", *(MEASURES[name] for name in SHOWN)), rows)
