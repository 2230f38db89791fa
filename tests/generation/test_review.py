"""Odd recipes and bad ends: exit codes, and that nothing half-written is left."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import generate
from scheduler_sim.cli.main import main
from scheduler_sim.workload import record_lines

OLD = ";".join(["1"] * 14 + ["2"] + ["-1"] * 27) + "\n"
ONE = "modules: [{name: a, nodes: 16, jobs: 50}]\n"


def command(tmp_path, recipe, *options, out="trace.mwf"):
    """Run generate over an older file; return exit code, and what then lies in the directory."""
    (tmp_path / "recipe.yaml").write_text(recipe)
    (tmp_path / out).write_text(OLD)
    code = main(
        ["generate", str(tmp_path / "recipe.yaml"), "--out", str(tmp_path / out), "--quiet", *options]
    )
    (tmp_path / "recipe.yaml").unlink()
    return code, {path.name: path.read_text() for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("recipe", "options", "said"),
    [
        (f"{ONE}model: {{estimates: {{max_estimate: 6000}}}}", (), "max_estimate = 6000"),
        (f"{ONE}model: {{arrivals: {{polynomial: [-1]}}}}", (), "0.001 to 1e+09 jobs a day"),
        (f"{ONE}model: {{arrivals: {{polynomial: [.nan]}}}}", (), "found nan"),
        (ONE, ("--scenario", "HET"), "without workflows"),
        (ONE, ("--scenario", "none"), "DEP, DEP+API"),
        (ONE, ("--seed", "-1"), "2^63"),
        (f"{ONE}workflows: {{percent: 50, shapes: [{{shape: fan_out, width: 16}}]}}", (), "17 components"),
        (f"{ONE}rng: ranlib\nmodel: {{kind: lublin}}", (), "rng: ranlib"),
    ],
)
def test_bad_input_is_said_and_the_older_file_stays(recipe, options, said, tmp_path, capsys):
    assert command(tmp_path, recipe, *options) == (2, {"trace.mwf": OLD})
    assert said in capsys.readouterr().err


def test_ctrl_c_while_writing_leaves_the_older_file(tmp_path, monkeypatch, capsys):
    put = record_lines._put
    calls = []

    def interrupted(*given):
        put(*given)
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(record_lines, "_put", interrupted)
    assert command(tmp_path, ONE) == (130, {"trace.mwf": OLD})
    assert "nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize("rng", ["numpy", "ranlib"])
@pytest.mark.parametrize("reduction", [1, 2])
def test_one_job_on_one_node(rng, reduction):
    trace = generate(
        {
            "rng": rng,
            "modules": [{"name": "a", "nodes": 1, "jobs": 1}],
            "model": {"reduction_factor": reduction},
        }
    )
    assert trace["nodes"].tolist() == [1]
    assert 1 <= trace["run_time"][0] <= trace["time_limit"][0]


def test_a_module_of_one_job_cuts_the_trace_at_it():
    modules = [{"name": "a", "nodes": 50, "jobs": 400}, {"name": "b", "nodes": 50, "jobs": 1}]
    whole, cut = (generate({"modules": modules, "cut": cut}, seed=3) for cut in (False, True))
    last = whole["submit_time"][np.asarray(whole["partition"]) == "b"][0]
    assert cut["submit_time"].tolist() == [time for time in whole["submit_time"].tolist() if time <= last]


def test_days_without_submissions_have_none():
    model = {"arrivals": {"weekly": [0, 0, 1, 0, 0, 1, 0]}}
    trace = generate({"modules": [{"name": "a", "nodes": 50, "jobs": 500}], "model": model}, seed=2)
    assert set((trace["submit_time"] // 86400 % 7).tolist()) == {2, 5}
