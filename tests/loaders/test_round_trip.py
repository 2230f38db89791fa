"""What is read of any source or format, as Parquet read again, gives the same schedule to the byte."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from scheduler_sim import Simulation, System, Workload, read_trace, write_trace
from tests.conftest import ROOT, SHARED, needs_shared
from tests.fuzz.loaded import LOADED

pytestmark = pytest.mark.interpreted

DATA = SHARED / "data"
SYSTEMS = {name: ROOT / "configs" / "systems" / f"{name}.yaml" for name in ("openb", "pai")}
"""Of sources whose jobs ask for types of GPUs."""

REAL = [
    "openb/openb_pod_list_default.csv.gz",
    "openb/openb_pod_list_gpushare40.csv.gz",
    "openb/openb_pod_list_cpu100.csv.gz",
    "openb/openb_pod_list_gpuspec33.csv.gz",
    "traces/CEA-Curie-sample.predictsim.swf.gz",
    "traces/KTH-SP2-1996-2.1-cln.swf.gz",
    "traces/NASA-iPSC-1993-3.1-cln.swf.gz",
    "traces/theta_2022.swf.gz",
    "traces/norm/kth5k.swf.gz",
    "traces/traceD2-2.mwf.gz",
    "sites/university/sacct.txt.gz",
    "sites/ub_medium/workload_5k.events.gz",
]


def agree(found: Workload, folder: Path, rows: int, system: Path | None = None) -> None:
    """Both are the same table, and the first jobs of both have the same schedule."""
    write_trace(found, folder / "t.parquet")
    back = read_trace(folder / "t.parquet")
    pd.testing.assert_frame_equal(back.table, found.table)
    pd.testing.assert_frame_equal(back.carried, found.carried)
    assert back.source.notes == found.source.notes
    made = []
    for number, jobs in enumerate((found, back)):
        first = jobs.select(range(min(rows, len(jobs))))
        result = Simulation(system or for_all(first), first, "easy").run()
        made.append((result.save(folder / str(number)) / "components.parquet").read_bytes())
        assert (result.components["start_time"] >= 0).any()
    assert made[0] == made[1]


def for_all(jobs: Workload) -> System:
    """A system with all partitions that jobs name, and nodes for a few of them at once."""
    names = sorted({name for name in jobs["partition"].tolist() if name not in ("", "-1", "NA")})
    parts = [{"name": name, "module": "m"} for name in names]
    nodes = 2 * max(int(jobs["nodes"].max()), 1)
    mapped = {"partitions": {name: name for name in names}} if jobs.source.format == "swf" and names else None
    keys = {"modules": [{"name": "m", "nodes": nodes}], "partitions": parts or None}
    return System.from_dict({**keys, "swf": mapped} if mapped else keys)


@pytest.mark.parametrize("name", LOADED)
def test_of_every_source_and_format(name, tmp_path, monkeypatch):
    one = LOADED[name]
    for file, content in one.files.items():
        (tmp_path / file).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    how = {**one.how, "on_error": "skip"} if name == "sacct" else one.how  # its dependencies form a circle
    agree(read_trace(one.trace, **how), tmp_path, 60, SYSTEMS.get(name))


@needs_shared
@pytest.mark.parametrize("name", REAL)
def test_of_real_data(name, tmp_path):
    source = "openb" if name.startswith("openb/") else ""
    agree(read_trace(DATA / name, source or None), tmp_path, 40, SYSTEMS.get(source))
