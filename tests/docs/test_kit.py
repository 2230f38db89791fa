"""What stands beside pyproject.toml and repeats some of it says the same."""

from __future__ import annotations

import re
import tomllib
from itertools import chain

import yaml
from packaging.requirements import Requirement

from scheduler_sim.version import __version__
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
RECIPE = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))


def test_the_lock_has_each_dependency_in_a_version_that_is_allowed():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", lock, re.M))
    extras = chain.from_iterable(EXTRAS[name] for name in ("report", "docs", "dev"))
    for text in chain(PROJECT["dependencies"], extras):
        asked = Requirement(text)
        if asked.name != PROJECT["name"]:
            assert asked.specifier.contains(pinned[asked.name.lower()]), text


def test_the_conda_recipe_runs_with_what_the_project_names():
    """Conda knows no extras: it has the base. Its Matplotlib without a window is a package of its own."""
    asked = [Requirement(text) for text in RECIPE["requirements"]["run"] if not text.startswith("__")]
    project = [Requirement(text) for text in PROJECT["dependencies"]]
    assert {one.name.removesuffix("-base"): one.specifier for one in asked if one.name != "python"} == {
        one.name: one.specifier for one in project
    }
    assert [str(one.specifier) for one in asked if one.name == "python"] == [PROJECT["requires-python"]]


def test_all_have_one_version():
    assert RECIPE["context"]["version"] == __version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == __version__
