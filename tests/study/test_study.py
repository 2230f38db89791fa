"""Studies as grids of runs: levels, parameters, include and exclude, identity, mistakes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scheduler_sim.errors import ConfigError
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.study import run as run_module
from scheduler_sim.study.keys_page import keys_page
from scheduler_sim.study.study import Study
from tests.conftest import ROOT
from tests.study.studies import RECIPE, SYSTEM, small

STUDIES = sorted((ROOT / "configs" / "studies").glob("*.yaml"))
SAMPLE = str(ROOT / "workloads" / "sample-1000.swf")


def labels(study, *factors):
    return [tuple(run.factors[factor] for factor in factors) for run in study.runs()]


def test_everything_is_crossed_workloads_and_seeds_outermost():
    assert labels(small(), "workload", "policy", "seed") == [
        ("like", policy, seed) for seed in "012" for policy in ("fcfs", "easy")
    ]


def test_parameters_of_policy_system_and_recipe():
    study = small(
        seeds=1,
        policies=["easy"],
        parameters={
            "policy.depth": [1, 2],
            "system.modules.cluster.nodes": [64, 128],
            "recipe.model.arrivals.offered_load": [0.5, 0.9],
        },
    )
    runs = study.runs()
    assert len(runs) == 8
    last = runs[-1]
    assert last.policy.depth == 2
    assert last.system["modules"][0]["nodes"] == 128
    assert last.workload["recipe"]["model"]["arrivals"]["offered_load"] == 0.9
    assert last.factors["policy.depth"] == "2"


def test_include_and_exclude():
    assert len(small(include=[{"policy": "fcfs"}, {"seed": 1}]).runs()) == 4
    assert len(small(exclude=[{"policy": "fcfs", "seed": [0, 1]}]).runs()) == 4


def test_a_trace_is_run_once_whatever_the_seeds():
    study = small(workloads={"sample": SAMPLE, "like": {"recipe": RECIPE}})
    assert labels(study, "workload", "policy").count(("sample", "easy")) == 1
    assert labels(study, "workload", "policy").count(("like", "easy")) == 3


def test_identity_is_what_determines_the_result(monkeypatch):
    def ids(**changes):
        return [run.id for run in small(**changes).runs()]

    same = ids()
    assert ids(baseline={"policy": "easy"}, name="another", trim={"warm_up": 10}) == same
    assert ids(systems={"other-name": SYSTEM}) == same
    assert not set(ids(policies=["conservative", "sjf"])) & set(same)
    larger = {"modules": [{"name": "cluster", "nodes": 65}]}
    assert not set(ids(systems={"small": larger})) & set(same)
    assert len(set(ids(seeds=[0, 7])) & set(same)) == 2
    monkeypatch.setattr(run_module, "code_digest", lambda: "other code")
    assert not set(ids()) & set(same)


def test_the_order_of_types_of_gpus_is_part_of_the_identity():
    def ids(*types):
        module = {"name": "cluster", "nodes": 64, "cores_per_node": 1, "shared": True}
        gres = {f"gpu:{kind}": 1 for kind in types}
        return [run.id for run in small(systems={"small": {"modules": [module | {"gres": gres}]}}).runs()]

    assert ids("a", "b") == ids("a", "b")
    assert not set(ids("a", "b")) & set(ids("b", "a"))


def test_the_same_run_under_two_names_is_one_run_and_two_rows():
    runs = small(policies={"easy": "easy", "again": "easy"}).runs()
    assert len(runs) == 6
    assert len({run.id for run in runs}) == 3


def test_a_trace_has_no_level_of_a_recipes_keys():
    parameters = {"recipe.model.arrivals.offered_load": [0.5, 0.6], "policy.depth": [1, 2]}
    study = small(
        seeds=1,
        policies=["easy"],
        workloads={"sample": SAMPLE, "like": {"recipe": RECIPE}},
        parameters=parameters,
        exclude=[{"recipe.model.arrivals.offered_load": 0.5, "policy.depth": 1}],
    )
    assert labels(study, "workload", *parameters) == [
        ("sample", "", "1"),
        ("sample", "", "2"),
        ("like", "0.5", "2"),
        ("like", "0.6", "1"),
        ("like", "0.6", "2"),
    ]


def test_levels_are_spelt_one_way_wherever_they_stand():
    parameters = {"policy.extra_rule": [True, False]}
    study = small(
        parameters=parameters,
        policies=["easy"],
        seeds=1,
        exclude=[{"policy.extra_rule": False}],
        baseline={"policy.extra_rule": True},
    )
    assert labels(study, "policy.extra_rule") == [("true",)]


def test_a_seed_that_is_included_alone_is_run():
    assert labels(small(include=[{"seed": 2}]), "seed") == [("2",), ("2",)]


def test_shared_inputs_are_read_and_hashed_once(monkeypatch):
    """Planning 100,000 runs must not take longer than some seconds."""
    read = []
    of = Recipe.of
    monkeypatch.setattr(Recipe, "of", lambda **keys: (read.append(1), of(**keys))[1])
    study = small(seeds=500, parameters={"policy.depth": [1, 2], "system.modules.cluster.nodes": [64, 96]},
                  policies=["easy"])  # fmt: skip
    assert len({run.id for run in study.runs()}) == 2000
    assert len(read) == 2  # as it was opened, and as it is used


@pytest.mark.parametrize("changed", ["system", "workload", "policy"])
def test_what_is_hashed_is_what_is_carried_out(changed):
    """Each part of the identity has a hash of its own in the id."""
    run = small().runs()[0]
    parts = {"system": run.system, "policy": run_module.nameless(run.policy, run.files)}
    for name, part in parts.items():
        assert run.digests[name] == run_module.digest(part)
    other = replace(run, digests={**run.digests, changed: "0" * 64})
    assert other.id != run.id


def test_runs_that_share_a_workload_say_so():
    runs = small().runs()
    assert runs[0].workload_id == runs[1].workload_id != runs[2].workload_id


def test_policy_functions_count_by_their_source(tmp_path):
    order = tmp_path / "order.py"
    policy = tmp_path / "mine.yaml"
    policy.write_text("order: order.py:area\nbackfill: easy\n")
    order.write_text("def area(nodes, limit):\n    return nodes * limit\n")
    first = [run.id for run in small(policies=[str(policy)]).runs()]
    order.write_text("def area(nodes, limit):\n    return nodes + limit\n")
    assert not set(first) & {run.id for run in small(policies=[str(policy)]).runs()}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"systems": {}}, "systems: found none"),
        ({"systems": ["nowhere.yaml"]}, "nowhere.yaml"),
        ({"policies": ["fcfs", "esay"]}, "policies.esay"),
        (
            {"policies": {"a": {"policy": "easy", "depth": 2}}},
            "allowed: keys of a policy, or policy with set",
        ),
        ({"workloads": {"a": {"trase": "x"}}}, "trace or recipe"),
        ({"workloads": ["missing.swf"]}, "missing.swf"),
        ({"workloads": {"a": {"recipe": RECIPE, "scenario": "HET"}}}, "without workflows"),
        ({"parameters": {"polcy.depth": [1]}}, "allowed: policy.KEY, system.KEY, recipe.KEY or models.KEY"),
        ({"parameters": {"policy.dept": [1]}}, "dept"),
        ({"parameters": {"policy.depth": [1, 1]}}, "different values"),
        ({"parameters": {"system.modules.GPU.nodes": [1]}}, "allowed: cluster"),
        ({"parameters": {"recipe.jobs": [1]}, "workloads": [SAMPLE]}, "a study without recipes"),
        ({"seeds": 0}, "a number of seeds"),
        ({"seeds": [1, 1]}, "different ones"),
        ({"baseline": {"policy": "sjf"}}, "found 'sjf'; allowed: fcfs, easy"),
        ({"baseline": {"polcy": "easy"}}, "no factor of this study"),
        ({"exclude": [{"policy": "sjf"}]}, "allowed: fcfs, easy"),
        ({"exclude": [{"policy": ["fcfs", "easy"]}]}, "no run is left"),
        ({"unknown": 1}, "unknown key"),
        ({"trim": {"warm_up": 60, "cool_down": 40}}, "with a sum below 100"),
        ({"metrics": ["wait_mean"]}, "did you mean"),
        ({"metrics": ["energy_cost"]}, "found 'energy_cost'"),
        ({"replicates": {"half_width": 5, "metric": "speed"}}, "found 'speed'"),
        ({"replicates": {"half_width": 5}}, "replicates: found without baseline"),
        (
            {"replicates": {"half_width": 5}, "baseline": {"policy": "easy"}, "workloads": [SAMPLE]},
            "found with traces only",
        ),
        (
            {"baseline": {"policy": "easy"}, "exclude": [{"policy": "easy"}]},
            "include and exclude leave no run; allowed: fcfs",
        ),
        ({"parameters": {"policy.depth": [1, "1"]}}, "different values"),
        ({"exclude": ["easy"]}, "a list of mappings"),
    ],
)
def test_mistakes_are_told(keys, said):
    with pytest.raises(ConfigError) as raised:
        small(**keys)
    assert said in str(raised.value)


def test_mistakes_of_a_file_come_with_lines(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(
        "systems: [none.yaml]\nworkloads: [none.swf]\npolicies: [easy, fats]\nbaseline: {policy: x}\n"
    )
    with pytest.raises(ConfigError) as raised:
        Study.from_yaml(path)
    for line in (1, 2, 3, 4):
        assert f"study.yaml:{line}:" in str(raised.value)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_studies_that_ship_can_be_read(path):
    assert Study.from_yaml(path).runs()


def test_metrics_of_modules_are_known():
    study = small(metrics=["utilization_cluster", "user_slowdown_jain", "makespan"])
    assert study.keys.metrics[0] == "utilization_cluster"


def test_the_reference_page_is_up_to_date():
    page = (ROOT / "docs" / "reference" / "study.md").read_text(encoding="utf-8")
    assert page == keys_page(), "run: python -m scheduler_sim.study.keys_page > docs/reference/study.md"
