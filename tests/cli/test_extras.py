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
for name in sys.argv.pop(1).split():
    sys.modules[name] = None
from scheduler_sim.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


ALL = "scipy matplotlib bokeh distributed gymnasium"
BUT_STATISTICS = ALL.removeprefix("scipy ")


def run(*arguments, cwd, without=ALL):
    command = [sys.executable, "-c", WITHOUT, without, *map(str, arguments)]
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


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        ("generate", ROOT / "workloads" / "sample-1000.yaml", "--out", "generated.swf"),
        ("fit", "scaling", ROOT / "configs/apps/points/prism.csv"),
    ],
)
def test_what_needs_statistics_alone_runs_with_that(arguments, folder):
    done = run(*arguments, cwd=folder, without=BUT_STATISTICS)
    assert done.returncode == 0, done.stderr


def test_a_fit_with_a_picture_names_what_that_needs(folder):
    arguments = "fit", "scaling", ROOT / "configs/apps/points/prism.csv", "--out", "p.yaml"
    done = run(*arguments, cwd=folder, without=BUT_STATISTICS)
    assert done.returncode == 2, done.stderr
    assert "matplotlib is not installed; allowed: pip install 'scheduler-sim[report]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "p.yaml").exists()


@pytest.mark.parametrize("name", ["generate", "Recipe", "Study"])
def test_a_name_of_the_library_that_needs_an_extra_names_it(name, tmp_path):
    script = f"import sys\nsys.modules['scipy'] = None\nfrom scheduler_sim import Workload, {name}\n"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.strip().splitlines()[-1] == (
        f"ImportError: scheduler_sim.{name}: scipy is not installed; allowed:"
        " pip install 'scheduler-sim[statistics]'"
    )


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
