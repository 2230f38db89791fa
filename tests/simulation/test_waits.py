"""Why jobs wait: seconds with too few nodes idle, and the rest, under every scheme, by the timeline."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, System, Workload, simulate

NODES = 8
POLICIES = {
    "fcfs": {},
    "easy": {"backfill": "easy"},
    "sjf": {"backfill": "easy", "order": "sjf"},
    "conservative": {"backfill": "conservative"},
    "keep": {"backfill": "conservative", "replan": "keep"},
    "slurm": {"backfill": "slurm"},
}
jobs = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, NODES), st.integers(0, 60), st.integers(1, 90)),
    min_size=1,
    max_size=20,
)


@pytest.mark.interpreted
@pytest.mark.parametrize("policy", POLICIES)
@given(drawn=jobs)
def test_a_job_waits_for_nodes_while_too_few_are_idle(policy, drawn):
    submit, nodes, run, limit = (np.array(column) for column in zip(*drawn, strict=True))
    workload = Workload.from_columns(
        submit_time=np.cumsum(submit), nodes=nodes, run_time=np.minimum(run, limit), time_limit=limit
    )
    result = simulate(System.homogeneous(NODES), workload, Policy(**POLICIES[policy]))
    own = result.timeline[result.timeline["module"] != "total"]
    time, idle = own["time"].to_numpy(), NODES - own["nodes_busy"].to_numpy()
    for job in result.components.itertuples():
        seconds = np.arange(job.eligible_time, job.start_time)
        short = idle[np.searchsorted(time, seconds, side="right") - 1] < job.nodes
        assert job.wait_resources == short.sum()
        assert job.wait_priority == (~short).sum()
