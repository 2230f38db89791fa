"""``run.log``: when, where and how fast a run was made, which its other files may not say."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from time import perf_counter

from scheduler_sim import __version__

LIBRARIES = ("numpy", "pandas", "numba", "pyarrow", "simpy")


class RunLog:
    """Takes the time of the parts of a run."""

    def __init__(self) -> None:
        self._begin = datetime.now().astimezone()
        self._start = perf_counter()
        self._seconds: dict[str, float] = {}
        self._engine = ""

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time that a part takes to what it has taken before."""
        start = perf_counter()
        yield
        self._seconds[name] = self._seconds.get(name, 0.0) + perf_counter() - start

    def engine(self, seconds: float, components: int) -> None:
        """Note how long the compiled core alone was at work."""
        self._engine = f"{seconds:.6f} s for {components} components"

    def text(self, args: Namespace, policy: str, doubts: Sequence[tuple[str, str]]) -> str:
        """Return the log, one ``key: value`` a line; ``doubts``: what a reader of the result must know."""
        import platform

        took = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in self._seconds.items())
        lines = {
            "command": shlex.join(sys.argv),
            "begin": self._begin.isoformat(timespec="milliseconds"),
            "took": f"{perf_counter() - self._start:.3f} s up to writing ({took})",
            "engine": self._engine,
            "peak memory": _peak_memory(),
            "host": f"{platform.node()}, {os.cpu_count()} processors, {platform.platform()}",
            "working directory": os.getcwd(),
            "system": str(Path(args.system).resolve()),
            "trace": str(Path(args.trace).resolve()),
            "policy": policy,
            "seed": str(args.seed),
            "scheduler-sim": f"{__version__} from {Path(__file__).resolve().parent.parent}",
            "python": f"{platform.python_version()}, {', '.join(_libraries())}",
        }
        return "".join(f"{key}: {value}\n" for key, value in (*lines.items(), *doubts))


def _libraries() -> Iterator[str]:
    from importlib.metadata import version

    for name in LIBRARIES:
        yield f"{name} {version(name)}"


def _peak_memory() -> str:
    try:
        import resource
    except ImportError:  # not on this operating system
        return "not known"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{peak / (1 << 20 if sys.platform == 'darwin' else 1 << 10):.0f} MB"
