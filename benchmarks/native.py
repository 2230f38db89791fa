"""The bare loop in C++, and how much longer the others take.

``python -m benchmarks.native TRACE NODES REPEATS`` prints the times. The loop is built in a
temporary folder where a compiler is found. TRACE: a file, or so many generated jobs.
"""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks import trace
from benchmarks.children import child, shown
from benchmarks.section import KTH_NODES, Asked, table, without_trace

SOURCE = Path(__file__).with_name("bare_loop.cpp")
COMPILERS = "c++", "g++", "clang++"
COLUMNS = "<trace", "jobs", "<what", "ms", "x C++"
GENERATED = 100_000
AGAIN, NEW = "simulate()", "simulate(), a new workload"


def section(asked: Asked) -> str:
    """Times of the loop in C++, the same in Numba, the engine and simulate(), all in one process."""
    generated = 1_000 if asked.quick else GENERATED
    cases = [(f"generated, {trace.NODES} nodes", str(generated), trace.NODES)]
    if asked.has_trace:
        cases.insert(0, (f"KTH-SP2, {KTH_NODES} nodes", str(asked.trace), KTH_NODES))
    rows = []
    for name, source, nodes in shown(cases):
        found = child("native", source, str(nodes), "2" if asked.quick else "40")
        jobs, fastest = found.pop("jobs"), found.get("bare loop, C++")
        for what, seconds in found.items():
            ratio = f"{seconds / fastest:.1f}" if fastest else ""
            rows.append((name, f"{jobs:,}", what, f"{seconds * 1e3:.2f}", ratio))
    missing = "" if compiler() else f"\n\nLeft out: C++, as no compiler is there ({', '.join(COMPILERS)})."
    return table(COLUMNS, rows) + missing + without_trace(asked)


def compiler() -> str:
    """Path of a C++ compiler, empty without one."""
    return next((found for name in COMPILERS if (found := shutil.which(name))), "")


def build(folder: Path) -> Callable[..., Any]:
    """Compile the loop into a folder; returns it, called and answering as ``bare_loop.easy``."""
    import numpy as np

    library = folder / "bare_loop.so"
    command = [compiler(), "-std=c++17", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True)
    loop = ctypes.CDLL(str(library)).easy
    array = np.ctypeslib.ndpointer(np.int64, flags="C_CONTIGUOUS")
    loop.argtypes, loop.restype = [ctypes.c_int64, *[array] * 4, ctypes.c_int64, array], None

    def easy(submit: Any, nodes: Any, limit: Any, duration: Any, machine: int) -> Any:
        starts = np.full(len(submit), -1, np.int64)
        loop(len(submit), submit, nodes, limit, duration, machine, starts)
        return starts

    return easy


def compared(source: str, nodes: int, repeats: int) -> dict[str, float]:
    """Seconds of processor of each, the best of so many in turn; all starts have to be the same."""
    import numpy as np

    from benchmarks.bare_loop import easy
    from benchmarks.measure import Case, columns_of
    from scheduler_sim import Simulation, System, simulate

    of_file = not source.isdecimal()
    workload = Case("easy", nodes, 0 if of_file else int(source), source if of_file else "").workload()
    system = System.homogeneous(nodes)
    result = simulate(system, workload, "easy")
    jobs, expected = columns_of(result)
    loops = {"bare loop, Numba": easy}
    with tempfile.TemporaryDirectory() as folder:
        if compiler():
            loops = {"bare loop, C++": build(Path(folder)), **loops}
        for name, loop in loops.items():
            if not np.array_equal(loop(*jobs, nodes), expected):
                raise SystemExit(f"{name}: the engine gives other starts")
        best = dict.fromkeys([*loops, "engine", AGAIN, NEW], float("inf"))
        for _ in range(repeats):
            took = {name: _seconds(loop, *jobs, nodes) for name, loop in loops.items()}
            simulation = Simulation(system, workload, "easy")
            simulation.prepare()
            took["engine"] = _seconds(simulation.env.run)
            took[AGAIN] = _seconds(simulate, system, workload, "easy")
            took[NEW] = _seconds(simulate, system, workload.replace(), "easy")
            best = {name: min(best[name], took[name]) for name in best}
    return {"jobs": len(expected), **best}


def _seconds(work: Callable[..., Any], *given: Any) -> float:
    begin = process_time()
    work(*given)
    return process_time() - begin


if __name__ == "__main__":
    print(json.dumps(compared(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
