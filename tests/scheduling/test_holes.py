"""Advance reservations under the textbook policies: by hand, and start by start as in the plain reference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from tests.conftest import examples
from tests.oracle.plain_holes import Done, HoledClock, Reserved
from tests.oracle.records import Rules
from tests.scheduling.cases import Case, any_cases, policies, simple_cases
from tests.scheduling.test_properties import as_seen, as_told

pytestmark = pytest.mark.interpreted

USERS = "uv"


@dataclass(frozen=True)
class Site:
    """A case with reservations, what operators do, and who names what."""

    case: Case
    standing: tuple[Reserved, ...]
    done: tuple[Done, ...]
    wanted: dict[int, str]
    user: dict[int, str]

    def system(self) -> System:
        keys = self.case.machine.system().to_dict()
        made = [keys_of(one) for one in self.standing]
        made += [keys_of(act.one) | {"at": act.time} for act in self.done if act.kind == "make"]
        changes = []
        for act in self.done:
            change = {"name": act.one.name, "at": act.time}
            if act.kind == "delete":
                changes.append(change | {"action": "delete"})
            elif act.kind == "change":
                changes.append(
                    change | {"end": act.one.end, "nodes": words(act.one), "users": sorted(act.one.users)}
                )
        return System.from_dict(keys | {"reservations": made, "reservation_changes": changes})

    def workload(self) -> Workload:
        rows = range(len(self.case.jobs))
        wanted = [self.wanted.get(row, "") for row in rows]
        return self.case.workload(reservation=wanted, user=[self.user[row] for row in rows])

    def simulated(self) -> Result:
        return simulate(self.system(), self.workload(), Policy(**self.case.policy))

    def referenced(self) -> HoledClock:
        machine = self.case.machine
        clock = HoledClock(
            [self.case.component(row) for row in range(len(self.case.jobs))],
            {name: nodes for name, (nodes, _) in machine.modules.items()},
            {"lic": machine.licences, "nam": machine.nam_gb},
            Rules(**self.case.policy),
            list(self.standing),
            list(self.done),
            self.wanted,
            self.user,
        )
        clock.run()
        return clock


def words(one: Reserved) -> list[str]:
    modules = sorted({module for module, _ in one.nodes})
    return [f"{m}[{','.join(str(i) for name, i in sorted(one.nodes) if name == m)}]" for m in modules]


def keys_of(one: Reserved) -> dict[str, Any]:
    flags = {"MAINT": one.maint, "IGNORE_JOBS": one.ignore_jobs, "NO_HOLD_JOBS_AFTER": one.no_hold}
    repeats = {0: [], 3600: ["HOURLY"], 86_400: ["DAILY"]}[one.every]
    return {
        "name": one.name,
        "start": one.start,
        "end": one.end,
        "nodes": words(one),
        "users": sorted(one.users),
        "flags": [flag for flag, is_so in flags.items() if is_so] + repeats,
    }


@st.composite
def reserved(draw: st.DrawFn, name: str, case: Case, *, made_later: bool = False) -> Reserved:
    nodes = [(module, i) for module, (count, _) in case.machine.modules.items() for i in range(count)]
    start = draw(st.integers(-5, 40))
    return Reserved(
        name,
        start,
        start + draw(st.sampled_from([3, 8, 15, 30])),
        frozenset(draw(st.sets(st.sampled_from(nodes), min_size=1, max_size=4))),
        frozenset(draw(st.sampled_from(["u", "uv"]))),
        draw(st.sampled_from([False, False, True])),
        made_later and draw(st.booleans()),
        draw(st.sampled_from([False, False, True])),
        draw(st.sampled_from([0] * 9 + [3600])),
    )


@st.composite
def sites(draw: st.DrawFn, cases: st.SearchStrategy[Case], *, operators: bool) -> Site:
    case = draw(cases)
    case = replace(case, policy=case.policy | {"passes": "instant"})
    if case.policy.get("shadow") == "static":
        case = replace(case, policy=case.policy | {"shadow": "dynamic"})
    standing: list[Reserved] = []
    for name in "rs"[: draw(st.integers(1, 2))]:
        one = draw(reserved(name, case))
        apart = all(one.maint or other.maint or not one.nodes & other.nodes for other in standing)
        standing += [one] if apart else []
    done: list[Done] = []
    if operators:
        if draw(st.booleans()):
            one = draw(reserved("t", case, made_later=True))
            at = draw(st.integers(max(one.start - 20, 0), one.start + 5))
            done.append(Done(at, "make", one))
        for old in [*standing, *(act.one for act in done)]:
            kind = draw(st.sampled_from(["", "", "delete", *([] if old.every else ["change"])]))
            new = replace(draw(reserved(old.name, case)), start=old.start, maint=old.maint, every=old.every)
            new = replace(
                new, end=max(new.end, old.start + 2), no_hold=old.no_hold, ignore_jobs=old.ignore_jobs
            )
            at = draw(st.integers(0, 50))
            done += [Done(at, kind, new)] if kind and at <= new.end else []
    names = [one.name for one in (*standing, *(act.one for act in done))]
    rows = range(len(case.jobs))
    wanted = {row: draw(st.sampled_from(names)) for row in rows if draw(st.integers(0, 2)) == 0}
    return Site(
        case, tuple(standing), tuple(done), wanted, {row: draw(st.sampled_from(USERS)) for row in rows}
    )


def compare(site: Site) -> None:
    result, clock = site.simulated(), site.referenced()
    theirs = [
        tuple(fact.split("@")[0] if isinstance(fact, str) else fact for fact in facts)
        for facts in as_told(clock)
    ]
    assert as_seen(result) == theirs
    result.check()


@examples(250)
@given(sites(simple_cases(policies(simple=False, overrun=False)), operators=False))
def test_equal_to_the_plain_reference(site: Site) -> None:
    compare(site)


@examples(150)
@given(sites(any_cases(policies(overrun=False)), operators=False))
def test_equal_with_placements_and_resources(site: Site) -> None:
    compare(site)


@examples(250)
@given(sites(simple_cases(policies(simple=False)), operators=True))
def test_equal_while_operators_act_and_jobs_overrun(site: Site) -> None:
    compare(site)
