"""What comes of a case: it passes, it is refused in words, or something is found."""

from __future__ import annotations

import traceback
import warnings
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from scheduler_sim import Result
from scheduler_sim.errors import InputError, InvariantError
from tests.engine.interpreted import interpreted
from tests.fuzz.rules.audit import audit
from tests.fuzz.rules.draw import Draw, setting
from tests.fuzz.rules.models import models
from tests.fuzz.rules.operations import operations
from tests.fuzz.rules.plays import Case, FoundError, Play, compare, compare_bytes, require_same
from tests.fuzz.rules.policies import policy
from tests.fuzz.rules.systems import system
from tests.fuzz.rules.tables import Tables
from tests.fuzz.rules.workloads import jobs
from tests.fuzz.time_limit import TooLongError, limited, trace_of

CPU_S = 30.0
"""Processor time that playing a case once may take in plain Python; most take hundredths of a second.

A job that waits for a month until usage has faded has a million passes, and as many failures of nodes as the
case draws: what takes longer is played compiled, where it must end."""

PLAYS = 8
"""So often at most a case is played in other ways."""

COMPILED_CPU_S = 600.0
"""... and where shapes are compiled for it, which takes ten seconds and more each."""

OTHER_WAYS, BYTES = 6, 60
"""Every sixth case is played in all ways, every sixtieth is also written twice."""


@dataclass
class Outcome:
    """What has come of a case.

    Attributes
    ----------
    sign : tells one kind of finding from another; empty if nothing was found. text : what was found.
    refused : the words in which the case, or an operation of it, was refused.
    is_refused : the case as a whole was.
    """

    sign: str = ""
    text: str = ""
    refused: list[str] = field(default_factory=list)
    is_refused: bool = False


def case(seed: int, number: int) -> Case:
    """Return case ``number`` under a seed: the same wherever and in whatever order they are made."""
    of = setting(Draw(f"rules/{seed}/{number}"))
    made: Case = {"system": system(of)}
    made["jobs"] = jobs(of, made["system"])
    made["policy"] = policy(of)
    made["models"] = models(of, made["system"])
    made["operations"] = operations(of)
    made |= {"seed": of.draw.randint(0, 3), "cut": of.first + of.time(of.draw.randint(0, 160))}
    return made | {"level": 1 + (number % OTHER_WAYS == 0) + (number % BYTES == 0)}


def judged(case: Case, *, is_compiled: bool = False) -> Outcome:
    """Play and audit a case; compiled, its result is that of plain Python, too."""
    outcome = Outcome()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                with limited(CPU_S), interpreted():
                    first = _first(case, outcome)
            except TooLongError:
                with limited(COMPILED_CPU_S):
                    _first(case, outcome)
                return outcome
            with limited(COMPILED_CPU_S if is_compiled else PLAYS * CPU_S):
                _other_ways(case, first, is_compiled=is_compiled)
    except TooLongError as error:
        outcome.sign, outcome.text = "hang", f"it takes too much processor time\n{trace_of(error)}"
    except FoundError as error:
        outcome.sign, outcome.text = error.kind, str(error)
    except InvariantError as error:
        outcome.sign, outcome.text = f"check() {str(error).split(':')[0]}", str(error)
    except InputError as error:
        if "rules/own.py:" in str(error):  # code that keeps all rules
            outcome.sign, outcome.text = "own code fails", trace_of(error)
        outcome.refused.append(str(error))
        outcome.is_refused = True
    except Exception as error:
        outcome.sign, outcome.text = f"{type(error).__name__} {_place(error)}", trace_of(error)
    return outcome


def work_plain(seed: int, pipe: Connection) -> None:
    """Play the cases whose numbers come through a pipe; answer for each with its outcome."""
    _work(seed, pipe, is_compiled=False)


def work_compiled(seed: int, pipe: Connection) -> None:
    """Play them compiled, too."""
    _work(seed, pipe, is_compiled=True)


def _work(seed: int, pipe: Connection, *, is_compiled: bool) -> None:
    with suppress(EOFError, OSError):
        while True:
            for number in pipe.recv():
                pipe.send((number, judged(case(seed, number), is_compiled=is_compiled)))


def _first(case: Case, outcome: Outcome) -> Result:
    play = Play(case)
    result = play.by_processes()
    outcome.refused += play.refused
    audit(Tables(result, play))
    result.check()
    return result


def _other_ways(case: Case, first: Result, *, is_compiled: bool) -> None:
    if is_compiled:
        require_same("plain and compiled", first, Play(case).by_processes())
    with nullcontext() if is_compiled else interpreted():
        if case["level"] > 1:
            compare(case, first)
        if case["level"] > 2:
            compare_bytes(case)


def _place(error: BaseException) -> str:
    """Name the last line of the project that was at work."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "scheduler_sim" in one.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "?"
