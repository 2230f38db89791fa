"""``scheduler-sim replay-messages``: message traces on a network, their efficiencies and what-ifs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.force import add_force, check_picture
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError

if TYPE_CHECKING:
    from scheduler_sim.messages.network import Network
    from scheduler_sim.messages.outcome import Outcome

SCALINGS = ("strong", "weak")

EXAMPLES = """\
examples:
  scheduler-sim replay-messages workloads/messages/wavefront-12.dim --network configs/networks/cluster.yaml
  scheduler-sim replay-messages workloads/messages/stencil-8.csv --network configs/networks/cluster.yaml \\
      --what-if balanced --what-if faster:inner:2 --what-if bandwidth:0.5 --plot timeline.png
  scheduler-sim replay-messages app-16.dim app-32.dim app-64.dim --network configs/networks/cluster.yaml \\
      --scaling strong --points points.csv --profile app.yaml

TRACE is a Dimemas trace as text, or a table of records (docs/reference/messages.md). Efficiencies are as in
Rosas et al. 2014: load balance from bursts, serialization from an ideal network, transfer from this one.
EDIT is one of ideal, balanced, no-noise, cycles:GHZ, faster:KERNEL:TIMES, bandwidth:TIMES, latency:TIMES, or
several joined by +.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "replay-messages",
        help="replay message traces of an application on a network",
        description="Replay computation and messages of processes on a network, and show what limits them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("traces", metavar="TRACE", nargs="+", help="message trace: .dim, .csv, each also .gz")
    parser.add_argument("--network", metavar="FILE", required=True, help="network in YAML")
    parser.add_argument(
        "--what-if",
        metavar="EDIT",
        action="append",
        default=[],
        help="one more row: edits joined by +; repeatable",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write all results: .json, or .csv with one row per process"
    )
    parser.add_argument("--points", metavar="FILE.csv", help="write one row per trace, for fit scaling")
    parser.add_argument("--profile", metavar="FILE.yaml", help="write a profile of the application")
    parser.add_argument("--app", metavar="NAME", help="name in the profile; default: name of TRACE")
    parser.add_argument(
        "--scaling", metavar="HOW", help="strong or weak scaling of the runs; default: strong, with a note"
    )
    parser.add_argument("--plot", metavar="FILE.png", help="draw a timeline of the processes of one trace")
    add_force(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Replay, print, write."""
    _check(args)
    from scheduler_sim.cli.messages_page import notes, outcome_text
    from scheduler_sim.messages.network import read_network

    network = read_network(args.network)
    outcomes = [_outcome(path, network, args) for path in args.traces]
    show("\n\n".join(outcome_text(one) for one in outcomes), quiet=args.quiet)
    for one in outcomes:
        for said in notes(one):
            note(f"note: {said}", quiet=args.quiet)
    written = _write(outcomes, args)
    if written:
        show(f"\n  written to {', '.join(written)}", quiet=args.quiet)


def _outcome(path: str, network: Network, args: argparse.Namespace) -> Outcome:
    from scheduler_sim.messages.outcome import outcome
    from scheduler_sim.messages.reading import read_messages

    with step(f"replaying {path}", quiet=args.quiet):
        return outcome(read_messages(path), network, args.what_if, record=args.plot is not None)


def _check(args: argparse.Namespace) -> None:
    """Refuse what cannot be done before any work."""
    from scheduler_sim.messages.what_if import read_what_if

    if args.scaling is not None and args.scaling.lower() not in SCALINGS:
        raise InputError(f"--scaling: found {args.scaling!r}; allowed: {', '.join(SCALINGS)}")
    for text in args.what_if:
        read_what_if(text)
    if args.plot is not None:
        if len(args.traces) > 1:
            raise InputError(f"--plot: found {len(args.traces)} traces; allowed: with one")
        check_picture(args.plot, force=args.force)
    for option, place, suffixes in (
        ("--points", args.points, (".csv",)),
        ("--profile", args.profile, (".yaml", ".yml")),
    ):
        if place is not None and Path(place).suffix.lower() not in suffixes:
            raise InputError(f"{option}: found {place!r}; allowed: a name ending in {' or '.join(suffixes)}")
    _check_places(args)


def _check_places(args: argparse.Namespace) -> None:
    from scheduler_sim.output.rule import Kind, check_place

    if args.out is not None:
        from scheduler_sim.messages.result_file import check_result

        check_result(args.out, force=args.force)
    if args.points is not None:
        from scheduler_sim.scaling.fitting import read_points

        check_place(args.points, Kind.read_by("a table of points", read_points), force=args.force)
    if args.profile is not None:
        from scheduler_sim.scaling.profile_file import PROFILE

        check_place(args.profile, PROFILE, force=args.force)


def _write(outcomes: list[Outcome], args: argparse.Namespace) -> list[str]:
    """Write what is asked for; returns where. All texts are made before the first is written."""
    from scheduler_sim.output.whole import whole_file

    texts: dict[str, str] = {}
    scaling = (args.scaling or "strong").lower()
    if args.points is not None or args.profile is not None:
        from scheduler_sim.messages.profile import points, points_text, profile
        from scheduler_sim.scaling.profile_file import profile_text

        if args.points is not None:
            texts[args.points] = points_text(points(outcomes, scaling=scaling))
        if args.profile is not None:
            learnt = profile(outcomes, args.app or _app(args.traces[0]), scaling=scaling)
            texts[args.profile] = profile_text(learnt.profile)
            for said in learnt.notes:
                note(f"note: {said}", quiet=args.quiet)
        if args.scaling is None:
            note(
                "note: treated as strong scaling; use --scaling weak if the problem grew with P",
                quiet=args.quiet,
            )
    if args.out is not None:
        from scheduler_sim.messages.result_file import write_result

        write_result(outcomes, args.out, force=args.force)
    for place, text in texts.items():
        with whole_file(place) as file:
            file.write(text.encode())
    if args.plot is not None:
        _draw(outcomes[0], args.plot, force=args.force)
    return [place for place in (args.out, args.points, args.profile, args.plot) if place is not None]


def _app(trace: str) -> str:
    return Path(trace.removesuffix(".gz")).stem


def _draw(one: Outcome, place: str, *, force: bool) -> None:
    from scheduler_sim.messages.timeline import intervals
    from scheduler_sim.report.look import save_png
    from scheduler_sim.report.messages_figure import timeline_figure

    assert one.real.records is not None
    spans = intervals(one.trace, one.real.records)
    title = f"{one.trace.name} on {one.network.name}"
    save_png(timeline_figure(title, *spans, one.trace.processes, one.real.run_time), place, force=force)
