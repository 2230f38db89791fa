"""How Numba compiles an entry point: its parts are linked into it once, and optimised as a whole.

Numba would link into each function all that it calls, optimise that by itself, and make machine code of it,
which nobody runs: half of the time of compilation. And it would find out anew, at each place, which of its
dozens of operators takes two integers: a fifth of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime.nrt import rtsys
from numba.core.types.functions import BaseFunction


class _NoEnvironment:
    """What Numba keeps for a function that Python calls: nothing, as where code comes from the cache."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _Part(JITCodeLibrary):
    """The code of one function, to be linked into entry points; by itself it is never run."""

    codegen = _NoEnvironment()

    def finalize(self) -> None:
        self._shared_module = self._final_module
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class _Entry(_Part):
    """The code of an entry point, with that of all it calls, which nobody else will see.

    Attributes
    ----------
    machine_code : an object file
    only_here : it has addresses of this process, such as that of a large array that is constant
    """

    machine_code = b""
    only_here = False

    def finalize(self) -> None:
        self._exported = {one.name for one in self._final_module.functions if not one.is_declaration}
        self._linking_libraries = _all_below(self)
        JITCodeLibrary.finalize(self)

    def _optimize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self.only_here = bool(self._dynamic_globals)
        for function in self._final_module.functions:
            is_part = function.linkage == Linkage.external and function.name not in self._exported
            if is_part and not function.is_declaration:
                function.linkage = Linkage.internal
        super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self.machine_code = self._codegen._tm.emit_object(self._final_module)
        self._finalized = True


def _all_below(library: Any) -> list[Any]:
    """Return what a library calls, and what that calls; what Numba made by itself holds all it calls.

    What allocates is last: of that LLVM links only what something before calls.
    """
    found = list(dict.fromkeys(library._linking_libraries))
    for one in found:
        if isinstance(one, _Part):
            found.extend(other for other in dict.fromkeys(one._linking_libraries) if other not in found)
    return sorted(found, key=lambda one: one is rtsys.library)


class PartCompiler(Compiler):
    """Numba's, but for the library: this is the last call before it makes its own."""

    def define_pipelines(self) -> Any:
        """Return Numba's own passes."""
        self.state.library = _Part(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class EntryCompiler(Compiler):
    """Numba's for entry points, of which only the machine code is wanted."""

    def define_pipelines(self) -> Any:
        """Return Numba's own passes."""
        self.state.library = _Entry(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


@contextmanager
def types_remembered() -> Iterator[None]:
    """For as long as this lasts, Numba asks once which of its functions takes arguments of some types.

    Nobody else compiles meanwhile: it holds Numba's own lock.
    """
    known: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        question = self, tuple(args), tuple(kws.items())
        if question not in known:
            known[question] = asked(self, context, args, kws)
        return known[question]

    with global_compiler_lock:
        asked = BaseFunction.get_call_type
        BaseFunction.get_call_type = get_call_type  # type: ignore[method-assign]
        try:
            yield
        finally:
            BaseFunction.get_call_type = asked  # type: ignore[method-assign]
