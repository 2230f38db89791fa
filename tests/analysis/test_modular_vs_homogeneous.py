"""The study of modular against homogeneous systems: cases, claims by hand, and that its page is its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.modular_vs_homogeneous import identity, mixes
from analysis.modular_vs_homogeneous.__main__ import main
from analysis.modular_vs_homogeneous.cases import (
    BOTH,
    CM,
    DAM,
    ESB,
    LOADS,
    MOD,
    PART_LOADS,
    PART_MAIN,
    PREFERRED,
    READINGS,
    ROOT,
    SIMULATED,
    SIMULATOR,
    SLOWER,
    SPEED,
    STRATEGIES,
    Case,
    cases,
    recipe,
    system_of,
)
from analysis.modular_vs_homogeneous.claims import CLAIMS, ORDERS, find, order_verdict, ratio, verdict
from analysis.modular_vs_homogeneous.conduct import FACTORS, MEASURES, Setup, load, run_case
from analysis.modular_vs_homogeneous.page import PAGE, RESULTS, distance, page_text
from scheduler_sim import Policy, generate, simulate

COMMITTED = ROOT / "analysis"


@pytest.fixture(scope="module")
def committed():
    return load(COMMITTED / RESULTS)


@pytest.mark.long
def test_the_page_in_the_repository_is_what_this_version_makes_of_its_runs(committed):
    found = mixes.load(COMMITTED / RESULTS)
    page = (COMMITTED / PAGE).read_text(encoding="utf-8")
    assert page_text(committed, found) == page
    assert committed.setup == Setup()
    assert list(committed.runs.columns) == [*FACTORS, *MEASURES]
    assert len(committed.runs) == sum(Setup().simulations())
    assert all(page.count(f"| {claim.says}") >= 2 for claim in (*CLAIMS, *ORDERS))
    assert "nan" not in page
    assert "{" not in page


def test_what_the_page_says_of_loads_in_words_is_so(committed):
    """The text of beyond.md has no numbers to fill in; here is what it rests on."""

    def ratio(load, reading, claim, strategy):
        runs = committed.part(PART_LOADS, reading=reading)
        return find(runs[runs["level"] == f"{load}"], CLAIMS[claim], strategy).ratio.value

    choosing = STRATEGIES[1:]
    for load_ in LOADS:
        for reading in READINGS:
            assert ratio(load_, reading, 1, PREFERRED) < 1
        if load_ >= 0.5:
            assert all(ratio(load_, SLOWER, 1, one) > 1 for one in choosing)
        if load_ >= 0.8:
            assert all(ratio(load_, SPEED, 1, one) < 1 for one in choosing)
    assert all(ratio(0.6, SPEED, 1, one) > 1 for one in choosing)
    assert ratio(0.7, SPEED, 1, "earliest_end") > 1
    assert all(ratio(0.7, SPEED, 1, one) < 1 for one in choosing if one != "earliest_end")
    for load_ in (0.2, 0.3):
        assert ratio(load_, SPEED, 0, PREFERRED) > 1
        assert ratio(load_, SPEED, 1, "first_available") > 1
        assert ratio(load_, SPEED, 2, "first_available") > 1
        assert ratio(load_, SPEED, 3, "first_available") < 1
    assert ratio(0.4, SPEED, 0, PREFERRED) < 1


@pytest.mark.long
def test_one_process_and_two_give_the_same_bytes(tmp_path):
    folders = {}
    for workers in (1, 2):
        folders[workers] = tmp_path / str(workers)
        given = ["--seeds", "2", "--seeds-beyond", "0", "--jobs", "400", "--policies", "easy", "--no-search"]
        assert main([*given, "--workers", str(workers), "--out", str(folders[workers])]) == 0
    one, two = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in folders.values()
    )
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    assert len(load(folders[1] / RESULTS).runs) == sum(Setup(2, 0, 400, ("easy",)).simulations())


@pytest.mark.interpreted
def test_the_preferred_module_has_no_ratio_below_one():
    """So that the readings are the same for it, and every policy has the same run times."""
    base = generate(recipe(80), seed=4)
    runs = {}
    for policy in ("easy", "slurm"):
        for reading in READINGS:
            found = run_case(Case(MOD, reading, PREFERRED, policy), base).components
            runs[policy, reading] = (found["module"].astype(str).tolist(), found["run_time"].tolist())
    assert runs["easy", SLOWER] == runs["easy", SPEED] == runs["slurm", SLOWER]
    assert set(base["app"]) == {"1", "2", "3", "4", "5"}
    on_cm = [module == "CM" for module in runs["easy", SLOWER][0]]
    assert on_cm == [app in ("1", "5") for app in base["app"]]  # CMS and Non-ACC


@pytest.mark.interpreted
def test_names_in_the_models_are_those_of_the_jobs():
    """The trace numbers the types in the order in which Table 7 has them; a system may lack modules."""
    base = generate(recipe(100), seed=1)
    names = [one["name"] for one in recipe(100).to_dict()["applications"]["types"]]
    for system, lacks in ((CM, ["DAM", "ESB"]), (MOD, ["DAM"])):
        case = Case(system)
        assert list(case.models().type_names) == names
        result = simulate(system_of(system), case.workload(base), models=case.models())
        assert result.manifest["unmatched"] == {"modules": lacks}


@pytest.mark.long
def test_all_cases_run_all_jobs():
    base = generate(recipe(100), seed=1)
    for case in cases("easy"):
        assert (run_case(case, base).components["state"] != "REJECTED").all()
    assert {case.reading for case in cases("easy") if case.system in (CM, DAM)} == {BOTH}
    assert [case.strategy for case in cases("slurm") if case.system == MOD] == [PREFERRED, "listed", "listed"]
    assert [case.strategy for case in cases(SIMULATED)] == [case.strategy for case in cases("slurm")]


def runs_of(**waits: list[float]) -> pd.DataFrame:
    names = {"cm": CM, "dam": DAM, "esb": ESB, "mod": MOD}
    rows = [
        {"system": names[name], "strategy": PREFERRED, "reading": BOTH, "seed": seed, "wait_h": wait}
        for name, values in waits.items()
        for seed, wait in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_a_claim_by_hand():
    """DAM waits 3 hours on average, ESB 1: the ratio is 3, single seeds 2, 3 and 4."""
    found = find(runs_of(dam=[2, 6, 8, 2, 2, 4], esb=[1, 2, 2, 1, 1, 1]), CLAIMS[0])
    assert found.ratio.value == pytest.approx(24 / 8)
    assert (found.least, found.most, found.claimed) == (2.0, 4.0, 3.2)
    assert verdict(found) == "reproduced"
    assert found.ratio.low > 1


def test_verdicts():
    claims = {
        "the reverse": {"dam": [1, 1.1, 0.9, 1, 1, 1], "esb": [2, 2, 2, 2.1, 2, 2]},
        "order only": {"dam": [2, 2.1, 2, 2, 2, 2], "esb": [1, 1, 1, 1, 1.01, 1]},
        "not reproduced": {"dam": [1, 2, 1, 2, 1, 2], "esb": [2, 1, 2, 1, 2, 1]},
    }
    for expected, waits in claims.items():
        assert verdict(find(runs_of(**waits), CLAIMS[0])) == expected


def test_orders_have_no_figure_to_meet():
    """The wait of CM to DAM: the first of D2.3's orders, by hand."""
    runs = runs_of(dam=[1, 1.1, 0.9, 1, 1, 1], cm=[2, 2, 2, 2.1, 2, 2])
    assert ratio(runs, ORDERS[0]).value == pytest.approx(12.1 / 6)
    assert order_verdict(ratio(runs, ORDERS[0])) == "so"
    runs = runs_of(dam=[2, 2, 2, 2.1, 2, 2], cm=[1, 1.1, 0.9, 1, 1, 1])
    assert order_verdict(ratio(runs, ORDERS[0])) == "the reverse"
    runs = runs_of(dam=[1, 2, 1, 2, 1, 2], cm=[2, 1, 2, 1, 2, 1])
    assert order_verdict(ratio(runs, ORDERS[0])) == "open"


def test_the_simulator_of_d23_is_one_of_the_policies():
    case = Case(MOD, policy=SIMULATED)
    assert case.policy_with_strategy() == Policy.from_yaml(SIMULATOR)
    base = generate(recipe(50), seed=2)
    assert set(case.workload(base)["partition"]) == {"CM", "ESB"}


def test_distance_is_the_largest_factor():
    assert distance([3.2, 17.8, 5.4, 2.4, 2.7]) == pytest.approx(1)
    assert distance([3.2, 17.8 / 4, 5.4, 2.4 * 2, 2.7]) == pytest.approx(4)


def test_the_identity_gives_back_what_a_workload_had():
    """Run times 0.6, 2.4 and 1 h: responses and waits built from D2.3's ratios lead back to them."""
    wait, response = 0.1, 1.1
    run_dam = 2.4 * response - 17.8 * wait
    run_esb = 2.7 * response - 5.4 * wait
    found = identity.implied(run_dam / (response - wait))
    assert found.wait_share.value == pytest.approx(wait / response)
    assert found.esb.value == pytest.approx(run_esb / (response - wait))
    assert found.esb.low < found.esb.value < found.esb.high


def test_run_times_by_shares_are_those_of_the_golden_table():
    """Fact: 0.3653 on DAM, 0.7711 and 1.4686 on ESB, 0.475 + 0.1186 on the preferred modules."""
    found = identity.by_shares()
    best = 0.475 + 0.1186
    assert found[DAM] == pytest.approx(0.3653 / best, abs=5e-4)
    assert found[SLOWER] == pytest.approx(0.7711 / best, abs=5e-4)
    assert found[SPEED] == pytest.approx(1.4686 / best, abs=5e-4)


def test_the_claims_of_the_page_are_those_of_its_runs(committed):
    """The two findings that matter most, from the table of runs alone."""
    runs = committed.part(PART_MAIN)
    waits = runs[runs["strategy"] == PREFERRED].groupby(["system", "reading"])["wait_h"].mean()
    assert waits[MOD, BOTH] > max(waits[CM, BOTH], waits[DAM, BOTH], waits[ESB, SLOWER], waits[ESB, SPEED])
    free = runs[(runs["strategy"] == "earliest_end") & (runs["reading"] == SLOWER)]
    esb = runs[(runs["system"] == ESB) & (runs["reading"] == SLOWER)]
    assert np.mean(free["wait_h"]) < np.mean(esb["wait_h"]) < waits[DAM, BOTH]
