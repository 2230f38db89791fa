"""The profile of free nodes against an array with one entry a second."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scheduler_sim.simulation.growth import with_more_releases
from tests.conftest import examples
from tests.engine.plain_engine import ENGINE, core, slot

profile, releases = ENGINE.profile, ENGINE.releases
NODES, HORIZON, FOREVER = 6, 120, 250


class ProfileMachine(RuleBasedStateMachine):
    """Rectangles put into and taken out of the profiles of a module and a shared resource."""

    @initialize(
        now=st.integers(0, 9), ends=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 2)), max_size=3)
    )
    def build(self, now: int, ends: list[tuple[int, int]]) -> None:
        self.core = core(rows=2, nodes=NODES, releases=8, profile=300)
        self.core.clock.now = self.now = now
        self.free = np.full((2, FOREVER), NODES)
        for row, (end, nodes) in enumerate(ends):
            releases.add_release(self.core, 0, end, row % 2, nodes)
            self.core.pools[0].free -= nodes
            self.free[0, : max(end, now + 1)] -= nodes  # past its planned end: it is planned to end next
        profile.build_profiles(self.core, False)
        self.held: list[tuple[int, int, int, int]] = []

    def ask(self, nodes: int, demand: int, length: int) -> None:
        it = self.core.placements[0]
        it.module, it.nodes, it.limit = 0, nodes, length
        self.core.demand[0, 0] = demand

    @rule(
        nodes=st.integers(1, NODES),
        demand=st.integers(0, NODES),
        length=st.integers(1, 25),
        after=st.integers(0, 60),
    )
    def reserve(self, nodes: int, demand: int, length: int, after: int) -> None:
        after = self.now + after
        self.ask(nodes, demand, length)
        expected = next(
            time
            for time in range(after, FOREVER)
            if (self.free[0, time : time + length] >= nodes).all()
            and (self.free[1, time : time + length] >= demand).all()
        )
        assert profile.earliest(self.core, 0, after) == expected
        if expected + length < HORIZON:
            profile.occupy(self.core, 0, expected, expected + length, 1)
            self.free[0, expected : expected + length] -= nodes
            self.free[1, expected : expected + length] -= demand
            self.held.append((expected, length, nodes, demand))

    @rule(which=st.integers(0, 30))
    def release(self, which: int) -> None:
        if self.held:
            begin, length, nodes, demand = self.held.pop(which % len(self.held))
            self.ask(nodes, demand, length)
            profile.occupy(self.core, 0, begin, begin + length, -1)
            self.free[0, begin : begin + length] += nodes
            self.free[1, begin : begin + length] += demand

    @rule(more=st.integers(1, 3))
    def ask_too_much(self, more: int) -> None:
        self.ask(NODES + more, 0, 5)
        assert profile.earliest(self.core, 0, self.now) == slot.INF
        self.ask(1, NODES + more, 5)
        assert profile.earliest(self.core, 0, self.now) == slot.INF

    @precondition(lambda self: self.core.profile.shape[1] < 400)
    @rule()
    def grow(self) -> None:
        self.core = with_more_releases(self.core)

    @invariant()
    def as_the_array_says(self) -> None:
        if not hasattr(self, "core"):
            return
        for pool in range(2):
            steps = self.core.profile[pool, : self.core.pools[pool].profile_size]
            times, values = steps["time"], steps["free"]
            assert times[0] == self.now
            assert (np.diff(times) > 0).all()
            found = values[np.searchsorted(times, np.arange(self.now, FOREVER), side="right") - 1]
            assert (found == self.free[pool, self.now :]).all()


ProfileMachine.TestCase.settings = examples(60, stateful_step_count=25)
TestProfile = ProfileMachine.TestCase


def test_nodes_that_are_to_be_drained_do_not_come_back_in_plans():
    """Of 3 + 2 nodes that come back 4 are drained: one is free from 20 on."""
    made = core(rows=2, nodes=6, releases=8, profile=40)
    made.pools[0].free, made.pools[0].draining = 1, 0
    releases.add_release(made, 0, 10, 0, 3)
    releases.add_release(made, 0, 20, 1, 2)
    made.pools[0].free, made.pools[0].draining = 0, 4
    profile.build_profiles(made, False)
    steps = made.profile[0, : made.pools[0].profile_size]
    assert steps["free"].tolist()[-1] == 1
    made.placements[0].module, made.placements[0].nodes, made.placements[0].limit = 0, 1, 5
    assert profile.earliest(made, 0, 0) == 20


def test_what_ends_now_may_be_planned_to_end_now():
    """Kept promises count on it; plans made anew take it to end in the next second."""
    made = core(rows=1, nodes=4, releases=8, profile=40)
    made.clock.now = 7
    made.pools[0].free = 0
    made.jobs[0].end = 7
    releases.add_release(made, 0, 7, 0, 4)
    made.placements[0].module, made.placements[0].nodes, made.placements[0].limit = 0, 4, 5
    for on_time, expected in ((True, 7), (False, 8)):
        profile.build_profiles(made, on_time)
        assert profile.earliest(made, 0, 7) == expected
