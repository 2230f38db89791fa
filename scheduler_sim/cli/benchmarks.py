"""``scheduler-sim benchmarks``: results of benchmarks over time, and where they changed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.force import add_force
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError

if TYPE_CHECKING:
    from scheduler_sim.benchmarking.result_table import Roles
    from scheduler_sim.benchmarking.series import Series

EXAMPLES = """\
examples:
  scheduler-sim benchmarks add results.sqlite bench_run/000003
  scheduler-sim benchmarks add results.sqlite table.csv --time date --environment mpi
  scheduler-sim benchmarks list results.sqlite
  scheduler-sim benchmarks report results.sqlite --out benchmarks.html
  scheduler-sim benchmarks points results.sqlite --benchmark solver --metric runtime --processes nodes \\
      --out points.csv
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "benchmarks",
        help="keep benchmark results over time, and find changes",
        description="Keep benchmark results in a store, find steps in their series, write points for fit.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_action(actions)
    listing = _action(actions, "list", _list, "print every series with its steps")
    report = _action(actions, "report", _report, "write every series and its steps as one HTML page")
    report.add_argument("--out", metavar="FILE.html", required=True, help="page to write")
    add_force(report)
    points = _action(actions, "points", _points, "write a metric by number of processes, for fit scaling")
    points.add_argument("--benchmark", metavar="NAME", required=True, help="which benchmark")
    points.add_argument(
        "--metric", metavar="NAME", required=True, help="metric to write, which must be a time"
    )
    points.add_argument(
        "--processes",
        metavar="PARAMETER",
        required=True,
        help="parameter that counts processes, such as nodes or nodes*tasks",
    )
    points.add_argument(
        "--where", metavar="PARAMETER=VALUE", action="append", default=[], help="value of another parameter"
    )
    points.add_argument("--out", metavar="FILE.csv", required=True, help="points to write")
    add_force(points)
    for one in (listing, report, points):
        one.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, execute: object, words: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(
        name, help=words, description=f"{words[0].upper()}{words[1:]}.", allow_abbrev=False
    )
    parser.add_argument("store", metavar="STORE", help="file of results")
    parser.set_defaults(execute=execute)
    return parser


def _add_action(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _action(actions, "add", _add, "add tables of results to a store")
    parser.add_argument(
        "tables",
        metavar="RESULTS",
        nargs="+",
        help="table of JUBE (pretty, csv or aligned; .dat or .csv), the folder of a run, or a folder of runs",
    )
    parser.add_argument(
        "--benchmark", metavar="NAME", help="name of the benchmark; default: that of JUBE, or of the file"
    )
    parser.add_argument(
        "--time", metavar="COLUMN", help="column with the time of a run; default: jube_benchmark_start"
    )
    parser.add_argument("--at", metavar="TIME", help="or one time for all rows: YYYY-MM-DDThh:mm:ss")
    parser.add_argument(
        "--results",
        metavar="A,B",
        help="measured columns; default: JUBE's patterns, or those with a unit",
    )
    parser.add_argument(
        "--environment", metavar="A,B", help="columns that describe the system, such as versions of modules"
    )
    parser.add_argument("--force", action="store_true", help="replace stored runs that have other values")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _add(args: argparse.Namespace) -> None:
    from scheduler_sim.benchmarking.jube import read_tables
    from scheduler_sim.benchmarking.result_table import told_apart
    from scheduler_sim.benchmarking.store import Store

    roles, store = _roles(args), Store(args.store)
    raw = [table for path in args.tables for table in read_tables(path, args.benchmark)]
    tables = [told_apart(one, roles) for one in raw]
    with step(f"adding to {args.store}", quiet=args.quiet):
        added = store.add(tables, replace=args.force)
    for table in tables:
        for said in table.notes:
            note(f"note: {table.file}: {said}", quiet=args.quiet)
    words = {"new": added.new, "known already": added.known, "replaced": added.replaced}
    told = ", ".join(f"{number:,} {word}" for word, number in words.items() if number or word == "new")
    show(f"  runs: {told}; in {args.store}", quiet=args.quiet)


def _roles(args: argparse.Namespace) -> Roles:
    from scheduler_sim.benchmarking.result_table import START, TIMES, Roles, seconds_of

    at = None if args.at is None else seconds_of(args.at)
    if args.at is not None and at is None:
        raise InputError(f"--at: found {args.at!r}; allowed: {TIMES}")
    results, environment = (text.split(",") if text else () for text in (args.results, args.environment))
    return Roles(results, environment, args.time or START, at)


def _series(args: argparse.Namespace) -> list[Series]:
    from scheduler_sim.benchmarking.series import series_of
    from scheduler_sim.benchmarking.store import Store

    results = Store(args.store).results()
    if results.empty:
        raise InputError(f"{args.store}: contains no results; allowed: a store to which results were added")
    with step("looking for steps", quiet=args.quiet) as told:
        return list(series_of(results, told))


def _list(args: argparse.Namespace) -> None:
    from scheduler_sim.cli.benchmarks_page import list_text

    show(list_text(_series(args)), quiet=args.quiet)


def _report(args: argparse.Namespace) -> None:
    from scheduler_sim.output.rule import check_place
    from scheduler_sim.output.whole import whole_file
    from scheduler_sim.report.html.benchmark_page import benchmark_page
    from scheduler_sim.report.html.page import html_of
    from scheduler_sim.report.html.write import PAGE

    if Path(args.out).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out: found {args.out!r}; allowed: a name ending in .html")
    check_place(args.out, PAGE, force=args.force)
    series = _series(args)
    with step(f"drawing {args.out}", quiet=args.quiet) as told:
        text = html_of(benchmark_page(series, Path(args.store).name, told))
    with whole_file(args.out, None if args.force else PAGE) as file:
        file.write(text.encode())
    show(f"  written to {args.out}", quiet=args.quiet)


def _points(args: argparse.Namespace) -> None:
    from scheduler_sim.benchmarking.points import points_of
    from scheduler_sim.output.rule import Kind, check_place
    from scheduler_sim.output.whole import whole_file
    from scheduler_sim.scaling.fitting import read_points

    kind = Kind.read_by("a file of points", read_points)
    check_place(args.out, kind, force=args.force)
    where = {}
    for text in args.where:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--where: found {text!r:.60}; allowed: PARAMETER=VALUE")
        where[name] = value
    points = points_of(_series(args), args.benchmark, args.metric, args.processes, where)
    with whole_file(args.out, None if args.force else kind) as file:
        file.write(points.text().encode())
    if points.left_out:
        note(
            f"note: {points.left_out:,} runs before the last step of their series left out", quiet=args.quiet
        )
    show(f"  {len(points.table):,} runs written to {args.out}", quiet=args.quiet)
