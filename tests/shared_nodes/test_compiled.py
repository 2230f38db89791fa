"""Shared nodes in compiled code: as in plain Python, on a site larger than the random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import Result, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.policy.keys import PACKINGS
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


def crowd(parts: tuple[float, ...] = ()) -> Workload:
    """Jobs for parts of nodes, whole nodes, GPUs, shards, and a module whose nodes are only counted.

    And for ``parts`` of GPUs.
    """
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
        gpus=np.where(gpu, draw.choice([0, 1, 3, *parts], JOBS), 0),
        gres=np.where(gpu, draw.choice(["", "shard:3", "gpu:a100:2"], JOBS), ""),
        partition=partition,
        exclusive=draw.choice([0, 0, 0, 1], JOBS),
    )


@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize(
    "name", [name if name in IN_QUICK else pytest.param(name, marks=pytest.mark.long) for name in POLICIES]
)
def test_compiled_and_interpreted_agree(name):
    compiled = compiled_as_interpreted(crowd(), POLICIES[name])
    assert compiled.metrics["wait_time"]["max"] > 0
    assert {len(text.split(",")) for text in compiled.components["node_list"]} > {1}


@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize(
    ("name", "packing"),
    [("easy", "fragmentation_gradient")]
    + [pytest.param("easy", packing, marks=pytest.mark.long) for packing in PACKINGS]
    + [pytest.param("conservative", "fragmentation_gradient", marks=pytest.mark.long)],
)
def test_compiled_and_interpreted_agree_on_parts_of_gpus(name, packing):
    compiled = compiled_as_interpreted(crowd((0.5, 0.3, 0.7)), POLICIES[name] | {"packing": packing})
    assert compiled.components["gpu_list"].nunique() > 5


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_compiled_and_interpreted_agree_on_nodes_that_lie_together(name):
    site = System.from_dict(SITE.to_dict() | {"topology": {"type": "dragonfly", "levels": [4, 4]}})
    types = [{"name": "a", "percent": 100, "spread": {"by": "hops", "percent": 10}}]
    models = {"applications": {"named": False, "types": types}}
    compiled = compiled_as_interpreted(crowd(), POLICIES[name] | {"topology": "compact"}, site, models)
    assert compiled.metrics["topology"]["excess_leaves"] > 0
    assert compiled.metrics["counts"]["spread_past_limit"] > 0


def compiled_as_interpreted(
    jobs: Workload, policy: dict[str, Any], site: System = SITE, models: Any = None
) -> Result:
    """Return the result, once it is clear that plain Python gives the same."""
    compiled = simulate(site, jobs, policy, models=models)
    compiled.check()
    with interpreted():
        plain = simulate(site, jobs, policy, models=models)
    for one, other in ((compiled.components, plain.components), (compiled.timeline, plain.timeline)):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    return compiled
