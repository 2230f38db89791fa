"""Pictures of how well energy models project: what they show is what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.energy.fitting.regression import power_laws, time_laws
from scheduler_sim.energy.fitting.validation import validate
from scheduler_sim.report.energy_figures import held_out_figure, validation_figure
from scheduler_sim.report.look import save_png
from tests.energy.test_fitting import made


def figure(points, explained, laws):
    validation = validate(points, laws, splits=3)
    rows = validation.projections
    shown = rows[(rows["law"] == "selected") & (rows["from_khz"] == 2_000_000) & (rows["split"] == 0)]
    return (
        validation,
        shown,
        validation_figure(validation.map(), validation.curve(), shown, explained, 1, "title"),
    )


def test_the_page(tmp_path):
    laws = [*power_laws(["tpi"]), *time_laws(["tpi"], cpi=False)]
    validation, shown, page = figure(made(noise=0.05), [0.7, 0.3], laws)
    panels = page.axes
    heat, curve, bars, *against = panels
    cells = [text.get_text() for text in heat.texts]
    assert cells == [f"{value:.1f}" for value in validation.map().to_numpy().ravel()]
    assert [text.get_text() for text in heat.get_xticklabels()] == ["1", "1.5", "2"]
    drawn = {line.get_label(): line for line in curve.lines}
    assert set(drawn) == set(validation.curve())
    assert drawn["ratio"].get_ydata().tolist() == validation.curve()["ratio"].tolist()
    assert [bar.get_height() for bar in bars.patches] == pytest.approx([70, 30])
    assert bars.patches[0].get_facecolor() != bars.patches[1].get_facecolor(), "kept and not kept"
    assert [panel.get_title(loc="left").split()[0] for panel in against] == ["Power", "Time", "Energy"]
    for panel, quantity in zip(against, ("power", "time", "energy"), strict=True):
        rows = shown[shown["quantity"] == quantity]
        points = panel.collections[0].get_offsets()
        assert np.allclose(points, rows[["measured", "projected"]])
    assert all(panel.get_xlabel() and panel.get_ylabel() for panel in panels)
    again = figure(made(noise=0.05), [0.7, 0.3], laws)[2]
    first, second = (save_png(p, tmp_path / f"{n}.png").read_bytes() for n, p in (("a", page), ("b", again)))
    assert first == second


def test_without_counters_and_times(tmp_path):
    points = made()
    table = points.table[["workload", "frequency_khz", "power_w"]]
    _, _, page = figure(type(points)(table), None, power_laws([]))
    assert len(page.axes) == 3
    save_png(page, tmp_path / "page.png")


def test_jobs_that_were_held_out(tmp_path):
    measured, told = np.array([100.0, 200.0, 400.0]), np.array([110.0, 190.0, 400.0])
    page = held_out_figure(measured, told, {"learnt": 5.0, "mean of\x1b all": 40.0}, "title")
    against, bars = page.axes
    assert against.collections[0].get_offsets().tolist() == np.column_stack((measured, told)).tolist()
    assert against.lines[0].get_xdata().tolist() == [100, 400]
    assert [bar.get_width() for bar in bars.patches] == [5, 40]
    assert [text.get_text() for text in bars.texts] == [" 5.0", " 40.0"]
    assert "\x1b" not in bars.get_yticklabels()[1].get_text()
    save_png(page, tmp_path / "page.png")
