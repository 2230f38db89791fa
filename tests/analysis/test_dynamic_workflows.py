"""The study of dynamic workflows: what it measures, drawn by hand, and that its page is its own."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.dynamic_workflows.__main__ import main
from analysis.dynamic_workflows.cases import EXACT, HALF_WRONG, ROOT, SYSTEM, Case, cases, hand_overs
from analysis.dynamic_workflows.conduct import FACTORS, Setup, load
from analysis.dynamic_workflows.measures import MEASURES, measured
from analysis.dynamic_workflows.page import PAGE, RESULTS, SHOWN, VARIED, page_text
from analysis.dynamic_workflows.statements import COLUMNS, STATEMENTS
from scheduler_sim import System, Workload, simulate
from scheduler_sim.generation.merge import BaseTrace
from scheduler_sim.generation.scenarios import SCENARIOS, columns_of, hand_over
from scheduler_sim.generation.shapes import chain
from scheduler_sim.generation.workflows import Workflows
from tests.conftest import run_interpreted

COMMITTED = ROOT / "analysis"
EXTENSION = (("extension_percent", 20),)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Two seeds of 16 jobs a module in plain Python, on one process and on two."""
    folders = {}
    for workers in (1, 2):
        folders[workers] = tmp_path_factory.mktemp(f"workers-{workers}")
        given = ["--seeds", "2", "--seeds-beyond", "2", "--jobs", "16", "--workers", str(workers)]
        run_study(folders[workers], *given)
    return folders


def run_study(folder, *given):
    """Run it in plain Python."""
    code = f"import sys; from {main.__module__} import main; sys.exit(main([*{given}, '--out', sys.argv[1]]))"
    run_interpreted(code, folder)


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.long
def test_one_process_and_two_give_the_same_bytes(small):
    one, two = files(small[1]), files(small[2])
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


@pytest.mark.long
def test_page_figures_and_runs_come_out(small):
    conducted = load(small[1] / RESULTS)
    assert len(conducted.runs) == sum(Setup(2, 2).simulations()) == sum(conducted.setup.simulations())
    assert list(conducted.runs.columns) == [*FACTORS, *MEASURES]
    figures = [small[1] / RESULTS / f"{name}.png" for name in ("workflows-24", "workflows-33", *VARIED)]
    assert len({figure.read_bytes() for figure in figures}) == 5
    page = (small[1] / PAGE).read_text(encoding="utf-8")
    assert all(f"({figure.relative_to(small[1])})" in page for figure in figures)
    assert page == page_text(conducted)
    assert "nan" not in page
    assert "{" not in page


def test_the_page_in_the_repository_is_what_this_version_makes_of_its_runs():
    conducted = load(COMMITTED / RESULTS)
    page = (COMMITTED / PAGE).read_text(encoding="utf-8")
    assert page_text(conducted) == page
    assert conducted.setup == Setup()
    assert list(conducted.runs.columns) == [*FACTORS, *MEASURES]
    counts = conducted.runs.groupby("part", sort=False).size()
    assert (counts["shares"], counts.sum()) == (1000, sum(Setup().simulations()))
    assert f"| {' | '.join(COLUMNS[:-1])} |" in page
    assert all(f"| {statement.says} |" in page for statement in STATEMENTS)
    assert all(page.count(f"| {MEASURES[name]} |") >= 2 for name in SHOWN)


@pytest.mark.long
def test_it_runs_whole_under_policy_slurm(tmp_path):
    run_study(tmp_path, "--policy", "slurm", "--seeds", "2", "--seeds-beyond", "0", "--jobs", "16")
    assert "--policy slurm" in (tmp_path / PAGE).read_text(encoding="utf-8")


def test_all_cases_of_a_seed_have_the_same_base_workload():
    system = System.from_yaml(SYSTEM)
    shares, beyond = cases("conservative")
    bases = [case.generated(system, 30, 5).base for case in [*shares, *beyond] if case.load is None]
    assert len(bases) == 2 + 5 + 6 + 4 + 2
    assert all(
        np.array_equal(one, other) for base in bases[1:] for one, other in zip(bases[0], base, strict=True)
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.interpreted
def test_overlap_and_run_times_are_those_of_metrics_json(scenario):
    system = System.from_yaml(SYSTEM)
    generated = Case("shares", "33", EXTENSION).generated(system, 60, 3)
    result = simulate(system, generated.scenario(scenario), "conservative")
    found, expected = measured(result, generated.base, hand_overs(generated)), result.metrics["workflow"]
    assert expected["workflows"] > 10
    assert found["normalized"] == pytest.approx(expected["normalized_runtime"]["mean"], abs=1e-5)
    assert found["workflow_response_h"] == pytest.approx(expected["response_time"]["mean"] / 3600, abs=1e-5)
    assert found["overlapped"] == pytest.approx(100 * expected["overlapped_share"], abs=1e-3)
    whole = expected["with_single_components"]
    assert found["normalized_all"] == pytest.approx(whole["normalized_runtime"]["mean"], abs=1e-5)
    assert found["whole_response_h"] == pytest.approx(whole["response_time"]["mean"] / 3600, abs=1e-5)
    assert found["whole_slowdown"] == pytest.approx(whole["slowdown"]["mean"], abs=1e-5)


def test_exact_delays_are_the_times_to_the_calls():
    system = System.from_yaml(SYSTEM)
    said = hand_overs(Case("delays", EXACT, EXTENSION, delays=EXACT).generated(system, 200, 3))
    consumers = np.concatenate([rows for rows, _ in said.producers])
    assert len(consumers) > 50
    assert said.delay[consumers] == pytest.approx(said.waited[consumers])


def test_half_wrong_delays_are_off_by_at_most_half_to_either_side():
    system = System.from_yaml(SYSTEM)
    said = hand_overs(Case("delays", HALF_WRONG, EXTENSION, delays=HALF_WRONG).generated(system, 200, 3))
    consumers = np.concatenate([rows for rows, _ in said.producers])
    consumers = consumers[said.waited[consumers] > 1000]  # rounding to seconds is nothing then
    off = said.delay[consumers] / said.waited[consumers]
    assert 0.499 < off.min() < 0.7
    assert 1.3 < off.max() < 1.501


@pytest.mark.parametrize(
    ("scenario", "runtime", "own", "idle", "starts"),
    [
        ("DEP", 150, 150, 0, 100),  # back to back: 100 + 50
        ("DEP+API", 110, 150, 0, 60),  # the consumer starts at the call
        ("HET", 110, 210, 60, 0),  # it holds its node from 0 and runs 60 + 50
        ("HET+DELAY", 100, 150, 20, 40),  # due at 40, data ready at 60
        ("HET+DELAY+API", 100, 150, 20, 40),  # the call comes after it has started
    ],
)
@pytest.mark.interpreted
def test_a_chain_of_two_on_an_empty_machine(scenario, runtime, own, idle, starts):
    """A producer runs 100 s and calls at 60; its consumer runs 50 s, and is due at 40.

    ::

        DEP            pppppppppp|ccccc        HET        pppppppppp
        DEP+API        pppppp!ppp                         ......ccccc
                             ccccc             HET+DELAY  pppppp!ppp
                                                              ccccc
    """
    base = BaseTrace(
        module=np.array([0, 1]),
        number=np.array([0, 0]),
        submit_time=np.array([0, 7]),
        nodes=np.array([1, 1]),
        time_limit=np.array([100, 60]),
        run_time=np.array([100, 50]),
        cancel_lag=np.array([-1, -1]),
    )
    chains = {chain(2): np.array([0])}
    workflows = Workflows(
        np.arange(2), chains, delay_factor=np.array([0, 0.4]), api_factor=np.array([0.6, 0])
    )
    columns = columns_of(base, workflows, scenario)
    trace = Workload.from_columns(**columns, nodes=base.nodes, partition=["CM", "ESB"])
    result = simulate(System.from_yaml(SYSTEM), trace, "conservative")
    found = measured(result, base, hand_over(base, workflows))
    assert found["normalized"] == pytest.approx(runtime / own)
    assert found["normalized_own"] == pytest.approx(runtime / 150)
    assert found["idle"] == pytest.approx(100 * idle / 150)
    assert found["dependent_wait_h"] == pytest.approx(starts / 3600)
    assert found["whole_wait_h"] == 0
    assert found["whole_response_h"] == found["workflow_response_h"] == pytest.approx(runtime / 3600)
    assert found["whole_slowdown"] == pytest.approx(runtime / own)
    assert found["time_saved"] == pytest.approx(100 * (own - runtime) / own)
    assert found["overlapped"] == (0 if scenario == "DEP" else 100)
    assert found["work"] == found["components"] == 100
