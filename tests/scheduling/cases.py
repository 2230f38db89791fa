"""Random systems, workloads and policies, each in two forms: the package's and the plain reference's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from tests.oracle.plain import Clock, schedule
from tests.oracle.records import Component, Placement, Rules

GB = 1024 * 1024  # KB
SIMPLE_ORDERS = ("fifo", "sjf", "ljf", "smallest", "largest")
ORDERS = (*SIMPLE_ORDERS, "wfp3", "unicef", "f1", "f2", "f3", "f4")
STRATEGIES = ("preferred", "first_available", "earliest_start", "earliest_end", "least_cost")
KINDS = ("AFTER", "AFTERANY", "AFTEROK", "AFTERNOTOK")


@dataclass(frozen=True)
class Machine:
    """Modules as name -> (nodes, cost), partitions as name -> (module, MaxTime, MaxNodes)."""

    modules: dict[str, tuple[int, float]]
    partitions: dict[str, tuple[str, int | None, int | None]]
    default: str
    licences: int = 0
    nam_gb: int = 0

    def system(self) -> System:
        modules = [{"name": m, "nodes": n, "cost_per_node": cost} for m, (n, cost) in self.modules.items()]
        partitions: list[dict[str, Any]] = []
        for name, (module, longest, largest) in self.partitions.items():
            limits = {"max_time": longest, "max_nodes": largest}
            given = {key: value for key, value in limits.items() if value is not None}
            partitions.append({"name": name, "module": module, "default": name == self.default, **given})
        resources = {"licences": {"lic": self.licences}, "nam_gb": self.nam_gb}
        return System.from_dict({"modules": modules, "partitions": partitions, "resources": resources})


@dataclass(frozen=True)
class Job:
    """A component as a trace has it; ``after`` holds (row, kind)."""

    submit: int
    nodes: int
    run: int
    limit: int  # -1: none
    partitions: tuple[str, ...] = ()
    licences: int = 0
    nam_gb: int = 0
    exit_code: int = 0
    after: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Case:
    """What both are given."""

    machine: Machine
    jobs: tuple[Job, ...]
    policy: dict[str, Any]

    def workload(self, **more: list[Any]) -> Workload:
        jobs = self.jobs
        return Workload.from_columns(
            submit_time=[job.submit for job in jobs],
            nodes=[job.nodes for job in jobs],
            run_time=[job.run for job in jobs],
            time_limit=[job.limit for job in jobs],
            partition=[",".join(job.partitions) for job in jobs],
            licences=[f"lic:{job.licences}" if job.licences else "" for job in jobs],
            nam_kb=[job.nam_gb * GB if job.nam_gb else -1 for job in jobs],
            exit_code=[job.exit_code for job in jobs],
            dependency_ids=[",".join(str(row + 1) for row, _ in job.after) for job in jobs],
            dependency_kinds=[",".join(kind for _, kind in job.after) for job in jobs],
            **more,
        )

    def simulated(self) -> Result:
        return simulate(self.machine.system(), self.workload(), Policy(**self.policy))

    def referenced(self) -> Clock:
        machine = self.machine
        return schedule(
            [self.component(row) for row in range(len(self.jobs))],
            {name: nodes for name, (nodes, _) in machine.modules.items()},
            {"lic": machine.licences, "nam": machine.nam_gb},
            Rules(**self.policy),
        )

    def component(self, row: int) -> Component:
        """Rules 9 and 10: a placement a partition, those beyond its limits dropped."""
        job, places = self.jobs[row], []
        names = {name.lower(): name for name in self.machine.partitions}
        for asked in job.partitions or (self.machine.default,):
            module, longest, largest = self.machine.partitions[names[asked.lower()]]
            limit = job.limit if job.limit > 0 else max(1, longest or job.run)
            if limit <= (longest or limit) and job.nodes <= (largest or job.nodes):
                cost = self.machine.modules[module][1]
                resources = {"lic": job.licences, "nam": job.nam_gb}
                places.append(Placement(module, job.nodes, job.run, limit, cost, resources))
        return Component(row, job.submit, tuple(places), job.after, job.exit_code != 0)

    def moved(self, shift: int = 0, scale: int = 1) -> Case:
        """Return the case with all its times changed."""
        jobs = [
            replace(
                job,
                submit=job.submit * scale + shift,
                run=job.run * scale,
                limit=job.limit * scale if job.limit > 0 else -1,
            )
            for job in self.jobs
        ]
        partitions = {
            name: (module, longest and longest * scale, largest)
            for name, (module, longest, largest) in self.machine.partitions.items()
        }
        return Case(replace(self.machine, partitions=partitions), tuple(jobs), self.policy)


@st.composite
def machines(draw: st.DrawFn, shared: bool = True) -> Machine:
    names = ["CM", "DAM", "ESB"][: draw(st.integers(1, 3))]
    module = st.tuples(st.sampled_from([4, 3, 5, 2, 6, 1]), st.sampled_from([1.0, 2.0, 3.0]))
    sizes = {name: draw(module) for name in names}
    partitions: dict[str, tuple[str, int | None, int | None]] = {name: (name, None, None) for name in names}
    if draw(st.booleans()):
        longest, largest = draw(st.sampled_from([None, 12])), draw(st.sampled_from([None, 3]))
        partitions["Short"] = (draw(st.sampled_from(names)), longest, largest)
    default = draw(st.sampled_from(list(partitions)))
    licences = draw(st.sampled_from([0, 0, 1, 3])) if shared else 0
    return Machine(sizes, partitions, default, licences, draw(st.sampled_from([0, 0, 2])) if shared else 0)


@st.composite
def jobs(
    draw: st.DrawFn, machine: Machine, choices: int = 3, dependencies: bool = True, most: int = 16
) -> tuple[Job, ...]:
    """Return jobs in busy times: ties, zero run times, run times above the limit, misfits."""
    names = [spelt for name in machine.partitions for spelt in (name, name.lower())]
    asked = st.lists(st.sampled_from(names), max_size=choices, unique_by=str.lower).map(tuple)
    submit, drawn = 0, []
    for row in range(draw(st.one_of(st.integers(1, most), st.integers(most // 2, most)))):
        submit = max(0, submit + draw(st.sampled_from([0, 0, 1, 2, 5, -3])))
        run = draw(st.one_of(st.integers(3, 15), st.integers(0, 15)))
        edges: list[tuple[int, str]] = []
        if dependencies and row and draw(st.integers(0, 4)) == 0:
            edges = draw(
                st.lists(
                    st.tuples(st.integers(0, row - 1), st.sampled_from(KINDS)),
                    min_size=1,
                    max_size=2,
                    unique_by=lambda edge: edge[0],
                )
            )
        partitions = draw(asked)
        limits = [max(1, run), max(1, run), run + 4, max(1, run - 3), 6]
        if len(partitions) < 2:  # the rules do not say which MaxTime of several stands for no limit
            limits.append(-1)
        drawn.append(
            Job(
                submit,
                draw(st.sampled_from([1, 2, 3, 1, 2, 1, 2, 4, 1, 6])),
                run,
                draw(st.sampled_from(limits)),
                partitions,
                draw(st.sampled_from([0, 1, 0, 1, 0, 2])) if machine.licences else 0,
                draw(st.sampled_from([0, 0, 1])) if machine.nam_gb else 0,
                draw(st.sampled_from([0, 0, 0, 0, 0, 1])),
                tuple(edges),
            )
        )
    return tuple(drawn)


@st.composite
def policies(
    draw: st.DrawFn, *, simple: bool = False, overrun: bool = True, orders: tuple[str, ...] = ORDERS
) -> dict[str, Any]:
    """Return a policy's keys; ``simple`` (one placement, no resources) allows a static shadow too."""
    policy: dict[str, Any] = {"order": draw(st.sampled_from(orders))}
    policy["backfill"] = draw(st.sampled_from(["none", "first_fit", "easy", "easy", "conservative"]))
    policy["passes"] = draw(st.sampled_from(["instant", "instant", "event"]))
    policy["overrun_s"] = draw(st.sampled_from([0, 0, 2])) if overrun else 0
    policy["placement"] = draw(st.sampled_from(STRATEGIES))
    if policy["backfill"] == "conservative":
        policy["replan"] = draw(st.sampled_from(["scratch", "keep"]))
        if policy["replan"] == "keep" and policy["passes"] == "event":
            policy["overrun_s"] = 0  # the rules do not say when, between the ends of one instant, it is one
    if policy["backfill"] in ("easy", "first_fit"):
        policy["backfill_order"] = draw(st.sampled_from([None, None, *orders]))
    if policy["backfill"] == "easy":
        policy["depth"] = draw(st.sampled_from([None, 1, 1, 2, 3]))
        if policy["depth"] in (None, 1):
            policy["extra_rule"] = draw(st.booleans())
            policy["candidate_time"] = draw(st.sampled_from(["limit", "limit", "run"]))
            policy["shadow"] = draw(st.sampled_from(["dynamic", "static"])) if simple else "dynamic"
    return {key: value for key, value in policy.items() if value is not None}


@st.composite
def simple_cases(
    draw: st.DrawFn,
    policy: st.SearchStrategy[dict[str, Any]] | None = None,
    *,
    dependencies: bool = True,
    most: int = 16,
) -> Case:
    """Return a case with one placement a component and no shared resources."""
    chosen = draw(policies(simple=True) if policy is None else policy)
    machine = draw(machines(shared=False))
    return Case(machine, draw(jobs(machine, choices=1, dependencies=dependencies, most=most)), chosen)


@st.composite
def any_cases(draw: st.DrawFn, policy: st.SearchStrategy[dict[str, Any]] | None = None) -> Case:
    """Return a case with everything there is."""
    chosen = draw(policies() if policy is None else policy)
    machine = draw(machines())
    return Case(machine, draw(jobs(machine)), chosen)
