"""``scheduler-sim predict``: when waiting jobs will start, from now on."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.compiling import prepare
from scheduler_sim.cli.force import add_force, check_picture
from scheduler_sim.cli.site import at_site, read_folder, read_site, reservations_under
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError
from scheduler_sim.numerals import integer

if TYPE_CHECKING:
    from scheduler_sim.policy.policy import Policy
    from scheduler_sim.prediction.predict import Prediction
    from scheduler_sim.prediction.state import State
    from scheduler_sim.prediction.workers import Mapped
    from scheduler_sim.system.site_folder import SiteFolder
    from scheduler_sim.system.system import System

MOST_WORKERS = 1024
FEWEST, MOST = 9, 100_000
"""With fewer draws than 9 none is below 10 %."""

EXAMPLES = """\
examples:
  scheduler-sim predict configs/systems/small-site.conf --queue workloads/sample-squeue.txt \\
      --history workloads/sample-sacct.txt
  scheduler-sim predict configs/systems/small-site.conf --queue workloads/sample-squeue.txt \\
      --history workloads/sample-sacct.txt --job "nodes=8 time=12:00:00 partition=batch" --plot starts.png

  scheduler-sim predict workloads/sample-site/

--queue is the output of this command:
  squeue --array --format="%i|%u|%a|%q|%P|%T|%M|%S|%l|%D|%C|%V|%r|%N|%j"
--history is a dump of sacct for the weeks before, or any trace whose header gives the time of its beginning.
--job accepts nodes, time (as sbatch reads it), partition, user, account, qos, name and constraint; several
nodes and times are separated by commas. Only the picture is written.

Instead of SYSTEM, --queue and --history, the folder of a site may be given, as for run, with squeue.txt and
optionally sshare.txt (sshare --all --parsable2), which tells what users have used. --policy is then slurm by
default. Without sshare.txt, what they have used is taken from the history.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "predict",
        help="predict when waiting jobs start",
        description="Predict when waiting jobs start: the times by which they have started in 10, 50 and 90 %"
        " of many simulations with run times and later arrivals drawn from history.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "system", metavar="SYSTEM|SITE_DIR", help="system in YAML, slurm.conf, or the folder of a whole site"
    )
    parser.add_argument("--queue", metavar="FILE", help="output of squeue; not with SITE_DIR")
    parser.add_argument("--history", metavar="TRACE", help="earlier jobs; not with SITE_DIR")
    parser.add_argument(
        "--at",
        metavar="TIME",
        help="time at which squeue was called: YYYY-MM-DDThh:mm:ss on its clock, or seconds since 1970;"
        " default: derived from the start and run times of running jobs in it",
    )
    parser.add_argument(
        "--job", metavar="ASKED", help="a job not submitted yet, e.g. 'nodes=4 time=2:00:00 partition=gpu'"
    )
    parser.add_argument(
        "--policy",
        metavar="NAME|FILE",
        help="as for run; default: easy, with SITE_DIR slurm",
    )
    parser.add_argument("--draws", metavar="N", type=integer, default=199, help="simulations; default: 199")
    parser.add_argument(
        "--seed", metavar="N", type=integer, default=0, help="seed of all random draws; default: 0"
    )
    parser.add_argument("--workers", metavar="N", type=integer, help="processes; default: one per core")
    parser.add_argument("--dask", metavar="ADDRESS", help="draw on Dask instead of local processes")
    parser.add_argument("--plot", metavar="FILE.png", help="also draw a picture; an older one is replaced")
    add_force(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Predict, print the page, draw the picture."""
    mapped = _mapped(args)
    if args.plot is not None:
        check_picture(args.plot, force=args.force)
    from scheduler_sim.cli.predict_page import predict_text
    from scheduler_sim.loaders.read import read_trace
    from scheduler_sim.policy.policy import Policy
    from scheduler_sim.prediction.asked import read_asked
    from scheduler_sim.prediction.history import history_of
    from scheduler_sim.prediction.predict import predict, simulation_by_limits
    from scheduler_sim.prediction.state import state_of_queue
    from scheduler_sim.system.read_system import read_system
    from scheduler_sim.workload.squeue import read_squeue

    asked = () if args.job is None else read_asked(args.job)
    folder = _folder(args)
    policy = at_site(Policy.resolve(args.policy), (), args.system, folder, quiet=args.quiet)
    with step(f"reading {args.history}", quiet=args.quiet):
        system, queue, workload = read_system(args.system), read_squeue(args.queue), read_trace(args.history)
        state, left_out = state_of_queue(queue, system, _instant(args.at))
        system = _at(state, system, policy, folder)
        history = history_of(workload, system, state.origin).before(state.at)
    for said in workload.source.notes:
        note(f"{args.history}: {said}", quiet=args.quiet)
    _refuse_nothing(state, len(asked))
    used = None if folder is None else folder.usage

    def drawn(state: State, system: System) -> list[Prediction]:
        states = [state, *(state.with_one_more(one, system) for one in asked)]
        prepare(simulation_by_limits(system, policy, state, history, used), quiet=args.quiet)
        with step("drawing", quiet=args.quiet) as told:
            return predict(
                *(system, policy, states, history),
                used=used,
                draws=args.draws,
                seed=args.seed,
                mapped=mapped,
                told=told,
            )

    found, *of_asked = _on_known_nodes(drawn, state, system, args, folder)
    show(predict_text(found, of_asked, asked, left_out, history, policy.name), quiet=args.quiet)
    if args.plot is not None:
        _draw(found, of_asked, args)


def _on_known_nodes(
    drawn: Callable[[State, System], list[Prediction]],
    state: State,
    system: System,
    args: argparse.Namespace,
    folder: SiteFolder | None,
) -> list[Prediction]:
    """Return what is drawn with running jobs on the nodes that squeue names, where that can be."""
    from scheduler_sim.prediction.known_nodes import with_known_nodes

    site = read_site(args.system) if folder is None else folder.site
    known = with_known_nodes(state, system, {} if site is None else site.numbers)
    if known.elsewhere:
        note(
            f"{args.queue}: {known.elsewhere:,} running job{'s' * (known.elsewhere > 1)} on any free nodes:"
            " those of NODELIST are not known by name on this system, or are not as many as NODES",
            quiet=args.quiet,
        )
    try:
        return drawn(known.state, known.system)
    except InputError as error:
        if known.system is system:
            raise
        note(f"running jobs take any free nodes, not those of NODELIST: {error}", quiet=args.quiet)
        return drawn(state, system)


def _folder(args: argparse.Namespace) -> SiteFolder | None:
    """Read a site's folder and put its files in the places of system, queue and history; None for files."""
    if not os.path.isdir(args.system):
        for option, given in (("--queue", args.queue), ("--history", args.history)):
            if given is None:
                raise InputError(f"{option}: not given; allowed: a file, or the folder of a site as SYSTEM")
        args.policy = args.policy or "easy"
        return None
    if args.queue is not None or args.history is not None:
        raise InputError(
            f"found the folder {args.system} with --queue or --history; allowed: a folder alone, whose"
            " files they are"
        )
    from scheduler_sim.cli.folder_page import folder_summary, listed_by
    from scheduler_sim.system.site_folder import SQUEUE

    folder = read_folder(args.system)
    show(f"{folder_summary(folder)}\n\n  {listed_by(Path(args.system))}\n", quiet=args.quiet)
    if folder.queue is None:
        raise InputError(f"{args.system}: found no {SQUEUE}; allowed: a folder with what squeue printed")
    args.system, args.queue, args.history = str(folder.conf), str(folder.queue), str(folder.workload)
    args.policy = args.policy or "slurm"
    return folder


def _at(state: State, system: System, policy: Policy, folder: SiteFolder | None) -> System:
    """Return a site's system with its reservations, and with nodes that are out of service at the instant."""
    if folder is None:
        return system
    from scheduler_sim.prediction.state import out_of_service, reserved_from

    return replace(
        system,
        events=(*system.events, *out_of_service(folder.events, state)),
        reservations=(*system.reservations, *reserved_from(reservations_under(policy, folder), state)),
    )


def _refuse_nothing(state: State, asked: int) -> None:
    if not asked and not state.waits.any():
        raise InputError("--queue: found no waiting job; allowed: at least one, or --job")


def _instant(text: str | None) -> int | None:
    """Return seconds since 1970, on the clock that squeue printed."""
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 12:
        return int(text)
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            raise ValueError
    except ValueError:
        raise InputError(
            f"--at: found {text!r}; allowed: YYYY-MM-DDThh:mm:ss, or seconds since 1970"
        ) from None
    return int(moment.replace(tzinfo=UTC).timestamp())


def _mapped(args: argparse.Namespace) -> Mapped:
    """Return where draws are carried out; refuse numbers that make no sense, before anything is read."""
    if not FEWEST <= args.draws <= MOST:
        raise InputError(f"--draws: found {args.draws}; allowed: an integer from {FEWEST} to {MOST:,}")
    if args.seed < 0:
        raise InputError(f"--seed: found {args.seed}; allowed: an integer >= 0")
    if args.workers is not None and not 1 <= args.workers <= MOST_WORKERS:
        raise InputError(f"--workers: found {args.workers}; allowed: an integer from 1 to {MOST_WORKERS:,}")
    if args.dask is not None and args.workers is not None:
        raise InputError("--workers: found with --dask, which has its own workers; allowed: one of the two")
    from scheduler_sim.prediction.workers import here, local, on_dask

    if args.dask is not None:
        return on_dask(args.dask)
    workers = args.workers or len(os.sched_getaffinity(0))
    return here if workers == 1 else local(workers)


def _draw(found: Prediction, of_asked: list[Prediction], args: argparse.Namespace) -> None:
    from scheduler_sim.report.look import save_png
    from scheduler_sim.report.prediction_figure import starts_figure

    with step(f"drawing {args.plot}", quiet=args.quiet):
        tables = [one.table().iloc[-1:] for one in of_asked]
        figure = starts_figure(found.table(), tables, found.state.at, found.horizon, found.state.origin)
        save_png(figure, args.plot, force=args.force)
    note(f"picture: {args.plot}", quiet=args.quiet)
