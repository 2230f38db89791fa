"""Compiled code: what a compiler leaves behind, linked into this process by LLVM, called by its address."""

from __future__ import annotations

import ctypes
import os
import pickle
from functools import cache
from typing import Any, NamedTuple, NoReturn

import llvmlite.binding as llvm

OK, NOTHING_RETURNED, RAISED = 0, -2, -1
"""What compiled code returns: the first two say that all went well."""


class Code(NamedTuple):
    """A compiled function, with all it calls.

    Attributes
    ----------
    symbol : its name in the object
    machine : an object file for this kind of processor
    only_here : it has addresses of this process
    """

    symbol: str
    machine: bytes
    only_here: bool = False


class _Failure(ctypes.Structure):
    """What compiled code leaves where it raises an exception: that, pickled."""

    _fields_ = (("pickled", ctypes.c_void_p), ("size", ctypes.c_int32))


_linked: list[Any] = []
"""What has the memory that linked code stands in."""


@cache
def processor() -> str:
    """Return what code is compiled for: this processor, or one that the user names.

    So code that was made with ``NUMBA_CPU_NAME=generic`` is found on every processor of a kind.
    """
    if named := os.environ.get("NUMBA_CPU_NAME"):
        return f"{llvm.get_process_triple()} {named}"
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def address_of(code: Code) -> int:
    """Link code into the process, where it stays, and return where its function begins."""
    made = linker()
    made.add_object_file(llvm.ObjectFileRef.from_data(code.machine))
    made.finalize_object()
    address: int = made.get_function_address(code.symbol)
    _linked.append(made)
    return address


def linker() -> Any:
    """Return one, for one object: symbols of two, made by different processes, may be the same."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def check(status: int, failure: ctypes.c_void_p) -> None:
    """Raise the exception that compiled code raised, if it did."""
    if status not in (OK, NOTHING_RETURNED):
        _raise(failure)


def _raise(failure: ctypes.c_void_p) -> NoReturn:
    if not failure:
        raise SystemError("compiled code failed, and does not say how")
    left = ctypes.cast(failure, ctypes.POINTER(_Failure)).contents
    kind, arguments, place = pickle.loads(ctypes.string_at(left.pickled, left.size))
    known = [one for one in arguments or () if isinstance(one, bool | int | float | str)]
    error = kind(*known)  # what is only known as it is raised has a place in there, and stands elsewhere
    error.compiled_at = place
    raise error


def compiled_at(error: BaseException) -> list[tuple[str, int]]:
    """Return the file and the line at which compiled code raised an error; nothing where it did not."""
    place = getattr(error, "compiled_at", None)
    return [(place[1], place[2])] if place else []
