"""The recorded cases played by the engine: policy slurm with the measured latencies."""

from __future__ import annotations

import math
from typing import Any

from scheduler_sim import Policy, Simulation, System, Workload
from tests.oracle.plain_reservation_records import DELETED, NODES_ARE_ALL
from tests.slurm_oracle.cases import Case, Fate, Run
from tests.slurm_oracle.scontrol import changes_of, clock_s
from tests.slurm_oracle.second_set import CLAIMED, RESERVING

DAEMON_START = -8  # of the recordings, seven to nine seconds before second 0
HET = 1_000_000  # component ids of a heterogeneous job: so far apart
PURGE = {"PURGE_COMP": "purge_comp_s"}
"""Key of a reservation for the time that a flag states."""

OWN_KEYS = ("bf_continue",)  # of SchedulerParameters, without a meaning in a simulation


def play_engine(case: Case, run: Run, **settings: Any) -> list[Fate]:
    """What the engine makes of the case, with the clock origin and the daemon's start of one run."""
    return played(case, Simulation(_system(case), _workload(case), policy_of(case, run, settings)))


def played(case: Case, simulation: Simulation) -> list[Fate]:
    """What becomes of the jobs, with what the operators do."""
    for op in case.ops:
        if op["op"] != "run":  # scontrol, whose reservations are the system's
            simulation.process(_operate(simulation, op))
    result = simulation.run()
    columns = ("component_id", "state", "start_time", "end_time")
    table = result.components
    if "reservation_reason" in table:
        held = (table["reservation_reason"] == "reservation is gone") & (table["state"] == "PENDING")
        table = table.assign(state=table["state"].astype(object).mask(held, DELETED))
    rows = table[list(columns)].itertuples(index=False)
    fates = [(int(i), str(state), _known(start), _known(end)) for i, state, start, end in rows if i < HET]
    return [fate for fate in fates if fate[1] != "REJECTED"]  # sbatch said so: Slurm never had the job


def _known(time: int) -> int | None:
    return None if time < 0 else int(time)


def _operate(simulation: Simulation, op: dict[str, Any]) -> Any:
    yield simulation.env.timeout(op["t"] - simulation.env.now)
    kind, job = op["op"], op["id"]
    if simulation.state(job) == "NOT SUBMITTED":
        return  # Slurm did not know it yet, either
    if kind == "update":
        key, text = op["args"][0].split("=")
        value = {"TimeLimit": {"time_limit": int(text) * 60}, "Priority": {"priority": int(text)}}[key]
        simulation.update(job, **value)
    else:
        getattr(simulation, kind)(job)


def _system(case: Case) -> System:
    return System.from_dict(
        {
            "modules": [
                {"name": name, "nodes": count, "cores_per_node": 1} for name, count in case.nodes.items()
            ],
            "partitions": [
                {
                    "name": name,
                    "module": name,
                    "priority_job_factor": int(
                        case.partition_options.get(name, {}).get("PriorityJobFactor", 1)
                    ),
                    "slurm": {
                        key: value
                        for key, value in case.partition_options.get(name, {}).items()
                        if key == "QOS"
                    },
                }
                for name in case.nodes
            ],
            "resources": {
                "licences": dict(item.split(":") for item in _listed(case.conf.get("Licenses", "")))
            },
            **reservations_of(case),
        }
    )


def reservations_of(case: Case) -> dict[str, list[dict[str, Any]]]:
    """What scontrol made, and what it changed, as keys of a system."""
    made, changed = list[dict[str, Any]](), list[dict[str, Any]]()
    for change in changes_of(case):
        asked, module = change.request, next(iter(case.nodes))
        nodes = asked.nodes if asked.nodes in (None, NODES_ARE_ALL) else sorted(asked.nodes)
        keys = {
            "at": change.time,
            "name": change.name,
            "start": asked.start,
            "end": asked.end,
            "nodes": nodes
            and ([nodes] if nodes == NODES_ARE_ALL else [f"{module}[{','.join(map(str, nodes))}]"]),
            "node_count": asked.node_count,
            "users": list(asked.users),
        }
        given = {key: value for key, value in keys.items() if value}
        if change.action == "create":
            said = [flag.partition("=") for flag in asked.flags]
            flags = {"flags": [name for name, _, _ in said], "at": change.time}
            made.append(flags | {PURGE[name]: clock_s(time) for name, _, time in said if time} | given)
        else:
            changed.append({"action": change.action, "at": change.time} | given)
    return {"reservations": made, "reservation_changes": changed}


def _listed(text: str) -> list[str]:
    return [item for item in text.split(",") if item]


def daemon_start(case: Case, run: Run) -> int:
    """When the daemon started, s: in the second set each recording says it."""
    return run.daemon_start if case.name in (*CLAIMED, *RESERVING) else DAEMON_START


def policy_of(case: Case, run: Run, settings: dict[str, Any]) -> Policy:
    conf = case.conf
    keys: dict[str, Any] = {
        "epoch": run.origin,
        "starts_before_s": min(job["submit"] for job in case.jobs) - daemon_start(case, run),
        "latency": "measured",
        "kill_invalid_depend": "kill_invalid_depend" in conf.get("DependencyParameters", ""),
    }
    names = (
        "SchedulerType",
        "KillWait",
        "OverTimeLimit",
        "AccountingStorageType",
        "AccountingStorageEnforce",
    )
    priorities = [name for name in conf if name.startswith("Priority")]
    keys |= {name: conf[name] for name in (*names, *priorities) if name in conf}
    keys |= case.accounting
    for item in _listed(conf.get("SchedulerParameters", "")):
        key, _, value = item.partition("=")
        if key not in (*OWN_KEYS, "kill_invalid_depend"):
            keys[key] = value or True
    if "PriorityCalcPeriod" in keys:
        keys["PriorityCalcPeriod"] = f"{keys['PriorityCalcPeriod']}m"
    return Policy(name="slurm", backfill="slurm", slurm=keys | settings)


def _workload(case: Case) -> Workload:
    jobs = [part for job in case.jobs for part in components_of(job)]
    return Workload.from_columns(nodes=[job["nodes"] for job in jobs], **columns_of(jobs, case))


def columns_of(jobs: list[dict[str, Any]], case: Case) -> dict[str, Any]:
    """What the jobs of all sets of recordings say; how many nodes they ask for is said in other ways."""
    kinds, ids, anyway = zip(*(_dependencies(job.get("deps", ""), case) for job in jobs), strict=True)
    return {
        "component_id": [job["id"] for job in jobs],
        "modular_job_id": [job["id"] % HET for job in jobs],
        "submit_time": [job["submit"] for job in jobs],
        "partition": [job["partition"] for job in jobs],
        "run_time": [math.ceil(job["runtime"]) for job in jobs],
        "time_limit": [job["limit_min"] * 60 for job in jobs],
        "exit_code": [job.get("exit_code", 0) for job in jobs],
        "name": [job.get("name", f"job{job['id']}") for job in jobs],
        "user": [str(job.get("user", "")) for job in jobs],
        "account": [job.get("account", "") for job in jobs],
        "reservation": [job.get("reservation", "") for job in jobs],
        "qos": [job.get("qos", "") for job in jobs],
        "licences": [job.get("licenses", "") for job in jobs],
        "array_job_id": [job.get("array", -1) for job in jobs],
        "array_limit": [job.get("array_limit", -1) for job in jobs],
        "nice": [job.get("nice", 0) for job in jobs],
        "hold": [int(bool(job.get("hold"))) for job in jobs],
        "begin_time": [job["submit"] + job["begin_delay"] if "begin_delay" in job else -1 for job in jobs],
        "dependency_kinds": kinds,
        "dependency_ids": ids,
        "dependency_any": anyway,
    }


def components_of(job: dict[str, Any]) -> list[dict[str, Any]]:
    """A job itself, or the components of a heterogeneous one: the first has the job's id."""
    return [job | part | {"id": job["id"] + offset * HET} for offset, part in enumerate(job.get("het", [{}]))]


def _dependencies(text: str, case: Case) -> tuple[str, str, int]:
    """Kinds, ids and whether any one will do, from what sbatch was given."""
    kinds, ids = [], []
    for item in filter(None, text.replace("?", ",").split(",")):
        kind, *others = item.split(":")
        for other in others:
            number, _, minutes = other.partition("+")
            for one in _named(int(number), case):  # Slurm takes an unknown one as satisfied
                kinds.append(kind.upper() + (f"+{minutes}" if minutes else ""))
                ids.append(str(one))
        if not others:
            kinds.append(kind.upper())
    return ",".join(kinds), ",".join(ids), int("?" in text)


def _named(number: int, case: Case) -> list[int]:
    """The job of that number, or all tasks of the array."""
    return [job["id"] for job in case.jobs if number in (job["id"], job.get("array"))]
