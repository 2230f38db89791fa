"""How an application scales: points, curves, intervals and envelopes; its tree of efficiencies as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scheduler_sim.report.look import COLOURS, DASHES, GREY, blank, ink, look, shades
from scheduler_sim.report.wording import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scheduler_sim.scaling.fitting import Fit, Slice

AHEAD = 16
"""Times the largest P measured to which curves are drawn."""

WIDEST = 3
"""Panels side by side."""

CURVE, READINGS = COLOURS[0], (COLOURS[5], COLOURS[2], COLOURS[3])
"""Colours of the curve chosen, and of the same curve under each reading of P."""

PLACES = 80
"""P at which curves are drawn."""

MOST_MARKS = 7
STEPS = 10


def fit_figure(
    fits: Mapping[str, Fit], title: str, counted: str = "processes", unit: str = "seconds"
) -> Figure:
    """Draw each fit in a panel of its own: points, the curve, its interval, the envelope.

    Parameters
    ----------
    fits : by what to call the factor or phase, at least one; title : of the page
    counted : what P is a number of; unit : of what is no efficiency
    """
    return _figure([(name, counted, fit) for name, fit in fits.items()], title, unit)


def slices_figure(
    fits: Mapping[str, Fit], title: str, counted: str = "processes", unit: str = "seconds"
) -> Figure:
    """Draw each fit of several parameters along each of them, the others held.

    Parameters as of ``fit_figure``.
    """
    panels: list[tuple[str, str, Fit | Slice]] = []
    for name, fit in fits.items():
        for parameter in fit.parameters:
            along = fit.along(parameter)
            words = counted if parameter == "processes" else parameter.replace("_khz", ", kHz")
            panels.append((f"{name}, {along.where}", words, along))
    return _figure(panels, title, unit)


def _figure(fits: Sequence[tuple[str, str, Fit | Slice]], title: str, unit: str) -> Figure:
    across = min(len(fits), WIDEST)
    down = -(-len(fits) // across)
    with look():
        figure = blank(1.2 + 3.7 * across, 1.7 + 2.5 * down)
        panels = figure.subplots(down, across, squeeze=False)
        for panel in panels.flat[len(fits) :]:
            panel.set_visible(False)
        floor = min(_floor(fit) for _, _, fit in fits)
        for (name, counted, fit), panel in zip(fits, panels.flat, strict=False):
            _fit(panel, plain(name).replace("_", " "), fit, floor, counted, unit)
        readings = any(fit.by_reading(fit.processes) for _, _, fit in fits)
        level = fits[0][2].level
        figure.legend(handles=_keys(level, readings), loc="outside lower center", ncols=3, fontsize=8.5)
        figure.suptitle(plain(title), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _range(fit: Fit | Slice) -> np.ndarray:
    return np.geomspace(fit.processes.min(), AHEAD * fit.processes.max(), PLACES)


def _floor(fit: Fit | Slice) -> float:
    """Return the efficiency at which the axes may begin, a multiple of 0.1; the same in all panels."""
    if fit.quantity == "time":
        return 0.0
    low = min(float(fit.envelope(_range(fit))[0].min()), float(fit.values.min()))
    lowest: float = max(np.floor(10 * low - 0.3) / 10, 0.0)
    return lowest


def _fit(panel: Axes, name: str, fit: Fit | Slice, floor: float, counted: str, unit: str) -> None:
    p, last = _range(fit), float(fit.processes.max())
    panel.set_xscale("log")
    low, high = fit.envelope(p)
    panel.fill_between(p, low, high, facecolor="#E3E3E3", edgecolor="#AAAAAA", linewidth=0.6)
    low, high = fit.interval(p)
    panel.fill_between(p, low, high, color=CURVE, alpha=0.3, linewidth=0)
    for (_, values), colour, dashes in zip(fit.by_reading(p).items(), READINGS, DASHES[1:], strict=False):
        panel.plot(p, values, color=colour, linestyle=dashes, linewidth=1.2)
    curve = fit.predicted(p)
    panel.plot(p, curve, color=CURVE, linewidth=1.8)
    panel.plot(fit.processes, fit.values, "o", color="black", markersize=4.5, zorder=5)
    panel.axvline(last, color=GREY, linewidth=0.8, linestyle=(0, (2, 2)))
    panel.set_title(name)
    panel.set_xlabel(plain(counted))
    panel.set_ylabel(unit if fit.quantity == "time" else "efficiency")
    _marks(panel, p[0], p[-1])
    if fit.quantity == "efficiency":
        panel.set_ylim(floor, max(1.03, 1.05 * float(fit.values.max())))
    else:
        panel.set_ylim(0, 1.4 * max(float(curve.max()), float(fit.values.max())))


def _marks(panel: Axes, first: float, last: float) -> None:
    """Mark powers of two of the first P, few enough to be read."""
    doublings = np.log2(last / first)
    step = max(int(np.ceil(doublings / MOST_MARKS)), 1)
    panel.xaxis.set_major_locator(FixedLocator([first * 2**k for k in range(0, int(doublings) + 1, step)]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda p, _: _number(p)))
    panel.tick_params(axis="x", labelsize=7.5)


def _number(p: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if p >= size:
            scale = 1e3 if unit == "k" else size
            return f"{p / scale:.3g}{unit}"
    return f"{p:,.0f}"


def _keys(level: float, readings: bool) -> list[Line2D | Patch]:
    keys: list[Line2D | Patch] = [
        Line2D([], [], marker="o", color="black", linestyle="", markersize=4.5, label="measured"),
        Line2D([], [], color=CURVE, linewidth=1.8, label="curve chosen"),
        Patch(
            color=CURVE, alpha=0.3, linewidth=0, label=f"{100 * level:.0f} % of measurements, if it is right"
        ),
    ]
    if readings:
        keys += [
            Line2D([], [], color=colour, linestyle=dashes, linewidth=1.2, label=f"P counted as {words}")
            for words, colour, dashes in zip(("P", "∛P", "1 + log₂ P"), READINGS, DASHES[1:], strict=False)
        ]
    keys.append(
        Patch(facecolor="#E3E3E3", edgecolor="#AAAAAA", label=f"{100 * level:.0f} % whichever is right")
    )
    keys.append(Line2D([], [], color=GREY, linewidth=0.8, linestyle=(0, (2, 2)), label="largest measured"))
    return keys


def tree_figure(
    rows: Mapping[tuple[str, ...], np.ndarray],
    processes: Sequence[float],
    measured: int,
    title: str,
    counted: str = "processes",
) -> Figure:
    """Draw a tree of efficiencies as a table: a row a factor, indented under what it is part of.

    Parameters
    ----------
    rows : float[k] by path, each factor after what it is part of; efficiencies, shares of 1
    processes : float[k], rising; the first ``measured`` were measured, the others are predicted
    title : of the page
    counted : what P is a number of
    """
    colours = shades(STEPS)
    with look():
        figure = blank(3.2 + 0.78 * len(processes), 1.6 + 0.34 * len(rows))
        panel = figure.subplots()
        panel.grid(visible=False)
        panel.set_xlim(0, len(processes))
        panel.set_ylim(len(rows), 0)
        for y, values in enumerate(rows.values()):
            for x, value in enumerate(values):
                step = int(np.clip((1 - value) * STEPS, 0, STEPS - 1))
                colour = colours[step]
                panel.fill_between([x, x + 1], y, y + 1, facecolor=colour, edgecolor="white", linewidth=1)
                panel.text(
                    x + 0.5,
                    y + 0.52,
                    f"{100 * value:.1f}",
                    ha="center",
                    va="center",
                    fontsize=8.5,
                    color=ink(colour),
                )
        _frame(panel, rows, processes, measured, counted)
        figure.suptitle(plain(title), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _frame(
    panel: Axes,
    rows: Mapping[tuple[str, ...], np.ndarray],
    processes: Sequence[float],
    measured: int,
    counted: str,
) -> None:
    labels = ["    " * (len(path) - 1) + plain(path[-1]).replace("_", " ") for path in rows]
    widest = max(map(len, labels))
    panel.set_yticks(
        np.arange(len(rows)) + 0.5, [label.ljust(widest) for label in labels], family="monospace"
    )
    panel.set_xticks(np.arange(len(processes)) + 0.5, [_number(p) for p in processes])
    panel.tick_params(length=0)
    for side in ("left", "bottom"):
        panel.spines[side].set_visible(False)
    if measured < len(processes):
        panel.axvline(measured, color="black", linewidth=2)
    words = f"{plain(counted)}\nEfficiency in %, darker where more is lost, by the curves fitted"
    panel.set_xlabel(words + ("; right of the line: predicted" if measured < len(processes) else ""))
