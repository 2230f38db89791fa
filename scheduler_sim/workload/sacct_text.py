"""What the texts of ``sacct`` mean: durations, limits, memory, TRES, states, exit codes, dependencies.

Formats: the manual pages of sacct and sbatch (Slurm 25.11), and what ``sacct`` prints.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from scheduler_sim.errors import TraceError, did_you_mean
from scheduler_sim.numerals import is_digits
from scheduler_sim.workload.validation import MAX_AMOUNT

_SILENT = frozenset(
    (
        *("", "unknown", "none", "n/a", "(null)", "null", "invalid", "none assigned", "not_set"),
        *("unlimited", "infinite", "partition_limit"),
    )
)
"""What Slurm prints where there is nothing, or no limit."""
_DURATION = re.compile(
    r"(?:(?P<days>\d{1,9})-(?P<h>\d{1,4})(?::(?P<m>\d{1,4})(?::(?P<s>\d{1,4}))?)?"
    r"|(?P<clock>\d{1,9}(?::\d{1,4}){0,2}))(?:\.\d+)?",
    re.ASCII,
)
_MEMORY = re.compile(r"(\d{1,15}(?:\.\d+)?)([KMGTP]?)([nc]?)", re.IGNORECASE | re.ASCII)
_KB = {"K": 1, "": 1024, "M": 1024, "G": 1024**2, "T": 1024**3, "P": 1024**4}
_COUNT = re.compile(r"(\d{1,15}(?:\.\d+)?)([KMGTP]?)", re.IGNORECASE | re.ASCII)
_DECIMAL = re.compile(r"(\d{1,20}(?:\.\d+)?)([KMGTP]?)", re.IGNORECASE | re.ASCII)
_OPTIONS = re.compile(
    r"(?:^|\s)(--gpus(?=[-= ])|-G|--gres(?=[= ]))(-per-(?:node|task|socket))?(?:=|\s*)([a-z0-9_.:,()-]+)",
    re.IGNORECASE,
)
_NOT_BATCH = re.compile(r"\s*(?:\S*/)?(?:srun|salloc)(?:\s|$)")
_SWITCHES = re.compile(r"\s--switches[=\s]\s*([0-9]{1,7}(?:@[0-9:-]+)?)(?=\s|$)")
_REQUEUE = re.compile(r"\s--(no-)?requeue(?=\s|$)")
_GPUS = re.compile(r"(?:[a-z0-9_.-]+:)?[0-9]{1,9}", re.IGNORECASE)
_OF_TRES = ("cpu", "mem", "node", "billing", "gres/gpu")
_USAGE = ("energy", "fs/", "ic/", "pages", "vmem")
_EXIT = re.compile(r"(\d{1,9})(?::(\d{1,9}))?", re.ASCII)
_DEPENDENCY = re.compile(r"(?P<kind>[a-z]+)(?P<ids>(?::[0-9]+(?:_[0-9*]+)?(?:\+[0-9]+)?)*)(?:\([a-z]*\))?")
_DEPENDS_ON = re.compile(r":([0-9]{1,18})(?:_([0-9]{1,18}|\*))?(?:\+([0-9]{1,9}))?")

#: States of jobs that have ended, and what they are in the sense of MWF: 0 success, 1 failed, 5 cancelled.
ENDED = {
    "COMPLETED": 0,
    "FAILED": 1,
    "TIMEOUT": 1,
    "NODE_FAIL": 1,
    "OUT_OF_MEMORY": 1,
    "BOOT_FAIL": 1,
    "DEADLINE": 1,
    "PREEMPTED": 1,
    "REQUEUED": 1,
    "LAUNCH_FAILED": 1,
    "RECONFIG_FAIL": 1,
    "SPECIAL_EXIT": 1,
    "REVOKED": 1,
    "CANCELLED": 5,
}
#: States of jobs that have not.
UNFINISHED = (
    "PENDING", "RUNNING", "SUSPENDED", "CONFIGURING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT",
    "STOPPED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "POWER_UP_NODE", "UPDATE_DB", "EXPEDITING",
)  # fmt: skip


def says_nothing(text: str) -> bool:
    """Whether a field says nothing: empty, Unknown, None, UNLIMITED, in any case."""
    return text.strip().lower() in _SILENT


def is_null(text: str) -> bool:
    """Whether a field is what Slurm prints for a text that is not there."""
    return text.strip() == "(null)"


def duration(text: str) -> int:
    """Return seconds; -1 where nothing is said. A bare number is minutes, as Slurm reads limits.

    Examples
    --------
    >>> [duration(text) for text in ("90", "01:30", "01:00:00", "1-12", "2-00:00:30", "Unknown")]
    [5400, 90, 3600, 129600, 172830, -1]
    """
    if says_nothing(text):
        return -1
    match = _DURATION.fullmatch(text.strip())
    if not match:
        raise TraceError(
            "not a duration", found=text, allowed="[days-]hh:mm:ss, mm:ss, days-hh, or minutes as one number"
        )
    if match["days"]:
        hours, minutes, seconds = (int(match[part] or 0) for part in ("h", "m", "s"))
        return int(match["days"]) * 86400 + hours * 3600 + minutes * 60 + seconds
    parts = [int(part) for part in match["clock"].split(":")]
    if len(parts) == 1:
        return parts[0] * 60
    return sum(part * unit for part, unit in zip(reversed(parts), (1, 60, 3600), strict=False))


def time_limit(text: str) -> int:
    """Return a limit in s, -1 where there is none of its own: UNLIMITED, Partition_Limit, 0, or nothing.

    squeue prints NOT_SET.
    """
    return duration(text) or -1


class Memory(NamedTuple):
    """Memory asked for: ``kb`` (-1 = none) for each ``per``: node, cpu, or the whole job."""

    kb: int
    per: str


def memory(text: str) -> Memory:
    """Return what ReqMem says: ``4Gn`` a node and ``2Gc`` a CPU until Slurm 21.08, since then of the job.

    Without a unit it is MB; 0 asks for all memory of the nodes, which no number can say here.

    Examples
    --------
    >>> tuple(memory("2Gc")), tuple(memory("62.50G")), tuple(memory("0n"))
    ((2097152, 'cpu'), (65536000, 'job'), (-1, 'node'))
    """
    if says_nothing(text):
        return Memory(-1, "job")
    match = _MEMORY.fullmatch(text.strip())
    if not match:
        raise TraceError(
            "not an amount of memory", found=text, allowed="a number with K, M, G, T or P, and n or c"
        )
    kb = -int(-float(match[1]) * _KB[match[2].upper()] // 1)
    if kb > MAX_AMOUNT:
        raise TraceError("more memory than can be counted", found=text, allowed="at most 8192P")
    return Memory(kb or -1, {"n": "node", "c": "cpu"}.get(match[3].lower(), "job"))


def count(text: str) -> int:
    """Return a number of nodes or CPUs, -1 where nothing is said; K is 1024, as ``sacct`` prints it."""
    if says_nothing(text):
        return -1
    match = _COUNT.fullmatch(text.strip())
    if not match:
        raise TraceError("not a number", found=text, allowed="a whole number, or one such as 1.50K")
    number: int = round(float(match[1]) * 1024 ** " KMGTP".index(match[2].upper() or " "))
    if number > MAX_AMOUNT:
        raise TraceError("more than can be counted", found=text, allowed="at most 8192T")
    return number


def joules(text: str) -> int:
    """Return an energy in J, -1 where nobody measured: nothing, 0, Slurm's largest numbers. K is 1000 here.

    Examples
    --------
    >>> [joules(text) for text in ("3142", "1.50K", "2.35M", "0", "", "18446744073709551614")]
    [3142, 1500, 2350000, -1, -1, -1]
    """
    if says_nothing(text):
        return -1
    match = _DECIMAL.fullmatch(text.strip())
    if not match:
        raise TraceError("not an energy", found=text, allowed="J, or with K, M, G, T or P of 1000")
    number = round(float(match[1]) * 1000 ** " KMGTP".index(match[2].upper() or " "))
    return number if 0 < number < MAX_AMOUNT else -1


def khz(text: str) -> int:
    """Return a clock in kHz, -1 where it is not known: nothing, or 0.

    Examples
    --------
    >>> [khz(text) for text in ("2.40G", "1200M", "2400000K", "2400000", "0", "")]
    [2400000, 1200000, 2400000, 2400000, -1, -1]
    """
    if says_nothing(text):
        return -1
    match = _DECIMAL.fullmatch(text.strip())
    if not match or match[2].upper() in ("T", "P"):
        raise TraceError("not a frequency", found=text, allowed="kHz, or with K, M or G")
    number = round(float(match[1]) * 1000 ** "KMG".index(match[2].upper() or "K"))
    return number if 0 < number < MAX_AMOUNT else -1


class Tres(NamedTuple):
    """What a job asks for or has, on all its nodes together: -1, and the empty text, where nothing is said.

    ``others`` : resources that no column of a workload has, as ``name:count`` list. ``types`` : of the GPUs,
    as ``gpu:a100`` list.
    """

    nodes: int = -1
    cpus: int = -1
    kb: int = -1
    gpus: int = -1
    others: str = ""
    types: str = ""
    joules: int = -1


def tres(text: str) -> Tres:
    """Return what a list of trackable resources says; what only measures use (fs, ic, ...) says nothing.

    Examples
    --------
    >>> tuple(tres("cpu=8,energy=250,mem=16G,node=2,billing=8,gres/gpu=4,gres/gpu:a100=4,gres/shard=2"))
    (2, 8, 16777216, 4, 'gres/shard:2', 'gpu:a100', 250)
    """
    said: dict[str, str] = {}
    for part in text.split(","):
        name, equals, number = part.strip().partition("=")
        if equals:
            said[name.lower()] = number
    others = {name: count(said[name]) for name in said if not name.startswith((*_OF_TRES, *_USAGE))}
    gpus = {name: count(number) for name, number in said.items() if name.startswith("gres/gpu")}
    types = (name for name, number in gpus.items() if ":" in name and number > 0)
    return Tres(
        nodes=count(said.get("node", "")),
        cpus=count(said.get("cpu", "")),
        kb=memory(said.get("mem", "")).kb,
        gpus=_gpus(gpus),
        types=",".join(name.removeprefix("gres/") for name in types),
        others=",".join(f"{name}:{number}" for name, number in others.items() if number > 0),
        joules=joules(said.get("energy", "")),
    )


def _gpus(named: dict[str, int]) -> int:
    """Return the number without a type, which has those with one in it, else their sum; -1: none is named."""
    typed = [number for name, number in named.items() if ":" in name]
    return named.get("gres/gpu", sum(typed) if typed else -1)


def gres(text: str) -> Tres:
    """Return what a list of generic resources says, as ``--gres`` and the columns of old have it.

    Examples
    --------
    >>> [tuple(gres(text))[3:6] for text in ("gpu", "gpu:a100:2(S:0-1),nvme:1", "gres/gpu:0")]
    [(1, '', ''), (2, 'gres/nvme:1', 'gpu:a100'), (0, '', '')]
    """
    gpus, others, types = -1, [], dict[str, None]()
    for part in re.split(r",(?![^(]*\))", text.strip()):
        if says_nothing(part) or part.strip().isdigit():
            continue
        name, *rest = (
            re.sub(r"\(.*?\)", "", part)
            .strip()
            .lower()
            .removeprefix("gres:")
            .removeprefix("gres/")
            .split(":")
        )
        number = count(rest[-1]) if rest and _COUNT.fullmatch(rest[-1]) else 1
        if name == "gpu":
            gpus = max(gpus, 0) + number
            if len(rest) > 1 or (rest and not _COUNT.fullmatch(rest[0])):
                types[f"gpu:{rest[0]}"] = None
        elif number > 0:
            others.append(f"gres/{name}:{number}")
    return Tres(gpus=gpus, others=",".join(others), types=",".join(types))


def options(text: str) -> tuple[Tres, Tres]:
    """Return what the options of a submission ask for in all, and on each node: ``--gpus``, ``--gres``.

    Examples
    --------
    >>> [part.gpus for part in options("sbatch --gpus=a100:4 job.sh")]
    [4, -1]
    >>> [part.gpus for part in options("srun -N2 --gres gpu:2 ./a.out")]
    [-1, 2]
    """
    whole: list[str] = []
    each: list[str] = []
    for option, per, value in _OPTIONS.findall(text):
        if option == "--gres":
            each.append(value)
        else:
            numbers = (part for part in value.split(",") if _GPUS.fullmatch(part))
            (each if per else whole).extend(f"gpu:{part}" for part in numbers)
    return gres(",".join(whole)), gres(",".join(each))


def requeue(text: str) -> int:
    """Return whether a job may be requeued by the command that submitted it: 1, 0, -1 = it does not say.

    Slurm requeues batch jobs alone.

    Examples
    --------
    >>> [requeue(text) for text in ("sbatch --no-requeue job.sh", "sbatch job.sh", "srun --requeue ./a.out")]
    [0, -1, 0]
    """
    if _NOT_BATCH.match(text):
        return 0
    said = _REQUEUE.findall(text)
    return -1 if not said else int(said[-1] == "")


def switches(text: str) -> int:
    """Return how many leaf switches the command that submitted a job asks for, -1 = it does not say.

    Examples
    --------
    >>> [switches(text) for text in ("sbatch --switches=2@10:00 job.sh", "srun --switches 1 ./a.out", "")]
    [2, 1, -1]
    """
    return switches_and_wait(said[-1])[0] if (said := _SWITCHES.findall(text)) else -1


def switch_wait(text: str) -> int:
    """Return for how long it waits for that, s; -1 = it does not say.

    Examples
    --------
    >>> [switch_wait(text) for text in ("sbatch --switches=2@10:00 job.sh", "srun --switches 1 ./a.out")]
    [600, -1]
    """
    return switches_and_wait(said[-1])[1] if (said := _SWITCHES.findall(text)) else -1


def switches_and_wait(text: str) -> tuple[int, int]:
    """Return what ``count[@max-wait]`` says: switches, and s; -1 = no wait. Raises TraceError.

    Examples
    --------
    >>> switches_and_wait("1@2-00:00:00"), switches_and_wait("3")
    ((1, 172800), (3, -1))
    """
    number, at, wait = text.partition("@")
    if not is_digits(number) or len(number) > 7:
        raise TraceError(
            "not a number of switches", found=text[:60], allowed="count, or count@time, as 1@10:00"
        )
    return int(number), time_limit(wait) if at else -1


def state(text: str) -> str:
    """Return the state without what follows it: ``CANCELLED by 1000`` and ``CANCELLED+`` are CANCELLED.

    Examples
    --------
    >>> state("OUT_OF_ME+"), state("cancelled by 1000")
    ('OUT_OF_MEMORY', 'CANCELLED')
    """
    word, known = text.strip().partition(" ")[0].rstrip("+").upper(), (*ENDED, *UNFINISHED)
    if word and word not in known and text.strip().endswith("+"):  # cut, where columns have a width
        word = next((one for one in known if one.startswith(word)), word)
    if word not in known:
        raise TraceError(f"unknown state{did_you_mean(word, known)}", found=text, allowed=", ".join(known))
    return word


def exit_code(text: str) -> int:
    """Return the exit code in ``code:signal``; a signal is 128 and its number, as shells say it."""
    if says_nothing(text):
        return 0
    match = _EXIT.fullmatch(text.strip())
    if not match:
        raise TraceError("not an exit code", found=text, allowed="code:signal, such as 1:0 or 0:15")
    return int(match[1]) or (128 + int(match[2]) if int(match[2] or 0) else 0)


class Depends(NamedTuple):
    """One dependency: ``kind`` in capitals, ``job`` and ``task`` (None: no id, no task), ``minutes``."""

    kind: str
    job: int | None
    task: int | None = None
    minutes: int = 0


def dependency(text: str) -> tuple[list[Depends], bool]:
    """Return what Slurm's text asks for, and whether any one is enough (``?`` instead of ``,``).

    Examples
    --------
    >>> wishes, any_one = dependency("afterok:7_2:8(unfulfilled),after:9+10")
    >>> [tuple(wish) for wish in wishes], any_one
    ([('AFTEROK', 7, 2, 0), ('AFTEROK', 8, None, 0), ('AFTER', 9, None, 10)], False)
    """
    if says_nothing(text):
        return [], False
    if "," in text and "?" in text:
        raise TraceError(
            "both all and any one", found=text, allowed="either , or ? between them, as in Slurm"
        )
    found: list[Depends] = []
    for part in re.split(r"[,?]", text.strip()):
        match = _DEPENDENCY.fullmatch(part.strip().lower())
        if not match:
            raise TraceError("not a dependency", found=text, allowed="type:job[_task][:job...], or singleton")
        kind, ids = match["kind"].upper(), _DEPENDS_ON.findall(match["ids"])
        found += [
            Depends(kind, int(job), int(task) if task.isdigit() else None, int(minutes or 0))
            for job, task, minutes in ids
        ]
        if not ids:
            found.append(Depends(kind, None))
    return found, "?" in text
