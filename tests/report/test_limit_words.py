"""explain gives Slurm's reason for every kind of limit: two jobs of two nodes for two minutes, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of
from scheduler_sim.report.slurm_words import OF_LIMITS

pytestmark = pytest.mark.interpreted

SITE = System.from_dict(
    {
        "modules": [{"name": "M", "nodes": 4, "gpus_per_node": 1, "memory_gb": 4}],
        "resources": {"licences": {"cfd": 2}},
    }
)
TWO = Workload.from_columns(
    nodes=[2, 2],
    submit_time=[0, 0],
    run_time=[60, 60],
    time_limit=[120, 120],
    user=["u", "u"],
    account=["a", "a"],
    qos=["q", "q"],
    licences=["cfd", "cfd"],
    memory_kb=[1024**2, 1024**2],
)

BOTH = {
    "GrpJobs=1": "{}GrpJobsLimit",
    "GrpWall=0": "{}GrpWallLimit",
    "MaxWall=1": "{}MaxWallDurationPerJobLimit",
    "GrpTRES=cpu=3": "{}GrpCpuLimit",
    "GrpTRES=node=3": "{}GrpNodeLimit",
    "GrpTRES=mem=3000": "{}GrpMemLimit",
    "GrpTRES=billing=3": "{}GrpBilling",
    "GrpTRES=gres/gpu=3": "{}GrpGRES",
    "GrpTRES=license/cfd=1": "{}GrpLicense",
    "GrpTRESMins=cpu=0": "{}GrpCPUMinutesLimit",
    "GrpTRESMins=node=0": "{}GrpNodeMinutes",
    "GrpTRESMins=gres/gpu=0": "{}GrpGRESMinutes",
    "GrpTRESRunMins=cpu=5": "{}GrpCPURunMinutesLimit",
    "GrpTRESRunMins=node=5": "{}GrpNodeRunMinutes",
    "MaxTRESMinsPerJob=cpu=3": "{}MaxCpuMinutesPerJobLimit",
    "MaxTRESMinsPerJob=node=3": "{}MaxNodeMinutesPerJob",
    "MaxTRESPerJob=cpu=1": "{}MaxCpuPerJobLimit",
    "MaxTRESPerJob=node=1": "{}MaxNodePerJobLimit",
    "MaxTRESPerJob=gres/gpu=1": "{}MaxGRESPerJob",
    "MaxTRESPerNode=cpu=0": "{}MaxCpuPerNode",
    "GrpSubmitJobs=1": "{}GrpSubmitJobsLimit",
}
"""Of a QOS and of an association."""

OF_QOS = {
    "MaxJobsPerUser=1": "QOSMaxJobsPerUserLimit",
    "MaxJobsPerAccount=1": "MaxJobsPerAccount",
    "GrpTRESMins=mem=0": "QOSGrpMemoryMinutes",
    "MaxTRESPerJob=mem=1000": "QOSMaxMemoryPerJob",
    "MinTRESPerJob=cpu=3": "QOSMinCpuNotSatisfied",
    "MinTRESPerJob=node=3": "QOSMinNode",
    "MaxTRESPerUser=cpu=3": "QOSMaxCpuPerUserLimit",
    "MaxTRESPerUser=node=3": "QOSMaxNodePerUserLimit",
    "MaxTRESPerUser=mem=3000": "QOSMaxMemoryPerUser",
    "MaxTRESPerUser=gres/gpu=3": "QOSMaxGRESPerUser",
    "MaxTRESPerAccount=cpu=3": "MaxCpuPerAccount",
    "MaxTRESPerAccount=node=3": "MaxNodePerAccount",
    "MaxTRESPerAccount=mem=3000": "MaxMemoryPerAccount",
    "MaxSubmitJobsPerUser=1": "QOSMaxSubmitJobPerUserLimit",
    "MaxSubmitJobsPerAccount=1": "MaxSubmitJobsPerAccount",
}
OF_ASSOCIATIONS = {
    "MaxJobs=1": "AssocMaxJobsLimit",
    "GrpTRESMins=mem=0": "AssocGrpMemMinutes",
    "MaxTRESPerJob=mem=1000": "AssocMaxMemPerJob",
    "MaxSubmitJobs=1": "AssocMaxSubmitJobLimit",
}


def told(limit: str, **keys: Any) -> tuple[list[str], str]:
    """The words for why the second job waits, and the whole text on one line."""
    found = explain(simulate(SITE, TWO, {"backfill": "slurm", "slurm": keys}), 2)
    return [word for one in found.reasons for word in one.words], " ".join(text_of(found).split())


def limits(limit: str) -> dict[str, str]:
    key, _, value = limit.partition("=")
    return {key: value}


@pytest.mark.parametrize(
    ("limit", "word"), [*((k, w.format("QOS")) for k, w in BOTH.items()), *OF_QOS.items()]
)
def test_of_a_qos(limit: str, word: str) -> None:
    words, text = told(limit, qos={"q": limits(limit)})
    assert_says(words, text, limit, word)


@pytest.mark.parametrize(
    ("limit", "word"), [*((k, w.format("Assoc")) for k, w in BOTH.items()), *OF_ASSOCIATIONS.items()]
)
def test_of_an_association(limit: str, word: str) -> None:
    words, text = told(limit, accounts={"a": {"users": {"u": {"limits": limits(limit)}}}})
    assert_says(words, text, limit, word)


def assert_says(words: list[str], text: str, limit: str, word: str) -> None:
    if "Submit" in limit:
        assert f"rejected when it was submitted: {word}" in text
    else:
        assert word in words
        assert OF_LIMITS in text
