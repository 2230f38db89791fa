"""The page: text around the figures and tables, every number from the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from analysis.common.markdown import table
from analysis.common.numbers import mean, with_interval
from analysis.common.page import text_of, write_page
from analysis.dynamic_workflows.cases import (
    DELAY_RANGES,
    EXACT,
    HALF_WRONG,
    LOADS,
    PART_DELAYS,
    PART_LOAD,
    PART_VARIANTS,
    PART_WORKFLOWS,
    WITH_DELAY,
    WORKFLOW_PERCENTS,
)
from analysis.dynamic_workflows.conduct import Conducted
from analysis.dynamic_workflows.figures import scenario_figure, varied_figure
from analysis.dynamic_workflows.findings import findings
from analysis.dynamic_workflows.measures import MEASURES
from analysis.dynamic_workflows.statements import COLUMNS, SHARES, statement_rows
from scheduler_sim.generation.scenarios import SCENARIOS

PAGE, RESULTS = "dynamic_workflows.md", "dynamic_workflows/results"
_text = partial(text_of, Path(__file__).parent / "texts")

SHOWN = (
    *("normalized_all", "normalized", "normalized_median", "normalized_own", "wait_h", "response_h"),
    *("slowdown", "slowdown_own", "bounded_slowdown", "whole_wait_h", "whole_response_h", "whole_slowdown"),
    *("outside_wait_h", "workflow_wait_h", "workflow_response_h", "workflow_runtime_h"),
    *("workflow_internal_wait_h", "dependent_wait_h", "workflow_slowdown_median", "overlapped"),
    *("time_saved", "idle"),
)
SLURM_SHOWN = (
    *("normalized_median", "wait_h", "whole_wait_h", "outside_wait_h", "workflow_response_h"),
    *("workflow_runtime_h", "dependent_wait_h", "workflow_slowdown_median", "overlapped", "time_saved"),
    "idle",
)
VARIANT_MEASURES = ("wait_h", "outside_wait_h", "workflow_response_h", "workflow_runtime_h", "overlapped")
VARIED = {
    "delays": (PART_DELAYS, (EXACT, HALF_WRONG, *DELAY_RANGES)),
    "workflows": (PART_WORKFLOWS, tuple(map(str, WORKFLOW_PERCENTS))),
    "load": (PART_LOAD, tuple(map(str, LOADS))),
}
"""Name of the figure, part of the study, levels in the order of the x axis."""

AXES = {
    "delays": (
        "Worse delays, 33 % of the jobs in workflows",
        "delay: exact, or this part of the producer's requested time",
        False,
    ),
    "workflows": ("More workflows", "jobs in workflows (%)", True),
    "load": ("More load, 33 % of the jobs in workflows", "offered load of each module", True),
}
"""Title, x axis and whether it is a scale."""


def write(conducted: Conducted, folder: Path) -> Path:
    """Write page and figures; return the page. Without seeds beyond D2.3's cases it has those alone."""
    figures = {f"workflows-{share}": scenario_figure(conducted.main(share), share) for share in SHARES}
    if conducted.setup.seeds_beyond:
        for name, (part, levels) in VARIED.items():
            reference = _without_delays(conducted) if name == "delays" else None
            figures[name] = varied_figure(conducted.part(part), levels, *AXES[name], reference)
    return write_page(folder / PAGE, page_text(conducted), folder / RESULTS, figures)


def _without_delays(conducted: Conducted) -> tuple[str, pd.DataFrame]:
    """Return what the runs with varied delays are compared with: DEP+API on the same workloads."""
    runs = conducted.main(33)
    same = (runs["scenario"] == "DEP+API") & (runs["seed"] <= conducted.setup.seeds_beyond)
    return "DEP+API, which has no delays", runs[same]


def page_text(conducted: Conducted) -> str:
    """Return the page in Markdown."""
    parts = [_text("head").format(**_run(conducted)), *(f"- {one}\n" for one in findings(conducted))]
    parts += [_text("scenarios").format(**_run(conducted)), *_means(conducted)]
    parts += [_text("statements"), *_statements(conducted)]
    if conducted.setup.seeds_beyond:
        parts += [_text("beyond").format(**_run(conducted)), *_variants(conducted)]
        slurm = conducted.under_slurm()
        parts += [_text("slurm").format(**_run(conducted)), *_slurm_means(slurm), *_statements(slurm)]
    parts.append(_text("end").format(**_run(conducted)))
    return "".join(parts)


def _run(conducted: Conducted) -> dict[str, object]:
    """Say what was run, and by what; the delays of each kind beside the truth."""
    main, beyond = conducted.setup.simulations()
    setup = conducted.setup
    return {
        **setup.__dict__,
        "version": conducted.version,
        "all_jobs": 3 * setup.jobs,
        "main": f"{main:,}",
        "beyond": f"{beyond:,}",
        "results": RESULTS,
        "idle_most": f"{conducted.part(PART_DELAYS).groupby('level')['idle'].mean().max():.1f}",
        **{
            f"{name}_{share}": with_interval(mean(conducted.main(share), name), " %")
            for name in ("components", "work")
            for share in SHARES
        },
    }


def _means(conducted: Conducted) -> Iterator[str]:
    """Write a figure and a table of means for each share."""
    for share in SHARES:
        runs = conducted.main(share)
        picture = (
            f"![Five scenarios with {share} % of the jobs in workflows]({RESULTS}/workflows-{share}.png)"
        )
        yield f"### {share} % of the jobs in workflows\n\n{picture}\n\n"
        rows = ((MEASURES[name], *_cells(runs, "scenario", SCENARIOS, name)) for name in SHOWN)
        yield table(("mean over seeds (95 % interval)", *SCENARIOS), rows)


def _slurm_means(slurm: Conducted) -> Iterator[str]:
    """Write a table of the means that say most for each share."""
    for share in SHARES:
        rows = (
            (MEASURES[name], *_cells(slurm.main(share), "scenario", SCENARIOS, name)) for name in SLURM_SHOWN
        )
        yield table((f"{share} % in workflows: mean over seeds (95 % interval)", *SCENARIOS), rows)


def _statements(conducted: Conducted) -> Iterator[str]:
    """Write D2.3's statements, and below them why ours differ where they do."""
    notes: dict[str, str] = {}
    rows = []
    for *cells, agrees, why in statement_rows(conducted):
        if why:
            letter = notes.setdefault(why, "abcdefghijklmnopqrstuvwxyz"[len(notes)])
            agrees = f"{agrees} ({letter})"
        rows.append((*cells, agrees))
    yield table(COLUMNS[:-1], rows)
    yield "".join(f"- ({letter}) {why[0].upper()}{why[1:]}.\n" for why, letter in notes.items())


def _variants(conducted: Conducted) -> Iterator[str]:
    runs = conducted.part(PART_VARIANTS)
    rows = (
        (
            str(level),
            scenario,
            *(with_interval(mean(own[own["scenario"] == scenario], name)) for name in VARIANT_MEASURES),
        )
        for level, own in runs.groupby("level", sort=False)
        for scenario in WITH_DELAY
    )
    yield table(("variant", "scenario", *(MEASURES[name] for name in VARIANT_MEASURES)), rows)


def _cells(runs: pd.DataFrame, by: str, levels: Sequence[str], measure: str) -> Iterator[str]:
    return (with_interval(mean(runs[runs[by] == level], measure)) for level in levels)
