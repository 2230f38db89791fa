"""Energy of a schedule: by hand, exactly additive on random schedules, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.energy.accounting import STATES, TIMELINE_COLUMNS, account, component_energy
from scheduler_sim.energy.profile import Watts
from scheduler_sim.errors import InputError, InvariantError
from tests.conftest import examples

WATTS = {"CM": Watts(100, 10, 125, 110), "ESB": Watts(50, 5, 60, 55)}

# CM, 4 nodes: 2 busy from 0 to 10, 1 from 5 to 20; 2 are switched off at 10, in 2 s. ESB, 3 nodes.
COMPONENTS = pd.DataFrame({
    "module": ["CM", "CM", "ESB"], "nodes": [2, 1, 3], "start": [0, 5, 2], "end": [10, 20, 9],
    "power_w": [700.0, 300.0, 910.0],
})  # fmt: skip
TIMELINE = pd.DataFrame(
    [
        (0, "CM", 2, 2, 0, 0, 0),
        (5, "CM", 3, 1, 0, 0, 0),
        (10, "CM", 1, 1, 0, 0, 2),
        (12, "CM", 1, 1, 2, 0, 0),
        (20, "CM", 0, 2, 1, 1, 0),
        (0, "ESB", 0, 3, 0, 0, 0),
        (2, "ESB", 3, 0, 0, 0, 0),
        (9, "ESB", 0, 3, 0, 0, 0),
    ],
    columns=TIMELINE_COLUMNS,
)


def test_by_hand():
    made = account(COMPONENTS, TIMELINE, WATTS, end=30)
    cm = 100 * (2 * 5 + 1 * 15 + 2 * 10)
    table = made.energy.set_index("module")
    assert table[["job_j", "idle_j", "transition_j", "off_j", "system_j"]].to_dict("index") == {
        "CM": parts(700 * 10 + 300 * 15, cm, 2 * 2 * 110 + 10 * 125, 2 * 8 * 10 + 1 * 10 * 10),
        "ESB": parts(910 * 7, 50 * 3 * (2 + 21), 0, 0),
        "total": parts(17870, cm + 3450, 1690, 260),
    }  # fmt: skip
    peaks = made.energy.set_index("module")["peak_w"].to_dict()
    assert peaks == {"CM": 700 + 300 + 100, "ESB": 910, "total": 1100 + 910}
    assert made.energy["mean_w"].iloc[0] == (11500 + cm + 1690 + 260) / 30
    times, watts = made.steps("ESB")
    assert times.tolist() == [0, 2, 9, 30]
    assert watts.tolist() == [150, 910, 150]
    times, watts = made.steps()
    assert times.tolist() == [0, 2, 5, 9, 10, 12, 20, 30]
    assert watts.tolist() == [1050, 1810, 2010, 1250, 770, 570, 485]


def parts(job, idle, transition, off):
    return {
        "job_j": job, "idle_j": idle, "transition_j": transition, "off_j": off,
        "system_j": job + idle + transition + off,
    }  # fmt: skip


def test_time_and_energy_above_a_cap():
    made = account(COMPONENTS, TIMELINE, WATTS, end=30)
    assert made.above(1250) == (3 + 4, 3 * 560 + 4 * 760)
    assert made.above(2010) == (0, 0)
    assert made.above(900, "ESB") == (7, 70)


def test_a_peak_of_no_duration_is_none():
    """Two components, one after the other on the same node: never both."""
    components = pd.DataFrame(
        {"module": "CM", "nodes": 1, "start": [0, 10], "end": [10, 20], "power_w": [300.0, 200.0]}
    )
    timeline = pd.DataFrame([(0, "CM", 1, 0, 0, 0, 0), (20, "CM", 0, 1, 0, 0, 0)], columns=TIMELINE_COLUMNS)
    made = account(components, timeline, WATTS)
    assert made.energy["peak_w"].tolist() == [300, 300]
    assert made.energy["system_j"].tolist() == [5000, 5000]


def test_what_begins_at_the_end_is_no_peak():
    timeline = pd.DataFrame([(0, "CM", 0, 1, 0, 0, 0), (20, "CM", 0, 9, 0, 0, 0)], columns=TIMELINE_COLUMNS)
    made = account(COMPONENTS.iloc[:0], timeline, WATTS)
    assert made.energy["peak_w"].tolist() == [100, 100]
    assert made.energy["system_j"].tolist() == [2000, 2000]


def test_components_sum_to_the_jobs_energy_and_have_an_energy_delay_product():
    table = pd.concat(
        [COMPONENTS, pd.DataFrame({"module": ["CM"], "nodes": [1], "start": [-1], "end": [-1]})]
    )
    made = component_energy(table)
    assert made["energy_j"].tolist()[:3] == [7000, 4500, 6370]
    assert made["edp_js"].tolist()[:3] == [70_000, 67_500, 44_590]
    assert made.iloc[3].isna().all(), "never ran"


@st.composite
def schedules(draw):
    """Nodes of two modules that run, idle, are off, boot and stop at random; and what runs on them."""
    components, rows = [], []
    for module in ("CM", "ESB"):
        nodes = draw(st.integers(1, 4))
        length = draw(st.integers(1, 12))
        states = np.array(
            [draw(st.lists(st.integers(0, 4), min_size=length, max_size=length)) for _ in range(nodes)]
        )
        for t in range(length):
            rows.append((t, module, *(int((states[:, t] == kind).sum()) for kind in range(5))))
        for node in range(nodes):
            busy = np.flatnonzero(states[node] == 0)
            for t in busy:  # one component a second of a node
                power = draw(st.floats(0, 1e6, allow_nan=False))
                components.append((module, 1, int(t), int(t) + 1, power))
    made = pd.DataFrame(components, columns=["module", "nodes", "start", "end", "power_w"])
    draws = [st.floats(0, 2000)] * 2 + [
        st.integers(0, 2_000_000).map(lambda milliwatts: milliwatts / 1000)
    ] * 2
    watts = {name: Watts(*map(draw, draws)) for name in ("CM", "ESB")}  # switching: in whole mW, as over time
    last = max(row[0] for row in rows) + 1
    for module in ("CM", "ESB"):  # nodes rest after their part of the timeline
        own = [row for row in rows if row[1] == module]
        if own[-1][0] + 1 < last and own[-1][2]:
            rows.append((own[-1][0] + 1, module, 0, own[-1][2], *own[-1][4:]))
    return made, pd.DataFrame(rows, columns=TIMELINE_COLUMNS), watts, last


@given(schedules())
@examples(60)
def test_the_parts_are_the_whole_exactly(schedule):
    components, timeline, watts, end = schedule
    made = account(components, timeline, watts, end=end)
    assert made.millijoules.dtype == np.int64
    assert (made.millijoules[:, :4].sum(axis=1) == made.millijoules[:, 4]).all()
    assert (made.millijoules[:-1].sum(axis=0) == made.millijoules[-1]).all()
    for place, name in enumerate(made.energy["module"]):
        edges, power = made.steps(name)
        milliwatts = np.rint(power * 1000).astype(np.int64)
        assert int((milliwatts * np.diff(edges)).sum()) == made.millijoules[place, 4], (
            "the power over time agrees"
        )
    joules = component_energy(components)["energy_j"].to_numpy()
    assert np.rint(joules * 1000).astype(np.int64).sum() == made.millijoules[-1, 0]


def test_the_order_of_components_does_not_matter():
    components = pd.DataFrame({
        "module": "CM", "nodes": 1, "start": range(100), "end": range(1, 101),
        "power_w": 0.1 * np.arange(100) + 1e5 * (np.arange(100) % 7),
    })  # fmt: skip
    timeline = pd.DataFrame([(0, "CM", 1, 0, 0, 0, 0), (100, "CM", 0, 1, 0, 0, 0)], columns=TIMELINE_COLUMNS)
    once = account(components, timeline, WATTS)
    again = account(components.iloc[::-1], timeline, WATTS)
    assert (once.millijoules == again.millijoules).all()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("power_w", -1.0, r"power_w: found -1 W; allowed: 0 to"),
        ("power_w", float("nan"), "power_w: found nan W"),
        ("power_w", 1e15, r"power_w: found 1e\+15 W"),
        ("module", "DAM", "found module DAM, not in the timeline; known: CM, ESB"),
        ("start", -5, "allowed: all of the components"),
        ("end", 40, "found 0 to 30 s"),
        ("end", 1, "found an end before its start"),
    ],
)
def test_components_that_cannot_be(column, value, message):
    table = COMPONENTS.copy()
    table.loc[2, column] = value
    with pytest.raises(InputError, match=message):
        account(table, TIMELINE, WATTS, end=30)


def test_tables_that_cannot_be():
    with pytest.raises(InputError, match="timeline: column nodes_off is missing"):
        account(COMPONENTS, TIMELINE.drop(columns="nodes_off"), WATTS)
    with pytest.raises(InputError, match="module ESB has no profile; known: CM"):
        account(COMPONENTS, TIMELINE, {"CM": WATTS["CM"]})
    with pytest.raises(InputError, match="power profile of CM: found -1 W"):
        account(COMPONENTS, TIMELINE, WATTS | {"CM": Watts(-1, 0, 0, 0)})
    with pytest.raises(InputError, match="timeline of CM: found times that do not rise"):
        account(COMPONENTS, TIMELINE.iloc[[0, 0, *range(1, 8)]], WATTS)
    with pytest.raises(InputError, match="timeline: found no rows"):
        account(COMPONENTS, TIMELINE.iloc[:0], WATTS)


def test_more_energy_than_can_be_counted():
    timeline = pd.DataFrame([(0, "CM", 0, 10**6, 0, 0, 0)], columns=TIMELINE_COLUMNS)
    with pytest.raises(InputError, match="energy of CM: found 1e\\+08 W over 100000000 s"):
        account(COMPONENTS.iloc[:0], timeline, WATTS, end=10**8)
    each = [timeline.assign(module=name, nodes_idle=3 * 10**5) for name in ("A", "B")]
    with pytest.raises(InputError, match="energy of all modules"):
        account(COMPONENTS.iloc[:0], pd.concat(each), dict.fromkeys("AB", WATTS["CM"]), end=10**8)


@pytest.mark.parametrize("claimed", [1, 3])
def test_busy_nodes_that_nobody_uses_or_too_few(claimed):
    timeline = TIMELINE.copy()
    timeline.loc[0, "nodes_busy"] = claimed
    with pytest.raises(InvariantError, match=f"CM at 0 s: 2 nodes run components, {claimed} in the timeline"):
        account(COMPONENTS, timeline, WATTS)


def test_the_states_of_nodes_are_those_of_the_profile():
    """The order of columns is the order of the watts."""
    assert [name.removeprefix("nodes_") for name in STATES] == list(Watts._fields)
