"""Profiles: read with line numbers, anchored to the known run, changed by what-ifs, expanded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.scaling.curves import Constant
from scheduler_sim.scaling.edits import accelerated, with_factor, without_noise, without_phase
from scheduler_sim.scaling.expand import RIGID, expand
from scheduler_sim.scaling.modular_profile import ModularProfile
from scheduler_sim.scaling.profile import Reference
from scheduler_sim.scaling.profile_file import (
    profile_dict,
    profile_of,
    profile_text,
    read_any_profile,
    read_profile,
)
from tests.conftest import ROOT
from tests.counting import calls_in

BASE = {
    "version": 1,
    "app": "app",
    "scaling": "strong",
    "ranks_per_node": {"CM": 24, "ESB": 8},
    "modules": {"CM": 1.0, "ESB": 3.0},
    "frequency": {"beta": 0.8, "nominal_khz": 2_600_000},
    "nodes": {"max": 256, "floor": 0.5},
    "efficiency": {
        "parallel": {
            "load_balance": {"curve": "constant", "value": 0.95},
            "communication": {
                "serialization": {"curve": "amdahl", "f": 0.9999},
                "transfer": {"curve": "amdahl", "reading": "cbrt", "f": 0.98},
            },
        },
        "computation": {"curve": "table", "points": [[24, 1.0], [480, 1.1]]},
    },
}
APPS = sorted((ROOT / "configs" / "apps").glob("*.yaml"))


def profile(**changes):
    found, problems = profile_of({**BASE, **changes})
    assert not problems, problems
    return found


def with_time(**curve):
    return profile(efficiency=None, time=curve)


def test_run_times_by_hand():
    """Ideal code on 24 processes a node: strong scaling halves the time, weak keeps it."""
    ideal = {"load_balance": {"curve": "constant", "value": 1.0}}
    known = Reference(100.0, 2, "CM")
    strong = profile(efficiency=ideal)
    assert strong.run_times([1, 2, 4], "CM", known) == pytest.approx([200, 100, 50])
    assert strong.run_time(2, "ESB", known) == pytest.approx(100 * 3 / 3)
    assert profile(efficiency=ideal, scaling="weak").run_time(7, "CM", known) == pytest.approx(100)
    assert profile(efficiency=ideal, scaling="weak").run_time(2, "ESB", known) == pytest.approx(100 / 3)
    assert strong.run_time(2, "CM", known, khz=1_300_000) == pytest.approx(100 * (0.8 * 2 + 0.2))


def test_the_formula_of_run_times():
    """T(P) = T(P0) P0 GE(P0) / (P GE(P)): D2.3, section 4.1."""
    made, known = profile(), Reference(1000.0, 4, "CM")
    p0, p = 4 * 24, 32 * 24
    ge = {n: float(made.efficiency(n, "CM")) for n in (4, 32)}
    assert made.run_time(32, "CM", known) == pytest.approx(1000 * p0 * ge[4] / (p * ge[32]))


@given(
    seconds=st.floats(1e-3, 1e9),
    nodes=st.integers(1, 10_000),
    module=st.sampled_from(["CM", "ESB"]),
    khz=st.sampled_from([None, 1_000_000, 2_600_000]),
    model=st.sampled_from(["efficiency", "time", "speedup", "weak"]),
)
def test_the_known_run_is_met_to_the_bit(seconds, nodes, module, khz, model):
    made = {
        "efficiency": profile(),
        "weak": profile(scaling="weak"),
        "time": with_time(curve="pmnf", constant=3, terms=[{"c": 0.1, "i": 1 / 3, "j": 1}], gives="work"),
        "speedup": profile(efficiency=None, speedup={"curve": "downey", "A": 60, "sigma": 1.3}),
    }[model]
    known = Reference(seconds, nodes, module, khz)
    assert made.run_time(nodes, module, known, khz) == seconds
    assert made.run_times([1, nodes, 5], module, known, khz)[1] == seconds


@given(nodes=st.integers(1, 200), more=st.integers(1, 50))
def test_efficiency_never_rises_and_costs_never_fall(nodes, more):
    made = profile(efficiency=BASE["efficiency"]["parallel"])
    few, many = made.efficiency([nodes, nodes + more], "CM")
    assert many <= few
    times = made.relative_time([nodes, nodes + more], "CM") * [nodes, nodes + more]
    assert times[1] >= times[0] * (1 - 1e-12)


def test_a_tree_that_adds_losses():
    efficiency = {
        "compose": "additive",
        "load_balance": {"curve": "constant", "value": 0.9},
        "transfer": {"curve": "constant", "value": 0.95},
    }
    assert profile(efficiency=efficiency).efficiency(4, "CM") == pytest.approx(0.85)


def test_factors_may_depend_on_threads_or_nodes():
    efficiency = {
        "omp_load_balance": {"curve": "gustafson", "serial": 0.17, "counts": "threads"},
        "transfer": {"curve": "table", "points": [[1, 1.0], [100, 0.5]], "counts": "nodes"},
    }
    made = profile(efficiency=efficiency, threads=24)
    assert made.efficiency([1, 10], "CM") == pytest.approx(np.array([1, 0.75]) * 0.8371, abs=1e-4)
    assert made.factors(10, "CM")[("global", "transfer")] == pytest.approx(0.75)


def test_sizes_that_are_offered():
    made = profile()
    eta = made.efficiency(np.arange(1, 257), "CM")
    assert made.n_at_efficiency(0.5, "CM", 256) == np.flatnonzero(eta >= 0.5)[-1] + 1
    assert made.offered("CM", 256)[-1] == made.n_at_efficiency(0.5, "CM", 256)
    assert made.offered("CM", 10).tolist() == list(range(1, 11))
    assert profile(nodes={"only": "powers_of_two", "max": 20, "floor": 0}).offered("CM", 99).tolist() == [
        1,
        2,
        4,
        8,
        16,
    ]
    assert profile(nodes={"only": [3, 5, 400]}).offered("CM", 99).tolist() == [3, 5]
    assert profile(scaling="weak").offered("CM", 99).size == 0
    assert made.offered("DAM", 99).size == 0


def test_no_size_beyond_the_fastest_is_offered():
    made = profile(efficiency=None, speedup={"curve": "usl", "a": 0.01, "b": 1e-5}, nodes={"floor": 0.0})
    assert made.n_opt("CM", 500) == made.offered("CM", 500)[-1] == 13  # peak at 315 processes of 24 a node
    with pytest.raises(InputError, match="none of its sizes"):
        profile(nodes={"min": 8}).n_opt("CM", 4)


def test_a_module_that_cannot_run_it():
    with pytest.raises(InputError, match="module: found 'DAM'; allowed: CM, ESB"):
        profile().run_time(4, "DAM", Reference(10, 2, "CM"))


def test_what_speaks_against_a_prediction():
    made = profile(provenance={"fitted": [24, 96], "checked_to": 192})
    assert made.check(4, "CM") == []
    assert made.check(8, "CM") == []
    assert len(made.check(20, "CM")) == 1
    assert len(made.check(100, "CM")) == 2
    assert "fewer" in made.check(1, "ESB")[0]
    assert "does not say" in profile().check(4, "CM")[0]


def test_what_ifs_are_relative_to_what_was_measured():
    made, known = profile(), Reference(100.0, 4, "CM")
    assert accelerated(made, 0.5, 10).run_time(4, "CM", known) == pytest.approx(55)
    assert without_phase(made, 0.33).run_time(4, "CM", known) == pytest.approx(67)
    quiet = without_noise(made)
    serialization = made.factors(4, "CM")[("global", "parallel", "communication", "serialization")]
    assert quiet.run_time(4, "CM", known) == pytest.approx(100 * float(serialization))
    both = accelerated(quiet, 0.5, 2)
    assert both.run_time(4, "CM", known) == pytest.approx(75 * float(serialization))
    assert both.measured == made
    assert made.run_time(4, "CM", known) == 100


def test_what_ifs_that_cannot_be():
    made = profile()
    for wrong, said in (
        (lambda: accelerated(made, 0, 2), "accelerate"),
        (lambda: accelerated(made, 0.5, 1), "accelerate"),
        (lambda: without_phase(made, 1), "remove"),
        (lambda: with_factor(made, "transfr", Constant.of(value=1)), "did you mean 'transfer'"),
        (lambda: without_noise(with_time(curve="pmnf", constant=1)), "model of times"),
        (lambda: profile_dict(accelerated(made, 0.5, 2)), "what-ifs"),
    ):
        with pytest.raises(InputError, match=said):
            wrong()


def test_edits_in_a_file_are_the_functions():
    edits = [
        {"accelerate": 0.5, "by": 10},
        {"remove": 0.2},
        {"replace": "transfer", "curve": {"curve": "constant", "value": 1}},
    ]
    read = profile(edits=edits)
    made = with_factor(without_phase(accelerated(profile(), 0.5, 10), 0.2), "transfer", Constant.of(value=1))
    known = Reference(100.0, 4, "CM")
    assert read.run_time(9, "ESB", known) == made.run_time(9, "ESB", known)


def modular(**changes):
    part = {key: BASE[key] for key in ("scaling", "ranks_per_node", "modules")}
    part["efficiency"] = {"load_balance": {"curve": "constant", "value": 0.8}}
    data = {
        "version": 1,
        "app": "coupled",
        "components": {
            "ocean": {**part, "runs": {"module": "CM", "nodes": 2, "time": 60}},
            "air": {**part, "runs": {"module": "CM", "nodes": 2, "time": 100}},
        },
    }
    found, problems = profile_of({**data, **changes})
    assert not problems, problems
    assert isinstance(found, ModularProfile)
    return found


def test_components_wait_for_the_slowest():
    whole = modular().coupled()
    assert whole.time == 100
    assert whole.efficiency == pytest.approx(0.8 * (60 + 100) / 200)
    assert whole.load_balance == pytest.approx(0.8)
    assert modular(coupling="staged", exchange=5).coupled().time == 165


def test_a_component_moved_to_a_faster_module_shortens_the_wait_not_the_others_work():
    moved = modular(edits=[{"move": "ESB", "component": "air", "nodes": 4}]).coupled()
    assert moved.time == pytest.approx(60)  # 32 instead of 48 processes, three times as fast: 50 s
    assert moved.efficiency == pytest.approx(0.8 * (48 * 60 + 32 * 50) / (60 * 80))
    freed = modular(edits=[{"remove": 0.4, "component": "air"}]).coupled()
    assert freed.time == 60
    assert freed.load_balance == pytest.approx(1)


WRONG = {
    "version: 2": "version: found 2",
    "version: 1\nscaling: hard": "scaling: found 'hard'; allowed: strong, weak",
    "version: 1\nmoduls: {}": "moduls: unknown key",
    "modules: {}": "found no module",
    "efficiency: {transfer: {curve: amdahl, f: 1.2}}": "efficiency.transfer.f: found 1.2",
    "efficiency: {transfer: {curve: amdal}}": "(did you mean 'amdahl'?)",
    "efficiency: {compose: sum, transfer: {curve: constant, value: 1}}": "efficiency.compose: found 'sum'",
    "efficiency: {transfer: {curve: constant, value: 1.2}}": "found an efficiency of 1.2",
    "efficiency: {transfer: {curve: table, points: [[0, 0.5]]}}": "efficiency.transfer.points",
    "efficiency: {transfer: {curve: pmnf, constant: 1}}": "pmnf gives a time; allowed here: an efficiency",
    "efficiency: {transfer: {curve: constant, value: 1, counts: cores}}": "counts: found 'cores'",
    "efficiency: {}": "efficiency: found a mapping",
    "time: {curve: pmnf, constant: 1}": "found efficiency and time; allowed: one of",
    "speedup: {curve: roofline, blocks: []}": "found efficiency and speedup",
    "ranks_per_node: {DAM: 3}": "missing for CM",
    "nodes: {min: 8, max: 4}": "nodes.min: found 8",
    "nodes: {only: odd}": "nodes.only: found 'odd'",
    "edits: [{accelerate: 0.5}]": "edits[0].accelerate",
    "edits: [{}]": "edits[0]: found none",
    "edits: [{remove: 0.1, move: CM}]": "edits[0]: found remove and move",
    "edits: [{move: DAM}]": "edits[0].move: a: move: found 'DAM'; allowed: CM",
    "edits: [{move: CM, nodes: 2}]": "edits[0].nodes: found a number of nodes for an application without",
    "edits: [{replace: transfer, curve: {curve: amdahl}}]": "edits[0].curve.f: missing",
    "edits: [{replace: transfer}]": "edits[0].curve.curve: missing",
    "efficiency: 3": "efficiency: found 3; allowed: ",
}


@pytest.mark.parametrize("line", WRONG)
def test_mistakes_in_a_file_are_told_with_their_line(line, tmp_path):
    whole = {
        "version": "version: 1",
        "app": "app: a",
        "scaling": "scaling: weak",
        "modules": "modules: {CM: 1}",
        "efficiency": "efficiency: {transfer: {curve: constant, value: 1}}",
    }
    for one in line.splitlines():
        whole[one.partition(":")[0]] = one
    path = tmp_path / "app.yaml"
    path.write_text("\n".join(whole.values()))
    with pytest.raises(ConfigError) as told:
        read_profile(path)
    at = list(whole.values()).index(line.splitlines()[-1]) + 1
    assert WRONG[line] in str(told.value)
    assert str(told.value).startswith(f"{path}:{at}: ")


def test_a_formula_or_table_that_gives_too_much_is_found_when_read():
    found, problems = profile_of(
        {
            **BASE,
            "efficiency": {"transfer": {"curve": "formula", "formula": "2 - p/1e6", "gives": "efficiency"}},
        }
    )
    assert found is None
    assert "allowed: up to 1" in str(problems[0])


def test_a_profile_is_read_from_what_it_writes(tmp_path):
    path = tmp_path / "app.yaml"
    for made in (
        profile(share=17.5, provenance={"source": "here", "fitted": [1, 2]}),
        with_time(curve="phases", phases={"a": {"curve": "pmnf", "constant": 1}}),
        profile(efficiency=None, speedup={"curve": "usl", "a": 0.01, "b": 0}),
    ):
        path.write_text(profile_text(made))
        assert read_profile(path) == made


@pytest.mark.parametrize("path", APPS, ids=lambda path: path.stem)
def test_profiles_of_the_repository(path):
    found = read_any_profile(path)
    if isinstance(found, ModularProfile):
        assert 0 < found.coupled().efficiency <= 1
    else:
        assert found.provenance.source
        for module in found.speeds:
            assert (found.relative_time([1, 2, 4], module) > 0).all()


def test_there_are_profiles():
    assert len(APPS) >= 4


MODULES = ["CM", "DAM", "ESB"]
MOST = [50, 16, 75]


def columns(n, seed=0, apps=3):
    rng = np.random.default_rng(seed)
    run = rng.integers(0, 86_400, n)
    return {
        "app": rng.integers(RIGID, apps, n),
        "module": rng.integers(0, 3, n),
        "nodes": rng.integers(1, 60, n),
        "run": run,
        "limit": run * rng.integers(1, 4, n) + 60,
    }


def profiles():
    return [
        profile(),
        profile(scaling="weak"),
        profile(
            nodes={"only": "powers_of_two", "floor": 0.3, "max": 64}, modules={"DAM": 2.0}, ranks_per_node=48
        ),
    ]


def plain_expansion(profiles, row, sizes):
    """One component, choice by choice."""
    own = (int(row["module"]), int(row["nodes"]), int(row["run"]), int(row["limit"]))
    if row["app"] == RIGID or MODULES[own[0]] not in profiles[row["app"]].speeds:
        return [own]
    made = profiles[row["app"]]
    ways = [own]
    for m, name in enumerate(MODULES):
        if name not in made.speeds:
            continue
        offered = [n for n in made.offered(name, MOST[m]).tolist() if sizes is None or n in sizes]
        same = [own[1]] if m != own[0] and own[1] <= min(MOST[m], made.sizes.most) else []
        for n in same + [n for n in offered if n != own[1]]:
            ratio = made.relative_time(n, name) / made.relative_time(own[1], MODULES[own[0]])
            run, limit = (max(1, math.ceil(s * float(ratio) * (1 - 1e-12))) for s in own[2:])
            ways.append((m, n, run, limit))
    return ways


@pytest.mark.parametrize("sizes", [None, [1, 2, 4, 8, 16]])
def test_expansion_is_the_plain_one(sizes):
    made, given = profiles(), columns(200)
    found = expand(made, MODULES, MOST, **given, sizes=sizes)
    for i in range(200):
        row = {name: column[i] for name, column in given.items()}
        here = slice(found.first[i], found.first[i + 1])
        ways = zip(found.module[here], found.nodes[here], found.run[here], found.limit[here], strict=True)
        assert [tuple(map(int, way)) for way in ways] == plain_expansion(made, row, sizes)


def test_the_trace_is_unchanged_to_the_bit():
    given = columns(20_000)
    given["run"][:3] = given["limit"][:3] = [0, 1, 10**14 + 1]
    found = expand(profiles(), MODULES, MOST, **given)
    first = found.first[:-1]
    for name in ("module", "nodes", "run", "limit"):
        assert (getattr(found, name)[first] == given[name]).all()
    rigid = expand([], MODULES, MOST, **{**given, "app": np.full(20_000, RIGID)})
    assert (np.diff(rigid.first) == 1).all()
    assert (rigid.run == given["run"]).all()


def test_nothing_to_expand():
    assert expand(profiles(), MODULES, MOST, **columns(0)).first.tolist() == [0]


def test_columns_that_cannot_be_expanded():
    given = columns(5)
    for change, said in (
        ({"app": np.array([0, 0, 3, 0, 0])}, "app: found 3; allowed: -1 to 2"),
        ({"module": np.array([0, 0, 3, 0, 0])}, "module: found 3"),
        ({"nodes": np.array([0, 1, 3, 1, 1])}, "nodes: found 0"),
        ({"run": np.array([1])}, "lengths"),
    ):
        with pytest.raises(InputError, match=said):
            expand(profiles(), MODULES, MOST, **{**given, **change})
    with pytest.raises(InputError, match="what-ifs"):
        expand([accelerated(profile(), 0.5, 2)] * 3, MODULES, MOST, **given)


def test_components_are_expanded_all_at_once():
    """On three modules and eight sizes: a hundred times the components, hardly a call more."""
    three = {"CM": 1.0, "DAM": 2.0, "ESB": 1.3}
    made = [profile(modules=three, ranks_per_node=24, nodes={"floor": 0.0})] * 5

    def expanded(components: int) -> None:
        given = columns(components, apps=5)
        given["app"] = np.maximum(given["app"], 0)
        choices = expand(made, MODULES, [512] * 3, **given, sizes=[1, 2, 4, 8, 16, 32, 64, 128]).first[-1]
        assert choices >= 24 * components

    expanded(1000)
    few, many = (calls_in(lambda number=number: expanded(number)) for number in (1000, 100_000))
    assert many < 1.2 * few
