"""``scheduler-sim fit``: models of applications from measured points."""

from __future__ import annotations

import argparse

from scheduler_sim.cli import fit_scaling

FITS = (fit_scaling,)
"""What can be fitted, a file each."""

EXAMPLES = """\
examples:
  scheduler-sim fit scaling configs/apps/points/prism.csv --out prism.yaml --scaling strong

Every fit has its own --help.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "fit",
        help="learn how an application scales from a few runs",
        description="Learn a model of an application from a few measured runs.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    models = parser.add_subparsers(title="models", metavar="MODEL", required=True)
    for model in FITS:
        model.add_to(models)
