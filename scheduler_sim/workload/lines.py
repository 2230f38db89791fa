"""The text of a trace file as blocks of whole lines: plain or packed, bounded, never trusted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from scheduler_sim.errors import TraceError
from scheduler_sim.output.packed import BrokenFile, packing_named, packing_of
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.memory import check_memory

BLOCK_BYTES = 1 << 21
MAX_LINE_BYTES = 1 << 16
_BOM = b"\xef\xbb\xbf"


def read_blocks(path: str | Path, left: LeftOut | None = None) -> Iterator[bytes]:
    """Yield the text of a file in blocks of about 2 MB that end with a line end.

    Gzip and zstd are known by their first bytes. A last line without an end gets one. Raises a
    :class:`TraceError` for a file that cannot be read, a broken packed one, a NUL byte, a line of
    more than 65,536 bytes, and an empty file. Where lines are left out, such lines come as empty ones.
    """
    name = str(path)
    try:
        with open(path, "rb") as raw:
            yield from _whole_lines(_pieces(raw, name), name, left or LeftOut())
    except FileNotFoundError:
        raise TraceError("no such file", file=name) from None
    except IsADirectoryError:
        raise TraceError("this is a directory, not a trace", file=name) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TraceError(f"cannot be read: {reason}", file=name) from None


def _pieces(raw: BinaryIO, name: str) -> Iterator[bytes]:
    start = raw.read(BLOCK_BYTES)
    packing, named = packing_of(start), packing_named(name)
    if packing is not None:
        if not raw.seekable():
            raise TraceError(f"{packing.name} is read from files only, not from a pipe", file=name)
        raw.seek(0)
        try:
            yield from packing.unpacked(raw, BLOCK_BYTES)
        except BrokenFile as error:
            whole = f"a whole {packing.name} file"
            raise TraceError(f"broken {packing.name}: {error}", file=name, allowed=whole) from None
        return
    if named is not None and start:
        message = f"the name ends in {named.suffix} but this is not {named.name}"
        raise TraceError(message, file=name, found=start[:8].hex(" "))
    if raw.seekable():
        check_memory(os.fstat(raw.fileno()).st_size * 4, name, "reading it")
    while start:
        yield start
        start = raw.read(BLOCK_BYTES)


def _whole_lines(pieces: Iterator[bytes], name: str, left: LeftOut) -> Iterator[bytes]:
    rest, lines, first = b"", 0, True
    for piece in pieces:
        if first and piece.startswith(_BOM):
            piece = piece[len(_BOM) :]
        first = False
        block = rest + piece
        if b"\0" in piece and not left.skips:
            raise _not_text(name, lines + block.count(b"\n", 0, block.index(b"\0")) + 1)
        cut = block.rfind(b"\n") + 1
        rest = block[cut:]
        if cut:
            before = lines
            lines += block.count(b"\n", 0, cut)
            if left.skips:
                yield _of_text(block[:cut], name, before, left)
            else:
                _refuse_long_lines(block, cut, name, before)
                yield block[:cut]
        if len(rest) > MAX_LINE_BYTES:
            if not left.skips:
                raise _too_long(name, lines + 1)
            rest = rest[: MAX_LINE_BYTES + 1]
    if first:
        raise TraceError("the file is empty", file=name, allowed="a trace with at least one record")
    if rest:
        yield _of_text(rest + b"\n", name, lines, left) if left.skips else rest + b"\n"


def _of_text(block: bytes, name: str, lines: int, left: LeftOut) -> bytes:
    """Return a block without lines that are no text, or too long."""

    def check(line: bytes, number: int) -> None:
        if b"\0" in line:
            raise _not_text(name, number)
        if len(line) > MAX_LINE_BYTES:
            raise _too_long(name, number)

    longest = max(map(len, block.split(b"\n")))
    return left.checked(block, lines + 1, check) if b"\0" in block or longest > MAX_LINE_BYTES else block


def _refuse_long_lines(block: bytes, cut: int, name: str, lines: int) -> None:
    position = 0
    while cut - position > MAX_LINE_BYTES:
        end = block.rfind(b"\n", position, position + MAX_LINE_BYTES + 1)
        if end < 0:
            raise _too_long(name, lines + block.count(b"\n", 0, position) + 1)
        position = end + 1


def _too_long(name: str, line: int) -> TraceError:
    return TraceError("the line is too long", file=name, line=line, allowed=f"at most {MAX_LINE_BYTES} bytes")


def _not_text(name: str, line: int) -> TraceError:
    return TraceError("a NUL byte: this is not text", file=name, line=line, allowed="lines of text")
