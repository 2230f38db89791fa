"""Random sites and jobs under the plain select/cons_tres: nothing is given twice, and every job ends."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.oracle.plain_cons_tres import place
from tests.oracle.plain_cons_tres_records import Ask, Node, Settings, SharedJob, SharedPartition
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_slurm_records import COMPLETED, RUNNING, Config

NODES = st.builds(
    Node,
    cores=st.sampled_from([2, 4, 8]),
    sockets=st.sampled_from([1, 2]),
    threads=st.sampled_from([1, 1, 2]),
    memory=st.sampled_from([8_000, 16_000]),
    gres=st.sampled_from([{}, {}, {"gpu": 4}, {"gpu:a": 2, "gpu:b": 1}]),
    weight=st.sampled_from([1, 1, 2]),
)
SETTINGS = st.builds(
    Settings,
    memory=st.booleans(),
    whole_sockets=st.sampled_from([False, False, True]),
    lln=st.sampled_from([False, False, True]),
    def_mem_per_cpu=st.sampled_from([0, 500]),
    max_mem_per_cpu=st.sampled_from([0, 0, 1_500]),
)
MEMORY = st.sampled_from([{}, {}, {"mem": 0}, {"mem": 4_000}, {"mem_per_cpu": 900}])
GRES = st.sampled_from([{}, {}, {}, {"gres": {"gpu": 2}}, {"gres": {"gpu:a": 1}}, {"gpus": {"gpu": 3}}])


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    return Ask(
        nodes=draw(st.sampled_from([None, None, None, (1, 1), (2, 2), (1, 3)])),
        tasks=draw(st.sampled_from([None, 1, 2, 3, 7, 12])),
        cpus_per_task=draw(st.sampled_from([None, 1, 1, 2, 3])),
        cpus_per_gpu=draw(st.sampled_from([0, 0, 2])),
        mem_per_gpu=draw(st.sampled_from([0, 0, 1_000])),
        tasks_per_node=draw(st.sampled_from([0, 0, 0, 1, 2])),
        exclusive=draw(st.sampled_from([False] * 9 + [True])),
        oversubscribe=draw(st.booleans()),
        **draw(MEMORY),
        **draw(GRES),
    )


JOBS = st.lists(
    st.tuples(
        *(st.integers(1, 60), st.integers(1, 40), st.integers(1, 2), asks()),
        st.sampled_from(["main", "main", "other"]),
    ),
    min_size=1,
    max_size=16,
)


class Checked(SharedSlurm):
    """Looks at the nodes after each start."""

    def _launch(self, job: SharedJob, now: int, nodes: set[int], by: str) -> None:
        super()._launch(job, now, nodes, by)
        needs = self.needs(job, job.part)
        assert needs.min_nodes <= len(nodes) <= max(needs.limit, needs.min_nodes)
        for name, count in needs.gpus.items():
            found = [value for share in job.shares.values() for value in share.gres.values()]
            assert needs.whole or sum(found) == count, name
        for node in nodes:
            self._look(node, [other for other in self.seen if other.state == RUNNING and node in other.where])

    def _look(self, number: int, here: list[SharedJob]) -> None:
        node, shares = self.machine[number], [job.shares[number] for job in here]
        for name in {job.part for job in here}:
            mine = [job.shares[number] for job in here if job.part == name]
            cores = Counter(core for share in mine for core in share.cores)
            assert cores.keys() <= node.all_cores
            assert max(cores.values()) <= self.c.partitions[name].rows
        assert not self.settings.memory or sum(share.memory for share in shares) <= node.memory
        for name, count in node.gres.items():
            assert sum(share.gres.get(name, 0) for share in shares) <= count
        assert len(here) == 1 or not any(job.whole for job in here)


@examples(100)
@given(
    nodes=st.lists(NODES, min_size=1, max_size=5),
    settings=SETTINGS,
    rows=JOBS,
    sharing=st.tuples(*[st.sampled_from(["NO", "NO", "EXCLUSIVE", "YES:2", "FORCE:1", "FORCE:2"])] * 2),
    resolution=st.sampled_from([1, 60]),
    first=st.booleans(),
)
def test_nothing_is_given_twice_and_every_job_ends(nodes, settings, rows, sharing, resolution, first):
    every = list(range(len(nodes)))
    partitions = {
        "main": SharedPartition(every, name="main", oversubscribe=sharing[0]),
        "other": SharedPartition(every, name="other", place=1, oversubscribe=sharing[1]),
    }
    config = Config(partitions, daemon_start=0, bf_interval=2, bf_resolution=resolution, backfill_first=first)
    jobs = [
        SharedJob(number, submit, [part], 0, runtime, limit, ask=ask)
        for number, (submit, runtime, limit, ask, part) in enumerate(rows, 1)
    ]
    slurm = Checked(config, jobs, nodes=nodes, settings=settings)
    empty = Room(nodes, settings)
    slurm.jobs = [job for job in slurm.jobs if place(empty, slurm.needs(job, job.partitions[0]), set(every))]
    slurm.run(3_000)
    assert all(job.state == COMPLETED for job in slurm.jobs)
