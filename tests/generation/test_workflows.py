"""Shapes of workflows, how they are laid over a trace, and the shares that come of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.generation.generate import Generated
from scheduler_sim.generation.merge import BaseTrace, merge
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.generation.shapes import KINDS, Shape, chain
from scheduler_sim.generation.single import SingleTrace
from scheduler_sim.generation.workflows import (
    WorkflowLaw,
    extension_chains,
    extension_for_share,
    lay,
    start_for_share,
)

D23 = {
    "jobs": 1000,
    "modules": [
        {"name": "CM", "nodes": 50},
        {"name": "ESB", "nodes": 75},
        {"name": "DAM", "nodes": 16, "model": {"reduction_factor": 2}},
    ],
}


def trace_of(nodes, module=0, cancelled=()):
    count = len(nodes)
    lag = np.full(count, -1)
    lag[list(cancelled)] = 60
    modules = np.full(count, module) if np.ndim(module) == 0 else np.array(module)
    ones = np.ones(count, dtype=np.int64)
    return BaseTrace(modules, np.arange(count), np.arange(count), np.array(nodes), 100 * ones, 50 * ones, lag)


def draws(count, start=0.0, shape=0.0):
    return {
        "start": np.full(count, start),
        "shape": np.full(count, shape),
        "delay": np.zeros(count),
        "api": np.zeros(count),
    }


def test_links_of_the_shapes_by_hand():
    assert chain(3).links() == [(0, 1), (1, 2)]
    assert Shape("fan_out", 2, 1).links() == [(0, 1), (0, 2)]
    assert Shape("fan_in", 2, 2).links() == [(0, 1), (2, 3), (1, 4), (3, 4)]
    assert Shape("diamond", 2, 1).links() == [(0, 1), (0, 2), (1, 3), (2, 3)]


@given(st.sampled_from(KINDS), st.integers(1, 5), st.integers(1, 5))
def test_every_shape_is_one_piece_in_topological_order(kind, width, depth):
    shape = Shape(kind, 1 if kind == "chain" else width, depth)
    links = shape.links()
    assert len(set(links)) == len(links)
    assert all(0 <= p < q < shape.components for p, q in links)
    linked = {0}
    for _ in range(shape.components):
        linked |= {b for a, b in links if a in linked} | {a for a, b in links if b in linked}
    assert linked == set(range(shape.components))
    consumers = [q for _, q in links]
    assert consumers == sorted(consumers)


def test_workflows_take_the_rows_that_follow():
    law = WorkflowLaw(1.0, {chain(2): 1.0})
    found = lay(law, trace_of([1, 1, 1, 1, 1]), [10], draws(5))
    assert {shape: rows.tolist() for shape, rows in found.heads.items()} == {chain(2): [0, 2]}
    assert found.components() == 4


def test_a_chain_ends_where_its_module_is_full_and_other_shapes_do_not_begin():
    trace = trace_of([4, 4, 4, 1, 1])
    chains = lay(WorkflowLaw(1.0, {chain(3): 1.0}), trace, [10], draws(5))
    assert {shape: rows.tolist() for shape, rows in chains.heads.items()} == {chain(2): [0], chain(3): [2]}
    fans = lay(WorkflowLaw(1.0, {Shape("fan_out", 2, 1): 1.0}), trace, [10], draws(5))
    assert {shape: rows.tolist() for shape, rows in fans.heads.items()} == {Shape("fan_out", 2, 1): [1]}


def test_modules_are_counted_apart():
    trace = trace_of([6, 6, 6, 6], module=[0, 1, 0, 1])
    found = lay(WorkflowLaw(1.0, {chain(4): 1.0}), trace, [10, 20], draws(4))
    assert {shape: rows.tolist() for shape, rows in found.heads.items()} == {chain(2): [0, 2]}


def test_cancelled_jobs_are_passed_over():
    found = lay(WorkflowLaw(1.0, {chain(2): 1.0}), trace_of([1] * 6, cancelled=[1, 2]), [10], draws(6))
    assert found.members(chain(2)).tolist() == [[0, 3], [4, 5]]


@pytest.mark.parametrize("most", [2, 3, 5])
@pytest.mark.parametrize("extension", [0.13, 0.2, 0.6])
def test_extending_job_by_job_is_drawing_chains(extension, most):
    """The plain way of the reference, against the law of the shapes."""
    shapes = extension_chains(extension, most)
    assert sum(shapes.values()) == pytest.approx(1.0)
    law = WorkflowLaw(extension, shapes)
    random = np.random.default_rng(5)
    jobs = inside = 0
    for _ in range(40_000):
        length = 1
        while length < most and random.random() < extension:
            length += 1
        jobs, inside = jobs + length, inside + (length if length > 1 else 0)
    assert law.share() == pytest.approx(inside / jobs, abs=0.012)
    assert extension_for_share(law.share(), most) == pytest.approx(extension, abs=1e-9)
    assert start_for_share(law.share(), shapes) == pytest.approx(extension)


@pytest.mark.parametrize(("percent", "share"), [(13, 24.1), (20, 34.5)])
def test_realised_share_of_jobs_in_workflows(percent, share):
    recipe = Recipe.of(**D23, workflows={"extension_percent": percent})
    shares = [100 * Generated(recipe, seed).workflows.components() / 3000 for seed in range(20)]
    assert np.mean(shares) == pytest.approx(share, abs=0.8)
    assert max(abs(found - share) for found in shares) <= 3.5  # the law's own spread: sd 1.2
    assert abs(shares[0] - share) <= 2.5


def test_a_share_of_shapes_is_met():
    shapes = [
        {"shape": "chain", "percent": 40, "depth": {2: 50, 4: 50}},
        {"shape": "fan_out", "percent": 20, "width": {2: 80, 3: 20}},
        {"shape": "fan_in", "percent": 20, "width": 2, "depth": 2},
        {"shape": "diamond", "percent": 20, "width": 3, "depth": {1: 50, 2: 50}},
    ]
    modules = [{"name": "A", "nodes": 4000, "jobs": 40_000}]
    generated = Generated(Recipe.of(modules=modules, workflows={"percent": 30, "shapes": shapes}), 3)
    assert generated.workflows.components() / 40_000 == pytest.approx(0.30, abs=0.001)
    number = {shape: len(rows) for shape, rows in generated.workflows.heads.items()}
    total = sum(number.values())
    assert number[chain(2)] / total == pytest.approx(0.20, abs=0.025)
    assert number[Shape("fan_out", 3, 1)] / total == pytest.approx(0.04, abs=0.015)
    assert number[Shape("diamond", 3, 2)] / total == pytest.approx(0.10, abs=0.02)


def test_merging_is_stable_and_cuts_where_asked():
    first = SingleTrace(*(np.array(column) for column in ([5, 9], [1, 1], [9, 9], [9, 9], [-1, -1])))
    second = SingleTrace(*(np.array(column) for column in ([5, 20], [2, 2], [9, 9], [9, 9], [-1, -1])))
    whole = merge([first, second], cut=False)
    assert whole.module.tolist() == [0, 1, 0, 1]
    assert whole.submit_time.tolist() == [5, 5, 9, 20]
    assert merge([first, second], cut=True).submit_time.tolist() == [5, 5, 9]


@pytest.mark.parametrize("shape", [{"shape": "chain", "depth": 3}, {"shape": "diamond", "width": 8}])
@pytest.mark.parametrize("preset", ["deep-est", "cirne-berman"])
def test_a_stated_share_is_met_although_many_do_not_fit(shape, preset):
    recipe = Recipe.of(**D23, model={"preset": preset}, workflows={"percent": 24, "shapes": [shape]})
    generated = Generated(recipe, 1)
    assert generated.workflows.components() / 3000 == pytest.approx(0.24, abs=0.006)
