"""The plain model of select/cons_tres: nodes, CPUs and memory of one job, worked out by hand."""

from __future__ import annotations

import pytest

from tests.oracle.plain_cons_tres import place
from tests.oracle.plain_cons_tres_needs import AVAILABLE, ONE_ROW, RESERVED, needs_of
from tests.oracle.plain_cons_tres_records import Ask, Node, Settings, Share, SharedPartition
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_cons_tres_rows import Tenant

CORES = Settings()
MEMORY = Settings(memory=True)
EIGHT = Node(cores=8, memory=16_000)
SOCKETS = Node(cores=4, sockets=2, memory=16_000)


def partition(**more: object) -> SharedPartition:
    return SharedPartition(nodes=[], name="main", **more)


MAIN = partition()


def busy(number: int, node: int, cores: int, *, memory: int = 0, **more: object) -> Tenant:
    """A job that has so many of a node's last cores."""
    last = frozenset(range(8 - cores, 8))
    share = Share(last, cores, memory, more.pop("gres", {}))
    return Tenant(number, {node: share}, more.pop("part", MAIN), more.pop("kind", ONE_ROW))


def room_of(free: list[int], settings: Settings = CORES, node: Node = EIGHT) -> Room:
    """Nodes of eight cores, of which so many are free."""
    tenants = [busy(100 + i, i, 8 - left) for i, left in enumerate(free) if left < 8]
    return Room([node] * len(free), settings, tenants)


def shares(room: Room, ask: Ask, part: SharedPartition = MAIN) -> dict[int, Share] | None:
    return place(room, needs_of(ask, part, room.settings), set(range(len(room.nodes))))


def cpus(room: Room, ask: Ask, part: SharedPartition = MAIN) -> dict[int, int] | None:
    found = shares(room, ask, part)
    return None if found is None else {node: share.cpus for node, share in found.items()}


# ---------------------------------------------------------------------- which nodes


def test_a_job_without_nodes_takes_the_one_node_that_it_fits_best():
    assert cpus(room_of([3, 5, 4, 7]), Ask(tasks=4)) == {2: 4}
    assert cpus(room_of([7, 4, 4]), Ask(tasks=4)) == {1: 4}  # the first of equals


def test_where_none_holds_it_it_fills_them_from_the_first():
    assert cpus(room_of([1, 5, 8, 8]), Ask(tasks=10)) == {0: 1, 1: 5, 2: 4}
    assert cpus(room_of([2, 3, 4, 4]), Ask(tasks=7)) == {0: 2, 1: 3, 2: 2}
    assert cpus(room_of([2, 3]), Ask(tasks=6)) is None


def test_nodes_that_stand_together_are_a_set_of_which_the_tightest_is_taken():
    assert cpus(room_of([4, 4, 0, 3, 3]), Ask(tasks=6)) == {3: 3, 4: 3}


def test_where_no_set_has_enough_the_largest_comes_first():
    assert cpus(room_of([2, 0, 3]), Ask(tasks=4)) == {0: 1, 2: 3}
    assert cpus(room_of([2, 0, 0, 2]), Ask(tasks=3)) == {0: 2, 3: 1}


def test_tasks_are_packed_on_the_first_of_the_nodes_asked_for():
    assert cpus(room_of([8, 8, 8]), Ask(nodes=(2, 2), tasks=8)) == {0: 7, 1: 1}
    assert cpus(room_of([8, 8, 8]), Ask(nodes=(2, 2), tasks=8, tasks_per_node=4)) == {0: 4, 1: 4}


def test_tasks_per_node_alone_say_how_many_nodes():
    assert cpus(room_of([8, 8, 8]), Ask(tasks=6, tasks_per_node=2)) == {0: 2, 1: 2, 2: 2}
    assert cpus(room_of([8, 1, 8]), Ask(nodes=(2, 2), tasks_per_node=2)) == {0: 2, 2: 2}


def test_a_range_of_nodes_takes_the_most_but_makes_do_with_the_least():
    ask = Ask(nodes=(2, 3), tasks=4)
    assert cpus(room_of([4, 4, 4, 4]), ask) == {0: 2, 1: 1, 2: 1}
    assert cpus(room_of([4, 4, 0]), ask) == {0: 3, 1: 1}
    assert cpus(room_of([4, 0, 0]), ask) is None


def test_small_nodes_are_left_out_where_the_first_try_wastes_nodes_on_them():
    """Node 0 would be the first of two, and no node holds the other twelve."""
    assert cpus(room_of([1, 7, 7]), Ask(nodes=(2, 2), tasks=13)) == {1: 7, 2: 6}


def test_the_lower_weight_comes_first():
    room = Room([Node(8, weight=5), Node(8, weight=1), Node(8, weight=1)], CORES)
    assert cpus(room, Ask(tasks=4)) == {1: 4}
    assert cpus(room, Ask(tasks=20)) == {0: 4, 1: 8, 2: 8}


def test_the_least_loaded_node():
    room = room_of([3, 5, 8, 8], Settings(lln=True))
    assert cpus(room, Ask(tasks=2)) == {2: 2}
    assert cpus(room_of([3, 5, 8, 8]), Ask(tasks=2), partition(lln=True)) == {2: 2}
    assert cpus(room_of([3, 5, 4]), Ask(nodes=(2, 2), tasks=2), partition(lln=True)) == {1: 1, 2: 1}


# ---------------------------------------------------------------------- how many CPUs


def test_what_is_left_over_of_tasks_gets_the_cpus_that_were_meant_and_no_more():
    """Three tasks of four CPUs want twelve of these: 6 and 6, on which only a task each fits."""
    assert cpus(room_of([6, 7]), Ask(tasks=3, cpus_per_task=4)) == {0: 6, 1: 4}


def test_cpus_are_rounded_up_to_cores():
    room = Room([Node(cores=4, threads=2)], CORES)
    found = shares(room, Ask(tasks=3))
    assert found == {0: Share(frozenset({0, 1}), 4)}


def test_whole_sockets():
    rule = Settings(whole_sockets=True)
    assert shares(Room([SOCKETS], rule), Ask(tasks=1))[0].cores == {0, 1, 2, 3}
    taken = [busy(1, 0, 1)]
    assert shares(Room([SOCKETS], rule, taken), Ask(tasks=1))[0].cores == {0, 1, 2, 3}
    assert cpus(Room([SOCKETS], rule, taken), Ask(tasks=5)) is None


def test_tasks_go_round_the_sockets_and_the_cpus_of_one_task_stay_together():
    room = Room([SOCKETS], CORES)
    assert shares(room, Ask(tasks=2))[0].cores == {0, 4}
    assert shares(room, Ask(tasks=2, cpus_per_task=2))[0].cores == {0, 1, 2, 3}
    assert shares(room, Ask(tasks=2, cpus_per_task=3))[0].cores == {0, 1, 2, 4, 5, 6}


def test_a_partition_may_limit_its_cpus_of_a_node():
    part = partition(max_cpus_per_node=5)
    mine = Room([EIGHT, EIGHT], CORES, [busy(1, 0, 3, part=part)])
    assert cpus(mine, Ask(tasks=6), part) == {0: 2, 1: 4}
    assert cpus(mine, Ask(nodes=(1, 1), exclusive=True), part) is None


# ---------------------------------------------------------------------- memory


def test_memory_per_cpu_takes_cpus_away():
    """16 GB hold four CPUs of 3500 MB, 4 GB one, 12 GB three."""
    tenants = [busy(1, 1, 1, memory=12_000), busy(2, 2, 1, memory=4_000)]
    found = shares(Room([EIGHT] * 3, MEMORY, tenants), Ask(tasks=8, mem_per_cpu=3500))
    assert {node: (share.cpus, share.memory) for node, share in found.items()} == {
        0: (4, 14_000),
        1: (1, 3_500),
        2: (3, 10_500),
    }


def test_memory_for_part_of_a_task_is_of_no_use():
    """12 GB would hold three CPUs of 3500 MB, but tasks are of two."""
    tenants = [busy(1 + node, node, 1, memory=4_000) for node in range(3)]
    room = Room([EIGHT] * 3, MEMORY, tenants)
    assert cpus(room, Ask(tasks=3, cpus_per_task=2, mem_per_cpu=3_500)) == {0: 2, 1: 2, 2: 2}


def test_memory_per_node_is_taken_of_each():
    found = shares(Room([EIGHT] * 2, MEMORY), Ask(nodes=(2, 2), tasks=2, mem=9_000))
    assert [share.memory for share in found.values()] == [9_000, 9_000]
    half = Room([EIGHT] * 2, MEMORY, [busy(1, 0, 1, memory=8_000)])
    assert cpus(half, Ask(tasks=1, mem=9_000)) == {1: 1}


def test_who_asks_for_no_memory_gets_the_default_or_all_of_it():
    part = partition(def_mem_per_cpu=1_000)
    assert shares(Room([EIGHT], MEMORY), Ask(tasks=2), part)[0].memory == 2_000
    taken = [busy(1, 0, 1, memory=1)]
    for ask in (Ask(tasks=1), Ask(tasks=1, mem=0), Ask(tasks=1, mem_per_cpu=0)):
        assert shares(Room([EIGHT], MEMORY), ask)[0].memory == 16_000
        assert shares(Room([EIGHT], MEMORY, taken), ask) is None


def test_memory_that_is_not_counted_is_not_taken():
    assert shares(Room([EIGHT], CORES), Ask(tasks=1, mem=99_000))[0].memory == 0


@pytest.mark.parametrize(
    ("ask", "given"),
    [
        (Ask(tasks=2, mem_per_cpu=3_000), (4, 6_000)),  # twice the CPUs, half the memory of each
        (Ask(tasks=2, mem_per_cpu=2_000), (2, 4_000)),
        (Ask(mem_per_cpu=3_000), (2, 3_000)),
        (Ask(nodes=(1, 1), tasks=1, mem=12_000), (6, 12_000)),
        (Ask(nodes=(1, 1), tasks_per_node=2, mem=12_000), (6, 12_000)),  # three CPUs a task
    ],
)
def test_who_asks_for_more_than_max_mem_per_cpu_gets_more_cpus(ask: Ask, given: tuple[int, int]):
    room = Room([EIGHT], Settings(memory=True, max_mem_per_cpu=2_000))
    assert [(share.cpus, share.memory) for share in shares(room, ask).values()] == [given]


# ---------------------------------------------------------------------- who is beside whom


def test_an_exclusive_job_takes_all_of_an_empty_node():
    room = Room([EIGHT, EIGHT], MEMORY, [busy(1, 0, 1)])
    found = shares(room, Ask(nodes=(1, 1), exclusive=True, mem_per_cpu=1_000))
    assert found == {1: Share(EIGHT.all_cores, 8, 8_000)}
    assert shares(room, Ask(nodes=(1, 1), exclusive=True, mem_per_cpu=3_000)) is None


@pytest.mark.parametrize("oversubscribe", ["NO", "EXCLUSIVE", "FORCE:1", "FORCE:2"])
@pytest.mark.parametrize(
    ("kind", "there", "beside"),
    [
        (ONE_ROW, "NO", ["NO"]),
        (RESERVED, "EXCLUSIVE", []),
        (AVAILABLE, "FORCE:1", ["NO", "FORCE:1", "FORCE:2"]),
        (AVAILABLE, "FORCE:2", ["FORCE:1", "FORCE:2"]),
    ],
)
def test_jobs_of_partitions_that_share_cores_keep_apart(
    kind: int, there: str, beside: list[str], oversubscribe: str
):
    """A job on one core of a node; who may have another."""
    other = partition(oversubscribe=there)
    room = Room([EIGHT], CORES, [busy(1, 0, 1, part=other, kind=kind)])
    assert (cpus(room, Ask(tasks=1), partition(oversubscribe=oversubscribe)) is not None) == (
        oversubscribe in beside
    )


def test_cores_may_have_as_many_jobs_as_there_are_rows():
    part = partition(oversubscribe="FORCE:2")
    one = Tenant(1, {0: Share(EIGHT.all_cores, 8)}, part, AVAILABLE)
    first = Room([EIGHT], CORES, [one])
    assert cpus(first, Ask(tasks=8), part) == {0: 8}
    second = Room([EIGHT], CORES, [one, Tenant(2, {0: Share(frozenset({0, 1}), 2)}, part, AVAILABLE)])
    assert shares(second, Ask(tasks=6), part)[0].cores == {2, 3, 4, 5, 6, 7}  # beside the second
    assert cpus(second, Ask(tasks=7), part) is None


def test_who_may_share_cores_takes_free_ones_first():
    part = partition(oversubscribe="YES:2")
    room = Room([EIGHT], CORES, [busy(1, 0, 6, part=part, kind=AVAILABLE)])
    assert shares(room, Ask(tasks=2, oversubscribe=True), part)[0].cores == {0, 1}
    assert shares(room, Ask(tasks=3, oversubscribe=True), part)[0].cores == {0, 1, 2}
    assert needs_of(Ask(tasks=1), part, CORES).kind == ONE_ROW


# ---------------------------------------------------------------------- GRES

GPUS = [Node(8, gres={"gpu": 4}), Node(8, gres={"gpu": 2}), Node(8)]


def test_gpus_per_node_are_free_there():
    one = Ask(nodes=(1, 1), tasks=2, gres={"gpu": 1})
    assert shares(Room(GPUS, CORES), one) == {0: Share(frozenset({0, 1}), 2, 0, {"gpu": 1})}
    taken = [busy(1, 0, 1, gres={"gpu": 3}), busy(2, 1, 1, gres={"gpu": 1})]
    room = Room(GPUS, CORES, taken)
    assert cpus(room, Ask(nodes=(1, 1), tasks=1, gres={"gpu": 2})) is None
    assert cpus(room, Ask(nodes=(2, 2), tasks=2, gres={"gpu": 1})) == {0: 1, 1: 1}


def test_a_job_that_says_no_tasks_may_use_all_of_a_node():
    """To it nodes with GPUs differ by their CPUs; a range of nodes is not cut down to one for each task."""
    room = Room(GPUS, CORES, [busy(1, 1, 5)])
    assert cpus(room, Ask(gres={"gpu": 1})) == {1: 1}
    assert cpus(room, Ask(tasks=1, gres={"gpu": 1})) == {0: 1}
    assert cpus(room_of([8, 8, 8]), Ask(nodes=(1, 2))) == {0: 1, 1: 1}
    assert cpus(room_of([8, 8, 8]), Ask(nodes=(1, 2), tasks=1)) == {0: 1}
    assert cpus(room_of([8, 8, 8]), Ask(nodes=(2, 2), tasks=1)) == {0: 1}


def test_nodes_are_alike_to_a_job_that_wants_gpus_of_each():
    """Of a node it uses no more CPUs than its tasks, so that the first is as good as one with fewer free."""
    room = Room(GPUS, CORES, [busy(1, 1, 5)])
    assert cpus(room, Ask(nodes=(1, 1), tasks=3, gres={"gpu": 1})) == {0: 3}
    assert cpus(room, Ask(nodes=(1, 1), tasks=3)) == {1: 3}


def test_gpus_in_all_are_gathered_over_nodes():
    """Four tasks fit the first node, but not five GPUs: the second gives its own, and a core."""
    found = shares(Room(GPUS, CORES), Ask(tasks=4, gpus={"gpu": 5}))
    assert {node: (share.cpus, share.gres) for node, share in found.items()} == {
        0: (3, {"gpu": 4}),
        1: (1, {"gpu": 1}),
    }


def test_a_gpu_is_left_for_each_node_to_come():
    found = shares(Room(GPUS, CORES), Ask(nodes=(2, 2), tasks=2, gpus={"gpu": 4}))
    assert [share.gres for share in found.values()] == [{"gpu": 3}, {"gpu": 1}]


def test_nodes_with_more_of_the_gpus_wanted_in_all_come_first():
    room = Room([Node(8, gres={"gpu": 1}), Node(8, gres={"gpu": 4})], CORES)
    assert cpus(room, Ask(tasks=2, gpus={"gpu": 2})) == {1: 2}
    assert cpus(room, Ask(tasks=2, gpus={"gpu": 1})) == {0: 2}


def test_gpus_of_each_task_limit_the_tasks_of_a_node():
    """Four GPUs are for two tasks of two, the node with two GPUs is for the third, though cores are free."""
    ask = Ask(tasks=3, gpus_per_task={"gpu": 2})
    found = shares(Room(GPUS, CORES), ask)
    assert {node: (share.cpus, share.gres) for node, share in found.items()} == {
        0: (2, {"gpu": 4}),
        1: (1, {"gpu": 2}),
    }
    assert shares(Room(GPUS, CORES, [busy(1, 1, 1, gres={"gpu": 1})]), ask) is None
    assert needs_of(Ask(gpus={"gpu": 6}, gpus_per_task={"gpu": 2}), MAIN, CORES).tasks == 3


def test_a_range_of_nodes_has_no_more_nodes_than_gpus():
    assert cpus(Room([GPUS[0]] * 3, CORES), Ask(nodes=(1, 3), tasks=3, gpus={"gpu": 2})) == {0: 3}
    assert needs_of(Ask(nodes=(1, 3), gpus={"gpu": 2}), MAIN, CORES).asked_nodes == 2


def test_gpus_bring_their_cpus_along():
    two = {"nodes": (1, 1), "tasks": 1, "gres": {"gpu": 2}}
    room = Room(GPUS, CORES)
    assert cpus(room, Ask(**two, cpus_per_gpu=3)) == {0: 6}
    part = partition(def_cpu_per_gpu=2)
    assert cpus(room, Ask(**two), part) == {0: 4}
    assert cpus(room, Ask(**two, cpus_per_task=1), part) == {0: 1}
    assert cpus(room, Ask(nodes=(1, 1), tasks=1), part) == {0: 1}


def test_a_node_has_no_more_gpus_than_cpus_for_them():
    """On the first node five cores are free, which is enough for two of its four GPUs."""
    room = Room(GPUS, CORES, [busy(1, 0, 3)])
    found = shares(room, Ask(tasks=2, gpus={"gpu": 4}, cpus_per_gpu=2))
    assert {node: (share.cpus, share.gres) for node, share in found.items()} == {
        0: (4, {"gpu": 2}),
        1: (4, {"gpu": 2}),
    }
    assert cpus(room, Ask(nodes=(1, 1), tasks=1, gres={"gpu": 3}, cpus_per_gpu=2)) is None


def test_memory_for_each_gpu_takes_the_place_of_the_default():
    nodes = [Node(8, memory=16_000, gres={"gpu": 4})]
    part = partition(def_mem_per_cpu=1_000, def_mem_per_gpu=5_000)
    ask = {"nodes": (1, 1), "tasks": 1}
    room = Room(nodes, MEMORY)
    assert shares(room, Ask(**ask, gres={"gpu": 3}), part)[0].memory == 15_000
    assert shares(room, Ask(**ask, gres={"gpu": 4}), part) is None
    assert shares(room, Ask(**ask, gres={"gpu": 4}, mem=100), part)[0].memory == 100
    assert shares(room, Ask(**ask), part)[0].memory == 1_000
    assert shares(room, Ask(**ask, gres={"gpu": 1}, exclusive=True), part) is None


def test_types_of_gpus():
    room = Room([Node(8, gres={"gpu:v100": 2}), Node(8, gres={"gpu:a100": 2, "gpu:v100": 2})], CORES)
    named = shares(room, Ask(nodes=(1, 1), tasks=1, gres={"gpu:a100": 1}))
    assert named[1].gres == {"gpu:a100": 1}
    any_type = shares(room, Ask(nodes=(1, 1), tasks=1, gres={"gpu": 3}))
    assert any_type[1].gres == {"gpu:a100": 2, "gpu:v100": 1}


def test_a_job_with_a_node_to_itself_has_its_gpus_too():
    found = shares(Room(GPUS, CORES), Ask(nodes=(1, 1), exclusive=True))
    assert found[0].gres == {"gpu": 4}
    used = [busy(1, 0, 0, gres={"gpu": 1})]
    assert 0 not in shares(Room(GPUS, CORES, used), Ask(nodes=(1, 1), exclusive=True))
