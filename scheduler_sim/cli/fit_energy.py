"""``scheduler-sim fit energy``: how power and run time follow the clock, learnt from counters.

With ``--jobs`` it learns what jobs draw instead: :mod:`.fit_job_power`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.fit_job_power import fit_job_power
from scheduler_sim.cli.force import add_force
from scheduler_sim.cli.formats import add_reading
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError
from scheduler_sim.numerals import integer

if TYPE_CHECKING:
    from scheduler_sim.energy.fitting.counters import Components
    from scheduler_sim.energy.fitting.validation import Validation
    from scheduler_sim.energy.model import Model
    from scheduler_sim.energy.points import Points

MEASURES = ("rmse_percent", "mape", "bias")

EXAMPLES = """\
examples:
  scheduler-sim fit energy points.csv
  scheduler-sim fit energy points.csv --counters l2_misses,flops --out node.yaml --seed 7
  scheduler-sim fit energy --jobs jobs.parquet --from pm100 --out learnt.csv

POINTS is a CSV file with the columns workload, frequency_khz and power_w (mean of one node). Optional are
time_s, module, role (fit or test) and any counters as rates: per second, per instruction, or as utilisation.
Workloads with role test are predicted but never fitted; without roles, random halves of the workloads are
used --splits times. With one frequency, power is fitted to counters or load levels only. --out writes the
model, fitted to all workloads except those with role test, and a picture of its errors.

--jobs TRACE learns the mean power of a node by user, application and size from jobs whose power was measured,
and compares it with the last fifth of them by submission. --out writes it as CSV, for energy.learnt of a
models file, and a picture of its errors.
"""

OF_POINTS = {"counters": None, "module": None, "reference": None, "turbo": None, "splits": 40, "seed": 0}
"""Options that are for points alone, and what they are where nobody gives them."""

OF_JOBS = {"read_as": None, "columns": None, "on_error": "stop"}
"""... for jobs alone."""


def add_to(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this kind to the parser of ``fit``."""
    parser = kinds.add_parser(
        "energy",
        help="how power and run time depend on the clock, or the power of jobs",
        description="Fit laws of power and run time to measurements at several frequencies, and report how"
        " well each predicts other workloads; or learn the power of jobs from those of a trace.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("points", metavar="POINTS", nargs="?", help="measured points, CSV")
    parser.add_argument("--jobs", metavar="TRACE", help="or jobs whose power was measured")
    add_reading(parser, "TRACE")
    parser.add_argument(
        "--out", metavar="FILE", help="model to write, .yaml, of jobs .csv; an older one is replaced"
    )
    parser.add_argument(
        "--counters",
        metavar="A,B",
        help="counters that laws may use (EAR's use only the first); default: by principal components",
    )
    parser.add_argument("--module", metavar="NAME", help="module, if the points are from several")
    parser.add_argument(
        "--reference",
        metavar="KHZ",
        type=integer,
        help="reference frequency in table and plots; default: the best",
    )
    parser.add_argument("--turbo", metavar="KHZ", type=integer, help="frequency that stands for turbo")
    splits, seed = OF_POINTS["splits"], OF_POINTS["seed"]
    parser.add_argument(
        "--splits", metavar="N", type=integer, default=splits, help="number of random halves; default: 40"
    )
    parser.add_argument(
        "--seed", metavar="N", type=integer, default=seed, help="seed of the splits; default: 0"
    )
    add_force(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Fit to points, or learn from jobs."""
    if (args.points is None) == (args.jobs is None):
        found = "neither" if args.points is None else "both"
        raise InputError(f"found {found} of POINTS and --jobs TRACE; allowed: one of the two")
    for name, default in (OF_POINTS if args.points is None else OF_JOBS).items():
        if getattr(args, name) != default:
            option = "from" if name == "read_as" else name.replace("_", "-")
            other = "POINTS" if args.points is None else "--jobs TRACE"
            raise InputError(f"--{option}: found without {other}; allowed: beside {other}")
    if args.points is None:
        fit_job_power(args)
    else:
        _fit_points(args)


def _fit_points(args: argparse.Namespace) -> None:
    """Fit, validate, and write."""
    from scheduler_sim.cli.fit_energy_page import no_models, validation_text
    from scheduler_sim.energy.fitting.grid import Grid
    from scheduler_sim.energy.fitting.regression import absolute_law, power_laws, time_laws
    from scheduler_sim.energy.fitting.selection import fit_selected
    from scheduler_sim.energy.fitting.validation import validate
    from scheduler_sim.energy.points import TIME
    from scheduler_sim.energy.pstates import PStates

    out = _out(args)
    if not 1 <= args.splits <= 1000:
        raise InputError(f"--splits: found {args.splits}; allowed: 1 to 1000")
    if not 0 <= args.seed < 2**63:
        raise InputError(f"--seed: found {args.seed}; allowed: an integer from 0 to 2^63 - 1")
    points = _points(args)
    if args.turbo is not None and args.turbo not in points.khz:
        raise InputError(f"--turbo: found {args.turbo}; allowed: {PStates.of(points.khz).words()} kHz")
    pstates = PStates.of(points.khz, args.turbo)
    if args.reference is not None:
        pstates.index(args.reference)
    if len(pstates) == 1:
        _fit_one_clock(args, out)
        return
    counters, components = _counters(args, points)
    timed = points.has(TIME)
    laws = power_laws(counters)
    if counters:
        laws.append(absolute_law(counters))
    if timed:
        laws += time_laws(counters, cpi=points.has("cpi"))
    with step(f"fitting {args.points}", quiet=args.quiet):
        validation = validate(points, laws, pstates=pstates, splits=args.splits, seed=args.seed)
        grid = Grid.of(points, pstates)
        grid = grid if grid.roles is None else grid.rows(grid.roles == "fit")
        model, *chosen = fit_selected(laws, grid)
    reference = args.reference or validation.best_reference()
    show(validation_text(validation, reference, counters, chosen, Path(args.points).name), quiet=args.quiet)
    if bad := no_models(validation, reference):
        note(f"warning: no law describes {', '.join(bad)}", quiet=args.quiet)
    if not timed:
        note("note: no run times; the model assumes T ∝ 1 / f", quiet=args.quiet)
    if out is None:
        return
    _write(out, validation, reference, model, components, args)
    show(f"\n  written to {out} and {out.with_suffix('.png')}", quiet=args.quiet)


def _fit_one_clock(args: argparse.Namespace, out: Path | None) -> None:
    """Fit power to counters, as nothing can be said of other clocks."""
    from scheduler_sim.cli.fit_energy_page import one_clock_text
    from scheduler_sim.energy.fitting.one_clock import MEAN, fit_one_clock
    from scheduler_sim.energy.model_file import MODEL, model_text
    from scheduler_sim.output.whole import whole_file
    from scheduler_sim.report.energy_figures import one_clock_figure
    from scheduler_sim.report.look import save_png

    points = _points(args, averaged=False)
    made = fit_one_clock(points, _counters(args, points)[0])
    show(one_clock_text(made, Path(args.points).name), quiet=args.quiet)
    note("note: one frequency; other clocks follow the physical law of the power profile", quiet=args.quiet)
    if made.selected == MEAN:
        note("warning: no counter predicts better than the mean of all", quiet=args.quiet)
    if out is None:
        return
    errors = made.errors.round(3).to_dict("index")
    with whole_file(out, None if args.force else MODEL) as file:
        file.write(model_text(made.model(), {"quality": "measured", "errors": errors}).encode())
    picture = one_clock_figure(made.measured[made.judged], made.told, made.selected)
    save_png(picture, out.with_suffix(".png"), force=args.force)
    show(f"\n  written to {out} and {out.with_suffix('.png')}", quiet=args.quiet)


def _out(args: argparse.Namespace) -> Path | None:
    from scheduler_sim.energy.model_file import MODEL
    from scheduler_sim.output.rule import check_place
    from scheduler_sim.report.look import PICTURE

    if args.out is None:
        return None
    out = Path(args.out)
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(f"--out: found {args.out!r}; allowed: a model, .yaml or .yml")
    check_place(out, MODEL, force=args.force)
    check_place(out.with_suffix(".png"), PICTURE, force=args.force)
    return out


def _points(args: argparse.Namespace, *, averaged: bool = True) -> Points:
    from scheduler_sim.energy.points import MODULE, Points

    points = Points.from_csv(args.points, averaged=averaged)
    if MODULE not in points.table:
        return points
    names = [str(name) for name in points.table[MODULE].unique()]
    wanted = args.module or names[0]
    if (args.module is None and len(names) > 1) or wanted.lower() not in [name.lower() for name in names]:
        found = "nothing" if args.module is None else repr(args.module)
        raise InputError(f"--module: found {found}; allowed: {', '.join(names)}")
    return points.of_module(wanted)


def _counters(args: argparse.Namespace, points: Points) -> tuple[list[str], Components | None]:
    from scheduler_sim.energy.fitting.counters import principal_components

    known = points.counters
    given = [name.strip() for name in args.counters.split(",") if name.strip()] if args.counters else []
    for name in given:
        if name not in known:
            raise InputError(f"--counters: found {name!r}; allowed: {', '.join(known) or 'none in POINTS'}")
    if len(set(given)) < len(given):
        raise InputError(f"--counters: found {args.counters!r}; allowed: each counter once")
    fitted = points.rows(points.table["role"].to_numpy() == "fit") if points.has("role") else points
    if not known:
        return [], None
    components = principal_components(fitted)
    return given or components.select(), components


def _write(
    out: Path,
    validation: Validation,
    reference: int,
    model: Model,
    components: Components | None,
    args: argparse.Namespace,
) -> None:
    from scheduler_sim.energy.fitting.validation import SELECTED
    from scheduler_sim.energy.model_file import MODEL, model_text
    from scheduler_sim.output.whole import whole_file
    from scheduler_sim.report.energy_figures import validation_figure
    from scheduler_sim.report.look import save_png
    from scheduler_sim.report.wording import plain

    summary = validation.summary(reference)
    errors = {
        f"{row['quantity']}, {row['law']}": {key: round(float(row[key]), 3) for key in MEASURES}
        for _, row in summary.iterrows()
    }
    rows = validation.projections
    shown = rows[
        (rows["law"] == SELECTED) & (rows["from_khz"] == reference) & (rows["split"] == rows["split"].min())
    ]
    picture = validation_figure(
        validation.map(),
        validation.curve(),
        shown,
        None if components is None else components.explained.tolist(),
        0 if components is None else components.kept(),
        f"{plain(Path(args.points).name)}: projections of workloads that were not fitted",
    )
    head = {"quality": "measured", "errors": {"from_khz": reference, **errors}}
    with whole_file(out, None if args.force else MODEL) as file:
        file.write(model_text(model, head).encode())
    save_png(picture, out.with_suffix(".png"), force=args.force)
