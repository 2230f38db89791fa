"""Jobs that write checkpoints: worked examples, what they cost and save, and the closed form of Daly."""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

import numpy as np
import pytest

from scheduler_sim import Result, Simulation, System, Workload, simulate
from scheduler_sim.applications.checkpoint import CheckpointKeys, daly, young
from scheduler_sim.applications.models import Models
from scheduler_sim.errors import ConfigError, InvariantError
from scheduler_sim.result.columns import NODE_FAIL, REQUEUED

pytestmark = pytest.mark.interpreted

RUNS = ["component_id", "start_time", "end_time", "state", "work_s", "checkpoint_s", "restart_s", "lost_s"]
HABIT = {"interval": 100, "cost": 10, "restart": 5}


def models(*habits: dict[str, Any] | None, **more: Any) -> Models:
    """A type for each habit, a, b, ...; without a second the first is that of all jobs."""
    types = [
        {"name": "abc"[i], **({} if one is None else {"checkpoint": one})} for i, one in enumerate(habits)
    ]
    if len(habits) == 1:
        types[0]["percent"] = 100
    return Models.of(applications={"types": types}, **more)


def system(nodes: int = 4, *events: tuple[int, int], **more: Any) -> System:
    """Nodes that are all down from, until."""
    keys = [
        {"time": begin, "state": "DOWN", "nodes": f"0-{nodes - 1}", "end": end, **more}
        for begin, end in events
    ]
    return System.from_dict({"modules": [{"name": "CM", "nodes": nodes}], "events": keys})


def jobs(*runs: int, nodes: int = 4, limit: int = 5000, **columns: Any) -> Workload:
    return Workload.from_columns(
        nodes=[nodes] * len(runs),
        submit_time=[0] * len(runs),
        run_time=list(runs),
        time_limit=[limit] * len(runs),
        **columns,
    )


def listed(result: Result) -> list[list[Any]]:
    result.check()
    return result.runs[RUNS].to_numpy().tolist()


# -- worked examples


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_the_worked_example_of_the_page(policy):
    """1,000 s of work, a checkpoint of 10 s each 100 s: three are complete at 330, and 20 s are lost at 350.

    The next run restarts in 5 s, works for 15 and has written nothing; the third has 700 s to work, with 6
    checkpoints.
    """
    result = simulate(system(4, (350, 400), (420, 500)), jobs(1000), policy, models=models(HABIT))
    assert listed(result) == [
        [1, 0, 350, NODE_FAIL, 1000, 30, 0, 20],
        [1, 400, 420, NODE_FAIL, 700, 0, 5, 15],
        [1, 500, 500 + 5 + 700 + 60, "COMPLETED", 700, 60, 5, 0],
    ]
    assert result.metrics["lost"] == {
        "runs": 2,
        "components": 1,
        "node_seconds": {"CM": 140, "total": 140},
        "repeated_node_seconds": {"CM": 140, "total": 140},
        "share": {"CM": round(35 / 1135, 6), "total": round(35 / 1135, 6)},
        "energy_j": None,
        "checkpoint_node_seconds": {"CM": 360, "total": 360},
        "restart_node_seconds": {"CM": 40, "total": 40},
        "saved_node_seconds": {"CM": 1200, "total": 1200},
        "checkpoint_energy_j": None,
        "restart_energy_j": None,
        "saved_energy_j": None,
    }


def test_under_slurm_it_goes_on_after_the_delay_of_a_requeue():
    result = simulate(system(4, (350, 400)), jobs(1000), "slurm", models=models(HABIT))
    first, last = listed(result)
    assert first == [1, 0, 350, NODE_FAIL, 1000, 30, 0, 20]
    assert last[4:] == [700, 60, 5, 0]
    assert last[2] - last[1] == 765


@pytest.mark.parametrize(("work", "takes"), [(0, 0), (1, 1), (100, 100), (101, 111), (200, 210), (201, 221)])
def test_there_is_no_checkpoint_at_the_end(work, takes):
    result = simulate(system(), jobs(work), "easy", models=models(HABIT))
    assert result.components["run_time"].tolist() == [takes]
    assert [row[5] for row in listed(result)] == ([takes - work] if takes > work else [])


@pytest.mark.parametrize(
    ("hit", "left", "lost"),
    [(99, 1000, 99), (109, 1000, 109), (110, 900, 0), (111, 900, 1), (1089, 100, 99), (1090, None, 0)],
)
def test_a_checkpoint_counts_once_it_is_complete(hit, left, lost):
    """1,000 s of work take 1,090 s; at that instant it ends before its nodes do."""
    result = simulate(system(4, (hit, hit + 50)), jobs(1000), "easy", models=models(HABIT))
    rows = listed(result)
    assert rows[0][7] == lost
    assert [row[4] for row in rows[1:]] == ([] if left is None else [left])


def test_what_hits_it_while_it_restarts_costs_the_time_of_the_restart_alone():
    result = simulate(system(4, (150, 160), (163, 170)), jobs(300), "easy", models=models(HABIT))
    assert listed(result)[1:] == [
        [1, 160, 163, NODE_FAIL, 200, 0, 3, 0],
        [1, 170, 170 + 5 + 200 + 10, "COMPLETED", 200, 10, 5, 0],
    ]


def test_without_a_checkpoint_there_is_nothing_to_restart_from():
    result = simulate(system(4, (50, 60)), jobs(300), "easy", models=models(HABIT))
    assert listed(result)[1] == [1, 60, 60 + 300 + 20, "COMPLETED", 300, 20, 0, 0]


def test_who_writes_none_loses_all():
    both = models(HABIT, None)
    result = simulate(system(4, (250, 260)), jobs(300, 300, nodes=2, app=["a", "b"]), "easy", models=both)
    assert listed(result) == [
        [1, 0, 250, NODE_FAIL, 300, 20, 0, 30],
        [1, 260, 260 + 5 + 100, "COMPLETED", 100, 0, 5, 0],
        [2, 0, 250, NODE_FAIL, -1, 0, 0, 250],
        [2, 260, 560, "COMPLETED", -1, 0, 0, 0],
    ]


def test_those_that_are_not_requeued_have_lost_what_they_did_since_the_last():
    result = simulate(system(4, (350, 400), requeue=False), jobs(1000), "easy", models=models(HABIT))
    assert listed(result) == [[1, 0, 350, NODE_FAIL, 1000, 30, 0, 20]]
    assert result.components["state"].tolist() == ["FAILED"]


# -- limits, operators, preemption


def test_the_limit_is_that_of_each_run_and_checkpoints_count_in_it():
    """At 350 s it is killed; an operator lets it run on, twice."""
    sim = Simulation(system(), jobs(1000, limit=350), "easy", models=models(HABIT))

    def operator():
        for _ in range(2):
            yield sim.ended(1)
            yield sim.env.timeout(10)
            sim.requeue(1)
            yield sim.env.timeout(1)

    sim.process(operator())
    result = sim.run()
    assert listed(result) == [
        [1, 0, 350, REQUEUED, 1000, 30, 0, 20],
        [1, 360, 710, REQUEUED, 700, 30, 5, 15],
        [1, 720, 1070, "TIMEOUT", 400, 30, 5, 0],
    ]
    assert "checkpoints_past_limit" not in result.metrics["counts"]  # by its work alone it takes too long


def test_those_that_end_in_time_but_for_their_checkpoints_are_counted_and_warned_of():
    result = simulate(system(), jobs(1000, 990, 2000, limit=1080), "easy", models=models(HABIT))
    assert result.components["state"].tolist() == ["TIMEOUT", "COMPLETED", "TIMEOUT"]
    assert result.metrics["counts"]["checkpoints_past_limit"] == 1
    assert result.metrics["warnings"] == [
        "1 component takes longer than the time limit because of checkpoints (TIMEOUT)"
    ]


def test_what_has_ended_by_itself_is_done_all_over_again():
    sim = Simulation(system(4, (150, 160)), jobs(300), "easy", models=models(HABIT))

    def operator():
        yield sim.ended(1)
        sim.requeue(1)

    sim.process(operator())
    assert listed(sim.run()) == [
        [1, 0, 150, NODE_FAIL, 300, 10, 0, 40],
        [1, 160, 375, REQUEUED, 200, 10, 5, 200],
        [1, 375, 375 + 300 + 20, "COMPLETED", 300, 20, 0, 0],
    ]


def test_one_that_makes_way_for_others_goes_on_from_its_last_checkpoint():
    site = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 4}],
            "partitions": [
                {"name": "low", "module": "CM", "default": True},
                {"name": "urgent", "module": "CM", "priority": 1},
            ],
        }
    )
    work = Workload.from_columns(
        nodes=[4, 4],
        submit_time=[0, 250],
        run_time=[1000, 50],
        time_limit=[5000, 60],
        partition=["low", "urgent"],
        app=["a", "b"],
    )
    policy = {"backfill": "easy", "preempt": {"by": "partition", "how": "requeue"}}
    result = simulate(site, work, policy, models=models(HABIT, None))
    assert listed(result) == [
        [1, 0, 250, "PREEMPTED", 1000, 20, 0, 30],
        [1, 300, 300 + 5 + 800 + 70, "COMPLETED", 800, 70, 5, 0],
    ]


def test_preemption_under_slurm():
    site = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 4}],
            "partitions": [
                {"name": "low", "module": "CM", "default": True},
                {"name": "urgent", "module": "CM", "priority": 1},
            ],
        }
    )
    work = Workload.from_columns(
        nodes=[4, 4],
        submit_time=[0, 260],
        run_time=[1000, 50],
        time_limit=[5000, 60],
        partition=["low", "urgent"],
        app=["a", "b"],
    )
    policy = {
        "backfill": "slurm",
        "slurm": {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"},
    }
    result = simulate(site, work, policy, models=models(HABIT, None))
    first, last = listed(result)
    assert first[3] == "PREEMPTED"
    written = first[2] // 110
    assert first[4:] == [1000, 10 * written, 0, first[2] - 110 * written]
    left = 1000 - 100 * written
    assert last[4:] == [left, 10 * (left // 100 - 1), 5, 0]
    assert last[2] - last[1] == 5 + left + 10 * (left // 100 - 1)


# -- where it runs next


def test_on_another_module_the_same_share_is_left():
    """On ESB it takes half as long: of 1,000 s 700 are left at 350 s, 350 there; the interval stays."""
    types = [{"name": "a", "percent": 100, "ratios": {"CM": 1, "ESB": 2}, "checkpoint": HABIT}]
    both = Models.of(applications={"reference": "CM", "types": types})
    site = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 4}, {"name": "ESB", "nodes": 4}],
            "events": [{"time": 350, "state": "DOWN", "nodes": "0-3", "module": "CM"}],
        }
    )
    work = Workload.from_columns(
        nodes=[4], submit_time=[0], run_time=[1000], time_limit=[5000], partition=["CM,ESB"]
    )
    result = simulate(site, work, "easy", models=both)
    assert listed(result) == [
        [1, 0, 350, NODE_FAIL, 1000, 30, 0, 20],
        [1, 350, 350 + 5 + 350 + 30, "COMPLETED", 350, 30, 5, 0],
    ]


def test_an_update_of_its_nodes_keeps_what_is_saved():
    sim = Simulation(system(4, (350, 400)), jobs(1000), "easy", models=models(HABIT))

    def operator():
        yield sim.env.timeout(360)
        sim.update(1, nodes=2)

    sim.process(operator())
    result = sim.run()
    assert listed(result)[1] == [1, 400, 400 + 5 + 700 + 60, "COMPLETED", 700, 60, 5, 0]
    assert result.components["nodes"].tolist() == [2]


def test_components_that_start_together_write_none_and_are_counted():
    work = jobs(1000, 1000, nodes=2, modular_job_id=[1, 1])
    result = simulate(system(), work, "easy", models=models(HABIT))
    assert result.components["run_time"].tolist() == [1000, 1000]
    assert result.metrics["counts"]["not_honoured"]["checkpoint"] == 2


def test_what_processes_submit_writes_checkpoints_too():
    sim = Simulation(system(4, (150, 160)), policy="easy", models=models(HABIT))

    def user():
        yield sim.env.timeout(1)
        sim.submit(nodes=4, run_time=300, time_limit=1000)

    sim.process(user())
    assert listed(sim.run()) == [
        [1, 1, 150, NODE_FAIL, 300, 10, 0, 39],
        [1, 160, 375, "COMPLETED", 200, 10, 5, 0],
    ]


def test_joules_of_checkpoints_restarts_and_what_they_save():
    """4 nodes of 100 W each: 400 J a second."""
    watts = {"name": "CM", "idle_w": 10, "typical_w": 100, "peak_w": 500, "reference_khz": 2_000_000}
    clocks = {"lowest_khz": 1_000_000, "highest_khz": 2_000_000}
    drawn = models(HABIT, energy={"power": {"modules": [watts | {"pstates": clocks}]}})
    result = simulate(system(4, (350, 400)), jobs(1000), "easy", models=drawn)
    result.check()
    lost = result.metrics["lost"]
    assert (lost["energy_j"], lost["saved_energy_j"]) == (400 * 20, 400 * 300)
    assert (lost["checkpoint_energy_j"], lost["restart_energy_j"]) == (400 * (30 + 60), 400 * 5)


# -- intervals


def test_the_intervals_of_young_and_daly():
    """C 60 s, M 24 h: √(2·60·86400) = 3220.0; Daly has 3220·(1 + ⅓·0.018634 + ⅑·0.000347) − 60."""
    assert young(60, 86400) == pytest.approx(3219.94, abs=0.01)
    part = 60 / (2 * 86400)
    assert daly(60, 86400) == pytest.approx(3219.938 * (1 + sqrt(part) / 3 + part / 9) - 60, abs=0.01)
    assert daly(100, 50) == 50  # where C ≥ 2M: M
    assert daly(99.999, 50) == pytest.approx(50, rel=0.45)


@pytest.mark.parametrize("cost", [10, 60, 600])
@pytest.mark.parametrize("mtbf", [3600, 36000])
def test_daly_s_interval_is_the_best_of_the_expected_run_times(cost, mtbf):
    """The run time grows as (e^((τ + C)/M) − 1)/τ: with Daly's to 0.1 % of the least, with Young's to 3 %."""
    span = np.arange(1, 10 * mtbf)
    length = (np.exp((span + cost) / mtbf) - 1) / span
    for law, within in ((daly, 0.001), (young, 0.03)):
        chosen = round(law(cost, mtbf))
        assert length[chosen - 1] <= length.min() * (1 + within)


def test_the_interval_follows_from_the_nodes_of_the_job_and_the_failures_of_its_module():
    """8 nodes of 80 h each: one failure in 10 h."""
    site = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 10}],
            "failures": [{"mtbf": "80h", "repair": {"mean": 60}}],
        }
    )
    for law, best in (("young", young), ("daly", daly)):
        sim = Simulation(
            site, jobs(10_000, nodes=8), "easy", models=models({"interval": law, "cost": 60, "restart": 0})
        )
        interval = int(sim._core.checkpoints.habit["interval"][0])
        assert interval == round(best(60, 36000))
    assert CheckpointKeys(cost=60).interval_s(1 / 36000) == round(daly(60, 36000))
    assert CheckpointKeys(cost=60).restart_s == 60
    assert CheckpointKeys(cost=0).interval_s(1 / 36000) == 1


def test_where_no_node_fails_the_best_is_to_write_none():
    site = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 4}],
            "failures": [{"mtbf": "UNLIMITED", "repair": {"mean": 0}}],
        }
    )
    result = simulate(site, jobs(100_000, limit=10**6), "easy", models=models({"cost": 60}))
    assert result.components["run_time"].tolist() == [100_000]
    assert len(result.runs) == 0


# -- mistakes


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({}, r"types\[0\].checkpoint.cost: missing"),
        ({"cost": -1}, r"checkpoint.cost: found -1; allowed: seconds \(an integer >= 0\)"),
        ({"cost": 1, "interval": 0}, r"checkpoint.interval: found 0; allowed: daly, young, seconds"),
        ({"cost": 1, "interval": "dally"}, r"interval: found 'dally'; .*did you mean 'daly'"),
        ({"cost": 1, "restart": "UNLIMITED"}, r"checkpoint.restart: found 'UNLIMITED'"),
    ],
)
def test_mistakes(keys, told):
    with pytest.raises(ConfigError, match=told):
        models(keys)


def test_the_best_interval_needs_failures():
    with pytest.raises(
        ConfigError, match="interval: found 'daly', which depends on the failure rate of nodes, and no"
    ):
        simulate(system(), jobs(1000), "easy", models=models({"cost": 60}))


# -- the laws


def test_each_way_in_which_the_account_of_a_run_may_be_wrong():
    result = simulate(system(4, (350, 400), (420, 500)), jobs(1000), "easy", models=models(HABIT))
    for row, column, change, told in (
        (0, "checkpoint_s", -10, "run 1 of component 1 kept 310 s of 1000 s of work, the next has 700 s"),
        (1, "work_s", 100, "run 1 of component 1 kept 300 s of 1000 s of work, the next has 800 s"),
        (2, "work_s", 1, "run 3 of component 1 is COMPLETED with 700 s of 701 s of work"),
        (2, "restart_s", 1, "run 3 of component 1 is COMPLETED with 699 s of 700 s of work"),
        (1, "restart_s", -6, "run 2 of component 1 spent -1 s on checkpoints and restarts"),
    ):
        wrong = simulate(system(4, (350, 400), (420, 500)), jobs(1000), "easy", models=models(HABIT))
        wrong.runs.loc[row, column] += change
        with pytest.raises(InvariantError, match=f"work-done-once: {told}"):
            wrong.check()
    result.check()


# -- Daly


def expected_run_time(work: int, interval: int, cost: int, restart: int, mtbf: float) -> float:
    """The mean run time of a job whose nodes fail with a rate 1/M and are back at once, s.

    A stretch of work and its checkpoint, s long, takes M·e^(R/M)·(e^(s/M) − 1) with all that is done once
    more (Daly 2006, section 3); the first has nothing to restart from, and the last no checkpoint.
    """
    stretches = -(-work // interval)
    lengths = [interval + cost] * (stretches - 1) + [work - (stretches - 1) * interval]
    return sum(
        mtbf * (exp(restart / mtbf) if i else 1) * (exp(length / mtbf) - 1)
        for i, length in enumerate(lengths)
    )


@pytest.mark.long
@pytest.mark.parametrize("interval", ["daly", 600, 4000])
def test_over_many_seeds_a_job_takes_as_long_as_daly_expects(interval):
    """10 nodes of 10 h, a failure each hour; 20,000 s of work. 600 jobs: 4 seeds, each on 150 modules.

    Within 3 standard errors, which are below 2 %. Failures round up to whole seconds, and so the run time by
    half a second each: less than 0.02 %.
    """
    names = [f"m{i}" for i in range(150)]
    failures = [{"module": name, "mtbf": "10h", "repair": {"mean": 0, "law": "fixed"}} for name in names]
    site = System.from_dict(
        {"modules": [{"name": name, "nodes": 10} for name in names], "failures": failures}
    )
    work = jobs(*[20_000] * len(names), nodes=10, limit=10**8, partition=names)
    habit = {"interval": interval, "cost": 120, "restart": 180}
    results = [simulate(site, work, "fcfs", models=models(habit), seed=seed) for seed in range(4)]
    took = np.concatenate([result.components["end_time"].to_numpy() for result in results])
    seconds = round(daly(120, 3600)) if interval == "daly" else interval
    expected = expected_run_time(20_000, seconds, 120, 180, 3600)
    error = np.std(took, ddof=1) / sqrt(len(took))
    assert error < 0.02 * expected
    assert np.mean(took) == pytest.approx(expected, abs=3 * error)
    results[0].check()
