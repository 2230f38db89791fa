"""A power cap: by hand, and that no instant of any timeline is above it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.applications.models import Models
from scheduler_sim.errors import ConfigError, InputError, InvariantError, TraceError
from tests.conftest import examples

from .acting import at, fates, simulation, trace

pytestmark = pytest.mark.interpreted


def node(name: str = "cluster", idle: float = 100, typical: float = 200) -> dict:
    """1, 1.5 and 2 GHz: 1/4, 9/16 and all of the power above idle, and 2, 4/3 and 1 of the time."""
    return {
        "name": name, "idle_w": idle, "typical_w": typical, "peak_w": 1000, "reference_khz": 2_000_000,
        "pstates_khz": [1_000_000, 1_500_000, 2_000_000],
    }  # fmt: skip


def models(power_w: object, *nodes: dict, choice: dict | None = None, **cap: object) -> dict:
    keys = {"power": {"modules": list(nodes or [node()])}, "cap": {"power_w": power_w, **cap}}
    return {"energy": {**keys, **({"choice": choice} if choice else {})}}


def series(*steps: tuple[int, float]) -> dict:
    return {"time": [time for time, _ in steps], "value": [watts for _, watts in steps]}


def starts(result) -> list[int]:
    result.check()
    return result.components["start_time"].tolist()


def highest(result) -> float:
    return float(result.timeline.loc[result.timeline["module"] == "total", "power_w"].max())


THREE = (0, 1, 10), (0, 2, 10), (0, 1, 10)
"""Four idle nodes draw 400 W, and each that is busy 100 W more."""


@pytest.mark.parametrize(
    ("policy", "expected"), [("fcfs", [0, 10, 20]), ("easy", [0, 10, 0]), ("conservative", [0, 10, 0])]
)
def test_components_wait_for_power(policy, expected):
    result = simulate(System.homogeneous(4), trace(*THREE), policy, models=models(600))
    assert starts(result) == expected
    assert highest(result) == 600
    assert result.metrics["energy"]["above_cap_s"] == 0
    waits = result.components["wait_resources"].tolist()
    assert waits == ([0, 10, 0] if policy != "fcfs" else [0, 10, 10])


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_without_a_cap_that_matters_schedules_are_the_same(policy):
    jobs = trace(*((i % 7, 1 + i % 3, 5 + i % 11, 20) for i in range(60)))
    plain = simulate(System.homogeneous(4), jobs, policy)
    capped = simulate(System.homogeneous(4), jobs, policy, models=models(800))
    names = ["start_time", "end_time", "wait_resources", "wait_priority"]
    assert capped.components[names].equals(plain.components[names])


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_plans_see_a_fall_and_a_rise_that_are_known(policy):
    """Until 20 two nodes may be busy, then none, from 40 on all: 25 s of two nodes must wait for 40."""
    keys = models(series((0, 600), (20, 450), (40, 800)))
    jobs = trace((0, 1, 10, 15), (0, 2, 10, 25), (0, 1, 10, 10), (1, 1, 30, 30))
    result = simulate(System.homogeneous(4), jobs, policy, models=keys)
    assert starts(result) == [0, 40, 40 if policy == "fcfs" else 0, 40]
    assert result.metrics["energy"]["above_cap_s"] == 0


def test_easy_does_not_let_candidates_run_into_the_power_of_the_front():
    """From 10 to 30 one node may be busy: the front must wait for 30, and 35 s would stand in its way."""
    keys = models(series((0, 600), (10, 500), (30, 600)))
    jobs = trace((0, 2, 20), (0, 1, 35), (0, 1, 25))
    result = simulate(System.homogeneous(4), jobs, "easy", models=keys)
    assert starts(result) == [30, 50, 0]
    assert result.metrics["energy"]["above_cap_s"] == 0


@pytest.mark.parametrize(
    ("cap", "expected"),
    [
        # beside the first one 100 W are left: two nodes at 1 GHz take 50, the last one at 1 GHz 25
        ({"pstates": 3}, [(0, 2_000_000, 10), (0, 1_000_000, 20), (0, 1_000_000, 20)]),
        # of two lower ones the lowest alone
        ({"pstates": 2}, [(0, 2_000_000, 10), (0, 1_000_000, 20), (0, 1_000_000, 20)]),
        # 1.5 GHz would be 112.5 W for two
        ({"pstates": 3, "slowdown": 0.5}, [(0, 2_000_000, 10), (10, 2_000_000, 10), (0, 2_000_000, 10)]),
    ],
)
def test_components_start_at_lower_clocks(cap, expected):
    result = simulate(System.homogeneous(4), trace(*THREE), models=models(600, **cap))
    starts(result)
    columns = result.components[["start_time", "frequency_khz", "run_time"]]
    assert list(columns.itertuples(index=False, name=None)) == expected
    assert highest(result) <= 600


def test_to_wait_may_be_sooner():
    """At once at 1 GHz, or after the other at 2 GHz: as the strategy says."""
    keys = models(175, node(idle=50, typical=100), pstates=3)
    policy = Policy(name="ends", backfill="easy", placement="earliest_end")
    jobs = trace((0, 1, 4), (0, 1, 30))  # at 0 1 GHz would do, until 60; from 4 on 2 GHz, until 34
    result = simulate(System.homogeneous(2), jobs, policy, models=keys)
    assert starts(result) == [0, 4]
    at_once = simulate(System.homogeneous(2), jobs, models=keys)
    assert starts(at_once) == [0, 0]
    assert at_once.components["end_time"].tolist() == [4, 60]


def test_bounds_of_choice_hold_under_a_cap():
    choice = {"objective": "min_time", "slowdown": 0.5}
    result = simulate(System.homogeneous(4), trace(*THREE), models=models(600, choice=choice, pstates=3))
    assert starts(result) == [0, 10, 0]
    assert set(result.components["run_time"]) == {10}


def test_what_never_fits_is_rejected():
    result = simulate(System.homogeneous(4), trace((0, 3, 10), (0, 2, 10)), models=models(600))
    assert starts(result) == [-1, 0]
    assert result.components["state"].tolist() == ["REJECTED", "COMPLETED"]
    assert result.metrics["counts"]["rejected_because"] == {"power_cap": 1}


def test_what_fits_at_no_later_instant_waits_for_ever():
    keys = models(series((0, 700), (5, 600)))
    result = simulate(System.homogeneous(4), trace((0, 2, 10), (0, 3, 10)), models=keys)
    assert result.components["state"].tolist() == ["COMPLETED", "PENDING"]


def test_modules_share_the_cap():
    system = System.from_dict({"modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 2}]})
    keys = models(500, node("A", 100, 200), node("B", 50, 200))  # 300 W idle, + 100 or 150 a node
    jobs = trace((0, 1, 10), (0, 1, 10), (0, 1, 10), partition=["A", "B", "A"])
    result = simulate(system, jobs, models=keys)
    assert starts(result) == [0, 10, 0]


def test_a_heterogeneous_job_needs_its_power_at_once():
    system = System.from_dict({"modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 2}]})
    keys = models(500, node("A", 100, 200), node("B", 50, 150))  # 300 W idle
    jobs = trace(
        (0, 1, 10), (1, 1, 10), (1, 1, 10), (2, 1, 8),
        partition=["A", "A", "B", "B"], modular_job_id=[1, 2, 2, 3], component_id=[1, 2, 3, 4],
    )  # fmt: skip
    result = simulate(system, jobs, models=keys)
    assert starts(result) == [0, 10, 10, 2]


def test_a_process_lowers_the_cap():
    """What runs goes on, nothing starts, and what is above is reported: 100 W for 8 s."""
    sim = simulation(4, (0, 2, 10, 12), (1, 1, 5), models=models(600))
    at(sim, 2, lambda: sim.set_cap(500))
    at(sim, 30, lambda: sim.set_cap(600))
    assert fates(sim.run()) == {1: (0, 10, "COMPLETED"), 2: (10, 15, "COMPLETED")}
    energy = sim.result().metrics["energy"]
    assert (energy["above_cap_s"], energy["above_cap_j"]) == (8, 800)


def test_who_waits_for_a_cap_to_rise_is_waited_for():
    sim = simulation(4, (0, 2, 10), models=models(600))
    at(sim, 0, lambda: sim.set_cap(450))
    at(sim, 500, lambda: sim.set_cap(600), awaited=False)
    assert fates(sim.run()) == {1: (500, 510, "COMPLETED")}


def test_what_overruns_into_a_fall_is_reported():
    keys = models(series((0, 600), (12, 450)))
    policy = Policy(name="late", backfill="easy", overrun_s=100)
    result = simulate(System.homogeneous(4), trace((0, 2, 15, 10)), policy, models=keys)
    assert starts(result) == [0]
    energy = result.metrics["energy"]
    assert (energy["above_cap_s"], energy["above_cap_j"]) == (3, 450)
    result.metrics["energy"]["above_cap_s"] = 0
    with pytest.raises(InvariantError, match="power-cap"):
        result.check()


def test_a_run_that_is_lost_to_a_requeue_drew_what_it_asked_for():
    """Both draw 150 W, where 200 are typical; four idle nodes draw 400, and 100 more are allowed."""
    jobs = trace((0, 1, 10), (0, 1, 10), reference_power_w=[150, 150])
    sim = Simulation(System.homogeneous(4), jobs, "easy", models=models(500))
    at(sim, 4, lambda: sim.requeue(1))
    result = sim.run()
    assert starts(result) == [4, 0]
    assert highest(result) == 500
    assert result.metrics["energy"]["above_cap_s"] == 0


def test_what_processes_submit_asks_for_power():
    sim = Simulation(System.homogeneous(4), None, "easy", models=models(600, pstates=2))
    at(sim, 1, lambda: [sim.submit(nodes=n, run_time=10) for n in (1, 2, 1, 3)])
    result = sim.run()
    assert starts(result) == [1, 1, 1, 21]  # three nodes at 2 GHz are never possible, at 1 GHz they are
    assert result.components["frequency_khz"].tolist()[:3] == [2_000_000, 1_000_000, 1_000_000]


def test_a_cap_may_come_from_a_file(tmp_path):
    (tmp_path / "cap.csv").write_text("time,value\n0,600\n20,500\n")
    keys = models("cap.csv")
    given_models = Models.of(folder=tmp_path, **keys)
    result = simulate(System.homogeneous(4), trace((0, 2, 10), (0, 2, 15)), models=given_models)
    assert starts(result) == [0, -1]
    again = simulate(System.homogeneous(4), trace((0, 2, 10), (0, 2, 15)), models=result.manifest["models"])
    assert again.components.equals(result.components)


@pytest.mark.parametrize(
    ("power_w", "error", "words"),
    [
        (-5, ConfigError, "energy.cap.power_w: found -5"),
        (400, ConfigError, "energy.cap.power_w: found at most 400 W; allowed: above 400 W"),
        (series((0, 500), (9, -1)), InputError, "energy.cap.power_w: found -1 W"),
        (1e300, InputError, "energy.cap.power_w: found 1e+300 W; allowed: numbers from 0 to 1e+12"),
        ({"time": 5, "value": 500}, ConfigError, "energy.cap.power_w: found a mapping"),
        (series((0, 500), (10**30, 600)), TraceError, "not a time"),
        (series((5, 500), (9, 600)), InputError, "begins too late, at 5 s; allowed: by 0 s"),
        (series((0, 500), (0, 600)), TraceError, "not later than the row before"),
        ("no.csv", TraceError, "no such file"),
    ],
)
def test_bad_caps(power_w, error, words):
    with pytest.raises(error) as caught:
        simulate(System.homogeneous(4), trace((0, 1, 1)), models=models(power_w))
    assert words in str(caught.value)


@pytest.mark.parametrize(("limit", "seconds"), [(3, 4), (4, 5), (60, 14)])
def test_the_bound_of_a_cap_holds_for_who_is_killed(limit, seconds):
    """Power for 1.5 GHz, at which 10 s take 14 s, and 4 s until a kill no 6 s: that were 50 % more."""
    jobs = trace((0, 3, 5), (0, 1, 10, limit))
    result = simulate(System.homogeneous(4), jobs, models=models(760, pstates=3, slowdown=0.4))
    result.check()
    slowed = result.components.iloc[1]
    assert (slowed["frequency_khz"], slowed["run_time"]) == (1_500_000, seconds)
    assert slowed["state"] == ("TIMEOUT" if limit < 10 else "COMPLETED")


def test_who_does_not_know_of_caps_says_so():
    with pytest.raises(ConfigError, match="pstates: found 3 under policy slurm"):
        Simulation(System.homogeneous(4), trace((0, 1, 1)), "slurm", models=models(600, pstates=3))
    with pytest.raises(InputError, match="found no energy"):
        simulation(4, (0, 1, 1)).set_cap(100)
    changing = simulation(4, (0, 1, 1), models=models(series((0, 600), (9, 500))))
    with pytest.raises(ConfigError, match="series"):
        changing.set_cap(100)
    with pytest.raises(InputError, match="found nan"):
        simulation(4, (0, 1, 1), models=models(600)).set_cap(float("nan"))
    with pytest.raises(InputError, match=r"found 1e\+300; allowed: a number from 0 to 1e\+12"):
        simulation(4, (0, 1, 1), models=models(600)).set_cap(1e300)
    with pytest.raises(ConfigError, match=r"energy.cap.pstates: found 0"):
        Models.of(**models(600, pstates=0))


NODES = [node("A", 100, 200), node("B", 40, 230)]
SYSTEM = System.from_dict({"modules": [{"name": "A", "nodes": 4}, {"name": "B", "nodes": 3}]})
IDLE = 4 * 100 + 3 * 40
JOBS = st.lists(
    st.tuples(*(st.integers(*ends) for ends in ((0, 40), (1, 3), (0, 30), (1, 40), (0, 3), (0, 9)))),
    min_size=1,
    max_size=14,
)
STEPS = st.lists(st.tuples(st.integers(1, 90), st.integers(0, 800)), max_size=5)
SCHEMES = st.fixed_dictionaries(
    {
        "backfill": st.sampled_from(["none", "first_fit", "easy", "conservative"]),
        "placement": st.sampled_from(["preferred", "first_available", "earliest_start", "earliest_end"]),
        "order": st.sampled_from(["fifo", "sjf", "wfp3"]),
        "replan": st.sampled_from(["scratch", "keep"]),
    }
)


def as_policy(scheme) -> Policy:
    replan = scheme["replan"] if scheme["backfill"] == "conservative" else "scratch"
    return Policy(name="any", **{**scheme, "replan": replan})


def as_trace(jobs, *, units: bool) -> Workload:
    jobs.sort(key=lambda job: job[0])
    submit, nodes, run, limit, kind, unit = (list(column) for column in zip(*jobs, strict=True))
    together = {}
    if units:  # two in a row may be one job, submitted with the first
        leader = [i - 1 if i % 2 and unit[i] < 4 else i for i in range(len(jobs))]
        submit = [submit[i] for i in leader]
        together = {"modular_job_id": [i + 1 for i in leader]}
    return Workload.from_columns(
        submit_time=submit, nodes=nodes, run_time=run, time_limit=limit, component_id=range(1, len(jobs) + 1),
        partition=[("A", "B,A", "A,B", "B")[one] for one in kind], **together,
    )  # fmt: skip


@examples(100)
@given(
    jobs=JOBS,
    first=st.integers(1, 800),
    later=STEPS,
    scheme=SCHEMES,
    pstates=st.integers(1, 3),
    units=st.booleans(),
)
def test_never_above_the_cap(jobs, first, later, scheme, pstates, units):
    """Also where it falls, as plans know of that; what falls below idle power alone cannot be obeyed.

    At last there is enough for the widest job, so that nobody waits for ever.
    """
    caps = {0: first} | ({**dict(later), 95: 900} if later else {})
    keys = models(series(*((t, IDLE + caps[t]) for t in sorted(caps))), *NODES, pstates=pstates)
    result = simulate(SYSTEM, as_trace(jobs, units=units), as_policy(scheme), models=keys)
    result.check()
    total = result.timeline[result.timeline["module"] == "total"]
    steps = np.array(sorted(caps))
    times = np.union1d(total["time"], steps[1:])
    place = np.maximum(np.searchsorted(total["time"], times, side="right") - 1, 0)
    drawn = total["power_w"].to_numpy()[place]
    allowed = IDLE + np.array([caps[t] for t in steps])[np.searchsorted(steps, times, side="right") - 1]
    assert (drawn <= allowed + 1e-6).all()
    assert result.metrics["energy"].get("above_cap_s", 0) == 0
    assert not (result.components["state"] == "PENDING").any()
