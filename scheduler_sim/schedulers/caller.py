"""How the core calls a scheduler of the user's own, and what becomes of what goes wrong there."""

from __future__ import annotations

import ctypes
import inspect
from traceback import extract_tb
from typing import Any

from scheduler_sim.engine.core import loop
from scheduler_sim.engine.core.calling import HANDLERS
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.engine.rules.own_scheduler.state import ENDED, STARTED, SUBMITTED
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.schedulers.job import Jobs
from scheduler_sim.schedulers.view import UnlawfulError, View
from scheduler_sim.system.system import System

FAILED = -1
"""What a function of Numba's returns when it raises."""

TOLD = {SUBMITTED: "on_submit", ENDED: "on_end", STARTED: "on_start"}
"""Which method is told of what."""


class Caller:
    """Makes the passes of a scheduler that is written in Python.

    Attributes
    ----------
    scheduler : the user's object
    trace : the jobs it is shown
    """

    def __init__(self, scheduler: Any, system: System) -> None:
        self.scheduler, self.trace = scheduler, Jobs(system)
        self._view = View(self.trace)
        self._tells = {kind: getattr(scheduler, name, None) for kind, name in TOLD.items()}
        self._error: BaseException | None = None
        prototype = ctypes.PYFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)
        self._function = prototype(self._called)
        self._address = ctypes.cast(self._function, ctypes.c_void_p).value or 0
        HANDLERS[self._address] = self._make_pass

    def drive(self, core: FullCore, until: int, steps: int) -> None:
        """Let the loop work, as ``loop.drive``. Raises what the scheduler raises, with its place."""
        core.own_scheduler.at.address = self._address
        self._asked, self._log = core.own_scheduler.at, core.own_scheduler.log
        self._view.look_at(core)
        self._error = None
        try:
            loop.drive(core, until, steps)
        except Exception as error:
            cause = self._error or error
            if not isinstance(cause, Exception):  # Ctrl-C
                raise cause from None
            raise self._told(cause) from cause

    def _called(self, returned: Any, failure: Any, core: Any) -> int:
        """Make a pass for compiled code, which goes back to Python at once where it fails."""
        try:
            self._make_pass(core)
        except BaseException as error:
            self._error = error
            ctypes.c_void_p.from_address(failure).value = None
            return FAILED
        return 0

    def _make_pass(self, _: Any = None) -> None:
        """Tell it what has happened, let it say who starts, tell it who did."""
        view = self._view
        view.begin()
        told = self._tell(0)
        self.scheduler.schedule(view)
        self._tell(told)

    def _tell(self, first: int) -> int:
        """Tell it of the log from an entry on; returns how many entries there are."""
        asked = self._asked["told"].item()
        if asked > first and any(self._tells.values()):
            for kind, number in self._log[first:asked].tolist():
                if tell := self._tells[kind]:
                    tell(self._view, self.trace[number])
        return asked

    def _told(self, error: BaseException) -> InputError:
        """Say what went wrong, and in which line of the user's."""
        kind = type(self.scheduler)
        place = _place_in(error, kind)
        if isinstance(error, UnlawfulError):
            return UnlawfulError(f"{place}{error}")
        text = f"{place}{kind.__name__} fails at {self._view.now} s: {type(error).__name__}: {error}"
        return ConfigError(text)


def _place_in(error: BaseException, kind: type) -> str:
    """The last line of the file of a class that an error came through, as ``file:line: ``."""
    try:
        file = inspect.getfile(kind)
    except (OSError, TypeError):  # a class that was written at a prompt
        return ""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    return f"{file}:{lines[-1]}: " if lines else f"{file}: "
