"""The recordings of shared/data/slurm_oracle_3, of a running Slurm 26.05: each as the folder of a site.

The slurm.conf, the accounting database and the topology are written as that Slurm printed them, and read as
those of any site are; the jobs are a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scheduler_sim import Policy, Simulation, System, Workload
from scheduler_sim.policy.site import read_folder, with_site
from scheduler_sim.system.node_events import NodeEvent
from scheduler_sim.system.site_folder import SiteFolder
from tests.conftest import SHARED
from tests.slurm_oracle.cases import Case, _effective, _load_run, _recordings, read_json
from tests.slurm_oracle.engine import columns_of, components_of, reservations_of
from tests.slurm_oracle.second_set import _tasks, expanded
from tests.slurm_oracle.shared_engine import gpus_asked, joined, kb_of, nodes_asked

DATA_3 = SHARED / "data" / "slurm_oracle_3"
FILES = {"sacctmgr_qos": "sacctmgr_qos.txt", "sacctmgr_assoc": "sacctmgr_assoc.txt"}


def names_3() -> list[str]:
    """All cases of the set."""
    return sorted(path.name.removesuffix(".json.gz") for path in (DATA_3 / "in").glob("*.json.gz"))


@cache
def load_third(name: str) -> Case:
    """A case, with its recordings; those without a log come last."""
    given = read_json(DATA_3 / "in" / f"{name}.json.gz")
    recorded = recordings_of(name)
    default = next(part["name"] for part in given["partitions"] if "Default=YES" in part["opts"])
    jobs = [task for job in given["jobs"] for task in _tasks({"partition": default} | job)]
    refused = {int(job) for job in recorded[name]["submit_errors"]}
    jobs = [job for job in jobs if job.get("array", job["id"]) not in refused]
    conf = {key: str(value) for key, value in given["slurm_conf"].items() if value is not None}
    case = Case(name, {}, _effective(conf, recorded[name]), {}, jobs, given["ops"])
    case.runs = [_load_run(run, found) for run, found in recorded.items()]
    for run in case.runs:
        if any(fate[1] == "RUNNING" for fate in run.fates.values()):
            run.cut_off = given["t_end_max"]
    return case


@cache
def recordings_of(name: str) -> dict[str, dict[str, Any]]:
    """What was recorded of a case, by recording."""
    return {path.name.removesuffix(".out.json.gz"): read_json(path) for path in _recordings(DATA_3, name)}


@cache
def site_of(name: str) -> tuple[SiteFolder, System]:
    """The folder of the case as a site."""
    given, recorded = read_json(DATA_3 / "in" / f"{name}.json.gz"), recordings_of(name)[name]
    with TemporaryDirectory() as made:
        folder = Path(made)
        files = {"slurm.conf": recorded["slurm_conf"], "sacct.txt": []}
        files |= {file: recorded[key] for key, file in FILES.items() if key in recorded}
        if given.get("topology_conf"):
            files["topology.conf"] = given["topology_conf"]
        for file, lines in files.items():
            (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        read = read_folder(made)
    return read, read.site.system


def policy_of(name: str, origin: int, keys: Mapping[str, Any]) -> Policy:
    """Policy slurm of the site, on the clock of a recording."""
    base = Policy(name="slurm", backfill="slurm", slurm={"epoch": origin, **keys})
    return with_site(base, site_of(name)[0].site, ())


def simulation_of(case: Case, origin: int, **keys: Any) -> Simulation:
    """The case, to be run."""
    system = _with_reservations(site_of(case.name)[1], case)
    policy = policy_of(case.name, origin, keys)
    return Simulation(system, workload_of(case), policy, events=events_of(case))


def _with_reservations(system: System, case: Case) -> System:
    """The system with what scontrol made and changed of reservations meanwhile."""
    numbers, module, ops = site_of(case.name)[0].site.numbers, system.modules[0].name, []
    for op in case.ops:
        if any(word.startswith("NodeName=") for word in op["args"]):
            continue
        words = []
        for word in op["args"]:
            if word.startswith("Nodes=") and word != "Nodes=ALL":
                places = sorted(numbers[name] for name in expanded(word.removeprefix("Nodes=")))
                module, word = places[0][0], f"Nodes=n[{places[0][1] + 1}-{places[-1][1] + 1}]"
            words.append(word)
        ops.append(op | {"args": words})
    if not ops:
        return system
    made = reservations_of(Case(case.name, {module: 0}, {}, {}, [], ops))
    return System.from_dict(system.to_dict() | made)


def events_of(case: Case) -> list[NodeEvent]:
    """When scontrol took nodes out of service, and back."""
    found, numbers = [], site_of(case.name)[0].site.numbers
    for op in case.ops:
        keys = dict(word.split("=", 1) for word in op["args"] if "=" in word)
        if "NodeName" in keys:
            module, number = numbers[keys["NodeName"]]
            found.append(NodeEvent(op["t"], keys["State"], module, (number,)))
    return found


def workload_of(case: Case) -> Workload:
    jobs = [part for job in case.jobs for part in components_of(job)]
    least, most = zip(*(nodes_asked(job) for job in jobs), strict=True)
    return Workload.from_columns(
        **columns_of(jobs, case),
        nodes=least,
        max_nodes=most,
        requeue=[int(job.get("requeue", -1)) for job in jobs],
        switches=[int(str(job.get("switches", -1)).partition("@")[0]) for job in jobs],
        switch_wait=[_wait_for(str(job.get("switches", ""))) for job in jobs],
        tasks=[job.get("ntasks", 0) for job in jobs],
        tasks_per_node=[job.get("ntasks_per_node", -1) for job in jobs],
        cores_per_task=[job.get("cpus_per_task", -1) for job in jobs],
        cores_per_gpu=[job.get("cpus_per_gpu", -1) for job in jobs],
        memory_kb=[kb_of(job.get("mem")) for job in jobs],
        memory_per_core_kb=[kb_of(job.get("mem_per_cpu")) for job in jobs],
        gres=[joined(job.get("gres", ""), gpus_asked(job, "gpus_per_node")) for job in jobs],
        gres_per_job=[gpus_asked(job, "gpus") for job in jobs],
        gres_per_task=[gpus_asked(job, "gpus_per_task") for job in jobs],
        exclusive=[int(bool(job.get("exclusive"))) for job in jobs],
    )


def _wait_for(switches: str) -> int:
    """Of ``2@0:30`` 30 s."""
    minutes, _, seconds = switches.partition("@")[2].rpartition(":")
    return int(minutes or 0) * 60 + int(seconds) if seconds else -1
