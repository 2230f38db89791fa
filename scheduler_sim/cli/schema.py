"""``scheduler-sim schema``: JSON Schema of YAML files, for editors."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from typing import Any

from scheduler_sim.cli.terminal import show

SCHEMAS = {
    "system": ("scheduler_sim.system.keys", "SystemKeys"),
    "policy": ("scheduler_sim.policy.keys", "PolicyKeys"),
    "recipe": ("scheduler_sim.generation.keys", "RecipeKeys"),
    "models": ("scheduler_sim.applications.keys", "ModelsKeys"),
    "study": ("scheduler_sim.study.keys", "StudyKeys"),
    "power": ("scheduler_sim.energy.keys", "ProfileKeys"),
    "facility": ("scheduler_sim.energy.facility_keys", "FacilityKeys"),
    "profile": ("scheduler_sim.scaling.profile_keys", "ProfileKeys"),
    "modular": ("scheduler_sim.scaling.profile_keys", "ModularKeys"),
    "metric": ("scheduler_sim.scaling.metric_model", "MetricKeys"),
    "network": ("scheduler_sim.messages.network_keys", "NetworkKeys"),
}
"""Files by kind, and where the models of their keys are; imported when asked for."""

EXAMPLES = """\
examples:
  scheduler-sim schema policy > policy.schema.json

An editor with YAML's language server checks and completes a file that begins with
  # yaml-language-server: $schema=policy.schema.json
The schemas are in configs/schemas/, too, and the files of configs/ name them.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "schema",
        help="print the JSON Schema of a YAML file, for editors",
        description="Print the JSON Schema of a kind of YAML file: what each key means and allows.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("kind", metavar="KIND", choices=tuple(SCHEMAS), help=", ".join(SCHEMAS))
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Print a schema."""
    show(schema_text(args.kind).rstrip("\n"))


def schema_text(kind: str) -> str:
    """Return a schema as the text of its file."""
    return json.dumps(schema(kind), indent=1, ensure_ascii=False) + "\n"


def schema(kind: str) -> dict[str, Any]:
    """Return the schema of a kind of file."""
    from scheduler_sim.config.schema import schema_of

    module, name = SCHEMAS[kind]
    return schema_of(getattr(import_module(module), name), f"scheduler-sim: {kind}")
