"""Compiled code on disk: where it may lie, and what becomes of files that are damaged or cannot be written.

What lies there is unpickled and run. So it is taken only from a directory of the user's or of root's that
nobody else can write to, and only with the checksum it was written with. Whatever is wrong costs the
time to compile again, never the run; it is said once, as a SchedulerSimWarning.
"""

from __future__ import annotations

import grp
import hashlib
import os
import pickle
import pwd
import stat
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    UserProvidedCacheLocator,
)

from scheduler_sim.engine.core.lock import Lock

SEAL_BYTES = hashlib.sha256().digest_size

_told: set[str] = set()


def sources_hash() -> str:
    """Hash of every source of the engine: the compiler's own cache sees one file only."""
    digest = hashlib.sha256(numba.__version__.encode())
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


class NotKept(NullCache):
    """For code that is kept nowhere; says why when the first is compiled."""

    def __init__(self, why: str) -> None:
        self.why = why

    def has(self, sig: Any, target_context: Any) -> bool:
        """There is nothing."""
        return False

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """There is nothing."""
        _warn(f"the compiled engine is not kept: {self.why}")


class Kept(FunctionCache):
    """Numba's cache of a function, in ``directory``."""

    def __init__(self, function: Any, directory: Path) -> None:
        self._impl_class = _impl_in(directory)
        super().__init__(function)
        locator, base = self._impl.locator, self._impl.filename_base
        self._files = self._cache_file = _SealedFiles(self._cache_path, base, locator.get_source_stamp())
        self._being_made: dict[Any, Lock] = {}

    def has(self, sig: Any, target_context: Any) -> bool:
        """Tell whether there is code for a signature."""
        try:
            return self._index_key(sig, target_context.codegen()) in self._files._load_index()
        except Exception:  # what damaged files raise is anything
            return False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code, None where there is none that can be used: then it is ours to compile and keep.

        While another process compiles the same, we wait for it.
        """
        found = self._loaded(sig, target_context)
        if found is None:
            self._being_made.setdefault(sig, self._lock_of(sig, target_context)).take()
            found = self._loaded(sig, target_context)
        if found is not None:
            self._made(sig)
        return found

    def _lock_of(self, sig: Any, target_context: Any) -> Lock:
        return self._files.lock(self._index_key(sig, target_context.codegen()))

    def _made(self, sig: Any) -> None:
        if sig in self._being_made:
            self._being_made.pop(sig).give_back()

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # what damaged files raise is anything
            _warn(f"the compiled engine in {self._cache_path} is damaged, and made anew")
            with suppress(OSError):
                os.unlink(self._files._index_path)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code, if the disk lets us."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # what it finds damaged there raises anything, too
            _warn(f"the compiled engine is not kept: {self._cache_path}: {_reason(error)}")
        finally:
            self._made(sig)


class _SealedFiles(IndexDataCacheFile):
    """Numba's index and data of a function, each after the checksum of its bytes.

    Numba numbers the data by what it finds in the index, and so would two processes that save at once give
    two codes one number. Here what the code is for names it.
    """

    def lock(self, key: Any) -> Lock:
        """What a process holds while it makes the code for ``key``."""
        return Lock(Path(self._data_path(self._name_of(key))).with_suffix(".lock"))

    def save(self, key: Any, data: Any) -> None:
        """Keep data, and then say so in the index, one process at a time."""
        name = self._name_of(key)
        self._save_data(name, data)
        turn = Lock(Path(self._index_path).with_suffix(".lock"))
        turn.take()
        try:
            self._save_index({**self._load_index(), key: name})
        finally:
            turn.give_back()

    def _name_of(self, key: Any) -> str:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return hashlib.sha256(data).digest() + data

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump((self._source_stamp, overloads)))

    def _load_index(self) -> dict[Any, str]:
        try:
            stamp, overloads = _unsealed(self._index_path)
        except FileNotFoundError:
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        return _unsealed(self._data_path(name))


def _unsealed(path: str) -> Any:
    with open(path, "rb") as file:
        seal, data = file.read(SEAL_BYTES), file.read()
    if hashlib.sha256(data).digest() != seal:
        raise ValueError(f"{path} is not what was written")
    return pickle.loads(data)


def _impl_in(directory: Path) -> type[CompileResultCacheImpl]:
    """Numba's way of keeping what it compiles, in one directory."""

    class Locator(UserProvidedCacheLocator):
        def __init__(self, py_func: Any, py_file: str) -> None:
            self._py_file = py_file
            self._lineno = py_func.__code__.co_firstlineno
            self._cache_path = str(directory / self.get_suitable_cache_subpath(py_file))

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls(py_func, py_file)

    class Impl(CompileResultCacheImpl):
        _locator_classes: list[type[object]] = [Locator]  # noqa: RUF012

    return Impl


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _warn(text: str) -> None:
    """Warn of a text the first time it is given."""
    if text not in _told:
        _told.add(text)
        warnings.warn(text, UserWarning, stacklevel=2)
