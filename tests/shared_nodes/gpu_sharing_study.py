"""The runs of a published study of GPU sharing, through the engine.

Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent
(USENIX ATC 2023). Its nodes and pods are not part of this project: they are read from beside the checkout.

Pods arrive one by one until they ask for 130 % of the GPUs, and never leave; one that fits nowhere is lost:
under first fit it waits for ever, and nothing waits for it. Nodes stand in a random order for each seed, as
they do in the study, where ties go to the first.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from analysis.gpu_sharing.cases import node_set_of
from scheduler_sim import Simulation, System, Workload
from tests.conftest import SHARED

FOLDER = SHARED / "data" / "openb"
WORKLOADS = ("default", "gpushare40", "multigpu20", "gpuspec33", "cpu100")
PUBLISHED_AS = {
    "random": "01-Random",
    "dot_product": "02-DotProd",
    "gpu_clustering": "03-GpuClustering",
    "gpu_packing": "04-GpuPacking",
    "least_left": "05-BestFit",
    "fragmentation_gradient": "06-FGD",
}
SEEDS = range(42, 52)
LEVELS = (80, 90, 95, 100, 110, 130)
"""Per cent of all GPUs that the pods which have arrived ask for."""

ARRIVING = 1.3
FOR_EVER = 10**9


@cache
def nodes() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "openb_node_list_gpu_node.csv.gz")


@cache
def pods(workload: str) -> pd.DataFrame:
    """What each pod asks for; ``spec`` are the models that will do, where it asks for GPUs."""
    table = pd.read_csv(FOLDER / f"openb_pod_list_{workload}.csv.gz")
    spec = table["gpu_spec"].astype(object) if "gpu_spec" in table else pd.Series(None, table.index, object)
    return pd.DataFrame(
        {
            "cores": table["cpu_milli"] / 1000,
            "memory_kb": table["memory_mib"] * 1024,
            "milli": table["num_gpu"] * table["gpu_milli"],
            "spec": spec.where(spec.notna() & (table["num_gpu"] > 0), ""),
        }
    )


@cache
def cluster(seed: int) -> System:
    """The nodes in an order of the seed's own."""
    order = np.random.default_rng([seed, 1]).permutation(len(nodes()))
    sets = [node_set_of(one) for one in nodes().iloc[order].itertuples()]
    module = {"name": "openb", "nodes": len(sets), "shared": True, "node_sets": sets}
    return System.from_dict({"modules": [module]})


def arrivals(workload: str, seed: int) -> pd.DataFrame:
    """The list in random order, then pods drawn from it anew, as long as they ask for no more than 130 %."""
    listed, draw = pods(workload), np.random.default_rng([seed, 0])
    most = ARRIVING * 1000 * nodes()["gpu"].sum()
    order = np.concatenate((draw.permutation(len(listed)), draw.integers(len(listed), size=len(listed))))
    asked = listed["milli"].to_numpy()[order].cumsum()
    return listed.iloc[order[: np.searchsorted(asked, most, side="right")]]


def allocation(workload: str, packing: str, seed: int) -> np.ndarray:
    """Per cent of the GPUs that are given away, at each of the levels."""
    come = arrivals(workload, seed)
    jobs = Workload.from_columns(
        submit_time=np.arange(len(come)),
        nodes=np.ones(len(come), dtype=np.int64),
        run_time=np.full(len(come), FOR_EVER),
        cores=come["cores"],
        memory_kb=come["memory_kb"],
        gpus=come["milli"] / 1000,
        constraint=come["spec"],
    )
    policy = {"backfill": "first_fit", "packing": packing}
    result = Simulation(cluster(seed), jobs, policy, seed=seed).run(until=len(come))
    placed = result.components["start_time"].to_numpy() >= 0
    milli, percent = come["milli"].to_numpy(), nodes()["gpu"].sum() * 10
    arrived, given = milli.cumsum() / percent, (milli * placed).cumsum() / percent
    return np.array([given[np.rint(arrived) == level].mean() for level in LEVELS])


@cache
def published() -> pd.DataFrame:
    """Mean over the seeds, by workload and policy."""
    table = pd.read_csv(FOLDER / "allocation_percent.csv.gz")
    table["workload"] = table["workload"].str.removeprefix("openb_pod_list_")
    return table.groupby(["workload", "sc_policy"])[[str(level) for level in LEVELS]].mean()


if __name__ == "__main__":
    for workload in WORKLOADS:
        for packing, name in PUBLISHED_AS.items():
            ours = np.mean([allocation(workload, packing, seed) for seed in SEEDS], axis=0)
            off = np.abs(ours - published().loc[(workload, name)].to_numpy())
            print(f"{workload:12} {packing:24} {off.max():.2f} points", flush=True)
