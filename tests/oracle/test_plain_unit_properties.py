"""What must hold of the plain reference of units whatever it is given."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.oracle import plain, records
from tests.oracle.plain_unit_passes import earliest
from tests.oracle.plain_unit_records import Component
from tests.oracle.plain_units import Simulator, simulate

pytestmark = pytest.mark.interpreted

MODULES = {"a": 3, "b": 4}
KINDS = ["AFTER", "AFTERANY", "AFTEROK", "AFTERNOTOK", "DYNAMIC", "DYNAMIC"]
policies = st.sampled_from(["fcfs", "first_fit", "easy", "depth", "conservative"])
how = st.fixed_dictionaries(
    {
        "policy": policies,
        "k": st.just(2),
        "delay": st.sampled_from(["joint", "reserved"]),
        "extend": st.sampled_from(["refuse", "grant"]),
    }
)


@st.composite
def traces(draw, jobs=3, ties=True) -> list[Component]:
    """Up to seven components; each names only earlier ones."""
    components: list[Component] = []
    submit = 0
    calls = st.tuples(st.sampled_from(["WF_API", "WF_API", "extend_job", "tea"]), st.integers(0, 8))
    for id in range(draw(st.integers(1, 7))):
        submit += draw(st.sampled_from([0, 0, 0, 1, 4]))
        kinds = KINDS if ties else KINDS[:4]
        depends = {draw(st.integers(0, id - 1)) for _ in range(draw(st.sampled_from([0, 0, 1, 2]))) if id}
        components.append(
            Component(
                id=id,
                job=draw(st.integers(0, jobs - 1)) if ties else id,
                submit=submit,
                module=draw(st.sampled_from(["a", "b"])),
                nodes=draw(st.sampled_from([1, 1, 1, 2, 2, 3, 4])),
                limit=draw(st.integers(1, 9)),
                runtime=draw(st.integers(0, 11)),
                delay=draw(st.sampled_from([-1, -1, 0, 1, 2, 3, 5, 9])) if ties else -1,
                depends=[(other, draw(st.sampled_from(kinds))) for other in sorted(depends)],
                calls=draw(st.lists(calls, max_size=2)) if ties else [],
                fails=draw(st.sampled_from([False, False, True])),
                tier=draw(st.integers(0, 1)) if ties else 0,
            )
        )
    return components


def outcomes(simulator: Simulator) -> list[tuple]:
    return [
        (o.state, o.eligible, o.start, o.end, o.appointment, o.limit) for o in simulator.outcomes.values()
    ]


@examples(300)
@given(traces(), how)
def test_no_module_ever_has_more_in_use_than_it_has(trace, setup):
    ran = [(c, o) for c, o in zip(trace, simulate(trace, MODULES, **setup).outcomes.values(), strict=True)]
    for module, capacity in MODULES.items():
        for second in range(max(o.end for _, o in ran) + 1):
            used = sum(c.nodes for c, o in ran if c.module == module and o.start <= second < o.end)
            assert used <= capacity


@examples(200)
@given(traces(), how)
def test_a_unit_starts_at_its_offsets_or_not_at_all(trace, setup):
    """Without calls exactly; a call can only make a later member earlier. Nobody is late."""
    for calls in (True, False):
        simulator = simulate(trace, MODULES, calls=calls, **setup)
        for unit in simulator.units:
            results = [simulator.outcomes[member.id] for member in unit.members]
            begin = simulator.outcomes[unit.first[0].id].start
            assert len({o.state == "REJECTED" for o in results}) == 1
            assert len({o.start >= 0 for o in results}) == 1
            for member, o in zip(unit.members, results, strict=True):
                offset = unit.offsets[member.id]
                if begin < 0:
                    assert (o.state in ("REJECTED", "PENDING"), o.end, o.appointment) == (True, -1, -1)
                elif offset == 0:
                    assert (o.start, o.appointment) == (begin, -1)
                else:
                    assert o.eligible == o.start == o.appointment
                    assert begin <= o.start <= begin + offset
                    assert calls or o.start == begin + offset


@given(traces(), how)
def test_everything_that_may_go_goes(trace, setup):
    """Who waits at the end waits for a dependency, or is of a unit with one that does."""
    simulator = simulate(trace, MODULES, **setup)
    assert not simulator.queue
    assert not simulator.appointed()
    assert not simulator.running()
    for unit in simulator.to_come:
        waits = [(other, kind) for member in unit.members for other, kind in member.waits_for]
        assert any(simulator.satisfied_at(other, kind) is None for other, kind in waits)


@given(traces(), how)
def test_nothing_starts_before_its_submission_its_dependencies_and_its_think_time(trace, setup):
    result = simulate(trace, MODULES, **setup).outcomes
    for c in trace:
        mine = result[c.id]
        if mine.start < 0:
            continue
        assert mine.start >= mine.eligible >= c.submit
        tied = any(kind == "DYNAMIC" for _, kind in c.depends)
        think = 0 if tied else max(c.delay, 0)
        for other, kind in c.depends:
            theirs, named = result[other], trace[other]
            if kind == "DYNAMIC" or theirs.state == "REJECTED":
                assert kind != "AFTEROK"
                continue
            made = [
                theirs.start + s
                for call, s in named.calls
                if call == "WF_API" and s < theirs.end - theirs.start
            ]
            if kind == "AFTER":
                assert mine.start >= theirs.start + think
            elif kind == "AFTEROK" and made:
                assert mine.start >= min(made) + think
            else:
                assert mine.start >= theirs.end + think
                assert kind == "AFTERANY" or (kind == "AFTEROK") == (theirs.state == "COMPLETED")
            assert theirs.start >= 0


@given(traces(), how)
def test_calls_off_is_the_trace_without_calls(trace, setup):
    without = [replace(c, calls=[]) for c in trace]
    assert outcomes(simulate(trace, MODULES, calls=False, **setup)) == outcomes(
        simulate(without, MODULES, **setup)
    )


@given(traces(), how)
def test_a_delay_of_zero_is_none(trace, setup):
    none = [replace(c, delay=-1 if c.delay == 0 else c.delay) for c in trace]
    assert outcomes(simulate(trace, MODULES, **setup)) == outcomes(simulate(none, MODULES, **setup))


@given(traces(), how)
def test_under_joint_planning_the_clock_misses_nothing_between_its_stops(trace, setup):
    setup = setup | {"delay": "joint"}
    assert outcomes(simulate(trace, MODULES, **setup)) == outcomes(
        simulate(trace, MODULES, every_second=True, **setup)
    )


@given(traces(), how)
def test_a_unit_that_starts_as_one_is_planned_alike_by_both_kinds_of_delay(trace, setup):
    together = [replace(c, delay=-1) for c in trace]
    joint, reserved = (
        simulate(together, MODULES, **setup | {"delay": delay}) for delay in ("joint", "reserved")
    )
    assert outcomes(joint) == outcomes(reserved)


@given(traces(ties=False), how)
def test_ordinary_components_are_scheduled_as_by_the_reference_of_ordinary_components(trace, setup):
    components = [
        records.Component(
            c.id,
            c.submit,
            (records.Placement(c.module, c.nodes, c.runtime, c.limit),),
            tuple(c.depends),
            c.fails,
        )
        for c in trace
    ]
    policy = setup["policy"]
    backfill = {"fcfs": "none", "depth": "easy"}.get(policy, policy)
    depth = setup["k"] if policy == "depth" else None
    expected = plain.schedule(components, MODULES, backfill=backfill, depth=depth).outcomes.values()
    actual = simulate(trace, MODULES, **setup).outcomes.values()
    assert [(o.state, o.eligible, o.start, o.end) for o in actual] == [
        (o.state, o.eligible, o.start, o.end) for o in expected
    ]


# -------------------------------------------------------------------- the joint slot
def brute_slot(plan, shape, capacity, since) -> int:
    """Second by second, on a calendar with the use of every module in every second."""
    used: dict[tuple[str, int], int] = {}
    for module, begin, end, nodes in plan:
        for second in range(begin, end):
            used[module, second] = used.get((module, second), 0) + nodes
    start = since
    while True:
        asked: dict[tuple[str, int], int] = {}
        for offset, c in shape:
            for second in range(start + offset, start + offset + c.limit):
                asked[c.module, second] = asked.get((c.module, second), 0) + c.nodes
        if all(used.get(key, 0) + nodes <= capacity[key[0]] for key, nodes in asked.items()):
            return start
        start += 1


@pytest.mark.parametrize("seed", range(4))
def test_the_joint_slot_is_that_of_brute_force_over_every_second(seed):
    """A thousand random small systems each: up to eight rectangles, four members, three modules."""
    draw = random.Random(seed)
    later = 0
    for _ in range(1000):
        capacity = {module: draw.randint(2, 6) for module in "abd"}
        plan = []
        for _ in range(draw.randint(0, 8)):
            module, begin = draw.choice("abd"), draw.randint(0, 20)
            plan.append((module, begin, begin + draw.randint(1, 15), draw.randint(1, capacity[module])))
        shape, left = [], dict(capacity)
        for id in range(draw.randint(1, 4)):
            module = draw.choice("abd")
            if left[module] == 0:
                continue
            nodes = draw.randint(1, left[module])
            left[module] -= nodes  # so that they fit the empty system whatever their offsets
            shape.append(
                (draw.choice([0, 0, 1, 5, 12]), Component(id, 0, 0, module, nodes, draw.randint(1, 9), 1))
            )
        since = draw.randint(0, 5)
        found = earliest(plan, shape, capacity, since)
        assert found == brute_slot(plan, shape, capacity, since)
        later += found not in {since} | {end for _, _, end, _ in plan}
    assert later > 50  # slots at which nothing ends: it is a later member that begins at an end


@examples(50)
@given(traces())
def test_conservative_starts_each_unit_of_an_idle_queue_at_its_brute_slot(trace):
    """All submitted at once without dependencies or surprises: every promise of the first pass is kept."""
    trace = [
        replace(c, submit=0, runtime=c.limit, calls=[], depends=[d for d in c.depends if d[1] == "DYNAMIC"])
        for c in trace
    ]
    simulator = simulate(trace, MODULES, policy="conservative")
    plan: list[tuple[str, int, int, int]] = []
    for unit in sorted(simulator.units, key=lambda unit: -unit.leader.tier):
        if simulator.outcomes[unit.leader.id].state == "REJECTED":
            continue
        shape = [(unit.offsets[member.id], member) for member in unit.members]
        slot = brute_slot(plan, shape, MODULES, 0)
        for offset, member in shape:
            assert simulator.outcomes[member.id].start == slot + offset
            plan.append((member.module, slot + offset, slot + offset + member.limit, member.nodes))
