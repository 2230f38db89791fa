"""``scheduler-sim generate``: a trace from a recipe, or a recipe from a trace."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.force import add_force
from scheduler_sim.cli.formats import add_reading, format_named
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.numerals import integer

if TYPE_CHECKING:
    from scheduler_sim.generation.generate import Generated

ALL = "all"

EXAMPLES = """\
examples:
  scheduler-sim generate workloads/deep-est-workflows-24.yaml --out trace.mwf --seed 7
  scheduler-sim generate workloads/deep-est-workflows-24.yaml --out trace.mwf --scenario all
  scheduler-sim generate --fit workloads/sample-1000.swf --out fitted.yaml
  scheduler-sim generate --fit workloads/sample-modular.mwf --out modular.yaml \\
      --system configs/systems/deep-est-prototype.yaml

The suffix of TRACE determines the format: .swf, .mwf or .csv (each also .gz or .zst), or .parquet. The same
recipe and seed give the same bytes. --scenario all writes one file for each of DEP, DEP+API, HET,
HET+DELAY and HET+DELAY+API, with the scenario in its name. --fit learns the parameters of Cirne's model
from a trace, and writes a recipe and a picture of how well it fits.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "generate",
        help="generate a trace from a recipe, or learn a recipe from a trace",
        description="Generate a job trace from a recipe (a YAML file), or learn a recipe from a trace.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("recipe", metavar="RECIPE", nargs="?", help="recipe in YAML")
    parser.add_argument(
        "--out", metavar="TRACE", required=True, help="file to write; an older one of its format is replaced"
    )
    parser.add_argument(
        "--seed", metavar="N", type=integer, help="seed of all random streams; default: the recipe's"
    )
    parser.add_argument(
        "--scenario", metavar="NAME", help="how workflows are written, or all; default: the recipe's"
    )
    parser.add_argument("--fit", metavar="TRACE", help="learn a recipe from this trace; --out is the recipe")
    add_reading(parser, "TRACE to fit")
    parser.add_argument(
        "--system", metavar="SYSTEM", help="machine of the trace to fit; default: from the trace"
    )
    add_force(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Generate a trace, or learn a recipe."""
    if (args.recipe is None) == (args.fit is None):
        raise InputError("generate: allowed: RECIPE to generate a trace, or --fit TRACE to learn a recipe")
    if args.seed is not None and not 0 <= args.seed < 2**63:
        raise InputError(f"--seed: found {args.seed}; allowed: an integer from 0 to 2^63 - 1")
    if args.system is not None and args.fit is None:
        raise InputError("--system: found without --fit; allowed: a recipe names its system itself")
    if args.read_as is not None and args.fit is None:
        raise InputError("--from: found without --fit; allowed: with a trace to learn from")
    if args.fit is not None:
        _learn(args)
    else:
        _make(args)


def _make(args: argparse.Namespace) -> None:
    from scheduler_sim.cli.generate_page import generated_text, warnings_of
    from scheduler_sim.generation.generate import Generated
    from scheduler_sim.generation.recipe import Recipe
    from scheduler_sim.generation.scenarios import SCENARIOS
    from scheduler_sim.output.rule import check_place
    from scheduler_sim.workload.kinds import TRACES
    from scheduler_sim.workload.trace_io import trace_format

    kind = TRACES[trace_format(args.out)]  # errors come before the work is done
    recipe = Recipe.from_yaml(args.recipe)
    all_of_them = args.scenario is not None and args.scenario.lower() == ALL
    if all_of_them and recipe.workflows is None:
        raise InputError("--scenario: found all for a recipe without workflows; allowed: DEP")
    wanted: tuple[str | None, ...] = SCENARIOS if all_of_them else (_scenario(args.scenario, SCENARIOS),)
    outs = [_named(Path(args.out), name) if all_of_them and name else Path(args.out) for name in wanted]
    for out in outs:
        check_place(out, kind, force=args.force)
    with step(f"generating {args.out}", quiet=args.quiet):
        generated = Generated(recipe, args.seed)
    page = generated_text(generated)
    written: list[Path] = []
    try:
        for scenario, out in zip(wanted, outs, strict=True):
            _write(generated, scenario, out, args)
            written.append(out)
    except (KeyboardInterrupt, SchedulerSimError) as stop:
        if not written:
            raise
        kept = f"kept {', '.join(map(str, written))}"
        raise type(stop)(kept if isinstance(stop, KeyboardInterrupt) else f"{stop}; {kept}") from None
    show(page, quiet=args.quiet)
    for warning in warnings_of(generated, trace_format(args.out)):
        note(f"note: {warning}", quiet=args.quiet)
    show(f"\n  written to {', '.join(map(str, written))}", quiet=args.quiet)


def _scenario(given: str | None, known: tuple[str, ...]) -> str | None:
    """Return the scenario in the known spelling, whatever the case it was given in."""
    return None if given is None else {name.lower(): name for name in known}.get(given.lower(), given)


def _named(out: Path, scenario: str) -> Path:
    """Put a scenario into a file name, before its suffixes: ``trace_het_delay.mwf.gz``."""
    stem, dot, suffixes = out.name.partition(".")
    return out.with_name(f"{stem}_{scenario.lower().replace('+', '_')}{dot}{suffixes}")


def _write(generated: Generated, scenario: str | None, out: Path, args: argparse.Namespace) -> None:
    from scheduler_sim.workload.trace_io import write_trace

    with step(f"writing {out}", quiet=args.quiet):
        for lost in write_trace(generated.scenario(scenario), out, force=args.force):
            note(f"note: {lost}", quiet=args.quiet)


def _nodes(system: str | None) -> dict[str, int] | None:
    if system is None:
        return None
    from scheduler_sim.system.read_system import read_system

    machine = read_system(system)
    by_partition = {p.name.lower(): machine.nodes_of(p.name) for p in machine.partitions}
    return {**by_partition, **{module.name.lower(): module.nodes for module in machine.modules}}


def _learn(args: argparse.Namespace) -> None:
    from scheduler_sim.generation.fitting import fit_modules, joint_law, joint_recipe
    from scheduler_sim.generation.fitting.page import RECIPE, recipe_text
    from scheduler_sim.loaders.read import read_trace
    from scheduler_sim.output.rule import check_place
    from scheduler_sim.output.whole import whole_file
    from scheduler_sim.report.look import PICTURE, save_png
    from scheduler_sim.report.trace_figures import trace_figure
    from scheduler_sim.workload.curves import curves_by_module, curves_of

    out = Path(args.out)
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(f"--out: found {args.out!r}; allowed with --fit: a recipe, .yaml or .yml")
    if args.scenario is not None:
        raise InputError("--scenario: found with --fit; allowed: with a recipe that has workflows")
    check_place(out, RECIPE, force=args.force)
    check_place(out.with_suffix(".png"), PICTURE, force=args.force)
    with step(f"reading {args.fit}", quiet=args.quiet):
        read_as = format_named("--from", args.read_as)
        workload = read_trace(args.fit, read_as, columns=args.columns, on_error=args.on_error)
    with step(f"fitting {args.fit}", quiet=args.quiet):
        fits = fit_modules(workload, _nodes(args.system), seed=args.seed or 0)
        whole = curves_of(workload, fits[0].nodes if len(fits) == 1 else None)
        each = curves_by_module(workload) if len(fits) > 1 else ()
        picture = trace_figure(whole, joint_law(fits), modules=each)
    save_png(picture, out.with_suffix(".png"), force=args.force)
    with whole_file(out, None if args.force else RECIPE) as file:
        file.write(recipe_text(fits, joint_recipe(fits), Path(args.fit).name).encode())
    show("\n\n".join(fitted.text() for fitted in fits), quiet=args.quiet)
    show(f"\n  written to {out} and {out.with_suffix('.png')}", quiet=args.quiet)
