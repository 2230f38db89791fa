"""Nothing a case says leads out of its folder; whatever tries to write elsewhere is stopped and told."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

_OUT = re.compile(rb"(?<![A-Za-z0-9])/+|\.\.+|~|\\")
_WRITING = ("os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.truncate", "os.chmod", "os.chown", "os.link",
            "os.symlink", "os.utime", "shutil.rmtree", "shutil.move", "os.mkfifo")  # fmt: skip
_here: list[Path] = []


class OutsideError(BaseException):
    """A path outside the case's own folder was to be written; no handler of errors may swallow it."""


def scrubbed(data: bytes) -> bytes:
    """Take out what begins an absolute path, leads upwards, names a home, or escapes a sign."""
    return _OUT.sub(b"_", data)


def scrubbed_text(text: str) -> str:
    """Do the same to text."""
    return _OUT.sub(b"_", text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def watch() -> None:
    """From now on refuse, in this process, to write outside the folder of :func:`confine_to`."""
    sys.addaudithook(_hook)


def confine_to(folder: Path | None) -> None:
    """Set the folder of the case at hand; None: there is none, and anything may be written."""
    _here[:] = [] if folder is None else [folder.resolve()]


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _here:
        return
    if event == "open":
        path, mode, flags = arguments
        writes = bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
        if writes or (isinstance(mode, str) and set(mode) & set("wax+")):
            _require_inside(path)
    elif event in _WRITING:
        for path in arguments[: 2 if event in ("os.rename", "os.link", "shutil.move") else 1]:
            _require_inside(path)
    elif event in ("subprocess.Popen", "os.system", "socket.connect"):
        raise OutsideError(f"{event} {arguments!r:.100}")


def _require_inside(path: Any) -> None:
    if not isinstance(path, str | bytes | os.PathLike):
        return  # a descriptor that is open already
    place = Path(os.path.abspath(os.fsdecode(path)))
    if place == Path(os.devnull) or place.is_relative_to(_here[0]):
        return
    raise OutsideError(str(place))
