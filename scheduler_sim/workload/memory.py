"""Refusing, in words, what would not fit in memory, before the system kills the process."""

from __future__ import annotations

import os
from pathlib import Path

from scheduler_sim.errors import TraceError

_CGROUP = Path("/sys/fs/cgroup")


def check_memory(need: int, name: str, purpose: str) -> None:
    """Raise a TraceError if ``purpose`` takes more bytes than the machine has to give."""
    free = available_memory()
    if free is not None and need > free:
        raise TraceError(
            f"{purpose} takes about {need / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free; "
            "allowed: less, or a machine with more memory",
            file=name,
        )


def available_memory() -> int | None:
    """Return the bytes this process may still take, None if that cannot be told."""
    limits = [limit for limit in (_machine(), _control_group()) if limit is not None]
    return min(limits, default=None)


def _machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _control_group() -> int | None:
    try:
        most = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such group, or no limit ("max")
        return None
    return max(0, most - used)
