"""Generic resources of nodes, as Slurm calls them: GPUs by type, shards, and what else a site names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from scheduler_sim.config.value import MOST_COUNTED
from scheduler_sim.errors import InputError

GPU = "gpu"
PIECES_OF_GPUS = ("mps", "shard")
"""Resources of which one GPU has several."""

NO_GRES = ("", "NA", "-1", "none")
MAX_CHARACTERS = 1000


_ITEM = re.compile(
    r"\s*(?:gres/)?([^\s:,\-][^\s:,]*)(?::(?![0-9.]+[kmgtp]?\s*$)([^\s:,\-][^\s:,]*))??"
    r"(?::([0-9]{1,16}(?:\.[0-9]{1,3})?)([kmgtp]?))?\s*",
    re.IGNORECASE,
)
"""A name, a type, a number and its suffix; what is but a number behind the name is one."""

SUFFIXES = ("", "k", "m", "g", "t", "p")
"""Powers of 1024, as in Slurm (gres.conf(5), Count)."""


def count_of(number: str, suffix: str) -> float:
    """A count with one of Slurm's suffixes; above ``MOST_COUNTED``, more than a node has, it is cut."""
    return min(float(number) * 1024.0 ** SUFFIXES.index(suffix.lower()), float(MOST_COUNTED))


def is_gpu(name: str) -> bool:
    """Tell whether a resource is a GPU, of any type: ``gpu``, ``gpu:a100``."""
    return name.partition(":")[0].lower() == GPU


def types_of_gpus(names: Iterable[str]) -> tuple[str, ...]:
    """Return the types of GPUs among names of resources, as ``gpu:a100``, in their order."""
    return tuple(name.lower() for name in names if is_gpu(name) and ":" in name)


def gpus_in(gres: Mapping[str, float]) -> float:
    """Return the GPUs of all types among generic resources."""
    return sum(amount for name, amount in gres.items() if is_gpu(name))


def parse_gres(text: str) -> dict[str, float]:
    """Read a request such as ``gpu:a100:2,shard:4``: amounts by name in lower case.

    A type belongs to the name, as in ``gpu:a100``. A name without a number asks for one, one with 0 for
    nothing; ``tmp:20G`` asks for 20 times 1024³. Raises InputError on nonsense.
    """
    return dict(_amounts(text))


@lru_cache(maxsize=4096)
def _amounts(text: str) -> tuple[tuple[str, float], ...]:
    if text.strip() in NO_GRES:
        return ()
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"gres of {len(text)} characters; allowed: at most {MAX_CHARACTERS}")
    amounts: dict[str, float] = {}
    for item in text.split(","):
        match = _ITEM.fullmatch(item)
        if match is None:
            allowed = "name:count or name:type:count, joined by commas, counts with at most three decimals"
            raise InputError(f"gres {text[:80]!r}: found {item.strip()[:80]!r}; allowed: {allowed}")
        name = ":".join(filter(None, (match[1], match[2]))).lower()
        amounts[name] = min(amounts.get(name, 0) + count_of(match[3] or "1", match[4] or ""), MOST_COUNTED)
    return tuple((name, amount) for name, amount in amounts.items() if amount > 0)
