"""The reference against schedules and answers of others, so that it is checked by more than its author."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scheduler_sim import read_trace
from tests.conftest import SHARED, needs_shared
from tests.oracle.plain import schedule
from tests.oracle.records import Component, Placement

pytestmark = pytest.mark.interpreted

DATA = SHARED / "data"
EASY = {"backfill": "easy"}
PEEKING = {**EASY, "passes": "event", "candidate_time": "run"}


def reference_starts(trace: Path, nodes: int, **settings: Any) -> pd.Series:
    table = read_trace(trace).table
    table = table[table["skipped"] == 0]
    columns = table[["submit_time", "nodes", "run_time", "time_limit"]].itertuples(index=False)
    components = [
        Component(row, submit, (Placement("m", size, run, limit),))
        for row, (submit, size, run, limit) in enumerate(columns)
    ]
    outcomes = schedule(components, {"m": nodes}, **settings).outcomes
    return pd.Series([outcome.start for outcome in outcomes.values()], index=table["component_id"])


@needs_shared
@pytest.mark.parametrize(
    ("schedule_file", "settings"),
    [("ref.kth5k.sjf", {"order": "sjf"}), ("ref.kth5k.easy", EASY), ("cqsim.kth5k.easy", PEEKING)],
)
def test_published_schedules(schedule_file: str, settings: dict[str, Any]) -> None:
    theirs = pd.read_csv(DATA / "peer_schedules" / f"{schedule_file}.csv.gz").set_index("job_id")["start"]
    ours = reference_starts(DATA / "traces" / "norm" / "kth5k.swf.gz", 100, **settings)
    assert ours.to_dict() == theirs.to_dict()


@needs_shared
@pytest.mark.parametrize("backfill", ["none", "conservative"])
def test_answer_keys(backfill: str) -> None:
    trace = "NASA-iPSC-1993-3.1-cln"
    name = {"none": "fcfs"}.get(backfill, "cons")
    key = DATA / "answer_keys" / f"{trace}.{name}.csv.gz"
    theirs = pd.read_csv(key, names=["component_id", "start_time"]).set_index("component_id")["start_time"]
    ours = reference_starts(DATA / "traces" / f"{trace}.swf.gz", 128, backfill=backfill)
    assert ours.to_dict() == theirs.to_dict()
