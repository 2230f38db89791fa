"""``scheduler-sim run``: a trace on a system under a policy."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.compiling import prepare
from scheduler_sim.cli.force import DIRECTORY, add_force
from scheduler_sim.cli.formats import SYSTEMS, TRACES, add_reading, format_named
from scheduler_sim.cli.light_start import light_start
from scheduler_sim.cli.run_log import RunLog
from scheduler_sim.cli.site import at_site, reservations_under
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError
from scheduler_sim.numerals import integer

if TYPE_CHECKING:
    from scheduler_sim.policy.policy import Policy
    from scheduler_sim.simulation import Simulation
    from scheduler_sim.system.site_folder import SiteFolder

HONOUR_STATUS = "workload.honour_status"

EXAMPLES = """\
examples:
  scheduler-sim run configs/systems/cluster-128.yaml workloads/sample-1000.swf
  scheduler-sim run configs/systems/deep-est-prototype.yaml workloads/sample-modular.mwf \\
      --policy conservative --set policy.replan=keep --out result
  scheduler-sim run configs/systems/small-site.conf workloads/sample-sacct.txt --policy slurm
  scheduler-sim run workloads/sample-site/

SYSTEM is a YAML file; one line is enough: modules: [{name: CM, nodes: 100}]
It may be a slurm.conf (a name ending in .conf), which also sets the keys of --policy slurm.
TRACE is SWF, MWF, CSV, JSON lines (each also .gz or .zst), Parquet, or the output of sacct --parsable2:
its first lines tell, whatever its name. Without --out nothing is written.
Instead of both, a folder may be given with a slurm.conf and sacct.txt (or NAME.events), and optionally
gres.conf, topology.conf, sacctmgr_assoc.txt, sacctmgr_qos.txt, sacctmgr.script, sacctmgr_event.txt and
reservations.txt, each also .gz; a table shows what was read. --policy is then slurm by default.
The first run of a policy on a machine compiles the engine for it; later runs use a cache.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "run",
        help="simulate a trace on a system under a policy",
        description="Simulate a job trace on a system under a scheduling policy, and print a summary.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "system", metavar="SYSTEM|SITE_DIR", help="system in YAML, slurm.conf, or the folder of a whole site"
    )
    parser.add_argument(
        "trace",
        metavar="TRACE",
        nargs="?",
        help="job trace: SWF, MWF, sacct, any table in CSV, JSON lines or Parquet; none with SITE_DIR",
    )
    add_reading(parser, "TRACE")
    parser.add_argument(
        "--policy",
        metavar="NAME|FILE",
        help="fcfs, easy, conservative, slurm (Slurm's own schedulers), an order by name (that order"
        " without backfill), or a YAML file; default: easy, with SITE_DIR slurm",
    )
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="change a key of the policy, e.g. policy.depth=2; may be given several times."
        f" {HONOUR_STATUS}=true: components whose status in the trace is not success end as FAILED",
    )
    parser.add_argument(
        "--models",
        metavar="FILE",
        help="run times on each module, and power of nodes (YAML)",
    )
    parser.add_argument("--out", metavar="DIR", help="write the result into this directory")
    parser.add_argument(
        "--seed", metavar="N", type=integer, default=0, help="seed of all random draws; default: 0"
    )
    add_force(parser, DIRECTORY)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Simulate, write the result, print the table."""
    with light_start() as loaded:
        _execute(args, loaded)


def _execute(args: argparse.Namespace, loaded: Callable[[], None]) -> None:
    log = RunLog()
    args.read_as = format_named("--from", args.read_as)
    folder = _folder(args)
    settings = _settings(args.settings)
    honour_status = _honour_status(settings)
    out = Path(args.out) if args.out is not None else None
    with log.part("import"):
        older = _result_in(out, args)
        from scheduler_sim.cli.run_page import run_text
        from scheduler_sim.policy.policy import Policy
        from scheduler_sim.report.wording import doubts
    try:
        policy = at_site(Policy.resolve(args.policy), settings, args.system, folder, quiet=args.quiet)
        policy = policy.with_settings(settings) if settings else policy
        simulation = _loaded(args, policy, honour_status, log, folder)
        loaded()
        with step(f"simulating {args.trace}", quiet=args.quiet) as shown, log.part("simulate"):
            simulation.progress = shown.progress
            result = simulation.run()
        log.engine(simulation.engine_s, result.metrics["jobs"])
        if out is not None:
            with step(f"writing {out}", quiet=args.quiet):
                text = log.text(args, policy.name, doubts(result.metrics))
                result.save(out, log=text, force=args.force)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(out, older)) from None
    show(run_text(result, args.trace, simulation.engine_s), quiet=args.quiet)
    if out is None:
        show("\n  nothing was written; --out DIR keeps the result", quiet=args.quiet)
    else:
        show(f"\n  written to {out}", quiet=args.quiet)
        if sys.stdout.isatty():
            told = f"  next: scheduler-sim report {out}, or scheduler-sim explain {out} COMPONENT"
            show(told, quiet=args.quiet)


def _refuse_swapped(system: str, trace: str) -> None:
    """Say so where the names of both files tell that they are in each other's place."""
    from scheduler_sim.output.packed import SUFFIXES

    endings = [suffix.lower() for suffix in Path(system).suffixes if suffix.lower() not in SUFFIXES][-1:]
    if endings and endings[0] in TRACES and Path(trace).suffix.lower() in SYSTEMS:
        raise InputError(
            f"found the trace {system} before the system {trace}; allowed: the other way round,"
            f" scheduler-sim run {trace} {system}"
        )


def _loaded(
    args: argparse.Namespace,
    policy: Policy,
    honour_status: bool,
    log: RunLog,
    folder: SiteFolder | None,
) -> Simulation:
    """Read system and trace, and have the engine compiled for them."""
    with log.part("import"):
        from scheduler_sim.simulation import Simulation
    with step(f"reading {args.trace}", quiet=args.quiet), log.part("read"):
        simulation = Simulation(
            args.system,
            args.trace,
            policy,
            models=args.models,
            seed=args.seed,
            honour_status=honour_status,
            format=args.read_as,
            columns=args.columns,
            on_error=args.on_error,
            events=() if folder is None else folder.events,
            reservations=reservations_under(policy, folder),
        )
    for said in simulation.workload.source.notes:
        note(f"{args.trace}: {said}", quiet=args.quiet)
    with log.part("compile"):
        prepare(simulation, quiet=args.quiet)
    return simulation


def _folder(args: argparse.Namespace) -> SiteFolder | None:
    """Read a site's folder and put its files in the places of system and trace; None for two files."""
    if not os.path.isdir(args.system):
        if args.trace is None:
            raise InputError(
                f"found {args.system} and no trace; allowed: SYSTEM TRACE, or the folder of a site"
            )
        _refuse_swapped(args.system, args.trace)
        args.policy = args.policy or "easy"
        return None
    if args.trace is not None:
        raise InputError(
            f"found the folder {args.system} with {args.trace}; allowed: a folder alone, or SYSTEM TRACE"
        )
    from scheduler_sim.cli.folder_page import folder_summary, listed_by
    from scheduler_sim.cli.site import read_folder

    folder = read_folder(args.system)
    show(f"{folder_summary(folder)}\n\n  {listed_by(Path(args.system))}\n", quiet=args.quiet)
    args.system, args.trace, args.policy = str(folder.conf), str(folder.workload), args.policy or "slurm"
    return folder


def _settings(given: list[str]) -> dict[str, str]:
    settings = {}
    for setting in given:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--set: found {setting!r}; allowed: KEY=VALUE, for example policy.depth=2")
        settings[key.strip()] = value.strip()
    return settings


def _honour_status(settings: dict[str, str]) -> bool:
    """Take what is said of the workload out of the settings; the rest is the policy's."""
    about_workload = {key: settings.pop(key) for key in list(settings) if key.startswith("workload.")}
    for key in about_workload:
        if key != HONOUR_STATUS:
            raise InputError(f"--set: unknown key {key!r}; allowed: {HONOUR_STATUS}, and keys of the policy")
    value = about_workload.get(HONOUR_STATUS, "false").lower()
    if value not in ("true", "false"):
        raise InputError(f"--set {HONOUR_STATUS}: found {value!r}; allowed: true, false")
    return value == "true"


def _result_in(out: Path | None, args: argparse.Namespace) -> tuple[int, int] | None:
    """Refuse a directory that holds something else, before any work; tell which result is there."""
    if out is None:
        return None
    from scheduler_sim.result.store import refuse_foreign, stamp

    refuse_foreign(out, force=args.force)
    return stamp(out)


def _kept(out: Path | None, older: tuple[int, int] | None) -> str:
    """Say what an interrupted run leaves; nothing if that is nothing."""
    if out is None:
        return ""
    from scheduler_sim.result.store import stamp

    there = stamp(out)
    if there is None:
        return "" if older is None else f"the older result in {out} is gone"
    return f"the older result in {out} is kept" if there == older else f"the result in {out} is a newer one"
