"""The sample traces that ship are what their recipes make, and do what their pages say."""

from __future__ import annotations

import runpy

import pytest

from scheduler_sim import read_trace, simulate, write_trace
from scheduler_sim.generation.generate import generate
from scheduler_sim.messages.reading import write_messages
from scheduler_sim.workload.summary import summarise
from tests.conftest import ROOT

WORKLOADS = ROOT / "workloads"


@pytest.mark.parametrize("name", ["sample-1000.swf", "sample-modular.mwf"])
def test_samples_are_what_their_recipes_make(name, tmp_path):
    write_trace(generate(WORKLOADS / f"{name[:-4]}.yaml"), tmp_path / name)
    assert (tmp_path / name).read_bytes() == (WORKLOADS / name).read_bytes()


def test_every_sample_is_made_anew_by_make():
    rule = (ROOT / "Makefile").read_text(encoding="utf-8").split("\nsamples:")[1].split("\n\n")[0]
    samples = [path.name for path in WORKLOADS.glob("sample-*") if path.suffix != ".yaml"]
    assert sorted(samples) == [
        *("sample-1000.swf", "sample-benchmarks.csv", "sample-modular.mwf"),
        *("sample-sacct.txt", "sample-site", "sample-squeue.txt"),
    ]
    scripts = {
        "sample-benchmarks.csv": "benchmark_like.py",
        "sample-sacct.txt": "sacct_like.py",
        "sample-squeue.txt": "queue_like.py",
        "sample-site": "site_dumps.py",
    }
    for name, script in scripts.items():
        assert name in (WORKLOADS / script).read_text(encoding="utf-8")
        assert f"python workloads/{script}\n" in rule + "\n"
    assert all(f"--out workloads/{name}" in rule for name in samples if name not in scripts)


def test_sample_message_traces_are_what_their_script_makes(tmp_path):
    made = runpy.run_path(str(WORKLOADS / "message_traces.py"))["samples"]()
    assert sorted(made) == sorted(path.name for path in (WORKLOADS / "messages").iterdir())
    for name, trace in made.items():
        path = write_messages(trace, tmp_path / name)
        assert path.read_bytes() == (WORKLOADS / "messages" / name).read_bytes()


def test_plain_sample_is_what_its_header_says():
    summary = summarise(read_trace(WORKLOADS / "sample-1000.swf"))
    assert summary.simulated == summary.records == 1000
    assert summary.nodes == 128
    assert summary.load == pytest.approx(0.85, abs=0.02)
    assert summary.warnings == ()


def test_modular_sample_has_chains_and_module_lists():
    summary = summarise(read_trace(WORKLOADS / "sample-modular.mwf"), nodes=141)
    assert summary.dependencies > 50
    assert {"CM", "DAM", "ESB", "CM,DAM", "DAM,ESB", "ESB,CM"} <= set(summary.partitions)
    assert summary.not_honoured == {}
    assert summary.load == pytest.approx(0.85, abs=0.05)


def test_modular_sample_runs_on_the_prototype_without_losses():
    system = ROOT / "configs" / "systems" / "deep-est-prototype.yaml"
    result = simulate(system, WORKLOADS / "sample-modular.mwf", "easy")
    result.check()
    assert set(result.components["state"]) == {"COMPLETED"}
    assert set(result.components["module"]) == {"CM", "DAM", "ESB"}
    assert (result.components["wait_dependency"] > 0).any()
