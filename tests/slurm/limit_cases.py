"""Random sites with limits of QOS and associations, played by the engine and by the plain model."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import Any

from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, simulate
from tests.oracle.plain_limit_records import Association, Database, Limits
from tests.oracle.plain_limited_slurm import LimitedSlurm
from tests.slurm.engine_cases import (
    UNTIL_S,
    Case,
    Fates,
    cases,
    plain,
    system_of,
    workload_of,
)

SHARED = System.from_dict(
    {
        "modules": [
            {
                "name": "m",
                "nodes": 2,
                "cores_per_node": 8,
                "memory_gb": 8,
                "gpus_per_node": 2,
                "shared": True,
            }
        ]
    }
)
"""Two nodes that jobs share."""

KEYS = {
    "grp_jobs": "GrpJobs",
    "grp_submit": "GrpSubmitJobs",
    "grp_wall": "GrpWall",
    "grp_tres": "GrpTRES",
    "grp_tres_mins": "GrpTRESMins",
    "grp_tres_run_mins": "GrpTRESRunMins",
    "max_jobs": "MaxJobs",
    "max_jobs_pu": "MaxJobsPerUser",
    "max_jobs_pa": "MaxJobsPerAccount",
    "max_submit": "MaxSubmitJobs",
    "max_submit_pu": "MaxSubmitJobsPerUser",
    "max_submit_pa": "MaxSubmitJobsPerAccount",
    "grp_accrue": "GrpJobsAccrue",
    "max_accrue": "MaxJobsAccrue",
    "max_accrue_pu": "MaxJobsAccruePerUser",
    "max_accrue_pa": "MaxJobsAccruePerAccount",
    "max_wall": "MaxWall",
    "max_tres": "MaxTRESPerJob",
    "max_tres_mins": "MaxTRESMinsPerJob",
    "max_tres_pu": "MaxTRESPerUser",
    "max_tres_pa": "MaxTRESPerAccount",
    "min_tres": "MinTRESPerJob",
    "factor": "UsageFactor",
    "flags": "Flags",
}
"""Fields of the plain model's limits, by the keys of ``policy.slurm``."""

OF_QOS = {"max_jobs_pu", "max_jobs_pa", "max_submit_pu", "max_submit_pa", "max_tres_pu", "max_tres_pa"}
OF_QOS |= {"max_accrue_pu", "max_accrue_pa"}
NOT_OF_ASSOCIATIONS = OF_QOS | {"min_tres", "factor", "flags"}
NOT_OF_QOS = {"max_jobs", "max_submit", "max_accrue"}


@dataclass(frozen=True)
class LimitedCase:
    """A site with its accounting database."""

    case: Case
    database: Database
    accounts: tuple[tuple[str, str, str], ...]  # of each job: user, account, QOS

    def but(self, **keys: Any) -> LimitedCase:
        return replace(self, case=self.case.but(**keys))

    def without_limits(self) -> LimitedCase:
        """The same accounts and QOS, and nothing is limited."""
        found = deepcopy(self.database)
        for one in found.associations.values():
            one.limits = Limits()
        found.qos = {name: Limits() for name in found.qos}
        return replace(self, database=found)


@st.composite
def limited_cases(draw: st.DrawFn, jobs: int = 10, *, stop: bool = False) -> LimitedCase:
    """Two accounts, one of them in the other, with two users each, two QOS, and that of a partition."""
    case = draw(cases(jobs)).but(PriorityDecayHalfLife=0, AccountingStorageType="accounting_storage/slurmdbd")
    associations = {
        "root": Association("", draw(_limits(NOT_OF_ASSOCIATIONS))),
        "a": Association("root", draw(_limits(NOT_OF_ASSOCIATIONS))),
        "b": Association("a", draw(_limits(NOT_OF_ASSOCIATIONS))),
    }
    for account in "ab":
        for user in "uv":
            default = draw(st.sampled_from("qr"))
            own = draw(_limits(NOT_OF_ASSOCIATIONS))
            associations[f"{account}/{user}"] = Association(account, own, default)
    qos = {name: draw(_limits(NOT_OF_QOS)) for name in "qrp"}
    parts = {queue.name: "p" for queue in case.queues if draw(st.booleans())}
    safe = draw(st.booleans())
    named = [
        (job.user, draw(st.sampled_from("ab")), draw(st.sampled_from(["", "q", "r"]))) for job in case.jobs
    ]
    return LimitedCase(case, Database(associations, qos, parts, safe=safe, stop=stop), tuple(named))


@st.composite
def _limits(draw: st.DrawFn, absent: set[str]) -> Limits:
    """Few at a time: with many everything waits for ever."""
    names = [one.name for one in fields(Limits) if one.name not in absent]
    chosen = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
    found: dict[str, Any] = {}
    for name in chosen:
        if name == "flags":
            words = ("DenyOnLimit", "OverPartQOS", "UsageFactorSafe", "NoDecay", "NoReserve")
            found[name] = tuple(draw(st.lists(st.sampled_from(words), unique=True)))
        elif name == "factor":
            found[name] = draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))
        elif "tres" in name:
            most = 12 if "mins" in name else 2 if name == "min_tres" else 6
            resources = draw(st.lists(st.sampled_from(["cpu", "node"]), min_size=1, unique=True))
            amounts = {resource: draw(st.integers(1, most)) for resource in resources}
            found[name] = {one: amounts[one] for one in ("cpu", "node") if one in amounts}
        else:
            found[name] = draw(st.integers(1, 4))
    return Limits(**found)


# -------------------------------------------------------------------- both of them


def keys_of(case: LimitedCase) -> dict[str, Any]:
    """The keys of ``policy.slurm``."""
    database = case.database
    accounts: dict[str, Any] = {}
    for name, one in database.associations.items():
        stated = {"limits": _stated(one.limits)}
        account, _, user = name.partition("/")
        if user:
            of = accounts["a"] if account == "a" else accounts["a"]["accounts"]["b"]
            of["users"][user] = stated | {"default_qos": one.default_qos}
        elif name == "b":
            accounts["a"]["accounts"] = {"b": stated | {"users": {}}}
        else:
            accounts[name] = stated | {"users": {}}
    return {
        "accounts": accounts,
        "qos": {name: _stated(limits) for name, limits in database.qos.items()},
        "AccountingStorageEnforce": "safe" if database.safe else "limits",
        "assoc_limit_stop": database.stop,
    }


def _stated(limits: Limits) -> dict[str, Any]:
    found = {KEYS[one.name]: getattr(limits, one.name) for one in fields(Limits) if one.name in KEYS}
    return {
        key: list(value) if key == "Flags" else value
        for key, value in found.items()
        if value not in (None, {}, ()) and not (key == "UsageFactor" and value == 1.0)
    }


def limited_simulation(
    case: LimitedCase,
    topology: dict[str, Any] | None = None,
    columns: dict[str, Any] | None = None,
    **keys: Any,
) -> Result:
    """What the engine makes of it, with a topology and what jobs ask of it, if there is one."""
    system = system_of(case.case).to_dict() | ({"topology": topology} if topology else {})
    for partition in system["partitions"]:
        if partition["name"] in case.database.of_partition:
            partition["slurm"] = {"QOS": case.database.of_partition[partition["name"]]}
    users, accounts, qos = zip(*case.accounts, strict=True)
    workload = workload_of(case.case, user=users, account=accounts, qos=qos, **columns or {})
    given = {"starts_before_s": case.case.begins_s} | case.case.keys | keys_of(case) | keys
    result = simulate(
        type(system_of(case.case)).from_dict(system), workload, Policy(backfill="slurm", slurm=given)
    )
    result.check()
    return result


def limited_fates(case: LimitedCase, model: Any = LimitedSlurm, **more: Any) -> Fates:
    """What a plain model makes of it."""
    base = plain(case.case)
    jobs = [
        replace(job, user=user, account=account, qos=qos)
        for job, (user, account, qos) in zip(base.jobs, case.accounts, strict=True)
    ]
    slurm = model(base.c, jobs, [], deepcopy(case.database), **more)
    slurm.run(UNTIL_S)
    refused = {job.id: ("REJECTED", None) for job in slurm.refused}
    return refused | {job.id: (job.state, job.start) for job in slurm.jobs}
