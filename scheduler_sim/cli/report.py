"""``scheduler-sim report``: a run or a study as one HTML file."""

from __future__ import annotations

import argparse

from scheduler_sim.cli.terminal import show, step

EXAMPLES = """\
examples:
  scheduler-sim report result
  scheduler-sim report policies --out policies.html

DIR is what run --out or study wrote. The page opens offline, holds everything it shows, and sends nothing.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "report",
        help="write a run or a study as one HTML page",
        description="Write the report of a run or of a study as one HTML file that opens offline: headline in"
        " words, interactive charts, every job, and how to repeat it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("directory", metavar="DIR", help="result directory, or the directory of a study")
    parser.add_argument("--out", metavar="FILE.html", help="the file; default: report.html in DIR")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Write the report; say where it is and how large."""
    from scheduler_sim.report.html import write_report

    with step(f"reporting on {args.directory}", quiet=args.quiet):
        path = write_report(args.directory, args.out)
    show(f"  written to {path} ({path.stat().st_size / 1e6:.1f} MB)", quiet=args.quiet)
