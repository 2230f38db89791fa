"""Result.check accepts every right schedule and names the law that a wrong one breaks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InvariantError
from scheduler_sim.result.check import INVARIANTS
from scheduler_sim.result.component_laws import _largest_in

from .hand_made import Run, result_of

MODULES = {"CM": 4, "ESB": 8}
FCFS = {"order": "fifo", "backfill": "none", "overrun_s": 0}


def good():
    """CM: 1 runs, 2 (too wide) waits for it, 3 behind 2. ESB: one alone, one rejected, one pending."""
    return result_of(
        [
            Run(0, 0, 10, 2),
            Run(1, 10, 5, 4),
            Run(2, 15, 20, 1, limit=20, state="TIMEOUT"),
            Run(3, 7, 4, 8, "ESB", eligible=5),
            Run(4, None, 0, 9, "ESB", state="REJECTED"),
            Run(4, None, 0, 8, "ESB", eligible=50, state="PENDING"),
        ],
        MODULES,
        FCFS,
    )


def breach(result) -> str:
    with pytest.raises(InvariantError) as caught:
        result.check()
    return str(caught.value)


def set_component(result, row, **values):
    for column, value in values.items():
        array = result.components[column].to_numpy().copy()
        array[row] = value
        result.components[column] = array


def set_text(result, row, column, value):
    words = result.components[column].astype(object).to_numpy().copy()
    words[row] = value
    result.components[column] = words
    result.components[column] = result.components[column].astype("category")


def set_timeline(result, module, at, **values):
    rows = (result.timeline["module"] == module) & (result.timeline["time"] == at)
    assert rows.sum() == 1
    for column, value in values.items():
        array = result.timeline[column].to_numpy().copy()
        array[rows.to_numpy()] = value
        result.timeline[column] = array


def test_a_right_schedule_passes():
    good().check()


def test_an_empty_schedule_passes():
    result_of([], MODULES).check()


def test_zero_length_runs_occupy_nothing():
    result_of([Run(0, 0, 0, 4), Run(0, 0, 10, 4), Run(0, 10, 0, 4)], MODULES, FCFS).check()


def test_nodes_out_of_service_are_counted():
    runs = [Run(0, 0, 10, 2)]
    result_of(runs, MODULES, down={"CM": {0: 2, 5: 0}}).check()
    assert breach(result_of(runs, MODULES, down={"CM": {5: 3}})) == (
        "nodes-in-use: 2 nodes of CM are in use at 5 (components 1), 1 are in service"
    )


def test_overrun_moves_the_limit():
    runs = [Run(0, 0, 13, 2, limit=10, state="TIMEOUT")]
    result_of(runs, MODULES, {"overrun_s": 3}).check()
    assert breach(result_of(runs, MODULES)) == (
        "time-limit: component 1 ran for 13 s, its limit + overrun is 10 s"
    )


def give_power(result):
    """100 W a busy node, 10 W any other: CM 4 nodes, ESB 8."""
    table, timeline, nodes = result.components, result.timeline, {**MODULES, "total": 12}
    ran = table["start_time"].to_numpy() >= 0
    table["power_w"] = np.where(ran, 100.0 * table["nodes"], np.nan)
    table["energy_j"] = table["power_w"] * table["run_time"]
    busy = timeline["nodes_busy"].to_numpy()
    timeline["power_w"] = 90.0 * busy + 10.0 * np.array([nodes[name] for name in timeline["module"]])
    watts = {"idle_w": 10.0, "typical_w": 100.0}
    result.manifest["energy"] = {"modules": {"CM": watts, "ESB": watts}}


def test_a_schedule_with_power_passes():
    result = result_of([Run(0, 0, 10, 2), Run(0, 0, 5, 1, "ESB"), Run(0, 10, 25, 1)], MODULES, FCFS)
    table, timeline = result.components, result.timeline
    assert len(timeline[timeline["time"] == 0]) == 3  # each module has a row at the first submission
    give_power(result)
    result.metrics["energy"] = {
        "job_j": 5000,
        "idle_j": 10 * (12 * 35 - 50),
        "transition_j": 0,
        "off_j": 0,
        "system_j": 8700,
        "modules": {
            "CM": {"job_j": 4500, "idle_j": 950, "transition_j": 0, "off_j": 0, "system_j": 5450},
            "ESB": {"job_j": 500, "idle_j": 2750, "transition_j": 0, "off_j": 0, "system_j": 3250},
        },
    }
    assert table["energy_j"].tolist() == [2000, 500, 2500]
    result.check()


def capped(result, power=(300.0, 290.0), seconds=15, joules=150.0):
    """Cap the power at 0 and at 20; return what the metrics say of energy."""
    result.manifest["energy"]["cap"] = {"time": [0, 20], "power_w": list(power)}
    result.metrics["energy"].update(above_cap_s=seconds, above_cap_j=joules)
    return result.metrics["energy"]


def test_what_runs_may_be_above_a_cap_but_nobody_starts_there():
    fallen = good()
    powered(capped)(fallen)
    fallen.check()
    risen = result_of([Run(0, 0, 10, 1), Run(0, 5, 10, 1)], MODULES, FCFS)
    give_power(risen)
    parts = {"transition_j": 0, "off_j": 0, "job_j": 2000}
    modules = {
        "CM": {**parts, "idle_j": 400, "system_j": 2400},
        "ESB": {**parts, "job_j": 0, "idle_j": 1200, "system_j": 1200},
    }
    risen.metrics["energy"] = {**parts, "idle_j": 1600, "system_j": 3600, "modules": modules}
    risen.check()
    capped(risen, power=(250.0, 250.0), seconds=5, joules=250.0)
    assert breach(risen) == "power-cap: the power rises to 300.0 W at 5, above the cap of 250.0 W"


def powered(break_it):
    """Break a law in a schedule of one component a module that draws power."""

    def change(result):
        other = result_of([Run(0, 0, 35, 1), Run(0, 0, 35, 1, "ESB")], MODULES, FCFS)
        give_power(other)
        parts = {"transition_j": 0, "off_j": 0, "job_j": 3500}
        modules = {
            "CM": {**parts, "idle_j": 1050, "system_j": 4550},
            "ESB": {**parts, "idle_j": 2450, "system_j": 5950},
        }
        total = {**parts, "job_j": 7000, "idle_j": 3500, "system_j": 10500}
        other.metrics["energy"] = {**total, "modules": modules}
        other.check()
        break_it(other)
        vars(result).update(vars(other))

    return change


BREACHES = {
    "component-columns": (
        lambda r: r.components.insert(0, "colour", 1),
        "column colour is unknown",
    ),
    "timeline-columns": (
        lambda r: r.timeline.__setitem__("nodes_down", r.timeline["nodes_down"].astype(float)),
        "column nodes_down is float64 instead of int64",
    ),
    "power-is-known": (
        powered(lambda r: set_timeline(r, "ESB", 0, power_w=float("inf"))),
        "power_w is inf in row",
    ),
    "known-states": (lambda r: set_text(r, 0, "state", "LOST"), "component 1 is 'LOST', which is no state"),
    "started-or-not": (
        lambda r: set_text(r, 3, "state", "PENDING"),
        "component 4 is PENDING and its start_time is 7",
    ),
    "never-started": (
        lambda r: set_component(r, 5, wait_priority=3),
        "component 6 never started and its wait_priority is 3, not −1",
    ),
    "time-order": (
        lambda r: set_component(r, 1, start_time=0, eligible_time=0),
        "component 2 is eligible at 0, before it is submitted at 1",
    ),
    "run-time": (
        lambda r: set_component(r, 1, run_time=6),
        "component 2 has run_time 6, end − start is 5",
    ),
    "time-limit": (
        lambda r: set_component(r, 2, time_limit=21),
        "component 3 is TIMEOUT after 20 s, its limit + overrun is 21 s",
    ),
    "wait-dependency": (
        lambda r: set_component(r, 3, wait_dependency=1, wait_resources=3),
        "component 4 has wait_dependency 1, eligible − submit is 2",
    ),
    "waits-sum": (
        lambda r: set_component(r, 1, wait_priority=1),
        "component 2 has waits that sum to 10, start − submit is 9",
    ),
    "known-modules": (
        lambda r: set_component(r, 1, nodes=5),
        "component 2 ran on 5 nodes of 'CM', which has 4",
    ),
    "timeline-modules": (
        lambda r: setattr(
            r,
            "timeline",
            r.timeline.assign(module=r.timeline["module"].cat.rename_categories({"ESB": "DAM"})),
        ),
        "the timeline names 'DAM', which is no module",
    ),
    "timeline-order": (
        lambda r: setattr(r, "timeline", r.timeline.iloc[::-1]),
        "CM has a row at 15 after its row at 35",
    ),
    "nodes-in-use": (
        lambda r: set_component(r, 1, start_time=9, end_time=14, wait_resources=8),
        "6 nodes of CM are in use at 9 (components 1, 2), 4 are in service",
    ),
    "timeline-capacity": (
        lambda r: set_timeline(r, "CM", 10, nodes_reserved_idle=1),
        "5 nodes of CM are busy, reserved or down at 10, it has 4",
    ),
    "timeline-changes": (
        lambda r: set_timeline(r, "CM", 2, queue_components=1, queue_nodes=4),
        "CM has the same values at 1 and at 2",
    ),
    "timeline-total": (
        lambda r: set_timeline(r, "total", 7, nodes_busy=9),
        "nodes_busy of the modules sum to 10 at 7, the total has 9",
    ),
    "node-seconds": (
        lambda r: set_component(r, 2, run_time=19, end_time=34, time_limit=19),
        "components ran for 59 node-seconds on CM, the timeline has 60",
    ),
    "nodes-busy": (
        lambda r: set_component(r, 2, start_time=16, end_time=36, wait_resources=14),
        "components use 0 nodes of CM at 15, the timeline has 1 busy",
    ),
    "queue": (
        lambda r: set_component(r, 1, eligible_time=2, wait_dependency=1, wait_resources=8),
        "queue_components of CM is 0 by the components at 1, the timeline has 1",
    ),
    "component-energy": (
        powered(lambda r: set_component(r, 0, energy_j=3500.001)),
        "component 1 took 3500.001 J, which is not 100.0 W for 35 s",
    ),
    "power-over-time": (
        powered(lambda r: set_timeline(r, "ESB", 0, power_w=170.001)),
        "ESB draws 170.0 W by the components and the idle nodes at 0, the timeline has 170.001 W",
    ),
    "energy-parts": (
        powered(lambda r: r.metrics["energy"]["modules"]["CM"].update(idle_j=1050.001)),
        "idle_j of CM is 1050.0 by the tables, the metrics say 1050.001",
    ),
    "power-cap": (
        powered(lambda r: capped(r).update(above_cap_s=14)),
        "15 s and 150.0 J are above the power cap, the metrics say 14 s and 150.0 J",
    ),
    "metrics-agree": (
        lambda r: r.metrics.__setitem__("makespan", 34),
        "makespan is 35 by the components, the metrics say 34",
    ),
}


@pytest.mark.parametrize("name", BREACHES)
def test_a_broken_law_is_named(name):
    break_it, words = BREACHES[name]
    result = good()
    break_it(result)
    text = breach(result)
    assert text.startswith(f"{name}: ")
    assert words in text


OF_SHARING = ("node-lists", "parts-of-nodes", "devices", "parts-busy")
OF_TURNS = ("turns",)  # see slurm/test_turns
OF_LIMITS = ("limits",)  # see test_limit_laws
OF_RESERVATIONS = ("reservations",)  # see test_reservation_laws
OF_SUSPENSION = ("suspensions",)  # see test_suspensions
OF_SLOWING = ("slowings",)  # see test_slowing
OF_RUNS = ("run-columns", "runs", "work-done-once", "lost-work")  # see test_run_laws, test_checkpoints


def test_every_law_has_a_breach_and_a_promise():
    others = {
        "queue-order",
        *OF_SHARING,
        *OF_LIMITS,
        *OF_RESERVATIONS,
        *OF_SUSPENSION,
        *OF_TURNS,
        *OF_SLOWING,
        *OF_RUNS,
    }
    assert {*BREACHES} | others == set(INVARIANTS)
    assert all(law.__doc__ for law in INVARIANTS.values())


def test_passing_a_blocked_component_breaks_queue_order():
    runs = [Run(0, 0, 10, 3), Run(1, 10, 5, 4), Run(2, 3, 5, 1)]
    result_of(runs, MODULES, {"order": "fifo", "backfill": "easy"}).check()
    result_of(runs, MODULES, {"order": "sjf", "backfill": "none"}).check()
    assert breach(result_of(runs, MODULES, FCFS)) == (
        "queue-order: component 3 starts on CM at 3 though component 2, ahead of it in the queue,"
        " waits there from 1 to 10"
    )


def test_queue_order_is_by_module_and_by_eligibility():
    result_of([Run(0, 0, 10, 3), Run(1, 10, 5, 4), Run(2, 2, 5, 1, "ESB")], MODULES, FCFS).check()
    result_of([Run(0, 0, 10, 3), Run(1, 12, 5, 4, eligible=11), Run(2, 2, 10, 1)], MODULES, FCFS).check()
    # made eligible in a repeat of the instant at which another one started
    result_of([Run(0, 0, 10, 3), Run(1, 12, 5, 4, eligible=2), Run(2, 2, 10, 1)], MODULES, FCFS).check()


def test_one_that_waits_for_ever_may_not_be_passed():
    runs = [Run(0, None, 0, 4, state="PENDING"), Run(1, 1, 5, 1)]
    assert "waits there from 0 to the end" in breach(result_of(runs, MODULES, FCFS))


@given(st.lists(st.integers(0, 99), min_size=1, max_size=40), st.data())
def test_largest_in_is_the_plain_maximum(values, data):
    pairs = data.draw(st.lists(st.tuples(st.integers(0, len(values)), st.integers(0, len(values)))))
    pairs = [tuple(sorted(pair)) for pair in pairs]
    low, high = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
    plain = [max(values[a:b], default=-1) for a, b in pairs]
    assert _largest_in(np.array(values), low, high).tolist() == plain


@st.composite
def fcfs_schedules(draw):
    """Schedule random components first come, first served, counting nodes second by second."""
    runs = [
        Run(
            submit=draw(st.integers(0, 12)),
            start=0,
            run=draw(st.integers(0, 8)),
            nodes=draw(st.integers(1, 4)),
            module=draw(st.sampled_from(["CM", "ESB"])),
        )
        for _ in range(draw(st.integers(0, 12)))
    ]
    runs.sort(key=lambda run: run.submit)
    latest = {"CM": 0, "ESB": 0}
    for i, run in enumerate(runs):
        start = max(run.submit, latest[run.module])
        while any(
            sum(r.nodes for r in runs[:i] if r.module == run.module and r.start <= time < r.end)
            > MODULES[run.module] - run.nodes
            for time in range(start, start + max(run.run, 1))
        ):
            start += 1
        run.start = latest[run.module] = start
    return runs


@given(fcfs_schedules(), st.data())
def test_check_accepts_what_a_plain_scheduler_does_and_no_early_start(runs, data):
    result_of(runs, MODULES, FCFS).check()
    waited = [i for i, run in enumerate(runs) if run.start > run.submit and run.run > 0]
    if waited:
        early = data.draw(st.sampled_from(waited))
        runs[early].start -= 1
        assert breach(result_of(runs, MODULES, FCFS)).split(":")[0] in ("nodes-in-use", "queue-order")
