"""Learning a model from a whole trace: parameters come back, and what cannot be followed is said."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import yaml

from scheduler_sim.errors import InputError
from scheduler_sim.generation.arrivals import Arrivals, Cycle
from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.fitting import fit
from scheduler_sim.generation.fitting.page import recipe_text
from scheduler_sim.generation.generate import generate
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.generation.sizes import SizeLaw
from scheduler_sim.generation.times import Accuracy, Cancellations, LogUniform
from scheduler_sim.loaders.read import read_trace
from scheduler_sim.streams import stream
from scheduler_sim.workload.fields import CANCELLED
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload
from tests.conftest import ROOT, SHARED, needs_shared

WORKDAY = (2, 1, 1, 1, 1, 2, 5, 10, 25, 50, 60, 60, 50, 60, 65, 60, 60, 50, 40, 30, 20, 20, 15, 10)
WEEK = (1.0, 1.2, 1.2, 1.3, 1.1, 0.5, 0.7)
MODELS = {
    "defaults": (Cirne(), 128),
    "authors": (
        Cirne(
            arrivals=Arrivals(Cycle(128, hourly=WORKDAY, weekly=WEEK), "poisson"),
            sizes=SizeLaw(0.12, 0.20, 0.75),
            cancellations=Cancellations(0.1),
            size_time_correlation=0.4,
        ),
        128,
    ),
    "another": (
        Cirne(
            arrivals=Arrivals(Cycle(200, hourly=WORKDAY), "poisson"),
            sizes=SizeLaw(0.07, 0.1, 0.3),
            requests=LogUniform(0.065, -0.32),
            accuracy=Accuracy(1.5, 0.3),
            size_time_correlation=-0.3,
        ),
        130,
    ),
}
FROM_A_MONDAY = TraceSource(name="made.swf", header=("; UnixStartTime: 345600",))


def trace(model, nodes, /, jobs=20_000, seed=0, **columns):
    drawn = model.draw(jobs, nodes, lambda purpose: stream(seed, purpose))
    cancelled = drawn.cancel_lag >= 0
    made = {
        "nodes": drawn.nodes,
        "submit_time": drawn.submit_time,
        "run_time": drawn.run_time,
        "time_limit": drawn.time_limit,
        "wait_time": drawn.cancel_lag,
        "status": np.where(cancelled, 5, 0),
        "skipped": np.where(cancelled, CANCELLED, 0),
    }
    return Workload({**made, **columns}, FROM_A_MONDAY)


def truth(model, parameter, nodes):
    """Return the value of a parameter named as in a recipe, by the model itself."""
    law, _, last = parameter.rpartition(".")
    cycle = model.arrivals.cycle
    if last.startswith("hourly"):
        return cycle.hour_shares()[int(last[7:-1])] * cycle.jobs_per_day(nodes)
    if last.startswith("weekly"):
        return cycle.weekday_shares()[int(last[7:-1])] * 7
    for name in law.split(".") if law else []:
        model = getattr(model, name)
    if last in ("shortest", "longest"):
        return 2 ** (((last == "longest") - model.intercept) / model.slope)
    return getattr(model, last)


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_parameters_come_back_within_their_intervals(name):
    model, nodes = MODELS[name]
    inside, outside = Counter(), Counter()
    for seed in range(10):
        found = fit(trace(model, nodes, seed=seed), nodes)
        assert found.model.arrivals.process == model.arrivals.process
        for row in found.estimates.itertuples(index=False):
            within = row.low <= truth(model, row.parameter, nodes) <= row.high
            (inside if within else outside)[row.parameter] += 1
            assert row.low <= row.value <= row.high
    missed = {parameter: n for parameter, n in outside.items() if n > 2}
    assert {parameter for parameter in missed if not parameter.startswith("arrivals.")} == set()
    assert outside.total() < 0.08 * (inside.total() + outside.total())
    assert len(inside) >= 9 + 24 + 7


def test_a_wrong_model_is_outside_the_intervals():
    found = fit(trace(Cirne(sizes=SizeLaw(0.11, 0.38, 0.2)), 128), 128)
    rows = found.estimates.set_index("parameter")
    for parameter, value in {"sizes.slope": 0.1, "sizes.intercept": 0.4, "sizes.power_of_two": 0.1}.items():
        assert not rows["low"][parameter] <= value <= rows["high"][parameter]


def test_laws_that_gave_the_trace_are_followed():
    model, nodes = MODELS["authors"]
    tests = fit(trace(model, nodes, seed=1), nodes).tests.set_index(["law", "test"])
    distances = tests.xs("Kolmogorov-Smirnov", level="test")
    assert set(distances.index) == {"sizes", "requests", "run times", "accuracy", "gaps"}
    assert (distances["statistic"] < 0.015).all()
    assert (distances["verdict"] == "follows").all()
    assert tests["p_value"].min() > 1e-3


def test_the_recipe_makes_such_a_trace_again():
    model, nodes = MODELS["authors"]
    found = fit(trace(model, nodes), nodes)
    recipe = found.recipe()
    assert recipe["modules"][0]["nodes"] == nodes
    assert recipe["modules"][0]["jobs"] == 20_000
    made = Recipe.of(**recipe).modules[0].model
    assert isinstance(made, Cirne)
    assert made.sizes.slope == pytest.approx(found.model.sizes.slope, rel=1e-5)
    assert made.cancellations.lag.slope == pytest.approx(found.model.cancellations.lag.slope, rel=1e-5)
    again = fit(generate(recipe, seed=5), nodes)
    for parameter in ("sizes.slope", "requests.intercept", "accuracy.shape", "size_time_correlation"):
        values = (f.estimates.set_index("parameter")["value"][parameter] for f in (found, again))
        assert next(values) == pytest.approx(next(values), rel=0.05)


def test_recipe_has_few_digits_and_as_many_jobs_as_asked():
    recipe = fit(trace(*MODELS["another"], jobs=3000)).recipe(jobs=500)
    assert recipe["modules"][0]["jobs"] == 500
    slope = recipe["modules"][0]["model"]["requests"]["slope"]
    assert slope == float(f"{slope:.6g}")
    assert "lag" not in recipe["modules"][0]["model"]["cancellations"]


def test_recipe_text_says_where_it_comes_from_and_is_the_recipe():
    found = fit(trace(*MODELS["another"], jobs=2000))
    text = recipe_text([found], found.recipe(), "of a strange\nname.swf")
    assert yaml.safe_load(text) == found.recipe()
    assert "# Learnt from of a strange\n# name.swf.\n" in text
    assert all(len(line) <= 130 for line in text.splitlines())


def test_the_first_words_say_how_good_a_fit_is():
    model, nodes = MODELS["defaults"]
    good = fit(trace(model, nodes))
    assert good.text().startswith(("fits well (follows", "fits roughly (is near"))
    bad = fit(trace(model, nodes, run_time=np.where(np.arange(20_000) % 2, 7, 40_000)))
    head = " ".join(bad.text().split("\n\n")[0].split())
    assert head.startswith("does not fit in ")
    assert "(differs: " in head
    assert "run times" in head.split(";")[0]
    assert "sizes" not in head.split(";")[0]


def test_text_has_every_parameter_test_and_note():
    found = fit(trace(*MODELS["authors"], jobs=3000))
    text = " ".join(found.text().split())
    for parameter in found.estimates["parameter"]:
        assert parameter in text or parameter.startswith("arrivals.")
    for verdict in found.tests["verdict"]:
        assert verdict in text
    for note in found.notes:
        assert note in text


def test_law_of_a_fit_has_the_cycle_that_was_learnt():
    found = fit(trace(*MODELS["authors"], jobs=3000))
    hourly = np.array(found.model.arrivals.cycle.hourly)
    assert found.law().hour_shares == pytest.approx(hourly / hourly.sum())
    assert found.law().nodes == found.nodes


def test_the_same_seed_gives_the_same_intervals():
    made = trace(*MODELS["another"], jobs=1000)
    one, same, other = fit(made), fit(made), fit(made, seed=1)
    assert one.estimates.equals(same.estimates)
    assert one.text() == same.text()
    assert not one.estimates.equals(other.estimates)
    assert one.estimates["value"].equals(other.estimates["value"])


def test_cancelled_jobs_count_as_submissions_but_not_as_runs():
    model = Cirne(cancellations=Cancellations(0.3, LogUniform(0.1, -0.5)))
    made = trace(model, 128, jobs=4000)
    found = fit(made, 128)
    rows = found.estimates.set_index("parameter")["value"]
    assert found.jobs == 4000
    share = float((made["skipped"] == CANCELLED).mean())
    assert rows["cancellations.probability"] == share
    assert rows["cancellations.lag.slope"] == pytest.approx(0.1, rel=0.05)
    assert set(found.tests["jobs"]) == {4000, 3999, int(4000 * (1 - share) + 0.5)}


def test_jobs_without_limits_are_said_to_use_all_they_ask_for():
    made = trace(Cirne(), 128, jobs=3000, time_limit=-1)
    found = fit(made, 128)
    assert "100 % of the jobs state no time limit" in found.notes[0]
    run_times = found.tests.set_index("law")["statistic"]["run times"]
    assert run_times < 0.2
    assert not found.estimates["parameter"].str.startswith("accuracy").any()
    drawn = generate(found.recipe(), seed=1)
    assert (drawn["run_time"] == drawn["time_limit"]).all()


def test_a_few_jobs_without_limits_are_left_out():
    limits = trace(Cirne(), 128, jobs=3000)["time_limit"]
    limits[:100] = -1
    found = fit(trace(Cirne(), 128, jobs=3000, time_limit=limits), 128)
    assert "100 jobs state no time limit" in found.notes[0]
    assert found.tests.set_index("law")["jobs"]["requests"] == 2900


def test_where_few_jobs_have_limits_the_run_times_count():
    made = trace(Cirne(), 128, jobs=3000)
    limits = np.where(np.arange(3000) % 3 == 0, made["time_limit"], -1)
    mixed, without = (
        fit(trace(Cirne(), 128, jobs=3000, time_limit=limit), 128) for limit in (limits, np.full(3000, -1))
    )
    assert "67 % of the jobs state no time limit" in mixed.notes[0]
    assert mixed.model == without.model
    assert set(mixed.tests["law"]) == set(without.tests["law"])
    assert "requests" not in set(mixed.tests["law"])


def test_one_module_of_a_trace():
    model, nodes = MODELS["another"]
    partition = np.where(np.arange(4000) % 4 == 0, "ESB,CM", "CM").astype(object)
    made = trace(model, nodes, jobs=4000, partition=partition)
    found = fit(made, module="ESB")
    assert found.jobs == 1000
    assert found.recipe()["modules"][0]["name"] == "ESB"
    assert fit(made, module="CM").jobs == 3000
    assert fit(trace(model, nodes, jobs=500), module="none given").jobs == 500
    with pytest.raises(InputError, match="module: found 'DAM'; allowed: CM, ESB"):
        fit(made, module="DAM")


def test_nodes_are_those_given_or_of_the_header_or_the_largest_size():
    made = trace(*MODELS["defaults"], jobs=1000)
    assert fit(made).nodes == 64
    assert fit(made, nodes=128).nodes == 128
    stated = Workload(
        {name: made[name] for name in ("nodes", "submit_time", "run_time", "time_limit")},
        TraceSource(header=("; MaxProcs: 96",)),
    )
    assert fit(stated).nodes == 96
    small = fit(made, nodes=16)
    assert any("larger than 16 nodes" in note for note in small.notes)
    assert small.model.sizes.pmf(16)[16] > 0.2


@pytest.mark.parametrize(
    ("columns", "nodes", "message"),
    [
        ({"submit_time": np.full(1000, 7)}, None, "all jobs are submitted at 7 s"),
        ({"skipped": np.ones(1000, dtype=np.int64)}, None, "too few jobs to learn from: found 0"),
        ({}, 0, "nodes: found 0; allowed: 1 to"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(columns, nodes, message):
    with pytest.raises(InputError, match=message):
        fit(trace(*MODELS["defaults"], jobs=1000, **columns), nodes)


@pytest.mark.parametrize(
    "columns",
    [
        {"nodes": np.ones(300, dtype=np.int64)},
        {"time_limit": np.full(300, 10**6)},
        {"run_time": np.ones(300, dtype=np.int64)},
        {"run_time": np.zeros(300, dtype=np.int64)},
        {"run_time": np.full(300, 10**7)},
        {"submit_time": np.arange(300)},
        {"submit_time": np.where(np.arange(300) < 299, 0, 10**8)},
    ],
)
def test_odd_traces_give_recipes_that_generate(columns):
    found = fit(trace(*MODELS["defaults"], jobs=300, **columns), 128)
    assert len(generate(found.recipe())) == 300
    assert found.text()
    assert np.diff(found.law().run_times.share).min() >= 0


@needs_shared
def test_kth_is_fitted_and_its_misfit_is_said():
    workload = read_trace(SHARED / "data" / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz")
    found = fit(workload)
    rows = found.estimates.set_index("parameter")["value"]
    assert (found.nodes, found.jobs) == (100, 28489)
    assert rows["sizes.intercept"] == pytest.approx((workload["nodes"] == 1).mean(), abs=0.005)
    assert rows["arrivals.weekly[5]"] < 0.5 < rows["arrivals.weekly[1]"]
    assert np.argmax(found.model.arrivals.cycle.hourly) in range(9, 18)
    distances = found.tests[found.tests["test"] == "Kolmogorov-Smirnov"].set_index("law")
    assert distances["verdict"]["sizes"].startswith("differs")
    assert distances["verdict"]["gaps"].startswith("differs")
    assert distances["statistic"]["requests"] < 0.1
    notes = " ".join(found.notes)
    for said in ("10 % are exactly 4 h", "come in bursts", "19 of 214 users", "ran longer than their limit"):
        assert said in notes
    page = (ROOT / "docs" / "how-to" / "fit-a-trace.md").read_text(encoding="utf-8")
    for distance, verdict in zip(distances["statistic"], distances["verdict"], strict=True):
        assert f"| {distance:.3f} | {verdict} |" in page
    for parameter in ("sizes.slope", "requests.slope"):
        assert f"| {parameter} | {rows[parameter]:.4f} |" in page
    for parameter in ("sizes.intercept", "sizes.power_of_two", "accuracy.shape", "accuracy.scale"):
        assert f"| {parameter} | {rows[parameter]:.3f} |" in page
