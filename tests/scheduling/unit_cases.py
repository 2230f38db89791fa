"""Small traces with units, dependencies and calls, for the engine and the plain model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.result.result import Result
from tests.oracle.plain_unit_records import Component
from tests.oracle.plain_units import Simulator
from tests.oracle.plain_units import simulate as plainly

KINDS = ("AFTER", "AFTERANY", "AFTEROK", "AFTEROK", "AFTERNOTOK", "DYNAMIC", "DYNAMIC")
CALLS = ("WF_API", "WF_API", "wf_api", "extend_job", "nonsense")
POLICIES: dict[str, dict[str, Any]] = {
    "fcfs": {},
    "first_fit": {"backfill": "first_fit"},
    "easy": {"backfill": "easy"},
    "depth": {"backfill": "easy", "depth": 2},
    "conservative": {"backfill": "conservative"},
}


class Case(NamedTuple):
    """Components in order of submission, on modules of so many nodes, under a policy of the plain model."""

    modules: dict[str, int]
    components: tuple[Component, ...]
    policy: str
    settings: dict[str, Any]


@st.composite
def cases(draw: st.DrawFn, policies: Iterable[str] = tuple(POLICIES)) -> Case:
    """Two modules of up to four nodes, up to nine components."""
    modules = {name: draw(st.integers(2, 4)) for name in ("A", "B")}
    components: list[Component] = []
    for number in range(1, draw(st.integers(2, 9)) + 1):
        joins = components and draw(st.booleans())
        job = components[-1].job if joins else number
        earlier = components[-1].submit if components else 0
        module, run = draw(st.sampled_from("AB")), draw(st.integers(0, 12))
        depends = []
        if components and draw(st.integers(0, 4)) < 2:
            other = draw(st.integers(1, number - 1))
            depends.append((other, draw(st.sampled_from(KINDS))))
        calls = st.tuples(st.sampled_from(CALLS), st.integers(1, 12))
        components.append(
            Component(
                id=number,
                job=job,
                submit=earlier + draw(st.sampled_from((0, 0, 0, 1, 4))),
                module=module,
                nodes=draw(st.integers(1, modules[module])),
                limit=max(1, run + draw(st.integers(-3, 12))),
                runtime=run,
                delay=draw(st.sampled_from((-1, -1, 0, 3, 8))),
                depends=depends,
                calls=draw(st.lists(calls, max_size=2)),
                fails=draw(st.integers(0, 9)) == 0,
            )
        )
    settings = {
        "delay": draw(st.sampled_from(("joint", "joint", "reserved"))),
        "extend_job": draw(st.sampled_from(("refuse", "grant"))),
    }
    return Case(modules, tuple(components), draw(st.sampled_from(tuple(policies))), settings)


def workload(components: Iterable[Component], **changed: Any) -> Workload:
    """The components as a trace; ``changed`` replaces columns."""
    rows = tuple(components)
    columns: dict[str, Any] = {
        "component_id": [c.id for c in rows],
        "modular_job_id": [c.job for c in rows],
        "submit_time": [c.submit for c in rows],
        "partition": [c.module for c in rows],
        "nodes": [c.nodes for c in rows],
        "time_limit": [c.limit for c in rows],
        "run_time": [c.runtime for c in rows],
        "delay": [c.delay for c in rows],
        "dependency_ids": [",".join(str(other) for other, _ in c.depends) for c in rows],
        "dependency_kinds": [",".join(kind for _, kind in c.depends) for c in rows],
        "api_calls": [",".join(f"{kind}:{seconds}" for kind, seconds in c.calls) for c in rows],
        "exit_code": [int(c.fails) for c in rows],
    }
    return Workload.from_columns(**columns | changed)


def singly(components: Iterable[Component]) -> Workload:
    """Each component as a job by itself, without a delay, a tie or calls."""
    rows = tuple(components)
    kinds = [",".join(kind for _, kind in c.depends).replace("DYNAMIC", "AFTER") for c in rows]
    names = [c.id for c in rows]
    return workload(rows, modular_job_id=names, dependency_kinds=kinds, delay=-1, api_calls="")


def followed_by_a_pair(trace: Workload, time: int) -> Workload:
    """The trace and, so much later, a heterogeneous job of two components."""
    table = trace.table.astype({"dependency_ids": object, "dependency_kinds": object})
    number = table["component_id"].max() + 1
    pair = table.iloc[[0, 0]].assign(
        component_id=[number, number + 1],
        modular_job_id=number,
        components_total=2,
        nodes=1,
        submit_time=time,
        dependency_ids="",
        dependency_kinds="",
    )
    both = pd.concat([table, pair], ignore_index=True)
    return Workload.from_columns(**{name: both[name].to_numpy() for name in both})


def played(case: Case, trace: Workload | None = None, **policy: Any) -> Result:
    """What the engine makes of a case, or of another trace in its place; checked for the invariants."""
    system = System.from_dict({"modules": [{"name": name, "nodes": n} for name, n in case.modules.items()]})
    keys = POLICIES[case.policy] | case.settings | policy
    result = simulate(system, trace or workload(case.components), Policy.resolve(keys))
    result.check()
    return result


def two_modules() -> System:
    """A and B, of two nodes each."""
    return System.from_dict({"modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 2}]})


def components(jobs: Sequence[tuple[Any, ...]], **columns: Any) -> Workload:
    """Jobs: (job, submit, module, nodes, run, limit in minutes)."""
    job, submit, module, nodes, run, minutes = zip(*jobs, strict=True)
    return Workload.from_columns(
        modular_job_id=job,
        submit_time=submit,
        partition=module,
        nodes=nodes,
        run_time=run,
        time_limit=[60 * each for each in minutes],
        **columns,
    )


def operated(run: Simulation, moment: int, what: Callable[[Simulation], object]) -> Result:
    """Run, and carry something out at a moment."""

    def operator() -> Any:
        yield run.env.timeout(moment)
        what(run)

    run.process(operator())
    return run.run()


Fate = tuple[str, int, int, int]
"""State, eligible (-1 of one that never started), start, end."""


def fates(result: Result) -> dict[int, Fate]:
    """Of each component."""
    table = result.components
    ran = table["start_time"] >= 0
    return {
        int(number): (str(state), int(eligible), int(start), int(end))
        for number, state, eligible, start, end in zip(
            table["component_id"],
            table["state"],
            table["eligible_time"].where(ran, -1),
            table["start_time"],
            table["end_time"],
            strict=True,
        )
    }


def told(case: Case) -> dict[int, Fate]:
    """What the plain model says. Raises ValueError for a circle of delays."""
    settings = {"delay": case.settings["delay"], "extend": case.settings["extend_job"]}
    return fates_of(plainly(list(case.components), case.modules, policy=case.policy, k=2, **settings))


def fates_of(run: Simulator) -> dict[int, Fate]:
    """Of each component in the plain model."""
    return {
        number: (one.state, one.eligible if one.start >= 0 else -1, one.start, one.end)
        for number, one in run.outcomes.items()
    }
