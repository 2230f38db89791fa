"""``scheduler-sim inspect``: what is in a trace or a system, with warnings."""

from __future__ import annotations

import argparse
from pathlib import Path

from scheduler_sim.cli.terminal import show, step

EXAMPLES = """\
examples:
  scheduler-sim inspect workloads/sample-1000.swf
  scheduler-sim inspect configs/systems/deep-est-prototype.yaml

A name ending in .yaml or .yml is a system, anything else a trace.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "inspect",
        help="show what is in a trace or a system",
        description="Show what is in a job trace or a system: counts, sizes, times, load over time,"
        " what is skipped and why, and what to be careful about.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("what", metavar="TRACE|SYSTEM", help="job trace, or system in YAML")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Show what is there."""
    is_system = Path(args.what).suffix.lower() in (".yaml", ".yml")
    show(_system(args.what) if is_system else _trace(args.what))


def _system(path: str) -> str:
    from scheduler_sim.cli.system_page import system_text
    from scheduler_sim.system.system import System

    return system_text(System.from_yaml(path))


def _trace(path: str) -> str:
    from scheduler_sim.cli.trace_page import trace_text
    from scheduler_sim.workload.summary import summarise
    from scheduler_sim.workload.trace_io import read_trace

    with step(f"reading {path}"):
        workload = read_trace(path)
        return trace_text(summarise(workload), workload.source)
