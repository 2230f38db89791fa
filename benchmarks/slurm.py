"""Speed of Slurm's schedulers, main and backfill, and how it grows with the queue and with nodes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from benchmarks.children import in_process, shown
from benchmarks.measure import Case
from benchmarks.section import KTH_NODES, ROOT, Asked, named, table, without_trace

MONTH = ROOT / "workloads" / "centre-month.yaml"
MONTH_NODES = 5000
LOADS = 0.85, 0.95, 0.982, 1.0
"""Of the month, its own first; the third makes about 2,000 jobs wait."""

OTHER_NODES = MONTH_NODES // 2, MONTH_NODES * 2
SETTINGS = {
    "policy.slurm.PriorityType": "priority/multifactor",
    "policy.slurm.PriorityWeightAge": "1000",
    "policy.slurm.PriorityWeightFairshare": "10000",
    "policy.slurm.PriorityWeightJobSize": "1000",
}
"""All else has Slurm's own defaults."""

PLAIN = {"policy.slurm.accelerate": "false"}
COLUMNS = "<trace", "nodes", "load", "<passes", "jobs", "waiting", "engine s", "jobs/s", "simulate() s"
COLUMNS += "peak MB", "x bare EASY", "<starts"


class Measured(NamedTuple):
    """A case, and what its row says of the trace."""

    case: Case
    name: str
    load: str = ""


def section(asked: Asked) -> str:
    """KTH-SP2 with and without acceleration; the month at several loads, and on other machines."""
    days = 0.02 if asked.quick else 0.0
    repeats = 1 if asked.quick else 3
    with tempfile.TemporaryDirectory() as folder:
        cases = recorded(asked.trace, repeats) if asked.has_trace else []
        machines = [(load, MONTH_NODES) for load in LOADS] + [(LOADS[0], nodes) for nodes in OTHER_NODES]
        for load, nodes in machines[:1] if asked.quick else machines:
            cases.append(month(Path(folder), load, nodes, days))
        return table(COLUMNS, rows(cases)) + without_trace(asked)


def recorded(trace: Path, repeats: int) -> list[Measured]:
    """A trace as always, and without all that is there for speed alone."""
    cases = [Case("slurm", KTH_NODES, 0, str(trace), repeats, SETTINGS | how) for how in ({}, PLAIN)]
    return [Measured(case, named(trace)) for case in cases]


def month(folder: Path, load: float, nodes: int, days: float) -> Measured:
    """The centre's month, or its first days: the same jobs, arriving faster or slower by load and nodes."""
    recipe = yaml.safe_load(MONTH.read_text(encoding="utf-8"))
    recipe["model"]["arrivals"]["offered_load"] = load
    (module,) = recipe["modules"]
    module["nodes"] = nodes
    path = folder / f"month-{load:g}-{nodes}.yaml"
    path.write_text(yaml.safe_dump(recipe), encoding="utf-8")
    name = f"month, first {days:g} days" if days else "month"
    return Measured(Case("slurm", nodes, 0, str(path), 1, SETTINGS, days), name, f"{load:g}")


def rows(cases: Sequence[Measured]) -> Iterator[tuple[str, ...]]:
    """Rows of the table; the same starts are demanded of a trace with and without acceleration."""
    starts: dict[str, str] = {}
    for one, case in zip(cases, shown([one.case for one in cases]), strict=True):
        found = in_process(case)
        if found["starts"] != starts.setdefault(case.trace, found["starts"]):
            sys.exit(f"{one.name}: other starts without acceleration")
        plain = PLAIN.items() <= case.settings.items()
        yield (
            one.name,
            f"{case.nodes:,}",
            one.load,
            "plain" if plain else "accelerated",
            f"{found['jobs']:,}",
            f"{found['waiting']:,.0f}",
            f"{found['engine_s']:.2f}",
            f"{found['jobs'] / found['engine_s']:,.0f}",
            f"{found['whole_s']:.2f}",
            f"{found['peak_mb']:,.0f}",
            f"{found['engine_cpu_s'] / found['bare_cpu_s']:.0f}",
            "the same" if plain else "",
        )
