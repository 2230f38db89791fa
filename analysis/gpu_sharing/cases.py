"""What is run: pods of a GPU cluster, drawn by seed, on a part of its nodes, under each packing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim import System, Workload
from scheduler_sim.errors import InputError
from scheduler_sim.policy.keys import PACKINGS
from scheduler_sim.streams import stream

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "openb"
"""Where the trace is looked for: it is not part of this project."""

NODES, PODS = "openb_node_list_gpu_node.csv.gz", "openb_pod_list_default.csv.gz"
PUBLISHED_IN = "github.com/hkust-adsl/kubernetes-scheduler-simulator"

BACKFILLS = ("easy", "first_fit")
MAIN_BACKFILL, BASE, BEST = "easy", "random", "fragmentation_gradient"
LOADS = ("0.9", "1.0")
"""Of GPUs: what pods ask for, times their run time, of what there is while they come."""
MAIN_LOAD = "1.0"

SHARE = 4
"""One of so many nodes, drawn by seed."""
HOUR = 3600
HOURS, WARM_UP, CUT = 12, 3, 6
"""Pods come for so long; those of the first hours are not counted; longer ones end then (h)."""

_KNOWN = ("random", "worst_fit", "best_fit")
IN_ORDER = (*_KNOWN, *(packing for packing in PACKINGS if packing not in _KNOWN))
"""The packings, as tables show them."""


class Trace:
    """The nodes of the cluster, and the pods that were scheduled.

    Raises InputError where they are not in the folder.
    """

    def __init__(self, folder: Path) -> None:
        missing = [name for name in (NODES, PODS) if not (folder / name).is_file()]
        if missing:
            raise InputError(
                f"{folder}: no {missing[0]}; published in {PUBLISHED_IN}; allowed: --data FOLDER"
            )
        self.nodes = pd.read_csv(folder / NODES)
        pods = pd.read_csv(folder / PODS)
        self.pods = pods[pods["scheduled_time"].notna()].reset_index(drop=True)
        run = self.pods["deletion_time"] - self.pods["scheduled_time"]
        self.run_s = np.minimum(run, CUT * HOUR).to_numpy(dtype=np.int64)
        self.gpus = (self.pods["num_gpu"] * self.pods["gpu_milli"] / 1000).to_numpy()

    def site(self, seed: int) -> System:
        """Return a part of the nodes, in random order."""
        order = stream(seed, "gpu sharing nodes").permutation(len(self.nodes))[: len(self.nodes) // SHARE]
        sets = [node_set_of(one) for one in self.nodes.iloc[order].itertuples()]
        module = {"name": "openb", "nodes": len(sets), "shared": True, "node_sets": sets}
        return System.from_dict({"name": "openb", "modules": [module]})

    def jobs(self, seed: int, load: str, gpus: float) -> Workload:
        """Return pods drawn with repetition, that come at any second alike, for so many GPUs."""
        draw = stream(seed, "gpu sharing pods")
        work = float((self.run_s * self.gpus).mean())
        count = int(float(load) * gpus * HOURS * HOUR / work)
        which, submit = draw.integers(len(self.pods), size=count), draw.integers(HOURS * HOUR, size=count)
        pods = self.pods.iloc[which]
        return Workload.from_columns(
            submit_time=np.sort(submit),
            nodes=np.ones(count, dtype=np.int64),
            run_time=self.run_s[which],
            time_limit=np.maximum(self.run_s[which], 1),
            cores=pods["cpu_milli"].to_numpy() / 1000,
            memory_kb=pods["memory_mib"].to_numpy() * 1024,
            gpus=self.gpus[which],
        )


def node_set_of(one: Any) -> dict[str, Any]:
    """Return a node of the trace as a node set of its own."""
    return {
        "name": one.sn,
        "nodes": 1,
        "cores_per_node": one.cpu_milli / 1000,
        "memory_gb": one.memory_mib / 1024,
        "gpus_per_node": one.gpu,
        "features": [one.model],
    }
