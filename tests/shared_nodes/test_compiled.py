"""Shared nodes in compiled code: as in plain Python, on a site larger than the random ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from tests.engine.interpreted import interpreted
from tests.shared_nodes.test_against_the_reference import POLICIES

JOBS = 300
SITE = System.from_dict(
    {
        "modules": [
            {
                "name": "CM",
                "nodes": 70,
                "shared": True,
                "cores_per_node": 16,
                "memory_gb": 64,
                "node_sets": [
                    {"name": "thin", "nodes": 66},
                    {"name": "gpu", "nodes": 4, "gres": {"gpu:a100": 4, "shard": 8}},
                ],
            },
            {"name": "ESB", "nodes": 5},
        ],
        "partitions": [
            {"name": "all", "module": "CM"},
            {"name": "gpu", "module": "CM", "node_sets": ["gpu"]},
            {"name": "esb", "module": "ESB"},
        ],
    }
)
IN_QUICK = ("easy", "conservative")


def crowd() -> Workload:
    """Jobs for parts of nodes, whole nodes, GPUs, shards, and a module whose nodes are only counted."""
    draw = np.random.default_rng(5)
    partition = draw.choice(["all", "all", "gpu", "esb"], JOBS)
    run, gpu = draw.integers(1, 90, JOBS), partition == "gpu"
    return Workload.from_columns(
        submit_time=np.sort(draw.integers(0, 900, JOBS)),
        run_time=run,
        time_limit=np.maximum(run * draw.choice([0.8, 1, 2], JOBS), 1).astype(int),
        nodes=np.where(partition == "all", draw.choice([1, 1, 2, 20], JOBS), draw.integers(1, 4, JOBS)),
        cores=draw.choice([-1, 0.5, 1, 4, 9, 16], JOBS),
        memory_kb=draw.choice([-1, 1 << 20, 40 << 20], JOBS),
        gpus=np.where(gpu, draw.choice([0, 1, 3], JOBS), 0),
        gres=np.where(gpu, draw.choice(["", "shard:3", "gpu:a100:2"], JOBS), ""),
        partition=partition,
        exclusive=draw.choice([0, 0, 0, 1], JOBS),
    )


@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize(
    "name", [name if name in IN_QUICK else pytest.param(name, marks=pytest.mark.long) for name in POLICIES]
)
def test_compiled_and_interpreted_agree(name):
    compiled = simulate(SITE, crowd(), POLICIES[name])
    compiled.check()
    assert compiled.metrics["wait_time"]["max"] > 0
    assert {len(text.split(",")) for text in compiled.components["node_list"]} > {1}
    with interpreted():
        plain = simulate(SITE, crowd(), POLICIES[name])
    for one, other in ((compiled.components, plain.components), (compiled.timeline, plain.timeline)):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
