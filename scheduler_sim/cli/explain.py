"""``scheduler-sim explain``: why one component waited."""

from __future__ import annotations

import argparse

from scheduler_sim.cli.terminal import show, step

EXAMPLES = """\
example:
  scheduler-sim run configs/systems/cluster-128.yaml workloads/sample-1000.swf --policy easy --out result
  scheduler-sim explain result 42

COMPONENT is an id of the column component_id (in a trace in SWF, the job number), or as Slurm writes it: 30_1
is task 1 of array 30, 40+1 component 1 of heterogeneous job 40.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "explain",
        help="explain why a component waited",
        description="Explain why a component waited: which jobs held the nodes, which reservation it waited"
        " behind, which jobs overtook it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("directory", metavar="DIR", help="result directory that run --out wrote")
    parser.add_argument("component", metavar="COMPONENT", help="component id, or 30_1 for task 1 of array 30")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Explain a wait."""
    from scheduler_sim.report.explain import explain
    from scheduler_sim.report.explain_text import text_of
    from scheduler_sim.result.result import Result

    with step(f"looking into {args.directory}"):
        text = text_of(explain(Result.load(args.directory), args.component))
    show(text.rstrip("\n"))
