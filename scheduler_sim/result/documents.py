"""The shape of ``manifest.json`` and ``metrics.json``: what those who read a result lean on.

A shape is a kind of value, a mapping of keys to shapes (further keys may stand beside them), a list
of one shape (any number of such), or ``Each``: a mapping of any names to one shape. Whatever is not
``Needed`` may be absent or null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST = 2.0**62
"""Numbers stay below: times and node-seconds are int64."""


@dataclass(frozen=True)
class Each:
    """A mapping of any names to values of one shape."""

    shape: Any


@dataclass(frozen=True)
class Needed:
    """What may not be absent, null or empty."""

    shape: Any


@dataclass(frozen=True)
class Columns:
    """Lists of one length by name, each of values of its own shape."""

    shapes: Mapping[str, Any]


class Numbers:
    """Numbers, or mappings of such, as deep as one likes."""


class Spread:
    """Mean and quantiles: all of them numbers, or none."""


class Energy:
    """The energy of a run: all its parts, where there is a model that gives them."""


class Measure:
    """Anything; what holds a mean or a quantile is a ``Spread``."""


SPREAD = ("mean", "median", "p90", "p99", "max")
"""What a sample is summed up by."""

OTHERS = "*"
"""Key for the shape of all keys that are not named beside it."""

ENERGY_OF_MODULE = {
    **dict.fromkeys(("job_j", "idle_j", "transition_j", "off_j", "system_j"), Needed(float)),
    "mean_power_w": float,
    "max_power_w": float,
}
POWER_FROM = Each({"components": Needed(int), "node_seconds": Needed(int), "share": float})
ENERGY = {
    **ENERGY_OF_MODULE,
    "power_from": POWER_FROM,
    **dict.fromkeys(("cost", "carbon_g", "above_cap_s"), float),
    "modules": Needed(Each(ENERGY_OF_MODULE)),
}
WITH = {"pue": ("pue", "facility_j"), "above_cap_s": ("above_cap_s", "above_cap_j")}
"""Keys of ``energy`` that stand there with others."""

MODULE_POWER = {
    "idle_w": Needed(float),
    "off_w": float,
    "boot_w": float,
    "shutdown_w": float,
    "boot_j": float,
    "boot_s": int,
    "shutdown_j": float,
    "shutdown_s": int,
}
FIGURE = {**dict.fromkeys(("module", "figure", "unit", "quality"), Needed(str)), "source": Needed(str),
          "value": Needed(float), "low": float, "high": float}  # fmt: skip

RESERVATION = {"name": Needed(str), "flags": Needed([str]), "start": int, "end": int, "every_s": int,
               "nodes": Each(Needed(str))}  # fmt: skip

MANIFEST: dict[str, Any] = {
    "version": str,
    "seed": int,
    "modules": Needed(Each(Needed(int))),
    "system": {
        "name": str,
        "modules": [{"name": str, "nodes": int}],
        "partitions": [{"name": str, "module": str, "max_time": int, "max_nodes": int, "default_time": int}],
    },
    "policy": {
        **dict.fromkeys(("name", "order", "backfill", "backfill_order"), str),
        "depth": int,
        "overrun_s": int,
        "slurm": {"OverTimeLimit": int, "limit_check_s": int, "launch_s": int, "latency": str},
    },
    "workload": {"honour_status": bool},
    "models": {},
    "trace": {"unix_start_time": int},
    "inputs": [{"role": str, "name": str, "sha256": str}],
    "counts": Each(Numbers),
    "unmatched": Each([str]),
    "reasons": bool,
    "carried": Each(Needed(str)),
    "repaired": Each(Needed(int)),
    "topology": Each([str]),
    "devices": bool,
    "limited": bool,
    "switched": bool,
    "recorded": bool,
    "arrays": bool,
    "runs": bool,
    "suspended": bool,
    "slowed": bool,
    "reserved": [RESERVATION],
    "shared_nodes": Each({"cores": Needed(float), "memory_kb": Needed(float), "gpus": Needed(float)}),
    "run": {"id": str, "factors": Each(str), "workload": {}},
    "energy": {
        "profile": str,
        "currency": str,
        "modules": Needed(Each(MODULE_POWER)),
        "switched": bool,
        "gpu_clocks": bool,
        "power_from": Each(Needed(int)),
        "learnt_from": Each(Needed(int)),
        "without_signature": Each(Needed(int)),
        "quality": Each(Needed(int)),
        "figures": [FIGURE],
        "cap": Columns({"time": int, "power_w": float}),
    },
}

METRICS: dict[str, Any] = {
    "jobs": int,
    "makespan": int,
    "wait_time": Needed(Spread),
    "utilization": Each(float),
    "offered_load": Each(float),
    "warnings": [str],
    "counts": {"not_honoured": Each(Needed(int)), "rejected_because": Each(Needed(int))},
    "energy": Energy,
    "sharing": Each(Each(float)),
    "lost": Each(Numbers),
    "suspended": Each(Numbers),
    "topology": Each(float),
    OTHERS: Measure,
}


def shape_problem(document: Any, shape: Any, where: str = "") -> str | None:
    """Say where a document is not of a shape first; None if it is."""
    return next(_problems(document, shape, where), None)


def _problems(value: Any, shape: Any, where: str) -> Iterator[str]:
    if isinstance(shape, Needed):
        if value is None or value == {}:
            yield f"{where} is missing"
            return
        shape = shape.shape
    if value is None:
        return
    if isinstance(shape, Columns):
        wanted = {name: Needed([one]) for name, one in shape.shapes.items()}
        yield from _problems(value, wanted, where)
        if len({len(column) for column in value.values()}) > 1:
            yield f"the columns of {where} differ in length"
        return
    if isinstance(shape, type):
        yield from _kind(value, shape, where)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{where} is {value!r:.60}, not a list"
            return
        for i, one in enumerate(value):
            yield from _problems(one, Needed(shape[0]), f"{where}[{i}]")
    elif not isinstance(value, Mapping):
        yield f"{where or 'the top'} is {value!r:.60}, not a mapping"
    elif isinstance(shape, Each):
        for name, one in value.items():
            yield from _problems(one, shape.shape, f"{where}.{name:.40}")
    else:
        beside = [name for name in value if name not in shape] if OTHERS in shape else []
        for name, part in {**shape, **dict.fromkeys(beside, shape.get(OTHERS))}.items():
            yield from _problems(value.get(name), part, f"{where}.{name:.40}".lstrip("."))


def _kind(value: Any, kind: type, where: str) -> Iterator[str]:
    if kind is Measure:
        if isinstance(value, Mapping) and value.keys() & set(SPREAD):
            yield from _problems(value, Spread, where)
        return
    if kind is Spread:
        some = isinstance(value, Mapping) and any(number is not None for number in value.values())
        yield from _problems(value, dict.fromkeys(SPREAD, Needed(float) if some else float), where)
        return
    if kind is Energy:
        found = value if isinstance(value, Mapping) else {}
        shape: dict[str, Any] = ENERGY if found.get("system_j") is not None else {"power_from": POWER_FROM}
        for one, others in WITH.items():
            shape = shape | (dict.fromkeys(others, Needed(float)) if one in found else {})
        yield from _problems(value, shape, where)
        return
    if kind is Numbers:
        if isinstance(value, Mapping):
            for name, one in value.items():
                yield from _problems(one, Numbers, f"{where}.{name:.40}")
            return
        kind = float
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is object or (isinstance(value, kind) and not number):
        return
    if kind is int and isinstance(value, int) and number and abs(value) < MOST:
        return
    if kind is float and number and abs(value) < MOST:
        return
    yield f"{where} is {value!r:.60}, not {_WORDS[kind]}"


_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
