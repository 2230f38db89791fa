"""The study of a site's rules: its measures by hand, that it can be repeated, its page is its own."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from analysis.common.numbers import difference, in_units
from analysis.common.runs import in_order
from analysis.site_rules import cases, conduct
from analysis.site_rules.__main__ import main
from analysis.site_rules.cases import (
    ANY,
    BASE,
    BY_NAME,
    CANCEL,
    DAY,
    HOUR,
    KNOWN,
    LOAD,
    NODES,
    QUOTAS,
    REQUEUE,
    RULES,
    SUDDEN,
    URGENT,
    VARIANTS,
    WINDOW,
    WINDOW_H,
    accounts,
    jobs,
    of_rule,
)
from analysis.site_rules.conduct import FACTORS, Conducted, Setup, load, run, run_seed, save
from analysis.site_rules.findings import findings, longer
from analysis.site_rules.measures import ALL, GROUPS, HEAVY, LIGHT, MEASURES, heaviest, measured
from analysis.site_rules.page import PAGE, RESULTS, page_text
from scheduler_sim import System, Workload
from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.metrics.intervals import Interval
from tests.conftest import ROOT

COMMITTED = ROOT / "analysis"
COUNTS = cases.COUNTED[0]
"""Jobs submitted before do not count."""


@lru_cache(maxsize=1)
def committed():
    return load(COMMITTED / RESULTS)


def test_the_page_in_the_repository_is_what_this_version_makes_of_its_runs():
    page = (COMMITTED / PAGE).read_text(encoding="utf-8")
    assert page_text(committed()) == page
    assert committed().setup == Setup()
    assert list(committed().runs.columns) == [*FACTORS, *MEASURES]
    assert len(committed().runs) == Setup().simulations() * len(GROUPS)
    assert not re.search(r"\bnan\b", page)
    assert "{" not in page
    assert page.partition("## In numbers")[0].count("\n- **") == len(findings(committed())) >= 4


def test_sentences_are_left_out_where_the_runs_do_not_bear_them_out():
    """Were all runs like those without a rule, nothing could be said."""
    flat = committed().runs.copy()
    base = flat[flat["variant"] == BASE].set_index(["group", "seed"])
    keys = list(zip(flat["group"], flat["seed"], strict=True))
    for name in MEASURES:
        flat[name] = base[name].loc[keys].to_numpy()
    flat["leaves"] = 1.0  # without a rule it is not known where jobs lie
    assert findings(Conducted(flat, committed().setup, committed().version)) == []


def test_parts_are_the_whole():
    """Groups by size, by limit, by user and by partition are all jobs, and so are what they lost."""
    runs = committed().runs.pivot_table(index=["variant", "seed"], columns="group", values=["jobs", "lost_h"])
    for measure in ("jobs", "lost_h"):
        found = runs[measure]
        for first, last in ((1, 4), (4, 7), (7, 9), (9, 11)):
            parts = found[list(GROUPS[first:last])].sum(axis=1)
            np.testing.assert_allclose(parts, found[ALL], rtol=1e-5)


def test_any_free_nodes_are_the_site_without_a_rule():
    runs = committed().runs.set_index(["variant", "group", "seed"])
    pd.testing.assert_frame_equal(runs.loc[ANY].drop(columns="leaves"), runs.loc[BASE].drop(columns="leaves"))


def test_only_rules_that_end_runs_lose_work():
    lost = committed().of(ALL).groupby("variant")["lost_h"].max()
    for one in VARIANTS:
        ends = "PreemptType" in one.slurm or "events" in one.system
        assert (lost[one.name] > 0) == ends, one.name


@pytest.fixture
def small_site(monkeypatch):
    """A site of four nodes that all rules of the study are for."""
    monkeypatch.setattr(cases, "NODES", 4)

    def of(name, **columns):
        count = len(columns["nodes"])
        usual = {"user": ["1"] * count, "partition": ["normal"] * count}
        columns = {**usual, **columns}
        columns["account"] = [f"a{user}" for user in columns["user"]]
        columns["qos"] = columns["partition"]
        variant = BY_NAME[name]
        keys = dict(variant.system)
        if "events" in keys:
            keys["events"] = [{**cases.OUT, "nodes": "0-3"}]
        for one in keys.get("reservations", ()):
            keys["reservations"] = [{**one, "flags": ["MAINT"]}]  # its other weeks would be waited for
        variant = replace(variant, system=keys)
        return run(variant, Workload.from_columns(**columns), 0)

    return of


@pytest.mark.interpreted
def test_measures_by_hand_of_jobs_that_are_switched_off(small_site):
    """Two hours of two nodes are lost; the job that waited starts when the nodes are back."""
    begin = WINDOW - 2 * HOUR
    result = small_site(
        SUDDEN,
        submit_time=np.array([begin, WINDOW + HOUR]),
        nodes=[2, 1],
        run_time=[3 * HOUR, HOUR],
        time_limit=[9 * HOUR, HOUR],
        user=["1", "2"],
    )
    found = measured(result)
    assert list(found) == list(GROUPS)
    assert found[ALL]["jobs"] == 2
    assert found[ALL]["lost_h"] == pytest.approx(4, rel=0.01)
    assert found[ALL]["lost_jobs"] == 50
    assert found["limit 8 to 24 h"]["wait_h"] == pytest.approx(2 + WINDOW_H, rel=0.01)
    assert found["limit up to 2 h"]["wait_h"] == pytest.approx(WINDOW_H - 1, rel=0.01)
    assert found["limit up to 2 h"]["bounded_slowdown"] == pytest.approx(WINDOW_H, rel=0.01)
    assert found["urgent"]["jobs"] == 0
    assert found[ALL]["drain_h"] == pytest.approx(4 * 24 - 2 * 2, rel=0.01)
    assert found[HEAVY]["jobs"] == 2
    assert found[LIGHT]["jobs"] == 0


@pytest.mark.interpreted
def test_no_job_reaches_into_a_window_that_is_known(small_site):
    result = small_site(
        KNOWN, submit_time=[WINDOW - 2 * HOUR], nodes=[1], run_time=[60], time_limit=[3 * HOUR]
    )
    assert result.components["start_time"].iloc[0] >= WINDOW + WINDOW_H * HOUR


@pytest.mark.interpreted
@pytest.mark.parametrize(("name", "state"), [(REQUEUE, "COMPLETED"), (CANCEL, "PREEMPTED")])
def test_an_urgent_job_ends_one_that_is_not(small_site, name, state):
    result = small_site(
        name,
        submit_time=[COUNTS, COUNTS + HOUR],
        nodes=[3, 4],
        run_time=[2 * HOUR, HOUR],
        time_limit=[2 * HOUR, HOUR],
        partition=["normal", URGENT],
    )
    assert list(result.components["state"]) == [state, "COMPLETED"]
    found = measured(result)
    assert found["not urgent"]["lost_h"] == pytest.approx(3, rel=0.1)
    assert found["urgent"]["lost_h"] == 0
    assert found["not urgent"]["unfinished"] == (100 if state == "PREEMPTED" else 0)


@pytest.mark.interpreted
def test_what_never_runs_stops_the_study(small_site):
    result = small_site(BASE, submit_time=[0], nodes=[5], run_time=[1], time_limit=[60])
    with pytest.raises(SchedulerSimError, match="1 jobs never ran"):
        measured(result)


def test_the_heaviest_are_those_who_ask_for_most():
    table = pd.DataFrame({"user": list("abcdefghijkl"), "nodes": range(1, 13), "time_limit": 60})
    assert heaviest(table) == list("lkjihgfedc")


def test_jobs_are_those_of_a_site():
    drawn = jobs(1)
    end = cases.DAYS * DAY
    asked = (drawn["nodes"] * drawn["run_time"]).sum() / (NODES * np.ptp(drawn["submit_time"]))
    assert asked == pytest.approx(LOAD, rel=0.1)
    assert drawn["submit_time"].max() < end
    assert drawn["submit_time"].max() > end - HOUR
    assert drawn["nodes"].max() <= min(QUOTAS)
    table = drawn.table
    assert table["user"].nunique() > 200
    assert table["account"].nunique() == cases.ACCOUNTS
    assert (table["partition"] == URGENT).mean() == pytest.approx(0.03, abs=0.01)
    assert set(table["qos"]) == {"normal", "short", URGENT}


def test_every_user_is_in_the_tree_once():
    tree = accounts([str(number) for number in range(1, 251)])
    found = [
        user for division in tree.values() for one in division["accounts"].values() for user in one["users"]
    ]
    assert sorted(found, key=int) == [str(number) for number in range(1, 251)]


def test_rules_differ_from_the_site_in_what_they_say_alone():
    assert len(BY_NAME) == len(VARIANTS)
    assert {name for rule in RULES for name in of_rule(rule)} == set(BY_NAME) - {BASE}
    users = ["1", "2"]
    base = VARIANTS[0].policy(users).to_dict()["slurm"]
    quota = BY_NAME[f"{QUOTAS[-1]:,} nodes"].policy(users).to_dict()["slurm"]
    assert {name for name in quota if quota[name] != base.get(name)} == {"qos"}
    assert VARIANTS[0].site() == System.from_dict(BY_NAME[f"{QUOTAS[-1]:,} nodes"].site().to_dict())


@pytest.mark.long
def test_the_runs_of_a_seed_can_be_repeated(tmp_path, monkeypatch):
    """Without the rules that take long; they were made by another process."""
    quick = tuple(one for one in VARIANTS if not one.system and not one.slurm)
    monkeypatch.setattr(conduct, "VARIANTS", quick)
    save(in_order(run_seed(1), FACTORS), Setup(1), tmp_path)
    theirs = committed().where(seed=1)
    theirs = theirs[theirs["variant"].isin([one.name for one in quick])]
    ours = load(tmp_path).runs.reset_index(drop=True)  # where all hours lost are whole, they are read as int
    pd.testing.assert_frame_equal(ours, theirs.reset_index(drop=True), check_dtype=False)


def test_every_seed_is_run_once(monkeypatch):
    monkeypatch.setattr(conduct, "run_seed", lambda seed: [{"variant": "x", "group": "y", "seed": seed}])
    assert conduct.conduct(Setup(3))["seed"].tolist() == [1, 2, 3]


def test_a_difference_has_the_digits_that_its_interval_allows():
    assert in_units(Interval(2.6412, 2.1, 3.18), " h") == "+2.6 h (+2.1 to +3.2)"
    assert in_units(Interval(-0.0312, -0.0402, -0.0222)) == "−0.031 (−0.040 to −0.022)"
    assert in_units(Interval(12345.6, 11000.0, 13000.0)) == "+12,346 (+11,000 to +13,000)"
    assert in_units(Interval(0.0, 0.0, 0.0)) == "0"
    assert longer(Interval(-0.18, -0.27, -0.1)) == "0.18 h (0.10 to 0.27) less"
    assert longer(Interval(2.33, 1.78, 2.89)) == "2.33 h (1.78 to 2.89) longer"


def test_a_difference_is_paired_by_seed():
    """Differences of 1 and 3: mean 2, standard error 1, and Student's t of one degree of freedom."""
    runs = pd.DataFrame({"seed": [1, 2, 2, 1], "x": list("aabb"), "y": [2.0, 9.0, 6.0, 1.0]})
    found = difference(runs, "y", "a", "b", by="x")
    assert found == pytest.approx((2, 2 - 12.706, 2 + 12.706), abs=1e-3)


def test_what_cannot_be_drawn_is_said(capsys):
    with pytest.raises(SystemExit):
        main(["--seeds", "1"])
    assert "allowed: 2 or more" in capsys.readouterr().err
