"""The shape of manifest and metrics: what somebody changed by hand is told, not stumbled over."""

from __future__ import annotations

import json

import pytest

from scheduler_sim.errors import InputError, InvariantError
from scheduler_sim.result.documents import MANIFEST, METRICS, shape_problem
from scheduler_sim.result.result import Result
from tests.result.hand_made import Run, result_of

MODULES = {"CM": 4, "ESB": 2}


def whole():
    return result_of([Run(0, 0, 10, 2)], MODULES)


MANIFESTS = [
    ({"modules": 3}, "modules is 3, not a mapping"),
    ({"modules": {}}, "modules is missing"),
    ({"modules": {"CM": None}}, "modules.CM is missing"),
    ({"modules": {"CM": "4"}}, "modules.CM is '4', not a whole number"),
    ({"modules": {"CM": 2**63}}, "modules.CM is 9223372036854775808, not a whole number"),
    ({"policy": "easy"}, "policy is 'easy', not a mapping"),
    ({"policy": {"slurm": {"OverTimeLimit": []}}}, "policy.slurm.OverTimeLimit is [], not a whole number"),
    ({"inputs": [None]}, "inputs[0] is missing"),
    ({"inputs": {"role": 1}}, "inputs is {'role': 1}, not a list"),
    ({"counts": 5}, "counts is 5, not a mapping"),
    ({"counts": {"requeued": "x"}}, "counts.requeued is 'x', not a number"),
    ({"energy": {"modules": {"CM": {}}}}, "energy.modules.CM.idle_w is missing"),
    ({"energy": {"modules": {"CM": {"idle_w": True}}}}, "energy.modules.CM.idle_w is True, not a number"),
    (
        {"energy": {"modules": {"CM": {"idle_w": 1}}, "cap": {"time": [0], "power_w": []}}},
        "the columns of energy.cap differ in length",
    ),
    (
        {"energy": {"modules": {"CM": {"idle_w": 1}}, "without_signature": {"a": "1"}}},
        "energy.without_signature.a is '1', not a whole number",
    ),
    ({"unmatched": {"types": [1]}}, "unmatched.types[0] is 1, not text"),
    ({"reasons": "yes"}, "reasons is 'yes', not true or false"),
    ({"trace": {"unix_start_time": "now"}}, "trace.unix_start_time is 'now', not a whole number"),
]
SUMMARY = dict.fromkeys(("mean", "median", "p90", "p99", "max"), 1.0)
METRIC = [
    ({"wait_time": None}, "wait_time is missing"),
    ({"wait_time": 5}, "wait_time is 5, not a mapping"),
    ({"wait_time": {**SUMMARY, "p90": None}}, "wait_time.p90 is missing"),
    ({"wait_time": {**SUMMARY, "mean": float("nan")}}, "wait_time.mean is nan, not a number"),
    ({"utilization": {"CM": "x"}}, "utilization.CM is 'x', not a number"),
    ({"offered_load": {"CM": "x"}}, "offered_load.CM is 'x', not a number"),
    ({"warnings": "none"}, "warnings is 'none', not a list"),
    ({"energy": {"power_from": {"signature": 5}}}, "energy.power_from.signature is 5, not a mapping"),
    (
        {"energy": {"power_from": {"signature": {"components": 1}}}},
        "energy.power_from.signature.node_seconds is missing",
    ),
    ({"energy": {"system_j": 1.0}}, "energy.job_j is missing"),
    ({"energy": {"pue": None}}, "energy.pue is missing"),
    ({"energy": {"above_cap_s": 1}}, "energy.above_cap_j is missing"),
]


@pytest.mark.parametrize(("change", "told"), MANIFESTS)
def test_manifests_that_are_none(tmp_path, change, told):
    result = whole()
    result.manifest.update(change)
    assert shape_problem(result.manifest, MANIFEST) == told
    with pytest.raises(InvariantError, match="manifest: "):
        result.check()


@pytest.mark.parametrize(("change", "told"), METRIC)
def test_metrics_that_are_none(change, told):
    result = whole()
    result.metrics.update(change)
    assert shape_problem(result.metrics, METRICS) == told
    with pytest.raises(InvariantError, match="metrics: "):
        result.check()


def test_what_a_run_leaves_is_of_that_shape(tmp_path):
    whole().check()
    Result.load(whole().save(tmp_path / "result")).check()


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        (
            "manifest.json",
            {"modules": {"CM": "4"}},
            r"manifest.json: .*modules.CM is '4', not",
        ),
        ("metrics.json", {"wait_time": 3}, r"metrics.json: .*wait_time is 3, not a mapping"),
        (
            "manifest.json",
            {"modules": {"GPU": 4}},
            r"is not as a run left it: known-modules: ",
        ),
        (
            "manifest.json",
            {"modules": {"CM": 1, "ESB": 2}},
            r"known-modules: .*which has 1",
        ),
    ],
)
def test_results_changed_by_hand_are_not_loaded(tmp_path, file, change, told):
    place = whole().save(tmp_path / "result")
    document = json.loads((place / file).read_text())
    (place / file).write_text(json.dumps({**document, **change}))
    with pytest.raises(InputError, match=told):
        Result.load(place)


def test_a_document_nested_beyond_reason(tmp_path):
    place = whole().save(tmp_path / "result")
    (place / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"manifest.json: not a whole JSON file"):
        Result.load(place)
