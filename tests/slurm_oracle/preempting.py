"""The recorded cases with preemption, played by the plain model; and which jobs were preempted in them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median

from scheduler_sim import Policy, Simulation, System, Workload
from tests.oracle.plain_gang import GangSlurm
from tests.oracle.plain_preemption import PreemptingSlurm
from tests.oracle.plain_preemption_records import PREEMPTED, SUSPEND, Preemptable, PreemptQos, PreemptRules
from tests.oracle.plain_slurm_records import Config, Job, Partition
from tests.slurm_oracle.cases import Case, Run, read_json
from tests.slurm_oracle.figures import quantile
from tests.slurm_oracle.limited import table
from tests.slurm_oracle.phases import PHASES, Phase
from tests.slurm_oracle.plain import plain_config, plain_jobs, plain_ops
from tests.slurm_oracle.scontrol import clock_s
from tests.slurm_oracle.second_set import DATA_2


class QosSlurm(PreemptingSlurm):
    """Priorities are those of QOS, as parts of the largest of the database."""

    def _weigh(self, job: Job, now: int) -> None:
        most = max(qos.priority for qos in self.p.qos.values())
        job.priority = max(1, int(self.weight * self.qos_of(job).priority / most))


def preempting_slurm(case: Case, run: Run, **settings: object) -> PreemptingSlurm:
    given = {job["id"]: job for job in case.jobs}
    requeue = int(case.conf.get("JobRequeue", 1)) == 1
    jobs = [
        replace(job, qos=given[job.id].get("qos", ""), requeue=given[job.id].get("requeue", requeue))
        for job in plain_jobs(case)
    ]
    rules = rules_of(case, run)
    kind = GangSlurm if rules.mode == SUSPEND else QosSlurm if rules.qos else PreemptingSlurm
    slurm = kind(config_of(case, run, settings), jobs, plain_ops(case, run), rules)
    slurm.weight = int(case.conf.get("PriorityWeightQOS", 0))
    return slurm


def config_of(case: Case, run: Run, settings: dict[str, object]) -> Config:
    """Partitions are over the same nodes; requeued jobs are eligible 30 s after clean-up."""
    nodes = list(range(max(case.nodes.values())))
    tiers = {name: int(case.partition_options.get(name, {}).get("PriorityTier", 1)) for name in case.nodes}
    config = plain_config(case, run, settings)
    config.partitions = {name: Partition(nodes, tier=tier) for name, tier in tiers.items()}
    config.requeue_delay, config.script_alone = 30, True
    return config


def rules_of(case: Case, run: Run) -> PreemptRules:
    conf, words = case.conf, case.conf.get("SchedulerParameters", "")
    parts = {
        name: Preemptable(grace=int(options.get("GraceTime", 0)))
        for name, options in case.partition_options.items()
    }
    rules = PreemptRules(
        conf["PreemptType"],
        conf["PreemptMode"].split(",")[0],
        youngest_first="preempt_youngest_first" in words,
        partitions=parts,
    )
    recorded = read_json(DATA_2 / "out" / f"{run.name}.out.json.gz")
    if conf["PreemptType"] == "preempt/qos":
        rules.qos = {row["Name"]: _qos(row) for row in table(recorded["sacctmgr_qos"])}
    return rules


def _qos(row: dict[str, str]) -> PreemptQos:
    exempt = clock_s(row["PreemptExemptTime"]) if row["PreemptExemptTime"] else None
    preempts = tuple(filter(None, row["Preempt"].split(",")))
    mode = "" if row["PreemptMode"] == "cluster" else row["PreemptMode"].upper()
    return PreemptQos(mode, clock_s(row["GraceTime"]), exempt, int(row["Priority"]), preempts)


@dataclass
class Outcome:
    """What became of the jobs of a case, in a recording or in the model."""

    states: dict[int, str]
    starts: dict[int, list[int]]  # of every run
    preempted: set[int]  # or suspended

    def order(self) -> list[int]:
        """Jobs by the starts of all their runs; ties by id."""
        return [job for _, job in sorted((at, job) for job, begun in self.starts.items() for at in begun)]


def recorded_outcome(run: Run) -> Outcome:
    recorded = read_json(DATA_2 / "out" / f"{run.name}.out.json.gz")
    jobs = recorded["jobs"]
    starts = {job["id"]: [int(at) for at, _ in job["log_starts"]] for job in jobs}
    suspended = {event[1] for event in recorded["events"] if event[2] == "SUSPENDED"}
    preempted = {job["id"] for job in jobs if job["state"] == PREEMPTED or len(starts[job["id"]]) > 1}
    return Outcome({job["id"]: job["state"] for job in jobs}, starts, preempted | suspended)


def outcome(slurm: PreemptingSlurm) -> Outcome:
    starts: dict[int, list[int]] = {job.id: [] for job in slurm.jobs}
    for ended in slurm.runs:
        starts[ended.id].append(ended.start)
    preempted = {ended.id for ended in slurm.runs if ended.why == PREEMPTED}
    suspended = set(slurm.suspended) if isinstance(slurm, GangSlurm) else set()
    return Outcome({job.id: job.state for job in slurm.jobs}, starts, preempted | suspended)


def outcomes(case: Case) -> Iterator[tuple[Run, Outcome]]:
    """What the plain model makes of the case, beside each of its recordings."""
    for run in case.runs:
        for phase in PHASES:
            if phase.later_s:
                continue
            first = phase.first == "backfill"
            daemon = {"daemon_start": phase.start, "kill_epilog_ms": phase.cleaning_ms}
            slurm = preempting_slurm(case, run, backfill_first=first, **daemon)
            slurm.run(until=20_000)
            yield run, outcome(slurm)


def equals(ours: Outcome, theirs: Outcome) -> bool:
    """Cases made by hand: the same ends, runs, order and victims, each start within 3 s."""
    alike = ours.states == theirs.states and ours.preempted == theirs.preempted
    if not alike or ours.order() != theirs.order():
        return False
    return all(abs(a - b) <= 3 for job in theirs.starts for a, b in both(ours, theirs, job))


def both(one: Outcome, other: Outcome, job: int) -> list[tuple[int, int]]:
    """The starts of its runs in both; it must have as many."""
    return list(zip(one.starts[job], other.starts[job], strict=True))


def is_as_near(case: Case, ours: Outcome, theirs: Outcome) -> bool:
    """Random cases: as near to a recording as recordings are to one another, and half as far again."""
    if not same_states(case, ours):
        return False
    first, second = (recorded_outcome(run) for run in case.runs)
    noise, gaps = last_gaps(first, second), last_gaps(ours, theirs)
    near = median(gaps) <= 1.5 * median(noise) + 1
    return (
        near
        and quantile(gaps, 0.9) <= 1.5 * quantile(noise, 0.9) + 1
        and overlap(ours, theirs) >= overlap(first, second)
    )


def same_states(case: Case, ours: Outcome) -> bool:
    """Jobs end as in both recordings, wherever these agree."""
    first, second = (recorded_outcome(run) for run in case.runs)
    sure = {job for job, state in first.states.items() if second.states[job] == state}
    return all(ours.states[job] == first.states[job] for job in sure)


def is_met(case: Case, ours: Outcome, theirs: Outcome) -> bool:
    """The criterion of a case made by hand (its name begins with H), or of a random one."""
    return equals(ours, theirs) if case.name.startswith("H") else is_as_near(case, ours, theirs)


def last_gaps(one: Outcome, other: Outcome) -> list[int]:
    """Differences of the starts of last runs."""
    return [abs(one.starts[job][-1] - begun[-1]) for job, begun in other.starts.items()]


def overlap(one: Outcome, other: Outcome) -> float:
    """Of all that were preempted in one of them, the share of those that were in both."""
    either = one.preempted | other.preempted
    return len(one.preempted & other.preempted) / len(either) if either else 1.0


def engine_outcome(case: Case, run: Run, phase: Phase) -> Outcome:
    """What the engine makes of the case: preemption by tiers, or by QOS."""
    conf, jobs = case.conf, case.jobs
    keys: dict[str, object] = {name: conf[name] for name in ("PreemptType", "PreemptMode")}
    for word in conf["SchedulerParameters"].split(","):
        name, _, value = word.partition("=")
        keys |= {name: int(value)} if name in ("bf_interval", "bf_resolution") else {}
        keys |= {name: True} if name == "preempt_youngest_first" else {}
    keys |= {
        "KillWait": int(conf["KillWait"]),
        "epoch": run.origin,
        "latency": "measured",
        **phase.keys(case),
        "requeue_delay_s": 30,
        "script_alone": conf["PreemptMode"] != "SUSPEND,GANG",
        "JobRequeue": int(conf.get("JobRequeue", 1)) == 1,
    }
    if conf["PreemptType"] == "preempt/qos":
        keys |= {name: conf[name] for name in conf if name.startswith("Priority")}
        keys |= {"PreemptExemptTime": rules_of(case, run).exempt}
        keys |= {"qos": {name: qos_keys(qos) for name, qos in rules_of(case, run).qos.items()}}
        keys |= {"PriorityCalcPeriod": f"{conf.get('PriorityCalcPeriod', 5)}m"}
    partitions = [
        {
            "name": name,
            "module": "m",
            "priority": int(options.get("PriorityTier", 1)),
            "slurm": {"GraceTime": int(options.get("GraceTime", 0))},
        }
        for name, options in case.partition_options.items()
    ]
    nodes = max(case.nodes.values())
    modules = [{"name": "m", "nodes": nodes, "cores_per_node": 1}]
    system = System.from_dict({"modules": modules, "partitions": partitions})
    workload = Workload.from_columns(
        component_id=[job["id"] for job in jobs],
        submit_time=[job["submit"] for job in jobs],
        partition=[job["partition"] for job in jobs],
        nodes=[job["nodes"] for job in jobs],
        run_time=[math.ceil(job["runtime"]) for job in jobs],
        time_limit=[60 * job["limit_min"] for job in jobs],
        qos=[job.get("qos", "") for job in jobs],
        user=[job.get("user", "") for job in jobs],
        account=[job.get("account", "") for job in jobs],
        requeue=[int(job.get("requeue", -1)) for job in jobs],
    )
    simulation = Simulation(system, workload, Policy(name="slurm", backfill="slurm", slurm=keys))
    found = simulation.run().components
    ids = found["component_id"].tolist()
    states = dict(zip(ids, map(str, found["state"]), strict=True))
    starts: dict[int, list[int]] = {job: [] for job in ids}
    for lost in simulation._lost:
        starts[ids[lost.row]].append(lost.start)
    preempted = {job for job in ids if starts[job] or states[job] == PREEMPTED}
    preempted |= {ids[span.row] for span in simulation._suspended}
    for job, start in zip(ids, found["start_time"].tolist(), strict=True):
        starts[job].append(int(start))
    return Outcome(states, starts, preempted)


def qos_keys(qos: PreemptQos) -> dict[str, object]:
    """A QOS as ``policy.slurm.qos`` has it."""
    said = {"Preempt": list(qos.preempts), "PreemptMode": qos.mode, "PreemptExemptTime": qos.exempt}
    return {"priority": qos.priority} | {
        name: value for name, value in said.items() if value not in ("", None)
    }


def engine_outcomes(case: Case) -> Iterator[tuple[Run, Outcome]]:
    """What the engine makes of the case, beside each of its recordings."""
    for run in case.runs:
        for phase in PHASES:
            yield run, engine_outcome(case, run, phase)
