"""Where a component runs, when its run time, limit and nodes differ by module: strategies by the clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Result, System, Workload, simulate
from scheduler_sim.applications.models import Models
from tests.conftest import examples
from tests.oracle.plain import Clock, schedule
from tests.oracle.records import Component, Placement, Rules
from tests.scheduling.cases import STRATEGIES, policies
from tests.scheduling.test_properties import as_seen, as_told

pytestmark = pytest.mark.interpreted

MODULES = [{"name": "A", "nodes": 2, "cost_per_node": 1}, {"name": "B", "nodes": 2, "cost_per_node": 3}]
TWO = System.from_dict({"modules": MODULES})
"""Two modules of two nodes; a node of B costs three times as much."""


def times_on_b(factor: float) -> Models:
    """All jobs take so many times as long on B as on A, whichever of the two they ask for first."""
    ratios = {"A": 1, "B": 1 / factor}
    types = [{"name": "x", "percent": 100, "ratios": ratios}]
    return Models.of(applications={"below_one": "speed", "types": types})


def run(
    strategy: str, backfill: str, factor: float, *jobs: tuple[int, int, int, str]
) -> list[tuple[str, int]]:
    """Module and start of each job, given as (submit, nodes, run time and limit, modules)."""
    submit, nodes, length, modules = zip(*jobs, strict=True)
    workload = Workload.from_columns(
        submit_time=submit, nodes=nodes, run_time=length, time_limit=length, partition=modules
    )
    policy = {"backfill": backfill, "placement": strategy}
    result = simulate(TWO, workload, policy, models=times_on_b(factor))
    result.check()
    found = result.components
    return list(zip(found["module"].astype(str), found["start_time"].tolist(), strict=True))


@pytest.mark.parametrize("backfill", ["easy", "conservative"])
@pytest.mark.parametrize(
    ("strategy", "factor", "found"),
    [
        ("preferred", 2.0, ("A", 10)),
        ("first_available", 2.0, ("B", 1)),
        ("earliest_start", 2.0, ("B", 1)),
        ("earliest_end", 2.0, ("B", 1)),  # 1 + 16 = 17 is before 10 + 8 = 18
        ("earliest_end", 2.125, ("B", 1)),  # both end at 18: the smaller start
        ("earliest_end", 3.0, ("A", 10)),  # 18 is before 1 + 24 = 25: it waits, with B idle
        ("least_cost", 0.5, ("A", 10)),  # on A 2·1·8 = 16, on B 2·3·4 = 24
        ("least_cost", 0.25, ("B", 1)),  # on B 2·3·2 = 12
    ],
)
def test_a_job_that_finds_its_module_taken_and_the_other_idle(backfill, strategy, factor, found):
    """X comes at 1, wants two nodes, 8 s on A.

    ::

        A  aaaaaaaaaa|XXXXXXXX        preferred
        B  .|XXXXXXXXXXXXXXXX         twice as slow
    """
    jobs = ((0, 2, 10, "A"), (1, 2, 8, "A,B"))
    assert run(strategy, backfill, factor, *jobs)[1] == found


@pytest.mark.parametrize("backfill", ["none", "first_fit", "easy", "conservative"])
@pytest.mark.parametrize(
    ("strategy", "factor", "modules", "module"),
    [
        ("preferred", 0.5, "A,B", "A"),
        ("first_available", 0.5, "A,B", "A"),
        ("first_available", 2.0, "B,A", "B"),
        ("earliest_start", 0.5, "A,B", "A"),
        ("earliest_end", 0.5, "A,B", "B"),
        ("earliest_end", 2.0, "B,A", "A"),
        ("earliest_end", 1.0, "B,A", "B"),  # a tie: list order
        ("least_cost", 0.5, "A,B", "A"),  # 1·8 against 3·4
        ("least_cost", 0.25, "A,B", "B"),  # 1·8 against 3·2
    ],
)
def test_a_job_that_finds_both_modules_idle(backfill, strategy, factor, modules, module):
    assert run(strategy, backfill, factor, (0, 2, 8, modules)) == [(module, 0)]


@pytest.mark.parametrize("backfill", ["easy", "conservative"])
@pytest.mark.parametrize(
    ("strategy", "x", "y"),
    [
        ("preferred", ("A", 10), ("B", 1)),
        ("first_available", ("A", 10), ("B", 1)),  # reserved on A alone: Y takes the idle node of B
        ("earliest_start", ("B", 4), ("B", 12)),  # reserved on B from 4 on: Y would stand in its way
        ("earliest_end", ("B", 4), ("B", 12)),
        ("least_cost", ("A", 10), ("B", 1)),
    ],
)
def test_while_it_waits_a_job_has_one_reservation(backfill, strategy, x, y):
    """A is taken until 10, one node of B until 4. X wants two nodes of either, Y one node of B for 20 s.

    ::

        A  aaaaaaaaaa|XXXXXXXX             A  aaaaaaaaaa
        B  bbbb                            B  bbbb|XXXXXXXX|YYYY...
           .|YYYYYYYYYYYYYYYYYYYY             ....|XXXXXXXX
    """
    jobs = ((0, 2, 10, "A"), (0, 1, 4, "B"), (1, 2, 8, "A,B"), (1, 1, 20, "B"))
    assert run(strategy, backfill, 1.0, *jobs)[2:] == [x, y]


def test_first_available_takes_another_module_when_that_comes_free_first():
    """As above without Y: under first_available X has its reservation on A, and starts on B at 4."""
    jobs = ((0, 2, 10, "A"), (0, 1, 4, "B"), (1, 2, 8, "A,B"))
    assert run("first_available", "conservative", 1.0, *jobs)[2] == ("B", 4)


def test_the_reference_reserves_on_every_module_as_policy_slurm_does():
    """The DEEP-EST scheduler submits X once a module; the first to start wins, each has a reservation.

    So is a list of partitions under policy slurm: Y must not stand in the way of X on B, which
    under first_available it does. In units of 10 min; what starts later waits for a pass.
    """
    unit = 600
    workload = Workload.from_columns(
        submit_time=[0, 0, unit, unit],
        nodes=[2, 1, 2, 1],
        run_time=[10 * unit, 4 * unit, 8 * unit, 20 * unit],
        time_limit=[10 * unit, 4 * unit, 8 * unit, 20 * unit],
        partition=["A", "B", "A,B", "B"],
    )

    def starts(policy: Any) -> list[tuple[str, int]]:
        found = simulate(TWO, workload, policy).components
        return list(zip(found["module"].astype(str), found["start_time"].tolist(), strict=True))

    slurm = starts({"backfill": "slurm", "slurm": {"bf_interval": 30}})
    assert [module for module, _ in slurm] == ["A", "B", "B", "B"]
    assert 4 * unit <= slurm[2][1] <= 4 * unit + 60
    assert slurm[3][1] >= 12 * unit
    first_available = starts({"backfill": "conservative", "placement": "first_available"})
    assert first_available[2:] == [("A", 10 * unit), ("B", unit)]


def test_nodes_differ_by_module():
    """Two nodes of A are one of B, for 3 s instead of 2: Y and Z run side by side on B."""
    models = Models.of(conversions=[{"origin": "A", "to": "B", "nodes": 0.5, "time": 1.5}])
    workload = Workload.from_columns(
        submit_time=[0, 1, 1], nodes=[2, 2, 2], run_time=[9, 2, 2], time_limit=[9, 4, 4], partition="A,B"
    )
    found = simulate(TWO, workload, "easy", models=models).components
    columns = found[["module", "nodes", "start_time", "end_time", "time_limit"]]
    assert [tuple(row) for row in columns.to_numpy()] == [
        ("A", 2, 0, 9, 9),
        ("B", 1, 1, 4, 6),
        ("B", 1, 1, 4, 6),
    ]


# ------------------------------------------------------------------------------- properties


@dataclass(frozen=True)
class Choice:
    """Jobs as (submit, nodes, run, limit, modules, type), types as run time by module, and a policy."""

    modules: dict[str, int]
    cost: dict[str, float]
    types: tuple[dict[str, float], ...]
    jobs: tuple[tuple[int, int, int, int, tuple[str, ...], int], ...]
    policy: dict[str, Any]

    def simulated(self) -> Result:
        submit, nodes, length, limit, modules, types = zip(*self.jobs, strict=True)
        system = System.from_dict(
            {
                "modules": [
                    {"name": name, "nodes": n, "cost_per_node": self.cost[name]}
                    for name, n in self.modules.items()
                ]
            }
        )
        workload = Workload.from_columns(
            submit_time=submit,
            nodes=nodes,
            run_time=length,
            time_limit=limit,
            partition=[",".join(names) for names in modules],
            app=[f"t{number}" for number in types],
        )
        keys = [
            {"name": f"t{i}", "ratios": {name: 1 / time for name, time in times.items()}}
            for i, times in enumerate(self.types)
        ]
        models = {"applications": {"reference": "A", "below_one": "speed", "types": keys}}
        return simulate(system, workload, self.policy, models=models)

    def ways(self, row: int) -> tuple[Placement, ...]:
        _, nodes, length, limit, modules, kind = self.jobs[row]
        times = self.types[kind]
        return tuple(
            Placement(name, nodes, _up(length * times[name]), _up(limit * times[name]), self.cost[name])
            for name in modules
            if name in times and nodes <= self.modules[name]
        )

    def referenced(self) -> Clock:
        components = [Component(row, self.jobs[row][0], self.ways(row)) for row in range(len(self.jobs))]
        return schedule(components, dict(self.modules), {}, Rules(**self.policy))


def _up(seconds: float) -> int:
    return int(np.ceil(round(seconds, 6)))


@st.composite
def choices(draw: st.DrawFn, policy: dict[str, Any] | None = None) -> Choice:
    names = ["A", "B", "C"][: draw(st.integers(2, 3))]
    time = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
    types = tuple(
        {"A": 1.0, **{name: draw(time) for name in names[1:] if draw(st.integers(0, 4))}} for _ in range(2)
    )
    jobs, submit = [], 0
    for _ in range(draw(st.integers(1, 14))):
        submit += draw(st.sampled_from([0, 0, 1, 2, 5]))
        length = draw(st.sampled_from([0, 1, 2, 4, 8, 11]))
        limit = max(1, length + draw(st.sampled_from([0, 0, 3, -2])))
        modules = tuple(draw(st.permutations(names)))[: draw(st.integers(1, len(names)))]
        jobs.append((submit, draw(st.integers(1, 3)), length, limit, modules, draw(st.integers(0, 1))))
    chosen = draw(policies(orders=("fifo",))) if policy is None else policy
    return Choice(
        {name: draw(st.integers(2, 4)) for name in names},
        {name: draw(st.sampled_from([1.0, 2.0, 3.0])) for name in names},
        types,
        tuple(jobs),
        chosen,
    )


@examples(150)
@given(choices())
def test_equal_to_the_plain_reference(choice: Choice) -> None:
    result = choice.simulated()
    assert as_seen(result) == as_told(choice.referenced())
    result.check()


@examples(60)
@given(choices())
def test_a_component_runs_in_one_placement_of_its_list_with_its_run_time_and_limit(choice: Choice) -> None:
    overrun = choice.policy["overrun_s"]
    for row, found in enumerate(choice.simulated().components.itertuples()):
        ways = {way.module: way for way in choice.ways(row)}
        if found.start_time < 0:
            assert found.state == ("PENDING" if ways else "REJECTED")
            continue
        way = ways[found.module]
        assert (found.nodes, found.time_limit) == (way.nodes, way.limit)
        assert found.end_time - found.start_time == min(way.run, way.limit + overrun)


@examples(40)
@given(choices({"backfill": "conservative"}), st.data())
def test_earliest_end_never_plans_to_end_later_than_preferred_would(choice: Choice, data) -> None:
    """The last in the queue, all others rigid and ending as planned: its start is that of its first plan."""
    rigid = [(0, nodes, limit, limit, modules[:1], 0) for _, nodes, _, limit, modules, _ in choice.jobs]
    rigid = [job for job in rigid if job[4][0] in choice.types[0]]
    length = data.draw(st.sampled_from([1, 3, 8]))
    last = (0, data.draw(st.integers(1, 2)), length, length, tuple(choice.modules), 0)
    ends = {}
    for strategy in STRATEGIES:
        policy = {**choice.policy, "placement": strategy}
        result = replace(choice, jobs=(*rigid, last), policy=policy).simulated()
        ends[strategy] = int(result.components["end_time"].iloc[-1])
    assert ends["earliest_end"] == min(ends.values())
    assert ends["earliest_end"] <= ends["preferred"]
