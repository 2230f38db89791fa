"""What the compiled methods of a scheduler are made from, as a text: the same text, the same code.

That is the code of the methods and of all functions of the user's that they call, with what is constant
there: globals, what closures have, defaults, and of modules all that has a name which stands in one of the
functions. There is no such text, and nothing is kept, where a value may be another one in another process,
and look the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from operator import attrgetter
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
"""Of these the text says all. A type of the user's that is derived from one may be anything."""

NUMBERS = "biufcmM"
"""Kinds of arrays and scalars, as NumPy has them."""

NUMBER_TYPES = {"Boolean", "Integer", "Float"}
"""Types of Numba's of which the name says all."""

LIBRARIES = {"builtins", "math", "cmath", "operator", "_operator", "numpy", "numba"}
"""Packages of which a function or class is known by its name, and by the version."""

OURS = {"scheduler_sim", "random", "abc", "functools", "heapq"}
"""Further names of packages that stand for what is known."""

_ABSENT = object()


class UnknownError(Exception):
    """Something of which it cannot be said whether it is the same elsewhere."""


def identity_of(name: str, methods: Mapping[str, FunctionType]) -> str:
    """Return the text for a class with such methods; empty if there is none."""
    if "numba" in sys.modules and _others_teach():
        return ""
    names: set[str] = set()
    try:
        while True:  # what is found in modules may name more
            known = _Known(frozenset(names))
            parts = [(key, known.function(method)) for key, method in sorted(methods.items())]
            if known.names == names:
                break
            names = known.names
    except UnknownError:
        return ""
    return sha256(repr((sys.version, np.__version__, name, parts)).encode()).hexdigest()


def _others_teach() -> bool:
    from scheduler_sim.engine.compiler.teachers import others_teach

    return others_teach()


class _Known:
    """What has been come by: functions may call each other, and modules name each other.

    Attributes
    ----------
    names : all names and texts so far; of a module what has one of ``wanted`` is read: it may be handed on
    """

    def __init__(self, wanted: frozenset[str]) -> None:
        self.names: set[str] = set(wanted)
        self._wanted = sorted(wanted)
        self._numbers: dict[Any, int] = {}

    def function(self, function: FunctionType) -> tuple[Any, ...]:
        """Say what a function is, with all that it reads."""
        if function in self._numbers:
            return "again", self._numbers[function]
        self._numbers[function] = len(self._numbers)
        _look_at_home(function)
        code = function.__code__
        names = _names_in(code)
        self.names |= names
        cells = [_content(cell) for cell in function.__closure__ or ()]
        there = {**cast(Any, function).__builtins__, **function.__globals__}
        constants = (*cells, function.__defaults__, *sorted((function.__kwdefaults__ or {}).items()))
        return (
            self._code(code),
            [(name, self._value(there[name])) for name in sorted(names) if name in there],
            [self._value(value) for value in constants],
        )

    def _code(self, code: CodeType) -> tuple[Any, ...]:
        """Where it stands is told where it fails, so it belongs to it."""
        within = [
            self._code(one) if isinstance(one, CodeType) else self._value(one) for one in code.co_consts
        ]
        places = code.co_filename, code.co_firstlineno, code.co_linetable, code.co_exceptiontable
        variables = code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        return code.co_qualname, code.co_code, within, places, variables, counts

    def _value(self, value: Any) -> tuple[Any, ...]:
        kind = type(value)
        if kind is str:
            self.names.add(value)  # for ``getattr``
        if kind in PLAIN:
            return kind.__name__, value.hex() if kind is float else repr(value)
        if kind is tuple:
            return "tuple", [self._value(one) for one in value]
        if kind is frozenset:
            return "frozenset", sorted(repr(self._value(one)) for one in value)
        if kind is slice:
            return "slice", [self._value(one) for one in (value.start, value.stop, value.step)]
        if kind is np.ndarray or (isinstance(value, np.generic) and kind.__module__ == "numpy"):
            return _numbers(value)
        if kind is ModuleType:
            return self._module(value)
        if kind.__name__ == "CPUDispatcher" and kind.__module__.startswith("numba."):
            return self._dispatcher(value)
        if kind.__name__ in NUMBER_TYPES and kind.__module__.startswith("numba."):
            return kind.__name__, str(value)
        return _named(value)

    def _module(self, module: ModuleType) -> tuple[Any, ...]:
        if module in self._numbers:
            return "again", self._numbers[module]
        self._numbers[module] = len(self._numbers)
        found = [(name, getattr(module, name, _ABSENT)) for name in self._wanted]
        return module.__name__, [(name, self._value(value)) for name, value in found if value is not _ABSENT]

    def _dispatcher(self, dispatcher: Any) -> tuple[Any, ...]:
        """A function that the user has decorated for Numba."""
        options = [(name, self._value(value)) for name, value in sorted(dispatcher.targetoptions.items())]
        kinds = [] if dispatcher._can_compile else sorted(map(str, dispatcher.overloads))
        return self.function(dispatcher.py_func), options, kinds


def _look_at_home(function: FunctionType) -> None:
    """It has a file, as a cell of a notebook has not; and that of a user's is not called as a library is."""
    home = sys.modules.get(function.__module__)
    is_there = home is not None and vars(home) is function.__globals__
    is_library = function.__module__.partition(".")[0] in LIBRARIES | OURS
    if vars(function):  # such as ``__signature__``
        raise UnknownError(function.__qualname__)
    if (is_library and not is_there) or not os.path.isfile(function.__code__.co_filename):
        raise UnknownError(function.__qualname__)


def _names_in(code: CodeType) -> set[str]:
    """Names that a function reads, of globals and of attributes."""
    within = (_names_in(one) for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*within)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        raise UnknownError("empty") from None


def _numbers(value: Any) -> tuple[Any, ...]:
    """An array, which to the compiler is constant, or a scalar."""
    flags: Iterable[bool] = (value.flags.c_contiguous, value.flags.f_contiguous, value.flags.aligned)
    if value.dtype.kind not in NUMBERS:
        raise UnknownError(str(value.dtype))
    return value.dtype.str, value.shape, tuple(flags), sha256(value.tobytes()).hexdigest()


def _named(value: Any) -> tuple[Any, ...]:
    """A function or class of a library, which is there by its name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(value, np.ufunc):
        module, name = "numpy", value.__name__
    if isinstance(module, str) and isinstance(name, str) and module.partition(".")[0] in LIBRARIES:
        try:
            if attrgetter(name)(sys.modules[module]) is value:
                return module, name
        except (AttributeError, KeyError):
            pass
    raise UnknownError(repr(type(value)))
