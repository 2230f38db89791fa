"""The recorded cases with limits, played by the plain model; limits as sacctmgr shows them."""

from __future__ import annotations

from dataclasses import replace

from tests.oracle.plain_limit_records import Association, Database, Limits
from tests.oracle.plain_limited_slurm import LimitedSlurm
from tests.slurm_oracle.cases import Case, Fate, Run, read_json
from tests.slurm_oracle.database import table
from tests.slurm_oracle.plain import plain_config, plain_jobs, plain_ops
from tests.slurm_oracle.second_set import DATA_2


def database_of(case: Case, recorded: dict) -> Database:
    associations = {}
    for row in table(recorded["sacctmgr_assoc"]):
        name = f"{row['Account']}/{row['User']}" if row["User"] else row["Account"]
        parent = row["Account"] if row["User"] else "" if name == "root" else "root"
        associations[name] = Association(parent, _limits(row), row["Def QOS"])
    own = {row["Name"]: _limits(row) for row in table(recorded["sacctmgr_qos"])}
    conf = case.conf
    of_partition = {
        part: options["QOS"] for part, options in case.partition_options.items() if "QOS" in options
    }
    return Database(
        associations,
        own,
        of_partition,
        safe="safe" in conf["AccountingStorageEnforce"],
        stop="assoc_limit_stop" in conf.get("SchedulerParameters", ""),
    )


def _limits(row: dict[str, str]) -> Limits:
    numbers = {
        "grp_jobs": "GrpJobs",
        "grp_submit": "GrpSubmit",
        "max_jobs": "MaxJobs",
        "max_jobs_pu": "MaxJobsPU",
        "max_jobs_pa": "MaxJobsPA",
        "max_submit": "MaxSubmit",
        "max_submit_pu": "MaxSubmitPU",
        "max_submit_pa": "MaxSubmitPA",
    }
    tres = {
        "grp_tres": "GrpTRES",
        "grp_tres_mins": "GrpTRESMins",
        "grp_tres_run_mins": "GrpTRESRunMins",
        "max_tres": "MaxTRES",
        "max_tres_mins": "MaxTRESMins",
        "max_tres_pu": "MaxTRESPU",
        "max_tres_pa": "MaxTRESPA",
        "min_tres": "MinTRES",
    }
    times = {"grp_wall": "GrpWall", "max_wall": "MaxWall"}
    found: dict = {mine: int(row[theirs]) for mine, theirs in numbers.items() if row.get(theirs)}
    for mine, theirs in tres.items():
        if row.get(theirs):
            pairs = (item.split("=") for item in row[theirs].split(","))
            found[mine] = {name: int(amount) for name, amount in pairs}
    for mine, theirs in times.items():
        if row.get(theirs):
            hours, minutes, _ = row[theirs].split(":")
            found[mine] = int(hours) * 60 + int(minutes)
    return Limits(**found, flags=tuple(filter(None, row.get("Flags", "").split(","))))


def play_limited(case: Case, run: Run, **settings: object) -> list[Fate]:
    """What the plain model makes of the case."""
    slurm = limited_slurm(case, run, **settings)
    slurm.run(until=20_000)
    return [(job.id, job.state, job.start, job.end) for job in slurm.jobs]


def limited_slurm(case: Case, run: Run, **settings: object) -> LimitedSlurm:
    recorded = read_json(DATA_2 / "out" / f"{run.name}.out.json.gz")
    given = {job["id"]: job for job in case.jobs}
    jobs = [
        replace(job, account=given[job.id].get("account", ""), qos=given[job.id].get("qos", ""))
        for job in plain_jobs(case)
    ]
    return LimitedSlurm(
        plain_config(case, run, settings), jobs, plain_ops(case, run), database_of(case, recorded)
    )
