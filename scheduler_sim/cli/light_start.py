"""What makes the wait before a command does anything shorter, where that is most of its time."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


@contextmanager
def light_start() -> Iterator[Callable[[], None]]:
    """Load little, and call what this yields once the rest is loaded, before any work.

    pandas is loaded when it is needed, which in most runs it never is; OpenBLAS starts no threads for
    products of matrices, of which a run has none; nobody looks for garbage among what was loaded.
    """
    load_when_needed("pandas")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()

    def loaded() -> None:
        gc.freeze()
        gc.enable()

    try:
        yield loaded
    finally:
        gc.enable()
        gc.unfreeze()


class _NotYet(ModuleType):
    """A package that becomes itself with the first of its names that somebody asks for.

    importlib's LazyLoader loads it as soon as a second file imports it, for that asks for ``__spec__``.
    """

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        assert spec is not None
        assert spec.loader is not None
        self.__class__ = ModuleType  # type: ignore[assignment]
        self.__path__ = spec.submodule_search_locations or []
        spec.loader.exec_module(self)
        return getattr(self, name)


def load_when_needed(name: str) -> None:
    """Let ``import NAME`` of a package load nothing yet; one that is loaded or not installed stays as it is.

    For commands of one thread: while one thread loads it, another would see half of it.
    """
    spec = None if name in sys.modules else find_spec(name)
    if spec is not None and spec.loader is not None:
        made = _NotYet(name)
        made.__dict__.update(module_from_spec(spec).__dict__)
        del made.__path__  # or what is in the package would be loaded without it
        sys.modules[name] = made
