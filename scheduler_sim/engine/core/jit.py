"""Compilation: how functions ask for it, and how compiled code is called. Numba is loaded where it compiles.

What was compiled before is taken from the disk and called by its address: that needs LLVM to link it, and
nothing of the compiler, which takes longer to load than most runs take.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from operator import index
from typing import Any, NamedTuple, TypeVar, cast

from scheduler_sim.engine.core.cache import Kept, NotKept, cache_directory, why_not
from scheduler_sim.engine.core.machine_code import Code, address_of, check
from scheduler_sim.engine.core.words import layout_of

F = TypeVar("F", bound=Callable[..., Any])

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "").strip() in ("", "0")
CACHE = cache_directory()
REFUSED = why_not(CACHE) if COMPILED else ""

_KEPT = NotKept(REFUSED) if REFUSED else Kept(CACHE)


_before: list[Callable[[], None]] = []


def before_compiling(function: Callable[[], None]) -> None:
    """Have something done each time before something is compiled."""
    _before.append(function)


class Part:
    """A function of the core, compiled into the loop that calls it; Python cannot call it."""

    def __init__(self, function: Callable[..., Any], *, inlined: bool = False) -> None:
        self.__name__, self.__doc__, self.__wrapped__ = function.__name__, function.__doc__, function
        self._inlined = inlined

    @cached_property
    def _dispatcher(self) -> Any:
        from scheduler_sim.engine.compiler.compile import dispatcher

        return dispatcher(self.__wrapped__, inlined=self._inlined)

    @property
    def _numba_type_(self) -> Any:
        """What it is to the compiler, which asks for it by this name."""
        return self._dispatcher._numba_type_


class Instruction:
    """A function that is one instruction of the processor, by its name in ``compiler/instructions``."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _numba_type_(self) -> Any:
        from scheduler_sim.engine.compiler.compile import instruction_type

        return instruction_type(self._name)


class Filler:
    """A function that compiled code calls by its address, for as long as what it ``needs`` is there.

    The address is 0 for one that is never called.
    """

    def __init__(self, address: int = 0, needs: Any = None) -> None:
        self.address, self._needs = address, needs

    @property
    def _numba_type_(self) -> Any:
        from scheduler_sim.engine.compiler.fillers import FILLER

        return FILLER


def part(function: F) -> F:
    """A function of the core, compiled into the loop that calls it; Python cannot call it."""
    return cast(F, Part(function)) if COMPILED else function


def inlined(function: F) -> F:
    """A part on the way of every job, called from few places: its code stands where it is called.

    Left to itself LLVM takes what happens once a job for rare, and calls it.
    """
    return cast(F, Part(function, inlined=True)) if COMPILED else function


class _Kind(NamedTuple):
    """How a number is handed over: what Python makes of it first, and what it is to C."""

    of: Callable[[Any], Any]
    c: Any


_KINDS = {
    "int": _Kind(index, ctypes.c_int64),
    "float": _Kind(float, ctypes.c_double),
    "bool": _Kind(bool, ctypes.c_bool),
    "None": _Kind(lambda value: None, ctypes.c_void_p),
}
"""By what stands in the signature of an entry."""


class Entry:
    """A function that Python calls with a core and numbers: compiled for each shape of core, and kept."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__name__, self.__doc__, self.__wrapped__ = function.__name__, function.__doc__, function
        names = function.__annotations__
        self._takes = tuple(names[name] for name in list(names)[1:] if name != "return")
        self._of = [_KINDS[kind].of for kind in self._takes]
        self._returns = _KINDS[names["return"]]
        self._part = part(function)
        self._made: dict[Any, Callable[..., int]] = {}

    def __call__(self, core: Any, *arguments: Any) -> Any:
        """Run the compiled function; compile it, or take it from the cache, at first."""
        call = self._made.get(core.shape) or self._make(core)
        returned, failure = self._returns.c(), ctypes.c_void_p()
        numbers = [of(argument) for of, argument in zip(self._of, arguments, strict=True)]
        check(call(ctypes.byref(returned), ctypes.byref(failure), core.words.address, *numbers), failure)
        return self._returns.of(returned.value)

    def bound(self, core: Any) -> Callable[..., Any]:
        """Return the compiled function for a core, to be called often, with numbers that are Python's own."""
        call = self._made.get(core.shape) or self._make(core)
        returned, failure = self._returns.c(), ctypes.c_void_p()
        places, address, of = (
            (ctypes.byref(returned), ctypes.byref(failure)),
            core.words.address,
            self._returns.of,
        )

        def bound(*numbers: Any) -> Any:
            check(call(*places, address, *numbers), failure)
            return of(returned.value)

        return bound

    def is_compiled(self, core: Any) -> bool:
        """Tell whether it has been compiled for such a core, now or before on this machine."""
        return core.shape in self._made or _KEPT.has(self._name(core))

    def _name(self, core: Any) -> str:
        return _KEPT.name_of(self.__wrapped__, layout_of(core))

    def _make(self, core: Any) -> Callable[..., int]:
        def compiled() -> Code:
            from scheduler_sim.engine.compiler.compile import entry_code

            for function in _before:
                function()
            return Code(*entry_code(self._part, core, self._takes))

        address = address_of(_KEPT.get(self._name(core), compiled))
        numbers = [_KINDS[kind].c for kind in self._takes]
        prototype = ctypes.PYFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3, *numbers)
        self._made[core.shape] = prototype(address)
        return self._made[core.shape]


def entry(function: F) -> F:
    """A function that Python calls with a core."""
    return cast(F, Entry(function)) if COMPILED else function


def bound(function: Any, core: Any) -> Callable[..., Any]:
    """Return an entry for one core, to be called often."""
    made: Callable[..., Any] = function.bound(core) if COMPILED else partial(function, core)
    return made


def is_compiled(function: Any, core: Any) -> bool:
    """Tell whether an entry has been compiled for such a core, now or before on this machine."""
    return not COMPILED or function.is_compiled(core)


def users_pass(about: Sequence[str], compiled: Callable[[], Code]) -> int:
    """Return where the compiled pass of a scheduler of a user's stands.

    Parameters
    ----------
    about : all that it is made from, by which it is kept; nothing if that cannot be told
    """
    from scheduler_sim.engine.core.needed import finds_all

    def usable(code: Code) -> bool:
        return finds_all(code.machine)

    code = _KEPT.get(_KEPT.name_of(users_pass, *about), compiled, usable) if about else compiled()
    if not usable(code):
        raise SystemError("compiled code needs a function that this process does not have")
    return address_of(code)


def filler(function: Callable[..., None]) -> Filler:
    """A function of the engine that writes keys, for compiled code to call: it is kept likewise."""

    def compiled() -> Code:
        from scheduler_sim.engine.compiler.fillers import filler_code

        return Code(*filler_code(function))

    return Filler(address_of(_KEPT.get(_KEPT.name_of(function), compiled)))
