"""Speed and memory of the simulator: ``python -m benchmarks.run``. See docs/benchmarks.md.

python -m benchmarks.run                                   generated traces, fcfs, easy, conservative
python -m benchmarks.run --jobs 10000 --policies easy sjf
python -m benchmarks.run --trace KTH-SP2.swf.gz --nodes 100
python -m benchmarks.run --energy                          with power and energy counted
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import trace
from benchmarks.children import child, in_process, shown
from benchmarks.measure import Case
from benchmarks.section import KTH_NODES, Asked, named, table, without_trace

JOBS = (10_000, 100_000, 1_000_000)
POLICIES = ("fcfs", "easy", "conservative")
REPEATS = 10
COLUMNS = "<trace", "<policy", "jobs", "engine s", "jobs/s", "jobs/cpu s", "simulate() s", "peak MB"
COLUMNS += "x bare loop", "x time/job"
COLD = "<policy", "compile s", "compile cpu s", "to the first result s", "second process s"

NODES_WITH_POWER = {
    "energy": {
        "power": {
            "modules": [
                {
                    "name": "cluster",
                    "idle_w": 120,
                    "typical_w": 345,
                    "peak_w": 412,
                    "reference_khz": 3_200_000,
                    "pstates": {"lowest_khz": 1_200_000, "highest_khz": 3_200_000},
                }
            ]
        }
    }
}
"""Models under which energy is counted; the schedules stay the same."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what was asked for and print the table."""
    args = _parser().parse_args(arguments)
    sizes = [0] if args.trace else sorted(args.jobs)
    path = str(Path(args.trace).resolve()) if args.trace else ""
    models = NODES_WITH_POWER if args.energy else {}
    cases = [
        Case(policy, args.nodes, jobs, path, args.repeats, models=models)
        for policy in args.policies
        for jobs in sizes
    ]
    print(table(COLUMNS, rows(cases)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--trace", metavar="FILE", default="", help="a trace file instead of generated ones")
    parser.add_argument("--nodes", metavar="N", type=int, default=trace.NODES, help="default: %(default)s")
    parser.add_argument("--jobs", metavar="N", type=int, nargs="+", default=JOBS, help="sizes to generate")
    parser.add_argument("--policies", metavar="POLICY", nargs="+", default=POLICIES, help="by name")
    parser.add_argument("--repeats", metavar="N", type=int, default=REPEATS, help="best of N, default 10")
    parser.add_argument("--energy", action="store_true", help="count power and energy, too")
    return parser


def section(asked: Asked) -> str:
    """The recorded trace, and generated ones of growing size, under each policy."""
    sizes, repeats = ((1_000,), 1) if asked.quick else (JOBS, REPEATS)
    policies = ("easy",) if asked.quick else POLICIES
    recorded = [Case(policy, KTH_NODES, 0, str(asked.trace), repeats) for policy in policies]
    cases = recorded if asked.has_trace else []
    cases += [Case(policy, trace.NODES, jobs, "", repeats) for policy in policies for jobs in sizes]
    return table(COLUMNS, rows(cases)) + without_trace(asked)


def rows(cases: Sequence[Case]) -> Iterator[tuple[str, ...]]:
    """A row a case; growth is told against the first of the same policy on a generated trace."""
    first: dict[str, float] = {}
    for case in shown(cases):
        found = in_process(case)
        jobs, per_job = found["jobs"], found["engine_cpu_s"] / found["jobs"]
        name = named(case.trace) if case.trace else "generated"
        yield (
            f"{name}, {case.nodes:,} nodes",
            case.policy,
            f"{jobs:,}",
            f"{found['engine_s']:.3f}",
            f"{jobs / found['engine_s']:,.0f}",
            f"{1 / per_job:,.0f}",
            f"{found['whole_s']:.3f}",
            f"{found['peak_mb']:,.0f}",
            f"{found['engine_cpu_s'] / found['bare_cpu_s']:.1f}",
            "" if case.trace else f"{per_job / first.setdefault(case.policy, per_job):.2f}",
        )


def cold(asked: Asked) -> str:
    """The first run of a policy with an empty cache: 100 jobs, in two processes after each other."""
    found = []
    for policy in shown(("fcfs",) if asked.quick else (*POLICIES, "slurm")):
        with tempfile.TemporaryDirectory() as cache:
            case = json.dumps({"cold": policy})
            one, two = (child("measure", case, SCHEDULER_SIM_CACHE_DIR=cache) for _ in range(2))
        times = one["compile_s"], one["compile_cpu_s"], one["first_result_s"], two["first_result_s"]
        found.append((policy, *(f"{seconds:.1f}" for seconds in times)))
    return table(COLD, found)


if __name__ == "__main__":
    main()
