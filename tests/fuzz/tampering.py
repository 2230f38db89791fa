"""Whole small results, and what somebody may have changed in them by hand."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from scheduler_sim import Workload
from scheduler_sim.applications.models import Models
from scheduler_sim.simulation import Simulation
from scheduler_sim.system.system import System
from tests.fuzz import mutation, samples

POLICIES = ("fcfs", "easy", "conservative", "slurm")


@cache
def results() -> tuple[dict[str, bytes], ...]:
    """The files of a few results: with energy, switched nodes, a power cap, licences, rejected components."""
    system = System.from_dict(copy.deepcopy(samples.SYSTEM))
    rows = 14
    trace = Workload.from_columns(
        nodes=[1, 2, 5, 3, 1, 2, 4, 5, 1, 3, 2, 9, 1, 2],
        submit_time=[10 * i for i in range(rows)],
        run_time=[60 + 30 * (i % 4) for i in range(rows)],
        time_limit=[100 + 60 * (i % 3) for i in range(rows)],
        partition=["batch", "gpu"] * (rows // 2),
        name=["a", "b", ""] * (rows // 3) + ["<b>", "é"],
        dependency_ids=["", "1", *[""] * (rows - 2)],
        dependency_kinds=["", "AFTEROK", *[""] * (rows - 2)],
        licences=["fluid:2", *[""] * (rows - 1)],
    )
    made = []
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("power.yaml").write_text(yaml.safe_dump(samples.POWER))
        plain = {"power": "power.yaml"}
        switching = {**plain, "idle_off": {"timeout_s": 30}}
        capped = {**plain, "cap": {"power_w": 1500}}
        for policy, energy in (
            *((name, None) for name in POLICIES),
            ("easy", plain),
            ("easy", switching),
            ("easy", capped),
        ):
            models = None if energy is None else Models.of(energy=energy)
            result = Simulation(system, trace, policy, models=models, seed=1).run()
            place = result.save(f"r{len(made)}", log="log\n")
            made.append({path.name: path.read_bytes() for path in place.iterdir()})
    return tuple(made)


def tampered(which: int, seed: int) -> dict[str, bytes]:
    """Return the files of a result after a change by hand."""
    draw = random.Random(seed)
    made = results()
    files = dict(made[which % len(made)])
    name = draw.choice([name for name in files if name != "run.log"])
    if draw.random() < 0.05:
        del files[name]
    elif draw.random() < 0.1:
        files[name] = mutation.bytes_of(files[name], draw)
    elif name.endswith(".json"):
        changed = mutation.tree_of(json.loads(files[name]), draw)
        files[name] = json.dumps(changed, ensure_ascii=False).encode("utf-8", "surrogatepass")
    else:
        files[name] = _other_table(files[name], draw)
    return files


def _other_table(data: bytes, draw: random.Random) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    table = parquet.read_table(io.BytesIO(data))
    for _ in range(draw.randint(1, 3)):
        name = draw.choice(table.column_names)
        at = table.column_names.index(name)
        values = table.column(at).to_pylist()
        match draw.randrange(8):
            case 0:
                table = table.slice(draw.randrange(4), draw.choice([0, 1, 5, len(table)]))
            case 1 if table.num_columns > 1:
                table = table.remove_column(at)
            case 2:
                table = pa.concat_tables([table, table.slice(0, 2)])
            case 3:
                table = table.take(pa.array(draw.sample(range(len(table)), len(table)), pa.int64()))
            case 4:
                table = table.set_column(at, name, pa.array([str(value) for value in values], pa.string()))
            case _ if values:
                _one_value(values, draw)
                with contextlib.suppress(pa.ArrowException, OverflowError, TypeError):
                    table = table.set_column(at, name, pa.array(values, table.schema.field(at).type))
    out = io.BytesIO()
    parquet.write_table(table, out, compression="zstd")
    return out.getvalue()


def _one_value(values: list[Any], draw: random.Random) -> None:
    row = draw.randrange(len(values))
    odd: list[Any]
    if isinstance(values[row], str):
        odd = ["", "x", "total", "PENDING", "REJECTED", "COMPLETED", "n" * 300, "<script>", *values[:3]]
    else:
        number = values[row] or 0
        odd = [
            -1,
            0,
            1,
            2**62,
            -(2**62),
            10**15,
            number + 1,
            -number,
            number * 1000,
            float("nan"),
            float("inf"),
            0.5,
            None,
        ]
    values[row] = draw.choice(odd)
