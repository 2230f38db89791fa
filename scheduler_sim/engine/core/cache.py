"""Compiled code on disk: where it may lie, and what becomes of files that are damaged or cannot be written.

What lies there is run. So it is taken only from a directory of the user's or of root's that
nobody else can write to, and only with the checksum it was written with. Whatever is wrong costs the
time to compile again, never the run; it is said once, as a SchedulerSimWarning.
"""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
import stat
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from scheduler_sim.engine.core.lock import Lock
from scheduler_sim.engine.core.machine_code import Code, processor

SEAL_BYTES = hashlib.sha256().digest_size

ASKED = ("NUMBA_BOUNDSCHECK", "NUMBA_CPU_FEATURES", "NUMBA_CPU_NAME", "NUMBA_ENABLE_AVX", "NUMBA_OPT")
"""What of the environment makes other code of the same sources."""

_told: set[str] = set()


def sources_hash() -> str:
    """Hash of the compiler's version, and of every source of the engine."""
    digest = hashlib.sha256(f"{version('numba')} {version('llvmlite')}".encode())
    folder = Path(__file__).parent.parent
    for source in sorted(folder.rglob("*.py")):
        digest.update(str(source.relative_to(folder)).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Per user, one folder for each version of the engine's sources."""
    base = os.environ.get("SCHEDULER_SIM_CACHE_DIR")
    if not base:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        base = os.path.join(home, "scheduler-sim")
    return Path(base).absolute() / f"engine-{sources_hash()}"


def why_not(directory: Path) -> str:
    """Say why code may not be kept in a directory, which is made if it is not there; empty if it may."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = directory.resolve(strict=True)
        own = place.stat()
        if own.st_uid not in (os.geteuid(), 0):
            return f"{place} belongs to another user"
        for one in (place, *place.parents):
            if _open_to_others(one.stat(), sticky_is_enough=one != place):
                return f"others can write to {one}"
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # ValueError: a NUL in the name; RuntimeError: a loop
        return f"{directory}: {_reason(error)}"
    return ""


def _open_to_others(found: os.stat_result, *, sticky_is_enough: bool) -> bool:
    """Tell whether somebody else can write to a directory, or rename in one above it."""
    if sticky_is_enough and found.st_mode & stat.S_ISVTX:
        return False
    by_group = bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)
    return by_group or bool(found.st_mode & stat.S_IWOTH)


def _is_own_group(gid: int) -> bool:
    """Tell whether a group is the user's alone, as many systems give everybody one."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and set(group.gr_mem) <= {user.pw_name} and group.gr_name == user.pw_name


def _any(code: Code) -> bool:
    return True


class NotKept:
    """For code that is kept nowhere; says why when the first is compiled."""

    def __init__(self, why: str) -> None:
        self.why = why

    def name_of(self, function: Callable[..., Any], *about: str) -> str:
        """Nothing is looked for."""
        return ""

    def has(self, name: str) -> bool:
        """There is nothing."""
        return False

    def get(self, name: str, make: Callable[[], Code], usable: Callable[[Code], bool] = _any) -> Code:
        """Make the code."""
        _warn(f"the compiled engine is not kept: {self.why}")
        return make()


class Kept:
    """Compiled code in ``directory``: a file for each function and what it was compiled for.

    Each has the checksum of the rest, a line with the name of the function, and the machine code.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def name_of(self, function: Callable[..., Any], *about: str) -> str:
        """Name the code of a function, made for what is told ``about`` its arguments, for this processor."""
        asked = [f"{name}={os.environ[name]}" for name in ASKED if name in os.environ]
        digest = hashlib.sha256(_source_of(function))
        for one in (*about, processor(), *asked):
            digest.update(f"{one}\n".encode())
        place = function.__module__.rpartition(".")[2]
        return f"{place}.{function.__name__}-{digest.hexdigest()[:16]}"

    def has(self, name: str) -> bool:
        """Tell whether there is code of a name."""
        return self._file(name).exists()

    def get(self, name: str, make: Callable[[], Code], usable: Callable[[Code], bool] = _any) -> Code:
        """Return the code of a name; where there is none that can be used, make it, and keep it.

        While another process makes the same, we wait for it. What has addresses of this process is not kept.
        """
        found = self._read(name, usable)
        if found is None:
            lock = Lock(self._file(name).with_suffix(".lock"))
            lock.take()
            try:
                found = self._read(name, usable)
                if found is None:
                    found = make()
                    if not found.only_here:
                        self._write(name, found)
            finally:
                lock.give_back()
        return found

    def _file(self, name: str) -> Path:
        return self._directory / f"{name}.code"

    def _read(self, name: str, usable: Callable[[Code], bool]) -> Code | None:
        try:
            whole = self._file(name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError:
            whole = b""
        seal, content = whole[:SEAL_BYTES], whole[SEAL_BYTES:]
        if hashlib.sha256(content).digest() == seal:
            symbol, _, machine = content.partition(b"\n")
            code = Code(symbol.decode(), machine)
            return code if usable(code) else None
        _warn(f"the compiled engine in {self._directory} is damaged, and made anew")
        with suppress(OSError):
            self._file(name).unlink()
        return None

    def _write(self, name: str, code: Code) -> None:
        content = code.symbol.encode() + b"\n" + code.machine
        try:
            _put(self._file(name), hashlib.sha256(content).digest() + content)
        except OSError as error:
            _warn(f"the compiled engine is not kept: {self._directory}: {_reason(error)}")


def _source_of(function: Callable[..., Any]) -> bytes:
    """Return the file that a function stands in; where only bytecode is installed, that."""
    try:
        return Path(function.__code__.co_filename).read_bytes()
    except OSError:
        return function.__code__.co_code


def _put(place: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with NamedTemporaryFile(dir=place.parent, prefix=place.name, delete=False) as file:
        try:
            file.write(content)
            file.close()
            os.replace(file.name, place)
        except BaseException:
            os.unlink(file.name)
            raise


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _warn(text: str) -> None:
    """Warn of a text the first time it is given."""
    if text not in _told:
        _told.add(text)
        warnings.warn(text, UserWarning, stacklevel=2)
