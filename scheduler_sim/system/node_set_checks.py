"""What must hold between node sets, their module and the partitions that name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.config.value import duration
from scheduler_sim.errors import InputError
from scheduler_sim.system.gres import is_gpu, parse_gres, types_of_gpus


def node_set_problems(modules: Any, partitions: Any) -> Iterator[Problem]:
    """Check unchecked data: sets that do not add up, names that clash, names that lead nowhere."""
    known: dict[str, list[str]] = {}
    for i, module in _mappings(modules):
        sets = [(k, one) for k, one in _mappings(module.get("node_sets"))]
        known[str(module.get("name")).lower()] = [str(one.get("name")) for _, one in sets]
        yield from _repeated(("modules", i, "node_sets"), sets)
        yield from _wrong_sum(i, module, [one for _, one in sets])
    for i, partition in _mappings(partitions):
        names = partition.get("node_sets")
        sets_there = known.get(str(partition.get("module")).lower())
        if isinstance(names, list) and sets_there is not None:
            yield from _unknown_sets(i, names, sets_there)


def sharing_problems(modules: Any) -> Iterator[Problem]:
    """Check unchecked data: nodes that jobs share without cores, or with GPUs that are told in two ways."""
    for i, module in _mappings(modules):
        if str(module.get("shared")).lower() not in ("true", "yes", "on"):
            continue
        here: Location = ("modules", i)
        sets = [((*here, "node_sets", k), one) for k, one in _mappings(module.get("node_sets"))]
        for where, one in sets or [(here, {})]:
            if not (one.get("cores_per_node") or module.get("cores_per_node")):
                yield Problem(
                    (*where, "cores_per_node"), "found none; allowed: the cores of nodes that jobs share"
                )
            gres = [one.get("gres"), module.get("gres")]
            counted, typed = one.get("gpus_per_node") or module.get("gpus_per_node"), _sum_of_gpus(gres)
            if counted and typed and counted != typed:
                text = f"{found(counted)} beside {typed:g} GPUs in gres; allowed: the same, or one of them"
                yield Problem((*where, "gpus_per_node"), text)
            for name in (name for own in gres if isinstance(own, dict) for name in own):
                if not _is_gres(str(name)):
                    yield Problem((*where, "gres"), f"{found(name)}; allowed: name or name:type, no blanks")
            if text := _odd_types(gres):
                yield Problem((*where, "gres"), text)


def _odd_types(gres: list[Any]) -> str:
    """What is wrong with GPUs of several kinds on one node; nothing if nothing is."""
    gpus = _gpus_of(gres)
    types = types_of_gpus(gpus)
    if types and len(types) < len(gpus):
        return f"found GPUs of no type beside {types[0]}; allowed: types for all GPUs of a node, or for none"
    parts = [name for name, amount in gpus.items() if amount % 1]
    if len(types) > 1 and parts:
        return f"found {gpus[parts[0]]} of {parts[0]}; allowed: whole GPUs where a node has several types"
    return ""


def _sum_of_gpus(gres: list[Any]) -> float:
    return sum(_gpus_of(gres).values())


def _gpus_of(gres: list[Any]) -> dict[str, float]:
    """GPUs that a node has by type, as far as they are numbers; what it says itself before its module."""
    own = {str(k).lower(): v for one in reversed(gres) if isinstance(one, dict) for k, v in one.items()}
    return {k: v for k, v in own.items() if is_gpu(k) and isinstance(v, int | float) and v > 0}


def _is_gres(name: str) -> bool:
    """Whether a trace can ask for a resource of that name."""
    try:
        return list(parse_gres(f"{name}:1")) == [name.lower()]
    except InputError:
        return False


def limits_at_odds(partitions: Any) -> Iterator[Problem]:
    """Check unchecked data: a least value above the largest, a default above the limit."""
    for i, partition in _mappings(partitions):
        for low, high, read in (("min_nodes", "max_nodes", int), ("default_time", "max_time", duration)):
            try:
                least, most = read(partition[low]), read(partition[high])
            except (KeyError, ValueError, TypeError, ArithmeticError):
                continue  # absent, or told as a mistake of its own
            if least is not None and most is not None and least > most:
                text = f"{found(partition[low])}; allowed: at most {high}, which is {partition[high]!r:.40}"
                yield Problem(("partitions", i, low), text)


def sharing_at_odds(partitions: Any) -> Iterator[Problem]:
    """Check unchecked data: cores that jobs share on nodes that each has to itself."""
    for i, partition in _mappings(partitions):
        own = partition.get("slurm")
        said = own.get("OverSubscribe") if isinstance(own, dict) else None
        if partition.get("exclusive") is True and said not in (None, False) and str(said).upper() != "NO":
            text = f"{found(said)} beside exclusive: true; allowed: NO, or one of them"
            yield Problem(("partitions", i, "slurm", "OverSubscribe"), text)


def _mappings(listing: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if isinstance(listing, list | tuple):
        yield from ((i, entry) for i, entry in enumerate(listing) if isinstance(entry, dict))


def _repeated(where: Location, sets: list[tuple[int, dict[str, Any]]]) -> Iterator[Problem]:
    seen: set[str] = set()
    for k, one in sets:
        name = one.get("name")
        if isinstance(name, str | int) and str(name).lower() in seen:
            text = f"{found(name)} again; allowed: names that differ in more than case"
            yield Problem((*where, k, "name"), text)
        seen.add(str(name).lower())


def _wrong_sum(i: int, module: dict[str, Any], sets: list[dict[str, Any]]) -> Iterator[Problem]:
    try:
        counts, nodes = [int(one["nodes"]) for one in sets], int(module["nodes"])
    except (KeyError, ValueError, TypeError, OverflowError):
        return  # told as a mistake of its own
    if counts and sum(counts) != nodes:
        text = f"found sets of {sum(counts)} nodes in all; allowed: as many as the module has, {nodes}"
        yield Problem(("modules", i, "node_sets"), text)


def _unknown_sets(i: int, names: list[Any], there: list[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for k, name in enumerate(names):
        where: Location = ("partitions", i, "node_sets", k)
        if str(name).lower() not in {one.lower() for one in there}:
            allowed = one_of(there, name) if there else "allowed: none, the module has no node_sets"
            yield Problem(where, f"{found(name)}, no such node set of the module; {allowed}")
        elif str(name).lower() in seen:
            yield Problem(where, f"{found(name)} again; allowed: each set once")
        seen.add(str(name).lower())
