"""Putting files that belong together into a directory: all of them or none, and nothing else is touched.

They are written under other names beside their places. Then the older ones step aside, the one that
makes the directory whole first, and the new ones take their places, that one last. So whenever this
is killed, either the older files are there, or the new ones, or that one is missing. A directory that is
new as a whole takes its place by one renaming.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from scheduler_sim.errors import InputError
from scheduler_sim.output.lock import locked
from scheduler_sim.output.whole import temporary_name

MARK = ".scheduler-sim-writing"
"""A file that stands in the directory while it is written, locked, and remains if that was killed."""

_LEFT = re.compile(r"\.scheduler-sim-[0-9a-f]{12}\.(?:new|old)\.(?P<name>.+)", re.DOTALL)

Write = Callable[[BinaryIO], object]


def put_files(directory: Path, writers: Mapping[str, Write], last: str, gone: Sequence[str] = ()) -> None:
    """Write each file with its writer into a directory, which is made if there is none.

    A failure on the way leaves the directory as it was.

    Parameters
    ----------
    last : the file without which the others are not whole. gone : files that go, if they are there.

    Raises
    ------
    InputError : another process is writing here, or something that is no file has one of the names.
    OSError : it cannot be written.
    """
    names = [*(name for name in writers if name != last), last]
    with _held(directory, (*names, *gone)) as token:
        for name in (*names, *gone):  # asked while others are kept out: theirs come and go
            if os.path.lexists(place := directory / name) and not is_regular(place):
                raise InputError(f"{place} is not a regular file and is left alone")
        change = _Change(directory, token, names, [name for name in gone if name not in names])
        try:
            for name in names:
                change.write(name, writers[name])
            change.take_places()
        except BaseException:
            change.take_back()
            raise


def put_directory(place: Path, writers: Mapping[str, Write]) -> None:
    """Write files into a directory of their own, which appears with all of them, or not at all.

    A directory that stands there already, and is not empty, stays as it is. Raises OSError if it cannot
    be written.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_name(temporary_name())
    new.mkdir()
    try:
        for name, write in writers.items():
            _write(new / name, write)
        try:
            os.rename(new, place)
        except OSError:
            if not place.is_dir():
                raise
    finally:
        for name in writers:
            (new / name).unlink(missing_ok=True)
        with suppress(OSError):
            new.rmdir()


def _write(path: Path, write: Write) -> None:
    with path.open("xb") as out:
        write(out)
        out.flush()
        os.fsync(out.fileno())  # so that no power cut leaves an empty file under the name


def leftovers(directory: Path, names: Sequence[str]) -> list[Path]:
    """Return what killed writers of these names have left in a directory, the mark last."""
    found = [
        path
        for path in directory.iterdir()
        if (left := _LEFT.fullmatch(path.name)) and left["name"] in names and is_regular(path)
    ]
    mark = directory / MARK
    return [*sorted(found), *([mark] if is_regular(mark) else [])]


class _Change:
    def __init__(self, directory: Path, token: str, names: list[str], gone: list[str]) -> None:
        self.names, self.gone = names, gone
        self.place = {name: directory / name for name in (*names, *gone)}
        self.new = {name: directory / f".scheduler-sim-{token}.new.{name}" for name in names}
        self.old = {name: directory / f".scheduler-sim-{token}.old.{name}" for name in self.place}
        self.began = False

    def write(self, name: str, write: Write) -> None:
        _write(self.new[name], write)

    def take_places(self) -> None:
        self.began = True
        for name in (*reversed(self.names), *self.gone):
            with suppress(FileNotFoundError):
                os.rename(self.place[name], self.old[name])
        for name in self.names:
            os.rename(self.new[name], self.place[name])

    def take_back(self) -> None:
        """Bring the older files back, unless the new ones are all in their places."""
        if not self.began or not self.new[self.names[-1]].exists():
            return
        for name in (*self.gone, *self.names):
            if self.old[name].exists():
                os.rename(self.old[name], self.place[name])
            elif name in self.new and not self.new[name].exists():
                self.place[name].unlink(missing_ok=True)


@contextmanager
def _held(directory: Path, names: Sequence[str]) -> Iterator[str]:
    """Keep others out, and clear away what is not needed any more, then and now."""
    made = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    mark = directory / MARK
    try:
        with locked(mark, f"another process is writing into {directory}; nothing was changed there"):
            try:
                _clear(directory, names)
                yield token_hex(6)
            finally:
                _clear(directory, names)
                mark.unlink(missing_ok=True)
    except BaseException:
        if made:
            with suppress(OSError):
                directory.rmdir()
        raise


def _clear(directory: Path, names: Sequence[str]) -> None:
    for path in leftovers(directory, names):
        if path.name != MARK:
            path.unlink(missing_ok=True)


def is_regular(path: Path) -> bool:
    """Tell whether this is a regular file itself, not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
