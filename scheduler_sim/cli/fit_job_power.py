"""``scheduler-sim fit energy --jobs``: what jobs draw, learnt by user, application and size."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.formats import format_named
from scheduler_sim.cli.terminal import note, show, step, table
from scheduler_sim.errors import InputError

if TYPE_CHECKING:
    from scheduler_sim.energy.fitting.jobs import Drew, HeldOut
    from scheduler_sim.workload.table import Workload


def fit_job_power(args: argparse.Namespace) -> None:
    """Learn, say how near it is to jobs that were held out, and write."""
    from scheduler_sim.energy.fitting.jobs import judged, learn
    from scheduler_sim.energy.learnt import LEARNT_FILE
    from scheduler_sim.loaders.read import read_trace
    from scheduler_sim.output.rule import check_place
    from scheduler_sim.output.whole import whole_file
    from scheduler_sim.scaling.fitting.goodness import NO_MODEL

    out = None if args.out is None else Path(args.out)
    if out is not None:
        from scheduler_sim.report.look import PICTURE

        if out.suffix.lower() != ".csv":
            raise InputError(f"--out: found {args.out!r}; allowed: learnt power, .csv")
        check_place(out, LEARNT_FILE, force=args.force)
        check_place(out.with_suffix(".png"), PICTURE, force=args.force)
    read_as = format_named("--from", args.read_as)
    with step(f"reading {args.jobs}", quiet=args.quiet):
        workload = read_trace(args.jobs, read_as, columns=args.columns, on_error=args.on_error)
    for line in workload.source.notes:
        note(f"note: {line}", quiet=args.quiet)
    drew = _drew(workload)
    held_out, learnt = judged(drew), learn(drew)
    show(_text(held_out, Path(args.jobs).name, len(workload)), quiet=args.quiet)
    if _word(held_out) == NO_MODEL:
        note("warning: user, application and size do not predict the power of a job", quiet=args.quiet)
    if out is not None:
        with whole_file(out, None if args.force else LEARNT_FILE) as file:
            file.write(learnt.text().encode())
        _draw(held_out, out.with_suffix(".png"), Path(args.jobs).name, force=args.force)
        written = (
            f"learnt from all {len(drew.power_w):,} jobs, written to {out} and {out.with_suffix('.png')}"
        )
        show(f"\n  {written}", quiet=args.quiet)


def _drew(workload: Workload) -> Drew:
    """What the jobs of a trace that ran drew, in the order of their submission."""
    import numpy as np

    from scheduler_sim.energy.fitting.jobs import Drew
    from scheduler_sim.energy.learnt import application_of
    from scheduler_sim.energy.measured import Measured

    columns = workload.columns
    measured = Measured.of(columns)
    there = (columns["skipped"] == 0) & (columns["run_time"] > 0) & (measured.milliwatts > 0)
    rows = np.flatnonzero(there)
    rows = rows[np.argsort(columns["submit_time"][rows], kind="stable")]
    nodes = measured.nodes[rows]
    return Drew(
        measured.milliwatts[rows] / 1000 / nodes,
        np.asarray(columns["user"], dtype=object)[rows],
        np.asarray(application_of(columns["app"], columns["name"]))[rows],
        nodes,
        nodes * columns["run_time"][rows].astype(np.float64),
    )


def _draw(found: HeldOut, path: Path, name: str, *, force: bool) -> None:
    from scheduler_sim.energy.fitting.jobs import LEARNT
    from scheduler_sim.report.energy_figures import held_out_figure
    from scheduler_sim.report.look import save_png
    from scheduler_sim.report.wording import plain

    errors = dict(zip(found.errors["way"], found.errors["mape"], strict=True))
    title = f"{plain(name)}: what jobs draw, learnt from those before"
    save_png(held_out_figure(found.measured, found.told[LEARNT], errors, title), path, force=force)


def _text(found: HeldOut, name: str, records: int) -> str:
    """Say how near it is, beside simpler ways of telling."""
    from scheduler_sim.energy.fitting.jobs import LEARNT
    from scheduler_sim.report.energy_words import GROUPS
    from scheduler_sim.report.wording import count, plain
    from scheduler_sim.scaling.fitting.goodness import NO_MODEL

    no_model = ", no model" if _word(found) == NO_MODEL else ""
    mape = found.errors["mape"].iloc[0]
    off = f"jobs that were not learnt from are {mape:.2g} % off on average (MAPE)"
    jobs = found.learnt_from + found.held_out
    title = f"{plain(name)}: {count(jobs, 'job')} of {records:,} with a measured power"
    how = f"  learnt from the first {found.learnt_from:,}; the last {found.held_out:,} held out"
    rows = [("power of a node", "MAPE %", "bias %", "energy of all %")]
    for row in found.errors.itertuples():
        mark = ">" if row.way == LEARNT else " "
        rows.append((f"{mark} {row.way}", f"{row.mape:.2f}", f"{row.bias:.2f}", f"{row.energy:.2f}"))
    levels = ", ".join(f"{GROUPS[name]} {n:,}" for name, n in found.levels.items())
    return "\n\n".join(
        [
            f"power {_word(found)}{no_model}: {off}",
            f"{title}\n{how}",
            table(rows, left=1),
            f"  held out, told by {levels}",
        ]
    )


def _word(found: HeldOut) -> str:
    """Say how good it is; no model is what is hardly better than the mean of all."""
    from scheduler_sim.energy.fitting.jobs import LEARNT, OF_ALL
    from scheduler_sim.scaling.fitting.goodness import words

    mape = found.errors.set_index("way")["mape"]
    return words(float(mape[LEARNT]), float(mape[OF_ALL]))
