"""``scheduler-sim report``: a run or a study as one HTML file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from scheduler_sim.cli.force import add_force
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError

PAGES = (".html", ".htm")

EXAMPLES = """\
examples:
  scheduler-sim report result
  scheduler-sim report policies --out policies.html
  scheduler-sim report result --out result.json

DIR was written by run --out or study. The page opens offline, needs no other file, and sends nothing.
For a run, other suffixes export: .csv and .parquet the components, .json a trace for Perfetto
(ui.perfetto.dev) and Chrome, .paje a trace for ViTE and other viewers of Paje, .evalys.csv the jobs for
evalys, as Batsim writes them.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "report",
        help="write a run or a study as one HTML page",
        description="Write the report of a run or of a study as one HTML file that opens offline: summary,"
        " interactive charts, every job, and how to repeat it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("directory", metavar="DIR", help="result directory, or the directory of a study")
    parser.add_argument("--out", metavar="FILE", help="page or export; default: report.html in DIR")
    add_force(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Write the report; say where it is and how large."""
    with step(f"reporting on {args.directory}", quiet=args.quiet):
        path = _written(args.directory, args.out, force=args.force)
    show(f"  written to {path}{_size(path)}", quiet=args.quiet)


def _written(directory: str, out: str | None, *, force: bool) -> Path:
    """Write the page, or what another suffix asks for."""
    from scheduler_sim.output.rule import check_place
    from scheduler_sim.report.evalys import SUFFIX, never_started
    from scheduler_sim.report.export import EXPORTS, WRITERS, export, suffix_of

    suffix = ".html" if out is None else suffix_of(out)
    if out is None or suffix in PAGES:
        from scheduler_sim.report.html.write import PAGE, place_of, write_report

        place = place_of(directory) if out is None else Path(out)
        if out is not None or os.path.isdir(place.parent):
            check_place(place, PAGE, force=force)
        return write_report(directory, out, force=force)
    if suffix not in WRITERS:
        raise InputError(f"--out: found {out!r}; allowed: {', '.join((PAGES[0], *WRITERS))}{_as_trace(out)}")
    from scheduler_sim.result.result import Result

    check_place(out, EXPORTS[suffix], force=force)
    result = Result.load(directory)
    export(result, out, force=force)
    if suffix == SUFFIX and (count := never_started(result)):
        note(f"{count:,} components never started and have no row", quiet=False)
    return Path(out)


def _as_trace(out: str) -> str:
    """Say how a run becomes a trace, to who asks for one."""
    if not {".swf", ".mwf"} & {suffix.lower() for suffix in Path(out).suffixes}:
        return ""
    return "; as a trace: scheduler-sim convert TRACE OUT --result DIR, with the trace that was run"


def _size(path: Path) -> str:
    """Say how large a file is; of a pipe there is nothing to say."""
    return f" ({path.stat().st_size / 1e6:.1f} MB)" if os.path.isfile(path) else ""
