"""Node sets: their numbers, what a partition covers, and which nodes a constraint leaves."""

from __future__ import annotations

import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.system.constraint import parse_constraint
from scheduler_sim.system.system import Module, NodeSet, Partition, System

SETS = (
    NodeSet("fast", 2, ("hbm", "rack1"), memory_gb=8.0, weight=5),
    NodeSet("slow", 3, ("rack1",)),
    NodeSet("old", 4, ("rack2",), cores_per_node=4, memory_gb=1.0),
)
CM = Module("CM", 9, 16, 4.0, features=("intel",), node_sets=SETS)
CLUSTER = System(
    "cluster",
    (CM, Module("ESB", 5, features=("gpu",))),
    (
        Partition("all", "CM"),
        Partition("new", "CM", node_sets=("fast", "slow")),
        Partition("mixed", "CM", node_sets=("fast", "old")),
    ),
)
FAST, SLOW, OLD = range(2), range(2, 5), range(5, 9)


def test_what_the_module_states_holds_for_its_sets_unless_they_say_otherwise() -> None:
    fast, slow, old = CM.sets
    assert (fast.features, slow.features) == (("intel", "hbm", "rack1"), ("intel", "rack1"))
    assert (fast.cores_per_node, slow.cores_per_node, old.cores_per_node) == (16, 16, 4)
    assert (fast.memory_gb, slow.memory_gb, old.memory_gb) == (8.0, 4.0, 1.0)
    assert (CM.least_cores, CM.memory_kb) == (4, 1_048_576)


def test_a_module_of_equal_nodes_is_one_set() -> None:
    esb = CLUSTER.module("ESB")
    assert esb.sets == (NodeSet("ESB", 5, ("gpu",), sockets=1, threads_per_core=1),)
    assert CLUSTER.sets_of("ESB") == ((esb.sets[0], range(5)),)


def test_counting_policies_see_what_every_node_has() -> None:
    assert CM.satisfies("intel")
    assert CM.satisfies("rack1|rack2")
    assert not CM.satisfies("rack1")
    unstated = Module("X", 2, node_sets=(NodeSet("a", 1, memory_gb=2.0), NodeSet("b", 1)))
    assert unstated.memory_kb == 0


def test_nodes_are_numbered_in_the_order_of_the_sets() -> None:
    assert CM.ranges == (FAST, SLOW, OLD)
    assert [numbers for _, numbers in CLUSTER.sets_of("mixed")] == [FAST, OLD]
    assert [CLUSTER.nodes_of(name) for name in ("all", "new", "MIXED", "ESB")] == [9, 5, 6, 5]


@pytest.mark.parametrize(
    ("partition", "constraint", "choices"),
    [
        ("all", "", [([FAST, SLOW, OLD], [])]),
        ("new", "", [([FAST, SLOW], [])]),
        ("all", "rack1", [([FAST, SLOW], [])]),
        ("all", "intel&RACK2", [([OLD], [])]),
        ("new", "rack2", [([], [])]),
        ("mixed", "hbm|rack2", [([FAST, OLD], [])]),
        ("all", "hbm*2", [([FAST, SLOW, OLD], [(2, [FAST])])]),
        ("all", "hbm*1&rack2*3", [([FAST, SLOW, OLD], [(1, [FAST]), (3, [OLD])])]),
        ("new", "[hbm*1&rack2*03]", [([FAST, SLOW], [(1, [FAST]), (3, [])])]),
        ("all", "hbm*1&rack1", [([FAST, SLOW], [(1, [FAST])])]),
        ("all", "[rack1|rack2]", [([FAST, SLOW], []), ([OLD], [])]),
        ("all", "intel&[rack1|rack2|gpu]", [([FAST, SLOW], []), ([OLD], []), ([], [])]),
        ("all", "[rack1|rack2]&hbm*1", [([FAST, SLOW], [(1, [FAST])]), ([OLD], [(1, [])])]),
    ],
)
def test_which_nodes_a_component_may_take(partition, constraint, choices) -> None:
    found = [
        (list(choice.anywhere), [(count, list(ranges)) for count, ranges in choice.at_least])
        for choice in CLUSTER.node_choices(partition, constraint)
    ]
    assert found == choices


def test_nodes_that_are_too_small_are_no_choice() -> None:
    (eight_cores,) = CLUSTER.node_choices("all", cores=8)
    (much_memory,) = CLUSTER.node_choices("all", "rack1", memory_kb=8 * 1_048_576)
    assert eight_cores.anywhere == (FAST, SLOW)
    assert much_memory.anywhere == (FAST,)
    assert [c.most for c in CLUSTER.node_choices("ESB", cores=99)] == [5]  # ESB states no cores


def test_how_many_nodes_there_are_to_choose_from() -> None:
    def most(constraint: str) -> list[int]:
        return [choice.most for choice in CLUSTER.node_choices("all", constraint)]

    assert most("hbm*2") == [9]
    assert most("hbm*3") == [0]
    assert most("[rack1|rack2]") == [5, 4]


@pytest.mark.parametrize("constraint", ["a*2|b", "a|b*2", "a|[b|c]", "(a|[b|c])&d"])
def test_what_slurm_has_no_meaning_for(constraint: str) -> None:
    with pytest.raises(InputError, match="a count or brackets beside"):
        CLUSTER.node_choices("all", constraint)


def test_alternatives_are_limited() -> None:
    many = "&".join(["[a|b]"] * 7)
    with pytest.raises(InputError, match="more than 64 alternatives"):
        CLUSTER.node_choices("all", many)


def test_nodes_are_told_apart_where_a_partition_covers_part_of_a_module() -> None:
    assert CLUSTER.told_apart[0]
    whole = System("whole", (CM,), (Partition("p", "CM", node_sets=("old", "fast", "slow")),))
    assert whole.told_apart == (False,)


def test_a_system_with_sets_comes_back() -> None:
    assert System.from_dict(CLUSTER.to_dict()) == CLUSTER
    assert pickle.loads(pickle.dumps(CLUSTER)) == CLUSTER
    assert "node_sets" not in System.homogeneous(4).to_dict()["modules"][0]
    assert set(System.homogeneous(4).to_dict()["partitions"][0]) == {"name", "module", "priority", "default"}


def test_names_of_sets_keep_the_spelling_of_the_module() -> None:
    data = CLUSTER.to_dict()
    data["partitions"][1]["node_sets"] = ["FAST", "Slow"]
    assert System.from_dict(data).partition("new").node_sets == ("fast", "slow")


plain = st.recursive(
    st.sampled_from(["a", "b", "c"]),
    lambda inner: st.tuples(inner, st.sampled_from("&|"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
    max_leaves=6,
)


@given(plain)
def test_without_counts_and_brackets_each_node_is_judged_by_itself(expression: str) -> None:
    (way,) = parse_constraint(expression).ways()
    assert way.counts == ()
    for size in range(4):
        for features in itertools.combinations("abc", size):
            assert way.every.holds_for(features) == parse_constraint(expression).holds_for(features)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 5)), min_size=1, max_size=4), plain)
def test_counts_are_taken_out_and_the_rest_holds_everywhere(counts: list[tuple[str, int]], rest: str) -> None:
    text = "&".join([*(f"{name}*{n}" for name, n in counts), rest])
    (way,) = parse_constraint(text).ways()
    assert [(n, feature.postfix) for n, feature in way.counts] == [(n, (name,)) for name, n in counts]
    assert way.every == parse_constraint(rest)
