"""``scheduler-sim fit``: models learnt from measurements."""

from __future__ import annotations

import argparse

from scheduler_sim.cli import fit_energy

EXAMPLES = """\
examples:
  scheduler-sim fit energy points.csv
  scheduler-sim fit energy points.csv --out node.yaml

Every kind has its own --help.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "fit",
        help="learn a model from measured points",
        description="Learn a model of applications from measured points.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    fit_energy.add_to(kinds)
