"""Moldable jobs: sizes from a profile as placements; by the clock, and against the plain reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Result, Simulation, System, Workload, simulate
from scheduler_sim.applications.models import Models
from scheduler_sim.errors import ConfigError, TraceError
from scheduler_sim.placement.table import expand
from scheduler_sim.scaling.expand import expand as scaled_choices
from scheduler_sim.scaling.profile_file import profile_of
from tests.conftest import examples
from tests.oracle.plain import Clock, schedule
from tests.oracle.records import Component, Placement, Rules
from tests.scheduling.cases import policies
from tests.scheduling.test_properties import as_seen, as_told

pytestmark = pytest.mark.interpreted

FOUR = System.homogeneous(4, "A")
TWO = System.from_dict({"modules": [{"name": "A", "nodes": 4}, {"name": "B", "nodes": 8}]})


def amdahl(serial: float = 0.0, speeds: dict[str, float] | None = None, **nodes: Any) -> dict[str, Any]:
    """The keys of a profile: one process a node, T(n) = (serial + (1 - serial) / n) / speed."""
    speedup = {"curve": "amdahl_speedup", "serial": serial}
    header = {"version": 1, "app": "x", "scaling": "strong", "modules": speeds or {"A": 1.0}}
    return {**header, "nodes": nodes, "speedup": speedup}


def models(profile: dict[str, Any], **keys: Any) -> Models:
    """Jobs called x scale by a profile, those called rigid run as the trace says."""
    own = {name: keys.pop(name) for name in ("edits", "component") if name in keys}
    return Models.of(
        applications={"types": [{"name": "x", "profile": profile, **own}, {"name": "rigid"}], **keys}
    )


def jobs(*rows: tuple[int, int, int, str], **columns: Any) -> Workload:
    """Jobs as (submit, nodes, run time and limit, application)."""
    submit, nodes, length, app = zip(*rows, strict=True)
    return Workload.from_columns(
        submit_time=submit, nodes=nodes, run_time=length, time_limit=length, app=app, **columns
    )


def ran(result: Result) -> list[tuple[int, int, int]]:
    """Nodes, start and end of each component."""
    result.check()
    columns = result.components[["nodes", "start_time", "end_time"]]
    return [tuple(row) for row in columns.to_numpy().tolist()]


# -------------------------------------------------------------------------- by the clock


@pytest.mark.parametrize("backfill", ["none", "first_fit", "easy", "conservative"])
@pytest.mark.parametrize(
    ("strategy", "found"),
    [
        ("preferred", (2, 0, 8)),
        ("first_available", (2, 0, 8)),
        ("earliest_start", (2, 0, 8)),
        ("earliest_end", (4, 0, 4)),
        ("least_cost", (2, 0, 8)),  # all sizes cost 16 node-seconds: list order, the own size first
    ],
)
def test_on_an_idle_machine(backfill, strategy, found):
    """Two nodes for 8 s, or 1 for 16 s, 4 for 4 s, without any loss."""
    policy = {"backfill": backfill, "placement": strategy}
    result = simulate(FOUR, jobs((0, 2, 8, "x")), policy, models=models(amdahl(only=[1, 2, 4])))
    assert ran(result) == [found]


@pytest.mark.parametrize(
    ("backfill", "until", "found"),
    [
        ("easy", 10, (4, 10, 14)),
        ("conservative", 10, (4, 10, 14)),
        ("easy", 14, (1, 1, 17)),  # of 4 nodes it would end at 18
        ("conservative", 14, (1, 1, 17)),
        ("easy", 13, (1, 1, 17)),  # both end at 17: the smaller start
        ("none", 10, (1, 1, 17)),  # without a reservation it takes what is free
        ("first_fit", 10, (1, 1, 17)),
    ],
)
def test_a_job_that_finds_one_node_free(backfill, until, found):
    """R has three nodes until 10. X (2 nodes, 8 s) comes at 1.

    ::

        rrrrrrrrrr|XXXX         rrrrrrrrrr
        rrrrrrrrrr|XXXX         rrrrrrrrrr
        rrrrrrrrrr|XXXX         rrrrrrrrrr
        .         |XXXX         .XXXXXXXXXXXXXXXX
    """
    result = simulate(
        FOUR,
        jobs((0, 3, until, "rigid"), (1, 2, 8, "x")),
        {"backfill": backfill, "placement": "earliest_end"},
        models=models(amdahl(only=[1, 2, 4])),
    )
    assert ran(result)[1] == found
    resized = result.metrics["counts"]["resized"]
    assert resized == {"fewer_nodes": int(found[0] == 1), "more_nodes": int(found[0] == 4)}
    assert result.metrics["counts"]["several_sizes"] == 1


def test_the_floor_leaves_out_what_wastes_nodes():
    """A fifth is serial: efficiency 0.83 on 2 nodes, 0.625 on 4; at least 0.7 is 1 or 2 nodes."""
    work = jobs((0, 1, 100, "x"))
    for floor, nodes, end in ((0.0, 4, 40), (0.7, 2, 60), (0.9, 1, 100)):
        wide = models(amdahl(0.2, only=[1, 2, 4]), floor=floor)
        assert ran(simulate(FOUR, work, {"placement": "earliest_end"}, models=wide)) == [(nodes, 0, end)]


def test_powers_of_two_of_what_is_offered_besides_the_own_size():
    placed = expand(jobs((0, 3, 8, "x")), TWO, models=models(amdahl(min=2), sizes="powers_of_two"))
    assert placed.nodes.tolist() == [3, 2, 4]
    placed = expand(jobs((0, 1, 8, "x")), TWO, models=models(amdahl(min=2)))
    assert placed.nodes.tolist() == [1, 2, 3, 4]
    placed = expand(jobs((0, 1, 8, "x")), TWO, models=models(amdahl(max=3), sizes="powers_of_two"))
    assert placed.nodes.tolist() == [1, 2]


def test_size_and_module_are_chosen_together():
    """B is three times as fast, its 8 nodes offered up to 4 by the profile: 4 nodes of B end first."""
    profile = amdahl(speeds={"A": 1.0, "B": 3.0}, only=[1, 2, 4])
    work = jobs((0, 2, 24, "x"), (0, 2, 24, "x"), (0, 2, 24, "x"), partition="A,B")
    result = simulate(TWO, work, {"backfill": "easy", "placement": "earliest_end"}, models=models(profile))
    assert ran(result) == [(4, 0, 4), (4, 0, 4), (4, 4, 8)]  # the third: 4 of A end at 12, 4 of B at 4 + 4
    assert result.components["module"].tolist() == ["B", "B", "B"]


def test_fastest_first_takes_modules_from_the_profile():
    profile = amdahl(speeds={"A": 1.0, "B": 3.0}, only=[1, 2, 4])
    offered = models(profile, reference="A", modules="fastest_first")
    placed = expand(jobs((0, 2, 24, "x")), TWO, models=offered)
    assert placed.module.tolist() == [1, 1, 1, 0, 0, 0]
    assert placed.nodes.tolist() == [2, 1, 4, 2, 1, 4]
    assert placed.run.tolist() == [8, 16, 4, 24, 48, 12]


def test_a_limit_below_the_run_time_stays_below_at_every_size():
    work = jobs((0, 2, 8, "x")).replace(time_limit=[6])
    result = simulate(FOUR, work, {"placement": "earliest_end"}, models=models(amdahl(only=[1, 2, 4])))
    assert ran(result) == [(4, 0, 3)]
    assert result.components["state"].tolist() == ["TIMEOUT"]


def test_members_of_a_heterogeneous_job_keep_their_size():
    work = jobs((0, 1, 8, "x"), (0, 1, 8, "x")).replace(
        modular_job_id=[1, 1], component_id=[1, 2], components_total=2
    )
    result = simulate(FOUR, work, {"placement": "earliest_end"}, models=models(amdahl(only=[1, 2, 4])))
    assert [nodes for nodes, *_ in ran(result)] == [1, 1]


def test_what_a_process_submits_is_moldable_too():
    simulation = Simulation(FOUR, None, {"placement": "earliest_end"}, models=models(amdahl(only=[1, 2, 4])))
    simulation.submit(nodes=2, run_time=8, time_limit=8, app="x")
    assert ran(simulation.run()) == [(4, 0, 4)]


def test_slurm_does_not_choose_sizes():
    work = jobs((0, 2, 8, "x"))
    with pytest.raises(ConfigError, match=r"policy.backfill: found 'slurm' .*applications.sizes: own"):
        simulate(FOUR, work, "slurm", models=models(amdahl()))
    assert simulate(FOUR, work, "slurm", models=models(amdahl(), sizes="own")).components["nodes"][0] == 2


# ------------------------------------------------------------------------------ what-ifs


@pytest.mark.parametrize(
    ("edits", "run"),
    [
        ([], 100),
        ([{"accelerate": 0.4, "by": 4}], 70),  # 60 + 40 / 4
        ([{"remove": 0.3}], 70),
        ([{"remove": 0.5}, {"accelerate": 0.4, "by": 4}], 35),
        ([{"move": "B"}], 34),  # 100 / 3
        ([{"move": "B"}, {"remove": 0.5}], 17),
    ],
)
def test_what_ifs_change_the_run_times_of_a_trace(edits, run):
    changed = models(amdahl(speeds={"A": 1.0, "B": 3.0}), edits=edits, sizes="own")
    placed = expand(jobs((0, 2, 100, "x"), (0, 2, 100, "rigid")), TWO, models=changed)
    assert placed.run.tolist() == [run, 100]
    assert placed.nodes.tolist() == [2, 2]
    assert placed.module[0] == (1 if {"move": "B"} in edits else 0)


def test_noise_taken_away_shows_at_large_sizes():
    """Serialization of 1 / (1 + 0.1 (P - 1)): without it 4 nodes take a quarter of 1 node's time."""
    noisy = {"serialization": {"curve": "amdahl", "f": 0.9}, "transfer": {"curve": "constant", "value": 1}}
    profile = {key: value for key, value in amdahl(floor=0).items() if key != "speedup"}
    profile |= {"efficiency": noisy}
    work, quiet = jobs((0, 1, 90, "x")), {"curve": "constant", "value": 1.0}
    before = expand(work, FOUR, models=models(profile))
    after = expand(work, FOUR, models=models(profile, edits=[{"replace": "serialization", "curve": quiet}]))
    assert before.nodes.tolist() == after.nodes.tolist() == [1, 2, 3, 4]
    assert before.run.tolist() == [90, 50, 36, 30]  # 90 (0.9 + 0.1 n) / n, rounded up
    assert after.run.tolist() == [90, 45, 30, 23]


def test_a_component_of_a_modular_application_moved():
    part = {key: value for key, value in amdahl(speeds={"A": 1.0, "B": 3.0}).items() if key not in HEADER}
    run = {"module": "A", "nodes": 2, "time": 10}
    whole = {"version": 1, "app": "c", "components": {"air": {**part, "runs": run}}}
    placed = expand(jobs((0, 2, 90, "x")), TWO, models=models(whole, component="air", sizes="own"))
    assert placed.run.tolist() == [90]
    changed = models(whole, component="air", sizes="own", edits=[{"component": "air", "move": "B"}])
    placed = expand(jobs((0, 2, 90, "x")), TWO, models=changed)
    assert (placed.run.tolist(), placed.module.tolist()) == ([30], [1])


HEADER = ("version", "app")


# --------------------------------------------------------------------------------- files


def test_profiles_in_files_are_read_beside_the_models_and_become_part_of_them(tmp_path):
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "x.yaml").write_text(
        "version: 1\napp: x\nscaling: strong\nmodules: {A: 1}\nnodes: {only: [1, 2, 4]}\n"
        "speedup: {curve: amdahl_speedup, serial: 0.0}\n"
    )
    file = tmp_path / "models.yaml"
    file.write_text(
        "applications:\n  types:\n    - {name: solver, apps: ['17', nemo], profile: apps/x.yaml}\n"
    )
    read = Models.from_yaml(file)
    assert read.to_dict()["applications"]["types"][0]["profile"]["speedup"]["curve"] == "amdahl_speedup"
    assert Models.of(**read.to_dict()).to_dict() == read.to_dict()
    assert [read.named_type(name) for name in ("solver", "NEMO", "17", "1")] == [0, 0, 0, 0]
    result = simulate(FOUR, jobs((0, 2, 8, "nemo")), {"placement": "earliest_end"}, models=file)
    assert ran(result) == [(4, 0, 4)]
    assert result.manifest["models"] == read.to_dict()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"profile": 3}, r"types\[0\].profile: found 3; allowed: the path of a profile"),
        ({"profile": {}, "ratios": {"A": 1}}, r"types\[0\].profile: found beside ratios"),
        ({"edits": [{"remove": 0.1}]}, r"types\[0\].edits: found without a profile"),
        ({"profile": amdahl(), "component": "air"}, r"types\[0\].component: found 'air' of an application"),
        ({"profile": {**amdahl(), "scaling": "hard"}}, r"types\[0\].profile.scaling: found 'hard'"),
        ({"profile": amdahl(), "edits": [{"move": "Z"}]}, r"types\[0\].edits\[0\].move: x: move: found 'Z'"),
        ({"profile": amdahl(), "edits": [{}]}, r"types\[0\].edits\[0\]: found none"),
        ({"profile": "no-such.yaml"}, "no-such.yaml"),
    ],
)
def test_mistakes_are_named(keys, message):
    with pytest.raises(ConfigError, match=message):
        Models.of(applications={"types": [{"name": "x", **keys}]})


def test_a_trace_that_ran_where_the_profile_has_no_speed():
    with pytest.raises(TraceError, match=r"found 'B' as the module of the trace's run times.*profile of x"):
        expand(jobs((0, 1, 5, "x"), partition="B"), TWO, models=models(amdahl()))


# ---------------------------------------------------------------------------- properties


@dataclass(frozen=True)
class Molded:
    """Jobs as (submit, nodes, run, limit, modules, type), serial shares, sizes and speeds, and a policy."""

    modules: dict[str, int]
    serial: tuple[float, ...]
    speeds: dict[str, float]
    sizes: tuple[int, ...]
    floor: float
    jobs: tuple[tuple[int, int, int, int, tuple[str, ...], int], ...]
    policy: dict[str, Any]

    @property
    def system(self) -> System:
        return System.from_dict({"modules": [{"name": n, "nodes": k} for n, k in self.modules.items()]})

    @property
    def workload(self) -> Workload:
        submit, nodes, length, limit, modules, kinds = zip(*self.jobs, strict=True)
        return Workload.from_columns(
            submit_time=submit,
            nodes=nodes,
            run_time=length,
            time_limit=limit,
            partition=[",".join(names) for names in modules],
            app=[f"t{kind}" for kind in kinds],
        )

    def models(self, **keys: Any) -> Models:
        types = [
            {"name": f"t{i}", "profile": amdahl(serial, self.speeds, only=list(self.sizes), floor=self.floor)}
            for i, serial in enumerate(self.serial)
        ]
        return Models.of(applications={"types": types, **keys})

    def simulated(self, **keys: Any) -> Result:
        return simulate(self.system, self.workload, self.policy, models=self.models(**keys))

    def ways(self, row: int) -> tuple[Placement, ...]:
        """The placements of a job by Amdahl's law, without the package."""
        _, own, length, limit, modules, kind = self.jobs[row]

        def time(nodes: int, module: str) -> float:
            return (self.serial[kind] + (1 - self.serial[kind]) / nodes) / self.speeds[module]

        def is_offered(nodes: int) -> bool:
            is_faster = self.serial[kind] < 1 or nodes == self.sizes[0]
            return is_faster and nodes != own and 1 / (1 + self.serial[kind] * (nodes - 1)) >= self.floor

        found = []
        for name in modules:
            for nodes in (own, *filter(is_offered, self.sizes)):
                ratio = time(nodes, name) / time(own, modules[0])
                seconds = [int(np.ceil(round(ratio * known, 6))) for known in (length, limit)]
                if nodes <= self.modules[name]:
                    found.append(Placement(name, nodes, seconds[0], max(seconds[1], 1), nodes * seconds[1]))
        return tuple(found)

    def referenced(self) -> Clock:
        components = [Component(row, self.jobs[row][0], self.ways(row)) for row in range(len(self.jobs))]
        return schedule(components, dict(self.modules), {}, Rules(**self.policy))


@st.composite
def molded(draw: st.DrawFn) -> Molded:
    names = ["A", "B"][: draw(st.integers(1, 2))]
    rows, submit = [], 0
    for _ in range(draw(st.integers(1, 12))):
        submit += draw(st.sampled_from([0, 0, 1, 2, 5]))
        length = draw(st.sampled_from([1, 2, 4, 8, 11]))
        limit = max(1, length + draw(st.sampled_from([0, 0, 3, -2])))
        modules = tuple(draw(st.permutations(names)))[: draw(st.integers(1, len(names)))]
        rows.append((submit, draw(st.integers(1, 4)), length, limit, modules, draw(st.integers(0, 1))))
    policy = draw(policies(orders=("fifo",)))
    if policy["placement"] == "least_cost":  # the cost of a node is not what is looked at here
        policy["placement"] = "earliest_end"
    return Molded(
        {name: draw(st.integers(2, 6)) for name in names},
        (draw(st.sampled_from([0.0, 0.1, 0.4])), draw(st.sampled_from([0.0, 0.25, 1.0]))),
        {name: draw(st.sampled_from([0.5, 1.0, 2.0])) for name in names},
        tuple(sorted(draw(st.sets(st.integers(1, 6), min_size=1)))),
        draw(st.sampled_from([0.0, 0.5, 0.85])),
        tuple(rows),
        policy,
    )


@examples(100)
@given(molded())
def test_equal_to_the_plain_reference(case: Molded) -> None:
    result = case.simulated()
    assert as_seen(result) == as_told(case.referenced())
    result.check()


@examples(60)
@given(molded())
def test_a_component_runs_in_exactly_one_of_its_placements(case: Molded) -> None:
    placed = expand(case.workload, case.system, models=case.models())
    overrun = case.policy["overrun_s"]
    for row, found in enumerate(case.simulated().components.itertuples()):
        places = slice(placed.first[row], placed.first[row + 1])
        ways = list(zip(*(getattr(placed, name)[places].tolist() for name in WAY), strict=True))
        assert len({way[:2] for way in ways}) == len(ways)
        if found.start_time < 0:
            assert found.state == ("PENDING" if ways else "REJECTED")
            continue
        module = list(case.modules).index(found.module)
        (run, limit) = next(way[2:] for way in ways if way[:2] == (module, found.nodes))
        assert found.end_time - found.start_time == min(run, limit + overrun)
        assert found.time_limit == limit


WAY = ("module", "nodes", "run", "limit")


@examples(60)
@given(molded())
def test_with_nothing_but_the_own_size_offered_a_run_is_rigid_to_the_bit(case: Molded) -> None:
    """Own sizes by key; and by a floor of 1 where efficiency falls from the first node on."""
    alone = [(*job[:4], job[4][:1], job[5]) for job in case.jobs]
    case = Molded(**{**case.__dict__, "jobs": tuple(alone), "serial": (0.1, 0.3)})
    case.__dict__["sizes"] = tuple(size for size in case.sizes if size > 1) or (2,)
    rigid = simulate(case.system, case.workload, case.policy)
    for result in (case.simulated(sizes="own"), case.simulated(floor=1.0)):
        assert result.components.equals(rigid.components)
        assert result.timeline.equals(rigid.timeline)
        result.metrics["counts"].pop("unmatched", None)  # a type of which no component is drawn
        assert result.metrics == rigid.metrics


@examples(60)
@given(molded())
def test_placements_are_those_of_the_scaling_room(case: Molded) -> None:
    """``scaling.expand`` for a trace that names all modules, the first being the one it ran on."""
    names = list(case.modules)
    workload = case.workload.replace(partition=",".join(names))
    placed = expand(workload, case.system, models=case.models())
    profiles = [
        profile_of(amdahl(serial, case.speeds, only=list(case.sizes), floor=case.floor))[0]
        for serial in case.serial
    ]
    column = {name: workload[name] for name in ("nodes", "run_time", "time_limit")}
    choices = scaled_choices(
        profiles,
        names,
        list(case.modules.values()),
        app=np.array([job[5] for job in case.jobs]),
        module=np.zeros(len(case.jobs), dtype=np.int64),
        nodes=column["nodes"],
        run=column["run_time"],
        limit=column["time_limit"],
    )
    there_are = choices.nodes <= np.array(list(case.modules.values()))[choices.module]
    for name in WAY:
        assert getattr(placed, name).tolist() == getattr(choices, name)[there_are].tolist()


# --------------------------------------------------------- problems of their own, and clocks


def by_problem(**keys: Any) -> dict[str, Any]:
    """T = (size + 8 n) / n on n nodes: the larger the problem, the more nodes it is worth."""
    terms = [{"c": 1, "of": {"size": [1, 0]}}, {"c": 8, "i": 1}]
    header = {"version": 1, "app": "x", "scaling": "strong", "modules": {"A": 1.0}}
    return {**header, "size": 8, "time": {"curve": "pmnf", "terms": terms, "gives": "work"}, **keys}


def problems(*sizes: float) -> Workload:
    """Jobs at once of 1 node and 100 s, of problems of these sizes; 0 = not stated."""
    carried = pd.DataFrame({"trace_problem_size": sizes})
    asked = jobs(*((i * 1000, 1, 100, "x") for i in range(len(sizes))))
    return Workload(dict(asked.table.items()), asked.source, carried=carried)


@pytest.mark.parametrize(("stated", "usual"), [({}, 8), ({"problem_size": 24}, 24)])
def test_a_job_is_moldable_by_the_size_of_its_own_problem(stated, usual):
    """100 s on 1 node are 100 (size / 4 + 8) / (size + 8) on 4; a size that is not stated is the type's."""
    result = simulate(
        FOUR,
        problems(8, 0, 192),
        {"placement": "earliest_end"},
        models=Models.of(
            applications={"types": [{"name": "x", "profile": by_problem(nodes={"floor": 0}), **stated}]}
        ),
    )
    times = [int(np.ceil(100 * (size / 4 + 8) / (size + 8))) for size in (8, usual, 192)]
    assert [end - start for _, start, end in ran(result)] == times


def test_sizes_below_the_floor_are_not_offered_to_small_problems():
    keys = {"types": [{"name": "x", "profile": by_problem()}], "sizes": "powers_of_two", "floor": 0.6}
    result = simulate(
        FOUR, problems(1, 8000), {"placement": "earliest_end"}, models=Models.of(applications=keys)
    )
    assert [nodes for nodes, _, _ in ran(result)] == [1, 4]


def test_a_problem_size_is_for_profiles_that_depend_on_it():
    with pytest.raises(ConfigError, match="does not depend on the size"):
        Models.of(applications={"types": [{"name": "x", "profile": amdahl(), "problem_size": 8}]})
    with pytest.raises(ConfigError, match="found without a profile"):
        Models.of(applications={"types": [{"name": "x", "problem_size": 8}]})


def test_a_module_at_a_lower_clock_takes_longer():
    """T = 1 + 2 GHz / q: at 1 GHz half as long again as at the usual 2 GHz."""
    profile = {
        "version": 1, "app": "x", "scaling": "strong", "modules": {"A": 1.0, "B": 1.0},
        "frequency": {"nominal_khz": 2_000_000}, "nodes": {"max": 1},
        "time": {"curve": "pmnf", "constant": 1, "terms": [{"c": 2e6, "of": {"clock_khz": [-1, 0]}}]},
    }  # fmt: skip
    keys = {"types": [{"name": "x", "profile": profile}], "clocks": {"B": 1_000_000}}
    workload = jobs((0, 1, 100, "x"), (0, 1, 100, "x"), (0, 4, 50, "rigid"))
    keys["types"].append({"name": "rigid"})
    result = simulate(
        TWO,
        workload.replace(partition=["A,B", "B", "A"]),
        {"placement": "earliest_end"},
        models=Models.of(applications={**keys, "reference": "A"}),
    )
    assert [end - start for _, start, end in ran(result)] == [100, 150, 50]


# ------------------------------------------------------------------- sizes and P-states together


def test_sizes_and_p_states_are_chosen_in_one_models_file(tmp_path):
    """12 s on 1 node are 6 s on 2; at 1 GHz twice that, at a quarter of the 100 W above 10 W idle."""
    (tmp_path / "app.yaml").write_text(str(amdahl(only=[1, 2])), encoding="utf-8")
    power = {
        "name": "A", "idle_w": 10, "typical_w": 110, "peak_w": 200, "reference_khz": 2_000_000,
        "pstates_khz": [1_000_000, 2_000_000],
    }  # fmt: skip
    applications = {"types": [{"name": "x", "profile": "app.yaml"}]}
    jobs_of, ends = jobs((0, 1, 12, "x"), (0, 1, 12, "x")), {"placement": "earliest_end"}

    def run(**energy: Any) -> list[tuple[int, int, int]]:
        keys = {"applications": applications, "energy": {"power": {"modules": [power]}, **energy}}
        result = simulate(FOUR, jobs_of, ends, models=Models.of(folder=tmp_path, **keys))
        assert simulate(FOUR, jobs_of, ends, models=result.manifest["models"]).components.equals(
            result.components
        )
        columns = result.components[["nodes", "frequency_khz", "run_time", "energy_j"]]
        result.check()
        return [tuple(int(value) for value in row) for row in columns.to_numpy()]

    assert run() == [(2, 2_000_000, 6, 1320)] * 2
    least = {
        "objective": "min_energy",
        "of": "both",
    }  # 1 node, 24 s at 35 W; 2 nodes, 12 s at 70 W: the faster
    assert run(choice=least) == [(2, 1_000_000, 12, 840)] * 2
    per_size = {"objective": "min_energy", "of": "frequency"}
    assert run(choice=per_size) == [(2, 1_000_000, 12, 840)] * 2
    capped = {"power_w": 40 + 150}  # one node at 2 GHz, or two at 1 GHz
    assert run(cap=capped) == [(1, 2_000_000, 12, 1320)] * 2
    assert run(cap={**capped, "pstates": 2}) == [(1, 2_000_000, 12, 1320), (2, 1_000_000, 12, 840)]
