"""Every start of four real traces, against answers computed by other programs from the same rules."""

from __future__ import annotations

import pandas as pd
import pytest

from scheduler_sim import System, read_trace, simulate
from tests.conftest import SHARED, needs_shared

NODES = {
    "KTH-SP2-1996-2.1-cln": 100,
    "NASA-iPSC-1993-3.1-cln": 128,
    "theta_2022": 4392,
    "CEA-Curie-sample.predictsim": 93312,
}
KEYS = {"fcfs": "fcfs", "easy": "easy", "conservative": "cons"}


@needs_shared
@pytest.mark.parametrize("policy", KEYS)
@pytest.mark.parametrize("trace", NODES)
def test_all_starts_equal(trace: str, policy: str) -> None:
    key = pd.read_csv(
        SHARED / "data" / "answer_keys" / f"{trace}.{KEYS[policy]}.csv.gz",
        names=["component_id", "start_time"],
    ).set_index("component_id")["start_time"]
    workload = read_trace(SHARED / "data" / "traces" / f"{trace}.swf.gz")
    components = simulate(System.homogeneous(NODES[trace]), workload, policy).components
    starts = components.set_index("component_id")["start_time"]
    starts = starts[starts >= 0]
    assert sorted(starts.index) == sorted(key.index)
    wrong = starts[starts != key.reindex(starts.index)]
    assert wrong.empty, f"{len(wrong)} of {len(key)} starts differ, the first: {wrong.head().to_dict()}"
