"""A lock between processes: what one of them is making, the others wait for."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

PATIENCE_S = 300
LOOK_EVERY_S = 0.02


class Lock:
    """A file that one process at a time has locked; the system unlocks it when that process ends.

    It saves work and guards nothing: where files cannot be locked, and where the other takes too long,
    nobody waits.
    """

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        self.path, self.patience_s = path, patience_s
        self._file = -1

    def take(self) -> None:
        """Lock the file, when others have unlocked it; what is locked by this very lock remains so."""
        ends = time.monotonic() + self.patience_s
        with suppress(OSError):
            while self._file < 0 and not self._try() and time.monotonic() < ends:
                time.sleep(LOOK_EVERY_S)

    def give_back(self) -> None:
        """Unlock the file, which goes; nothing if it is not locked."""
        file, self._file = self._file, -1
        if file >= 0:
            with suppress(OSError):
                self.path.unlink()
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)  # a fork has the file open, too
            os.close(file)

    def _try(self) -> bool:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_nlink:  # else it went while we waited, and the next has another
                self._file = file
        except BlockingIOError:
            pass
        finally:
            if self._file != file:
                os.close(file)
        return self._file >= 0
