"""Jobs on nodes under several policies, one above the other: what a policy does, at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.report.colouring import colouring
from scheduler_sim.report.figures import run_span
from scheduler_sim.report.gantt import Span, checked_span, legend
from scheduler_sim.report.look import Picture, blank, look
from scheduler_sim.report.module_view import ints, unix_start
from scheduler_sim.report.node_panel import draw_nodes, module_bars, node_axis
from scheduler_sim.report.time_axis import time_axis
from scheduler_sim.report.wording import plain, span_text

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

HEIGHT = 2.1
"""Inches for each policy."""


def side_by_side(results: Mapping[str, Result], span: Span | None = None) -> Picture:
    """Draw which job had which nodes under each policy; the colour is its wait.

    Parameters
    ----------
    results : by what to call them, of one trace on one system of one module.
    span : first and last second to draw, on the trace's own clock; None for the whole of the first run.

    Raises
    ------
    InputError : no results, several modules, or an empty span.
    """
    bars = {name: list(module_bars(result).items()) for name, result in results.items()}
    if not results or any(len(modules) != 1 for modules in bars.values()):
        raise InputError("side by side: found several modules, or no result; allowed: results of one module")
    first_result = next(iter(results.values()))
    whole = run_span(first_result)
    first, last = checked_span(span) if span else whole
    with look():
        figure = blank(9.5, 0.9 + HEIGHT * len(results))
        panels = figure.subplots(len(results), 1, sharex=True, squeeze=False)[:, 0]
        for panel, (name, result) in zip(panels, results.items(), strict=True):
            node_axis(panel, bars[name][0][1].capacity)
            panel.set_title(f"{plain(name)}: {_waits(result)}", fontweight="bold")
        time_axis(panels[-1], first, last, zero=whole[0], unix_start=unix_start(first_result.manifest))
        legend(figure, colouring(first_result, "wait"), [], [])
        figure.draw_without_rendering()  # settles where each panel stands
        for panel, (name, result) in zip(panels, results.items(), strict=True):
            own = bars[name][0][1].within(first, last)
            draw_nodes(panel, own, colouring(result, "wait"), ints(result.components, "component_id"))
    return figure


def _waits(result: Result) -> str:
    wait, used = result.metrics["wait_time"]["mean"], result.metrics["utilization"]["total"]
    mean = 0.0 if wait is None or not np.isfinite(wait) else wait
    return f"mean wait {span_text(mean)}, {100 * (used or 0):.0f} % of the nodes used"
