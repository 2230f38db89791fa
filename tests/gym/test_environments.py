"""The environments: by Gymnasium's own checker, by hand, and against the built-in policies and metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.errors import ConfigError, InputError
from tests.conftest import examples
from tests.schedulers.test_classic import facts
from tests.scheduling.cases import Case, simple_cases

gymnasium = pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install 'scheduler-sim[gym]'")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from scheduler_sim.gym import ENVIRONMENTS  # noqa: E402
from scheduler_sim.gym.environment import Scheduling  # noqa: E402
from scheduler_sim.gym.observation import HORIZONS, LONGEST, QUEUE, TIME  # noqa: E402
from scheduler_sim.gym.rewards import REWARDS, Jobs  # noqa: E402

pytestmark = pytest.mark.interpreted

RECIPE = {"modules": [{"name": "cluster", "nodes": 16, "jobs": 30}]}
NO_KEYS: st.SearchStrategy[dict[str, Any]] = st.just({})
FITS, HARMLESS = QUEUE.index("fits"), QUEUE.index("harmless")


def made(name: str, **given: Any) -> Scheduling:
    env = gymnasium.make(f"scheduler_sim/{name}", **given).unwrapped
    assert isinstance(env, Scheduling)
    return env


def played(env: Scheduling, choose: Any, **options: Any) -> tuple[Result, float, dict[str, Any]]:
    """Play an episode: its schedule, the sum of its rewards, and what was told at its end."""
    seen, info = env.reset(options=options)
    total, over = 0.0, False
    while not over:
        assert env.observation_space.contains(seen)
        seen, reward, over, truncated, info = env.step(choose(seen, info))
        assert not truncated
        total += reward
    assert not any(column.any() for column in seen.values())
    return env.result(), total, info


def of_case(name: str, case: Case, **given: Any) -> Scheduling:
    """An environment of all jobs of a random case, some of which can run."""
    workload = case.workload()
    env = made(name, system=case.machine.system(), workload=workload, jobs=None, **given)
    ran = simulate(case.machine.system(), workload, "fcfs").components["start_time"]
    assume((ran >= 0).any())
    return env


def by_easy(seen: Any, info: Any) -> int:
    """Start the first that does not delay the first in the queue of its module, else end the pass."""
    starts = (seen["queue"][:, FITS] > 0) & (seen["queue"][:, HARMLESS] > 0)
    return int(np.argmax(np.append(starts, True)))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_they_pass_the_checker_of_gymnasium(name: str) -> None:
    check_env(gymnasium.make(name, system=System.homogeneous(16), recipe=RECIPE, jobs=20).unwrapped)


@examples(80)
@given(simple_cases(NO_KEYS))
def test_who_starts_what_is_harmless_makes_the_schedule_of_easy(case: Case) -> None:
    result, _, info = played(of_case("Queue-v0", case, window=16), by_easy)
    assert facts(result) == facts(simulate(case.machine.system(), case.workload(), "easy"))
    assert info["pending"] == result.metrics["counts"]["pending"]


@examples(60)
@given(simple_cases(NO_KEYS), st.sampled_from(["fifo", "sjf"]))
def test_with_reservations_who_takes_jobs_in_an_order_makes_easy_of_it(case: Case, order: str) -> None:
    def first(seen: Any, info: Any) -> int:
        key = seen["queue"][:, QUEUE.index("limit")] if order == "sjf" else np.zeros(16)
        return int(np.argmin(np.where(info["action_mask"] > 0, np.append(key, 2), 3)))

    result, _, info = played(of_case("Queue-v0", case, window=16, reserve=True), first)
    policy = Policy(order=order, backfill="easy")
    assert facts(result) == facts(simulate(case.machine.system(), case.workload(), policy))
    assert info["refused"] == 0


@examples(60)
@given(
    simple_cases(NO_KEYS, dependencies=False),
    st.randoms(use_true_random=False),
    st.sampled_from(["Queue", "Next"]),
)
def test_rewards_add_up_to_the_metrics(case: Case, random: Any, name: str) -> None:
    def any_allowed(seen: Any, info: Any) -> int:
        return random.choice(np.flatnonzero(info["action_mask"]).tolist())

    for reward in REWARDS:
        env = of_case(f"{name}-v0", case, window=5, reward=reward)
        result, total, info = played(env, any_allowed)
        assert info["refused"] == info["pending"] == 0
        metrics = result.metrics
        if reward == "bounded_slowdown":
            assert total == pytest.approx(1 - metrics["bounded_slowdown"]["mean"], abs=1e-5)
        elif reward == "wait":
            assert total == pytest.approx(-metrics["wait_time"]["mean"] / 3600, abs=1e-5)
        elif metrics["utilization"]["total"]:
            assert total == pytest.approx(1 - 1 / metrics["utilization"]["total"], rel=1e-4, abs=1e-4)


@examples(40)
@given(simple_cases(NO_KEYS), st.sampled_from(["fifo", "sjf", "largest", "wfp3", "f1"]))
def test_an_order_that_stays_is_the_built_in_one(case: Case, order: str) -> None:
    env = of_case("Order-v0", case, orders=[order], every=3)
    result, _, _ = played(env, lambda seen, info: 0)
    assert facts(result) == facts(
        simulate(case.machine.system(), case.workload(), Policy(order=order, backfill="easy"))
    )


@examples(40)
@given(simple_cases(NO_KEYS, dependencies=False), st.booleans())
def test_the_first_goes_next(case: Case, backfill: bool) -> None:
    """On one module that is easy, or fcfs without backfill, as long as nobody comes in before who waits.

    One that a dependency has held is before those that were submitted after it.
    """
    assume(len(case.machine.modules) == 1)
    result, _, _ = played(of_case("Next-v0", case, backfill=backfill), lambda seen, info: 0)
    policy = "easy" if backfill else "fcfs"
    assert facts(result) == facts(simulate(case.machine.system(), case.workload(), policy))


JOBS = Workload.from_columns(
    submit_time=[0, 0, 0, 100, 9000], nodes=[3, 4, 1, 1, 4], run_time=[300, 60, 600, 100, 60],
    time_limit=[600, 100, 700, 100, 60],
)  # fmt: skip
"""On four nodes. A starts; B waits for it until 600; C would hold B up, D would not; E comes last."""


def test_what_is_seen_is_as_the_page_says() -> None:
    env = made("Queue-v0", system=System.homogeneous(4), workload=JOBS, jobs=None, window=4)
    seen, info = env.reset()
    assert info["action_mask"].tolist() == [1, 1, 1, 0, 1]
    assert seen["queue"][:, QUEUE.index("nodes")].tolist() == [0.75, 1.0, 0.25, 0.0]
    assert seen["queue"][:, HARMLESS].tolist() == [1, 0, 1, 0]
    seen, *_, info = env.step(0)  # A
    assert seen["free"].tolist() == [0.25]
    assert info["action_mask"].tolist() == [0, 1, 0, 0, 1]
    b, c = seen["queue"][:2]
    scaled = np.log1p([100, 700, 600]) / np.log1p(LONGEST)
    assert b[QUEUE.index("limit")], c[QUEUE.index("limit")] == pytest.approx(scaled[:2])
    assert b[QUEUE.index("earliest")] == pytest.approx(scaled[2])
    assert c[QUEUE.index("earliest")] == 0
    assert (b[FITS], b[HARMLESS], c[FITS], c[HARMLESS]) == (0, 1, 1, 0)
    by = [0.25 if horizon < 600 else 1.0 for horizon in HORIZONS]
    assert seen["running"].tolist() == [by]
    assert seen["time"][TIME.index("started")] == pytest.approx(1 / 5)
    assert seen["time"][TIME.index("waiting")] == pytest.approx(2 / 5)
    seen, reward, *_ = env.step(4)  # until D comes
    assert env.view is not None
    assert env.view.now == 100
    wait = seen["queue"][:, QUEUE.index("wait")]
    assert wait[:3] == pytest.approx([np.log1p(100) / np.log1p(LONGEST)] * 2 + [0])
    assert seen["queue"][2, HARMLESS] == 1
    assert reward == pytest.approx(-(100 / 60 + 100 / 600) / 5)


def test_what_is_not_allowed_is_counted_and_something_else_happens() -> None:
    two = Workload.from_columns(submit_time=[0, 0, 0], nodes=[4, 4, 3], run_time=[60, 60, 60])
    env = made("Queue-v0", system=System.homogeneous(4), workload=two, jobs=None, window=3)
    env.reset()
    assert env.action_masks().tolist() == [True, True, True, False]  # nothing would ever happen again
    *_, info = env.step(3)
    assert info["refused"] == 1
    assert env.simulation.result().components["start_time"].tolist() == [0, -1, -1]
    *_, info = env.step(2)  # at 60; there are two
    assert (info["now"], info["refused"]) == (120, 2)
    env = made("Next-v0", system=System.homogeneous(4), workload=two, jobs=None, window=5)
    env.reset()
    *_, over, _, info = env.step(4)
    assert (info["refused"], over) == (1, False)
    assert info["action_mask"].tolist() == [1, 1, 0, 0, 0]
    *_, over, _, info = env.step(1)
    assert over
    assert env.result().components["start_time"].tolist() == [0, 120, 60]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_eight_run_side_by_side_and_again_the_same() -> None:
    given = {"system": System.homogeneous(16), "recipe": RECIPE, "jobs": None, "window": 8}
    runs = []
    for _ in range(2):
        envs = gymnasium.make_vec("scheduler_sim/Queue-v0", num_envs=8, vectorization_mode="sync", **given)
        seen, info = envs.reset(seed=3)
        told = []
        for _ in range(40):
            assert info["action_mask"].shape == (8, 9)
            actions = np.argmax(info["action_mask"], axis=1)
            seen, rewards, over, _, info = envs.step(actions)
            told.append([*rewards.tolist(), *over.tolist(), *seen["queue"].sum(axis=(1, 2)).tolist()])
        assert envs.observation_space.contains(seen)
        assert len(set(info["seed"].tolist())) == 8
        envs.close()
        runs.append(told)
    assert runs[0] == runs[1]


def test_weights_give_the_key_of_the_order() -> None:
    system, jobs = System.homogeneous(2), Workload.from_columns(
        submit_time=[0, 1, 1], nodes=[2, 2, 1], run_time=[60, 10, 20]
    )  # fmt: skip
    starts = {}
    for name, weights in {"short": [1, 0, 0, 0], "long": [-1, 0, 0, 0], "small": [0, 1, 0, 0]}.items():
        env = made("Weights-v0", system=system, workload=jobs, jobs=None)
        result, _, info = played(env, lambda seen, info, w=weights: np.array(w, dtype=np.float32))
        starts[name] = result.components["start_time"].tolist()
        assert "action_mask" not in info
    assert starts == {"short": [0, 60, 70], "long": [0, 80, 60], "small": [0, 80, 60]}


def test_an_episode_is_a_window_that_its_seed_draws() -> None:
    many = Workload.from_columns(submit_time=range(100), nodes=[1] * 100, run_time=[5] * 100)
    env = made("Queue-v0", system=System.homogeneous(2), workload=many, jobs=10)
    firsts = []
    for options in ({"seed": 1}, {"seed": 1}, {"seed": 2}, {"first": 90}):
        env.reset(options=options)
        submit = env.simulation.workload["submit_time"]
        assert np.array_equal(submit, np.arange(submit[0], submit[0] + 10))
        firsts.append(int(submit[0]))
    assert firsts[0] == firsts[1] != firsts[2]
    assert firsts[3] == 90
    drawn = made("Queue-v0", system=System.homogeneous(16), recipe=RECIPE, jobs=None)
    traces = []
    for seed in (1, 1, 2):
        drawn.reset(seed=seed)
        traces.append(drawn.simulation.workload["submit_time"].tolist())
    assert traces[0] == traces[1] != traces[2]


def test_a_function_is_a_reward() -> None:
    def started(jobs: Jobs, since: int, now: int) -> float:
        assert since <= now
        return float((jobs.start >= 0).sum()) / len(jobs.start)

    env = made("Queue-v0", system=System.homogeneous(4), workload=JOBS, jobs=None, reward=started)
    env.reset()
    assert env.step(0)[1] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("name", "wrong", "told"),
    [
        ("Queue", {}, "found neither of workload and recipe"),
        ("Queue", {"workload": JOBS, "recipe": RECIPE}, "found both of workload and recipe"),
        ("Queue", {"workload": JOBS, "jobs": 0}, "jobs: found 0; allowed: an integer >= 1, or None"),
        ("Queue", {"workload": JOBS, "window": 0}, "window: found 0; allowed: an integer >= 1"),
        (
            "Queue",
            {"workload": JOBS, "reward": "waits"},
            r"reward: found 'waits'; .* \(did you mean 'wait'\?\)",
        ),
        ("Order", {"workload": JOBS, "orders": ["sfj"]}, r"orders: found 'sfj'; .* \(did you mean 'sjf'\?\)"),
        ("Order", {"workload": JOBS, "orders": []}, "orders: found none; allowed: one or more"),
        ("Order", {"workload": JOBS, "every": 0}, "every: found 0; allowed: an integer >= 1"),
    ],
)
def test_what_is_wrong_is_said(name: str, wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        gymnasium.make(f"scheduler_sim/{name}-v0", system=System.homogeneous(4), **wrong)


def test_what_is_wrong_with_an_episode_is_said() -> None:
    env = made("Queue-v0", system=System.homogeneous(4), workload=JOBS, jobs=2)
    with pytest.raises(InputError, match=r"options: found 'frist'.*did you mean 'first'"):
        env.reset(options={"frist": 1})
    with pytest.raises(InputError, match="first: found 4; allowed: an integer from 0 to 3"):
        env.reset(options={"first": 4})
    large = JOBS.replace(nodes=np.full(5, 9))
    env = made("Queue-v0", system=System.homogeneous(4), workload=large, jobs=None)
    with pytest.raises(InputError, match="none of the 5 jobs of this episode can run"):
        env.reset()
    tied = JOBS.replace(dependency_ids=["", "1", "", "", ""], dependency_kinds=["", "AFTER", "", "", ""])
    with pytest.raises(InputError, match="jobs wait for each other; allowed: None"):
        made("Queue-v0", system=System.homogeneous(4), workload=tied, jobs=2)
    with pytest.raises(ConfigError, match="recipe"):
        made("Queue-v0", system=System.homogeneous(4), recipe={"modulez": []})
