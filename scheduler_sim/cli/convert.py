"""``scheduler-sim convert``: a trace from one format to another, and what that loses."""

from __future__ import annotations

import argparse

from scheduler_sim.cli.force import add_force
from scheduler_sim.cli.formats import FORMATS, add_reading, format_named
from scheduler_sim.cli.terminal import note, show, step

EXAMPLES = """\
examples:
  scheduler-sim convert workloads/sample-modular.mwf sample.swf
  scheduler-sim convert trace.log trace.parquet --from swf
  scheduler-sim convert workloads/sample-sacct.txt site.parquet
  scheduler-sim convert workloads/sample-modular.mwf done.mwf --result DIR

The suffix of OUT determines its format: .swf, .mwf and .csv (each also .gz or .zst), .parquet; that of IN is
recognised by its first lines. Columns that the new format cannot hold are listed on stderr.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "convert",
        help="convert a trace to another format",
        description="Convert a job trace to another format, and list what the new format cannot hold.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("input", metavar="IN", help="trace to read")
    parser.add_argument(
        "output", metavar="OUT", help="trace to write; an older one in this format is replaced"
    )
    add_reading(parser, "IN")
    parser.add_argument(
        "--to", dest="write_as", metavar="F", help=f"format of OUT, likewise: {', '.join(FORMATS)}"
    )
    parser.add_argument(
        "--result",
        metavar="DIR",
        help="result of a run of IN: its waits, nodes, frequencies and powers are written as recorded",
    )
    add_force(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Convert a trace."""
    read_as = format_named("--from", args.read_as)
    write_as = format_named("--to", args.write_as, FORMATS)
    from scheduler_sim.loaders.read import read_trace
    from scheduler_sim.output.rule import check_place
    from scheduler_sim.workload.kinds import TRACES
    from scheduler_sim.workload.trace_io import trace_format, write_trace

    kind = trace_format(args.output, write_as)  # errors come before the work is done
    check_place(args.output, TRACES[kind], force=args.force)
    with step(f"reading {args.input}", quiet=args.quiet):
        workload = read_trace(args.input, read_as, columns=args.columns, on_error=args.on_error)
    if args.result is not None:
        from scheduler_sim.report.module_view import shared_modules
        from scheduler_sim.result.result import Result
        from scheduler_sim.workload.as_ran import as_ran

        result = Result.load(args.result)
        workload = as_ran(workload, result.components, shared_modules(result.manifest))
    with step(f"writing {args.output}", quiet=args.quiet):
        notes = write_trace(workload, args.output, write_as, force=args.force)
    show(f"{args.output}: {len(workload):,} records", quiet=args.quiet)
    for lost in (*workload.source.notes, *notes):
        note(f"note: {lost}", quiet=args.quiet)
