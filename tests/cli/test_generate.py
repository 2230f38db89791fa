"""The command generate: files, scenarios, fits, bad input, and what it leaves."""

from __future__ import annotations

import pytest

from scheduler_sim import Recipe, read_trace
from tests.cli.command import MODULAR, PROTOTYPE, SAMPLE
from tests.conftest import ROOT

PLAIN = ROOT / "workloads" / "sample-1000.yaml"
RECIPE = ROOT / "workloads" / "deep-est-workflows-24.yaml"


def test_same_bytes_for_the_same_seed_and_others_for_another(cli, tmp_path):
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        done = cli("generate", RECIPE, "--out", tmp_path / f"{name}.mwf", "--seed", seed)
        assert done.code == 0, done.err
    assert "workflows" in done.out
    first, second, third = ((tmp_path / f"{name}.mwf").read_bytes() for name in "abc")
    assert first == second != third


def test_all_scenarios_one_file_each(cli, tmp_path):
    done = cli("generate", RECIPE, "--out", tmp_path / "w.mwf.gz", "--scenario", "all", "--quiet")
    assert (done.code, done.out) == (0, "")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "w_dep.mwf.gz",
        "w_dep_api.mwf.gz",
        "w_het.mwf.gz",
        "w_het_delay.mwf.gz",
        "w_het_delay_api.mwf.gz",
    ]
    assert read_trace(tmp_path / "w_het.mwf.gz").not_honoured()["heterogeneous"] > 500


def test_a_scenario_by_name_in_any_case(cli, tmp_path):
    cli("generate", RECIPE, "--out", tmp_path / "one.mwf", "--scenario", "het+delay", "--quiet")
    cli("generate", RECIPE, "--out", tmp_path / "all.mwf", "--scenario", "ALL", "--quiet")
    assert (tmp_path / "one.mwf").read_bytes() == (tmp_path / "all_het_delay.mwf").read_bytes()


def test_fit_writes_a_recipe_that_generates(cli, tmp_path):
    fitted = cli("generate", "--fit", SAMPLE, "--out", tmp_path / "site.yaml")
    assert fitted.code == 0, fitted.err
    assert "sizes.intercept" in fitted.out
    assert (tmp_path / "site.png").read_bytes().startswith(b"\x89PNG")
    done = cli("generate", tmp_path / "site.yaml", "--out", tmp_path / "more.swf")
    assert done.code == 0, done.err
    more = read_trace(tmp_path / "more.swf")
    assert len(more) == 1000
    assert (more["nodes"] == 1).mean() == pytest.approx(0.4, abs=0.06)


def test_law_of_a_recipe_in_the_picture(cli, tmp_path):
    done = cli(
        "inspect", MODULAR, "--plot", tmp_path / "p.png", "--law", RECIPE.with_name("sample-modular.yaml")
    )
    assert done.code == 0, done.err
    assert (tmp_path / "p.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("generate", "--out", "x.mwf"), "allowed: RECIPE to generate a trace, or --fit TRACE"),
        (("generate", RECIPE, "--fit", SAMPLE, "--out", "x.mwf"), "allowed: RECIPE"),
        (("generate", RECIPE), "--out"),
        (("generate", RECIPE, "--out", "x.txt"), "unknown trace format"),
        (("generate", RECIPE, "--out", "x.mwf", "--seed", "-1"), "--seed: found -1"),
        (("generate", RECIPE, "--out", "x.mwf", "--scenario", "HOT"), "found 'HOT'; allowed: DEP"),
        (("generate", "missing.yaml", "--out", "x.mwf"), "missing.yaml"),
        (("generate", "--fit", SAMPLE, "--out", "x.swf"), "allowed with --fit: a recipe"),
        (("generate", "--fit", SAMPLE, "--out", "x.yaml", "--scenario", "HET"), "found with --fit"),
        (("inspect", SAMPLE, "--law", RECIPE), "--law: found without --plot"),
        (("generate", PLAIN, "--out", "x.swf", "--scenario", "all"), "without workflows"),
        (("generate", RECIPE, "--out", "x.mwf", "--system", PROTOTYPE), "--system: found without --fit"),
    ],
)
def test_bad_input_is_told_and_leaves_nothing(cli, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli(*arguments)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_bad_recipe_lists_its_mistakes_with_lines(cli, tmp_path):
    recipe = tmp_path / "bad.yaml"
    recipe.write_text(
        "modules:\n  - {name: CM, nodes: 0, jobs: 10}\n"
        "model: {arrivals: {site: mars}}\nworkflows: {percent: 120}\n"
    )
    done = cli("generate", recipe, "--out", tmp_path / "x.mwf")
    assert done.code == 2
    for line in (2, 3, 4):
        assert f"bad.yaml:{line}:" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.yaml"]


def test_fit_of_a_modular_trace_has_its_modules(cli, tmp_path):
    done = cli("generate", "--fit", MODULAR, "--system", PROTOTYPE, "--out", tmp_path / "modular.yaml")
    assert done.code == 0, done.err
    recipe = Recipe.from_yaml(tmp_path / "modular.yaml")
    assert [(module.name, module.nodes) for module in recipe.modules] == [
        ("CM", 50),
        ("DAM", 16),
        ("ESB", 75),
    ]
    assert sum(module.jobs for module in recipe.modules) == 908


def test_what_a_person_should_know_is_noted(cli, tmp_path):
    done = cli("generate", RECIPE, "--out", tmp_path / "t.swf")
    assert "cut: true ends the trace with the first" in done.err
    assert "SWF numbers partitions" in done.err


def test_nothing_is_written_where_one_file_cannot_be(cli, tmp_path):
    (tmp_path / "w_het.mwf").mkdir()
    done = cli("generate", RECIPE, "--out", tmp_path / "w.mwf", "--scenario", "all")
    assert done.code == 2
    assert "this is a directory" in done.err
    (tmp_path / "site.png").mkdir()
    assert cli("generate", "--fit", SAMPLE, "--out", tmp_path / "site.yaml").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site.png", "w_het.mwf"]
