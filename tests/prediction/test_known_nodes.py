"""What runs where: running jobs start on the nodes that squeue lists for them."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.prediction.known_nodes import with_known_nodes
from scheduler_sim.prediction.state import State, state_of_queue
from scheduler_sim.workload.squeue import read_squeue

pytestmark = pytest.mark.interpreted

SHARED = {"modules": [{"name": "CM", "nodes": 4, "shared": True, "cores_per_node": 8}]}
SETS = {
    "modules": [
        {
            "name": "CM",
            "nodes": 4,
            "node_sets": [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 3, "features": ["fat"]}],
        }
    ],
    "partitions": [
        {"name": "all", "module": "CM"},
        {"name": "few", "module": "CM", "node_sets": ["b"]},
    ],
}
NUMBERS = {f"n{i}": ("CM", i) for i in range(4)}


def state(nodes, where, cores=-1, partition=""):
    rows = len(nodes)
    jobs = Workload.from_columns(
        nodes=nodes, submit_time=0, run_time=0, time_limit=100, cores=cores, partition=partition
    )
    start = np.array([-1 if text is None else 0 for text in where])
    names = tuple(text or "" for text in where)
    return State(jobs, tuple(map(str, range(rows))), start, np.full(rows, 100), 10, None, names)


def places(known, policy="slurm"):
    """Where each job is, with all that run at once."""
    jobs = known.state.jobs.replace(run_time=100)
    return simulate(known.system, jobs, policy).components["node_list"].tolist()


def test_running_jobs_are_on_their_nodes_where_nodes_are_shared():
    """Without that both would be on the first node."""
    now = state([1, 1, 2], ["n3", "n1", "n[0,3]"], cores=2)
    known = with_known_nodes(now, System.from_dict(SHARED), NUMBERS)
    assert known.elsewhere == 0
    assert places(known) == ["3", "1", "0,3"]


def test_parts_of_node_sets_stay_in_their_partitions():
    now = state([1, 2], ["n2", "n0,n3"], partition=["few", "all"])
    known = with_known_nodes(now, System.from_dict(SETS), NUMBERS)
    assert places(known, "easy") == ["2", "0,3"]
    assert known.system.nodes_of("few") == 3
    assert {"fat"} <= set(known.system.modules[0].sets[-1].features)


def test_what_is_not_known_is_counted_and_takes_any_nodes():
    now = state([1, 2, 1, 1], ["login1", "n1", "n[1", None], cores=1)
    system = System.from_dict(SHARED)
    known = with_known_nodes(now, system, NUMBERS)
    assert (known.state, known.system, known.elsewhere) == (now, system, 3)


def test_where_nodes_are_counted_their_names_do_not_matter():
    now, system = state([1], ["n3"]), System.homogeneous(4)
    assert with_known_nodes(now, system, NUMBERS) == (now, system, 0)


def test_squeue_lists_them(tmp_path):
    path = tmp_path / "squeue.txt"
    path.write_text(
        "JOBID|PARTITION|STATE|TIME|START_TIME|TIME_LIMIT|NODES|FEATURES|ACCOUNT|SUBMIT_TIME|NODELIST|NAME\n"
        "1|(null)|RUNNING|1:00|2026-03-02T09:00:00|1:00:00|2|(null)|(null)|2026-03-02T08:00:00|n[1-2]|(null)\n"
        "2|N/A|PENDING|INVALID|N/A|1:00:00|1|(null)|N/A|2026-03-02T08:00:00||x|y\n"
    )
    queue = read_squeue(path)
    assert queue.nodes == ("n[1-2]", "")
    for name in ("constraint", "account", "partition"):
        assert queue.jobs[name].tolist() == ["", ""], name
    now, _ = state_of_queue(queue, System.homogeneous(4), None)
    assert now.nodes == ("n[1-2]", "")
