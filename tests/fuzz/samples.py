"""Valid inputs of every kind, small, as text and as trees."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import yaml

from tests.conftest import ROOT
from tests.workload.records import mwf, swf
from tests.workload.sacct_dump import lines as sacct_lines

TRACES: dict[str, list[str]] = {
    "swf": [
        "; MaxNodes: 9",
        "; UnixStartTime: 0",
        swf(),
        swf({1: 2, 6: "1.5"}),
        "; between",
        swf({1: 3, 4: -1}),
    ],
    "mwf": [
        "# x",
        mwf(),
        mwf({1: 2, 8: 2, 39: 1, 40: "AFTEROK"}),
        mwf({1: 3, 8: 3, 42: "a:5,b:6"}, 40),
        mwf({1: 4, 8: 4}, 41),
    ],
    "sacct": sacct_lines(
        {"Constraints": "a|b", "ReqMem": "4Gn"},
        {"JobID": "7.batch"},
        {"JobID": "8_1", "JobIDRaw": "9", "Dependency": "afterok:7?after:8_1+2", "ReqMem": "2Gc"},
        {"JobID": "8_[2-3%1]", "JobIDRaw": "8", "State": "PENDING", "Start": "Unknown"},
        {"JobID": "10+0", "JobIDRaw": "10", "State": "CANCELLED by 5", "Timelimit": "UNLIMITED"},
        {"JobID": "11", "JobIDRaw": "11", "AllocTRES": "cpu=8,mem=16G,node=2", "Licenses": "fluid:2"},
    ),
    "csv": ["nodes,submit_time,run_time,name,time_limit", "1,0,5,a,10", '2,3,4,"b,c",-1', "1,4,9,d,9"],
}
SEPARATORS = {"swf": None, "mwf": ";", "sacct": "|", "csv": ",", "conf": " "}

SYSTEM: dict[str, Any] = {
    "modules": [
        {"name": "CM", "nodes": 6, "cores_per_node": 24, "features": ["ib"], "cost_per_node": 1},
        {
            "name": "ESB",
            "nodes": 4,
            "gpus_per_node": 1,
            "node_sets": [
                {"name": "a", "nodes": 1},
                {"name": "b", "nodes": 3, "features": ["fat"], "weight": 5},
            ],
        },
    ],
    "partitions": [
        {"name": "batch", "module": "CM", "max_time": "2-00:00:00", "max_nodes": 5, "default": True},
        {"name": "gpu", "module": "ESB", "priority": 3, "default_time": 600, "state": "UP"},
    ],
    "resources": {"licences": {"fluid": 3}, "nam_gb": 4},
    "swf": {"partitions": {"1": "batch", "2": "gpu"}},
}
SMALL_SYSTEM = {"modules": [{"name": "cluster", "nodes": 9}]}
POLICIES: list[dict[str, Any]] = [
    {"order": "sjf", "backfill": "easy", "depth": 2, "overrun_s": 5},
    {"backfill": "conservative", "replan": "keep", "het_end": "leader"},
    {"backfill": "first_fit", "order": "wfp3", "backfill_order": "smallest"},
    {
        "backfill": "slurm",
        "slurm": {
            "PriorityType": "priority/multifactor",
            "PriorityWeightTRES": "CPU=1000,Mem=500",
            "PriorityFlags": ["FAIR_TREE", "MAX_TRES"],
            "PriorityDecayHalfLife": "7-0",
            "bf_window": 100,
            "qos": {"high": 10},
            "accounts": {"fluids": {"shares": 3, "users": {"ada": "parent"}, "accounts": {"sub": {}}}},
        },
    },
]
RECIPE: dict[str, Any] = {
    "modules": [
        {"name": "CM", "nodes": 16, "jobs": 12},
        {"name": "ESB", "nodes": 8, "jobs": 9, "model": {"kind": "cirne"}},
    ],
    "model": {"arrivals": {"site": "ctc", "process": "poisson", "offered_load": 0.8}, "reduction_factor": 2},
    "module_lists": {"percent": 50},
    "applications": {"types": [{"name": "a", "percent": 60}, {"name": "b", "percent": 40}]},
    "workflows": {"share_percent": 30, "width": {"2": 80, "3": 20}, "depth": 2},
    "users": 3,
    "seed": 5,
}
MODELS: dict[str, Any] = {
    "applications": {
        "reference": "CM",
        "below_one": "speed",
        "modules": "fastest_first",
        "types": [{"name": "a", "percent": 60, "ratios": {"CM": 1, "ESB": 4}}, {"name": "b", "percent": 40}],
    },
    "energy": {
        "power": "power.yaml",
        "learnt": {
            "user": ["", "1"],
            "application": ["", "a"],
            "nodes": [0, 4],
            "power_w": [180, 170.5],
            "jobs": [9, 3],
        },
        "choice": {"objective": "min_energy", "slowdown": 0.1},
        "pue": 1.1,
    },
}
POWER: dict[str, Any] = {
    "modules": [
        {
            "name": name,
            "idle_w": 95,
            "typical_w": {"value": 171, "quality": "measured", "low": 160, "high": 180},
            "peak_w": 250,
            "reference_khz": 2300000,
            "pstates": {"lowest_khz": 1300000, "highest_khz": 2300000, "step_khz": 500000},
            "turbo": {"khz": 2301000, "effective_khz": 2800000},
            "boot": {"time_s": 30, "energy_j": 3000},
            "hints": {"memory": 0.4},
            "cores": 12,
            "core_share": {"6": 0.7},
        }
        for name in ("CM", "ESB", "cluster")
    ]
}
STUDY: dict[str, Any] = {
    "name": "small",
    "systems": {"one": SMALL_SYSTEM},
    "workloads": {
        "like": {"recipe": {"modules": [{"name": "cluster", "nodes": 9, "jobs": 8}]}},
        "t": "t.swf",
    },
    "policies": {"easy": "easy", "deep": {"policy": "easy", "set": {"depth": 2}}},
    "parameters": {"policy.overrun_s": [0, 60], "recipe.model.arrivals.offered_load": [0.5, 0.9]},
    "seeds": 2,
    "include": [{"policy": ["easy", "deep"]}],
    "exclude": [{"policy": "deep", "policy.overrun_s": "60"}],
    "baseline": {"policy": "easy"},
    "slices": ["size"],
    "trim": {"warm_up": 5},
    "replicates": {"half_width": 50, "most": 3},
}
SEARCH: dict[str, Any] = {
    "systems": {
        "priced": {"modules": [{"name": "CM", "nodes": 1}, {"name": "ESB", "nodes": 1, "cost_per_node": 2}]}
    },
    "workloads": {"like": {"recipe": {"modules": [{"name": "CM", "nodes": 9, "jobs": 8}]}}},
    "policies": ["easy"],
    "search": {
        "budget": [9, 12],
        "step": 3,
        "metrics": ["wait_time_mean", "cost"],
        "first_seeds": 2,
        "most_seeds": 4,
    },
}
SCALING: dict[str, Any] = {
    "version": 1,
    "app": "solver",
    "scaling": "strong",
    "ranks_per_node": 1,
    "modules": {"CM": 1.0, "ESB": 0.75},
    "frequency": {"beta": 0.5, "nominal_khz": 2600000},
    "nodes": {"only": "powers_of_two"},
    "speedup": {"curve": "downey", "A": 48, "sigma": 0.8},
    "provenance": {"source": "made up", "fitted": [1, 48]},
}
POINTS = {
    "scaling": ["processes,load_balance,serialization,transfer", "16,0.97,0.99,0.99", "32,0.97,0.98,0.99",
                "64,0.97,0.98,0.98", "128,0.96,0.97,0.97"],
    "energy": ["workload,frequency_khz,power_w,time_s,ipc", "a,1000000,100,9,1", "a,2000000,150,5,1",
               "b,1000000,90,8,2", "b,2000000,140,6,2"],
    "learnt": ["user,application,nodes,power_w,jobs", ",,,300,9", "ada,,,310.5,6", "ada,cfd,,350,4",
               "ada,cfd,4,360,2"],
    "series": ["time,value", "0,0.3", "3600,0.2", "7200,0.4"],
}  # fmt: skip


@cache
def configurations(folder: str) -> tuple[Any, ...]:
    """The shipped configurations of a folder of configs, as trees."""
    files = sorted((ROOT / "configs" / folder).glob("*.yaml"))
    texts = (path.read_text(encoding="utf-8") for path in files)
    return tuple(yaml.safe_load(re.sub(r"\.\./(power|apps)/[\w-]+", r"\1", text)) for text in texts)


@cache
def slurm_conf() -> str:
    """The shipped slurm.conf, on fewer nodes."""
    text = (ROOT / "configs/systems/small-site.conf").read_text(encoding="utf-8")
    return text.replace("001-096", "01-04").replace("097-120", "05-06").replace("c[001-120]", "c[01-06]")
