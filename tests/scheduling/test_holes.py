"""Advance reservations under the textbook policies: by hand, and start by start as in the plain reference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.cli.system_page import system_text
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.report.explain import explain
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


# -- by hand

FOUR = {"modules": [{"name": "m", "nodes": 4}]}
LAB = {"name": "lab", "start": 20, "end": 50, "nodes": ["m[0-1]"], "users": ["u"]}
SCHEMES: dict[str, dict[str, Any]] = {
    "fcfs": {"backfill": "none"},
    "first_fit": {"backfill": "first_fit"},
    "easy": {"backfill": "easy"},
    "two": {"backfill": "easy", "depth": 2},
    "conservative": {"backfill": "conservative"},
    "keep": {"backfill": "conservative", "replan": "keep"},
}


def played(
    jobs: dict[str, list[Any]],
    *reserved: dict[str, Any],
    changes: list[dict[str, Any]] | None = None,
    scheme: str = "easy",
) -> Result:
    system = System.from_dict(FOUR | {"reservations": list(reserved), "reservation_changes": changes or []})
    rows = len(jobs["nodes"])
    given = {"user": ["u"] * rows, "reservation": [""] * rows, "submit_time": [0] * rows} | jobs
    given["time_limit"] = given.get("time_limit", given["run_time"])
    result = simulate(system, Workload.from_columns(**given), Policy(**SCHEMES[scheme]))
    result.check()
    return result


def starts(result: Result) -> list[int]:
    return result.components["start_time"].tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_example_of_the_page(scheme: str) -> None:
    jobs = {
        "nodes": [2, 3, 2, 1],
        "submit_time": [0, 1, 2, 3],
        "run_time": [10, 10, 10, 25],
        "time_limit": [15, 15, 15, 25],
        "reservation": ["", "", "lab", ""],
    }
    result = played(jobs, LAB, scheme=scheme)
    assert starts(result) == [0, 50, 20, 50 if scheme == "fcfs" else 3]
    assert result.timeline["nodes_reserved_idle"].eq(0).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_who_may_not_or_does_not_fit_is_rejected_and_told_why(scheme: str) -> None:
    jobs = {
        "nodes": [1, 1, 3, 1, 2],
        "run_time": [5, 5, 5, 31, 30],
        "user": ["v", "u", "u", "u", "u"],
        "reservation": ["lab", "bal", "lab", "lab", "LAB"],
    }
    result = played(jobs, LAB, scheme=scheme)
    assert result.components["reservation_reason"].tolist() == [
        "access denied",
        "no such reservation",
        "does not fit in its reservation",
        "does not fit in its reservation",
        "",
    ]
    assert starts(result) == [-1, -1, -1, -1, 20]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_waits_when_it_is_over_waits_for_ever_or_goes_on_without(scheme: str) -> None:
    jobs = {"nodes": [2, 2], "run_time": [20, 20], "reservation": ["lab", "lab"]}
    held = played(jobs, LAB, scheme=scheme)
    assert starts(held) == [20, -1]
    assert held.components["reservation_reason"].tolist() == ["", "reservation is gone"]
    assert starts(played(jobs, LAB | {"flags": ["NO_HOLD_JOBS_AFTER"]}, scheme=scheme)) == [20, 50]


@pytest.mark.parametrize("scheme", ["fcfs", "easy", "keep"])  # two weeks of turns take seconds
def test_maintenance_takes_the_nodes_of_others_and_turns_come_again(scheme: str) -> None:
    maintenance = {"name": "down", "start": 30, "end": 40, "nodes": ["ALL"], "users": ["root"]}
    jobs = {"nodes": [1, 1, 4], "run_time": [11, 10, 3590], "reservation": ["lab", "lab", ""]}
    result = played(jobs, LAB, maintenance | {"flags": ["MAINT", "HOURLY"]}, scheme=scheme)
    # the first never ends in lab before maintenance, or between that and the end: under fcfs it blocks lab
    assert starts(result) == [-1, -1 if scheme == "fcfs" else 20, 3640]


def test_turns_without_end_are_no_hope_for_who_waits_for_good() -> None:
    """One of four nodes is drained, nobody says until when."""
    drained = {"events": [{"time": 0, "state": "DRAIN", "nodes": "0"}]}
    system = System.from_dict(FOUR | drained | {"reservations": [LAB | {"flags": ["HOURLY"]}]})
    result = simulate(system, Workload.from_columns(nodes=[4], submit_time=[0], run_time=[1]), "easy")
    assert starts(result) == [-1]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nor_is_a_plan_behind_all_turns_that_are_known(scheme: str) -> None:
    """Turns leave 600 s, a job of four nodes asks for 3000 s: its plan goes on with them."""
    result = played(
        {"nodes": [4], "run_time": [3000]}, LAB | {"end": 3020, "flags": ["HOURLY"]}, scheme=scheme
    )
    assert starts(result) == [-1]


def test_it_takes_what_is_free_and_grows_as_jobs_end() -> None:
    """Made at 10 for 15, beside a job that has three nodes until 30."""
    made = LAB | {"at": 10, "start": 15, "flags": ["IGNORE_JOBS"]}
    jobs = {
        "nodes": [3, 1, 2, 1],
        "submit_time": [0, 11, 12, 31],
        "run_time": [30, 5, 5, 30],
        "reservation": ["", "lab", "lab", ""],
    }
    assert starts(played(jobs, made)) == [0, 15, 30, 31]
    refused = played(jobs, LAB | {"at": 10, "start": 15})
    assert refused.metrics["counts"]["not_honoured"] == {"reservation_change": 1}
    assert refused.components["reservation_reason"].tolist()[1:3] == ["no such reservation"] * 2


def test_a_change_and_a_deletion_are_seen_at_once() -> None:
    jobs = {"nodes": [4], "run_time": [10], "submit_time": [15]}
    assert starts(played(jobs, LAB)) == [50]
    assert starts(played(jobs, LAB, changes=[{"name": "lab", "at": 22, "end": 30}])) == [30]
    assert starts(played(jobs, LAB, changes=[{"name": "lab", "at": 22, "action": "delete"}])) == [22]


@pytest.mark.parametrize(
    ("keys", "policy", "said"),
    [
        ({"flags": ["FLEX"]}, {}, r"system.reservations\[0\].flags: found FLEX under policy easy"),
        ({"nodes": ["m[0-9]"]}, {}, "numbers from 0 to 3"),
        ({}, {"preempt": {"by": "priority"}}, "found 1 with policy.preempt; allowed: one of the two"),
        ({}, {"shadow": "static"}, "policy.shadow: found 'static'"),
    ],
)
def test_what_is_not_modelled_is_refused(keys: dict[str, Any], policy: dict[str, Any], said: str) -> None:
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1])
    keyed = Policy(name="easy", backfill="easy", **policy)
    with pytest.raises(InputError, match=said):
        simulate(System.from_dict(FOUR | {"reservations": [LAB | keys]}), jobs, keyed)


def test_shared_nodes_are_refused() -> None:
    system = System.from_dict(
        {"modules": [{"name": "m", "nodes": 4, "shared": True, "cores_per_node": 2}], "reservations": [LAB]}
    )
    with pytest.raises(ConfigError, match=r"where jobs share nodes.*beside advance reservations"):
        simulate(system, Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1]), "easy")


# -- what is said of it


def test_explain_names_what_was_reserved() -> None:
    jobs = {
        "nodes": [3, 1, 1, 2],
        "run_time": [30, 5, 5, 40],
        "user": ["u", "v", "u", "u"],
        "reservation": ["", "lab", "lab", "lab"],
    }
    result = played(jobs, LAB | {"flags": ["HOURLY"]})
    assert starts(result) == [50, -1, 20, -1]
    first = explain(result, 1)
    assert "reserved for others: 2 nodes from 0d 00:00:20 to 0d 00:00:50 (lab)." in first.notes[0]
    assert not first.phases
    assert explain(result, 2).reason == "it may not use the reservation lab"
    assert "It named the reservation lab" in explain(result, 3).notes[0]
    assert explain(result, 4).reason == "it asked for more nodes, or more time, than lab ever has"


def test_inspect_lists_reservations() -> None:
    page = system_text(System.from_dict(FOUR | {"reservations": [LAB | {"flags": ["MAINT", "DAILY"]}]}))
    row = next(line for line in page.splitlines() if line.lstrip().startswith("lab"))
    assert row.split() == ["lab", "m[0-1]", "u", "MAINT,", "DAILY", "second", "20", "second", "50"]
