"""The text of a trace file as blocks of whole lines: plain or gzip, bounded, never trusted."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.memory import check_memory

BLOCK_BYTES = 1 << 21
MAX_LINE_BYTES = 1 << 16
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


def read_blocks(path: str | Path) -> Iterator[bytes]:
    """Yield the text of a file in blocks of about 2 MB that end with a line end.

    Gzip is known by its first bytes. A last line without an end gets one. Raises a
    :class:`TraceError` for a file that cannot be read, a broken gzip, a NUL byte, a line of
    more than 65,536 bytes, and an empty file.
    """
    name = str(path)
    try:
        with open(path, "rb") as raw:
            yield from _whole_lines(_pieces(raw, name), name)
    except FileNotFoundError:
        raise TraceError("no such file", file=name) from None
    except IsADirectoryError:
        raise TraceError("this is a directory, not a trace", file=name) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TraceError(f"broken gzip: {error}", file=name, allowed="a whole gzip file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TraceError(f"cannot be read: {reason}", file=name) from None


def _pieces(raw: BinaryIO, name: str) -> Iterator[bytes]:
    start = raw.read(BLOCK_BYTES)
    if start[:2] == _GZIP:
        if raw.seekable():
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
                while piece := unpacked.read(BLOCK_BYTES):
                    yield piece
            return
        raise TraceError("gzip is read from files only, not from a pipe", file=name)
    if name.endswith(".gz") and start:
        raise TraceError("the name ends in .gz but this is not gzip", file=name, found=start[:8].hex(" "))
    if raw.seekable():
        check_memory(os.fstat(raw.fileno()).st_size * 4, name, "reading it")
    while start:
        yield start
        start = raw.read(BLOCK_BYTES)


def _whole_lines(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    rest, lines, first = b"", 0, True
    for piece in pieces:
        if first and piece.startswith(_BOM):
            piece = piece[len(_BOM) :]
        first = False
        block = rest + piece
        if b"\0" in piece:
            line = lines + block.count(b"\n", 0, block.index(b"\0")) + 1
            raise TraceError("a NUL byte: this is not text", file=name, line=line, allowed="lines of text")
        cut = block.rfind(b"\n") + 1
        rest = block[cut:]
        if cut:
            _refuse_long_lines(block, cut, name, lines)
            lines += block.count(b"\n", 0, cut)
            yield block[:cut]
        if len(rest) > MAX_LINE_BYTES:
            raise _too_long(name, lines + 1)
    if first:
        raise TraceError("the file is empty", file=name, allowed="a trace with at least one record")
    if rest:
        yield rest + b"\n"


def _refuse_long_lines(block: bytes, cut: int, name: str, lines: int) -> None:
    position = 0
    while cut - position > MAX_LINE_BYTES:
        end = block.rfind(b"\n", position, position + MAX_LINE_BYTES + 1)
        if end < 0:
            raise _too_long(name, lines + block.count(b"\n", 0, position) + 1)
        position = end + 1


def _too_long(name: str, line: int) -> TraceError:
    return TraceError("the line is too long", file=name, line=line, allowed=f"at most {MAX_LINE_BYTES} bytes")
