"""The study of moldable jobs: its cases, its measures by hand, and that its page is its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.moldable_jobs.__main__ import main
from analysis.moldable_jobs.cases import (
    APPLICATIONS,
    BYSTANDERS,
    FLOORS,
    LOADS,
    MODELS,
    PART_MAIN,
    PART_SHARES,
    POLICIES,
    RIGID,
    SHARES,
    Case,
    cases,
    profiles,
    recipe,
)
from analysis.moldable_jobs.conduct import FACTORS, MEASURES, Conducted, Setup, load, measured, run_case
from analysis.moldable_jobs.findings import findings
from analysis.moldable_jobs.page import PAGE, RESULTS, page_text
from scheduler_sim import System, Workload, generate, simulate
from scheduler_sim.applications.models import Models
from tests.conftest import ROOT

COMMITTED = ROOT / "analysis"


@pytest.fixture(scope="module")
def committed():
    return load(COMMITTED / RESULTS)


def test_the_page_in_the_repository_is_what_this_version_makes_of_its_runs(committed):
    page = (COMMITTED / PAGE).read_text(encoding="utf-8")
    assert page_text(committed) == page
    assert committed.setup == Setup()
    assert list(committed.runs.columns) == [*FACTORS, *MEASURES]
    assert len(committed.runs) == Setup().simulations()
    assert "nan" not in page
    assert "{" not in page
    assert page.count("\n- **") == len(findings(committed)) == 7


def test_sentences_are_left_out_where_the_runs_do_not_bear_them_out(committed):
    """The same numbers with rigid and moldable exchanged: nobody gains, and a low floor hurts nobody."""
    said = []
    for floor in ("0.7", "0.3"):
        names = {RIGID: floor, floor: RIGID}
        swapped = committed.runs.assign(floor=committed.runs["floor"].replace(names))
        swapped = swapped[(swapped["part"] != PART_SHARES) | (floor == "0.7")]
        runs = swapped if floor == "0.7" else pd.concat([swapped, committed.part(PART_SHARES)])
        said.append(
            {one.split("**")[1] for one in findings(Conducted(runs, committed.setup, committed.version))}
        )
    whole = {one.split("**")[1] for one in findings(committed)}
    gains = {
        one for one in whole if one.startswith(("Yes", "Set MaxTime", "It pays for the first", "Those who"))
    }
    assert len(gains) == 4
    assert not gains & said[0]
    assert not {one for one in said[1] if one.startswith(("It hurts", "fcfs gains", "Those who"))}


def test_every_run_of_a_seed_has_the_same_jobs():
    base = generate(recipe("0.8", 200), seed=4)
    whole = Case(PART_MAIN, "0.8", "easy", "0.7").workload(base, 4)
    few, most = (
        Case(PART_SHARES, share, "easy", "0.7").workload(base, 4) for share in (SHARES[0], SHARES[-1])
    )
    for workload in (few, most):
        assert all((workload[name] == base[name]).all() for name in ("nodes", "run_time", "submit_time"))
    apps = [workload.table["app"].astype(str).to_numpy() for workload in (whole, most, few)]
    assert set(apps[0]) == set(APPLICATIONS)
    assert ((apps[2] == RIGID) | (apps[2] == apps[1])).all()  # who is moldable among few is so among most
    assert (apps[1] != RIGID).mean() > (apps[2] != RIGID).mean() > 0


@pytest.mark.parametrize("part", [PART_MAIN, PART_SHARES])
def test_names_in_the_models_are_those_of_the_jobs(part):
    """All but the type of jobs that are kept rigid, where there are none; a profile knows more modules."""
    case = Case(part, SHARES[0] if part == PART_SHARES else LOADS[0], "easy", FLOORS[0])
    base = generate(recipe(case.load, 200), seed=1)
    result = simulate(case.system(base), case.workload(base, 1), case.chosen(), models=case.models(), seed=1)
    nobody = {} if part == PART_SHARES else {"types": [RIGID]}
    assert result.manifest["unmatched"] == {**nobody, "modules": ["DAM", "ESB"]}


def test_cases_are_rigid_first_in_each_group():
    found = cases()
    assert len(found) == len(LOADS) * len(POLICIES) * 5 + len(POLICIES) * 5 + len(SHARES) * len(POLICIES) * 2
    groups = pd.DataFrame(found).groupby(["part", "level", "policy"], sort=False)["floor"]
    assert (groups.first() == RIGID).all()
    assert tuple(types.name for types in Models.from_yaml(MODELS).keys.applications.types) == APPLICATIONS


def test_measures_by_hand():
    """Two nodes for 8 s and one for 4 s, resized to 4 nodes for 5 s and started one after the other."""
    system = System.homogeneous(4, "CM")
    columns = {"submit_time": [0, 0], "run_time": [8, 4], "time_limit": [8, 4], "app": ["AVBP", BYSTANDERS]}
    work = Workload.from_columns(nodes=[2, 1], **columns)
    rigid = simulate(system, work, "fcfs")
    faster = Workload.from_columns(nodes=[4, 1], **{**columns, "run_time": [5, 4], "time_limit": [5, 4]})
    found = measured(simulate(system, faster, "fcfs"), rigid, work)
    assert found["response_h"] == pytest.approx((5 + 9) / 2 / 3600)
    assert found["wait_h"] == pytest.approx(2.5 / 3600)
    assert found["work"] == pytest.approx(100 * 24 / 20)
    assert (found["later"], found["more"], found["fewer"]) == (50, 50, 0)
    assert found["fixed_response_h"] == pytest.approx(9 / 3600)
    assert found["resizable_response_h"] == pytest.approx(5 / 3600)
    assert found["small_response_h"] == pytest.approx(7 / 3600)
    assert np.isnan(found["large_wait_h"])


def test_with_all_floors_one_nothing_but_growth_without_loss_is_offered():
    """AVBP loses on every number of nodes: a floor of 1 leaves its jobs as they are."""
    base = generate(recipe("0.8", 150), seed=2)
    case = Case(PART_MAIN, "0.8", "conservative", "1.0")
    moldable = run_case(case, base, 2).components
    rigid = run_case(Case(PART_MAIN, "0.8", "conservative", RIGID), base, 2).components
    assert profiles("1.0").offers_sizes
    assert (moldable["nodes"] == rigid["nodes"]).all()
    assert (moldable["end_time"] == rigid["end_time"]).all()


@pytest.mark.long
def test_one_process_and_two_give_the_same_bytes(tmp_path, capsys):
    for workers in ("1", "2"):
        folder = tmp_path / workers
        assert main(["--seeds", "2", "--jobs", "60", "--workers", workers, "--out", str(folder)]) == 0
    first, second = ((tmp_path / workers / RESULTS / "runs.csv").read_bytes() for workers in ("1", "2"))
    assert first == second
    assert len(load(tmp_path / "1" / RESULTS).runs) == Setup(2, 60).simulations() == 2 * len(cases())
    assert "page:" in capsys.readouterr().out
    assert set(FLOORS) < set(load(tmp_path / "1" / RESULTS).runs["floor"])
