"""The text of a configuration file, of limited size."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.errors import ConfigError

MAX_BYTES = 1_000_000


def read_text(path: Path, kind: str) -> str:
    """Read a file in UTF-8; ``kind`` says in messages what it should be.

    Raises ConfigError for a file that cannot be read, is too large, or is not text.
    """
    try:
        if path.is_dir():
            raise ConfigError(f"{path}: is a directory; allowed: {kind}")
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{str(path)!r}: cannot be read: {reason}") from None
    if len(raw) > MAX_BYTES:
        raise ConfigError(
            f"{path}: larger than {MAX_BYTES:,} bytes; allowed: a configuration, not a data file"
        )
    if (at := raw.find(b"\0")) >= 0:
        line = raw.count(b"\n", 0, at) + 1
        raise ConfigError(f"{path}:{line}: holds a NUL byte; allowed: text in UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = raw[error.start]
        raise ConfigError(f"{path}:{line}: found the byte 0x{found:02x}; allowed: text in UTF-8") from None
