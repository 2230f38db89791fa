"""The manifest names every file that decides the run."""

from __future__ import annotations

import hashlib

import pytest

from scheduler_sim import System, Workload, simulate

pytestmark = pytest.mark.interpreted


def test_policy_and_order_files_are_inputs(tmp_path):
    (tmp_path / "area.py").write_text("def area(nodes, limit):\n    return nodes * limit\n")
    (tmp_path / "area.yaml").write_text("order: area.py:area\nbackfill: easy\n")
    jobs = Workload.from_columns(nodes=[2, 1], submit_time=[0, 0], run_time=[5, 5])
    result = simulate(System.homogeneous(2), jobs, tmp_path / "area.yaml")
    inputs = {one["role"]: one for one in result.manifest["inputs"]}
    assert set(inputs) == {"workload", "policy", "order"}
    for role, name in (("policy", "area.yaml"), ("order", "area.py")):
        digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert inputs[role] == {"role": role, "name": name, "sha256": digest}
