"""Models files: both readings of ratios below 1, types that are named or drawn, and every mistake."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest

from scheduler_sim import Result, Simulation, System, Workload, simulate, write_trace
from scheduler_sim.applications.conversion import NO_TYPE, converted_nodes, relative_time, scaled
from scheduler_sim.applications.models import Models
from scheduler_sim.cli.main import main as command
from scheduler_sim.errors import ConfigError, InputError, TraceError
from scheduler_sim.placement.table import expand
from tests.conftest import ROOT, SHARED, needs_shared

pytestmark = pytest.mark.interpreted

TABLE_7 = ROOT / "configs" / "models" / "deep-est-applications.yaml"
CONVERSIONS = ROOT / "configs" / "models" / "deep-est-conversions.yaml"
SYSTEMS = {"HOM1-CM": "hom1-cm", "HOM2-DAM": "hom2-dam", "HOM3-ESB": "hom3-esb", "MOD": "mod-cm-esb"}


def table_7(**changes) -> Models:
    keys = Models.from_yaml(TABLE_7).to_dict()
    return Models.of(applications={**keys["applications"], **changes})


@pytest.mark.parametrize(
    ("ratio", "slower", "speed"),
    [(1.0, 1.0, 1.0), (2.0, 0.5, 0.5), (0.5, 1.5, 2.0), (0.3, 1.3, 1 / 0.3), (24.0, 1 / 24, 1 / 24)],
)
def test_both_readings_of_a_ratio(ratio, slower, speed):
    assert relative_time(ratio, is_speed=False) == pytest.approx(slower)
    assert relative_time(ratio, is_speed=True) == pytest.approx(speed)


def of_ratio(ratio, **reading):
    types = [{"name": "a", "ratios": {"CM": 1, "ESB": ratio}}]
    return Models.of(applications={"reference": "CM", "types": types, **reading})


def test_by_default_run_times_do_not_jump_at_one():
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1000], app=["a"], partition=["ESB"])
    system = System.from_yaml(ROOT / "configs" / "systems" / "mod-cm-esb.yaml")
    times = {
        reading: [
            int(expand(jobs, system, models=of_ratio(ratio, **given)).run[0]) for ratio in (1.01, 0.99, 0.5)
        ]
        for reading, given in (("default", {}), ("slower", {"below_one": "slower"}))
    }
    assert times == {"default": [991, 1011, 2000], "slower": [991, 1990, 1500]}


def test_a_reading_that_jumps_is_told_with_its_numbers(tmp_path):
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1000], app=["a"])
    system = System.from_yaml(ROOT / "configs" / "systems" / "mod-cm-esb.yaml")
    slower = {"below_one": "slower"}
    (warning,) = simulate(system, jobs, models=of_ratio(0.5, **slower)).metrics["warnings"]
    assert "of 1,000 s, 1.01 makes 991 s, 0.99 makes 1,990 s, 0.5 makes 1,500 s" in warning
    for models in (of_ratio(0.5), of_ratio(1.5, **slower)):
        assert simulate(system, jobs, models=models).metrics["warnings"] == []
    assert of_ratio(0.5, **slower).warnings(["cm", "esb"]) == [warning]
    assert of_ratio(0.5, **slower).warnings(["CM"]) == []


def test_what_is_computed_with_the_reading_of_the_deliverable_names_it():
    text = TABLE_7.read_text()
    assert "below_one: slower" in text
    assert Models.from_yaml(TABLE_7).keys.applications.below_one == "slower"


@needs_shared
@pytest.mark.parametrize(("below_one", "letter"), [("slower", "B"), ("speed", "A")])
def test_offered_load_of_each_module_is_that_of_the_golden_table(below_one, letter):
    """Exact shares of jobs of one size and length on each system, against its load on HOM1-CM."""
    with (SHARED / "data" / "scaling" / "derived_t7_offered_load.csv").open() as file:
        golden = [row for row in csv.DictReader(file) if row["reading"].startswith(letter)]
    workload = Workload.from_columns(nodes=[1] * 400, submit_time=[0] * 400, run_time=[10**7] * 400)
    models, loads, times = table_7(below_one=below_one, draw="quota"), {}, {}
    for name, file_name in SYSTEMS.items():
        system = System.from_yaml(ROOT / "configs" / "systems" / f"{file_name}.yaml")
        placed = expand(workload, system, only_first=True, models=models)
        for number, module in enumerate(system.modules):
            own = placed.module == number
            row = name if name != "MOD" else f"MOD {module.name} partition ({module.nodes})"
            loads[row] = (placed.nodes * placed.run)[own].sum() / module.nodes
            times[row] = placed.run[own].sum() / 400 / 10**7
    assert len(golden) == len(loads) == 5
    for row in golden:
        name = row["system"]
        assert loads[name] / loads["HOM1-CM"] == pytest.approx(
            float(row["offered_load_per_node_rel_to_HOM1"]), abs=5e-5
        )
        assert times[name] == pytest.approx(float(row["mean_runtime_rel_to_CM_(share-weighted)"]), abs=5e-5)


def test_types_by_name_by_number_and_ignored():
    models = table_7()
    assert [models.named_type(text) for text in ("cms", "2", "Non-ACC", "")] == [0, 1, 4, NO_TYPE]
    assert table_7(named=False).named_type("vasp") == NO_TYPE
    with pytest.raises(InputError, match=r"no such type .* allowed: CMS, Correlator.*named: false"):
        models.named_type("vasp")


def test_the_type_that_a_trace_names_wins():
    """One job of each type by the trace, on ESB: 100 s on CM become 150, 6 (5.26), 50, 13 (12.5) and 130."""
    names = ["CMS", "correlator", "3", "xPIC", "5"]
    jobs = Workload.from_columns(nodes=[1] * 5, submit_time=[0] * 5, run_time=[100] * 5, app=names)
    esb = System.homogeneous(5, "ESB")
    assert expand(jobs, esb, models=table_7()).run.tolist() == [150, 6, 50, 13, 130]
    assert expand(jobs, esb, models=table_7(below_one="speed")).run.tolist() == [200, 6, 50, 13, 334]


def test_draws_have_their_shares():
    number = np.arange(1, 3001)
    drawn = {draw: table_7(draw=draw).drawn_types(number, 7) for draw in ("hash", "sequence", "quota")}
    assert sorted(Counter(drawn["quota"].tolist()).items()) == [
        (0, 525),
        (1, 525),
        (2, 525),
        (3, 525),
        (4, 900),
    ]
    for draw in ("hash", "sequence"):
        shares = np.bincount(drawn[draw], minlength=5) / 3000
        assert shares == pytest.approx([0.175, 0.175, 0.175, 0.175, 0.3], abs=0.027)
    assert len({tuple(one.tolist()) for one in drawn.values()}) == 3
    assert (table_7().drawn_types(number, 8) != drawn["hash"]).any()


def test_by_hash_a_component_keeps_its_type_whatever_else_is_in_the_trace():
    number = np.arange(1, 501)
    whole = table_7().drawn_types(number, 3)
    assert (table_7().drawn_types(number[100:], 3) == whole[100:]).all()
    assert (table_7().drawn_types(number[::-1], 3) == whole[::-1]).all()
    assert (
        table_7(draw="quota").drawn_types(number[100:], 3)
        != table_7(draw="quota").drawn_types(number, 3)[100:]
    ).any()


def test_rounding_is_up_to_whole_seconds_and_by_1_nothing_changes():
    seconds = np.array([0, 1, 7, 190, 10**9 + 7])
    assert scaled(seconds, np.array(1.0)).tolist() == seconds.tolist()
    assert scaled(seconds, np.array(1 / 19)).tolist() == [0, 1, 1, 10, 52631580]
    assert converted_nodes(np.array([1, 2, 3, 32]), np.array(0.5)).tolist() == [1, 1, 1, 16]


def test_conversions_of_the_reference_simulator():
    """CM to DAM: half the nodes, ×3.21, of one node ×1.605; ESB to CM ×10; DAM to CM and ESB: more nodes."""
    system = System.from_yaml(ROOT / "configs" / "systems" / "deep-est-prototype.yaml")
    jobs = Workload.from_columns(
        nodes=[3, 1, 4, 2, 2, 34],
        submit_time=[0] * 6,
        run_time=[100, 100, 60, 40, 40, 10],
        time_limit=[200, 200, 60, 80, 80, 10],
        partition=["CM,DAM", "CM,DAM", "ESB,CM", "DAM,CM", "DAM,ESB", "CM,DAM"],
    )
    placed = expand(jobs, system, models=Models.from_yaml(CONVERSIONS))
    names = [system.modules[module].name for module in placed.module]
    rows = list(zip(names, placed.nodes.tolist(), placed.run.tolist(), placed.limit.tolist(), strict=True))
    assert rows == [
        *(("CM", 3, 100, 200), ("DAM", 1, 321, 642)),
        *(("CM", 1, 100, 200), ("DAM", 1, 161, 321)),
        *(("ESB", 4, 60, 60), ("CM", 4, 600, 600)),
        *(("DAM", 2, 40, 80), ("CM", 4, 400, 800)),
        *(("DAM", 2, 40, 80), ("ESB", 8, 10, 20)),
        ("CM", 34, 10, 10),  # 17 nodes are more than the DAM has
    ]


def test_a_type_without_a_ratio_does_not_run_on_a_module():
    models = {"applications": {"types": [{"name": "gpu", "percent": 100, "ratios": {"ESB": 1}}]}}
    system = System.from_dict({"modules": [{"name": "CM", "nodes": 4}, {"name": "ESB", "nodes": 4}]})
    jobs = Workload.from_columns(
        nodes=[1, 1], submit_time=[0, 0], run_time=[9, 9], partition=["ESB,CM", "ESB"]
    )
    result = simulate(system, jobs, "easy", models=models)
    assert result.components["module"].tolist() == ["ESB", "ESB"]
    with pytest.raises(TraceError, match=r"found 'CM' as the module of the trace's run times.*type gpu"):
        simulate(system, jobs.replace(partition="CM"), "easy", models=models)
    models["applications"] |= {"reference": "ESB", "modules": "fastest_first"}
    rejected = simulate(System.homogeneous(4, "CM"), jobs, "easy", models=models)
    assert rejected.metrics["counts"]["rejected_because"] == {"application": 2}
    assert rejected.components["state"].tolist() == ["REJECTED"] * 2


def test_the_manifest_has_the_models_and_without_them_nothing_changes():
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[100], app=["CMS"])
    cm = System.homogeneous(1, "CM")
    with_models = simulate(cm, jobs, "easy", models=TABLE_7)
    assert with_models.manifest["models"] == Models.from_yaml(TABLE_7).to_dict()
    assert "models" in [one["role"] for one in with_models.manifest["inputs"]]
    without = simulate(cm, jobs, "easy")
    assert "models" not in without.manifest
    assert without.components.equals(with_models.components)  # all run times are those on CM


TYPE = {"name": "a", "percent": 100, "ratios": {"CM": 1, "ESB": 2}}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"applications": {"types": []}}, "applications.types: found an empty list"),
        ({"applications": {"types": [TYPE, TYPE]}}, "each type once"),
        ({"applications": {"types": [{**TYPE, "percent": 90}]}}, "sum to 90; allowed: a sum of 100"),
        ({"applications": {"types": [TYPE, {"name": "b", "ratios": {}}]}}, "1 types with a percentage and 1"),
        ({"applications": {"types": [{**TYPE, "ratios": {"CM": 0}}]}}, "found 0; allowed: a number > 0"),
        ({"applications": {"types": [{**TYPE, "ratios": {"CM": 1, "cm": 2}}]}}, "the module twice"),
        ({"applications": {"reference": "DAM", "types": [TYPE]}}, "found none for DAM, the reference"),
        ({"applications": {"modules": "fastest_first", "types": [TYPE]}}, "found 'own' with modules"),
        ({"applications": {"below_one": "faster", "types": [TYPE]}}, "allowed: slower, speed"),
        ({"conversions": [{"origin": "CM", "to": "cm"}]}, "two different modules"),
        (
            {"conversions": [{"origin": "CM", "to": "ESB"}, {"origin": "cm", "to": "esb"}]},
            "a second conversion",
        ),
        ({"conversion": []}, "unknown key"),
    ],
)
def test_mistakes_are_named(keys, message):
    with pytest.raises(ConfigError) as error:
        Models.of(**keys)
    assert message in str(error.value)


def test_mistakes_in_a_file_have_lines(tmp_path):
    file = tmp_path / "models.yaml"
    file.write_text("applications:\n  types:\n    - {name: a, percent: 50, ratios: {CM: 1}}\n")
    with pytest.raises(ConfigError, match=r"models.yaml:2: applications.types: found .* sum to 50"):
        Models.from_yaml(file)


def test_a_job_without_a_type_needs_percentages():
    models = {"applications": {"types": [{"name": "a", "ratios": {"cluster": 1}}]}}
    jobs = Workload.from_columns(nodes=[1, 1], submit_time=[0, 0], run_time=[5, 5], app=["a", ""])
    with pytest.raises(TraceError, match="names no type of application") as error:
        simulate(System.homogeneous(2), jobs, "easy", models=models)
    assert "app" in str(error.value)


def test_limits_do_not_change_with_models():
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[5], app=["CMS"])
    with pytest.raises(ConfigError, match="extend_job: found 'grant' with models"):
        simulate(System.homogeneous(1, "CM"), jobs, {"extend_job": "grant"}, models=TABLE_7)


def test_what_a_process_submits_has_a_type_too():
    """A named type, and one drawn by the number of the component, as it would be in a trace."""
    system = System.from_yaml(ROOT / "configs" / "systems" / "hom3-esb.yaml")
    simulation = Simulation(system, None, "easy", models=TABLE_7, seed=3)
    simulation.submit(nodes=1, run_time=100, time_limit=200, app="GROMACS")
    drawn = simulation.submit(nodes=1, run_time=100, time_limit=200)
    found = simulation.run().components
    assert found[["run_time", "time_limit"]].iloc[0].tolist() == [50, 100]
    kind = int(table_7().drawn_types(np.array([drawn]), 3)[0])
    assert found["run_time"].iloc[1] == [150, 6, 50, 13, 130][kind]
    simulation = Simulation(system, None, "easy", models=table_7(draw="quota"))
    with pytest.raises(InputError, match="draw types only for a whole trace"):
        simulation.submit(nodes=1, run_time=100)
    with pytest.raises(ConfigError, match="time_limit: found 50 with models"):
        simulation.update(drawn, time_limit=50)


def test_the_command_line_takes_a_models_file(tmp_path, capsys):
    trace = tmp_path / "two.csv"
    jobs = Workload.from_columns(nodes=[1, 1], submit_time=[0, 0], run_time=[80, 80], app=["xPIC", "4"])
    write_trace(jobs, trace)
    system = str(ROOT / "configs" / "systems" / "hom3-esb.yaml")
    given = ["run", system, str(trace), "--out", str(tmp_path / "out")]
    assert command([*given, "--models", str(TABLE_7)]) == 0
    assert Result.load(tmp_path / "out").components["run_time"].tolist() == [10, 10]
    assert command([*given, "--models", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml" in capsys.readouterr().err
