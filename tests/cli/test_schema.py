"""Schemas: of every kind of file, as the readers have it, and no stricter than they are."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from scheduler_sim.cli.schema import SCHEMAS, schema, schema_text
from tests.conftest import ROOT

jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema, of the extra dev")

FOLDER = ROOT / "configs" / "schemas"
NAMED = re.compile(r"\A# yaml-language-server: \$schema=\.\./schemas/(\w+)\.json\n")
FILES = sorted(path for path in (ROOT / "configs").rglob("*.yaml"))
RECIPES = sorted((ROOT / "workloads").glob("*.yaml"))


@pytest.fixture(scope="module")
def validators():
    return {kind: jsonschema.Draft202012Validator(schema(kind)) for kind in SCHEMAS}


def kind_of(path):
    found = NAMED.match(path.read_text(encoding="utf-8"))
    assert found, f"{path} does not name its schema"
    return found[1]


def problems(validator, text):
    data = json.loads(json.dumps(yaml.safe_load(text), default=str))
    return [f"{list(error.path)}: {error.message}" for error in validator.iter_errors(data)]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_files_are_what_the_command_prints(kind, cli):
    assert (
        cli("schema", kind).out == schema_text(kind) == (FOLDER / f"{kind}.json").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("path", [*FILES, *RECIPES], ids=lambda path: path.name)
def test_what_ships_is_valid(path, validators):
    kind = "recipe" if path in RECIPES else kind_of(path)
    assert problems(validators[kind], path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("kind", "text", "wrong"),
    [
        ("policy", "backfill: esy", True),
        ("policy", "backfill: EASY\ndepth: '3'\nname:", False),
        ("policy", "backfil: easy", True),
        ("system", "modules: [{name: a, nodes: -3}]", True),
        ("system", "modules: [{name: a, nodes: 3}]", False),
        ("system", "modules: [{nodes: 3}]", True),
        ("power", "modules: [{name: a, idle_w: 1, typical_w: {value: 2, qualty: guess}}]", True),
        ("facility", "fixed_w: -1", True),
    ],
)
def test_what_an_editor_marks(kind, text, wrong, validators):
    assert bool(problems(validators[kind], text)) == wrong


def test_every_key_says_what_it_means(validators):
    for kind, validator in validators.items():
        for name, model in [("", validator.schema), *validator.schema["$defs"].items()]:
            for key, value in model["properties"].items():
                assert value["description"], f"{kind}: {name}.{key}"
