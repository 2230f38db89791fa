"""Collective operations: models, sizes, stages with too few buses, levels; by hand."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest

from scheduler_sim.messages.collectives import USUAL, stages
from scheduler_sim.messages.network_keys import MODELS, SIZES, OperationKeys
from scheduler_sim.messages.trace import OPERATIONS
from tests.messages.network import ends, network


def phase(model: str, size: str = "max", out: str = "none", out_size: str = "max") -> OperationKeys:
    return OperationKeys.model_validate(
        {"fan_in": {"model": model, "size": size}, "fan_out": {"model": out, "size": out_size}}
    )


@pytest.mark.parametrize("members", [*range(1, 40), 1000, 1024, 1025])
def test_stages_of_a_tree(members):
    assert stages(members, 0) == ceil(log2(members))
    assert stages(members, members) == ceil(log2(members))
    # with one bus, each message of the tree by itself: all but one member get one
    assert stages(members, 1) == members - 1


def test_stages_with_two_buses():
    assert stages(8, 2) == 2 + 1 + 1  # 4, 2 and 1 messages
    assert stages(7, 2) == 2 + 1 + 1  # 3, 2 and 1


FACTORS = {"none": 0, "constant": 1, "linear": 4, "logarithmic": 3}


@pytest.mark.parametrize("model", MODELS)
def test_models_between_nodes(table, model):
    trace = table(*(f"{p} bcast" for p in range(5)))
    on = network(latency_us=2, flight_us=1, overhead_us=4, collectives={"bcast": phase(model)})
    assert ends(trace, on) == [7 * FACTORS[model]] * 5


TOOK = {"current": 6, "min": 6, "max": 10, "mean": 8, "twice_max": 20, "sum": 16}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("where", ["in", "out"])
def test_sizes(tmp_path, size, where):
    """A process gives up to 6 bytes and gets up to 10; a byte takes 1 µs."""
    from scheduler_sim.messages.reading import read_messages

    path = tmp_path / "t.csv"
    path.write_text("process,kind,bytes,received\n0,gather,6,10\n1,gather,5,1\n")
    keys = phase("constant", size) if where == "in" else phase("none", out="constant", out_size=size)
    on = network(bandwidth_mb_s=1, collectives={"gather": keys})
    expected = 10 if size == "current" and where == "out" else TOOK[size]
    assert ends(read_messages(path), on) == [expected] * 2


def test_levels_add_up_and_the_slowest_node_counts(table):
    # nodes with 3, 3 and 1 processes: within a node 2 stages of 10, between three nodes 2 stages of 3
    trace = table(*(f"{p} bcast" for p in range(7)))
    on = network(3, 3, within={"latency_us": 10}, latency_us=3, collectives={"bcast": phase("logarithmic")})
    assert ends(trace, on) == [26] * 7
    alone = table(*(f"{p} bcast 0|1" for p in range(2)))
    assert ends(alone, on) == [10, 10]
    apart = table(*(f"{p} compute 0" for p in range(7)), "0 bcast 0|6", "6 bcast 0|6")
    assert ends(apart, on)[0] == 3


def test_buses_stretch_trees_between_nodes(table):
    trace = table(*(f"{p} bcast" for p in range(8)))
    on = network(latency_us=3, buses=2, collectives={"bcast": phase("logarithmic")})
    assert ends(trace, on) == [12] * 8


def test_every_operation_has_a_usual_model_and_some_cost(table):
    assert list(USUAL) == list(OPERATIONS) or set(USUAL) == set(OPERATIONS)
    for name in OPERATIONS:
        assert np.min(ends(table(*(f"{p} {name}" for p in range(4))), network(latency_us=1))) >= 2, name
