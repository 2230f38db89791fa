"""Compilation: where compiled code is kept, and how functions ask for it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

config: Any = numba.config
njit: Any = numba.njit


def _sources_hash() -> str:
    """Hash of every source of the engine: the compiler's own cache sees one file only."""
    digest = hashlib.sha256(numba.__version__.encode())
    folder = Path(__file__).parent
    for source in sorted(folder.rglob("*.py")):
        digest.update(str(source.relative_to(folder)).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Per user, one folder for each version of the engine's sources."""
    base = os.environ.get("SCHEDULER_SIM_CACHE_DIR")
    if base is None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        base = os.path.join(home, "scheduler-sim")
    return Path(base) / f"engine-{_sources_hash()}"


CACHE = cache_directory()
COMPILED = not config.DISABLE_JIT

if COMPILED:
    try:
        CACHE.mkdir(parents=True, exist_ok=True)
        config.CACHE_DIR = str(CACHE)
        CACHE_USABLE = os.access(CACHE, os.W_OK)
    except OSError:
        CACHE_USABLE = False
else:
    CACHE_USABLE = False


def is_cached(name: str) -> bool:
    """Whether the entry point ``name`` has been compiled on this machine before."""
    return any(CACHE.rglob(f"*.{name}-*.nbc")) if CACHE_USABLE else False


class _NoEnvironment:
    """What Numba keeps for a function that Python calls: nothing, as where code comes from the cache."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _Linked(JITCodeLibrary):
    """Code that is only ever linked into an entry point, which is optimised as a whole.

    Numba would optimise each function by itself, with all that it calls, and make machine code of it,
    which nobody runs: half of the time of compilation.
    """

    codegen = _NoEnvironment()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class _PartCompiler(Compiler):
    """Numba's, but for the library: this is the last call before it makes its own."""

    def define_pipelines(self) -> Any:
        self.state.library = _Linked(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


# Reference counting is off (an option Numba has but does not document): the core
# allocates nothing, and counting every array at every call made it thirty times slower.
part: Callable[[Any], Any] = njit(
    _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_PartCompiler
)
"""A function of the core, compiled into the loop that calls it; Python cannot call it.

Without the code that would unpack Python's arguments, compilation takes 40 % less.
"""

entry: Callable[[Any], Any] = njit(_nrt=False, cache=CACHE_USABLE)
"""A function that Python calls: compiled once and kept on disk."""
