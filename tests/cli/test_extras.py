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
for name in ("bokeh", "dask_jobqueue", "distributed", "gymnasium", "sb3_contrib"):
    sys.modules[name] = None
from scheduler_sim.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def python(script, *arguments, cwd):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def run(*arguments, cwd):
    return python(WITHOUT, *arguments, cwd=cwd)


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
        ("inspect", SAMPLE, "--plot", "trace.png"),
        ("explain", "result", 301),
        ("report", "result", "--out", "result.csv"),
        ("convert", SAMPLE, "trace.parquet"),
        ("generate", ROOT / "workloads" / "sample-1000.yaml", "--out", "generated.swf"),
        ("fit", "scaling", ROOT / "configs/apps/points/prism.csv", "--out", "prism.yaml"),
        ("study", ROOT / "configs/studies/policies.yaml", "--out", "study", "--workers", 1),
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
        (
            ("study", ROOT / "configs/studies/policies.yaml", "--out", "study", "--dask", "tcp://here:1"),
            "distributed",
            "dask",
        ),
    ],
)
def test_what_needs_an_extra_names_it(arguments, package, extra, folder):
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2, done.stderr
    assert f"{package}, which is not installed: pip install 'scheduler-sim[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert "report.html" not in [path.name for path in folder.rglob("*")]


def test_to_simulate_from_python_loads_neither_scipy_nor_matplotlib(tmp_path):
    script = (
        "import sys, scheduler_sim\n"
        "assert not {'numpy', 'pandas', 'scipy', 'matplotlib'} & set(sys.modules)\n"
        "from scheduler_sim import Policy, Result, System, Workload, read_trace, simulate, write_trace\n"
        "assert not {'scipy', 'matplotlib', 'numba'} & set(sys.modules)\n"
        "from scheduler_sim import Recipe, Study, generate\n"
        "assert 'matplotlib' not in sys.modules\n"
    )
    done = python(script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
