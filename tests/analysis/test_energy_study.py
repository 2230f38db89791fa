"""The study of energy: its measures by hand, that its runs can be repeated, and that its page is its own."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.common.numbers import mean
from analysis.energy.__main__ import main
from analysis.energy.cases import (
    BASE,
    BY_NAME,
    CAP,
    CAPS,
    MAIN_POLICY,
    POLICIES,
    SAVERS,
    SHIFT,
    models,
    prices,
    recipe,
    reference_khz,
    signatures,
    system,
)
from analysis.energy.conduct import (
    FACTORS,
    MEASURES,
    Conducted,
    Setup,
    load,
    measured,
    refuse_gaps,
)
from analysis.energy.figures import front
from analysis.energy.findings import findings
from analysis.energy.page import PAGE, RESULTS, page_text
from scheduler_sim import Workload, generate, simulate
from scheduler_sim.errors import SchedulerSimError
from tests.conftest import ROOT

COMMITTED = ROOT / "analysis"


@pytest.fixture(scope="module")
def committed():
    return load(COMMITTED / RESULTS)


def test_the_page_in_the_repository_is_what_this_version_makes_of_its_runs(committed):
    page = (COMMITTED / PAGE).read_text(encoding="utf-8")
    assert page_text(committed) == page
    assert committed.setup == Setup()
    assert committed.setup.seeds >= 20
    assert list(committed.runs.columns) == [*FACTORS, *MEASURES]
    assert len(committed.runs) == Setup().simulations()
    assert "nan" not in page
    assert "{" not in page
    assert page.count("\n- **") == len(findings(committed)) + 7  # and the seven kinds that are explained


def test_sentences_are_left_out_where_the_runs_do_not_bear_them_out(committed):
    """Were all runs like those of jobs as asked, nothing could be said."""
    base = committed.runs[committed.runs["saver"] == BASE].set_index(["policy", "seed"])
    flat = committed.runs.copy()
    keys = list(zip(flat["policy"], flat["seed"], strict=True))
    for name in MEASURES:
        flat[name] = base[name].loc[keys].to_numpy()
    assert findings(Conducted(flat, committed.setup, committed.version)) == []


def test_no_run_is_above_its_cap(committed):
    assert not committed.runs["above_cap_s"].any()
    for kw in CAPS:
        names = [s.name for s in SAVERS if s.kind == CAP and f" {kw} kW" in s.name]
        assert len(names) == 2
        peaks = committed.runs.loc[committed.runs["saver"].isin(names), "peak_kw"]
        assert peaks.max() <= kw + 1e-6


@pytest.mark.parametrize("name", [BASE, "least energy, 5 %", "module: least energy, off after 4 min"])
@pytest.mark.long
def test_runs_can_be_repeated(committed, name):
    workload = generate(recipe(), seed=1)
    base, result = (
        simulate(system(), one.workload(workload), one.policy(MAIN_POLICY), models=models(one.name), seed=1)
        for one in (BY_NAME[BASE], BY_NAME[name])
    )
    result.check()
    rows = committed.under(MAIN_POLICY)
    row = rows[(rows["saver"] == name) & (rows["seed"] == 1)].iloc[0]
    for measure, value in measured(result, base).items():
        assert row[measure] == pytest.approx(value, rel=1e-5, abs=1e-9), measure


@pytest.mark.interpreted
def test_measures_by_hand():
    """Two CM nodes for an hour at 345 W, of which 120 are idle power, at 0.18 a kWh."""
    jobs = Workload.from_columns(
        nodes=[2], submit_time=[0], run_time=[3600], partition="CM", app="CMS", time_limit=[3600]
    )
    result = simulate(system(), jobs, models=models(BASE))
    found = measured(result, result)
    assert found["job_mwh"] == pytest.approx(0.00069)
    assert found["above_idle_mwh"] == pytest.approx(0.00045)
    idle = 50 * 120 + 16 * 250 + 75 * 100
    assert found["system_mwh"] == pytest.approx((idle + 450) / 1e6)
    assert found["peak_kw"] == pytest.approx((idle + 450) / 1e3)
    assert found["price"] == pytest.approx(0.18)
    assert (found["wait_h"], found["run_h"], found["moved"], found["slower"]) == (0, 1, 0, 0)
    assert set(found) == set(MEASURES)


def test_every_job_has_a_signature_and_every_signature_a_job():
    """The trace calls types by number, the signatures by name; once nothing matched, and nobody was told."""
    result = simulate(system(), generate(recipe(), seed=1), models=models(BASE), seed=1)
    assert result.metrics["energy"]["power_from"]["signature"]["share"] == 1
    assert "unmatched" not in result.manifest
    assert result.metrics["energy"]["max_power_w"] > 50 * 345 + 16 * 450 + 75 * 175
    gpu = result.components[
        result.components["app"].isin(["2", "3", "4"]) & (result.components["module"] == "ESB")
    ]
    assert (gpu["power_w"] / gpu["nodes"]).unique().tolist() == [304]


@pytest.mark.interpreted
@pytest.mark.parametrize("spelt", ["CMS", "SMC"])
def test_names_that_do_not_match_stop_the_study(spelt):
    """One job of CMS alone: four signatures have no job; with the fifth misspelt the job has none, too."""
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[9], partition="CM", app="CMS")
    keys = models(BASE).to_dict()
    table = keys["energy"]["signatures"]
    table["workload"] = [spelt if name == "CMS" else name for name in table["workload"]]
    with pytest.raises(
        SchedulerSimError, match="names do not match.*" + ("xPIC" if spelt == "CMS" else "CMS")
    ):
        refuse_gaps(simulate(system(), jobs, models=keys), BASE)


def test_a_busy_gpu_adds_its_watts():
    table = signatures()
    watts = dict(zip(zip(table["workload"], table["module"], strict=True), table["power_w"], strict=True))
    assert watts["xPIC", "DAM"] - watts["CMS", "DAM"] == pytest.approx(129)
    assert watts["xPIC", "CM"] == watts["CMS", "CM"] == 345
    assert reference_khz()["CM"] == 3_200_000


def test_the_made_up_price_is_that_of_every_day():
    table = prices()
    assert table["time"][:6] == [0, 21_600, 32_400, 57_600, 75_600, 86_400]
    assert table["value"][:6] == [0.18, 0.30, 0.22, 0.38, 0.24, 0.18]


def test_the_front_is_what_nobody_beats():
    waits, energies = np.array([2.0, 1.0, 3.0, 2.5, 1.0]), np.array([5.0, 9.0, 5.0, 4.0, 10.0])
    assert front(waits, energies).tolist() == [1, 0, 3]


def test_the_bound_of_a_shift_holds_on_average(committed):
    """Of single components tests/simulation has it; what waits for others is not held."""
    runs = committed.under(MAIN_POLICY)
    base = mean(runs[runs["saver"] == BASE], "wait_h").value
    waits = [mean(runs[runs["saver"] == s.name], "wait_h").value for s in SAVERS if s.kind == SHIFT]
    assert base < waits[0] < waits[1] < waits[2]


def test_every_way_to_save_is_named_once():
    assert len(BY_NAME) == len(SAVERS)
    assert set(POLICIES) == {"easy", "conservative"}


def test_what_cannot_be_drawn_is_said(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--seeds", "1"])
    assert "allowed: 2 or more" in capsys.readouterr().err
