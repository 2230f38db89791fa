"""With the compiler switched off the engine gives the same files, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_sim import Policy, System, read_trace, simulate
from tests.conftest import ROOT, run_interpreted

EASY, ALL = {"backfill": "easy"}, {"backfill": "conservative"}
RIGID = {
    "fcfs": {},
    "easy": EASY,
    "easy-static-by-run": {**EASY, "shadow": "static", "candidate_time": "run", "passes": "event"},
    "easy-sjbf": {**EASY, "backfill_order": "sjf"},
    "depth-3": {**EASY, "depth": 3},
    "conservative": ALL,
    "keep": {**ALL, "replan": "keep"},
    "wfp3": {"order": "wfp3"},
    "wfp3-easy": {"order": "wfp3", **EASY},
    "unicef-keep": {"order": "unicef", **ALL, "replan": "keep"},
    "f2-first-fit": {"order": "f2", "backfill": "first_fit"},
}
MODULAR = {
    "fcfs": {},
    "easy": EASY,
    "depth-3-earliest-end": {**EASY, "depth": 3, "placement": "earliest_end"},
    "conservative-first-available": {**ALL, "placement": "first_available"},
    "keep-least-cost": {**ALL, "replan": "keep", "placement": "least_cost"},
    "unicef": {"order": "unicef", **EASY},
}


def write_all(folder: Path) -> None:
    """Every policy on the first jobs of each sample trace."""
    plain = System.homogeneous(48)
    modular = System.from_yaml(ROOT / "configs" / "systems" / "deep-est-prototype.yaml")
    jobs = read_trace(ROOT / "workloads" / "sample-1000.swf")
    small = jobs.select((jobs["nodes"] <= 48).nonzero()[0][:120])
    chains = read_trace(ROOT / "workloads" / "sample-modular.mwf").select(range(100))
    for name, keys in RIGID.items():
        simulate(plain, small, Policy(**keys)).save(folder / name)
    for name, keys in MODULAR.items():
        simulate(modular, chains, Policy(**keys)).save(folder / f"modular-{name}")


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    compiled, interpreted = tmp_path_factory.mktemp("compiled"), tmp_path_factory.mktemp("interpreted")
    write_all(compiled)
    code = (
        "import sys; from pathlib import Path; from tests.engine.test_interpreted import write_all; "
        "write_all(Path(sys.argv[1]))"
    )
    run_interpreted(code, interpreted)
    return compiled, interpreted


@pytest.mark.parametrize("name", [*RIGID, *(f"modular-{name}" for name in MODULAR)])
def test_the_same_files_without_the_compiler(folders, name):
    compiled, interpreted = folders
    files = sorted(file.name for file in (compiled / name).iterdir())
    assert files == ["components.parquet", "manifest.json", "metrics.json", "timeline.parquet"]
    for file in files:
        assert (compiled / name / file).read_bytes() == (interpreted / name / file).read_bytes(), file


def test_something_waits_and_is_overtaken_in_them(folders):
    """Else it would show little."""
    fcfs, easy = ((folders[0] / name / "components.parquet").read_bytes() for name in ("fcfs", "easy"))
    assert fcfs != easy
