"""Pictures of scaling: what they show is said, for any fit."""

from __future__ import annotations

import numpy as np

from scheduler_sim.report.look import save_png
from scheduler_sim.report.scaling_figures import PLACES, fit_figure, slices_figure, tree_figure
from scheduler_sim.scaling.fitting import fit_factor, fit_time

P = [16, 32, 64, 128, 256]
FALLING = [0.99, 0.98, 0.96, 0.93, 0.87]


def keys(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_fits_of_factors_show_every_reading(tmp_path):
    fits = {
        name: fit_factor(P, FALLING, name) for name in ("load_balance", "transfer", "serialization", "ipc")
    }
    figure = fit_figure(fits, "app: weak scaling")
    shown = [panel for panel in figure.axes if panel.get_visible()]
    assert [panel.get_title(loc="left") for panel in shown] == [
        "load balance",
        "transfer",
        "serialization",
        "ipc",
    ]
    assert {panel.get_ylabel() for panel in shown} == {"efficiency"}
    assert {panel.get_xlabel() for panel in shown} == {"processes"}
    assert len({panel.get_ylim()[0] for panel in shown}) == 1
    for said in ("measured", "P counted as P", "90 % whichever is right", "largest measured"):
        assert said in keys(figure)
    assert save_png(figure, tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")


def test_points_and_curve_are_those_of_the_fit():
    fit = fit_factor(P, FALLING, "transfer")
    lines = fit_figure({"transfer": fit}, "app").axes[0].lines
    drawn = {len(line.get_xdata()): line for line in lines if line.get_color() in ("black", "#0072B2")}
    assert drawn[5].get_ydata().tolist() == FALLING
    assert np.allclose(drawn[PLACES].get_ydata(), fit.curve.values(drawn[PLACES].get_xdata()))
    assert drawn[PLACES].get_xdata()[-1] == 16 * 256


def test_fits_of_times_have_their_units():
    figure = fit_figure({"sweep": fit_time(P, [4, 5.6, 8, 11.3, 16])}, "app")
    assert figure.axes[0].get_ylabel() == "seconds"
    assert "P counted as P" not in keys(figure)
    strong = fit_figure({"all": fit_time(P, [16, 8.3, 4.4, 2.5, 1.6], scaling="strong")}, "app", "nodes")
    assert strong.axes[0].get_ylabel() == "seconds"
    assert strong.axes[0].get_xlabel() == "nodes"
    drawn = [line.get_ydata().tolist() for line in strong.axes[0].lines if line.get_color() == "black"]
    assert drawn == [[16, 8.3, 4.4, 2.5, 1.6]]


def test_one_point_is_drawn(tmp_path):
    save_png(fit_figure({"transfer": fit_factor([4], [0.9], "transfer")}, "app"), tmp_path / "one.png")


def test_a_tree_has_a_row_a_factor_and_a_column_a_size(tmp_path):
    rows = {("global",): np.array([0.9, 0.5]), ("global", "load_balance"): np.array([1.2, 0.004])}
    figure = tree_figure(rows, [24, 5_000_000], 1, "app_1: strong scaling")
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.texts] == ["90.0", "50.0", "120.0", "0.4"]
    labels = [label.get_text() for label in panel.get_yticklabels()]
    assert labels[0].startswith("global")
    assert labels[1].startswith("    load balance")
    assert [label.get_text() for label in panel.get_xticklabels()] == ["24", "5M"]
    assert "right of the line: predicted" in panel.get_xlabel()
    assert save_png(figure, tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")
    assert "predicted" not in tree_figure(rows, [24, 48], 2, "app").axes[0].get_xlabel()


def test_a_fit_of_several_parameters_has_a_panel_for_each():
    points = np.array([[p, n] for p in (4.0, 8, 16, 32, 64) for n in (100.0, 200, 400)])
    fit = fit_time(
        points, 3 + points[:, 1] / points[:, 0], parameters=("processes", "size"), scaling="strong"
    )
    panels = slices_figure({"time: fits well": fit}, "app", "nodes").axes
    assert [panel.get_xlabel() for panel in panels] == ["nodes", "size"]
    assert [panel.get_title(loc="left") for panel in panels] == [
        "time: fits well, size 400",
        "time: fits well, processes 64",
    ]
    measured = [
        line.get_xdata().tolist() for panel in panels for line in panel.lines if line.get_marker() == "o"
    ]
    assert measured == [[4, 8, 16, 32, 64], [100, 200, 400]]
