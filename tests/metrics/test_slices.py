"""Slices: the limits of every class, the measures inside, and the table of two ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.measures import measures
from scheduler_sim.metrics.slices import (
    SLICES,
    accuracy_classes,
    amount_classes,
    run_time_classes,
    size_classes,
    sliced,
    two_way,
)
from tests.result.hand_made import Run, components_of


def test_limits_of_sizes():
    nodes = np.array([1, 2, 4, 5, 16, 17, 64, 65, 256, 257])
    found = size_classes(nodes)
    assert list(found) == [
        "1",
        "2–4",
        "2–4",
        "5–16",
        "5–16",
        "17–64",
        "17–64",
        "65–256",
        "65–256",
        "257–1024",
    ]
    assert list(size_classes(np.array([1])).categories) == ["1"]
    assert list(size_classes(np.array([2])).categories) == ["1", "2–4"]


def test_limits_of_amounts():
    found = amount_classes(pd.DataFrame({"gpus": [0, 0.25, 1, 1.5, 4, 8]}), "gpus")
    assert list(found) == ["none", "< 1", "1", "2–4", "2–4", "5–16"]
    assert list(found.categories) == ["none", "< 1", "1", "2–4", "5–16"]
    assert list(amount_classes(pd.DataFrame({"nodes": [1, 2]}), "gpus")) == ["not known"] * 2


def test_limits_of_run_times():
    times = {
        "< 1 min": (0, 59),
        "1 to 10 min": (60, 599),
        "10 min to 1 h": (600, 3599),
        "1 to 6 h": (3600, 21599),
        "6 h to 1 d": (21600, 86399),
        "≥ 1 d": (86400, 10**9),
    }
    runs = [Run(0, 0, run, 1) for both in times.values() for run in both]
    runs.append(Run(0, None, 0, 1, state="PENDING"))
    assert list(run_time_classes(components_of(runs))) == [name for name in times for _ in "12"] + [
        "never ran"
    ]


def test_limits_of_accuracy():
    runs = [Run(0, 0, run, 1, limit=1000) for run in (0, 99, 100, 250, 500, 749, 750, 949, 950, 1000, 1100)]
    runs += [Run(0, 0, 5, 1, limit=0), Run(0, None, 0, 1, state="REJECTED")]
    assert list(accuracy_classes(components_of(runs))) == [
        *("< 10 %", "< 10 %", "10 to 25 %", "25 to 50 %", "50 to 75 %", "50 to 75 %", "75 to 95 %"),
        *("75 to 95 %", "≥ 95 %", "≥ 95 %", "≥ 95 %", "not known", "never ran"),
    ]


def many():
    random = np.random.default_rng(2)
    runs = [
        Run(
            int(submit),
            int(submit + random.integers(0, 900)),
            int(np.exp(random.uniform(0, 13))),
            int(2 ** random.uniform(0, 7)),
            module=str(random.choice(["CM", "ESB"])),
            limit=10**6,
        )
        for submit in np.sort(random.integers(0, 100_000, 300))
    ]
    runs += [Run(5, None, 0, 9, state="REJECTED")]
    users = random.choice(["ana", "bo", "", "cy"], 301, p=[0.7, 0.2, 0.05, 0.05])
    return components_of(runs).assign(user=pd.Categorical(users), app=pd.Categorical(users))


@pytest.mark.parametrize("by", list(SLICES))
def test_each_slice_has_the_measures_of_its_components(by):
    components = many()
    counted = components["submit_time"].to_numpy() > 1000
    table = sliced(components, by, counted)
    classes = np.asarray(SLICES[by](components))
    assert table.index.name == by
    assert set(table.index) == set(classes[counted])
    assert table["jobs"].sum() == counted.sum()
    for name, row in table.iterrows():
        expected = measures(components, counted & (classes == name))
        assert row.drop("small").astype(float).to_dict() == pytest.approx(expected, nan_ok=True)
        assert row["small"] == (expected["ran"] < 30)
    assert table["small"].any() == (table["ran"].min() < 30)


def test_slices_are_in_their_order():
    table = sliced(many(), "size")
    assert list(table.index) == ["1", "2–4", "5–16", "17–64", "65–256"]
    assert list(sliced(many(), "user").index) == ["ana", "bo", "cy", "not known"]


def test_small_is_fewer_than_30_that_ran():
    runs = [Run(0, 0, 1, 1)] * 30 + [Run(0, 0, 1, 2)] * 29 + [Run(0, None, 0, 2, state="PENDING")] * 5
    assert sliced(components_of(runs), "size")["small"].tolist() == [False, True]


def test_two_ways():
    components = many()
    table = two_way(components, "ran")
    assert list(table.columns)[-1] == "≥ 1 d"
    assert table.to_numpy().sum() == 300
    sizes, times = np.asarray(SLICES["size"](components)), np.asarray(SLICES["run_time"](components))
    waits = two_way(components, "wait_time_mean")
    for size in table.index:
        for time in table.columns:
            here = (sizes == size) & (times == time)
            assert table.loc[size, time] == here.sum()
            assert waits.loc[size, time] == pytest.approx(
                measures(components, here)["wait_time_mean"], nan_ok=True
            )


def test_two_ways_over_what_counts():
    components = many()
    counted = np.arange(301) < 100
    table = two_way(components, "ran", counted, by=("module", "size"))
    assert (table.index.name, table.columns.name) == ("module", "size")
    assert table.to_numpy().sum() == 100


@pytest.mark.parametrize("by", list(SLICES))
def test_nothing_has_no_slices(by):
    table = sliced(components_of([]), by)
    assert len(table) == 0
    assert "small" in table
    assert np.isnan(two_way(components_of([]), "wait_time_mean", by=(by, by)).to_numpy()).all()


def test_what_is_not_known_is_refused():
    with pytest.raises(InputError, match="did you mean 'user'"):
        sliced(components_of([]), "users")
    with pytest.raises(InputError, match="did you mean 'wait_time_mean'"):
        two_way(components_of([]), "wait_time_meen")
