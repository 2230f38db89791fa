"""The recorded cases played by the plain model (tests/oracle/plain_slurm.py)."""

from __future__ import annotations

import math

from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import Config, Job, Op, Partition
from tests.slurm_oracle.cases import Case, Fate, Run
from tests.slurm_oracle.engine import HET

NEVER = 10**9
PRESET: dict[str, object] = {
    "launch_latency": True,
    "kill_epilog_ms": 730,
    "main_wait_ms": 400,
    "daemon_start": -8,
    "backfill_first": True,
}


def play_plain(case: Case, run: Run, **settings: object) -> list[Fate]:
    """What the plain model makes of the case, with the clock origin and the daemon's start of one run."""
    slurm = plain_slurm(case, run, **settings)
    slurm.run(until=20_000)
    return [(job.id, job.state, job.start, job.end) for job in slurm.jobs if job.id < HET]


def plain_slurm(case: Case, run: Run, **settings: object) -> Slurm:
    return Slurm(plain_config(case, run, settings), plain_jobs(case), plain_ops(case, run))


def plain_config(case: Case, run: Run, settings: dict[str, object]) -> Config:
    conf = case.conf
    config = Config(_partitions(case), origin=run.origin, daemon_start=run.daemon_start)
    config.builtin = conf.get("SchedulerType") == "sched/builtin"
    config.kill_wait = int(conf["KillWait"])
    config.over_time_limit = int(conf.get("OverTimeLimit", 0))
    config.kill_invalid_depend = "kill_invalid_depend" in conf.get("DependencyParameters", "")
    config.multifactor = conf["PriorityType"] == "priority/multifactor"
    if config.multifactor:
        with_database = "slurmdbd" in conf["AccountingStorageType"]
        config.calc_period = int(conf["PriorityCalcPeriod"]) * 60 if with_database else NEVER
        config.max_age = _duration(conf.get("PriorityMaxAge", "7-00:00:00"))
        config.weight_age = int(conf.get("PriorityWeightAge", 0))
        config.weight_size = int(conf.get("PriorityWeightJobSize", 0))
        config.weight_partition = int(conf.get("PriorityWeightPartition", 0))
    for item in conf.get("SchedulerParameters", "").split(","):
        key, _, value = item.partition("=")
        if value and hasattr(config, key):
            setattr(config, key, int(value))
    for key, value in (PRESET | settings).items():
        setattr(config, key, value)
    return config


def _partitions(case: Case) -> dict[str, Partition]:
    partitions, first = {}, 0
    for name, count in case.nodes.items():
        factor = int(case.partition_options.get(name, {}).get("PriorityJobFactor", 1))
        partitions[name] = Partition(list(range(first, first + count)), factor=factor)
        first += count
    return partitions


def _duration(text: str) -> int:
    """days-hours:minutes:seconds in seconds."""
    days, _, clock = text.partition("-")
    hours, minutes, seconds = (int(part) for part in clock.split(":"))
    return ((int(days) * 24 + hours) * 60 + minutes) * 60 + seconds


def plain_jobs(case: Case) -> list[Job]:
    """The jobs; of a heterogeneous one its components, the first with the job's id."""
    return [
        plain_job(given | part | {"id": given["id"] + offset * HET}, given["id"] if "het" in given else 0)
        for given in case.jobs
        for offset, part in enumerate(given.get("het", [{}]))
    ]


def plain_job(given: dict, het: int = 0) -> Job:
    return Job(
        id=given["id"],
        het=het,
        submit=given["submit"],
        partitions=given["partition"].split(","),
        nodes=given["nodes"],
        runtime=math.ceil(given["runtime"]),
        limit=given["limit_min"],
        exit_code=given.get("exit_code", 0),
        depends=_depends(given.get("deps", "")),
        name=given.get("name", f"job{given['id']}"),
        user=str(given.get("user", "")),
        nice=given.get("nice", 0),
        begin=given["submit"] + given["begin_delay"] if "begin_delay" in given else 0,
        held=bool(given.get("hold")),
    )


def _depends(text: str) -> tuple[str, list[tuple[str, list[int], int]]]:
    joiner = "?" if "?" in text else ","
    terms = []
    for item in filter(None, text.split(joiner)):
        kind, *others = item.split(":")
        minutes = 0
        ids = []
        for other in others:
            number, _, plus = other.partition("+")
            ids.append(int(number))
            minutes = int(plus or 0)
        terms.append((kind, ids, minutes))
    return joiner, terms


def plain_ops(case: Case, run: Run) -> list[Op]:
    ops = []
    for given in case.ops:
        kind, value = given["op"], 0
        if kind == "update":
            key, text = given["args"][0].split("=")
            kind, value = {"TimeLimit": "limit", "Priority": "priority"}[key], int(text)
        ops.append(Op(given["t"], kind, given["id"], value))
    return ops


def main_first(case: Case, run: Run) -> list[Fate]:
    """The preset, but the background loop looks first within a second."""
    return play_plain(case, run, backfill_first=False)


BOTH_ORDERS = (play_plain, main_first)
