"""What sacctmgr keeps of associations and QOS: how it is called, in its tables and its commands, and read.

A name may be cut short, down to as many letters as sacctmgr asks for; so are the headers of its tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scheduler_sim.errors import InputError
from scheduler_sim.numerals import is_digits
from scheduler_sim.system.slurm_conf.hostlist import expand
from scheduler_sim.system.slurm_conf.values import count, seconds

CLEARED = "-1"
MOST = 10**15

_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4, "P": 1024**5}
_COUNTED = ("cpu", "mem", "node", "billing")
_COUNTED_BY_NAME = ("gres/", "license/")
SHORT = {
    "grpcpus": ("GrpTRES", "cpu"),
    "grpnodes": ("GrpTRES", "node"),
    "grpmemory": ("GrpTRES", "mem"),
    "grpcpumins": ("GrpTRESMins", "cpu"),
    "grpcpurunmins": ("GrpTRESRunMins", "cpu"),
    "maxcpusperjob": ("MaxTRESPerJob", "cpu"),
    "maxnodesperjob": ("MaxTRESPerJob", "node"),
    "maxcpuminsperjob": ("MaxTRESMinsPerJob", "cpu"),
    "maxcpusperuser": ("MaxTRESPerUser", "cpu"),
    "maxcpuspu": ("MaxTRESPerUser", "cpu"),
    "maxnodesperuser": ("MaxTRESPerUser", "node"),
    "maxnodespu": ("MaxTRESPerUser", "node"),
    "mincpusperjob": ("MinTRESPerJob", "cpu"),
}
"""Older names of limits on one resource."""


@dataclass(frozen=True)
class Option:
    """Something that sacctmgr keeps.

    Attributes
    ----------
    name : as ``policy.slurm`` calls it.
    read : reads its text; None is not set.
    spelled : its names in sacctmgr, small letters, each with the fewest letters that stand for it.
    inherited : whether who has none has that of the account above.
    modelled : whether ``policy.slurm`` has a key for it.
    """

    name: str
    read: Callable[[str], Any]
    spelled: tuple[tuple[str, int], ...]
    inherited: bool = False
    modelled: bool = True


# -- values


def tres(text: str) -> dict[str, int | None]:
    """Read amounts of resources, ``cpu=100,mem=10G,gres/gpu=4``; memory in MB. None is not limited."""
    found: dict[str, int | None] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (part.strip() for part in item.partition("="))
        match = re.fullmatch(r"([0-9]{1,15})([KMGTP]?)", value, re.IGNORECASE)
        if not re.fullmatch(r"[A-Za-z][^\s=,]*", name) or not (match or value == CLEARED):
            raise InputError(f"found {item[:60]!r}; allowed: resource=number, separated by commas")
        if match is None:
            found[name.lower()] = None
            continue
        unit = match[2].upper()
        if name.lower() == "mem" and unit:
            amount = -(-int(match[1]) * _UNITS[unit] // _UNITS["M"])
        else:
            amount = int(match[1]) * _UNITS[unit]
        if amount > MOST:
            raise InputError(f"found {item[:60]!r}; allowed: at most {MOST}")
        found[name.lower()] = amount
    return found


def is_counted(resource: str) -> bool:
    """Whether jobs here ask for a resource, so that it can be limited."""
    return resource in _COUNTED or resource.startswith(_COUNTED_BY_NAME)


def number(text: str) -> int | None:
    """Read a count; -1 is none."""
    return None if text == CLEARED else count(text)


def minutes(text: str) -> int | None:
    """Read a time in whole minutes, rounded up as Slurm does; a bare number counts minutes."""
    found = seconds(text)
    return None if found is None else -(-found // 60)


def grace(text: str) -> int | None:
    """Read a time in s; a bare number counts seconds."""
    return count(text) if is_digits(text) else seconds(text)


def factor(text: str) -> float | None:
    """Read a factor of at least 0; -1 is none."""
    if text == CLEARED:
        return None
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise InputError(f"found {text[:60]!r}; allowed: a number >= 0")
    return float(text)


def names(text: str) -> list[str]:
    """Read names separated by commas, ranges in brackets written out, in small letters."""
    return [] if text in ("", CLEARED) else [name.lower() for name in as_written(text)]


def as_written(text: str) -> list[str]:
    """The same in the letters as they are: users."""
    if "[" in text:
        return expand(text)
    return [part.strip() for part in text.split(",") if part.strip()]


def name(text: str) -> str | None:
    """Read one name, in small letters."""
    return None if text in ("", CLEARED) else text.lower()


def words(text: str) -> list[str]:
    """Read words as they are written, such as flags."""
    return [part.strip() for part in text.split(",") if part.strip() and part.strip() != CLEARED]


def shares(text: str) -> int | str | None:
    """Read shares: a number, or ``parent``."""
    return "parent" if text.lower() == "parent" else number(text)


# -- the options


def _option(
    name: str, read: Callable[[str], Any], spelled: str, *, inherited: bool = False, modelled: bool = True
) -> Option:
    pairs = (word.partition("/") for word in spelled.split())
    both = tuple((word.lower(), int(fewest or len(word))) for word, _, fewest in pairs)
    return Option(name, read, both, inherited, modelled)


OF_ASSOCIATIONS = (
    _option("default_qos", name, "DefaultQOS/8 DefQOS", inherited=True),
    _option("shares", shares, "FairShare/1 Shares/1"),
    _option("GrpTRESMins", tres, "GrpTRESMins/8"),
    _option("GrpTRESRunMins", tres, "GrpTRESRunMins/8"),
    _option("GrpTRES", tres, "GrpTRES"),
    _option("GrpJobsAccrue", number, "GrpJobsAccrue/8"),
    _option("GrpJobs", number, "GrpJobs/4"),
    _option("GrpSubmitJobs", number, "GrpSubmitJobs/4"),
    _option("GrpWall", minutes, "GrpWall/4"),
    _option("MaxTRESMinsPerJob", tres, "MaxTRESMinsPerJob/8", inherited=True),
    _option("MaxTRESRunMins", tres, "MaxTRESRunMins/8", inherited=True, modelled=False),
    _option("MaxTRESPerNode", tres, "MaxTRESPerNode/11", inherited=True),
    _option("MaxTRESPerJob", tres, "MaxTRESPerJob/7", inherited=True),
    _option("MaxJobsAccrue", number, "MaxJobsAccrue/8", inherited=True),
    _option("MaxJobs", number, "MaxJobs/4", inherited=True),
    _option("MaxSubmitJobs", number, "MaxSubmitJobs/4", inherited=True),
    _option("MaxWall", minutes, "MaxWallDurationPerJob/4", inherited=True),
    _option("MinPrioThreshold", number, "MinPrioThreshold/4", inherited=True),
    _option("parent", name, "ParentName/2"),
    _option("priority", number, "Priority/2", inherited=True),
    _option("qos", names, "QosLevel/1", inherited=True),
)
"""In an order in which the first that a shortened name may stand for is meant."""

OF_QOS = (
    _option("Flags", words, "Flags/2"),
    _option("GraceTime", grace, "GraceTime/3"),
    _option("GrpTRESMins", tres, "GrpTRESMins/8"),
    _option("GrpTRESRunMins", tres, "GrpTRESRunMins/8"),
    _option("GrpTRES", tres, "GrpTRES"),
    _option("GrpJobsAccrue", number, "GrpJobsAccrue/8"),
    _option("GrpJobs", number, "GrpJobs/4"),
    _option("GrpSubmitJobs", number, "GrpSubmitJobs/4"),
    _option("GrpWall", minutes, "GrpWall/4"),
    _option("LimitFactor", factor, "LimitFactor/6"),
    _option("MaxJobsAccruePerAccount", number, "MaxJobsAccruePerAccount/17 MaxJobsAccruePA"),
    _option("MaxJobsAccruePerUser", number, "MaxJobsAccruePerUser/17 MaxJobsAccruePU"),
    _option("MaxJobsPerAccount", number, "MaxJobsPerAccount/11 MaxJobsPA"),
    _option("MaxJobsPerUser", number, "MaxJobsPerUser/8 MaxJobsPU"),
    _option("MaxSubmitJobsPerAccount", number, "MaxSubmitJobsPerAccount/17 MaxSubmitJobsPA MaxSubmitPA"),
    _option("MaxSubmitJobsPerUser", number, "MaxSubmitJobsPerUser/6 MaxSubmitJobsPU MaxSubmitPU"),
    _option("MaxTRESMinsPerJob", tres, "MaxTRESMinsPerJob/8"),
    _option("MaxTRESRunMinsPerAccount", tres, "MaxTRESRunMinsPerAccount/18 MaxTRESRunMinsPA"),
    _option("MaxTRESRunMinsPerUser", tres, "MaxTRESRunMinsPerUser/18 MaxTRESRunMinsPU"),
    _option("MaxTRESPerAccount", tres, "MaxTRESPerAccount/11 MaxTRESPA"),
    _option("MaxTRESPerNode", tres, "MaxTRESPerNode/11"),
    _option("MaxTRESPerUser", tres, "MaxTRESPerUser/11 MaxTRESPU"),
    _option("MaxTRESPerJob", tres, "MaxTRESPerJob/7"),
    _option("MaxWall", minutes, "MaxWallDurationPerJob/4"),
    _option("MinTRESPerJob", tres, "MinTRESPerJob/7"),
    _option("MinPrioThreshold", number, "MinPrioThreshold/4"),
    _option("PreemptMode", name, "PreemptMode/8"),
    _option("PreemptExemptTime", seconds, "PreemptExemptTime/8"),
    _option("Preempt", names, "Preempt/7"),
    _option("priority", number, "Priority/3"),
    _option("UsageFactor", factor, "UsageFactor/6"),
    _option("UsageThreshold", factor, "UsageThreshold/6"),
)


def option_named(options: tuple[Option, ...], written: str) -> tuple[Option, str] | None:
    """Find what a name means, whole or cut short, and the one resource it is about, if it is about one."""
    key = written.lower()
    for option in options:
        if any(word == key for word, _ in option.spelled):
            return option, ""
    for option in options:
        if any(len(key) >= fewest and word.startswith(key) for word, fewest in option.spelled):
            return option, ""
    for word, (limit, resource) in SHORT.items():
        if word.startswith(key) and len(key) >= 6:
            return next(((one, resource) for one in options if one.name == limit), None)
    return None


def reader(option: Option, resource: str) -> Callable[[str], Any]:
    """Return what reads the value of an option; of an older one about a single resource, as a list of one."""
    return (lambda text: option.read(f"{resource}={text}")) if resource else option.read
