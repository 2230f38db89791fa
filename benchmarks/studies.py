"""What a run of a study costs beside its simulation: ``python -m benchmarks.studies STUDY FOLDER``.

Prints the seconds of processor of each part, all runs carried out in this process.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

import yaml

from benchmarks.children import child, whole
from benchmarks.section import Asked, table

STUDY = {
    "systems": {"cluster": {"modules": [{"name": "cluster", "nodes": 128}]}},
    "workloads": {
        "generated": {
            "recipe": {
                "modules": [{"name": "cluster", "nodes": 128, "jobs": 3000}],
                "model": {"arrivals": {"site": "ctc", "process": "poisson", "offered_load": 0.8}},
            }
        }
    },
    "policies": ["easy", "fcfs", "conservative", "sjf", "f1"],
    "baseline": {"policy": "easy"},
}
SEEDS = 200
WORKERS = 2
COLUMNS = "<part", "ms a run"
WHOLE = "runs", "workers", "cpu s", "wall s", "peak MB of a process", "files", "MB"

PARTS = {
    "scheduler_sim.study.run.generate": "workload from its recipe (shared by five policies)",
    "scheduler_sim.study.run.simulate": "simulation, with the metrics",
    "scheduler_sim.study.packs.measured": "measures of what counts",
    "scheduler_sim.study.packs.Filling.add": "its part of a pack, gathered",
    "scheduler_sim.study.packs.Filling.seal": "its part of a pack, to disk",
}
"""Functions that are timed, each without those below it."""

REST = "identity, index, comparison, finding out what is there, the rest"
SIMULATION = PARTS["scheduler_sim.study.run.simulate"]


def section(asked: Asked) -> str:
    """Parts of a run on one worker, and the whole study by the command line on two."""
    study = {**STUDY, "seeds": 2 if asked.quick else SEEDS}
    runs = len(STUDY["policies"]) * study["seeds"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "first.yaml").write_text(yaml.safe_dump({**STUDY, "seeds": 1}), encoding="utf-8")
        (place / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
        child("studies", str(place / "first.yaml"), str(place / "first"))  # whatever is to be compiled
        parts = child("studies", str(place / "study.yaml"), str(place / "one"))
        command = sys.executable, "-m", "scheduler_sim", "study", place / "study.yaml", "--quiet"
        usage = whole(*command, "--workers", str(WORKERS), "--out", place / "study")
        files = [path.stat().st_size for path in (place / "study").rglob("*") if path.is_file()]
    parts["**all**"] = sum(parts.values())
    parts["**beside the simulation**"] = parts["**all**"] - parts[SIMULATION]
    rows = [(name, f"{seconds / runs * 1e3:.2f}") for name, seconds in parts.items()]
    size = f"{len(files):,}", f"{sum(files) / 1e6:.1f}"
    return table(COLUMNS, rows) + "\n\n" + table(WHOLE, [(f"{runs:,}", str(WORKERS), *usage.spelt(), *size)])


class Clock:
    """Seconds of processor of nested parts, each without what is timed inside it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inside = [0.0]

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Time what is done inside."""
        begin = process_time()
        self._inside.append(0.0)
        yield
        took = process_time() - begin
        self.seconds[part] = self.seconds.get(part, 0.0) + took - self._inside.pop()
        self._inside[-1] += took

    def timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is timed whenever it is called."""

        def call(*given: Any, **named: Any) -> Any:
            with self.of(part):
                return work(*given, **named)

        return call


def parts_of(study: Path, folder: Path) -> dict[str, float]:
    """Carry out a study in this process; return the seconds of its parts."""
    from scheduler_sim.study import packs, run
    from scheduler_sim.study.conduct import conduct
    from scheduler_sim.study.study import Study

    clock, homes = Clock(), {"run": run, "packs": packs}
    with ExitStack() as timed:
        for path, part in PARTS.items():
            module, *names = path.removeprefix("scheduler_sim.study.").split(".")
            work: Any = homes[module]
            for name in names:
                work = getattr(work, name)
            timed.enter_context(patch(path, clock.timed(part, work)))
        with clock.of(REST):
            conduct(Study.from_yaml(study), folder)
    return {part: clock.seconds[part] for part in (*PARTS.values(), REST)}


if __name__ == "__main__":
    print(json.dumps(parts_of(Path(sys.argv[1]), Path(sys.argv[2]))))
