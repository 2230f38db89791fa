"""Writing one file, whole or not at all."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from scheduler_sim.errors import InputError
from scheduler_sim.output.failure import cannot_write
from scheduler_sim.output.packed import packing_named
from scheduler_sim.output.rule import Kind, check_place, standing

IN_MEMORY_BYTES = 1 << 26

TEMPORARY = r"\.scheduler-sim-[0-9a-f]{12}\.partial"
"""Name of what is being written, or what a killed process left: nobody else's."""


def temporary_name() -> str:
    """Return such a name that nothing has yet."""
    return f".scheduler-sim-{token_hex(6)}.partial"


@contextmanager
def whole_file(path: str | Path, over: Kind | None = None) -> Iterator[BinaryIO]:
    """Open a file for writing; nothing of it is seen unless it was written whole.

    A regular file appears under another name beside its place and is renamed, with the mode and
    owner of the file that it replaces. Links stay links: what they lead to is written. A pipe or
    device gets the bytes once they are all there. What is named ``.gz`` or ``.zst`` is compressed, always
    to the same bytes.

    Parameters
    ----------
    over : the only kind of file that may be replaced, tested again when it is; None for any regular file.

    Raises
    ------
    InputError : nothing can or may be written here. SchedulerSimError : the disk is full or fails.
    """
    path = Path(path)
    _check(path, over)
    try:
        older = standing(path)
        if older is None or (stat.S_ISREG(older.st_mode) and _own_output(older) is None):
            with _beside(path, older, over) as raw, _packed(raw, path) as out:
                yield out
        else:
            with _poured(path, older) as raw, _packed(raw, path) as out:
                yield out
    except BrokenPipeError:
        raise  # whoever reads it has seen enough
    except OSError as error:
        raise cannot_write(path, error) from error


@contextmanager
def _beside(path: Path, older: os.stat_result | None, over: Kind | None) -> Iterator[BinaryIO]:
    """Write under another name in the folder of the target, and rename."""
    target = Path(os.path.realpath(path))
    mode = 0o666 if older is None else stat.S_IMODE(older.st_mode) & 0o777
    _clear(target.parent)
    temporary, raw = _begun(target, mode)
    try:
        with raw:
            if older is not None:
                with suppress(PermissionError):
                    os.fchown(raw.fileno(), older.st_uid, older.st_gid)
                os.fchmod(raw.fileno(), mode)
            yield raw
            raw.flush()
            os.fsync(raw.fileno())  # so that no power cut leaves an empty file under the name
        _check(path, over)
        now = standing(path)
        if now is not None and not stat.S_ISREG(now.st_mode):
            raise InputError(
                f"{path} was replaced by something other than a file while it was written; nothing"
                " was changed"
            )
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _begun(target: Path, mode: int) -> tuple[Path, BinaryIO]:
    """Open a file under a temporary name beside its place; it is locked for as long as it is written."""
    while True:
        path = target.with_name(temporary_name())
        raw = open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode), "w+b")  # noqa: SIM115
        with suppress(OSError):
            fcntl.flock(raw, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(raw.fileno()), path.stat()):
                return path, raw
        raw.close()  # somebody who cleared away took it for what was left behind


def _clear(folder: Path) -> None:
    """Remove what killed processes left in a folder: nobody has the lock of it any more."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if re.fullmatch(TEMPORARY, name):
                _remove_unlocked(folder / name)


def _remove_unlocked(path: Path) -> None:
    with suppress(OSError):
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if stat.S_ISREG(os.fstat(number).st_mode):
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
        finally:
            os.close(number)


@contextmanager
def _poured(path: Path, into: os.stat_result) -> Iterator[BinaryIO]:
    """Collect what is written, then put it into what stands there."""
    with SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as collected:
        yield cast(BinaryIO, collected)
        collected.seek(0)
        own = _own_output(into)
        if own is not None:
            (sys.stdout if own == 1 else sys.stderr).flush()
        with open(os.open(path, os.O_WRONLY) if own is None else os.dup(own), "wb") as out:
            shutil.copyfileobj(collected, out)


def _own_output(found: os.stat_result) -> int | None:
    """Tell which of our own standard streams this is, as ``/dev/stdout`` is: that is written on."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(found, os.fstat(descriptor)):
                return descriptor
    return None


def _check(path: Path, over: Kind | None) -> None:
    if over is not None:
        check_place(path, over)
    elif (found := standing(path)) is not None and stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path}: this is a directory, a file is to be written here")


def _packed(raw: BinaryIO, path: Path) -> AbstractContextManager[BinaryIO]:
    packing = packing_named(path)
    return nullcontext(raw) if packing is None else packing.packing(raw)
