"""A trace on one page: every curve where it belongs, a law only if there is one, any trace drawn."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle, StepPatch

from scheduler_sim import Workload
from scheduler_sim.report.look import save_png
from scheduler_sim.report.trace_figures import LAW, MOST_MODULES, MOST_POINTS, _marks, _thinned, trace_figure
from scheduler_sim.workload.curves import Cdf, TraceCurves, curves_by_module, curves_of

PANELS = ("load", "hours", "days", "between", "sizes", "runs", "limits", "accuracy")
DISTRIBUTIONS = PANELS[3:]
DAY = 86400

TRACE = TraceCurves(
    name="a.swf",
    jobs=4,
    components=4,
    nodes=10,
    hour_shares=np.array([0.25, 0.75] + [0.0] * 22),
    weekday_shares=np.array([0.5, 0.5] + [0.0] * 5),
    sizes=Cdf(np.array([1, 8]), np.array([0.5, 1.0])),
    time_limits=Cdf(np.array([60, 3600]), np.array([0.25, 1.0])),
    run_times=Cdf(np.array([0, 50, 90]), np.array([0.25, 0.75, 1.0])),
    accuracy=Cdf(np.array([0.25, 0.5, 2.0]), np.array([0.25, 0.75, 1.0])),
    inter_arrivals=Cdf(np.array([10, 600]), np.array([0.5, 1.0])),
    load_edges=np.array([0, 3600, 7200, 4 * 3600]),
    load=np.array([0.5, 1.5, 0.0]),
)
EXPECTED = TraceCurves(
    name="law",
    hour_shares=np.full(24, 1 / 24),
    weekday_shares=np.full(7, 1 / 7),
    sizes=Cdf(np.array([1, 2, 4]), np.array([0.5, 0.75, 1.0])),
    run_times=Cdf(np.array([1.0, 100.0]), np.array([0.0, 1.0])),
)


def panels(figure):
    return dict(zip(PANELS, figure.axes, strict=True))


def title(panel) -> str:
    return panel.get_title(loc="left")


def marks(panel) -> list[str]:
    return [label.get_text() for label in panel.get_xticklabels()]


def legend(figure) -> list[str]:
    return [text.get_text() for box in figure.legends for text in box.get_texts()]


def laws(panel) -> int:
    """Return how many lines or steps of a panel are in the colour of the law."""
    steps = [patch for patch in panel.patches if isinstance(patch, StepPatch)]
    colours = [line.get_color() for line in panel.lines] + [patch.get_edgecolor() for patch in steps]
    return sum(to_hex(colour) == LAW.colour.lower() for colour in colours)


def bars(panel) -> list[float]:
    return [patch.get_height() for patch in panel.patches if isinstance(patch, Rectangle)]


def at(line, x: float) -> float:
    """Return what a line drawn in steps shows at x."""
    return float(line.get_ydata()[np.searchsorted(line.get_xdata(), x, side="right") - 1])


def test_every_curve_is_where_it_belongs():
    figure = trace_figure(TRACE)
    panel = panels(figure)
    assert figure.get_suptitle() == "a.swf  ·  4 jobs  ·  10 nodes  ·  submitted over 4 h"
    assert [title(panel[name]) for name in PANELS] == [
        "Work submitted over time, in slices of 80 min, as load of 10 nodes (dotted: all busy)",
        "Submissions by hour of day",
        "Submissions by day of week",
        "Time between submissions: median 5.08 min",
        "Size: median 4.5 nodes",
        "Run time: median 50 s",
        "Requested time: median 60 min",
        "Accuracy: median 0.5",
    ]
    assert bars(panel["hours"]) == TRACE.hour_shares.tolist()
    assert bars(panel["days"]) == TRACE.weekday_shares.tolist()
    (load,) = (patch for patch in panel["load"].patches if isinstance(patch, StepPatch))
    assert load.get_data().values.tolist() == [0.5, 1.5, 0.0]
    assert load.get_data().edges.tolist() == TRACE.load_edges.tolist()
    assert [line.get_ydata()[0] for line in panel["load"].lines] == [1.0]
    assert "25 % above 1" in panel["accuracy"].get_xlabel()
    assert legend(figure) == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("between", {9: 0, 10: 0.5, 599: 0.5, 600: 1}),
        ("sizes", {0.9: 0, 1: 0.5, 7.9: 0.5, 8: 1}),
        ("runs", {1: 0.25, 49: 0.25, 50: 0.75, 90: 1, 3600: 1}),
        ("limits", {59: 0, 60: 0.25, 3599: 0.25, 3600: 1}),
        ("accuracy", {0: 0, 0.25: 0.25, 0.49: 0.25, 0.5: 0.75, 1.05: 0.75}),
    ],
)
def test_distributions_show_the_share_of_all_up_to_x(name, shown):
    (line,) = panels(trace_figure(TRACE))[name].lines
    assert line.get_drawstyle() == "steps-post"
    assert {x: at(line, x) for x in shown} == shown


@pytest.mark.parametrize("values", [[5], [1, 2], [1, 1, 2, 9], [1, 2, 2, 3], [3, 1, 4, 1, 5, 9, 2]])
def test_medians_are_those_of_the_page(values):
    figure = drawn(nodes=values, submit_time=[0] * len(values), run_time=[1] * len(values))
    assert title(panels(figure)["sizes"]) == f"Size: median {np.median(values):g} nodes"


def test_axes_are_marked_in_units_of_people():
    panel = panels(trace_figure(TRACE))
    assert marks(panel["between"]) == ["10 s", "1 min", "10 min"]
    assert marks(panel["runs"]) == marks(panel["limits"]) == ["1 s", "10 s", "1 min", "10 min", "1 h"]
    assert marks(panel["sizes"]) == ["1", "2", "4", "8"]
    assert panel["load"].get_xlabel() == "hours after the first submission"
    for low, high in ((1, 60), (1, 30 * DAY), (DAY, 3650 * DAY), (60, 10**8 * 365 * DAY)):
        assert 2 <= len(_marks(low, high)) <= 8


def test_days_have_names_only_by_a_calendar():
    figure = trace_figure(TRACE)
    assert marks(panels(figure)["days"]) == ["1", "2", "3", "4", "5", "6", "7"]
    assert "no date" in panels(figure)["hours"].get_xlabel()
    figure = trace_figure(replace(TRACE, calendar=True, unix_start=843480031))
    assert marks(panels(figure)["days"])[0] == "Mon"
    assert panels(figure)["hours"].get_xlabel() == "local time"
    (below,) = panels(figure)["load"].child_axes
    assert "1996-09-23" in below.get_xlabel()


def test_a_law_is_drawn_where_it_says_something():
    assert [laws(panel) for panel in trace_figure(TRACE).axes] == [0] * 8
    figure = trace_figure(TRACE, EXPECTED)
    drawn = {name for name, panel in panels(figure).items() if laws(panel)}
    assert drawn == {"hours", "days", "sizes", "runs"}
    assert legend(figure) == ["this trace", "law of the model"]
    assert [line.get_drawstyle() for line in panels(figure)["sizes"].lines] == ["steps-post"] * 2
    trace, law = panels(figure)["runs"].lines
    assert (trace.get_linestyle(), law.get_linestyle()) == ("-", "--")
    assert law.get_drawstyle() == "default"
    assert np.interp(50.5, *law.get_data()) == pytest.approx(0.5)


def test_days_of_a_law_are_drawn_only_where_they_are_the_same_days():
    figure = trace_figure(replace(TRACE, calendar=True), EXPECTED)
    assert (laws(panels(figure)["hours"]), laws(panels(figure)["days"])) == (1, 0)
    figure = trace_figure(replace(TRACE, calendar=True), replace(EXPECTED, calendar=True))
    assert laws(panels(figure)["days"]) == 1


def test_tails_of_a_law_do_not_stretch_the_axis():
    tail = Cdf(np.array([1e-9, 100.0, 1e14]), np.array([0.0, 0.9995, 1.0]))
    panel = panels(trace_figure(TRACE, replace(EXPECTED, run_times=tail)))["runs"]
    assert marks(panel) == ["1 s", "10 s", "1 min", "10 min", "1 h"]


def test_several_modules_have_a_line_each_and_bars_are_of_all():
    modules = [replace(TRACE, name=name, nodes=None) for name in ("CM", "ESB")]
    figure = trace_figure(TRACE, EXPECTED, modules)
    assert legend(figure) == ["all of the trace", "partition CM", "partition ESB", "law of the model"]
    counts = {name: len(panels(figure)[name].lines) for name in DISTRIBUTIONS}
    assert counts == {"between": 3, "sizes": 4, "runs": 4, "limits": 3, "accuracy": 3}
    assert len(bars(panels(figure)["hours"])) == 24


def test_lines_differ_in_grey_as_well():
    modules = [replace(TRACE, name=str(i)) for i in range(MOST_MODULES)]
    lines = panels(trace_figure(TRACE, EXPECTED, modules))["sizes"].lines
    looks = {(line.get_linewidth(), str(line._dash_pattern)) for line in lines}
    assert len(looks) == len(lines) == MOST_MODULES + 2


@pytest.mark.parametrize("number", [0, 1, MOST_MODULES + 1])
def test_one_module_or_too_many_are_drawn_as_a_whole(number):
    figure = trace_figure(TRACE, modules=[replace(TRACE, name=str(i)) for i in range(number)])
    assert [len(panels(figure)[name].lines) for name in DISTRIBUTIONS] == [1] * 5
    assert legend(figure) == []


@pytest.mark.parametrize("known", [field.name for field in fields(TraceCurves)[1:]])
def test_any_curve_may_be_the_only_one_known(known):
    partly = TraceCurves("t", **{known: getattr(TRACE, known)})
    assert len(trace_figure(partly).axes) == 8
    assert len(trace_figure(TraceCurves("t"), partly).axes) == 8


def test_nothing_known_says_so(tmp_path):
    figure = trace_figure(TraceCurves("t"), TraceCurves("law"))
    assert [text.get_text() for panel in figure.axes for text in panel.texts] == ["not known"] * 8
    save_png(figure, tmp_path / "t.png")


def drawn(**columns):
    workload = Workload.from_columns(**columns)
    return trace_figure(curves_of(workload), modules=curves_by_module(workload))


def test_no_job_one_job_and_jobs_all_alike(tmp_path):
    save_png(drawn(nodes=[], submit_time=[], run_time=[]), tmp_path / "none.png")
    one = drawn(nodes=[1], submit_time=[0], run_time=[0])
    save_png(one, tmp_path / "one.png")
    assert one.get_suptitle() == "trace  ·  1 job"
    save_png(
        drawn(nodes=[3] * 4, submit_time=[5] * 4, run_time=[7] * 4, time_limit=1), tmp_path / "alike.png"
    )


def test_the_largest_values_a_trace_may_hold(tmp_path):
    figure = drawn(nodes=[1, 2**31 - 1], submit_time=[0, 10**15], run_time=[1, 1], time_limit=[10**15, 1])
    save_png(figure, tmp_path / "large.png")


def test_names_are_neither_formulas_nor_commands(tmp_path):
    names = ["$x^2", r"$\frac{$", "_hidden", "\x1b[31m\u202eevil", "名前" * 50]
    modules = [replace(TRACE, name=name) for name in names]
    figure = trace_figure(replace(TRACE, name="$\\alpha_{\x1b[2J$"), EXPECTED, modules)
    save_png(figure, tmp_path / "names.png")
    assert figure.get_suptitle().startswith("$\\alpha_{")
    told = "".join([figure.get_suptitle(), *legend(figure)])
    assert "partition _hidden" in legend(figure)
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert max(map(len, legend(figure))) <= 60


@pytest.mark.parametrize("log", [True, False])
def test_many_points_are_thinned_without_a_change_to_be_seen(log):
    x = np.unique(np.random.default_rng(1).lognormal(5, 2, 50_000))
    share = np.arange(1, len(x) + 1) / len(x)
    few, thin = _thinned(x, share, log=log)
    assert len(few) <= MOST_POINTS
    assert np.isin(few, x).all()
    assert (few[0], few[-1], thin[0], thin[-1]) == (x[0], x[-1], share[0], 1)
    place = np.log(x) if log else x
    width = (place[-1] - place[0]) / (MOST_POINTS - 1)
    # Everywhere, the thinned steps are what the exact ones are less than a column away.
    kept = thin[np.searchsorted(few, x, side="right") - 1]
    a_column_before = np.searchsorted(place, place - width, side="right") - 1
    assert (kept <= share).all()
    assert (kept >= np.where(a_column_before < 0, 0, share[a_column_before])).all()


def test_a_long_trace_gives_a_small_picture(tmp_path):
    rng = np.random.default_rng(2)
    count = 50_000
    figure = drawn(
        nodes=rng.integers(1, 5000, count),
        submit_time=np.sort(rng.integers(0, 10**8, count)),
        run_time=rng.integers(0, 10**6, count),
        time_limit=10**6,
    )
    assert max(len(line.get_xdata()) for panel in figure.axes for line in panel.lines) <= MOST_POINTS
    assert save_png(figure, tmp_path / "long.png").stat().st_size < 400_000


def test_the_same_curves_give_the_same_bytes(tmp_path):
    one, other = (save_png(trace_figure(TRACE, EXPECTED), tmp_path / name) for name in ("1.png", "2.png"))
    assert one.read_bytes() == other.read_bytes()
