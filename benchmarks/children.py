"""Processes that are measured: a case in one of its own, and whole commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import Progress

from benchmarks.measure import Case, argument

LAUNCH = """
import json, os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
told = process.stderr.read()
_, status, usage = os.wait4(process.pid, 0)
wall = time.perf_counter() - begin
sys.stderr.buffer.write(told if status else b"")
print(json.dumps([usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024 / 1e6]))
sys.exit(status != 0)
"""
"""A small interpreter that starts a command: Linux counts the memory of who starts a process as its own."""


class Usage(NamedTuple):
    """What a whole process took, with those it waited for: seconds of processor and of the clock, peak MB."""

    cpu_s: float
    wall_s: float
    peak_mb: float

    @classmethod
    def best(cls, runs: Sequence[Usage]) -> Usage:
        """The shortest times, and the most memory."""
        cpu_s, wall_s, peak_mb = zip(*runs, strict=True)
        return cls(min(cpu_s), min(wall_s), max(peak_mb))

    def spelt(self) -> tuple[str, str, str]:
        """Cells of a table."""
        return f"{self.cpu_s:.2f}", f"{self.wall_s:.2f}", f"{self.peak_mb:,.0f}"


class Failed(SystemExit):
    """A command that was to be measured has failed; what it said is on the error output."""


def whole(*command: str | Path) -> Usage:
    """Carry out a command and return what it took.

    Raises
    ------
    Failed : it ended with anything but 0.
    """
    words = [sys.executable, "-I", "-S", "-c", LAUNCH, *map(str, command)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failed(f"failed: {' '.join(map(str, command))}")
    return Usage(*json.loads(done.stdout))


def in_process(case: Case) -> dict[str, Any]:
    """Measure in a process of its own; a first one compiles, so that no compiler is in the memory."""
    child("measure", argument(replace(case, trace="", days=0.0, jobs=100, repeats=1)))
    return child("measure", argument(case))


def child(module: str, *given: str, **environment: str) -> Any:
    """Return what a module of the benchmarks prints, in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *given]
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}")
    return json.loads(done.stdout)


def shown(cases: Sequence[Any]) -> Iterator[Any]:
    """Go through the cases and show on a terminal how far it has come."""
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("measuring", total=len(cases))
        for case in cases:
            name = f"{case.policy}, {case.jobs or case.trace} jobs" if isinstance(case, Case) else case
            bar.update(task, description=str(name))
            yield case
            bar.advance(task)
