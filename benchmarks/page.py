"""Fill the tables of a page, all in one run: ``python -m benchmarks.page docs/benchmarks.md``.

Each table stands between ``<!-- NAME: ... -->`` and ``<!-- end -->``. Without a page they are printed.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

from benchmarks import files, limits, messages, native, peers, run, schedulers, sharing, slurm, studies
from benchmarks.section import KTH, ROOT, Asked

SECTIONS: dict[str, Callable[[Asked], str]] = {
    "engine": run.section,
    "native": native.section,
    "cold": run.cold,
    "files": files.section,
    "slurm": slurm.section,
    "limits": limits.section,
    "sharing": sharing.section,
    "schedulers": schedulers.section,
    "studies": studies.section,
    "messages": messages.section,
    "peers": peers.section,
}
ABOUT = "run"
"""Marks of what is said of the run itself."""

VERSIONS = "scheduler-sim", "numba", "numpy", "pandas", "pyarrow"
MARKS = re.compile(r"(<!-- (\w+): [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page once all is measured; a page that lacks a place is refused before."""
    parser = _parser()
    args = parser.parse_args(arguments)
    names = [name for name in SECTIONS if name in (args.only or SECTIONS)]
    is_whole = names == list(SECTIONS) and not args.quick
    page = args.page.read_text(encoding="utf-8") if args.page and args.page.is_file() else ""
    if args.page:
        wrong = misplaced(page, [*names, ABOUT] if is_whole else names)
        if wrong:
            parser.error(f"{args.page}: {wrong}")
    if args.cqsim and not (args.cqsim / "src" / "cqsim_main.py").is_file():
        parser.error(f"--cqsim {args.cqsim}: no src/cqsim_main.py there; allowed: a checkout of CQSim")
    asked = Asked(args.quick, args.peers, args.cqsim and args.cqsim.resolve(), args.trace.absolute())
    about, begin = machine(), perf_counter()
    texts = {}
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        texts[name] = SECTIONS[name](asked)
    if is_whole:
        texts[ABOUT] = f"{about}; {(perf_counter() - begin) / 60:.0f} min in all."
    else:
        kind = "small cases, once each, no measurement" if args.quick else "not of the run above"
        texts = {name: f"*By itself ({kind}): {about}.*\n\n{text}" for name, text in texts.items()}
    if args.page:
        args.page.write_text(filled(page, texts), encoding="utf-8")
    else:
        print("\n\n".join(f"{name}\n\n{text}" for name, text in texts.items()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.page",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("page", nargs="?", type=Path, help="with a place for each table")
    parser.add_argument("--only", metavar="SECTION", nargs="+", choices=SECTIONS, help=", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="small cases, once each: whether it works")
    parser.add_argument("--trace", metavar="FILE", type=Path, default=KTH, help="where KTH-SP2, cleaned, is")
    parser.add_argument("--peers", action="store_true", help="install AccaSim from PyPI and run it")
    parser.add_argument("--cqsim", metavar="PATH", type=Path, help="a checkout of CQSim to run")
    return parser


def misplaced(page: str, names: Sequence[str]) -> str:
    """Say what is wrong with the places for tables in a page, empty if nothing is."""
    places = [name for _, name, _ in MARKS.findall(page)]
    if missing := [name for name in names if name not in places]:
        return (
            f"found no place for {', '.join(missing)}; allowed: <!-- {missing[0]}: ... --> and <!-- end -->"
        )
    if unknown := [name for name in places if name not in SECTIONS and name != ABOUT]:
        return f"found a place for {', '.join(unknown)}; allowed: {', '.join([ABOUT, *SECTIONS])}"
    return ""


def filled(page: str, texts: dict[str, str]) -> str:
    """Return a page with texts in their places; all else stays as it is."""

    def place(found: re.Match[str]) -> str:
        begin, name, end = found.groups()
        return f"{begin}\n{texts[name]}\n\n{end}" if name in texts else found[0]

    return MARKS.sub(place, page)


def machine() -> str:
    """Where, when and with what it is measured."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = ", ".join(f"{name} {_version(name)}" for name in VERSIONS)
    day = datetime.now().astimezone()
    return (
        f"{day.day} {day:%B %Y}, {_processor()}, {cores} cores, {platform.system()}; "
        f"Python {platform.python_version()}, {versions}; commit {_commit()}"
    )


def _processor() -> str:
    """Model of the processor, by Linux or else by what Python knows."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    model = re.search(r"^model name\s*: (.+)$", told, re.MULTILINE)
    return model[1].strip() if model else platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of the checkout"


def _commit() -> str:
    """Short hash of what is checked out, and whether files differ from it."""
    try:
        words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=, with changes", "--exclude=*"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


if __name__ == "__main__":
    main()
