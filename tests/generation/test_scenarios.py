"""The five scenarios: a worked example by hand, all shapes against a plain recursion, and the reference."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import read_trace, write_trace
from scheduler_sim.generation.generate import Generated
from scheduler_sim.generation.merge import BaseTrace, merge
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.generation.reference_draws import ReferenceDraws
from scheduler_sim.generation.scenarios import SCENARIOS, columns_of, hand_over
from scheduler_sim.generation.shapes import KINDS, Shape, chain
from scheduler_sim.generation.single import SingleTrace
from scheduler_sim.generation.workflows import WorkflowLaw, Workflows
from scheduler_sim.workload.table import Workload
from tests.conftest import ROOT, SHARED, needs_shared

ORACLE = SHARED / "data" / "generator_oracle" / "indep"
FILES = {"DEP": "dep", "DEP+API": "dep_api", "HET": "het_std", "HET+DELAY": "het", "HET+DELAY+API": "het_api"}
EXACT = ROOT / "workloads" / "reference-24.yaml"


def worked_example():
    """Three components of a chain as the reference had them: rows 73 to 75 of its sample."""
    limit, run = np.array([12507, 11825, 24028]), np.array([50, 2657, 24028])
    count = np.arange(3)
    trace = BaseTrace(count, count, 128269 + count, np.array([1, 1, 5]), limit, run, np.full(3, -1))
    delay = np.array([0.5, 7875 / 12507, 7967 / 11825])
    api = np.array([44 / 50, 1973 / 2657, 0.5])
    return trace, Workflows(count, {chain(3): np.array([0])}, delay, api)


def test_worked_example_by_hand():
    trace, workflows = worked_example()
    said = hand_over(trace, workflows)
    assert said.delay.tolist() == [-1, 7875, 15842]
    assert said.call.tolist() == [44, 1973, -1]
    dep = columns_of(trace, workflows, "DEP+API")
    assert list(dep["dependency_ids"]) == ["", "1", "2"]
    assert list(dep["dependency_kinds"]) == ["", "AFTEROK", "AFTEROK"]
    assert list(dep["api_calls"]) == ["44", "1973", ""]
    assert dep["submit_time"].tolist() == [128269] * 3
    delayed = columns_of(trace, workflows, "HET+DELAY")
    assert delayed["time_limit"].tolist() == [48360] * 3
    assert delayed["modular_job_id"].tolist() == [1, 1, 1]
    assert "api_calls" not in delayed
    packed = columns_of(trace, workflows, "HET")
    assert packed["time_limit"].tolist() == [24028 + 15842] * 3
    assert packed["run_time"].tolist() == [50, 2657 + 44, 24028 + 1973 + 44]
    assert "delay" not in packed


@given(st.sampled_from(KINDS), st.integers(2, 4), st.integers(1, 3), st.integers(0, 2**31))
def test_hand_over_of_every_shape_is_the_plain_recursion(kind, width, depth, seed):
    shape = chain(depth + 1) if kind == "chain" else Shape(kind, width, depth)
    rows = shape.components
    random = np.random.default_rng(seed)
    limit = random.integers(1, 10_000, rows)
    trace = BaseTrace(
        np.zeros(rows, int), np.arange(rows), np.arange(rows), np.ones(rows, int), limit,
        np.maximum(limit // 2, 1), np.full(rows, -1),
    )  # fmt: skip
    workflows = Workflows(
        np.arange(rows),
        {shape: np.array([0])},
        random.uniform(0.5, 0.9, rows),
        random.uniform(0.5, 0.9, rows),
    )
    said = hand_over(trace, workflows)
    before = {q: [p for p, r in shape.links() if r == q] for q in range(rows)}

    def due(q):
        waits = [max(due(p), 0) + round(float(workflows.delay_factor[q] * limit[p])) for p in before[q]]
        return max(waits, default=-1)

    def calls(p):
        return round(float(workflows.api_factor[p] * trace.run_time[p]))

    def waited(q):
        return max((waited(p) + calls(p) for p in before[q]), default=0)

    def path(q):
        return int(limit[q]) + max((path(p) for p in before[q]), default=0)

    assert said.delay.tolist() == [due(q) for q in range(rows)]
    assert said.waited.tolist() == [waited(q) for q in range(rows)]
    assert said.path.tolist() == [max(path(q) for q in range(rows))] * rows
    followed = {p for p, _ in shape.links()}
    assert said.call.tolist() == [calls(p) if p in followed else -1 for p in range(rows)]
    packed = columns_of(trace, workflows, "HET")
    assert (packed["time_limit"] >= packed["run_time"]).all()
    assert (packed["time_limit"] >= limit + np.maximum(said.delay, 0)).all()
    text = list(columns_of(trace, workflows, "DEP")["dependency_ids"])
    assert text == [",".join(str(p + 1) for p in sorted(before[q])) for q in range(rows)]


def read_input():
    with gzip.open(ORACLE / "input_concatenated.swf.gz", "rt") as lines:
        records = [line.split(";") for line in lines]
    traces = []
    for name in ("cm", "esb", "dam"):
        own = [[int(r[1]), int(r[4]), int(r[8]), int(r[3]), -1] for r in records if r[15] == name]
        traces.append(SingleTrace(*np.array(own).T))
    return traces


@needs_shared
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_stages_give_the_files_of_the_reference_byte_for_byte(scenario, tmp_path):
    base = merge(read_input(), cut=False)
    draws = ReferenceDraws(63)
    draws.module_lists(base.module, (1, 1, 2))
    workflows = draws.workflows(0.13, 3, WorkflowLaw(0.13, {}), base, (50, 75, 16))
    number = np.arange(1, len(base.nodes) + 1)
    columns = {
        **columns_of(base, workflows, scenario),
        "nodes": base.nodes,
        "partition": np.array(["cm", "esb", "dam"], dtype=object)[base.module],
        "processes_per_node": 1,
        "threads_per_process": 1,
        "modular_job_name": [f"job{n}" for n in number],
        "name": [f"job{n - 1}" for n in number],
    }
    assert write_trace(Workload(columns), tmp_path / "trace.mwf") == []
    assert (tmp_path / "trace.mwf").read_bytes() == gzip.decompress(
        (ORACLE / f"{FILES[scenario]}.mwf.gz").read_bytes()
    )


@needs_shared
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_recipe_with_seeds_gives_the_same_files(scenario, tmp_path):
    """From seeds to bytes: both of the reference's generators, and everything between."""
    write_trace(Generated(Recipe.from_yaml(EXACT)).scenario(scenario), tmp_path / "trace.mwf")
    assert (tmp_path / "trace.mwf").read_bytes() == gzip.decompress(
        (ORACLE / f"{FILES[scenario]}.mwf.gz").read_bytes()
    )


def test_the_reference_draws_workflows_without_looking_at_the_data():
    """344 workflows of seed 63, whatever the trace, where nothing stops a chain."""
    count = 3000
    ones = np.ones(count, dtype=np.int64)
    trace = BaseTrace(np.arange(count) % 3, ones, ones, ones, ones, ones, -ones)
    draws = ReferenceDraws(63)
    draws.module_lists(np.repeat([0, 1, 2], 1000), (1, 1, 2))
    workflows = draws.workflows(0.13, 3, WorkflowLaw(0.13, {}), trace, (50, 75, 16))
    assert workflows.components() == pytest.approx(733, abs=12)


def test_all_scenarios_are_one_base_workload(tmp_path):
    generated = Generated(Recipe.from_yaml(EXACT), 5)
    traces = {}
    for scenario in SCENARIOS:
        path = tmp_path / f"{SCENARIOS.index(scenario)}.mwf"
        write_trace(generated.scenario(scenario), path)
        traces[scenario] = read_trace(path)
    dep = traces["DEP"]
    plain = ~np.isin(np.arange(3000), np.flatnonzero(traces["HET"]["components_total"] > 1))
    assert 0.6 < plain.mean() < 0.9
    for trace in traces.values():
        for column in ("component_id", "submit_time", "nodes", "partition"):
            assert np.array_equal(trace[column], dep[column]), column
        for column in ("run_time", "time_limit", "delay", "api_calls"):
            assert np.array_equal(trace[column][plain], dep[column][plain]), column
    for one, other in (("DEP", "DEP+API"), ("HET+DELAY", "HET+DELAY+API")):
        differing = [c for c in dep.table if not np.array_equal(traces[one][c], traces[other][c])]
        assert differing == ["api_calls"]
    assert np.array_equal(traces["DEP+API"]["api_calls"], traces["HET+DELAY+API"]["api_calls"])
    assert traces["HET+DELAY"].not_honoured()["delay"] == len(dep.dependencies())
