"""Random scripts of outside actions on random workloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation
from tests.scheduling.cases import KINDS, Case, any_cases, simple_cases

KINDS_OF_ACTION = (
    "submit",
    "submit",
    "cancel",
    "drain",
    "fail",
    "requeue",
    "resume",
    "resume",
    "capacity",
    "chain",
)


@dataclass(frozen=True)
class Action:
    """Something done at an instant, or in answer to the start or end of a component."""

    time: int
    kind: str
    which: int  # a component, module or resource, modulo how many there are
    amount: int
    other: int
    answers: str  # "", "started" or "ended": done then instead, if it comes

    def act(self, sim: Simulation, ids: list[int]) -> Any:
        system = sim.system
        module = system.modules[self.which % len(system.modules)].name
        until = int(sim.env.now) + self.other if self.other % 3 else None
        if self.kind in ("submit", "chain"):
            ids.append(sim.submit(**self.fields(sim, ids)))
        elif self.kind == "cancel" and ids:
            sim.cancel(ids[self.which % len(ids)])
        elif self.kind in ("drain", "resume"):
            more = {"until": until} if self.kind == "drain" else {}
            getattr(sim, self.kind)(module, self.amount, **more)
        elif self.kind in ("fail", "requeue"):
            sim.fail(module, self.amount, requeue=self.kind == "requeue", until=until)
        elif self.kind == "capacity" and system.resources:
            resource = system.resources[self.which % len(system.resources)]
            sim.set_capacity(resource.name, resource.amount * self.amount // 2)

    def fields(self, sim: Simulation, ids: list[int]) -> dict[str, Any]:
        partitions = [partition.name for partition in sim.system.partitions]
        asked = [partitions[(self.which + i) % len(partitions)] for i in range(1 + self.other % 3 // 2)]
        fields: dict[str, Any] = {"nodes": self.amount, "run_time": self.other, "partition": ",".join(asked)}
        if self.which % 3:
            fields["time_limit"] = 1 + (self.other + self.which) % 12
        if self.kind == "chain" and ids:
            fields["after"] = [ids[self.which % len(ids)], ids[self.other % len(ids)]]
            fields["dependency_type"] = KINDS[self.amount % len(KINDS)]
        if self.which % 4 == 1 and any(r.kind == "licence" for r in sim.system.resources):
            fields["licences"] = "lic"
        return fields


actions = st.builds(
    Action,
    time=st.integers(0, 25),
    kind=st.sampled_from(KINDS_OF_ACTION),
    which=st.integers(0, 11),
    amount=st.integers(1, 4),
    other=st.integers(0, 12),
    answers=st.sampled_from(["", "", "started", "ended"]),
).filter(lambda action: action.kind != "drain" or action.other != 0)


@dataclass(frozen=True)
class Script:
    """A workload and what is done to it while it runs."""

    case: Case
    actions: tuple[Action, ...]
    seed: int

    def simulation(self) -> Simulation:
        policy = Policy(**self.case.policy)
        return Simulation(self.case.machine.system(), self.case.workload(), policy, seed=self.seed)

    def play(self, sim: Simulation, *, looks: bool = False) -> tuple[Result, list[tuple[int, int]]]:
        """Return the result, and the instants at which answers were given; looking midway or not."""
        ids = list(range(1, len(self.case.jobs) + 1))
        answered: list[tuple[int, int]] = []

        def process(number: int, action: Action) -> Any:
            start = min(job.submit for job in self.case.jobs)
            yield sim.env.timeout(start + action.time - sim.env.now)
            if action.answers:
                event = getattr(sim, action.answers)(ids[action.other % len(ids)])
                yield event
                answered.append((number, int(sim.env.now)))
            action.act(sim, ids)
            if looks:
                sim.result().check()

        for number, action in enumerate(self.actions):
            sim.process(process(number, action))
        return sim.run(), answered


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Return a random script; ``shadow: static`` only where nothing submitted may break its bounds."""
    case = draw(st.one_of(any_cases(), simple_cases()))
    if case.policy.get("shadow") == "static":
        case = Case(case.machine, case.jobs, {**case.policy, "shadow": "dynamic"})
    chosen = draw(st.lists(actions, min_size=0, max_size=12))
    return Script(case, tuple(chosen), draw(st.integers(0, 3)))
