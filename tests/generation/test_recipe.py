"""Recipes: what is wrong with them, each with its line, and how models are put together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduler_sim.errors import ConfigError
from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.model_of import WithEstimates
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.generation.shapes import Shape, chain
from scheduler_sim.generation.sizes import SizeLaw
from scheduler_sim.system.system import System
from tests.conftest import ROOT

ONE = {"modules": [{"name": "CM", "nodes": 50, "jobs": 10}]}
LISTS = {"percent": 50, "lists": [{"modules": ["CM"]}]}


def problem(**keys):
    with pytest.raises(ConfigError) as raised:
        Recipe.of(**{**ONE, **keys})
    return str(raised.value)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"modules": []}, "at least one module"),
        ({"modules": [{"name": "CM", "jobs": 5}]}, "missing: nodes"),
        ({"modules": [{"name": "CM", "nodes": 5}]}, "missing: jobs"),
        ({"modules": [*ONE["modules"], {"name": "cm", "nodes": 5, "jobs": 5}]}, "each module once"),
        ({"model": {"arrivals": {"site": "alcf"}}}, "allowed: anl, ctc, kth, sdsc"),
        ({"model": {"arrivals": {"hourly": [1] * 23}}}, "found 23 numbers; allowed: 24"),
        ({"model": {"arrivals": {"hourly": [0] * 24}}}, "not all 0"),
        ({"model": {"arrivals": {"weekly": [1] * 5}}}, "found 5 numbers; allowed: 7"),
        ({"model": {"arrivals": {"site": "anl", "hourly": [1] * 24}}}, "allowed: one cycle"),
        ({"model": {"sizes": {"intercept": 1.5}}}, "allowed: a number from 0 to 1"),
        ({"model": {"reduction_factor": 3}}, "model.reduction_factor: found 3"),
        ({"model": {"kind": "lublin", "preset": "deep-est"}}, "model.preset: found with kind: lublin"),
        ({"model": {"lublin": {"types": True}}}, "found with kind: cirne"),
        ({"model": {"kind": "lublin", "lublin": {"law": {"a9": 1}}}}, "unknown key; allowed: serial_prob"),
        ({"model": {"kind": "lublin", "lublin": {"batch": {"a1": 5}}}}, "allowed: types: true"),
        ({"model": {"kind": "lublin", "lublin": {"law": {"a1": 500.0}}}}, "max_log_run_time"),
        ({"model": {"estimates": {"max_estimate": 60}}}, "an integer >= 6000"),
        ({"module_lists": {"modules": {"ESB": LISTS}}}, "no module of the recipe"),
        ({"module_lists": {"modules": {"CM": {**LISTS, "percent": 120}}}}, "found 120"),
        (
            {
                "module_lists": {
                    "modules": {"CM": {"percent": 5, "lists": [{"modules": ["CM"], "percent": 60}]}}
                }
            },
            "sum to 60; allowed: a sum of 100",
        ),
        (
            {"module_lists": {"modules": {"CM": {"percent": 5, "lists": [{"modules": ["DAM", "CM"]}]}}}},
            "CM first, then others",
        ),
        ({"applications": {"types": [{"name": "A", "percent": 90}]}}, "sum to 90"),
        ({"applications": {"types": [{"name": "A", "percent": 50}] * 2}}, "each type once"),
        ({"workflows": {}}, "found neither percent nor extension_percent"),
        ({"workflows": {"percent": 120}}, "found 120"),
        ({"workflows": {"percent": 20, "extension_percent": 10}}, "found both percent and extension_percent"),
        ({"model": {"arrivals": {"offered_load": 90}}}, "a number from 0.001 to 20"),
        (
            {"workflows": {"percent": 20, "max_components": 51}},
            "found 51, more components than the module has nodes for",
        ),
        ({"workflows": {"percent": 20, "shapes": [{"shape": "ring"}]}}, "chain, fan_out, fan_in, diamond"),
        ({"workflows": {"percent": 20, "shapes": [{"shape": "chain", "depth": 1}]}}, "2 or more"),
        ({"workflows": {"percent": 20, "shapes": [{"shape": "fan_in", "width": 1}]}}, "2 or more"),
        (
            {"workflows": {"percent": 20, "shapes": [{"shape": "fan_out", "width": 50}]}},
            "found workflows of 51 components, more than the module has nodes for",
        ),
        (
            {"workflows": {"percent": 20, "shapes": [{"shape": "chain", "depth": {2: 80, 3: 30}}]}},
            "percentages that sum to 100",
        ),
        ({"workflows": {"percent": 20, "delay_factor": [0.9, 0.5]}}, "the least and the most"),
        ({"scenario": "HET"}, "found 'HET' without workflows"),
        ({"scenario": "DEPP"}, "did you mean 'DEP'"),
        ({"rng": "ranlib", "model": {"arrivals": {"process": "poisson"}}}, "found with rng: ranlib"),
        ({"rng": "ranlib", "workflows": {"percent": 20}}, "allowed: extension_percent"),
        ({"rng": "ranlib", "seeds": "twin", "seed": 1}, "2 to 2147483398"),
        ({"jbos": 5}, "unknown key"),
        ({"model": {"load_multiplier": 1e-300}}, "a number from 0.001 to 1000"),
        ({"model": {"requests": {"slope": 1e-10}}}, "found durations of 2^"),
        ({"model": {"requests": {"intercept": 1e12}}}, "found durations of 2^"),
        ({"model": {"arrivals": {"hourly": [1e-300] * 24}}}, "jobs a day; allowed"),
        ({"model": {"arrivals": {"polynomial": [0]}}}, "found a cycle of 0 jobs a day"),
        ({"model": {"arrivals": {"reference_nodes": 5}}}, "found with a site"),
        (
            {"modules": [{"name": "A", "nodes": 5, "jobs": 1}], "model": {"arrivals": {"offered_load": 1}}},
            "2 jobs",
        ),
        ({"model": {"estimates": {"max_estimate": 10**9}}}, "an integer from 6000 to 10000000"),
        ({"model": {"kind": "lublin", "lublin": {"law": {"b_num": 1e-9}}}}, "a daily cycle"),
        (
            {"workflows": {"percent": 5, "shapes": [{"shape": "chain", "depth": {2: float("nan"), 3: 100}}]}},
            "sum to 100",
        ),
        ({"module_lists": {"modules": {"CM": LISTS, "cm": LISTS}}}, "each module once"),
        (
            {"module_lists": {"modules": {"CM": {"percent": 5, "lists": [{"modules": ["CM", "CM"]}]}}}},
            "each module once",
        ),
        (
            {
                "modules": [
                    {"name": "A", "nodes": 5, "jobs": 5},
                    {"name": "B", "partition": "a", "nodes": 5, "jobs": 5},
                ]
            },
            "a partition of its own",
        ),
        (
            {"model": {"sizes": {"intercept": 0.0}}, "workflows": {"percent": 20, "max_components": 26}},
            "found 26, more components than the module has nodes for; allowed: at most 25",
        ),
        (
            {"rng": "ranlib", "model": {"preset": "cirne-berman"}, "workflows": {"extension_percent": 9}},
            "probability 0",
        ),
        (
            {"rng": "ranlib", "model": {"arrivals": {"hourly": [1] * 24}}},
            "found with rng: ranlib",
        ),
        (
            {
                "rng": "ranlib",
                "model": {"load_multiplier": 0.001},
                "modules": [{"name": "A", "nodes": 1, "jobs": 10**6}],
            },
            "days with rng: ranlib",
        ),
    ],
)
def test_what_is_wrong_is_said(keys, said):
    assert said in problem(**keys)


def test_problems_of_a_file_come_with_their_lines(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text(
        "name: wrong\n"
        "system: system.yaml\n"
        "jobs: 100\n"
        "modules:\n"
        "  - {name: CM}\n"
        "  - name: DAM\n"
        "    nodes: 17\n"
        "  - {name: GPU}\n"
        "  - {name: ESB, partition: booster}\n"
        "workflows:\n"
        "  percent: 20\n"
        "  shapes:\n"
        "    - {shape: fan_out, width: 200}\n"
    )
    (tmp_path / "system.yaml").write_text(
        "modules: [{name: CM, nodes: 50}, {name: DAM, nodes: 16}, {name: ESB, nodes: 75}]\n"
    )
    with pytest.raises(ConfigError) as raised:
        Recipe.from_yaml(path)
    lines = str(raised.value).split("\n")
    assert lines[0].startswith(f"{path}:7: modules[1].nodes: found 17, more than module DAM")
    assert lines[1].startswith(f"{path}:8: modules[2].name: found 'GPU', no module of system")
    assert "allowed: CM, DAM, ESB" in lines[1]
    assert lines[2].startswith(f"{path}:9: modules[3].partition: found 'booster', no partition of module ESB")
    assert len(lines) == 3
    path.write_text(path.read_text().replace("  - {name: GPU}\n", "").replace("17", "16"))
    path.write_text(path.read_text().replace(", partition: booster", ""))
    with pytest.raises(ConfigError, match=r":12: workflows\.shapes\[0\]: found workflows of 201 components"):
        Recipe.from_yaml(path)


def test_a_missing_system_file_is_said(tmp_path):
    assert "nowhere.yaml" in problem(system=str(tmp_path / "nowhere.yaml"))


def test_nodes_and_partitions_come_from_the_system():
    system = System.from_yaml(ROOT / "configs" / "systems" / "deep-est-prototype.yaml")
    recipe = Recipe.of(
        system=system, jobs=5, modules=[{"name": "dam"}, {"name": "CM", "nodes": 20, "jobs": 7}]
    )
    assert [(m.nodes, m.jobs, m.partition) for m in recipe.modules] == [(16, 5, "dam"), (20, 7, "CM")]


def test_models_of_modules_differ_key_by_key():
    recipe = Recipe.of(
        jobs=5,
        model={"preset": "cirne-berman", "sizes": {"slope": 0.2}, "arrivals": {"site": "kth"}},
        modules=[
            {"name": "A", "nodes": 10},
            {"name": "B", "nodes": 10, "model": {"sizes": {"intercept": 0.3}, "reduction_factor": 2}},
        ],
    )
    first, second = (module.model for module in recipe.modules)
    assert first.sizes == SizeLaw(0.2, 0.2, 0.75)
    assert second.sizes == SizeLaw(0.2, 0.3, 0.75)
    assert second.arrivals == first.arrivals
    assert second.arrivals.cycle.reference_nodes == 100
    assert (first.reduction_factor, second.reduction_factor) == (1, 2)
    assert first.cancellations.probability == 0.15


def test_defaults_are_those_of_the_project():
    assert Recipe.of(**ONE).modules[0].model == Cirne()


def test_shapes_from_several_keys_add_up():
    shapes = [
        {"shape": "chain", "percent": 50, "depth": 2},
        {"shape": "chain", "percent": 30, "depth": {2: 50, 3: 50}},
        {"shape": "diamond", "percent": 20, "width": {2: 100}},
    ]
    law = Recipe.of(**ONE, workflows={"percent": 25, "shapes": shapes}).workflows
    assert law.shapes == pytest.approx({chain(2): 0.65, chain(3): 0.15, Shape("diamond", 2, 1): 0.2})
    assert law.share() == pytest.approx(0.25)


def test_estimates_stand_over_any_model():
    recipe = Recipe.of(**ONE, model={"kind": "lublin", "estimates": {"max_estimate": 250_000}})
    assert isinstance(recipe.modules[0].model, WithEstimates)


@pytest.mark.parametrize("path", sorted((ROOT / "workloads").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_recipe_is_its_keys(path):
    recipe = Recipe.from_yaml(path)
    assert "system" not in recipe.to_dict()
    again = Recipe.of(**recipe.to_dict())
    assert replace(again, name=recipe.name) == recipe
    assert again.to_dict() == recipe.to_dict()


def test_mistakes_between_keys_are_told_together():
    told = problem(
        workflows={"percent": 20, "extension_percent": 10},
        model={"arrivals": {"weekly": [1, 2], "process": "poisson"}},
        rng="ranlib",
    )
    assert "both percent" in told
    assert "allowed: 7" in told
    assert "model.arrivals.process: found with rng: ranlib" in told


def test_what_a_module_gives_replaces_what_says_the_same_for_all():
    recipe = Recipe.of(
        jobs=5,
        model={"sizes": {"slope": 0.2, "intercept": 0.3}, "arrivals": {"site": "kth", "process": "poisson"}},
        modules=[
            {"name": "A", "nodes": 10, "model": {"sizes": {"largest": 4}, "arrivals": {"hourly": [1] * 24}}},
            {"name": "B", "nodes": 10, "model": {"kind": "lublin"}},
        ],
    )
    first = recipe.modules[0].model
    assert (first.sizes.largest, first.sizes.intercept) == (4, 0.3)
    assert (first.arrivals.process, sum(first.arrivals.cycle.hourly)) == ("poisson", 24)
    assert type(recipe.modules[1].model).__name__ == "Lublin"


def test_numbers_of_numpy_are_numbers():
    recipe = Recipe.of(modules=[{"name": "A", "nodes": np.int64(5), "jobs": np.int32(7)}])
    assert (recipe.modules[0].nodes, recipe.modules[0].jobs) == (5, 7)
