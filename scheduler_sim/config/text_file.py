"""The text of a configuration file, of limited size."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from scheduler_sim.errors import ConfigError

MAX_BYTES = 1_000_000


def read_text(path: Path, kind: str, most: int = MAX_BYTES) -> str:
    """Read a file in UTF-8, packed where its name ends in ``.gz``.

    ``kind`` says in messages what it should be; ``most`` are the bytes that it may have, unpacked.

    Raises ConfigError for a file that cannot be read, is too large, or is not text.
    """
    try:
        if os.path.isdir(path):
            raise ConfigError(f"{path}: is a directory; allowed: {kind}")
        with path.open("rb") as stream:
            packed = path.suffix.lower() == ".gz"
            raw = (gzip.GzipFile(fileobj=stream) if packed else stream).read(most + 1)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ConfigError(f"{path}: broken gzip: {error}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{str(path)!r}: cannot be read: {reason}") from None
    if len(raw) > most:
        raise ConfigError(f"{path}: larger than {most:,} bytes; allowed: a configuration, not a data file")
    if (at := raw.find(b"\0")) >= 0:
        line = raw.count(b"\n", 0, at) + 1
        raise ConfigError(f"{path}:{line}: holds a NUL byte; allowed: text in UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = raw[error.start]
        raise ConfigError(f"{path}:{line}: found the byte 0x{found:02x}; allowed: text in UTF-8") from None
