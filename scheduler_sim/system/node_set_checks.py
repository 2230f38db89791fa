"""What must hold between node sets, their module and the partitions that name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.config.value import duration
from scheduler_sim.errors import InputError
from scheduler_sim.system.gres import is_gpu, parse_gres


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
    """Check unchecked data: nodes that jobs share without cores, or with GPUs of several types."""
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
            types = {name for own in gres if isinstance(own, dict) for name in own if is_gpu(str(name))}
            counted, typed = one.get("gpus_per_node") or module.get("gpus_per_node"), _sum_of_gpus(gres)
            if counted and typed and counted != typed:
                text = f"{found(counted)} beside {typed:g} GPUs in gres; allowed: the same, or one of them"
                yield Problem((*where, "gpus_per_node"), text)
            for name in (name for own in gres if isinstance(own, dict) for name in own):
                if not _is_gres(str(name)):
                    yield Problem((*where, "gres"), f"{found(name)}; allowed: name or name:type, no blanks")
            if len(types) > 1:
                text = f"found {', '.join(sorted(map(str, types)))} on one node; allowed: GPUs of one type"
                yield Problem((*where, "gres"), text)


def _sum_of_gpus(gres: list[Any]) -> float:
    """GPUs of all types that a node has, as far as they are numbers."""
    own = {k: v for one in reversed(gres) if isinstance(one, dict) for k, v in one.items()}
    return sum(
        amount for name, amount in own.items() if is_gpu(str(name)) and isinstance(amount, int | float)
    )


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
