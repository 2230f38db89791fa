"""Compilation: where compiled code is kept, and how functions ask for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import sigutils
from numba.core.ccallback import CFunc

from scheduler_sim.engine.core.cache import Kept, NotKept, cache_directory, why_not
from scheduler_sim.engine.core.indexing import counted_from_zero
from scheduler_sim.engine.core.linking import EntryCompiler, PartCompiler, types_remembered

config: Any = numba.config
njit: Any = numba.njit

F = TypeVar("F", bound=Callable[..., Any])

COMPILED = not config.DISABLE_JIT
CACHE = cache_directory()
REFUSED = why_not(CACHE) if COMPILED else ""


def _cache_of(function: Any) -> Kept | NotKept:
    return NotKept(REFUSED) if REFUSED else Kept(function, CACHE)


# Reference counting is off (an option Numba has but does not document): the core
# allocates nothing, and counting every array at every call made it thirty times slower.
_OPTIONS: Any = {
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": PartCompiler,
}


def part(function: F) -> F:
    """A function of the core, compiled into the loop that calls it; Python cannot call it.

    Without the code that would unpack Python's arguments, compilation takes 40 % less.
    """
    return cast(F, njit(**_OPTIONS)(function)) if COMPILED else function


def inlined(function: F) -> F:
    """A part on the way of every job, called from few places: its code stands where it is called.

    Left to itself LLVM takes what happens once a job for rare, and calls it.
    """
    return cast(F, njit(forceinline=True, **_OPTIONS)(function)) if COMPILED else function


_kinds: dict[Any, Any] = {}
"""Types of cores by their shapes."""


def _kind_of(core: Any) -> Any:
    """The type of a core; each shape is asked for once."""
    if core.kind is None:
        shape = core.shape
        if shape not in _kinds:
            _kinds[shape] = counted_from_zero(numba.typeof(core))
        core.kind = _kinds[shape]
    return core.kind


class Entry:
    """A function that Python calls with a core: compiled once for each type of core, and kept on disk.

    To tell the type of a core takes Numba half a millisecond: it is asked for once for each shape of core.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__name__, self.__doc__, self.__wrapped__ = function.__name__, function.__doc__, function
        self._dispatcher: Any = njit(_nrt=False, pipeline_class=EntryCompiler)(function)
        self._dispatcher._cache = _cache_of(function)
        self._made: dict[tuple[Any, ...], Any] = {}

    def __call__(self, core: Any, *arguments: Any) -> Any:
        """Run the compiled function; compile it, or take it from the cache, at first."""
        kind = _kind_of(core)
        key = (id(kind), *map(type, arguments))
        if key not in self._made:
            kinds = (kind, *map(numba.typeof, arguments))
            with types_remembered():
                self._dispatcher.compile(kinds)
            self._made[key] = kind, self._dispatcher.overloads[kinds].entry_point
        return self._made[key][1](core, *arguments)

    def is_compiled(self, core: Any, *arguments: Any) -> bool:
        """Tell whether it has been compiled for such arguments, now or before on this machine."""
        kinds = (_kind_of(core), *map(numba.typeof, arguments))
        found = kinds in self._dispatcher.overloads
        return found or self._dispatcher._cache.has(kinds, self._dispatcher.targetctx)


def entry(function: F) -> F:
    """A function that Python calls with a core."""
    return cast(F, Entry(function)) if COMPILED else function


def is_compiled(function: Any, *arguments: Any) -> bool:
    """Tell whether an entry has been compiled for such arguments, now or before on this machine."""
    return not COMPILED or function.is_compiled(*arguments)


def callback(function: Any, signature: str) -> Any:
    """A function that compiled code calls by its address: compiled now, and kept likewise."""
    compiled: Any = CFunc(function, sigutils.normalize_signature(signature), locals={}, options={})
    compiled._cache = _cache_of(function)
    compiled.compile()
    return compiled
