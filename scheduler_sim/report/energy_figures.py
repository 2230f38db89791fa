"""How well energy models project: heat maps, error curves, measured against projected, counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from scheduler_sim.arrays import Floats
from scheduler_sim.report.look import COLOURS, DASHES, GREY, Picture, blank, ink, look, shades
from scheduler_sim.report.wording import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec

SELECTED = "selected"
MARKS = ("o", "s", "^", "D", "v", "P")
UNITS = {"power": "W", "time": "s", "energy": "J"}
TONES = 12
MOST_CELLS = 12
"""Frequencies a side of a heat map whose cells still have room for a number."""


def validation_figure(
    maps: pd.DataFrame,
    curve: pd.DataFrame,
    projections: pd.DataFrame,
    explained: Sequence[float] | None,
    kept: int,
    title: str,
) -> Figure:
    """Draw how well a model projects workloads it was not fitted to, on one page.

    Parameters
    ----------
    maps : mean RMSE % of power by frequency measured at (rows) and projected to (columns), kHz.
    curve : mean RMSE % of power over all targets, by frequency measured at (rows, kHz) and law (columns).
    projections : ``quantity, from_khz, to_khz, measured, projected`` (W, s, J) to draw one against the other.
    explained : share of variance of each principal component of the counters; None where there are none.
    kept : components kept.
    title : what the page is about.
    """
    quantities = [name for name in UNITS if (projections["quantity"] == name).any()]
    with look():
        figure = blank(11, 7.4)
        grid = figure.add_gridspec(2, 6)
        above = _row(figure, grid, 0, 2 if explained is None else 3)
        heat(above[0], maps)
        error_curve(above[1], curve)
        if explained is not None:
            variance(above[2], explained, kept)
        for panel, quantity in zip(_row(figure, grid, 1, len(quantities)), quantities, strict=True):
            against(panel, projections[projections["quantity"] == quantity], quantity)
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def held_out_figure(
    measured: np.ndarray, told: np.ndarray, errors: Mapping[str, float], title: str
) -> Figure:
    """Draw how near what was learnt of jobs is to others, on one page.

    Parameters
    ----------
    measured, told : (n,) W of a node under each job that was held out, as it was and as it was told.
    errors : MAPE (%) by way of telling, that of ``told`` first.
    title : what the page is about.
    """
    with look():
        figure = blank(9, 3.8)
        against_told, bars = figure.subplots(1, 2, width_ratios=[1.2, 1])
        ends = [min(measured.min(), told.min()), max(measured.max(), told.max())]
        against_told.plot(ends, ends, color=GREY, linewidth=1, zorder=1)
        against_told.scatter(measured, told, s=9, c=COLOURS[0], linewidths=0.2, edgecolors="black", zorder=2)
        against_told.set_xlabel("measured, W per node")
        against_told.set_ylabel("predicted, W per node")
        against_told.set_title("Jobs that were held out")
        places = np.arange(len(errors))[::-1]
        colours = [COLOURS[0], *["#cccccc"] * (len(errors) - 1)]
        values = list(errors.values())
        bars.barh(places, values, color=colours, edgecolor="black", linewidth=0.4, height=0.6)
        for place, value in zip(places, values, strict=True):
            bars.text(value, place, f" {value:.1f}", va="center", fontsize=8)
        bars.set_yticks(places, [plain(name) for name in errors])
        bars.tick_params(axis="y", length=0)
        bars.grid(visible=False, axis="y")
        bars.set_xlim(0, 1.15 * max(max(values), 1e-9))
        bars.set_xlabel("MAPE, %")
        bars.set_title("Mean error of each predictor")
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def one_clock_figure(measured: Floats, told: Floats, law: str) -> Picture:
    """Draw what a law says of workloads that were left out against what was measured, W."""
    with look():
        figure = blank(4.2, 4.0)
        panel = figure.subplots()
        ends = [float(min(measured.min(), told.min())), float(max(measured.max(), told.max()))]
        panel.plot(ends, ends, color=GREY, linewidth=1)
        panel.plot(measured, told, ".", color=COLOURS[0], markersize=5)
        panel.set_xlabel("measured, W")
        panel.set_ylabel("predicted by the law, W")
        panel.set_title(f"Power by {plain(law)}: workloads left out")
        panel.set_aspect("equal")
    return figure


def _row(figure: Figure, grid: GridSpec, row: int, panels: int) -> list[Axes]:
    """Divide a row of six columns among 1, 2 or 3 panels."""
    width = 6 // panels
    return [figure.add_subplot(grid[row, i * width : (i + 1) * width]) for i in range(panels)]


def heat(panel: Axes, table: pd.DataFrame) -> None:
    """Draw errors by frequency measured at (rows) and projected to (columns), kHz; darker is worse."""
    values = table.to_numpy()
    tones, most = shades(TONES), float(np.nanmax(values))
    for (y, x), value in np.ndenumerate(values):
        if np.isnan(value):
            panel.fill_between([x, x + 1], y, y + 1, facecolor="white", edgecolor=GREY, hatch="////", lw=0.3)
            continue
        fill = tones[round((TONES - 1) * value / most)] if most > 0 else tones[0]
        panel.fill_between([x, x + 1], y, y + 1, facecolor=fill, edgecolor="white", linewidth=0.6)
        if len(values) <= MOST_CELLS:
            panel.text(
                x + 0.5, y + 0.5, f"{value:.1f}", ha="center", va="center", fontsize=6.5, color=ink(fill)
            )
    every = max(1, len(values) // 10)
    places = np.arange(0, len(values), every)
    names = [_ghz(khz) for khz in table.index[places]]
    panel.set_xticks(places + 0.5, names, fontsize=7)
    panel.set_yticks(places + 0.5, names, fontsize=7)
    panel.set_xlim(0, len(values))
    panel.set_ylim(0, len(values))
    panel.tick_params(length=0)
    panel.grid(visible=False)
    panel.set_xlabel("projected to, GHz")
    panel.set_ylabel("measured at, GHz")
    panel.set_title(f"Power, RMSE % (largest {most:.1f}), selected law")


def error_curve(panel: Axes, table: pd.DataFrame) -> None:
    """Draw the mean error over all targets by the frequency measured at, a line a law."""
    pens = zip(table.columns, COLOURS, DASHES, MARKS, strict=False)
    for law, colour, dashes, mark in pens:
        pen: dict[str, Any] = {"color": colour, "linestyle": dashes, "marker": mark, "markersize": 3.5}
        if law == SELECTED:  # a band behind the line of the law it is
            pen = {"color": "#bbbbbb", "linewidth": 7, "zorder": 1, "solid_capstyle": "round"}
        panel.plot(table.index / 1e6, table[law], label=plain(str(law)), **pen)
    panel.set_ylim(bottom=0)
    panel.set_xlabel("measured at, GHz")
    panel.set_ylabel("mean over all targets, RMSE %")
    panel.set_title("Power, by reference frequency")
    panel.legend(fontsize=7.5)


def against(panel: Axes, rows: pd.DataFrame, quantity: str) -> None:
    """Draw each projection against what was measured, darker where the target is slower."""
    measured, projected = rows["measured"].to_numpy(), rows["projected"].to_numpy()
    targets = np.unique(rows["to_khz"])
    tones = dict(zip(targets, shades(len(targets) + 1)[1:][::-1], strict=True))
    ends = [min(measured.min(), projected.min()), max(measured.max(), projected.max())]
    wide = ends[0] > 0 and ends[1] > 30 * ends[0]
    panel.plot(ends, ends, color=GREY, linewidth=1, zorder=1)
    colours = [tones[khz] for khz in rows["to_khz"]]
    panel.scatter(measured, projected, s=9, c=colours, linewidths=0.2, edgecolors="black", zorder=2)
    if wide:
        panel.set_xscale("log")
        panel.set_yscale("log")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            axis.set_minor_formatter(NullFormatter())
    unit = UNITS[quantity]
    start = _ghz(int(rows["from_khz"].iloc[0]))
    panel.set_xlabel(f"measured, {unit}{' (log)' if wide else ''}")
    panel.set_ylabel(f"projected, {unit}")
    panel.set_title(f"{quantity.capitalize()} projected from {start} GHz")
    for khz in (targets[0], targets[-1]):
        panel.scatter(
            [], [], s=14, c=[tones[khz]], edgecolors="black", linewidths=0.2, label=f"to {_ghz(khz)} GHz"
        )
    panel.legend(fontsize=7, loc="upper left")


def variance(panel: Axes, explained: Sequence[float], kept: int) -> None:
    """Draw the variance that principal components of the counters explain, each and together."""
    places = np.arange(1, len(explained) + 1)
    share = 100 * np.asarray(explained)
    colours = [COLOURS[0] if place <= kept else "#cccccc" for place in places]
    panel.bar(places, share, color=colours, edgecolor="black", linewidth=0.4, label="each; in colour: kept")
    panel.plot(places, np.cumsum(share), color="black", marker="o", markersize=3, label="together")
    panel.set_ylim(0, 104)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("principal component")
    panel.set_ylabel("variance explained, %")
    panel.set_title("Counters")
    panel.legend(fontsize=7.5, loc="center right")


def _ghz(khz: int) -> str:
    return f"{khz / 1e6:.4g}"
