"""From a number to a case: which sample is changed how, and what is done with it."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.fuzz import loaded, mutation, samples
from tests.fuzz.confine import scrubbed, scrubbed_text
from tests.workload.records import packed


@dataclass(frozen=True)
class Case:
    """Files to write into a folder, and what to do there.

    Attributes
    ----------
    kind : name of what is done, see ``judge``.
    files : content by name. arguments : of a command, or of what is done.
    named : the files of which an error has to name one.
    """

    kind: str
    files: dict[str, bytes]
    arguments: tuple[Any, ...] = ()
    named: tuple[str, ...] = field(default=())


def case(seed: int, number: int) -> Case:
    """Return case ``number`` under a seed: the same wherever and in whatever order they are made."""
    draw = random.Random(f"{seed}/{number}")
    make = draw.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    return make(draw)


def _trace(draw: random.Random) -> Case:
    kind = draw.choice(list(samples.TRACES))
    name = f"t.{kind}" + draw.choice(["", "", "", "", ".gz", ".zst"])
    return Case("trace", {name: _trace_bytes(kind, name, draw)}, (name,), (name,))


def _trace_bytes(kind: str, name: str, draw: random.Random) -> bytes:
    text = "\n".join(samples.TRACES[kind]) + "\n"
    if draw.random() < 0.6:
        text = mutation.fields_of(text, samples.SEPARATORS[kind], draw)
    data = text.encode("utf-8", "surrogatepass")
    if draw.random() < 0.5:
        data = mutation.bytes_of(data, draw)
    if name.endswith((".gz", ".zst")):
        data = packed(data, Path(name).suffix)
        data = mutation.bytes_of(data, draw) if draw.random() < 0.5 else data
    return data


def loaded_case(name: str, draw: random.Random) -> Case:
    """Return a changed trace of a source or format, and how it is read."""
    one = loaded.LOADED[name]
    how = {**one.how, "on_error": draw.choice(["stop", "skip"])}
    return Case("loaded", loaded.changed(one, draw), (one.trace, how), tuple(one.files))


def _loaded(draw: random.Random) -> Case:
    return loaded_case(draw.choice(list(loaded.LOADED)), draw)


def _parquet(draw: random.Random) -> Case:
    name = "t.parquet"
    return Case("trace", {name: _odd_parquet(draw)}, (name,), (name,))


def _odd_parquet(draw: random.Random) -> bytes:
    """A table with odd columns, types and metadata; or whose bytes are damaged."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rows = draw.choice([0, 1, 3, 3, 3])
    columns: dict[str, Any] = {
        "nodes": [1, 2, 3][:rows],
        "submit_time": [0, 1, 2][:rows],
        "run_time": [5, 5, 5][:rows],
        "name": ["a", "b", "a"][:rows],
        "dependency_ids": ["", "1", "1"][:rows],
        "dependency_kinds": ["", "AFTEROK", "AFTER+3"][:rows],
    }
    for _ in range(draw.randint(0, 3)):
        key = draw.choice(
            [*columns, "time_limit", "delay", "api_calls", "frequency", "skipped", "x", "component_id"]
        )
        values = [draw.choice(mutation.VALUES[:22] + mutation.TOKENS) for _ in range(rows)]  # type: ignore[operator]
        columns[key] = draw.choice([values[:1] * rows, values, [str(value) for value in values]])
    arrays = {}
    for key, values in columns.items():
        try:
            array = pa.array(values)
            if draw.random() < 0.3 and pa.types.is_string(array.type):
                array = array.dictionary_encode()
            arrays[key] = array
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            arrays[key] = pa.array([str(value) for value in values])
    table = pa.table(arrays)
    if draw.random() < 0.6:
        said = {
            "format": "mwf", "name": "x.mwf", "header": ["# a"], "comments": [[1, "# b"]], "field_count": [[38, rows]],
            "encoding": "utf-8", "notes": [], "dependencies_name": "component_id", "partial": False,
        }  # fmt: skip
        changed = mutation.tree_of(said, draw)
        if isinstance(changed, dict):
            changed["name"] = ""  # else errors name that file, of which the table was made
        text = json.dumps(changed).encode("utf-8", "surrogatepass")
        if draw.random() < 0.1:
            text = draw.choice([b"[" * 100_000, b"9" * 6000, b"\xff", mutation.bytes_of(text, draw)])
        table = table.replace_schema_metadata({b"scheduler_sim.workload": text})
    out = io.BytesIO()
    parquet.write_table(table, out)
    data = out.getvalue()
    return mutation.bytes_of(data, draw) if draw.random() < 0.3 else data


def _yaml(tree: Any, draw: random.Random, changes: int | None = None) -> bytes:
    tree = mutation.tree_of(tree, draw, changes)
    text = yaml.safe_dump(tree, allow_unicode=True, sort_keys=False)
    data = text.encode("utf-8", "surrogatepass")
    if draw.random() < 0.15:
        data = mutation.bytes_of(data, draw)
    return scrubbed(data)


def _config(kind: str, *trees: Any, folder: str = "") -> Callable[[random.Random], Case]:
    def make(draw: random.Random) -> Case:
        tree = draw.choice([*trees, *(samples.configurations(folder) if folder else ())])
        files = {"self.yaml": _yaml(tree, draw)}
        if kind in ("models", "study"):
            files |= {"power.yaml": yaml.safe_dump(samples.POWER).encode(), "t.swf": _good("swf")}
            files |= {"apps.yaml": yaml.safe_dump(samples.SCALING).encode()}
        return Case(kind, files, ("self.yaml",), ("self.yaml",))

    make.__name__ = f"_{kind}"
    return make


def _good(kind: str) -> bytes:
    return ("\n".join(samples.TRACES[kind]) + "\n").encode()


def _slurm_conf(draw: random.Random) -> Case:
    return Case("slurm_conf", {"slurm.conf": _conf_bytes(draw)}, ("slurm.conf",), ("slurm.conf",))


def _conf_bytes(draw: random.Random) -> bytes:
    text = samples.slurm_conf()
    if draw.random() < 0.7:
        text = mutation.fields_of(text, draw.choice([" ", "=", ","]), draw)
    data = text.encode("utf-8", "surrogatepass")
    return scrubbed(mutation.bytes_of(data, draw) if draw.random() < 0.5 else data)


def _points(draw: random.Random) -> Case:
    kind = draw.choice(list(samples.POINTS))
    text = mutation.fields_of("\n".join(samples.POINTS[kind]), ",", draw)
    data = text.encode("utf-8", "surrogatepass")
    if draw.random() < 0.4:
        data = mutation.bytes_of(data, draw)
    name = draw.choice(["p.csv", "p.txt", "p.jsonl"]) if kind == "scaling" else "p.csv"
    return Case(f"{kind}_points", {name: scrubbed(data)}, (name,), (name,))


def _text(draw: random.Random) -> Case:
    """A text that is a small language of its own: hostlists, constraints, durations, formulas."""
    data = mutation.bytes_of(draw.choice([b"n[1-3,7]", b"a&[b|c]", b"2-00:00:00", b"p**2*log2(p)"]), draw)
    return Case("text", {}, (data.decode("utf-8", "replace"),))


def _settings(draw: random.Random) -> Case:
    keys = ["depth", "order", "backfill", "overrun_s", "slurm.bf_window", "slurm.PriorityWeightTRES", "slurm.accounts",
            "slurm.qos", "slurm.PriorityFlags", "slurm.version", "replan", "delay", "slurm", "x", "slurm.x", "name",
            "slurm.bf_node_space_size", "slurm.PriorityDecayHalfLife", "slurm.PriorityType", "slurm.latency"]  # fmt: skip
    given = {draw.choice(keys): _setting(draw) for _ in range(draw.randint(1, 3))}
    start = draw.choice(["fcfs", "easy", "conservative", "slurm", "sjf"])
    return Case("settings", {}, (start, given))


def _setting(draw: random.Random) -> Any:
    value = draw.choice([*mutation.VALUES, *mutation.TOKENS])
    return scrubbed_text(value) if isinstance(value, str) else value


def _run(draw: random.Random) -> Case:
    """A whole run by the command line: mostly good inputs, changed a little."""
    policy = draw.choice(["fcfs", "easy", "easy", "conservative", "slurm"])
    kind = draw.choice(["swf", "mwf", "sacct", "csv"])
    text = _good(kind).decode()
    if draw.random() < 0.6:
        text = mutation.fields_of(text, samples.SEPARATORS[kind], draw)
    files = {f"t.{kind}": text.encode("utf-8", "surrogatepass")}
    system = draw.choice([samples.SMALL_SYSTEM, samples.SYSTEM])
    if kind == "mwf" or draw.random() < 0.3:
        system = samples.SYSTEM
    files["s.yaml"] = _yaml(system, draw, draw.choice([0, 0, 1, 2]))
    arguments = ["run", "s.yaml", f"t.{kind}", "--policy", policy, "--out", "result"]
    if draw.random() < 0.3:
        files["power.yaml"] = _yaml(samples.POWER, draw, draw.choice([0, 0, 1]))
        models = {"energy": samples.MODELS["energy"]} if kind != "mwf" else samples.MODELS
        files["m.yaml"] = _yaml(models, draw, draw.choice([0, 0, 1]))
        arguments += ["--models", "m.yaml"]
    if draw.random() < 0.4:
        key = draw.choice(
            ["depth", "overrun_s", "order", "placement", "het_end", "slurm.bf_window", "slurm.OverTimeLimit"]
        )
        arguments += ["--set", f"policy.{key}={scrubbed_text(draw.choice(mutation.TOKENS))}"]
    return Case("command", files, tuple(arguments), tuple(files))


def _command(draw: random.Random) -> Case:
    """Another command, on a changed input."""
    match draw.randrange(6):
        case 0:
            made = _trace(draw)
            return Case("command", made.files, ("inspect", *made.arguments), made.named)
        case 1:
            made = draw.choice([_trace, _parquet])(draw)
            to = draw.choice(["o.swf", "o.mwf", "o.csv", "o.parquet", "o.swf.gz", "o.mwf.zst"])
            return Case("command", made.files, ("convert", *made.arguments, to), made.named)
        case 2:
            made = draw.choice([_slurm_conf, _config("system", samples.SYSTEM)])(draw)
            return Case("command", made.files, ("inspect", *made.arguments), made.named)
        case 3:
            files = {"r.yaml": _yaml(samples.RECIPE, draw, draw.choice([0, 1]))}
            return Case("command", files, ("generate", "r.yaml", "--out", "o.mwf"), ("r.yaml",))
        case 4:
            name = draw.choice(["n" * 300, "\U0001f600" * 62 + ".swf", "n" * 250 + ".swf", "no", "t.swf"])
            made = [("inspect", name), ("run", "s.yaml", name), ("convert", "t.swf", name), ("explain", name, "1"),
                    ("report", name), ("study", name), ("generate", name, "--out", "o.swf"), ("fit", "scaling", name),
                    ("run", name, "t.swf"), ("run", "s.yaml", "t.swf", "--policy", "fcfs", "--out", "n" * 300)]  # fmt: skip
            files = {"t.swf": _good("swf"), "s.yaml": yaml.safe_dump(samples.SMALL_SYSTEM).encode()}
            return Case("command", files, draw.choice(made))
        case _:
            files = {"p.csv": mutation.fields_of("\n".join(samples.POINTS["scaling"]), ",", draw).encode()}
            return Case("command", files, ("fit", "scaling", "p.csv", "--out", "o.yaml"), ("p.csv",))


def _tampered(draw: random.Random) -> Case:
    """A result of which something was changed by hand; ``judge`` has the results."""
    return Case("tampered", {}, (draw.randrange(10**6), draw.randrange(2**32)))


WEIGHTS: dict[Callable[[random.Random], Case], float] = {
    _trace: 40,
    _loaded: 15,
    _parquet: 8,
    _slurm_conf: 6,
    _config("system", samples.SYSTEM, folder="systems"): 8,
    _config("policy", *samples.POLICIES, folder="policies"): 8,
    _config("recipe", samples.RECIPE): 5,
    _config("study", samples.STUDY, samples.SEARCH): 3,
    _config("models", samples.MODELS, folder="models"): 4,
    _config("power", samples.POWER): 4,
    _config("scaling", samples.SCALING, folder="apps"): 4,
    _points: 3,
    _text: 3,
    _settings: 3,
    _run: 0.5,
    _command: 0.7,
    _tampered: 0.5,
}
"""How often each kind comes: what is quick, most."""
