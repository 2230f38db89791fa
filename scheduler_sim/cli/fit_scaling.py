"""``scheduler-sim fit scaling``: the profile of an application from measured efficiencies or times."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.force import add_force
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError
from scheduler_sim.numerals import integer

if TYPE_CHECKING:
    from scheduler_sim.output.rule import Kind
    from scheduler_sim.scaling.learn import Learnt

EXAMPLES = """\
examples:
  scheduler-sim fit scaling configs/apps/points/prism.csv --out prism.yaml --scaling strong
  scheduler-sim fit scaling configs/apps/points/prism.csv --holdout 2
  scheduler-sim fit scaling modelfactors.csv --out app.yaml --scaling weak --module CM --ranks-per-node 24
  scheduler-sim fit scaling times.jsonl --out app.yaml --scaling weak
  scheduler-sim fit scaling sizes.csv --out app.yaml --scaling strong      processes,size,time
  scheduler-sim fit scaling counters.csv --metric flops --out flops.yaml

POINTS is a CSV with a column of processes and columns of efficiencies (load_balance, serialization,
transfer, ...) or time, and of several modules a column module; a modelfactors.csv of BSC's
basicanalysis; or Extra-P's text (.txt), JSON (.json), JSON lines (.jsonl) or Talpas. Times may depend on
several columns: processes, nodes, ranks, threads, size, clock_khz. With --out, pictures are written beside
the profile: how well it fits, and the tree of efficiencies. With --metric a model of that metric is written,
which predict-runtime reads; no run time comes from it.
"""

NOT_STATED = "CLUSTER"
"""Module of a profile whose points do not say where they were measured."""


def add_to(models: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this model to the parser of fits."""
    parser = models.add_parser(
        "scaling",
        help="run time as a function of the number of nodes",
        description="Learn from a few runs how an application scales, and write its profile.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("points", metavar="POINTS", help="file of measured points")
    parser.add_argument(
        "--out",
        metavar="PROFILE",
        help="profile to write (.yaml); default: only print the fit",
    )
    parser.add_argument(
        "--scaling", metavar="HOW", help="strong or weak scaling of the runs; default: strong, with a note"
    )
    parser.add_argument(
        "--metric",
        metavar="NAME",
        default="",
        help="fit this metric or column, such as flops, instead of times",
    )
    parser.add_argument("--app", metavar="NAME", help="name of the application; default: the name of POINTS")
    parser.add_argument(
        "--module",
        metavar="NAME",
        help=f"module it ran on, or which one of a column module; default: {NOT_STATED}, with a note",
    )
    parser.add_argument(
        "--ranks-per-node", metavar="N", type=integer, default=1, help="processes per node; default: 1"
    )
    parser.add_argument("--percent", action="store_true", help="efficiencies of a CSV are in per cent")
    parser.add_argument(
        "--reading",
        metavar="G",
        default="auto",
        help="interpretation of P: linear, cbrt, log2; default: auto",
    )
    parser.add_argument(
        "--weights",
        metavar="W",
        default="equal",
        help="equal, or first: the first point has ten times the weight",
    )
    parser.add_argument(
        "--holdout",
        metavar="K",
        type=integer,
        default=0,
        help="also fit without the K largest runs, and compare with them",
    )
    add_force(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Learn a profile."""
    _check(args)
    from scheduler_sim.scaling.fitting import read_points
    from scheduler_sim.scaling.learn import learn
    from scheduler_sim.scaling.page import learnt_text

    points = read_points(args.points, percent=args.percent, metric=args.metric, module=args.module)
    args.module = args.module or points.module or None
    _check_kind(args, points.metric)
    usual = "weak" if points.metric else "strong"
    with step(f"fitting {args.points}", quiet=args.quiet):
        learnt = learn(
            points,
            args.app or Path(args.points).stem,
            scaling=(args.scaling or usual).lower(),
            module=args.module or NOT_STATED,
            ranks_per_node=args.ranks_per_node,
            source=Path(args.points).name,
            reading=args.reading.lower(),
            weights=args.weights.lower(),
            holdout=args.holdout,
        )
    written = _write(learnt, Path(args.out), force=args.force) if args.out else []
    show(learnt_text(learnt), quiet=args.quiet)
    if points.metric:
        said = (
            "; --scaling strong models it times P, for amounts that processes share"
            if args.scaling is None
            else ""
        )
        note(f"note: {points.metric} is not a run time, so no profile is written{said}", quiet=args.quiet)
    elif args.scaling is None:
        note(
            "note: treated as strong scaling; use --scaling weak if the problem grew with P", quiet=args.quiet
        )
    if bad := [label for name, label in learnt.labels().items() if learnt.judged[name].no_model]:
        said = f"; {args.out} makes no predictions for it" if args.out else ""
        note(f"warning: no curve describes {', '.join(bad)}{said}", quiet=args.quiet)
    if args.module is None and args.out and not points.metric:
        note(f"note: the profile names the module {NOT_STATED}; --module sets the real one", quiet=args.quiet)
    for said in learnt.notes:
        note(f"note: {said}", quiet=args.quiet)
    if written:
        show(f"\n  written to {', '.join(map(str, written))}", quiet=args.quiet)


def _check(args: argparse.Namespace) -> None:
    for option, given, words in (
        ("--scaling", args.scaling, ("strong", "weak")),
        ("--reading", args.reading, ("auto", "linear", "cbrt", "log2")),
        ("--weights", args.weights, ("equal", "first")),
    ):
        if given is not None and given.lower() not in words:
            raise InputError(f"{option}: found {given!r}; allowed: {', '.join(words)}")
    if args.ranks_per_node < 1:
        raise InputError(f"--ranks-per-node: found {args.ranks_per_node}; allowed: an integer >= 1")
    if args.holdout < 0:
        raise InputError(f"--holdout: found {args.holdout}; allowed: an integer >= 0")
    if args.out and Path(args.out).suffix.lower() not in (".yaml", ".yml"):
        raise InputError(f"--out: found {args.out!r}; allowed: a profile, .yaml or .yml")


def _check_kind(args: argparse.Namespace, metric: str) -> None:
    """Refuse what makes no sense of the metric read, before anything is fitted."""
    if metric and args.module is not None:
        raise InputError(
            f"--module: found with {metric}, which counts the same on each; allowed: of run times"
        )
    if args.out:
        from scheduler_sim.output.rule import check_place

        check_place(args.out, _kind(metric), force=args.force)


def _kind(metric: str) -> Kind:
    """Return what is written, and may be replaced."""
    from scheduler_sim.scaling.metric_model import METRIC_MODEL
    from scheduler_sim.scaling.profile_file import PROFILE

    return METRIC_MODEL if metric else PROFILE


def _write(learnt: Learnt, out: Path, *, force: bool) -> list[Path]:
    """Write the profile, and pictures of the fits and of the tree of efficiencies beside it."""
    from scheduler_sim.output.rule import check_place
    from scheduler_sim.output.whole import whole_file
    from scheduler_sim.report.look import PICTURE, save_png
    from scheduler_sim.report.scaling_figures import fit_figure, slices_figure, tree_figure
    from scheduler_sim.scaling.metric_model import metric_text
    from scheduler_sim.scaling.profile_file import profile_text

    profile = learnt.profile
    title = f"{profile.app}: {profile.scaling} scaling"
    counted, labels, metric = learnt.points.counted, learnt.labels(), learnt.points.metric
    unit = metric or "seconds"
    heads = {name: f"{labels[name]}: {learnt.judged[name].word}" for name in learnt.fits}
    parameters = learnt.points.parameters
    if len(parameters) == 1:
        figure = fit_figure({heads[name]: fit for name, fit in learnt.fits.items()}, title, counted, unit)
    else:
        figure = slices_figure({heads[name]: fit for name, fit in learnt.fits.items()}, title, counted, unit)
    pictures = {out.with_suffix(".png"): figure}
    if rows := learnt.tree_rows():
        processes, measured = learnt.tree_columns()
        pictures[out.with_name(f"{out.stem}-tree.png")] = tree_figure(
            rows, processes, measured, title, counted
        )
    for path in pictures:
        check_place(path, PICTURE, force=force)
    for path, picture in pictures.items():
        save_png(picture, path, force=force)
    text = metric_text(metric, profile) if metric else profile_text(profile)
    with whole_file(out, None if force else _kind(metric)) as file:
        file.write(text.encode())
    return [out, *pictures]
