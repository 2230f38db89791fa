"""``scheduler-sim inspect``: what is in a trace or a system, with warnings, and a trace as a picture."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.force import add_force, check_picture
from scheduler_sim.cli.formats import SYSTEMS, add_reading, format_named
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError

if TYPE_CHECKING:
    from scheduler_sim.system.site_folder import SiteFolder
    from scheduler_sim.workload.curves import TraceCurves
    from scheduler_sim.workload.table import Workload

EXAMPLES = """\
examples:
  scheduler-sim inspect workloads/sample-1000.swf
  scheduler-sim inspect workloads/sample-1000.swf --plot sample.png --law workloads/sample-1000.yaml
  scheduler-sim inspect configs/systems/deep-est-prototype.yaml
  scheduler-sim inspect configs/systems/small-site.conf
  scheduler-sim inspect workloads/sample-site/

A folder is a site, as for scheduler-sim run. A name ending in .yaml or .yml is a system, one ending in .conf
Slurm's configuration, anything else a trace.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "inspect",
        help="show what is in a trace or a system",
        description="Show what is in a job trace or a system: counts, sizes, times, load over time,"
        " what is skipped and why, and warnings.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "what",
        metavar="TRACE|SYSTEM|SITE_DIR",
        help="job trace, system in YAML, slurm.conf, or the folder of a site",
    )
    add_reading(parser, "TRACE")
    parser.add_argument(
        "--plot", metavar="FILE.png", help="also draw the trace; an older picture is replaced"
    )
    parser.add_argument("--law", metavar="RECIPE", help="add what this recipe predicts to the picture")
    add_force(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Show what is there."""
    read_as = format_named("--from", args.read_as)
    is_folder = os.path.isdir(args.what)
    is_system = is_folder or (read_as is None and Path(args.what).suffix.lower() in SYSTEMS)
    if args.plot is not None:
        _check_plot(args.plot, is_system, force=args.force)
    elif args.law is not None:
        raise InputError("--law: found without --plot; allowed: inspect TRACE --plot FILE.png --law RECIPE")
    if is_folder:
        show(_folder(args))
    else:
        show(_system(args.what) if is_system else _trace(args)[1])
    if args.plot is not None:
        note(f"picture: {args.plot}")


def _check_plot(path: str, is_system: bool, *, force: bool) -> None:
    """Refuse what cannot be drawn, before any work."""
    if is_system:
        raise InputError("--plot draws a job trace; found a system; allowed: inspect TRACE --plot FILE.png")
    check_picture(path, force=force)


def _folder(args: argparse.Namespace) -> str:
    """The pages on a site and on its workload."""
    from scheduler_sim.cli.folder_page import folder_text
    from scheduler_sim.cli.site import read_folder

    folder = read_folder(args.what)
    args.what = str(folder.workload)
    workload, page = _trace(args)
    return "\n\n".join(part for part in (folder_text(folder), page, _not_simulated(folder, workload)) if part)


def _not_simulated(folder: SiteFolder, workload: Workload) -> str:
    """What of the trace cannot be simulated on the site's system, under policy slurm; empty if all can."""
    from scheduler_sim.cli.site import at_site, reservations_under
    from scheduler_sim.policy.policy import Policy
    from scheduler_sim.report.wording import printable
    from scheduler_sim.simulation import Simulation

    system = str(folder.conf)
    policy = at_site(Policy.resolve("slurm"), (), system, folder, quiet=True)
    reservations = reservations_under(policy, folder)
    try:
        trial = Simulation(
            system, workload, policy, on_error="skip", events=folder.events, reservations=reservations
        )
    except InputError as error:
        return "\n".join(["not simulated", *(f"  - {printable(line)}" for line in str(error).split("\n"))])
    left = trial.workload.source.notes[len(workload.source.notes) :]
    title = "not simulated: an error of run, unless --on-error skip leaves such jobs out"
    return "\n".join([title, *(f"  - {printable(note)}" for note in left)]) if left else ""


def _system(path: str) -> str:
    from scheduler_sim.cli.site import read_site, slurm_keys
    from scheduler_sim.cli.site_page import site_text
    from scheduler_sim.cli.system_page import system_text
    from scheduler_sim.system.system import System

    site = read_site(path)
    if site is None:
        return system_text(System.from_yaml(path))
    slurm_keys(site.policy, site.places)
    return site_text(site, path)


def _trace(args: argparse.Namespace) -> tuple[Workload, str]:
    """The trace, and the page on it."""
    from scheduler_sim.cli.trace_page import trace_text
    from scheduler_sim.loaders.read import read_trace
    from scheduler_sim.workload.summary import summarise

    with step(f"reading {args.what}"):
        workload = read_trace(args.what, args.read_as, columns=args.columns, on_error=args.on_error)
        page = trace_text(summarise(workload), workload.source)
    if args.plot is not None:
        with step(f"drawing {args.plot}"):
            _draw(workload, args)
    return workload, page


def _draw(workload: Workload, args: argparse.Namespace) -> None:
    from scheduler_sim.report.look import save_png
    from scheduler_sim.report.trace_figures import MOST_MODULES, trace_figure
    from scheduler_sim.workload.curves import curves_by_module, curves_of, module_names

    few = len(module_names(workload)) <= MOST_MODULES
    figure = trace_figure(
        curves_of(workload),
        _law(args.law) if args.law is not None else None,
        modules=curves_by_module(workload) if few else (),
    )
    save_png(figure, args.plot, force=args.force)


def _law(recipe: str) -> TraceCurves:
    from scheduler_sim.generation.recipe import Recipe
    from scheduler_sim.generation.recipe_law import recipe_law

    return recipe_law(Recipe.from_yaml(recipe))
