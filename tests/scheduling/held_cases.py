"""Random cases in which components are held: by begin times, by hand, by others of their name or array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, Workload
from tests.oracle.plain_holds import HoldingClock
from tests.oracle.records import Act, Component, Rules
from tests.scheduling.cases import KINDS, Case, any_cases, policies, simple_cases

ARRAY = 1000
MOST = 2


@dataclass(frozen=True)
class Terms:
    """What holds one job; ``begin`` is s after its submission, ``after`` (row, kind)."""

    begin: int = 0
    held: bool = False
    alone: bool = False
    line: str = ""
    task: bool = False
    any_will_do: bool = False
    after: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class HeldCase:
    """A case, what holds its jobs, and what operators do."""

    case: Case
    terms: tuple[Terms, ...]
    acts: tuple[Act, ...] = ()

    def workload(self) -> Workload:
        terms, count = self.terms, len(self.terms)
        kinds = [[kind for _, kind in one.after] + ["SINGLETON"] * one.alone for one in terms]
        begins = [job.submit + one.begin for job, one in zip(self.case.jobs, terms, strict=True)]
        return self.case.workload().replace(
            begin_time=begins,
            hold=[int(one.held) for one in terms],
            user=["ada"] * count,
            name=[one.line for one in terms],
            array_job_id=[ARRAY if one.task else -1 for one in terms],
            array_task_id=[row if one.task else -1 for row, one in enumerate(terms)],
            array_limit=[MOST if one.task else -1 for one in terms],
            dependency_any=[int(one.any_will_do) for one in terms],
            dependency_ids=[",".join(str(row + 1) for row, _ in one.after) for one in terms],
            dependency_kinds=[",".join(one) for one in kinds],
        )

    def simulation(self) -> Simulation:
        return Simulation(self.case.machine.system(), self.workload(), Policy(**self.case.policy))

    def simulated(self) -> Result:
        sim = self.simulation()

        def operators() -> Any:
            for act in self.acts:
                yield sim.env.timeout(act.time - sim.env.now)
                getattr(sim, act.kind)(act.row + 1)

        sim.process(operators())
        return sim.run()

    def referenced(self) -> HoldingClock:
        machine = self.case.machine
        capacity = {name: nodes for name, (nodes, _) in machine.modules.items()}
        capacity |= {"lic": machine.licences, "nam": machine.nam_gb}
        components = [self.component(row) for row in range(len(self.terms))]
        clock = HoldingClock(components, capacity, Rules(**self.case.policy), list(self.acts))
        clock.run()
        return clock

    def component(self, row: int) -> Component:
        plain, terms = self.case.component(row), self.terms[row]
        return Component(
            row,
            plain.submit,
            plain.placements,
            terms.after,
            plain.fails,
            any_will_do=terms.any_will_do,
            begin=plain.submit + terms.begin,
            held=terms.held,
            alone=terms.alone,
            line=terms.line,
            array=ARRAY if terms.task else -1,
            most=MOST if terms.task else -1,
        )


@st.composite
def held_cases(draw: st.DrawFn, *, operated: bool, simple: bool = False) -> HeldCase:
    """Return a case with operators or without; with them all ends of an instant come before one pass."""
    chosen = policies(simple=simple)
    if operated:
        chosen = chosen.map(lambda policy: policy | {"passes": "instant"})
    make = simple_cases if simple else any_cases
    case = draw(make(chosen))
    terms = []
    for row in range(len(case.jobs)):
        edges = st.tuples(st.integers(0, max(row - 1, 0)), st.sampled_from([*KINDS, "AFTER+1"]))
        after = draw(st.lists(edges, max_size=2, unique_by=lambda edge: edge[0])) if row else []
        terms.append(
            Terms(
                begin=draw(st.sampled_from([0, 0, 0, 0, 1, 4, 9, 30])),
                held=operated and draw(st.sampled_from([False] * 5 + [True])),
                alone=draw(st.sampled_from([False] * 3 + [True])),
                line=draw(st.sampled_from(["x", "y"])),
                task=draw(st.sampled_from([False, False, True])),
                any_will_do=draw(st.booleans()),
                after=tuple(after) if draw(st.integers(0, 3)) == 0 else (),
            )
        )
    acts: list[Act] = []
    if operated:
        first = min(job.submit for job in case.jobs)
        acts = draw(
            st.lists(
                st.builds(
                    Act,
                    st.integers(first, first + 30),
                    st.sampled_from(["hold", "release", "hold", "release", "cancel", "requeue"]),
                    st.integers(0, len(case.jobs) - 1),
                ),
                max_size=12,
            )
        )
        acts.sort(key=lambda act: act.time)
    return HeldCase(case, tuple(terms), tuple(acts))
