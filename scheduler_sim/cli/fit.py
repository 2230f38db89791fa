"""``scheduler-sim fit``: models learnt from measured points."""

from __future__ import annotations

import argparse

from scheduler_sim.cli import fit_energy, fit_scaling

FITS = (fit_scaling, fit_energy)
"""What can be fitted, a file each."""

EXAMPLES = """\
examples:
  scheduler-sim fit scaling configs/apps/points/prism.csv --out prism.yaml --scaling strong
  scheduler-sim fit energy points.csv --out node.yaml
  scheduler-sim fit energy --jobs jobs.parquet --from pm100 --out learnt.csv

Every fit has its own --help.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "fit",
        help="learn a model from measured points",
        description="Learn from a few runs how an application scales, or how power depends on the clock.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    models = parser.add_subparsers(title="models", metavar="MODEL", required=True)
    for model in FITS:
        model.add_to(models)
