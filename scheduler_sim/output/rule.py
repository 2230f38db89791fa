"""What a command may write over: the one rule for everything that stands where it is to write."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.output.failure import cannot_write
from scheduler_sim.output.packed import BrokenFile, packing_of

HEAD_BYTES = 1 << 20


@dataclass(frozen=True)
class Kind:
    """What a file holds.

    Attributes
    ----------
    name : as in *this is not a trace in SWF*.
    is_one : tells whether a regular file that is not empty holds it, for certain.
    """

    name: str
    is_one: Callable[[Path], bool]

    @classmethod
    def read_by(cls, name: str, read: Callable[[Path], object]) -> Kind:
        """Return the kind of all files that a reader takes without an error of this package."""

        def is_one(path: Path) -> bool:
            try:
                read(path)
            except SchedulerSimError:
                return False
            return True

        return cls(name, is_one)


def check_place(path: str | Path, kind: Kind, *, force: bool = False) -> None:
    """Raise InputError unless a file of this kind may be written here.

    A new file may, and an empty one or one of the same kind is replaced. Links are followed; devices of
    characters and pipes are written into. Any other regular file, one that is write-protected, and a
    disk need ``force``; a directory is refused even so.
    """
    path = Path(path)
    found = standing(path)
    if found is None:
        _check_folder(path)
        return
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path}: this is a directory, a file is to be written here")
    if force or stat.S_ISCHR(found.st_mode) or stat.S_ISFIFO(found.st_mode):
        return
    if not stat.S_ISREG(found.st_mode):
        raise _left_alone(path, "is a disk or a socket")
    if not found.st_mode & 0o222:
        raise _left_alone(path, "is write-protected")
    if found.st_size and not kind.is_one(path):
        raise _left_alone(path, f"contains something that is not {kind.name}")
    _check_folder(path)


def standing(path: Path) -> os.stat_result | None:
    """Return what stands at a path, links followed; None if nothing does."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot_write(path, error) from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot write {str(path)!r}: {error}") from None


def _check_folder(path: Path) -> None:
    folder = Path(os.path.realpath(path)).parent
    wrong = None if folder.is_dir() else errno.ENOENT
    if wrong is None and not os.access(folder, os.W_OK | os.X_OK):
        wrong = errno.EACCES
    if wrong is not None:
        raise cannot_write(path, OSError(wrong, os.strerror(wrong)))


def _left_alone(path: Path, why: str) -> InputError:
    return InputError(f"{path} {why} and is left alone; allowed: another name, or --force")


def head(path: Path, most: int = HEAD_BYTES) -> bytes:
    """Return the beginning of a file, unpacked if it is packed; nothing if it cannot be read."""
    try:
        with path.open("rb") as file:
            start = file.read(most)
            packing = packing_of(start)
            if packing is None:
                return start
            file.seek(0)
            return next(packing.unpacked(file, most), b"")
    except (OSError, BrokenFile):
        return b""


def lines_of(text: bytes) -> Iterator[bytes]:
    """Yield the whole lines of the beginning of a file, without their ends; the only line also if cut."""
    lines = text.splitlines()
    yield from lines if text.endswith((b"\n", b"\r")) or len(lines) < 2 else lines[:-1]
