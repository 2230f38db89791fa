"""``scheduler-sim study``: many runs, resumed by themselves."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from scheduler_sim.cli.force import DIRECTORY, add_force
from scheduler_sim.cli.terminal import note, show, step
from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.numerals import integer

if TYPE_CHECKING:
    from scheduler_sim.study.carry import Runner
    from scheduler_sim.study.conduct import Conducted
    from scheduler_sim.study.study import Study

FEWEST_FOR_PACE = 100
MOST_WORKERS = 1024

EXAMPLES = """\
examples:
  scheduler-sim study configs/studies/policies.yaml --out policies --workers 2
  scheduler-sim study configs/studies/policies.yaml --out policies

The second line repeats nothing: finished runs are kept, missing or failed ones are carried out. The directory
contains the results of many runs in few files, and index.parquet, one row per run, for pandas, DuckDB etc.
report and explain accept a run as DIR/runs/ID. With results: each every run has such a result directory.
A study with search: finds the best mix of modules for a budget, and writes search.parquet.
--dask is the address of a Dask scheduler (tcp://...), or a YAML file that describes Slurm jobs to start.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "study",
        help="carry out many runs and compare them",
        description="Carry out a study: all combinations of systems, workloads, policies and more.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("study", metavar="STUDY", help="study in YAML")
    parser.add_argument("--out", metavar="DIR", help="directory of the study; default: name of the study")
    parser.add_argument("--workers", metavar="N", type=integer, help="processes; default: one per core")
    parser.add_argument("--dask", metavar="ADDRESS", help="run on Dask instead of local processes")
    add_force(parser, DIRECTORY)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Carry out a study; say what has come of it."""
    runner = _runner(args)
    from scheduler_sim.cli.study_page import study_text
    from scheduler_sim.study.conduct import conduct
    from scheduler_sim.study.study import Study

    study = Study.from_yaml(args.study)
    out = Path(args.out) if args.out else Path(Path(args.study).stem)
    if study.keys.search is not None:
        _search(study, out, args)
        return
    began = monotonic()
    ended: list[float] = []
    try:
        with step(f"studying {study.name}", quiet=args.quiet) as progress:

            def told(done: int, total: int) -> None:
                ended.append(monotonic())
                progress(done, total)

            conducted = conduct(study, out, runner, told, force=args.force)
    except KeyboardInterrupt:
        kept = f"finished runs are kept in {out}, except those of unfinished packs"
        raise KeyboardInterrupt(f"{kept}; the same command continues there") from None
    show(study_text(study, conducted, monotonic() - began, _pace(ended)), quiet=args.quiet)
    if conducted.left_alone:
        names = ", ".join(map(repr, conducted.left_alone))
        note(f"note: kept in {out}, not part of the study: {names}", quiet=args.quiet)
    _tell_failures(study, conducted)


def _search(study: Study, out: Path, args: argparse.Namespace) -> None:
    """Search for the best mix; say which it is, and how sure that is."""
    from scheduler_sim.cli.search_page import search_text
    from scheduler_sim.study.search import search

    if args.dask is not None:
        raise InputError("--dask: found for a study with search; allowed: --workers")
    began = monotonic()
    try:
        with step(f"searching {study.name}", quiet=args.quiet) as progress:
            workers = args.workers or len(os.sched_getaffinity(0))
            found = search(study, out, workers, progress, force=args.force)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"finished looks are kept in {out}; the same command continues there"
        ) from None
    show(search_text(study, found, monotonic() - began), quiet=args.quiet)


def _runner(args: argparse.Namespace) -> Runner:
    if args.workers is not None and not 1 <= args.workers <= MOST_WORKERS:
        raise InputError(f"--workers: found {args.workers}; allowed: an integer from 1 to {MOST_WORKERS:,}")
    if args.dask is not None:
        if args.workers is not None:
            raise InputError(
                "--workers: found with --dask, which has its own workers; allowed: one of the two"
            )
        from scheduler_sim.study.dask_runner import on_dask

        return on_dask(args.dask)
    from scheduler_sim.study.carry import here
    from scheduler_sim.study.processes import local

    workers = args.workers or len(os.sched_getaffinity(0))
    return here if workers == 1 else local(workers)


def _pace(ended: list[float]) -> float | None:
    """Return seconds from one run's end to the next; None for so few that starting up is most of it."""
    return (ended[-1] - ended[0]) / (len(ended) - 1) if len(ended) >= FEWEST_FOR_PACE else None


def _tell_failures(study: Study, conducted: Conducted) -> None:
    if not conducted.failed:
        return
    from scheduler_sim.report.wording import plain

    index = conducted.index
    telling = [name for name in study.factors if index[name].nunique() > 1]
    names = index.drop_duplicates("id").set_index("id")[telling].astype(str)
    lines = [
        f"  {run} ({', '.join(f'{name} {plain(level)}' for name, level in names.loc[run].items())}): {error}"
        for run, error in conducted.failed.items()
    ]
    shown = [*lines[:20], *([f"  ... and {len(lines) - 20} more"] if len(lines) > 20 else [])]
    text = "\n".join(shown)
    raise SchedulerSimError(f"{len(lines)} runs failed; the others are kept in {conducted.directory}\n{text}")
