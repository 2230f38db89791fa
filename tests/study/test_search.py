"""Searching for a mix: what a budget buys, who is infeasible, and that a search goes on where it was."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Study, System
from scheduler_sim.cli.search_page import search_text
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.study import search as room
from scheduler_sim.study.mixes import mixed, mixes
from scheduler_sim.study.search import DOCUMENT, EVALUATIONS, Candidates, search
from tests.conftest import ROOT

TYPES = [
    {"name": "a", "percent": 50, "ratios": {"CM": 1, "ESB": 4}},
    {"name": "b", "percent": 50, "ratios": {"CM": 1}},
]


def study(**changes) -> Study:
    modules = [{"name": "CM", "nodes": 1}, {"name": "ESB", "nodes": 1, "cost_per_node": 2}]
    recipe = {"modules": [{"name": "CM", "nodes": 40, "jobs": 40}], "model": {"reduction_factor": 2}}
    keys = {
        "systems": {"two": {"modules": modules}},
        "workloads": {"w": {"recipe": recipe}},
        "policies": ["easy"],
        "models": {"applications": {"reference": "CM", "modules": "fastest_first", "types": TYPES}},
        "parameters": {"policy.placement": ["preferred", "earliest_end"]},
        "search": {"budget": 60, "step": 20, "rest": "ESB", "first_seeds": 3, "most_seeds": 12},
    }
    return Study.of(**{**keys, **changes})


# -- mixes ----------------------------------------------------------------------------------------


def test_the_mixes_of_165_units_at_steps_of_5():
    found = mixes(165, [1, 2.5, 1], step=5, last=2)
    assert len(found) == len(set(found)) == 246
    d23 = {(165, 0, 0), (0, 66, 0), (0, 0, 165), (50, 0, 115)}
    assert d23 <= set(found)
    assert {c % 5 for c, _, _ in found} == {0}
    assert {d % 5 for _, d, _ in found if d != 66} == {0}


@given(
    st.floats(1, 80),
    st.lists(st.sampled_from([0.5, 1.0, 2.5, 4.0]), min_size=1, max_size=3),
    st.integers(1, 7),
    st.data(),
)
def test_mixes_keep_the_budget_and_spend_it(budget, costs, step, data):
    last = data.draw(st.integers(0, len(costs) - 1))
    found = mixes(budget, costs, step, last)
    for nodes in found:
        left = budget - sum(n * cost for n, cost in zip(nodes, costs, strict=True))
        assert -1e-6 <= left < costs[last] + 1e-6
        assert any(nodes)
        assert all(
            n % step == 0 or n == int(budget / costs[i] + 1e-9) for i, n in enumerate(nodes) if i != last
        )
    assert len(set(found)) == len(found)


def test_a_mix_has_no_module_of_no_nodes_nor_a_way_to_it():
    base = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 5}, {"name": "ESB", "nodes": 5}],
            "partitions": [{"name": "batch", "module": "CM"}, {"name": "gpu", "module": "ESB"}],
            "swf": {"partitions": {"1": "batch", "2": "gpu"}},
        }
    ).to_dict()
    mix = System.from_dict(mixed(base, (0, 7)))
    assert [(module.name, module.nodes) for module in mix.modules] == [("ESB", 7)]
    assert [partition.name for partition in mix.partitions] == ["gpu"]
    assert mix.swf_partitions == {"2": "gpu"}
    assert mix.name == "ESB 7"


# -- the search -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """The search of ``study()``, whose directory is read only."""
    return search(study(), tmp_path_factory.mktemp("searched"))


def test_candidates_are_mixes_times_strategies():
    found = Candidates.of(study())
    assert list(dict.fromkeys(found.factors["system"])) == [
        "ESB 30",
        "CM 20 + ESB 20",
        "CM 40 + ESB 10",
        "CM 60",
    ]
    assert len(found) == 8
    assert found.cost.tolist() == [60.0] * 8


def test_a_mix_that_rejects_what_another_one_runs_is_infeasible(searched):
    """Type b runs on CM alone: without CM nodes its jobs cannot run."""
    found = searched
    by_mix = found.table.groupby("system")["state"].agg(set)
    assert by_mix["ESB 30"] == {"infeasible"}
    assert "infeasible" not in by_mix["CM 60"]
    assert found.winner["state"] == "winner"
    assert found.table["state"].eq("winner").sum() == 1
    finite = found.table[found.table["state"] != "infeasible"]
    assert (
        found.winner["wait_time_mean"] <= finite["wait_time_mean"].min() + 1e-9 or found.winner["seeds"] > 3
    )


def test_every_candidate_of_a_seed_has_the_same_jobs_and_its_own_value(searched):
    found = searched
    values = pd.read_parquet(found.directory / EVALUATIONS)
    candidates = Candidates.of(study())
    row = values[(values["candidate"] == int(found.winner.name)) & (values["seed"] == 1)].iloc[0]
    run = candidates.runs(1)[int(found.winner.name)]
    assert row["metric_0"] == pytest.approx(run.carry_out().metrics["wait_time"]["mean"])
    assert len({one.workload_id for one in candidates.runs(1)}) == 1
    assert run.workload_id != candidates.runs(2)[0].workload_id


@pytest.mark.long
def test_two_processes_and_an_interruption_give_the_same_table(tmp_path, monkeypatch):
    whole = search(study(), tmp_path / "one").table
    pd.testing.assert_frame_equal(search(study(), tmp_path / "two", workers=2).table, whole)

    kept = room._keep
    looks = []

    def interrupted(place, values):
        kept(place, values)
        looks.append(len(values))
        if len(looks) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(room, "_keep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search(study(), tmp_path / "three")
    resumed = search(study(), tmp_path / "three")
    pd.testing.assert_frame_equal(resumed.table, whole)
    assert 0 < resumed.evaluated < whole["seeds"].sum()
    assert search(study(), tmp_path / "three").evaluated == 0


def test_another_search_in_the_directory_begins_anew(tmp_path):
    search(study(), tmp_path / "s")
    before = json.loads((tmp_path / "s" / DOCUMENT).read_text())["id"]
    other = study(search={"budget": 40, "step": 20, "first_seeds": 2, "most_seeds": 2})
    assert search(other, tmp_path / "s").evaluated > 0
    assert json.loads((tmp_path / "s" / DOCUMENT).read_text())["id"] != before


def test_a_directory_that_holds_something_else_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not a search"):
        search(study(), tmp_path)


def test_two_metrics_give_a_front(tmp_path):
    keys = {"budget": [40, 60], "step": 20, "first_seeds": 3, "most_seeds": 6}
    asked = study(search={**keys, "metrics": ["wait_time_mean", "cost"]})
    found = search(asked, tmp_path / "s")
    on = found.table[found.table["front"]].sort_values("cost")
    assert set(on["state"]) <= {"left", "winner"}
    assert set(on["cost"]) == {40.0, 60.0}  # the larger budget is worth its money
    assert on["wait_time_mean"].is_monotonic_decreasing
    assert "are on the front" in search_text(asked, found, 1.0)


def test_the_page_says_how_sure_the_winner_is(searched):
    text = search_text(study(), searched, 2.0)
    assert "8 candidates" in text
    assert "with 95 % confidence" in text
    assert "infeasible" in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"search": {"budget": 0}}, "search.budget: found 0; allowed: a number > 0"),
        ({"search": {"budget": 60, "rest": "GPU"}}, "search.rest: found 'GPU'"),
        ({"search": {"budget": 60, "metrics": ["utilization_total"]}}, "of which more is better"),
        ({"search": {"budget": 60, "metrics": ["offered_load_total"]}}, "of which neither is better"),
        ({"search": {"budget": 60, "metrics": ["cost"]}}, "allowed: one metric, or two"),
        ({"search": {"budget": 60, "metrics": ["wait_mean"]}}, "search.metrics[0]: found 'wait_mean'"),
        ({"search": {"budget": 60, "first_seeds": 9, "most_seeds": 5}}, "at least first_seeds, 9"),
        ({"baseline": {"policy": "easy"}}, "baseline: found with search"),
        ({"parameters": {"system.modules.CM.nodes": [3]}}, "allowed: policy.KEY or models.KEY"),
        ({"workloads": {"t": str(ROOT / "workloads" / "sample-1000.swf")}}, "allowed: one recipe"),
        ({"models": None, "parameters": {"models.x": [1]}}, "a study without models"),
    ],
)
def test_mistakes_are_named(changes, message):
    with pytest.raises(ConfigError) as error:
        study(**changes)
    assert message in str(error.value)


def test_the_study_of_165_units_is_the_one_on_the_page():
    found = Candidates.of(Study.from_yaml(ROOT / "configs" / "studies" / "best-mix.yaml"))
    assert len(found) == 3 * 246
    assert (found.cost <= 165).all()
    assert (found.cost > 164).all()
