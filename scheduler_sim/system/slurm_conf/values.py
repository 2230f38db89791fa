"""Values as Slurm writes them: times in minutes or by the clock, numbers, yes and no.

Each reader raises InputError that says what was found and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from scheduler_sim.config.value import MOST_SECONDS
from scheduler_sim.errors import InputError
from scheduler_sim.system.gres import count_of

MOST_OF_SHORT = 2**16 - 1
NO_LIMIT = ("unlimited", "infinite", "-1")
WITHIN_OR_PRIORITY = ("WITHIN", "PRIORITY")
"""Words beside a PreemptMode: jobs of one QOS preempt each other; only by priority."""
_YES = {
    "yes": True,
    "up": True,
    "true": True,
    "1": True,
    "no": False,
    "down": False,
    "false": False,
    "0": False,
}
_TIMES = "minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]], UNLIMITED"


def seconds(text: str) -> int | None:
    """Read a time, s; None is without limit. A bare number counts minutes."""
    if text.lower() in NO_LIMIT:
        return None
    if re.fullmatch(r"[0-9]{1,10}", text):
        found = int(text) * 60
    elif clock := re.fullmatch(r"(?:([0-9]{1,10}):)?([0-9]{1,10}):([0-9]{1,2})", text):
        hours, minutes, rest = (int(part or 0) for part in clock.groups())
        found = (hours * 60 + minutes) * 60 + rest
    elif clock := re.fullmatch(r"([0-9]{1,10})-([0-9]{1,2})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?", text):
        days, hours, minutes, rest = (int(part or 0) for part in clock.groups())
        found = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    else:
        raise InputError(f"found {text[:60]!r}; allowed: {_TIMES}")
    if found > MOST_SECONDS:
        raise InputError(f"found {text[:60]!r}; allowed: at most {MOST_SECONDS} seconds, or UNLIMITED")
    return found


def idle_seconds(text: str) -> int | None:
    """Read SuspendTime, s; None is never. As Slurm does, what follows the digits is not looked at."""
    if text.upper() in ("NONE", "INFINITE", "UNLIMITED") or text.startswith("-"):
        return None
    if (digits := re.match(r"\s*([0-9]{1,12})", text)) is None:
        raise InputError(f"found {text[:60]!r}; allowed: seconds, NONE, INFINITE, -1")
    return int(digits[1])


def whole_minutes(text: str) -> int | None:
    """Read a limit, s, rounded up to minutes as Slurm keeps limits; None is without limit.

    Raises InputError also for 0.
    """
    exact = seconds(text)
    if exact == 0:
        raise InputError(f"found {text!r}; allowed: at least a second, or UNLIMITED")
    return None if exact is None else -(-exact // 60) * 60


def count(text: str, minimum: int = 0) -> int:
    """Read a whole number of at least ``minimum``."""
    match = re.fullmatch(r"([0-9]{1,12})(k?)", text, re.IGNORECASE)
    if match is None or int(match[1]) < minimum:
        raise InputError(f"found {text[:60]!r}; allowed: an integer >= {minimum}")
    return int(match[1]) * (1024 if match[2] else 1)


def short_count(text: str) -> int:
    """Read a number that Slurm keeps in 16 bits, of which UNLIMITED and INFINITE are the largest."""
    return MOST_OF_SHORT if text.lower() in ("unlimited", "infinite") else count(text)


def with_suffix(text: str) -> int:
    """Read a whole number of at least 0 with one of Slurm's suffixes, which count in 1,024: ``40K``."""
    match = re.fullmatch(r"([0-9]{1,15})([kmgtp]?)", text.strip(), re.IGNORECASE)
    if match is None:
        raise InputError(f"found {text[:60]!r}; allowed: an integer >= 0, also with K, M, G, T or P")
    return int(count_of(match[1], match[2]))


def limit(text: str) -> int | None:
    """Read a largest number, at least 1; None is without limit."""
    return None if text.lower() in NO_LIMIT else count(text, 1)


def flag(text: str) -> bool:
    """Read yes or no, in all of Slurm's spellings."""
    if text.lower() not in _YES:
        raise InputError(f"found {text[:60]!r}; allowed: YES, NO")
    return _YES[text.lower()]


def size_mb(text: str) -> int:
    """Read an amount of memory, MB, also with a unit: ``192000``, ``187G``; as in Slurm K is 1,024 MB."""
    match = re.fullmatch(r"([0-9]{1,12})([KMGT]?)B?", text, re.IGNORECASE)
    if match is None:
        raise InputError(f"found {text[:60]!r}; allowed: MB, or a number with M, G or T")
    return int(match[1]) * {"": 1, "K": 1024, "M": 1, "G": 1024, "T": 1024**2}[match[2].upper()]


def licences(text: str) -> dict[str, int]:
    """Read ``name:count`` separated by commas or semicolons; without a count there is one."""
    found: dict[str, int] = {}
    for item in re.split("[,;]", text):
        match = re.fullmatch(r"\s*([^\s:;,|&*()]+)(?::([0-9]{1,9}))?\s*", item)
        if match is None:
            raise InputError(f"found {item[:60]!r}; allowed: name:count, separated by commas")
        found[match[1]] = found.get(match[1], 0) + int(match[2] or 1)
    return found


def parameters(text: str) -> dict[str, int | str | bool]:
    """Read ``key=value`` and bare keys separated by commas; a bare key is true."""
    found: dict[str, int | str | bool] = {}
    for item in filter(None, (part.strip() for part in text.lstrip("=").split(","))):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not re.fullmatch(r"[A-Za-z0-9_]+", key) or (equals and not value):
            raise InputError(f"found {item[:60]!r}; allowed: key or key=value, separated by commas")
        number = re.fullmatch(r"[0-9]{1,15}", value)
        found[key] = (int(value) if number else value) if equals else True
    return found


def unlimited_or(read: Callable[[str], int]) -> Callable[[str], int]:
    """Return a reader of numbers to which no limit is 0."""
    return lambda text: 0 if text.lower() in NO_LIMIT else read(text)


def without_words(text: str, left: Collection[str]) -> str:
    """Return words separated by commas, as they are written, without those that are left out (upper case)."""
    words = (word.strip() for word in text.split(","))
    return ",".join(word for word in words if word and word.upper() not in left)


def job_defaults(text: str) -> dict[str, int]:
    """Read JobDefaults, ``DefCpuPerGPU=4,DefMemPerGPU=8000``; memory in MB."""
    readers = {"defcpupergpu": ("DefCpuPerGPU", count), "defmempergpu": ("DefMemPerGPU", size_mb)}
    found = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = item.partition("=")
        if name.strip().lower() not in readers:
            raise InputError(f"found {item[:60]!r}; allowed: DefCpuPerGPU=count, DefMemPerGPU=MB")
        key, read = readers[name.strip().lower()]
        found[key] = read(value.strip())
    return found
