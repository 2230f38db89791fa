"""How the core calls a scheduler of the user's own, and what becomes of what goes wrong there."""

from __future__ import annotations

import ctypes
import sys
from copy import deepcopy
from pathlib import Path
from traceback import extract_tb, walk_tb
from typing import Any, Self, cast

from scheduler_sim.engine.core import loop
from scheduler_sim.engine.core.calling import PROTOTYPE
from scheduler_sim.engine.core.machine_code import RAISED, compiled_at
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.engine.rules.own_scheduler.asking import ENDLESS
from scheduler_sim.engine.rules.own_scheduler.state import ENDED, STARTED, SUBMITTED
from scheduler_sim.errors import ConfigError
from scheduler_sim.schedulers.job import Job, Jobs
from scheduler_sim.schedulers.unlawful import UnlawfulError, refused
from scheduler_sim.schedulers.view import View

TOLD = {SUBMITTED: "on_submit", ENDED: "on_end", STARTED: "on_start"}
"""Which method is told of what."""

MARK = "__compiled_scheduler__"
"""What a class has that is to be compiled."""


class Caller:
    """Lets the loop work, which calls a scheduler in each pass.

    Attributes
    ----------
    scheduler : the user's object
    trace : the jobs it is shown
    """

    def __init__(self, scheduler: Any, trace: Jobs) -> None:
        self.scheduler, self.trace, self._view = scheduler, trace, View(trace)

    def copied(self) -> Self:
        """Return what calls a copy of the scheduler, as it is now, in a copy of the simulation.

        Raises ConfigError for one that cannot be copied.
        """
        trace = self.trace.copied()
        view = View(trace)
        try:
            scheduler = deepcopy(self.scheduler, {id(self.trace): trace, id(self._view): view})
        except Exception as error:  # whatever the user's object raises
            name = type(self.scheduler).__name__
            raise ConfigError(f"branch: {name} cannot be copied: {type(error).__name__}: {error}") from error
        made = type(self)(scheduler, trace)
        made._view = view
        return made

    def look_at(self, core: FullCore) -> None:
        """Be at this core, which is a copy of that it was at."""
        self.trace.core = core

    def drive(self, core: FullCore, until: int, steps: int) -> None:
        """Let the loop work, as ``loop.drive``.

        Raises ConfigError for what fails in the user's file, UnlawfulError for what can never be, each with
        the line.
        """
        self.trace.core = core
        self.make_ready(core)
        try:
            loop.drive(core, until, steps)
            self.check()
        except Exception as error:
            raise self.told(error, int(core.clock.now)) from error
        finally:
            self.give_back()

    def make_ready(self, core: FullCore) -> None:
        """Write where the core finds the scheduler."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise what went wrong without the loop's knowing."""

    def give_back(self) -> None:
        """The loop has returned."""

    def told(self, error: Exception, now: int) -> Exception:
        """Say what went wrong, and in which line of the user's; Ctrl-C stays what it is."""
        kind = type(self.scheduler)
        place = f"{self.place_of(error)}: "
        if isinstance(error, UnlawfulError):
            return UnlawfulError(f"{place}{error}")
        job = self.job_of(error)
        of = "" if job is None else f", with job {job}"
        text = f"{place}{kind.__name__} fails at {now} s{of}: {type(error).__name__}: {error}"
        return ConfigError(text)

    def place_of(self, error: BaseException) -> str:
        """Return the user's file, and the line in it where something went wrong, as far as that is known."""
        return _place_in(error, type(self.scheduler))

    def job_of(self, error: BaseException) -> int | None:
        """Return the id of the job that it had looked at last in the function that failed, if any."""
        file = file_of(type(self.scheduler))
        frames = [frame for frame, _ in walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
        found = [one for frame in frames for one in frame.f_locals.values() if isinstance(one, Job)]
        return found[-1].id if found else None


class PythonCaller(Caller):
    """Calls a scheduler that is written in Python."""

    def __init__(self, scheduler: Any, trace: Jobs) -> None:
        super().__init__(scheduler, trace)
        self._tells = {kind: getattr(scheduler, name, None) for kind, name in TOLD.items()}
        self._hears = any(self._tells.values())
        self._error: BaseException | None = None
        self._function = PROTOTYPE(self._called)
        self._address = ctypes.cast(self._function, ctypes.c_void_p).value or 0

    def make_ready(self, core: FullCore) -> None:
        """The core calls back into Python."""
        core.own_scheduler.at.address = self._address
        self._asked, self._log = core.own_scheduler.at, core.own_scheduler.log
        self._error = None
        self._unraisable, sys.unraisablehook = sys.unraisablehook, self._hear
        self._view.look_at(core)

    def give_back(self) -> None:
        """Nobody calls it now."""
        sys.unraisablehook = self._unraisable

    def check(self) -> None:
        """Raise what a signal has raised while Python began the call of a pass, where nobody can catch it."""
        if self._error is not None:
            raise SystemError("interrupted")

    def _hear(self, told: Any) -> None:
        """Keep what a signal raises there: a loop that is to stop goes on otherwise."""
        if told.object == self._called:
            self._error = told.exc_value
        else:
            self._unraisable(told)

    def told(self, error: Exception, now: int) -> Exception:
        """Say what went wrong in Python, where compiled code knows only that something did."""
        cause = self._error or error
        if not isinstance(cause, Exception):  # Ctrl-C
            raise cause from None
        return super().told(cause, now)

    def _called(self, returned: Any, failure: Any, core: Any) -> int:
        """Make a pass for the core, which goes back to who called it at once where it fails."""
        try:
            self.check()
            self._make_pass()
        except BaseException as error:
            self._error = self._error or error
            ctypes.c_void_p.from_address(failure).value = None
            return RAISED
        return 0

    def _make_pass(self) -> None:
        """Tell it what has happened, let it say who starts, tell it who did."""
        self._view.begin()
        if self._asked.endless:
            raise refused(type(self.scheduler).__name__, None, self._view.now, ENDLESS)
        if not self._hears:
            self.scheduler.schedule(self._view)
            return
        told = self._tell(0)
        self.scheduler.schedule(self._view)
        self._tell(told)

    def _tell(self, first: int) -> int:
        """Tell it of the log from an entry on; returns how many entries there are."""
        last = int(self._asked.told)
        for kind, number in cast(Any, self._log[first:last]).tolist():
            if tell := self._tells[kind]:
                tell(self._view, self.trace[number])
        return last


def file_of(kind: type) -> str:
    """Return the file that a class stands in."""
    code = getattr(getattr(kind, "schedule", None), "__code__", None)
    return code.co_filename if code else kind.__module__


def _place_in(error: BaseException, kind: type) -> str:
    """The last line in the file of a class that an error came through."""
    file = file_of(kind)
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    lines += [line for name, line in compiled_at(error) if name == file]
    return f"{shown(file)}:{lines[-1]}" if lines else shown(file)


def shown(file: str) -> str:
    """Return a file as seen from the current directory, if it is in there."""
    here = Path.cwd()
    return str(Path(file).relative_to(here)) if Path(file).is_relative_to(here) else file
