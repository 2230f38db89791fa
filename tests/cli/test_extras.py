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
for name in ("matplotlib", "bokeh", "distributed", "gymnasium"):
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
        ("generate", ROOT / "workloads" / "sample-1000.yaml", "--out", "trace.swf"),
        ("fit", "scaling", ROOT / "configs/apps/points/prism.csv"),
    ],
)
def test_what_needs_no_extra_runs_without(arguments, folder):
    done = run(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (("report", "result"), "bokeh", "report"),
        (("inspect", SAMPLE, "--plot", "trace.png"), "matplotlib", "report"),
        (
            ("fit", "scaling", ROOT / "configs/apps/points/prism.csv", "--out", "p.yaml"),
            "matplotlib",
            "report",
        ),
    ],
)
def test_what_needs_an_extra_names_it(arguments, package, extra, folder):
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2, done.stderr
    assert f"{package} is not installed; allowed: pip install 'scheduler-sim[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not {"trace.png", "p.yaml", "report.html"} & {path.name for path in folder.rglob("*")}
