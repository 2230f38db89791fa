"""Speed and memory of the simulator: ``python -m benchmarks.run``. See docs/benchmarks.md.

python -m benchmarks.run                                   generated traces, fcfs, easy, conservative
python -m benchmarks.run --jobs 10000 --policies easy sjf
python -m benchmarks.run --trace KTH-SP2.swf.gz --nodes 100
python -m benchmarks.run --energy                          with power and energy counted
python -m benchmarks.run --cold                            compile time with an empty cache
python -m benchmarks.run --cli --jobs 100 10000            whole processes of ``scheduler-sim run``
python -m benchmarks.slurm                                 Slurm's schedulers
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks import trace
from benchmarks.measure import Case, argument

JOBS = (10_000, 100_000, 1_000_000)
POLICIES = ("fcfs", "easy", "conservative")
FULL_WIDTH = 120

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
    console = Console(width=None if sys.stdout.isatty() else FULL_WIDTH)
    if args.cold:
        console.print(_cold(args))
    elif args.cli:
        console.print(_command_line(args))
    else:
        console.print(_engine(args))


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
    parser.add_argument("--repeats", metavar="N", type=int, default=10, help="best of N, default 10")
    parser.add_argument("--energy", action="store_true", help="count power and energy, too")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--cold", action="store_true", help="time of compilation, with an empty cache")
    what.add_argument("--cli", action="store_true", help="whole processes of scheduler-sim run, warm")
    return parser


def _cases(args: argparse.Namespace) -> list[Case]:
    """One case a policy and trace, small ones first, so that growth can be told."""
    sizes = [0] if args.trace else sorted(args.jobs)
    path = str(Path(args.trace).resolve()) if args.trace else ""
    models = NODES_WITH_POWER if args.energy else {}
    return [
        Case(policy, args.nodes, jobs, path, args.repeats, models=models)
        for policy in args.policies
        for jobs in sizes
    ]


# -- inside the engine -------------------------------------------------------------------


def _engine(args: argparse.Namespace) -> Table:
    table = Table(title=_title(args), title_justify="left")
    for name in (
        "policy",
        "jobs",
        "engine s",
        "jobs/s",
        "jobs/cpu s",
        "simulate() s",
        "peak MB",
        "x bare loop",
        "x time/job",
    ):
        table.add_column(name, justify="left" if name == "policy" else "right")
    first: dict[str, float] = {}
    for case in shown(_cases(args)):
        found = in_process(case)
        jobs, seconds = found["jobs"], found["engine_s"]
        per_job = found["engine_cpu_s"] / jobs
        growth = per_job / first.setdefault(case.policy, per_job)
        table.add_row(
            case.policy,
            f"{jobs:,}",
            f"{seconds:.3f}",
            f"{jobs / seconds:,.0f}",
            f"{1 / per_job:,.0f}",
            f"{found['whole_s']:.2f}",
            f"{found['peak_mb']:,.0f}",
            f"{found['engine_cpu_s'] / found['bare_cpu_s']:.1f}",
            f"{growth:.2f}",
        )
    return table


def _title(args: argparse.Namespace) -> str:
    what = Path(args.trace).name if args.trace else f"Cirne-Berman jobs, load {trace.LOAD}, seed {trace.SEED}"
    return f"{what}; {args.nodes} nodes; best of {args.repeats}"


def in_process(case: Case) -> dict[str, Any]:
    """Measure in a process of its own; a first one compiles, so that no compiler is in the memory."""
    child(argument(replace(case, trace="", days=0.0, jobs=100, repeats=1)))
    return child(argument(case))


def child(given: str, **environment: str) -> dict[str, Any]:
    """Return what ``benchmarks.measure`` prints, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.measure", given]
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}")
    return json.loads(done.stdout)


# -- with an empty cache --------------------------------------------------------------------


def _cold(args: argparse.Namespace) -> Table:
    table = Table(title="First run on a machine: 100 jobs, nothing compiled yet", title_justify="left")
    for name in ("policy", "compile s", "compile cpu s", "to the first result s", "second process s"):
        table.add_column(name, justify="left" if name == "policy" else "right")
    for policy in shown(args.policies):
        with tempfile.TemporaryDirectory() as cache:
            runs = [child(json.dumps({"cold": policy}), SCHEDULER_SIM_CACHE_DIR=cache) for _ in range(2)]
        table.add_row(
            str(policy),
            f"{runs[0]['compile_s']:.1f}",
            f"{runs[0]['compile_cpu_s']:.1f}",
            f"{runs[0]['first_result_s']:.1f}",
            f"{runs[1]['first_result_s']:.1f}",
        )
    return table


# -- whole processes ------------------------------------------------------------------------


def _command_line(args: argparse.Namespace) -> Table:
    table = Table(title=f"scheduler-sim run, {_title(args)}", title_justify="left")
    for name in ("policy", "trace", "jobs", "process s", "cpu s", "peak MB", "files MB"):
        table.add_column(name, justify="left" if name in ("policy", "trace") else "right")
    with tempfile.TemporaryDirectory() as folder:
        system = Path(folder, "system.yaml")
        system.write_text(f"modules: [{{name: nodes, nodes: {args.nodes}}}]\n")
        for case in shown(_cases(args)):
            path = Path(case.trace) if case.trace else _written(case, Path(folder))
            out = Path(folder, "result")
            runs = [_process(system, path, case.policy, out) for _ in range(case.repeats + 1)][1:]
            jobs = json.loads(Path(out, "metrics.json").read_text())["jobs"]
            size = sum(file.stat().st_size for file in out.iterdir()) / 1e6
            seconds, cpu = min(run[0] for run in runs), min(run[1] for run in runs)
            peak = max(run[2] for run in runs)
            figures = f"{jobs:,}", f"{seconds:.2f}", f"{cpu:.2f}", f"{peak:,.0f}", f"{size:.1f}"
            table.add_row(case.policy, path.name, *figures)
    return table


def _written(case: Case, folder: Path) -> Path:
    """The generated trace as a file, made once."""
    from scheduler_sim import write_trace

    path = folder / f"generated-{case.jobs}.swf"
    if not path.exists():
        write_trace(case.workload(), path)
    return path


def _process(system: Path, path: Path, policy: str, out: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processor and peak MB of one whole process."""
    command = [sys.executable, "-m", "scheduler_sim", "run", system, path, "--policy", policy, "--out", out]
    begin = perf_counter()
    process = subprocess.Popen([str(word) for word in [*command, "--quiet"]])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def shown(cases: Sequence[Any]) -> Iterator[Any]:
    """Go through the cases and show on a terminal how far it has come."""
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("measuring", total=len(cases))
        for case in cases:
            name = case if isinstance(case, str) else f"{case.policy}, {case.jobs or case.trace} jobs"
            bar.update(task, description=str(name))
            yield case
            bar.advance(task)


if __name__ == "__main__":
    main()
