"""What is said when something cannot be written."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from scheduler_sim.errors import InputError, SchedulerSimError

ANOTHER_NAME_WOULD_DO = frozenset(
    (
        errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.EROFS,
        errno.ENAMETOOLONG, errno.ELOOP, errno.ENXIO,
    )
)  # fmt: skip
"""What is wrong with the place that was named; anything else is a failure of the machine."""


def cannot_write(
    what: str | Path, error: OSError, place: str | Path | None = None, after: str = ""
) -> SchedulerSimError:
    """Return the error to raise where writing ``what`` failed: bad input if another name would do.

    Parameters
    ----------
    what : as the message calls it. place : where on which disk it was to stand; None for ``what``.
    after : what became of the rest, after a semicolon.
    """
    kind = InputError if error.errno in ANOTHER_NAME_WOULD_DO else SchedulerSimError
    reason = reason_of(error, Path(what if place is None else place))
    return kind(f"cannot write {what}: {reason}" + (f"; {after}" if after else ""))


def reason_of(error: OSError, place: Path) -> str:
    """Say why writing at a place failed; of a full disk, which one it is and what is left on it."""
    reason = str(error.strerror or error)
    if error.errno == errno.ENOSPC:
        return _full(place)
    if error.errno == errno.EDQUOT:
        return f"your quota on the disk at {_mount_point(place)} is used up"
    if error.errno == errno.ENOENT and not (folder := Path(os.path.realpath(place)).parent).is_dir():
        return f"{reason}: {folder}"
    return reason


def _full(place: Path) -> str:
    try:
        if not (stat.S_ISREG(mode := place.stat().st_mode) or stat.S_ISDIR(mode)):
            return "the device is full"
    except OSError:
        pass  # it does not stand there yet
    disk = _mount_point(place)
    try:
        free = os.statvfs(disk)
    except OSError:
        return f"the disk at {disk} is full"
    left = free.f_bavail * free.f_frsize / 1e6
    return f"the disk at {disk} is full ({left:,.1f} MB left, {free.f_favail:,} files)"


def _mount_point(place: Path) -> Path:
    place = Path(os.path.realpath(place))
    return next((one for one in (place, *place.parents) if os.path.ismount(one)), place.parent)
