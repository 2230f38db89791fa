"""Tables that are worked out some rows at a time: the same as all at once, on disk as well."""

from __future__ import annotations

import pandas as pd
import pytest

from scheduler_sim import Result, Simulation, System
from scheduler_sim.metrics.compute import compute
from tests.simulation.acting import trace

pytestmark = pytest.mark.interpreted

MODULES = {"modules": [{"name": "CM", "nodes": 2}, {"name": "DAM", "nodes": 3}]}
JOBS = [(5, 2, 10), (0, 2, 10), (3, 1, 5), (3, 9, 5), (7, 1, 20, 15), (8, 1, 3)]
"""Not in order of submission; one never fits, one is killed at its limit."""


def made(system: System) -> Result:
    partitions = ["CM", "CM", "DAM", "DAM", "CM", "DAM"] if len(system.modules) > 1 else [""] * 6
    jobs = trace(*JOBS, user=["ana", "bo", "cy", "ana", "dee", "bo"], partition=partitions)
    return Simulation(system, jobs).run()


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("system", [System.homogeneous(2), System.from_dict(MODULES)], ids=["one", "two"])
def test_some_rows_at_a_time_are_the_whole(tmp_path, monkeypatch, system, rows):
    whole = made(system)
    tables = whole.components, whole.timeline  # made, as somebody asks for them
    monkeypatch.setattr("scheduler_sim.simulation.components._ROWS_IN_CACHE", rows)
    monkeypatch.setattr("scheduler_sim.result.table.ROWS_AT_A_TIME", rows)
    result = made(system)
    whole.save(tmp_path / "whole")
    result.save(tmp_path / "pieces")
    for name in ("components.parquet", "timeline.parquet"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "pieces" / name).read_bytes()
    found = Result.load(tmp_path / "pieces")
    found.check()
    for one, other in zip((found.components, found.timeline), tables, strict=True):
        pd.testing.assert_frame_equal(one.astype(dict.fromkeys(TEXTS & set(one), str)), texts(other))


TEXTS = {"name", "user", "app", "module", "state"}


def texts(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype(dict.fromkeys(TEXTS & set(table), str))


@pytest.mark.parametrize("system", [System.homogeneous(2), System.from_dict(MODULES)], ids=["one", "two"])
def test_metrics_of_the_core_are_those_of_the_tables(system):
    result = made(system)
    modules = {module.name: module.nodes for module in system.modules}
    again = compute(result.components, result.timeline, modules=modules, counts=result.metrics["counts"])
    assert again == result.metrics
