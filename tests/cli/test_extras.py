"""What runs without the extras, and what names the one that it needs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.command import CLUSTER, SAMPLE
from tests.conftest import ROOT

WITHOUT = """
import sys
for name in ("scipy", "matplotlib", "bokeh", "distributed", "gymnasium"):
    sys.modules[name] = None
from scheduler_sim.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run(*arguments, cwd):
    command = [sys.executable, "-c", WITHOUT, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("extras")
    done = run("run", CLUSTER, SAMPLE, "--out", "result", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", SAMPLE),
        ("explain", "result", 301),
        ("report", "result", "--out", "result.csv"),
        ("convert", SAMPLE, "trace.parquet"),
        ("run", CLUSTER, SAMPLE, "--policy", "slurm", "--out", "slurm"),
        (
            "run",
            ROOT / "configs/systems/three-modules.yaml",
            ROOT / "workloads/sample-modular.mwf",
            "--out",
            "mwf",
        ),
    ],
)
def test_what_needs_no_extra_runs_without(arguments, folder):
    done = run(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (("report", "result"), "bokeh", "report"),
        (("generate", ROOT / "workloads/sample-1000.yaml", "--out", "trace.swf"), "scipy", "statistics"),
        (("study", ROOT / "configs/studies/policies.yaml", "--out", "study"), "scipy", "statistics"),
        (("fit", "scaling", ROOT / "configs/apps/points/prism.csv"), "scipy", "statistics"),
        (("inspect", SAMPLE, "--plot", "trace.png"), "matplotlib", "report"),
    ],
)
def test_what_needs_an_extra_names_it(arguments, package, extra, folder):
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2, done.stderr
    assert f"{package} is not installed; allowed: pip install 'scheduler-sim[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not {"trace.png", "trace.swf", "study", "report.html"} & {path.name for path in folder.rglob("*")}
