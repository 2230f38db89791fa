"""``scheduler-sim predict-runtime``: predict how long an application runs elsewhere, and on what."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from scheduler_sim.cli.terminal import note, show

if TYPE_CHECKING:
    from scheduler_sim.scaling.profile import Profile

MOST_TARGETS = 1000
"""Rows of a table that somebody may still read."""

EXAMPLES = """\
examples:
  scheduler-sim predict-runtime configs/apps/sweep3d.yaml --at nodes=256,1024,4096
  scheduler-sim predict-runtime configs/apps/avbp.yaml --at nodes=8,16,32,64 --known time=3600,nodes=8
  scheduler-sim predict-runtime solver.yaml --at nodes=256,size=1e9 --at nodes=512,size=2e9

--at accepts nodes, module, and size and clock_khz if the profile depends on them; several values separated by
commas give every combination. --known is a measured run: time (s), nodes, module etc. With a profile of
efficiencies it is needed to get seconds.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "predict-runtime",
        help="predict how long an application runs elsewhere",
        description="Predict run times from a profile, and rank the parts of the time at the last target.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "profile", metavar="PROFILE", help="profile, or model of a metric, written by fit scaling"
    )
    parser.add_argument(
        "--at", metavar="TARGET", action="append", required=True, help="target, such as nodes=64,128,size=1e9"
    )
    parser.add_argument("--known", metavar="RUN", help="a measured run, such as time=3600,nodes=8")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Predict, and print the page."""
    from scheduler_sim.cli.predict_runtime_page import runtime_text, warnings_of
    from scheduler_sim.errors import InputError
    from scheduler_sim.scaling.targets import predicted, read_known, read_targets

    metric, profile = _read(args.profile)
    if metric and args.known is not None:
        raise InputError(f"--known: found a run beside a model of {metric}; allowed: with a profile")
    known = None if args.known is None else read_known(profile, args.known)
    targets = [target for text in args.at for target in read_targets(profile, text)]
    if len(targets) > MOST_TARGETS:
        raise InputError(f"--at: found {len(targets):,} targets; allowed: up to {MOST_TARGETS:,}")
    found = [predicted(profile, target, known) for target in targets]
    show(runtime_text(profile, found, known, metric))
    for said in warnings_of(found):
        note(f"warning: {said}")
    if found[0].time is None:
        note("note: the profile contains efficiencies; --known time=S,nodes=N gives seconds")


def _read(path: str) -> tuple[str, Profile]:
    """Read a profile, or a model of a metric: the metric, empty for run times, and its law."""
    from scheduler_sim.scaling.metric_model import is_metric_model, read_metric_model
    from scheduler_sim.scaling.profile_file import read_profile

    if not is_metric_model(path):
        return "", read_profile(path)
    model = read_metric_model(path)
    return model.metric, model.law
