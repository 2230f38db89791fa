"""The study of learnt schedulers: measures, agents, that its page is its own, a training of seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.common.runs import in_order
from analysis.learnt_scheduler import agents
from analysis.learnt_scheduler.__main__ import main
from analysis.learnt_scheduler.agents import AGENTS, INPUTS, LAYERS, Kernel, Linear, inputs, spread
from analysis.learnt_scheduler.cases import DATA, PLAIN, RECIPE, TRACES, Recorded, environment
from analysis.learnt_scheduler.conduct import (
    FACTORS,
    MEASURES,
    SCHEDULERS,
    Setup,
    load,
    measured,
    run_seed,
    save,
)
from analysis.learnt_scheduler.findings import findings, side
from analysis.learnt_scheduler.page import PAGE, RESULTS, page_text
from scheduler_sim import System, Workload, simulate
from tests.conftest import ROOT, needs_shared

COMMITTED = ROOT / "analysis"
NEEDS = "pip install 'scheduler-sim[train]'"
SMALL = RECIPE | {"modules": [{"name": "cluster", "nodes": 128, "jobs": 12}]}


def test_the_page_in_the_repository_is_what_this_version_makes_of_its_runs() -> None:
    committed, page = load(COMMITTED / RESULTS), (COMMITTED / PAGE).read_text(encoding="utf-8")
    assert page_text(committed) == page
    assert committed.setup == Setup()
    assert list(committed.runs.columns) == [*FACTORS, *MEASURES]
    assert set(committed.runs["scheduler"]) == set(SCHEDULERS)
    assert set(committed.runs["trace"]) == set(TRACES)
    assert "nan" not in page
    assert "{" not in page
    assert page.count("\n- **") == len(findings(committed)) + len(AGENTS)


def test_without_the_traces_it_says_what_is_missing(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "KTH-SP2-1996-2.1-cln.swf.gz; allowed: --data FOLDER" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.interpreted
def test_measures_by_hand() -> None:
    """One node: jobs of 100 s and 5 s come at 0, the second waits for 100 s."""
    jobs = Workload.from_columns(submit_time=[0, 0], nodes=[1, 1], run_time=[100, 5])
    found = measured(simulate(System.homogeneous(1), jobs, "fcfs"))
    assert found["slowdown"] == pytest.approx((1 + 105 / 10) / 2)
    assert found["wait_h"] == pytest.approx(50 / 3600, abs=1e-6)
    assert found["longest_wait_h"] == pytest.approx(100 / 3600, abs=1e-6)
    assert found["utilization"] == pytest.approx(100)


def test_who_wins_is_said_only_where_the_interval_leaves_out_chance() -> None:
    assert [side({"change_low": low, "change_high": high}) for low, high in ((-9, -1), (-1, 1), (1, 2))] == [
        -1,
        0,
        1,
    ]


def test_what_was_learnt_is_read_without_pickle() -> None:
    assert {file.stem for file in agents.WEIGHTS.iterdir()} == {"linear_order", "linear_rule", "ppo"}
    for agent in (agents.linear_order(), agents.linear_rule()):
        assert agent.weights.shape == (INPUTS,)
    assert [one.shape for one, _ in agents.kernel().layers] == [
        (LAYERS[0], INPUTS),
        (LAYERS[1], LAYERS[0]),
        (1, LAYERS[1]),
    ]


def test_the_best_that_is_allowed_is_taken() -> None:
    seen = {
        "queue": np.array([[1, 0, 0.5, 0.3, 0, 0, 1, 1], [1, 0, 0.2, 0.9, 0, 0, 1, 1]]),
        "free": np.array([1.0]),
        "time": np.array([0, 0, 0, 0.1]),
    }
    assert inputs(seen).shape == (3, INPUTS)
    weights = np.zeros(INPUTS)
    weights[agents.QUEUE.index("limit")] = 1
    longest, shortest = (Linear(sign * weights, holds_back=False) for sign in (1, -1))
    assert longest(seen, np.array([1, 1, 1])) == 1
    assert longest(seen, np.array([1, 0, 1])) == 0
    assert shortest(seen, np.array([1, 1, 1])) == 0
    assert shortest(seen, np.array([0, 0, 1])) == 2  # the end of the pass
    assert Linear(-weights, holds_back=True)(seen, np.array([1, 1, 1])) == 2
    layers = [(weights[None], np.zeros(1)), (np.array([[-2.0]]), np.ones(1))]
    assert Kernel(layers).scores(np.ones((1, INPUTS))) == pytest.approx(1 - 2 * np.tanh(1))


@pytest.mark.interpreted
def test_the_columns_are_those_of_the_environment() -> None:
    pytest.importorskip("gymnasium", reason=f"needs Gymnasium: {NEEDS}")
    from scheduler_sim.gym.observation import QUEUE

    assert agents.QUEUE == QUEUE
    env = environment(System.homogeneous(128), recipe=SMALL)
    for agent in AGENTS.values():
        seen, info = env.reset(seed=1)
        over = False
        while not over:
            seen, _, over, _, info = env.step(agent()(seen, info["action_mask"]))
        assert info["refused"] == info["pending"] == 0


@needs_shared
@pytest.mark.long
def test_the_runs_of_a_seed_can_be_repeated(tmp_path: Any) -> None:
    """The last, of which one trace has none."""
    pytest.importorskip("gymnasium", reason=f"needs Gymnasium: {NEEDS}")
    seed = Setup().seeds
    save(in_order(run_seed(DATA, seed), FACTORS), Setup(seed), tmp_path)
    committed, ours = load(COMMITTED / RESULTS).runs, load(tmp_path).runs
    same = committed[committed["seed"] == seed]
    pd.testing.assert_frame_equal(ours.reset_index(drop=True), same.reset_index(drop=True))
    assert set(ours["scheduler"]) == {*PLAIN, *AGENTS}


@needs_shared
def test_windows_follow_each_other() -> None:
    recorded = Recorded(DATA)
    first, second = (recorded.case("KTH-SP2", seed) for seed in (1, 2))
    assert first is not None
    assert second is not None
    assert first[1]["submit_time"].max() <= second[1]["submit_time"].min()
    assert recorded.case("KTH-SP2", 29) is None


@pytest.mark.interpreted
def test_training_of_seconds(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few steps, and what is exported decides as what was trained."""
    torch = pytest.importorskip("torch", reason=f"needs PyTorch: {NEEDS}")
    pytest.importorskip("sb3_contrib", reason=f"needs sb3-contrib: {NEEDS}")
    from analysis.learnt_scheduler import cases, train_linear, train_ppo

    monkeypatch.setattr(cases, "RECIPE", SMALL)
    monkeypatch.setattr(train_ppo, "STEPS_AT_ONCE", 16)
    model = train_ppo.learn(64, seed=1, shown=1)
    train_ppo.export(model, tmp_path / "ppo.npz")
    kernel, env = agents.kernel(tmp_path), cases.training()
    seen, info = env.reset(seed=1)
    given = {name: torch.as_tensor(one[None]) for name, one in seen.items()}
    features = model.policy.extract_features(given)
    theirs = model.policy.mlp_extractor.forward_actor(features).detach().numpy()[0]
    assert kernel.scores(spread(inputs(seen))) == pytest.approx(theirs, abs=1e-4)
    action, _ = model.predict(seen, action_masks=info["action_mask"], deterministic=True)
    assert kernel(seen, info["action_mask"]) == action
    assert train_linear.learn(1, 1, env, holds_back=True).shape == (INPUTS,)
