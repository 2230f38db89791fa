"""Explanations of random schedules of the plain reference: each verdict must hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.policy.keys import ORDERS
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of
from tests.conftest import examples
from tests.oracle.plain import schedule as reference
from tests.oracle.records import Component, Placement
from tests.report.schedules import schedule
from tests.result.hand_made import Run

NODES = {"CM": 6, "DAM": 3}

jobs = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.sampled_from(["CM", "CM", "DAM"]),
        st.integers(1, 6),
        st.integers(0, 30),
        st.sampled_from([0, 0, 3, 20]),
    ),
    min_size=2,
    max_size=20,
)

POLICIES = [
    {"backfill": "none"},
    {"backfill": "first_fit"},
    {"backfill": "easy"},
    {"backfill": "easy", "extra_rule": False},
    {"backfill": "easy", "candidate_time": "run"},
    {"backfill": "easy", "backfill_order": "sjf"},
    {"backfill": "easy", "depth": 3},
    {"backfill": "conservative", "replan": "scratch"},
    {"backfill": "conservative", "replan": "keep"},
]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: "-".join(map(str, policy.values())))
@examples(50)
@given(jobs=jobs, order=st.sampled_from(ORDERS))
def test_every_wait_is_explained(policy, jobs, order):
    components = [
        Component(row, submit, (Placement(module, min(nodes, NODES[module]), run, max(run, 1) + spare),))
        for row, (submit, module, nodes, run, spare) in enumerate(jobs)
    ]
    keys = {"order": order, **policy}
    clock = reference(components, NODES, **keys)
    runs = []
    for component in components:
        place, outcome = component.placements[0], clock.outcomes[component.row]
        runs.append(
            Run(
                component.submit,
                outcome.start,
                outcome.end - outcome.start,
                place.nodes,
                place.module,
                limit=place.limit,
            )
        )
    result = schedule(runs, NODES, keys)
    for row, run in enumerate(runs):
        said = explain(result, row + 1)
        assert text_of(said)
        assert said.notes == ()
        assert sum(phase.seconds for phase in said.phases) <= said.phase_seconds == run.start - run.submit
        for phase in said.phases:
            assert phase.priority + phase.resources == phase.seconds
            if phase.verdict is None:
                assert not phase.priority
            else:
                assert policy["backfill"] != "first_fit"
                assert phase.verdict.rule == {"none": "blocked", "easy": "shadow"}.get(
                    policy["backfill"] if "depth" not in policy else "", "reserved"
                )
