"""Modules and node sets of random sites: against the nodes and partitions one by one."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from scheduler_sim.system.slurm_conf.site import read_slurm_conf
from tests.conftest import examples

NAMES = [f"n{i}" for i in range(1, 13)]

nodes = st.lists(
    st.tuples(st.sampled_from(["", "a", "b", "a,b"]), st.sampled_from([2, 4]), st.sampled_from([1, 5])),
    min_size=len(NAMES),
    max_size=len(NAMES),
)
partitions = st.lists(st.sets(st.sampled_from(NAMES), min_size=1, max_size=5), min_size=1, max_size=6)


def text_of(hardware: list[tuple[str, int, int]], covered: list[set[str]]) -> str:
    lines = [
        f"NodeName={name} CPUs={cpus} Weight={weight}" + (f" Feature={features}" if features else "")
        for name, (features, cpus, weight) in zip(NAMES, hardware, strict=True)
    ]
    lines += [f"PartitionName=p{i} Nodes={','.join(sorted(names))}" for i, names in enumerate(covered)]
    return "\n".join(reversed(lines)) + "\n"  # the order of the file does not matter


def reach(covered: list[set[str]], i: int) -> set[str]:
    """All nodes that partition i is connected with, step by step."""
    found = set(covered[i])
    while True:
        more = found.union(*(names for names in covered if names & found))
        if more == found:
            return found
        found = more


@examples(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nodes, partitions)
def test_every_node_and_partition_is_where_it_belongs(tmp_path: Path, hardware, covered) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(text_of(hardware, covered))
    system = read_slurm_conf(path).system
    have = dict(zip(NAMES, hardware, strict=True))
    numbers = {
        m.name: sorted(reach(covered, i), key=NAMES.index)
        for i in range(len(covered))
        for m in [system.module(system.partition(f"p{i}").module)]
    }
    assert {m.name: m.nodes for m in system.modules} == {name: len(own) for name, own in numbers.items()}
    for i, names in enumerate(covered):
        own = numbers[system.partition(f"p{i}").module]
        assert set(own) == reach(covered, i)
        assert system.nodes_of(f"p{i}") == len(names)
        sets = system.sets_of(f"p{i}")
        told_apart = len(system.module(system.partition(f"p{i}").module).sets) > 1  # else no weight is kept
        like = [(one.cores_per_node, sorted(one.features), one.weight) for one, there in sets for _ in there]
        wanted = [
            (c, sorted(filter(None, f.split(","))), w if told_apart else 1)
            for f, c, w in map(have.get, names)
        ]
        assert sorted(like) == sorted(wanted)
        for feature in "ab":
            (choice,) = system.node_choices(f"p{i}", feature)
            assert choice.most == sum(feature in have[name][0].split(",") for name in names)
