"""A scheduler of the user's own, compiled: its methods run in the loop, with its state in memory."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np

from scheduler_sim.engine.core.jit import users_pass
from scheduler_sim.engine.core.machine_code import Code
from scheduler_sim.engine.core.words import layout_of
from scheduler_sim.engine.rules.own_scheduler.state import address_field
from scheduler_sim.errors import ConfigError
from scheduler_sim.schedulers.caller import TOLD, Caller, file_of, shown
from scheduler_sim.schedulers.identity import identity_of
from scheduler_sim.schedulers.job import Jobs
from scheduler_sim.schedulers.unlawful import refused

PLACE = re.compile(r"at (\S+) \((\d+)\)")
"""How Numba names a line."""

FAILED = "Failed in nopython mode pipeline"
"""After the last of these Numba says what is wrong."""

STYLES = re.compile("\x1b\\[[0-9;]*m")
"""Its words are bold."""

OF_TYPES = re.compile(r" of Reference\w+")
"""What our types are called beside what a reader knows."""

CODES: dict[Any, str] = {bool | np.bool_: "?", int | np.integer: "i8", float | np.floating: "f8"}
"""How numbers lie in memory."""

NUMBERS = "biuf"
"""Kinds of numbers that arrays may have, as NumPy has them."""

OF_CLASS = bool | int | float | np.bool_ | np.integer | np.floating | np.ndarray
"""What a method may use of its class, beside other methods."""


_ADDRESSES: dict[Any, int] = {}
"""Where the passes of schedulers stand that this process has compiled."""


class CompiledCaller(Caller):
    """Calls the compiled methods of a scheduler, which has the state it came to when the loop returns."""

    def __init__(self, scheduler: Any, trace: Jobs) -> None:
        super().__init__(scheduler, trace)
        self._state = State(scheduler)
        self._addresses: dict[Any, int] = {}

    def make_ready(self, core: Any) -> None:
        """The methods are compiled for each kind of core, once."""
        if not self._state.is_as_it_was():
            self._state = State(self.scheduler)
        place = *self._state.shape, core.shape
        if place not in self._addresses:
            self._addresses[place] = self._address(core, place)
        at = core.own_scheduler.at
        at.address, at.own, at.broken = self._addresses[place], self._state.address, 0
        at.line, at.looked_at = 0, -1
        self._state.take()

    def _address(self, core: Any, place: tuple[Any, ...]) -> int:
        """Where the methods stand. Raises ConfigError for what does not compile."""
        kind = type(self.scheduler)
        identity = identity_of(kind.__name__, _methods_of(kind))
        known = identity or _code_of_class(kind), *place
        if known not in _ADDRESSES:
            about = (identity, repr(self._state.shape), layout_of(core)) if identity else ()
            _ADDRESSES[known] = users_pass(about, lambda: self._compiled(core))
        return _ADDRESSES[known]

    def _compiled(self, core: Any) -> Code:
        from scheduler_sim.engine.rules.own_scheduler.taught.schedulers import kind_of, pass_code

        kind, state = type(self.scheduler), self._state
        try:
            made = kind_of(kind.__name__, state.layout, state.arrays, _methods_of(kind))
            return pass_code(core, made, file_of(kind))
        except Exception as error:  # whatever the compiler has to say of the user's file
            raise _not_compiled(kind, error) from error

    def give_back(self) -> None:
        """Python sees the state."""
        self._state.give_back()

    def told(self, error: Exception, now: int) -> Exception:
        """Say what went wrong; of what is unlawful, which law it was."""
        at = self.trace.core.own_scheduler.at
        if at.broken == 0:
            return super().told(error, now)
        job = None if at.broken_by < 0 else self.trace.id_of(int(at.broken_by))
        unlawful = refused(type(self.scheduler).__name__, job, now, int(at.broken))
        return super().told(unlawful.with_traceback(error.__traceback__), now)

    def place_of(self, error: BaseException) -> str:
        """The last line that its methods have come to."""
        line = int(self.trace.core.own_scheduler.at.line)
        return f"{shown(file_of(type(self.scheduler)))}:{line}" if line else super().place_of(error)

    def job_of(self, error: BaseException) -> int | None:
        """The job that its methods have looked at last."""
        row = int(self.trace.core.own_scheduler.at.looked_at)
        return self.trace.id_of(row) if row >= 0 else None


class State:
    """The numbers and arrays of a scheduler, in memory for compiled code.

    Attributes
    ----------
    layout : of the numbers, and of the addresses of arrays
    arrays : those, by name

    Raises ConfigError for an attribute that is anything else.
    """

    def __init__(self, scheduler: Any) -> None:
        kind, values = type(scheduler), _attributes(scheduler)
        self._scheduler = scheduler
        self.arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        for name, array in self.arrays.items():
            if array.dtype.kind not in NUMBERS or not array.dtype.isnative:
                raise _not_allowed(kind, name, f"an array of {array.dtype}")
        self._types = {name: type(value) for name, value in vars(scheduler).items()}
        self._numbers = [name for name in values if name not in self.arrays]
        fields = [(name, _code_of(kind, name, values[name])) for name in self._numbers]
        fields += [(address_field(name), "i8") for name in self.arrays]
        self.layout = np.dtype(fields or [("nothing", "i8")], align=True)
        self._memory = np.zeros(1, dtype=self.layout)

    @property
    def shape(self) -> tuple[Any, ...]:
        """What compiled code depends on."""
        return str(self.layout.descr), tuple((name, *_lie(array)) for name, array in self.arrays.items())

    def is_as_it_was(self) -> bool:
        """Whether all attributes are still such numbers and such arrays as when this was made."""
        now = vars(self._scheduler)
        if now.keys() != self._types.keys() or any(type(now[name]) is not self._types[name] for name in now):
            return False
        return all(_lie(now[name]) == _lie(array) for name, array in self.arrays.items() if name in now)

    @property
    def address(self) -> int:
        """Where it stands."""
        return int(self._memory.ctypes.data)

    def take(self) -> None:
        """Compiled code sees the state."""
        for name in self._numbers:
            self._memory[name] = getattr(self._scheduler, name)
        for name in self.arrays:
            self._memory[address_field(name)] = getattr(self._scheduler, name).ctypes.data

    def give_back(self) -> None:
        """Python sees the state."""
        for name in self._numbers:
            setattr(self._scheduler, name, self._memory[name][0].item())
        self._types = {name: type(value) for name, value in vars(self._scheduler).items()}


def _code_of_class(kind: type) -> Any:
    """A class without an identity: its methods by their files, which each run loads anew; or itself."""
    found = [
        (name, method.__qualname__, Path(method.__code__.co_filename))
        for name, method in _methods_of(kind).items()
    ]
    if any("<locals>" in name or not os.path.isfile(file) for _, name, file in found):
        return kind
    return tuple((*names, str(file), sha256(file.read_bytes()).digest()) for *names, file in sorted(found))


def _attributes(scheduler: Any) -> dict[str, Any]:
    """What a scheduler has of its own, and of its class if it is a number."""
    names = [name for name in dir(type(scheduler)) if not name.startswith("__")]
    of_class = {name: getattr(type(scheduler), name) for name in names}
    numbers = {name: value for name, value in of_class.items() if isinstance(value, OF_CLASS)}
    return {**numbers, **vars(scheduler)}


def _code_of(kind: type, name: str, value: Any) -> str:
    for wanted, code in CODES.items():
        if isinstance(value, wanted):
            return code
    raise _not_allowed(kind, name, type(value).__name__)


def _not_allowed(kind: type, name: str, found: str) -> ConfigError:
    return ConfigError(
        f"{shown(file_of(kind))}: compiled scheduler {kind.__name__}: self.{name}:"
        f" found {found}; allowed: int, float, bool, arrays of numbers"
    )


def _lie(array: np.ndarray) -> tuple[Any, ...]:
    """How an array lies in memory, and whether it may be written to."""
    return array.shape, array.strides, array.dtype.str, array.flags.writeable


def _methods_of(kind: type) -> dict[str, FunctionType]:
    """The methods of a scheduler, and one that does nothing for each that it need not have."""
    found = {name: getattr(kind, name) for name in dir(kind) if not name.startswith("__")}
    methods = {name: value for name, value in found.items() if isinstance(value, FunctionType)}
    return {**{name: cast(FunctionType, _nothing) for name in TOLD.values()}, **methods}


def _nothing(self: Any, view: Any, job: Any) -> None:
    """It need not hear of that."""


def _not_compiled(kind: type, error: Exception) -> ConfigError:
    """Say what does not compile, and in which line of the user's."""
    file, text = file_of(kind), STYLES.sub("", str(error))
    lines = [line for name, line in PLACE.findall(text) if name == file or file.endswith(name.lstrip("./"))]
    said = [line.strip() for line in text.rpartition(FAILED)[2].splitlines()[1:] if line.strip()]
    why = OF_TYPES.sub("", " ".join(said[: 1 + said[0].endswith(":")]) if said else text.strip())
    why = why or "no implementation of something in it is known to the compiler"
    place = f"{shown(file)}:{lines[0]}" if lines else shown(file)
    return ConfigError(
        f"{place}: {kind.__name__} cannot be compiled: {why} (without @compiled it is plain Python)"
    )
