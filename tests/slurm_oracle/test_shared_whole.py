"""With nodes of one core that are given whole, the model of shared nodes is that of whole nodes."""

from __future__ import annotations

import dataclasses

import pytest

from tests.conftest import needs_shared
from tests.oracle.plain_cons_tres_records import Ask, Node, Settings, SharedJob, SharedPartition
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import Job
from tests.slurm_oracle.cases import DATA, Case, Run, case_names, load_case
from tests.slurm_oracle.plain import plain_config, plain_jobs, plain_ops

RECORDED = case_names() if DATA.is_dir() else []
SINGLE = [name for name in RECORDED if not load_case(name).heterogeneous]


def of_one_core(case: Case, run: Run, first: bool) -> SharedSlurm:
    config = plain_config(case, run, {"backfill_first": first})
    config.partitions = {
        name: SharedPartition(part.nodes, part.tier, part.factor, name=name, oversubscribe="EXCLUSIVE")
        for name, part in config.partitions.items()
    }
    jobs = [
        SharedJob(
            **{field.name: getattr(job, field.name) for field in dataclasses.fields(Job)},
            ask=Ask(nodes=(job.nodes, job.nodes)),
        )
        for job in plain_jobs(case)
    ]
    nodes = [Node(1)] * sum(case.nodes.values())
    return SharedSlurm(config, jobs, plain_ops(case, run), nodes=nodes, settings=Settings())


@needs_shared
@pytest.mark.interpreted
@pytest.mark.parametrize(
    "first", [True, pytest.param(False, marks=[pytest.mark.long, pytest.mark.interpreted])]
)
@pytest.mark.parametrize("name", SINGLE)
def test_whole_nodes_of_one_core(name: str, first: bool) -> None:
    case = load_case(name)
    for run in case.runs:
        whole = Slurm(
            plain_config(case, run, {"backfill_first": first}), plain_jobs(case), plain_ops(case, run)
        )
        fates = []
        for slurm in (whole, of_one_core(case, run, first)):
            slurm.run(20_000)
            fates.append([(job.id, job.state, job.start, job.end, job.where) for job in slurm.jobs])
        assert fates[0] == fates[1]
