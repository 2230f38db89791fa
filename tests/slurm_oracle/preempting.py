"""The recorded cases with preemption, played by the plain model; and which jobs were preempted in them."""

from __future__ import annotations

from dataclasses import replace

from tests.oracle.plain_gang import GangSlurm
from tests.oracle.plain_preemption import PreemptingSlurm
from tests.oracle.plain_preemption_records import SUSPEND, Preemptable, PreemptQos, PreemptRules
from tests.oracle.plain_slurm_records import Config, Job, Partition
from tests.slurm_oracle.cases import Case, Fate, Run, read_json
from tests.slurm_oracle.limited import table
from tests.slurm_oracle.plain import plain_config, plain_jobs, plain_ops
from tests.slurm_oracle.second_set import DATA_2


class QosSlurm(PreemptingSlurm):
    """Priorities are those of QOS, as parts of the largest of the database."""

    def _weigh(self, job: Job, now: int) -> None:
        most = max(qos.priority for qos in self.p.qos.values())
        job.priority = max(1, int(self.weight * self.qos_of(job).priority / most))


def preempting_slurm(case: Case, run: Run, **settings: object) -> PreemptingSlurm:
    given = {job["id"]: job for job in case.jobs}
    requeue = case.conf.get("JobRequeue", "1") == "1"
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
    tiers = {
        name: int(case.partition_options.get(name, {}).get("PriorityTier", 1)) for name in case.nodes
    }
    config = plain_config(case, run, settings)
    config.partitions = {name: Partition(nodes, tier=tier) for name, tier in tiers.items()}
    config.requeue_delay = 30
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
        script_alone=True,
        partitions=parts,
    )
    recorded = read_json(DATA_2 / "out" / f"{run.name}.out.json.gz")
    if conf["PreemptType"] == "preempt/qos":
        rules.qos = {row["Name"]: _qos(row) for row in table(recorded["sacctmgr_qos"])}
    return rules


def _qos(row: dict[str, str]) -> PreemptQos:
    exempt = _seconds(row["PreemptExemptTime"]) if row["PreemptExemptTime"] else None
    preempts = tuple(filter(None, row["Preempt"].split(",")))
    mode = "" if row["PreemptMode"] == "cluster" else row["PreemptMode"].upper()
    return PreemptQos(mode, _seconds(row["GraceTime"]), exempt, int(row["Priority"]), preempts)


def _seconds(clock: str) -> int:
    hours, minutes, seconds = map(int, clock.split(":"))
    return (hours * 60 + minutes) * 60 + seconds


def play_preempting(case: Case, run: Run, **settings: object) -> list[Fate]:
    """What the plain model makes of the case."""
    slurm = preempting_slurm(case, run, **settings)
    slurm.run(until=20_000)
    return [(job.id, job.state, job.start, job.end) for job in slurm.jobs]
