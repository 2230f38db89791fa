"""Packed files: gzip and zstd, told by the ending of the name when written, by the first bytes when read."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast


class BrokenFile(Exception):
    """A packed file that is damaged or cut short."""


@dataclass(frozen=True)
class Packing:
    """A way to pack files.

    Attributes
    ----------
    name : as in *broken gzip*; suffix : how names of such files end; magic : how such files begin
    """

    name: str
    suffix: str
    magic: bytes

    def unpacked(self, raw: BinaryIO, size: int) -> Iterator[bytes]:
        """Yield what a file holds in pieces of so many bytes; raises BrokenFile."""
        try:
            with _READERS[self.name](raw) as packed:
                while piece := packed.read(size):
                    yield piece
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BrokenFile(str(error)) from None
        except OSError as error:
            if error.errno is not None:  # not of what the file holds
                raise
            raise BrokenFile(str(error)) from None

    def packing(self, raw: BinaryIO) -> AbstractContextManager[BinaryIO]:
        """Open a file to be written packed, always to the same bytes; ``raw`` stays open."""
        return _WRITERS[self.name](raw)


PACKINGS = (Packing("gzip", ".gz", b"\x1f\x8b"), Packing("zstd", ".zst", b"\x28\xb5\x2f\xfd"))
SUFFIXES = tuple(packing.suffix for packing in PACKINGS)


def packing_named(path: str | Path) -> Packing | None:
    """Return how a file is packed by its name, None if it is not."""
    return next((way for way in PACKINGS if str(path).lower().endswith(way.suffix)), None)


def packing_of(start: bytes) -> Packing | None:
    """Return how a file is packed by its first bytes, None if it is not."""
    return next((way for way in PACKINGS if start.startswith(way.magic)), None)


def _read_gzip(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(fileobj=raw, mode="rb"))


@contextmanager
def _write_gzip(raw: BinaryIO) -> Iterator[BinaryIO]:
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
        yield cast(BinaryIO, packed)


def _read_zstd(raw: BinaryIO) -> BinaryIO:
    import pyarrow

    return cast(BinaryIO, pyarrow.CompressedInputStream(_KeptOpen(raw, "rb"), "zstd"))


@contextmanager
def _write_zstd(raw: BinaryIO) -> Iterator[BinaryIO]:
    import pyarrow

    with pyarrow.CompressedOutputStream(_KeptOpen(raw, "wb"), "zstd") as packed:
        yield cast(BinaryIO, packed)


class _KeptOpen(io.RawIOBase):
    """A file for Arrow, which closes what it packs into and unpacks."""

    def __init__(self, raw: BinaryIO, mode: str) -> None:
        self._raw, self.mode = raw, mode

    def read(self, size: int = -1) -> bytes:
        return self._raw.read(size)

    def write(self, data: Any) -> int:
        return self._raw.write(data)

    def readable(self) -> bool:
        return self.mode == "rb"

    def writable(self) -> bool:
        return self.mode == "wb"


_READERS = {"gzip": _read_gzip, "zstd": _read_zstd}
_WRITERS = {"gzip": _write_gzip, "zstd": _write_zstd}
