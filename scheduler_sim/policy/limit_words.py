"""Slurm's words for limits that jobs wait for, as squeue shows them (22.05, slurm_protocol_defs.c)."""

from __future__ import annotations

DENIED = "AccountingPolicy"
"""What is rejected at submission, as it is beyond a limit for good: sbatch says it in a sentence."""

NOT_ALLOWED = "QOSNotAllowed"
"""What is rejected at submission, as its association may not have its QOS."""

BELOW = "QOSUsageThreshold"
"""What waits as its fair share is below the UsageThreshold of its QOS."""

JOBS = {
    ("GrpJobs", True): "QOSGrpJobsLimit",
    ("GrpJobs", False): "AssocGrpJobsLimit",
    ("GrpWall", True): "QOSGrpWallLimit",
    ("GrpWall", False): "AssocGrpWallLimit",
    ("MaxJobsPerAccount", True): "MaxJobsPerAccount",
    ("MaxJobsPerUser", True): "QOSMaxJobsPerUserLimit",
    ("MaxJobs", False): "AssocMaxJobsLimit",
    ("MaxWall", True): "QOSMaxWallDurationPerJobLimit",
    ("MaxWall", False): "AssocMaxWallDurationPerJobLimit",
    ("GrpSubmitJobs", True): "QOSGrpSubmitJobsLimit",
    ("GrpSubmitJobs", False): "AssocGrpSubmitJobsLimit",
    ("MaxSubmitJobsPerAccount", True): "MaxSubmitJobsPerAccount",
    ("MaxSubmitJobsPerUser", True): "QOSMaxSubmitJobPerUserLimit",
    ("MaxSubmitJobs", False): "AssocMaxSubmitJobLimit",
}
"""Of limits of jobs and times, of a QOS (True) or an association."""

OLDER = {
    ("GrpTRES", "cpu"): "{0}GrpCpuLimit",
    ("GrpTRES", "mem"): "{0}GrpMemLimit",
    ("GrpTRES", "node"): "{0}GrpNodeLimit",
    ("GrpTRESMins", "cpu"): "{0}GrpCPUMinutesLimit",
    ("GrpTRESRunMins", "cpu"): "{0}GrpCPURunMinutesLimit",
    ("MaxTRESMinsPerJob", "cpu"): "{0}MaxCpuMinutesPerJobLimit",
    ("MaxTRESPerJob", "cpu"): "{0}MaxCpuPerJobLimit",
    ("MaxTRESPerJob", "node"): "{0}MaxNodePerJobLimit",
    ("MaxTRESPerUser", "cpu"): "{0}MaxCpuPerUserLimit",
    ("MaxTRESPerUser", "node"): "{0}MaxNodePerUserLimit",
    ("MinTRESPerJob", "cpu"): "{0}MinCpuNotSatisfied",
    ("MaxTRESPerNode", "node"): "{0}MaxUnknownPerNode",
    ("MaxTRESPerNode", "license"): "{0}MaxUnknownPerNode",
}
"""Words that Slurm had before it had limits of all resources, and those where it has none."""

ALL = {
    "GrpTRES": "{0}Grp{1}",
    "GrpTRESMins": "{0}Grp{1}Minutes",
    "GrpTRESRunMins": "{0}Grp{1}RunMinutes",
    "MaxTRESMinsPerJob": "{0}Max{1}MinutesPerJob",
    "MaxTRESPerJob": "{0}Max{1}PerJob",
    "MaxTRESPerNode": "{0}Max{1}PerNode",
    "MinTRESPerJob": "{0}Min{1}",
    "MaxTRESPerAccount": "Max{1}PerAccount",
    "MaxTRESPerUser": "{0}Max{1}PerUser",
    "MaxTRESRunMinsPerAccount": "Max{1}RunMinsPerAccount",
    "MaxTRESRunMinsPerUser": "Max{1}RunMinsPerUser",
}
"""Words for a limit of any resource."""

_NAMES = {"cpu": "Cpu", "node": "Node", "billing": "Billing", "gres": "GRES", "license": "License"}


def word_for(key: str, resource: str, *, qos: bool) -> str:
    """Return Slurm's word for a limit by its key; ``resource`` as in keys, empty for jobs and times."""
    if not resource:
        return JOBS[key, qos]
    kind = resource.partition("/")[0]
    memory = "Memory" if qos or key == "MaxTRESPerAccount" else "Mem"
    pattern = OLDER.get((key, kind), ALL[key])
    return pattern.format("QOS" if qos else "Assoc", memory if kind == "mem" else _NAMES[kind])
