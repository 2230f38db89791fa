"""One writer at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from scheduler_sim.errors import InputError


@contextmanager
def locked(path: Path, busy: str) -> Iterator[None]:
    """Hold the lock of a file, which is made if there is none; it ends with the process at the latest.

    On file systems without locks there is none, and all are let in.

    Raises
    ------
    InputError : saying ``busy``, if another process holds it. OSError : it cannot be made.
    """
    file = _opened(path)
    try:
        while not _is_ours(file, path, busy):
            file.close()
            file = _opened(path)
        yield
    finally:
        file.close()


def _opened(path: Path) -> BinaryIO:
    return open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "r+b")


def _is_ours(file: BinaryIO, path: Path, busy: str) -> bool:
    """Take the lock; tell whether the file is still the one under that name: its holder may remove it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(busy) from None
    except OSError:
        return True
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False
