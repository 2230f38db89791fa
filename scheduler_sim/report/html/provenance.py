"""What was run, and the command that repeats it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scheduler_sim.report.html.markup import Child, Markup, pairs, table, tag
from scheduler_sim.report.wording import listing, plain

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

CHANGED = re.compile(r"(?P<name>[^ ]+) \((?P<changes>[^ =]+=[^ ]+(?:, [^ =]+=[^ ]+)*)\)")
"""A policy's name and what was changed of it: ``easy (depth=2)``."""


TRACE = re.compile(r"\.(swf|mwf|csv|parquet)(\.gz|\.zst)?$", re.IGNORECASE)


def of_run(result: Result) -> Child:
    """Tell the provenance of a run from its manifest."""
    manifest = result.manifest
    policy, system = manifest.get("policy") or {}, manifest.get("system") or {}
    facts = {
        "version": plain(manifest.get("version", "not known")),
        "seed": plain(manifest.get("seed", "not known")),
        "policy": plain(policy.get("name") or policy.get("order") or "not known"),
        "system": plain(system.get("name") or "not named"),
    }
    run = manifest.get("run") or {}
    if run.get("id"):
        facts |= {
            "run of a study": plain(run["id"]),
            **{plain(k): plain(v) for k, v in (run.get("factors") or {}).items()},
        }
    return [
        pairs(facts),
        inputs_table(manifest),
        _repetition(manifest),
        document("The policy in full", policy),
        document("The system in full", system),
    ]


def of_study(study: Mapping[str, Any]) -> Child:
    """Tell the provenance of a study from ``study.json``."""
    keys = study.get("keys") or {}
    facts = {"version": plain(study.get("version", "not known"))}
    if not keys.get("search"):  # which chooses its seeds, and has no baseline
        facts["seeds"] = _seeds(study.get("seeds") or keys.get("seeds") or [])
        baseline = (keys.get("baseline") or {}).items()
        facts["baseline"] = whole(listing(f"{k} {v}" for k, v in baseline)) or "none"
    trim = keys.get("trim") or {}
    if any(trim.values()):
        facts["left out of the span"] = (
            f"{trim['warm_up']:g} % at its beginning, {trim['cool_down']:g} % at its end"
        )
    workloads = study.get("workloads") or {}
    rows = [[plain(name), *_workload(one)] for name, one in workloads.items()]
    return [
        pairs(facts),
        table("Workloads", ["workload", "what", "sha256"], rows, text=3) if rows else None,
        tag(
            "p",
            "This command repeats it, with the study file below"
            + (" and the traces above:" if any("recipe" not in one for one in workloads.values()) else ":"),
        ),
        _typed("scheduler-sim study study.yaml --out study"),
        document(
            "The study file (systems, policies and recipes in full; JSON is YAML too)", _whole_study(study)
        ),
    ]


def _seeds(seeds: list[int]) -> str:
    in_a_row = len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if in_a_row else listing(seeds)


def _workload(one: Mapping[str, Any]) -> tuple[str, Child]:
    if "recipe" not in one:
        return "trace", tag("code", plain_hash(one.get("trace")))
    scenario = f", scenario {plain(one['scenario'])}" if one.get("scenario") else ""
    return f"recipe {plain(one['recipe'].get('name') or '')}{scenario}".rstrip(), "in full below"


def _whole_study(study: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a study file that needs no other file but traces."""
    keys = dict(study.get("keys") or {})
    given = keys.get("workloads") or {}
    recipes = {name: one for name, one in (study.get("workloads") or {}).items() if "recipe" in one}
    keys["name"] = study.get("name", "")
    keys["seeds"] = study.get("seeds") or keys.get("seeds")
    keys["systems"] = study.get("systems") or keys.get("systems")
    keys["workloads"] = {name: recipes.get(name, what) for name, what in given.items()}
    keys["policies"] = _policies(study)
    return {key: value for key, value in keys.items() if value not in (None, {}, [], "")}


def _policies(study: Mapping[str, Any]) -> dict[str, Any]:
    """Return each policy as keys; one by a function of the user's own stays as it was given."""
    given = (study.get("keys") or {}).get("policies") or {}
    found = {}
    for name, policy in (study.get("policies") or {}).items():
        own = any(":" in str(policy.get(key)) for key in ("order", "backfill_order"))
        keys = {key: value for key, value in policy.items() if key != "name" and value is not None}
        found[name] = given.get(name) if own else keys
    return found or given


def inputs_table(manifest: Mapping[str, Any]) -> Child:
    """List the inputs with their hashes."""
    inputs = manifest.get("inputs") or []
    rows = [
        [plain(one.get("role")), whole(one.get("name")), tag("code", plain_hash(one.get("sha256")))]
        for one in inputs
    ]
    return table("Inputs", ["what", "name", "sha256"], rows, text=3) if rows else None


def _repetition(manifest: Mapping[str, Any]) -> Child:
    """Show the command that repeats a run, with the study file it needs, or say why there is none."""
    words = _repeating(manifest)
    if words:
        named = {"system", "workload", "policy", "models"}
        others = any(one.get("role") not in named for one in manifest.get("inputs") or [])
        where = ", each where the files refer to it," if others else ""
        return [tag("p", f"With the inputs above{where} this command repeats it:"), _typed(words)]
    study = _study_of(manifest)
    if study is None:
        return tag(
            "p",
            "Its workload or its policy was made by a program, so that no command repeats it: the same"
            " program does, with the seed above, and the policy and the system below.",
        )
    recipe = any("recipe" in one for one in study["workloads"].values())
    inputs = "the study file below" if recipe else "the study file below and the inputs above"
    return [
        tag("p", f"With {inputs} this command repeats it:"),
        _typed("scheduler-sim study run.yaml --out again"),
        document(
            "The study file of this one run (system, workload and policy in full; JSON is YAML too)", study
        ),
    ]


def _study_of(manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the keys of a study that is this run alone; None where a program made what it was run with."""
    run = manifest.get("run") or {}
    factors = run.get("factors") or {}
    inputs = {one.get("role"): one.get("name") for one in manifest.get("inputs") or []}
    workload = run.get("workload") or {}
    if "recipe" in workload:
        workload = {key: workload[key] for key in ("recipe", "scenario") if key in workload}
    elif TRACE.search(str(inputs.get("workload"))):
        workload = {"trace": whole(inputs["workload"])}
    else:
        return None
    policy = {key: value for key, value in (manifest.get("policy") or {}).items() if value is not None}
    if any(":" in str(policy.get(key)) and key not in inputs for key in ("order", "backfill_order")):
        return None  # a function that stands in no file
    honour_status = (manifest.get("workload") or {}).get("honour_status", False)
    return {
        "systems": {str(factors.get("system", "system")): manifest.get("system") or {}},
        "workloads": {str(factors.get("workload", "workload")): workload},
        "policies": {str(factors.get("policy", "policy")): policy},
        "seeds": [manifest.get("seed", 0)],
        **({"models": manifest["models"]} if manifest.get("models") else {}),
        **({"honour_status": True} if honour_status else {}),
    }


def _typed(words: str) -> Markup:
    return tag("pre", tag("code", words), tabindex="0")


def document(title: str, data: Mapping[str, Any]) -> Markup:
    """Show a document, folded."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return tag("details", tag("summary", title), tag("pre", tag("code", text), tabindex="0"))


def whole(name: object) -> str:
    """Return a name on one line without control and direction characters, however long it is."""
    return "".join(plain(sign) if sign != " " else " " for sign in str(name))


def plain_hash(value: object) -> str:
    """Return a hash as it is written, or that there is none."""
    return str(value) if re.fullmatch(r"[0-9a-f]{64}", str(value)) else "–"


def _repeating(manifest: Mapping[str, Any]) -> str:
    names = {one.get("role"): whole(one.get("name")) for one in manifest.get("inputs") or []}
    if "system" not in names or "workload" not in names or "run" in manifest:
        return ""
    if "=default" in str((manifest.get("policy") or {}).get("name")):  # which --set does not know
        return ""
    if manifest.get("models") and "models" not in names:
        return ""
    words = ["scheduler-sim", "run", names["system"], names["workload"], *_policy(manifest, names)]
    read_as = (manifest.get("workload") or {}).get("format")
    words += ["--from", whole(read_as)] if read_as else []
    words += ["--models", names["models"]] if "models" in names else []
    if (manifest.get("workload") or {}).get("honour_status"):
        words += ["--set", "workload.honour_status=true"]
    if manifest.get("seed"):
        words += ["--seed", str(manifest["seed"])]
    return shlex.join([*words, "--out", "result"])


def _policy(manifest: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    name = str((manifest.get("policy") or {}).get("name") or "")
    changed = CHANGED.fullmatch(name)
    base = changed["name"] if changed else name
    words = ["--policy", names.get("policy") or whole(base)]
    for change in changed["changes"].split(", ") if changed else []:
        words += ["--set", f"policy.{whole(change)}"]
    return words
