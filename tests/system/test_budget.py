"""Systems by budget: the systems of D2.3, both roundings, and every mistake."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import System
from scheduler_sim.errors import ConfigError
from scheduler_sim.system.budget import node_counts

COSTS = {"CM": 1, "DAM": 2.5, "ESB": 1}


def by_budget(units: float, rounding: str = "fill", **shares: float) -> System:
    modules = [
        {"name": name, "cost_per_node": COSTS[name], "share_percent": share} for name, share in shares.items()
    ]
    return System.from_dict({"budget": {"units": units, "rounding": rounding}, "modules": modules})


@pytest.mark.parametrize(
    ("shares", "nodes"),
    [
        ({"CM": 100}, {"CM": 165}),
        ({"DAM": 100}, {"DAM": 66}),
        ({"ESB": 100}, {"ESB": 165}),
        ({"CM": 30, "ESB": 70}, {"CM": 50, "ESB": 115}),
        ({"CM": 30, "DAM": 0, "ESB": 70}, {"CM": 50, "ESB": 115}),
    ],
)
def test_the_systems_of_d23_cost_165_units(shares, nodes):
    system = by_budget(165, **shares)
    assert {module.name: module.nodes for module in system.modules} == nodes
    assert sum(module.nodes * module.cost_per_node for module in system.modules) == 165
    assert System.from_dict(system.to_dict()).to_dict() == system.to_dict()


def test_rounding_down_leaves_a_unit():
    assert [module.nodes for module in by_budget(165, "down", CM=30, ESB=70).modules] == [49, 115]


def test_fill_goes_by_the_largest_remainder_that_can_be_paid():
    """10 units: 4.5 nodes at 1, 2.2 at 2.5: 0.5 + 0.5 are left, for one node of the first."""
    assert node_counts(10, [1, 2.5], [45, 55]) == [5, 2]
    assert node_counts(10, [2.5, 1], [55, 45]) == [2, 5]
    assert node_counts(9, [5, 5], [50, 50]) == [1, 0]  # 0.9 each, and 9 units pay for one of them
    assert node_counts(4.9, [5, 5], [50, 50]) == [0, 0]


@given(
    st.floats(0.5, 500),
    st.lists(st.tuples(st.sampled_from([0.5, 1.0, 2.5, 7.0]), st.integers(0, 30)), min_size=1, max_size=3),
)
def test_the_budget_is_kept_and_nothing_is_a_node_off_its_share(units, modules):
    costs, percents = zip(*modules, strict=True)
    for rounding in ("fill", "down"):
        counts = node_counts(units, costs, percents, rounding)
        assert sum(n * cost for n, cost in zip(counts, costs, strict=True)) <= units * (1 + 1e-9)
        for count, cost, percent in zip(counts, costs, percents, strict=True):
            exact = units * percent / 100 / cost
            assert exact - 1 < count < exact + (1 if rounding == "fill" else 1e-6)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"budget": {"units": 0}, "modules": [{"name": "A", "share_percent": 100}]}, "budget.units: found 0"),
        ({"budget": {"units": 9, "rounding": "up"}, "modules": []}, "allowed: fill, down"),
        ({"budget": {"units": 9}, "modules": [{"name": "A"}]}, "modules[0].share_percent: missing"),
        (
            {"budget": {"units": 9}, "modules": [{"name": "A", "share_percent": 50, "nodes": 3}]},
            "found 3 with a",
        ),
        (
            {"budget": {"units": 9}, "modules": [{"name": "A", "share_percent": 101}]},
            "share_percent: found 101",
        ),
        (
            {"budget": {"units": 9}, "modules": [{"name": n, "share_percent": 60} for n in "AB"]},
            "found shares of 120 % in all",
        ),
        ({"budget": {"units": 0.5}, "modules": [{"name": "A", "share_percent": 100}]}, "which buys no node"),
        (
            {"budget": {"units": 9}, "modules": [{"name": "A", "share_percent": 9, "cost_per_node": 0}]},
            "found 0 with a budget; allowed: a number > 0",
        ),
        (
            {"modules": [{"name": "A", "nodes": 2, "share_percent": 100}]},
            "modules[0].share_percent: unknown key",
        ),
    ],
)
def test_mistakes_are_named(data, message):
    with pytest.raises(ConfigError) as error:
        System.from_dict(data)
    assert message in str(error.value)


def test_mistakes_in_a_file_have_lines(tmp_path):
    file = tmp_path / "system.yaml"
    file.write_text("budget: {units: 10}\nmodules:\n  - {name: A, share_percent: 50, nodes: 5}\n")
    with pytest.raises(ConfigError, match=r"system.yaml:3: modules\[0\].nodes: found 5 with a budget"):
        System.from_yaml(file)
