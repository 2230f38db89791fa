"""The recordings of jobs that share nodes: their nodes, requests and shares; the plain model playing them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.oracle.plain_cons_tres_records import Ask, Counts, Node, Settings, SharedJob, SharedPartition
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.slurm_oracle.cases import Case, Fate, Run, _effective, _load_run, _recordings, read_json
from tests.slurm_oracle.plain import plain_config, plain_ops
from tests.slurm_oracle.second_set import DATA_2, expanded, names_2


@dataclass(frozen=True)
class Given:
    """What a job had of nodes in a recording: cores by node; from and until when, in seconds."""

    job: int
    cores: dict[int, frozenset[int]]
    memory: dict[int, int]
    start: float
    end: float
    by: str


@dataclass
class SharedCase(Case):
    names: list[str] = field(default_factory=list)  # of nodes
    machine: list[Node] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    partitions: dict[str, SharedPartition] = field(default_factory=dict)
    default: str = ""
    given: dict[str, list[Given]] = field(default_factory=dict)  # by name of the recording

    def kinds(self, nodes: Iterable[int]) -> list[str]:
        """Of which kinds these nodes are: those that slurm.conf describes alike are of one."""
        return sorted(str(self.machine[node]) for node in nodes)


def shared_names() -> list[str]:
    """S1 to S4, and HS1 to HS3 made by hand."""
    return [name for name in names_2() if re.match(r"H?S\d", name)]


@cache
def load_shared(name: str, data: Path = DATA_2) -> SharedCase:
    given = read_json(data / "in" / f"{name}.json.gz")
    recorded = {path.name.removesuffix(".out.json.gz"): read_json(path) for path in _recordings(data, name)}
    conf = {key: str(value) for key, value in given["slurm_conf"].items() if value is not None}
    names, machine = _machine(given["nodes"])
    case = SharedCase(
        name=name,
        nodes={},
        conf=_effective(conf, recorded[name]),
        partition_options={},
        jobs=given["jobs"],
        ops=given["ops"],
        runs=[_load_run(run, found) for run, found in recorded.items()],
        names=names,
        machine=machine,
    )
    case.settings = settings_of(case.conf)
    case.partitions = {part["name"]: _partition(part, names) for part in given["partitions"]}
    case.default = next(part["name"] for part in given["partitions"] if "Default=YES" in part["opts"])
    if data == DATA_2:  # what jobs had of their nodes is not in recordings of our own
        case.given = {run: _given(found, names) for run, found in recorded.items()}
    return case


def settings_of(conf: dict[str, str]) -> Settings:
    select = conf["SelectTypeParameters"].upper().split(",")
    return Settings(
        memory=any(word.endswith("_MEMORY") for word in select),
        whole_sockets=any(word.startswith("CR_SOCKET") for word in select),
        lln="CR_LLN" in select,
        def_mem_per_cpu=int(conf.get("DefMemPerCPU", 0)),
        def_mem_per_node=int(conf.get("DefMemPerNode", 0)),
        max_mem_per_cpu=int(conf.get("MaxMemPerCPU", 0)),
    )


def _machine(specs: list[dict[str, str]]) -> tuple[list[str], list[Node]]:
    names, machine = [], []
    for spec in specs:
        node = _node(_options(spec["opts"]))
        for name in expanded(spec["names"]):
            names.append(name)
            machine.append(node)
    return names, machine


def _node(options: dict[str, str]) -> Node:
    return Node(
        cores=int(options["CoresPerSocket"]),
        sockets=int(options["SocketsPerBoard"]),
        threads=int(options["ThreadsPerCore"]),
        memory=int(options["RealMemory"]),
        gres=counts(options.get("Gres", "")),
        weight=int(options.get("Weight", 1)),
    )


def _options(text: str) -> dict[str, str]:
    return dict(item.split("=", 1) for item in text.split())


def _partition(spec: dict[str, str], names: list[str]) -> SharedPartition:
    options = _options(spec["opts"])
    most = options.get("MaxNodes", "UNLIMITED")
    return SharedPartition(
        nodes=[names.index(name) for name in expanded(spec["nodes"])],
        tier=int(options.get("PriorityTier", 1)),
        name=spec["name"],
        oversubscribe=options.get("OverSubscribe", "NO"),
        max_nodes=None if most == "UNLIMITED" else int(most),
        lln=options.get("LLN") == "YES",
        def_mem_per_cpu=int(options.get("DefMemPerCPU", 0)),
        def_mem_per_node=int(options.get("DefMemPerNode", 0)),
        max_mem_per_cpu=int(options.get("MaxMemPerCPU", 0)),
    )


def counts(text: str) -> Counts:
    """`gpu:2` or `gpu:a100:2,shard:4`: how many of each."""
    found = {}
    for item in filter(None, text.split(",")):
        name, _, count = item.rpartition(":")
        found[name or item] = int(count) if name else 1
    return found


def ask_of(job: dict) -> Ask:
    per_node = counts(job.get("gres", ""))
    if "gpus_per_node" in job:
        per_node = per_node | _gpus(job["gpus_per_node"])
    least, _, most = str(job.get("nodes", "")).partition("-")
    return Ask(
        nodes=(int(least), int(most or least)) if least else None,
        tasks=job.get("ntasks"),
        cpus_per_task=job.get("cpus_per_task"),
        tasks_per_node=job.get("ntasks_per_node", 0),
        mem=job.get("mem"),
        mem_per_cpu=job.get("mem_per_cpu"),
        gres=per_node,
        gpus=_gpus(job["gpus"]) if "gpus" in job else {},
        exclusive=bool(job.get("exclusive")),
    )


def _gpus(value: int | str) -> Counts:
    """Of `2` or `a100:2`."""
    return counts(f"gpu:{value}")


def _given(recorded: dict, names: list[str]) -> list[Given]:
    """In the order of the log; a job of these sets starts once."""
    found = []
    for job in recorded["jobs"]:
        for run, (start, by), end in zip(job["runs"], job["log_starts"], job["log_done"], strict=True):
            rows = [(names.index(n), row) for row in run["alloc"] for n in expanded(row[0])]
            cores = {node: _cores(row[1]) for node, row in rows}
            memory = {node: int(row[2]) for node, row in rows}
            found.append(Given(job["id"], cores, memory, start, end, by))
    return sorted(found, key=lambda given: (given.start, given.job))


def _cores(text: str) -> frozenset[int]:
    ends = (item.partition("-") for item in text.split(","))
    return frozenset(core for first, _, last in ends for core in range(int(first), int(last or first) + 1))


# ------------------------------------------------------------------ the plain model


def shared_slurm(
    case: SharedCase,
    run: Run,
    model: type[SharedSlurm] = SharedSlurm,
    *,
    backfill_first: bool = True,
    **clock: float,
) -> SharedSlurm:
    """The model with the clock origin and the daemon's start of one run."""
    config = plain_config(case, run, {"daemon_start": run.daemon_start, "backfill_first": backfill_first})
    config.partitions = case.partitions
    jobs = [shared_job(case, given) for given in case.jobs]
    return model(config, jobs, plain_ops(case, run), nodes=case.machine, settings=case.settings, **clock)


def shared_job(case: SharedCase, given: dict) -> SharedJob:
    return SharedJob(
        id=given["id"],
        submit=given["submit"],
        partitions=given.get("partition", case.default).split(","),
        nodes=0,
        runtime=math.ceil(given["runtime"]),
        limit=given["limit_min"],
        ask=ask_of(given),
    )


def play_shared(case: SharedCase, run: Run, *, backfill_first: bool = True) -> list[Fate]:
    slurm = shared_slurm(case, run, backfill_first=backfill_first)
    slurm.run(until=20_000)
    return [(job.id, job.state, job.start, job.end) for job in slurm.jobs]


def shared_main_first(case: SharedCase, run: Run) -> list[Fate]:
    return play_shared(case, run, backfill_first=False)


SHARED_ORDERS = (play_shared, shared_main_first)
