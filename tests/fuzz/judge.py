"""What may come of a case: a result that keeps all laws, or an error in words that names the file."""

from __future__ import annotations

import contextlib
import io
import os
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim import read_trace, write_trace
from scheduler_sim.applications.models import Models
from scheduler_sim.cli.main import main
from scheduler_sim.config.value import duration
from scheduler_sim.energy.learnt import Learnt
from scheduler_sim.energy.points import Points
from scheduler_sim.energy.profile import PowerProfiles
from scheduler_sim.energy.tariff import Series
from scheduler_sim.errors import InputError, InvariantError
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.policy.policy import Policy
from scheduler_sim.result.result import Result
from scheduler_sim.scaling.fitting.read_points import read_points
from scheduler_sim.scaling.formula import value_of
from scheduler_sim.scaling.profile_file import read_any_profile
from scheduler_sim.study.study import Study
from scheduler_sim.system.constraint import parse_constraint
from scheduler_sim.system.slurm_conf.hostlist import expand
from scheduler_sim.system.slurm_conf.site import read_slurm_conf
from scheduler_sim.system.system import System
from tests.fuzz.cases import Case
from tests.fuzz.confine import OutsideError, confine_to
from tests.fuzz.tampering import tampered
from tests.fuzz.time_limit import TooLongError, limited, trace_of

CPU_S = 20
"""Processor time that a case may take."""


_NO_FILE = re.compile(r"(no such file|is a directory|cannot be read|not a YAML file)")


class FoundError(Exception):
    """A case ended as none may; says how."""


@dataclass(frozen=True)
class Finding:
    """What was found: ``sign`` tells one kind of finding from another."""

    sign: str
    text: str


def judged(case: Case, folder: Path) -> Finding | None:
    """Carry a case out in an empty folder, and judge what has come of it."""
    before = os.getcwd()
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    os.chdir(folder)
    try:
        with limited(CPU_S):
            confine_to(folder)
            KINDS[case.kind](case)
            confine_to(None)
        left = sorted(path.name for path in folder.rglob(".*") if path.name != ".lock")
        return Finding(f"leftover {case.kind}", f"left behind: {', '.join(left)}") if left else None
    except TooLongError as error:
        return Finding(f"hang {_place(error)}", f"more than {CPU_S} s of processor time\n{trace_of(error)}")
    except (Exception, OutsideError) as error:
        return Finding(f"{type(error).__name__} {_place(error)}", trace_of(error))
    finally:
        confine_to(None)
        os.chdir(before)


def _place(error: BaseException) -> str:
    """Name the last line of the project that was at work; of a finding, what it says."""
    if isinstance(error, FoundError):
        return str(error).splitlines()[0][:80]
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "scheduler_sim" in frame.filename
    ]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"


def _read(read: Callable[[str], Any]) -> Callable[[Case], None]:
    """Read the file of a case: whatever is wrong with it is an InputError that names the file."""

    def judge(case: Case) -> None:
        try:
            read(*case.arguments)
        except InputError as error:
            _require_place(str(error), case.named)

    return judge


def _require_place(said: str, named: tuple[str, ...]) -> None:
    """An error names one of the files, or begins with the name of another that cannot be had."""
    if named and not any(name in said for name in named) and not _NO_FILE.search(said):
        raise FoundError(f"an error that names no file\n{said[-500:]}")


def _trace_of(name: str) -> None:
    """Read; what can be read can also be written, and is the same when read again (tried with some)."""
    jobs = read_trace(name)
    with contextlib.suppress(InputError):
        jobs.dependencies()
        jobs.not_honoured()
    if len(jobs) % 3:
        return
    suffixes = "".join(Path(name).suffixes)
    out = "again.parquet" if "sacct" in name else f"again{suffixes}"
    lost = write_trace(jobs, out)
    again = read_trace(out)
    if not (again.table.equals(jobs.table) or suffixes.startswith(".csv") or lost):
        raise FoundError("what was written is not what was read")
    first = Path(out).read_bytes()
    write_trace(again, out)
    if Path(out).read_bytes() != first:
        raise FoundError("written twice, the bytes differ")


def _loaded(name: str, how: dict[str, str]) -> None:
    """Read by any source or format; as Parquet it comes back as it was read."""
    jobs = read_trace(name, **how)
    if not len(jobs):
        raise FoundError("a workload without a row")
    write_trace(jobs, "again.parquet")
    again = read_trace("again.parquet")
    if not again.table.equals(jobs.table) or not again.carried.equals(jobs.carried):
        raise FoundError("what was written is not what was read")


def _system(name: str) -> None:
    system = System.from_yaml(name)
    if System.from_dict(system.to_dict()).to_dict() != system.to_dict():
        raise FoundError("a system does not come back from its keys")


def _policy(name: str) -> None:
    policy = Policy.from_yaml(name)
    Policy(**policy.to_dict())


def _settings(start: str, given: dict[str, Any]) -> None:
    policy = Policy.named(start).with_settings(given)
    Policy(**policy.to_dict())


def _recipe(name: str) -> None:
    recipe = Recipe.from_yaml(name)
    Recipe.of(**recipe.to_dict())


def _text(text: str) -> None:
    for read in (expand, parse_constraint, lambda text: value_of(text, {"p": np.array([1.0, 8.0])})):
        with contextlib.suppress(InputError):
            read(text)
    with contextlib.suppress(ValueError):
        duration(text)


def _command(case: Case) -> None:
    code, said = _called(*case.arguments)
    if code == 0 and case.arguments[0] == "run" and "result" in case.arguments:
        Result.load("result").check()
    if code == 2:
        _require_place(said, (*case.named, "--") if case.named else ())


def _called(*arguments: str) -> tuple[int, str]:
    """Call the command line; return its exit code and what it said on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as stop:  # argparse
            code = int(stop.code or 0)
    said = err.getvalue()
    if "internal error" in said:
        place = [line.strip() for line in said.splitlines() if "scheduler_sim" in line and "line" in line]
        raise FoundError(f"internal error {' '.join(place[-1:])[-60:]}\n{said[-3000:]}")
    if "too large for the memory" in said:
        raise FoundError(f"out of memory: {arguments[0]}\n{said}")
    if code not in (0, 2):
        raise FoundError(f"exit code {code}: {arguments[0]}\n{said}")
    return code, said


def _tampered(case: Case) -> None:
    place = Path("result")
    place.mkdir()
    for name, content in tampered(*case.arguments).items():
        (place / name).write_bytes(content)
    with contextlib.suppress(InputError, InvariantError):
        Result.load(place).check()
    for arguments in (
        ("explain", "result", "1"),
        ("explain", "result", "3"),
        ("report", "result"),
    ):
        code, said = _called(*arguments)
        if code == 2:
            _require_place(said, ("result", "component"))


KINDS: dict[str, Callable[[Case], None]] = {
    "trace": _read(_trace_of),
    "loaded": _read(_loaded),
    "slurm_conf": _read(read_slurm_conf),
    "system": _read(_system),
    "policy": _read(_policy),
    "recipe": _read(_recipe),
    "study": _read(Study.from_yaml),
    "models": _read(Models.from_yaml),
    "power": _read(lambda name: PowerProfiles.from_yaml(name).figures()),
    "scaling": _read(read_any_profile),
    "scaling_points": _read(read_points),
    "energy_points": _read(Points.from_csv),
    "learnt_points": _read(Learnt.from_csv),
    "series_points": _read(Series.from_csv),
    "text": _read(_text),
    "settings": lambda case: _read(lambda *_: _settings(*case.arguments))(case),
    "command": _command,
    "tampered": _tampered,
}
