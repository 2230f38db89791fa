"""What an object file needs of this process: LLVM ends the process where one thing of that is missing."""

from __future__ import annotations

import struct

import llvmlite.binding as llvm

from scheduler_sim.engine.compiler.outside import ADDRESSES
from scheduler_sim.engine.core.machine_code import linker

_SYMBOL = struct.Struct("<IBBHQQ")
"""A row of the table of symbols of an ELF file: name, kind, visibility, section (0 = none), value, size."""


def finds_all(machine: bytes) -> bool:
    """Whether an object file finds here all that it needs.

    Numba is loaded where something is not here before, or where the file does not say: if it is not ELF.
    """
    linker()  # from then on LLVM looks among what this process has
    for name, address in ADDRESSES.items():
        llvm.add_symbol(name, address)
    needed = _needed_by(machine)
    if needed is not None and all(map(_is_here, needed)):
        return True
    from scheduler_sim.engine.compiler.runtime import provide_runtime

    provide_runtime()
    return all(map(_is_here, needed or ()))


def _is_here(name: str) -> bool:
    return llvm.address_of_symbol(name) is not None


def _needed_by(machine: bytes) -> list[str] | None:
    """The names that an object file uses and does not have; None if it does not say."""
    if not machine.startswith(b"\x7fELF\x02\x01"):  # 64 bits, the lowest first
        return None
    sections = {one.name(): one.data() for one in llvm.ObjectFileRef.from_data(machine).sections()}
    symbols, texts = sections[b".symtab"], sections[b".strtab"]
    places = [name for name, _, _, section, _, _ in _SYMBOL.iter_unpack(symbols) if section == 0 and name]
    return [texts[place : texts.index(b"\0", place)].decode() for place in places]
