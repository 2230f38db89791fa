"""A small trace of every source and format that is read, with how it is read; and how each is changed."""

from __future__ import annotations

import io
import random
import runpy
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from tests.conftest import ROOT
from tests.fuzz import mutation, samples

FOLDER = ROOT / "workloads" / "sources"
SOURCES: dict[str, str] = {
    source: name
    for source, (_, name) in runpy.run_path(str(FOLDER.parent / "source_samples.py"))["SAMPLES"].items()
}
"""Named sources, and their samples."""


@dataclass(frozen=True)
class Loaded:
    """Files by name, which of them is the trace, and what ``read_trace`` is told of it."""

    trace: str
    files: dict[str, bytes]
    how: dict[str, str] = field(default_factory=dict)
    separator: str | None = ","


MAP = b"""\
time_zone: Europe/Rome
columns:
  component_id: id
  submit_time: sub
  run_time: over - begun
  time_limit: {formula: limit, unit: min}
  nodes: cpus / 4
  status: {formula: how, values: {ok: 0, "*": 1}}
"""
MAPPED = b"""\
id;sub;begun;over;limit;cpus;how;colour
7;2021-03-01 10:00:00;2021-03-01 10:05:00;2021-03-01 11:00:00.5;60;16;ok;red
8;2021-03-01 10:00:00.75;2021-03-01 10:00:10;2021-03-01 12:00:10;60;10;bad;
9;2021-03-01 09:00:00;;;60;4;ok;blue
"""
GUESSED = b"""\
Job ID,Submit Time,elapsed,Requested Walltime (min),nnodes,User,colour
a,0,90.0,2,3,ann,"red, so"
b,5.5,30,,1,ben,
a,7,00:10:00,1,2,ann,blue
"""
JSON_LINES = b"""\
{"submit_time": 5, "run_time": 7, "nodes": 2, "of": {"user": "ann"}}
{"submit_time": 6, "run_time": 1.5, "nodes": 1, "time_limit": 60, "gpus": 0.5}
"""
EVENTS = b"""\
# x
-dt 10.75 -e submit_batch_job | -sim-walltime 20.2 --uid=ann -J one -N 1-2 -n 4 -c 2 -t 1:00 --mem=2G x.job
-dt 11 -e cancel_job | -J one
-dt 12 -e submit_batch_job | -sim-walltime -1 --uid bob -t 2 --mem-per-cpu=500 --gres=gpu:2 --exclusive=user x
"""


def _parquet(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def _loaded() -> dict[str, Loaded]:
    found = {}
    for source, name in SOURCES.items():
        beside = ("throughputs.json",) if source == "gavel" else ()
        files = {one: (FOLDER / one).read_bytes() for one in (name, *beside)}
        found[source] = Loaded(
            name, files, {"format": source}, {"gavel": "\t", "frontier": None}.get(source, ",")
        )
    for kind, lines in samples.TRACES.items():
        text = ("\n".join(lines) + "\n").encode()
        found[kind] = Loaded(f"t.{kind}", {f"t.{kind}": text}, {}, samples.SEPARATORS[kind])
    swf = samples.TRACES["swf"]
    behind = ["" if line.startswith(";") else (" 7 8.5", " a", "")[i % 3] for i, line in enumerate(swf)]
    text = "".join(f"{line}{more}\n" for line, more in zip(swf, behind, strict=True)).encode()
    found["behind.swf"] = Loaded("b.swf", {"b.swf": text}, {}, samples.SEPARATORS["swf"])
    tables = {
        "guessed.csv": GUESSED,
        "t.tsv": GUESSED.replace(b",", b"\t"),
        "t.jsonl": JSON_LINES,
        "t.events": EVENTS,
    }
    found |= {
        name: Loaded(name, {name: text}, {}, "\t" if name == "t.tsv" else ",")
        for name, text in tables.items()
    }
    found["mapped"] = Loaded("m.csv", {"m.csv": MAPPED, "map.yaml": MAP}, {"columns": "map.yaml"}, ";")
    over = b"time_zone: UTC\ncolumns:\n  partition: {formula: queue, values: {workq: batch}}\n  qos: group\n"
    files = {SOURCES["pbs"]: (FOLDER / SOURCES["pbs"]).read_bytes(), "map.yaml": over}
    found["over pbs"] = Loaded(SOURCES["pbs"], files, {"format": "pbs", "columns": "map.yaml"})
    foreign = {
        "submitted": [0.5, 7],
        "run": [5, None],
        "size": [1, 2],
        "of": [{"user": "ann"}, None],
        "l": [[1], []],
    }
    said = b"columns: {submit_time: submitted, run_time: run, nodes: size}\n"
    files = {"f.parquet": _parquet(foreign), "map.yaml": said}
    found["foreign.parquet"] = Loaded("f.parquet", files, {"columns": "map.yaml"})
    return found


LOADED: dict[str, Loaded] = _loaded()


def changed(one: Loaded, draw: random.Random) -> dict[str, bytes]:
    """Return the files of a trace, one of them changed: mostly the trace itself."""
    name = one.trace if draw.random() < 0.9 else draw.choice(list(one.files))
    data = one.files[name]
    if name.endswith(".parquet") and draw.random() < 0.7:
        data = _other_columns(data, draw)
    elif not name.endswith(".parquet") and draw.random() < 0.6:
        text = mutation.fields_of(data.decode(), one.separator if name == one.trace else " ", draw)
        data = text.encode("utf-8", "surrogatepass")
    else:
        data = mutation.bytes_of(data, draw)
    return {**one.files, name: data}


def _other_columns(data: bytes, draw: random.Random) -> bytes:
    """Put odd values, or values of odd types, into columns of a table."""
    columns = parquet.read_table(io.BytesIO(data)).to_pydict()
    for name in draw.choices(list(columns), k=draw.randint(1, 3)):
        values = columns[name]
        match draw.randrange(4):
            case 0:
                del columns[name]
                if not columns:
                    columns[name] = values
                break
            case 1:
                values = [draw.choice(mutation.VALUES)] * len(values)
            case 2:
                values = [str(value) for value in values]
            case 3:
                values = list(values)
                values[draw.randrange(len(values))] = draw.choice(mutation.VALUES)
        columns[name] = values
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pa.array(values)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            arrays[name] = pa.array([str(value) for value in values])
    out = io.BytesIO()
    try:
        parquet.write_table(pa.table(arrays), out)
    except pa.ArrowException:  # a type that Parquet does not have
        return mutation.bytes_of(data, draw)
    return out.getvalue()
