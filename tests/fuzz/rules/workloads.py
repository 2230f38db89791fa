"""Small workloads: a few jobs that ask for much, and what operators do meanwhile."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scheduler_sim import Workload
from scheduler_sim.workload.fields import FIELDS
from tests.fuzz.rules.draw import Setting

Keys = dict[str, Any]
KINDS = ("AFTER", "AFTERANY", "AFTEROK", "AFTERNOTOK", "AFTERCORR", "AFTER+1")


def jobs(of: Setting, system: Keys) -> list[Keys]:
    """Draw the components of a workload, in order of submission."""
    draw = of.draw
    made: list[Keys] = []
    time = of.first
    for number in range(1, draw.randint(2, 10) + 1):
        time += of.time(0, 0, 1, 3, 10, 30)
        made.append(_job(of, system, number, time, made))
    return made


def _job(of: Setting, system: Keys, number: int, time: int, before: list[Keys]) -> Keys:
    draw = of.draw
    run_time = of.time(0, 1, 3, 7, 20, 60, 61, 100, 200)
    limits = (max(1, run_time), run_time + of.time(1, 30, 60), max(1, run_time // 2), of.time(1, 60, 600))
    made: Keys = {"component_id": number, "modular_job_id": number, "submit_time": time}
    made |= {"run_time": run_time, "time_limit": draw.pick(-1, *limits)}
    if of.has("units") and before:
        if draw.chance(0.4):
            made["modular_job_id"] = before[-1]["modular_job_id"]
        if draw.chance(0.4):
            made["delay"] = draw.pick(0, 3, 8, 60)
    module = _place(of, system, made)
    made["nodes"] = draw.randint(1, module["nodes"] + draw.chance(0.03))
    if module.get("shared"):
        made |= _share(of, module, made["nodes"])
    made |= {"user": draw.pick("u", "v", "w"), "account": draw.pick("a", "a", "b", "")}
    made |= {"name": draw.pick("x", "y")} | draw.some({"exit_code": [1]}, 0.1)
    made |= _held(of, system, made, number)
    if of.slurm:
        made |= draw.some({"nice": [-100, 50, 100_000], "requeue": [0, 1]}, 0.08)
        if of.has("limits"):
            made["qos"] = draw.pick("q", "r", "")
        if of.has("topology"):
            made |= draw.some({"switches": [1]}, 0.3) | draw.some({"switch_wait": [5, 60]}, 0.15)
    return made


def _place(of: Setting, system: Keys, job: Keys) -> Keys:
    """Draw the partitions of a job; return the module of the first."""
    draw = of.draw
    modules = {one["name"]: one for one in system["modules"]}
    home = {one["name"]: one["module"] for one in system.get("partitions", [])}
    home |= {name: name for name in modules if name not in home.values()}
    names = draw.sample(sorted(home), min(len(home), 2 if of.has("choice") and draw.chance(0.5) else 1))
    if draw.chance(0.9):
        job["partition"] = ",".join(names)
        return modules[home[names[0]]]
    return modules[next(iter(home.values()))]


def _share(of: Setting, module: Keys, nodes: int) -> Keys:
    draw = of.draw
    made: Keys = draw.some({"cores": [1, 1, 2, module["cores_per_node"]]}, 0.85)
    if "memory_gb" in module:
        made |= draw.some({"memory_kb": [1 << 19, 1 << 20, 1 << 21]}, 0.5)
    if "gres" in module:
        made |= draw.some({"gres": ["gpu:a:1", "gpu:2", "gpu:1"]}, 0.4)
    elif "gpus_per_node" in module:
        made |= draw.some({"gpus": [0.3, 0.5, 1] if of.has("gpu_parts") else [1, 1, 2]}, 0.4)
    made |= draw.some({"exclusive": [1]}, 0.12)
    if of.slurm:
        made |= draw.some({"tasks": [1, 3, 6], "max_nodes": [0, nodes + 1], "oversubscribe": [1]}, 0.1)
        made |= draw.some({"cores_per_task": [2], "memory_per_core_kb": [1 << 19]}, 0.05)
    return made


def _held(of: Setting, system: Keys, job: Keys, number: int) -> Keys:
    """Draw what a job waits for beside nodes, and what it does while it runs."""
    draw, made = of.draw, Keys()
    if of.has("dependencies") and number > 1 and draw.chance(0.45):
        others = [draw.randint(1, number - 1) for _ in range(draw.pick(1, 1, 2))]
        kinds = (*KINDS, "DYNAMIC") if of.has("units") else KINDS
        made["dependency_ids"] = ",".join(map(str, others))
        made["dependency_kinds"] = ",".join(draw.choice(kinds) for _ in others)
        if len(others) > 1:
            made |= draw.some({"dependency_any": [1]}, 0.3)
    elif of.has("singletons") and draw.chance(0.4):
        made |= {"dependency_ids": "", "dependency_kinds": "SINGLETON"}
    if of.has("arrays") and draw.chance(0.5):
        made |= {"array_job_id": draw.pick(900, 901), "array_task_id": number}
        made["array_limit"] = draw.pick(1, 2, -1)
    if of.has("calls"):
        calls = ["WF_API:1", "WF_API:5,extend_job:3", f"extend_job:{max(1, job['run_time'] // 2)}", "foo:2"]
        made |= draw.some({"api_calls": calls}, 0.5)
    if of.has("holds"):
        made |= draw.some({"hold": [1]}, 0.25)
    if of.has("begin_times"):
        made |= draw.some({"begin_time": [job["submit_time"] + of.scale * s for s in (0, 1, 20, 95)]}, 0.4)
    if of.has("licences"):
        made |= draw.some({"licences": ["lic", "lic:1", "lic:2"]}, 0.4)
    if of.has("reservations"):
        made |= draw.some({"reservation": [one["name"] for one in system["reservations"]]}, 0.4)
    if of.has("features"):
        words = ["fa", "fa", "fast", "fast|fa"] + (["[fast|fa]", "fast*1"] if of.slurm else [])
        made |= draw.some({"constraint": words}, 0.3)
    return made


def workload(components: list[Keys]) -> Workload:
    """Return the table of components as they are in a case: what is left out has its default."""
    names = dict.fromkeys(name for one in components for name in one)
    columns = {name: [one.get(name, FIELDS[name].default) for one in components] for name in names}
    sizes = Counter(columns["modular_job_id"])
    if max(sizes.values()) > 1:
        columns["components_total"] = [sizes[job] for job in columns["modular_job_id"]]
    return Workload.from_columns(**columns)
