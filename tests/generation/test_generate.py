"""Generated traces: the same bytes, streams apart, every scenario runs, stages do what the recipe says."""

from __future__ import annotations

import hashlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from scheduler_sim import Recipe, System, read_trace, simulate, write_trace
from scheduler_sim.errors import ConfigError
from scheduler_sim.generation.generate import Generated, generate
from scheduler_sim.generation.scenarios import SCENARIOS
from tests.conftest import ROOT
from tests.generation.without_simd import output_without_simd

SYSTEM = ROOT / "configs" / "systems" / "deep-est-prototype.yaml"
RECIPES = sorted((ROOT / "workloads").glob("*.yaml"))
RICH = {
    "jobs": 400,
    "modules": [
        {"name": "CM", "nodes": 50},
        {"name": "DAM", "nodes": 16, "model": {"reduction_factor": 2}},
        {"name": "ESB", "nodes": 75},
    ],
    "module_lists": {
        "modules": {
            "CM": {"percent": 100, "lists": [{"modules": ["CM", "DAM"]}]},
            "DAM": {
                "percent": 57,
                "lists": [
                    {"modules": ["DAM", "ESB"], "percent": 75},
                    {"modules": ["DAM", "CM"], "percent": 25},
                ],
            },
        }
    },
    "applications": {"types": [{"name": "CMS", "percent": 30}, {"name": "xPIC", "percent": 70}]},
    "workflows": {"percent": 30, "shapes": [{"shape": "diamond", "width": 2}]},
}


def digest(recipe, seed=1, scenario=None):
    generated = Generated(Recipe.of(**recipe), seed).scenario(scenario)
    columns = [np.asarray(generated.table[name]).astype(str) for name in generated.table]
    return hashlib.sha256("\n".join(",".join(column) for column in columns).encode()).hexdigest()


def test_same_recipe_and_seed_same_bytes(tmp_path):
    for path in (tmp_path / "one.mwf", tmp_path / "two.mwf"):
        write_trace(generate(RICH, seed=3, scenario="HET+DELAY+API"), path)
    assert (tmp_path / "one.mwf").read_bytes() == (tmp_path / "two.mwf").read_bytes()
    assert digest(RICH, 3) != digest(RICH, 4)


def test_same_bytes_from_one_worker_or_several():
    seeds = [5, 6, 7]
    with ProcessPoolExecutor(2) as pool:
        assert list(pool.map(digest, [RICH] * 3, seeds)) == [digest(RICH, seed) for seed in seeds]


def test_same_integers_without_wide_instructions():
    recipe = {
        **RICH,
        "jobs": 5_000,
        "model": {
            "arrivals": {"process": "poisson", "offered_load": 0.7, "weekly": [5, 5, 5, 5, 5, 1, 1]},
            "sizes": {"largest": "machine"},
            "size_time_correlation": 0.3,
            "preset": "cirne-berman",
        },
    }
    program = f"from tests.generation.test_generate import digest\nprint(digest({recipe!r}, 2))"
    assert output_without_simd(program) == digest(recipe, 2)


def jobs_of(recipe, module, seed=1):
    """Every property of a module's jobs that is not the workflows', in the order they were drawn."""
    generated = Generated(Recipe.of(**recipe), seed)
    place = [m.name for m in generated.recipe.modules].index(module)
    own = generated.base.rows(generated.base.module == place)
    texts = np.array(generated.partitions)[generated.partition[generated.base.module == place]]
    return [*(column.tolist() for column in own[1:]), texts.tolist()]


def test_the_seed_of_one_module_changes_that_module_alone():
    other = [dict(module) for module in RICH["modules"]]
    other[1]["seed"] = 99
    changed = {**RICH, "modules": other}
    for name, same in (("CM", True), ("DAM", False), ("ESB", True)):
        assert (jobs_of(RICH, name) == jobs_of(changed, name)) == same, name
    assert jobs_of(changed, "DAM", seed=1) == jobs_of(changed, "DAM", seed=2)  # its own seed counts alone


def test_modules_are_independent_or_twins():
    modules = [{"name": "A", "nodes": 50, "jobs": 300}, {"name": "B", "nodes": 75, "jobs": 300}]
    apart = Recipe.of(modules=modules)
    first, second = (
        module.model.draw(300, 50, Generated(apart, 1)._streams(module, twin=False))
        for module in apart.modules
    )
    assert np.mean(first.time_limit == second.time_limit) < 0.05
    twin = Generated(Recipe.of(modules=modules, seeds="twin"), 1).base
    one, other = (twin.rows(twin.module == place) for place in (0, 1))
    assert np.array_equal(one.time_limit, other.time_limit)
    assert np.array_equal(one.run_time, other.run_time)
    assert np.mean(one.nodes == other.nodes) > 0.9  # they differ where 50 nodes cut them off


def test_flexibility_levels_are_nested_and_have_their_shares():
    names = {}
    for level in ("full", "medium", "low", "none"):
        lists = {**RICH["module_lists"], "level": level}
        trace = generate({**RICH, "jobs": 4000, "module_lists": lists, "workflows": None}, seed=2)
        names[level] = trace["partition"]
    flexible = {level: np.char.find(text.astype(str), ",") >= 0 for level, text in names.items()}
    assert not flexible["none"].any()
    assert (flexible["low"] <= flexible["medium"]).all()
    assert (flexible["medium"] <= flexible["full"]).all()
    own = np.char.partition(names["none"].astype(str), ",")[:, 0]
    for level, percent in (("full", 57), ("medium", 42), ("low", 27)):
        assert 100 * flexible[level][own == "DAM"].mean() == pytest.approx(percent, abs=3.2)
    lists = names["full"][flexible["full"] & (own == "DAM")]
    assert np.mean(lists == "DAM,ESB") == pytest.approx(0.75, abs=0.035)
    assert flexible["full"][own == "CM"].all()
    assert not flexible["full"][own == "ESB"].any()


@pytest.mark.parametrize("draw", ["hash", "sequence", "quota"])
def test_application_types_have_their_shares(draw):
    types = [{"name": name, "percent": 17.5} for name in ("CMS", "Correlator", "GROMACS", "xPIC")]
    types.append({"name": "Non-ACC", "percent": 30})
    recipe = {**RICH, "jobs": 1000, "workflows": None, "applications": {"draw": draw, "types": types}}
    app = generate(recipe, seed=1)["app"]
    counts = [int(np.count_nonzero(app == str(number))) for number in range(1, 6)]
    assert sum(counts) == 3000
    if draw == "quota":
        assert counts == [525, 525, 525, 525, 900]
    else:
        assert counts == pytest.approx([525, 525, 525, 525, 900], abs=4.5 * 25)


def test_hashed_types_stay_when_a_module_is_added():
    hashed = {**RICH, "workflows": None, "modules": RICH["modules"][:2], "module_lists": None}
    more = {**hashed, "modules": RICH["modules"]}
    few, many = (Generated(Recipe.of(**recipe), 4) for recipe in (hashed, more))
    assert np.array_equal(
        few.app[few.base.module == 1][np.argsort(few.base.number[few.base.module == 1])],
        many.app[many.base.module == 1][np.argsort(many.base.number[many.base.module == 1])],
    )


def test_quota_shares_out_what_does_not_divide():
    types = [{"name": name, "percent": 100 / 3} for name in "ABC"]
    types[2]["percent"] = 100 - 200 / 3
    trace = generate(
        {
            "modules": [{"name": "A", "nodes": 5, "jobs": 10}],
            "applications": {"draw": "quota", "types": types},
        }
    )
    assert sorted(np.unique(trace["app"], return_counts=True)[1].tolist()) == [3, 3, 4]


def test_cancelled_jobs_are_records_that_are_not_simulated(tmp_path):
    recipe = {"modules": [{"name": "A", "nodes": 64, "jobs": 500}], "model": {"preset": "cirne-berman"}}
    trace = generate(recipe, seed=1)
    cancelled = trace["status"] == 5
    assert cancelled.mean() == pytest.approx(0.15, abs=0.05)
    assert (trace["run_time"][cancelled] == -1).all()
    assert (trace["wait_time"][cancelled] >= 30).all()
    for name in ("trace.swf", "trace.mwf", "trace.parquet"):
        assert write_trace(trace, tmp_path / name) is not None
        back = read_trace(tmp_path / name)
        assert len(back) == 500, name
        assert np.array_equal(back["skipped"] != 0, cancelled), name
        result = simulate(System.homogeneous(64, "A"), back, "easy")
        assert len(result.components) == 500 - cancelled.sum()


def test_scenarios_that_are_none_are_errors():
    with pytest.raises(ConfigError, match="allowed: DEP, DEP"):
        generate(RICH, scenario="dynamic")
    plain = {**RICH, "workflows": None}
    with pytest.raises(ConfigError, match="without workflows"):
        generate(plain, scenario="HET")


WITH_WORKFLOWS = [path for path in RECIPES if "\nworkflows:" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.long) if path in WITH_WORKFLOWS else path for path in RECIPES],
    ids=lambda path: path.stem,
)
def test_every_recipe_that_ships_runs_and_gives_sensible_metrics(path, tmp_path):
    gives_sensible_metrics(path, 1000, tmp_path)


@pytest.mark.parametrize("path", WITH_WORKFLOWS, ids=lambda path: path.stem)
@pytest.mark.interpreted
def test_the_first_jobs_of_recipes_with_workflows_do_too(path, tmp_path):
    gives_sensible_metrics(path, 40, tmp_path)


def gives_sensible_metrics(path, most, tmp_path):
    recipe = Recipe.from_yaml(path)
    few = tuple(replace(module, jobs=min(module.jobs, most)) for module in recipe.modules)
    recipe = replace(recipe, modules=few)  # of the stress trace the first jobs
    system = (
        SYSTEM
        if len(recipe.modules) > 1
        else System.homogeneous(recipe.modules[0].nodes, recipe.modules[0].name)
    )
    scenarios = SCENARIOS if recipe.workflows else (recipe.scenario,)
    for scenario in scenarios:
        write_trace(generate(recipe, seed=1, scenario=scenario), tmp_path / "trace.mwf")
        result = simulate(system, tmp_path / "trace.mwf", "easy")
        result.check()
        assert set(result.components["state"]) <= {"COMPLETED"}
        wait, slowdown = (result.metrics[name]["mean"] for name in ("wait_time", "bounded_slowdown"))
        assert np.isfinite(wait)
        assert 1 <= slowdown < 1e6
        assert 0.01 < result.metrics["utilization"]["total"] <= 1


@pytest.mark.parametrize(("recipe", "seed"), [(RICH, -1), (RICH, 1.5), (RICH, True), (None, 1)])
def test_what_is_no_seed_or_no_recipe_is_refused(recipe, seed):
    with pytest.raises(ConfigError, match="allowed"):
        generate(recipe, seed=seed)


def test_seeds_of_the_reference_are_checked_when_given_anew():
    recipe = Recipe.of(rng="ranlib", seeds="twin", seed=5, modules=[{"name": "A", "nodes": 5, "jobs": 2}])
    with pytest.raises(ConfigError, match="2 to 2147483398"):
        generate(recipe, seed=0)


def test_types_by_hash_stay_when_modules_change_places():
    modules = RICH["modules"][:2]
    recipe = {**RICH, "workflows": None, "module_lists": None}
    first, second = (
        Generated(Recipe.of(**{**recipe, "modules": order}), 4) for order in (modules, modules[::-1])
    )
    of_cm = [
        g.app[g.base.module == place][np.argsort(g.base.number[g.base.module == place])]
        for g, place in ((first, 0), (second, 1))
    ]
    assert np.array_equal(*of_cm)
