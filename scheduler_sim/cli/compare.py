"""``scheduler-sim compare``: a result against what its trace recorded, and what explains the difference."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING

from scheduler_sim.cli.force import add_force, check_picture
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError

if TYPE_CHECKING:
    from scheduler_sim.causes.one_at_a_time import Causes, Told
    from scheduler_sim.result.result import Result
    from scheduler_sim.workload.table import Workload

BY = "partition,size"

EXAMPLES = """\
examples:
  scheduler-sim run configs/systems/small-site.conf workloads/sample-sacct.txt --policy slurm --out replay
  scheduler-sim compare replay --recorded --by partition,hour_of_week --plot near.png
  scheduler-sim compare replay --recorded --causes workloads/sample-sacct.txt

DIR was written by run --out, for a trace that records waits or starts. --causes repeats the run from its
manifest with one change at a time, on the given trace. It reports which change comes closest to the record,
and whether it also does so in the last full week, which is held out.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "compare",
        help="compare a run with what its trace recorded",
        description="Compare simulated with recorded starts: waits, their order, nodes in use; and look for"
        " an explanation of the difference.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("directory", metavar="DIR", help="result directory that run --out wrote")
    parser.add_argument(
        "--recorded", action="store_true", required=True, help="compare with the starts recorded in the trace"
    )
    parser.add_argument(
        "--by",
        metavar="SLICES",
        default=BY,
        help=f"show waits by partition, size, user, hour_of_week, day, week (with commas); default: {BY}",
    )
    parser.add_argument("--plot", metavar="FILE.png", help="also draw a picture; an older one is replaced")
    parser.add_argument(
        "--causes",
        metavar="TRACE",
        help="repeat the run on its trace with one change at a time, and report which comes closer",
    )
    parser.add_argument("--columns", metavar="FILE", help="column map with which TRACE was read")
    add_force(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Compare, draw, look for causes."""
    if args.columns is not None and args.causes is None:
        raise InputError("--columns: found without --causes; allowed: --causes TRACE --columns FILE")
    if args.plot is not None:
        check_picture(args.plot, force=args.force)
    from scheduler_sim.cli.compare_page import causes_text, compare_text
    from scheduler_sim.result.result import Result

    with step(f"comparing {args.directory}", quiet=args.quiet):
        result = Result.load(args.directory)
        text = compare_text(result, [name.strip() for name in args.by.split(",") if name.strip()])
    workload = None if args.causes is None else _read(result, args)
    show(text, quiet=args.quiet)
    if args.plot is not None:
        _draw(result, args)
    if workload is not None:
        show(f"\n{causes_text(_causes(result, workload, args))}", quiet=args.quiet)


def _draw(result: Result, args: argparse.Namespace) -> None:
    from scheduler_sim.report.look import save_png

    with step(f"drawing {args.plot}", quiet=args.quiet):
        save_png(result.plot.recorded(), args.plot, force=args.force)
    note(f"picture: {args.plot}", quiet=args.quiet)


def _read(result: Result, args: argparse.Namespace) -> Workload:
    """Read the trace of the result, before anything is printed."""
    from scheduler_sim.causes.setup import read_again

    with step(f"reading {args.causes}", quiet=args.quiet):
        return read_again(result, args.causes, args.columns)


def _causes(result: Result, workload: Workload, args: argparse.Namespace) -> Causes:
    """Repeat the run with one thing changed at a time, each with a progress display of its own."""
    from scheduler_sim.causes.one_at_a_time import causes

    with ExitStack() as shown:
        return causes(result, workload, _told(shown, quiet=args.quiet))


def _told(shown: ExitStack, *, quiet: bool) -> Told:
    """Show the run that goes on, in place of the one before."""

    def told(name: str, number: int, runs: int) -> object:
        shown.close()
        return shown.enter_context(step(f"run {number} of {runs}, {name}", quiet=quiet)).progress

    return told  # type: ignore[return-value]
