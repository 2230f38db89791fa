"""Recordings that this project made of jobs on switches: which nodes Slurm gave to each, and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from scheduler_sim import Policy, Simulation, System, Workload
from tests.slurm.topology_cases import listed
from tests.slurm_oracle.cases import read_json
from tests.slurm_oracle.figures import quantile
from tests.slurm_oracle.own_recordings import PHASES
from tests.slurm_oracle.second_set import OWN, expanded

NAMES = ("D1_dragonfly", "T1_tree", "T2_tree_cores")
SAME_NODES = 0.9
"""So many jobs have to have the very nodes that they had in the recording."""

Had = dict[int, tuple[int, list[int]]]
"""Start and nodes, numbered from 1, of each job."""


@dataclass(frozen=True)
class Nearness:
    """How near the engine comes to a recording; ``same``: jobs on the very same nodes."""

    run: str
    first: str
    start: int
    gaps: list[int]
    same: int

    def row(self) -> str:
        figures = [f"{value:.1f}" for value in (median(self.gaps), quantile(self.gaps, 0.9), max(self.gaps))]
        phase = f"{self.first}, daemon at {self.start}"
        return f"| {' | '.join([f'`{self.run}`', str(len(self.gaps)), phase, *figures, str(self.same)])} |"


def nearest(name: str) -> Nearness:
    """The recording and the phase that the engine comes nearest to."""
    return max(_plays(name), key=lambda found: (found.same, -sum(found.gaps)))


def lie_table() -> str:
    head = "| case | jobs | looks first | starts: median | p90 | worst | jobs on the same nodes |"
    return "\n".join([head, f"|---|--:|---|{'--:|' * 4}", *(nearest(name).row() for name in NAMES)])


def _plays(name: str) -> Iterator[Nearness]:
    given = read_json(OWN / "in" / f"{name}.json.gz")
    for path in sorted((OWN / "out").glob(f"{name}*.out.json.gz")):
        recorded = read_json(path)
        theirs = {job["id"]: (job["start"], _numbers(job["nodes"])) for job in recorded["jobs"]}
        for first, start in PHASES:
            ours = _played(given, recorded, first, start)
            gaps = [abs(ours[job][0] - theirs[job][0]) for job in theirs]
            same = sum(ours[job][1] == theirs[job][1] for job in theirs)
            yield Nearness(recorded["name"], first, start, gaps, same)


def _played(given: dict[str, Any], recorded: dict[str, Any], first: str, start: int) -> Had:
    """Jobs run as long as in the recording."""
    keys = {
        "epoch": recorded["t0_epoch"],
        "starts_before_s": given["jobs"][0]["submit"] - start,
        "latency": "measured",
        "looks_first": first,
        "KillWait": 2,
        "bf_interval": 2,
        "bf_resolution": 1,
        "TopologyParam": given["slurm_conf"].get("TopologyParam", ""),
    }
    shared = given["slurm_conf"]["SelectTypeParameters"] == "CR_Core"
    keys |= {"SelectTypeParameters": "CR_CORE"} if shared else {}
    policy = Policy(name="slurm", backfill="slurm", slurm=keys)
    run = {job["id"]: max(job["end"] - job["start"], 1) for job in recorded["jobs"]}
    found = Simulation(_system(given, shared), _workload(given["jobs"], run, shared), policy).run().components
    rows = found[["component_id", "start_time", "node_list"]].itertuples(index=False)
    return {int(job): (int(start), [node + 1 for node in listed(nodes)]) for job, start, nodes in rows}


def _system(given: dict[str, Any], shared: bool) -> System:
    [spec] = given["nodes"]
    cores = int(re.search(r"CPUs=(\d+)", spec["opts"])[1])
    switches: list[dict[str, Any]] = []
    for line in given["topology_conf"]:
        said = dict(word.split("=", 1) for word in line.split())
        if "Switches" in said:
            below = {"switches": expanded(said["Switches"])}
        else:
            below = {"nodes": [f"m[{number - 1}]" for number in _numbers(said["Nodes"])]}
        switches.append({"name": said["SwitchName"]} | below)
    module = {"name": "m", "nodes": len(expanded(spec["names"])), "cores_per_node": cores}
    return System.from_dict(
        {"modules": [module | ({"shared": True} if shared else {})], "topology": {"switches": switches}}
    )


def _workload(jobs: list[dict[str, Any]], run: dict[int, int], shared: bool) -> Workload:
    asked = [job.get("switches", "").partition("@") for job in jobs]
    columns = {
        "component_id": [job["id"] for job in jobs],
        "submit_time": [job["submit"] for job in jobs],
        "nodes": [job.get("nodes", 1) for job in jobs],
        "run_time": [run[job["id"]] for job in jobs],
        "time_limit": [60 * job["limit_min"] for job in jobs],
        "switches": [int(count or -1) for count, _, _ in asked],
        "switch_wait": [_seconds(wait) for _, _, wait in asked],
    }
    if shared:
        columns |= {"tasks": [job["ntasks"] for job in jobs], "max_nodes": [0] * len(jobs)}
    return Workload.from_columns(**columns)


def _seconds(clock: str) -> int:
    """``1:00`` in seconds; -1: nothing is said."""
    minutes, _, seconds = clock.partition(":")
    return 60 * int(minutes) + int(seconds) if clock else -1


def _numbers(names: str) -> list[int]:
    """``n[1-3,6]`` as numbers."""
    return [int(name[1:]) for name in expanded(names)]
