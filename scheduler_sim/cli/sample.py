"""``scheduler-sim sample``: files to begin with, copied to where they can be changed."""

from __future__ import annotations

import argparse
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from scheduler_sim.cli.terminal import show
from scheduler_sim.errors import InputError, SchedulerSimError, did_you_mean
from scheduler_sim.output.failure import cannot_write


@dataclass(frozen=True)
class Sample:
    """Files that go together.

    Attributes
    ----------
    about : in words; files : with their folders; commands : what to do with them, in their folder.
    """

    about: str
    files: tuple[str, ...]
    commands: tuple[str, ...]


SAMPLES = {
    "first": Sample(
        "a cluster of 128 nodes, a trace of 1,000 jobs, and a study of policies",
        (
            "configs/systems/cluster-128.yaml",
            "workloads/sample-1000.swf",
            "workloads/sample-1000.yaml",
            "configs/studies/policies.yaml",
        ),
        (
            "scheduler-sim run configs/systems/cluster-128.yaml workloads/sample-1000.swf --out result",
            "scheduler-sim explain result 301",
            "scheduler-sim study configs/studies/policies.yaml --out policies",
        ),
    ),
    "modular": Sample(
        "the modules of the DEEP-EST prototype and a trace with module lists and dependencies",
        (
            "configs/systems/deep-est-prototype.yaml",
            "workloads/sample-modular.mwf",
            "workloads/sample-modular.yaml",
            "configs/models/deep-est-energy.yaml",
            "configs/power/deep-est-prototype.yaml",
        ),
        (
            "scheduler-sim run configs/systems/deep-est-prototype.yaml workloads/sample-modular.mwf"
            " --policy conservative --out modular",
            "scheduler-sim generate workloads/sample-modular.yaml --out trace.mwf --seed 7",
        ),
    ),
    "site": Sample(
        "a small Slurm cluster: slurm.conf, what sacct and squeue print",
        ("configs/systems/small-site.conf", "workloads/sample-sacct.txt", "workloads/sample-squeue.txt"),
        (
            "scheduler-sim run configs/systems/small-site.conf workloads/sample-sacct.txt --policy slurm"
            " --out replay",
            "scheduler-sim compare replay --recorded",
            "scheduler-sim predict configs/systems/small-site.conf --queue workloads/sample-squeue.txt"
            " --history workloads/sample-sacct.txt --draws 49",
        ),
    ),
    "scheduler": Sample(
        "schedulers to change: FCFS, EASY and conservative in Python",
        ("configs/systems/cluster-128.yaml", "workloads/sample-1000.swf", "configs/schedulers/classic.py"),
        (
            "scheduler-sim run configs/systems/cluster-128.yaml workloads/sample-1000.swf"
            " --policy configs/schedulers/classic.py:Easy",
        ),
    ),
    "messages": Sample(
        "message traces of eight and twelve processes, and networks",
        (
            "workloads/messages/stencil-8.csv",
            "workloads/messages/wavefront-12.dim",
            "configs/networks/cluster.yaml",
            "configs/networks/deep-est-prototype.yaml",
        ),
        (
            "scheduler-sim replay-messages workloads/messages/stencil-8.csv"
            " --network configs/networks/cluster.yaml --what-if balanced --plot timeline.png",
        ),
    ),
    "benchmarks": Sample(
        "half a year of a benchmark's results",
        ("workloads/sample-benchmarks.csv",),
        (
            "scheduler-sim benchmarks add results.sqlite workloads/sample-benchmarks.csv --environment mpi",
            "scheduler-sim benchmarks report results.sqlite --out benchmarks.html",
        ),
    ),
}

SCHEMA = re.compile(r"# yaml-language-server: \$schema=\.\./schemas/(\w+\.json)\n")

EXAMPLES = """\
examples:
  scheduler-sim sample                  # what there is
  scheduler-sim sample first            # copies it into ./first
  scheduler-sim sample site --out mine
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "sample",
        help="copy a sample system, trace and study to start from",
        description="Copy files that ship with the package into a folder, to run and to change.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help=f"{', '.join(SAMPLES)}; default: list them")
    parser.add_argument("--out", metavar="DIR", help="new folder; default: NAME")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Copy a sample, or list them."""
    if args.name is None:
        if args.out is not None:
            raise InputError(f"--out: found without NAME; allowed: together with one of {', '.join(SAMPLES)}")
        width = max(map(len, SAMPLES))
        show("\n".join(f"  {name:{width}}  {one.about}" for name, one in SAMPLES.items()), quiet=args.quiet)
        return
    if args.name not in SAMPLES:
        hint = did_you_mean(args.name[:60], tuple(SAMPLES))
        raise InputError(f"NAME: found {args.name!r:.60}; allowed: {', '.join(SAMPLES)}{hint}")
    sample, out = SAMPLES[args.name], Path(args.out or args.name)
    if os.path.exists(out) and (not os.path.isdir(out) or any(out.iterdir())):
        raise InputError(f"{out}: exists already; allowed: a new folder, named by --out")
    _copy(sample, out)
    commands = "\n".join(f"  {command}" for command in (f"cd {out}", *sample.commands))
    show(f"  {sample.about}, in {out}\n\nnext:\n{commands}", quiet=args.quiet)


def _copy(sample: Sample, out: Path) -> None:
    """Copy the files with their folders, so that paths in them lead where they do here, and their schemas."""
    source = shipped()
    schemas = sorted(filter(None, (_schema_of(source / name) for name in sample.files)))
    for name in dict.fromkeys([*sample.files, *(f"configs/schemas/{one}" for one in schemas)]):
        try:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, out / name)
        except OSError as error:
            raise cannot_write(out / name, error) from None


def _schema_of(file: Path) -> str | None:
    """Return the schema that the first line of a file names, for editors."""
    if file.suffix != ".yaml":
        return None
    found = SCHEMA.match(file.read_text(encoding="utf-8"))
    return None if found is None else found[1]


def shipped() -> Path:
    """Return where the samples are: in the package that was installed, or beside it in a checkout.

    Raises SchedulerSimError where neither is.
    """
    package = Path(__file__).parent.parent
    for place in (package / "shipped", package.parent):
        if os.path.isdir(place / "configs" / "systems") and os.path.isdir(place / "workloads"):
            return place
    raise SchedulerSimError("the samples are missing from this installation; reinstall scheduler-sim")
