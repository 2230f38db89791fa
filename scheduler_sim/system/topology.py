"""Which nodes lie together: a tree of switches, blocks, or the groups of a dragonfly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.config.value import Name, choice, whole
from scheduler_sim.errors import InputError
from scheduler_sim.system.reservations import NodeRange, Words, as_list, nodes_named

TREE, BLOCK, DRAGONFLY = "tree", "block", "dragonfly"
TYPES = (TREE, BLOCK, DRAGONFLY)
MOST_OF_LEVEL = 10_000_000
NO_SWITCH = -1

Size = Annotated[int, whole(1, MOST_OF_LEVEL)]

Sizes = Sequence[tuple[str, int]]
"""Names of modules, and how many nodes each has."""


class SwitchKeys(Keys):
    """A switch, and the nodes or switches below it."""

    name: Name = Field(description="name of the switch, unique among the switches")
    nodes: Words = Field(
        default=[], description="nodes of a leaf: modules and their nodes by number, as [main[0-9,12]]"
    )
    switches: Words = Field(
        default=[], description="of any other switch: the names of the switches directly below it"
    )


class BlockKeys(Keys):
    """A base block."""

    name: Name = Field(description="name of the block, unique among the blocks")
    nodes: Words = Field(
        description="nodes of the block: modules and their nodes by number, as [main[0-9,12]]"
    )


class TopologyKeys(Keys):
    """Which nodes are close to each other: by levels, or by each switch or block."""

    type: Annotated[str, choice(*TYPES)] = Field(
        default=TREE,
        description="tree: switches in levels; block: base blocks, joined to larger ones; dragonfly: "
        "switches in groups",
    )
    levels: list[Size] = Field(
        default=[],
        description="the short form, the same in every module: [16, 8] is 16 nodes per leaf and 8"
        " leaves per switch above; a tree has one more switch above all of these; for"
        " blocks one number",
    )
    switches: list[SwitchKeys] = Field(
        default=[],
        description="the long form of a tree or a dragonfly: every switch, in the order of the site",
    )
    blocks: list[BlockKeys] = Field(
        default=[], description="the long form of blocks: every base block, in order"
    )
    block_sizes: list[Size] = Field(
        default=[],
        description="sizes of the blocks in which jobs are kept, in nodes: of a base block, then of"
        " 2, 4, ... base blocks; by default that of the smallest base block",
    )


@dataclass(frozen=True)
class Switch:
    """A switch, a base block or a group.

    Attributes
    ----------
    name : of the site.
    level : 0 has nodes; others are one above the highest right below them.
    above : place of the one right above it, among all; NO_SWITCH at the top.
    nodes : of level 0, by number in their modules.
    """

    name: str
    level: int
    above: int
    nodes: tuple[NodeRange, ...] = ()


def switches_of(keys: TopologyKeys, modules: Sizes) -> tuple[Switch, ...]:
    """Return all switches in their order; the keys have been checked."""
    if keys.levels:
        return tuple(_of_levels(keys, modules))
    if keys.type == BLOCK:
        return tuple(Switch(one.name, 0, NO_SWITCH, _nodes(one.nodes, modules)) for one in keys.blocks)
    places = {one.name.lower(): i for i, one in enumerate(keys.switches)}
    above, levels = [NO_SWITCH] * len(places), [0] * len(places)
    for i, one in enumerate(keys.switches):
        for name in one.switches:
            above[places[name.lower()]] = i
    grown = True
    while grown:
        grown = False
        for i, up in enumerate(above):
            if up != NO_SWITCH and levels[up] <= levels[i]:
                levels[up], grown = levels[i] + 1, True
    return tuple(
        Switch(one.name, levels[i], above[i], _nodes(one.nodes, modules))
        for i, one in enumerate(keys.switches)
    )


def joined_blocks(switches: tuple[Switch, ...], keys: TopologyKeys) -> tuple[Switch, ...]:
    """Return base blocks, and the larger blocks that they are joined to, as switches; others as they are."""
    made, first, blocks = list(switches), 0, len(switches)
    for level, (before, size) in enumerate(pairwise(keys.block_sizes), 1):
        joined = size // before
        behind = len(made)
        for i in range(blocks):
            made[first + i] = replace(made[first + i], above=behind + i // joined)
        blocks = -(-blocks // joined)
        made += [Switch(f"{size} nodes, {i}", level, NO_SWITCH) for i in range(blocks)]
        first = behind
    return tuple(made)


def leaf_of_nodes(switches: Sequence[Switch], module: int, nodes: int) -> list[int]:
    """Return the leaf of each node of a module, by place among all switches; NO_SWITCH: it is on none."""
    leaf = [NO_SWITCH] * nodes
    for i, switch in enumerate(switches):
        for one in switch.nodes:
            if one.module == module:
                leaf[one.numbers.start : one.numbers.stop] = [i] * len(one.numbers)
    return leaf


def _nodes(words: Sequence[str], modules: Sizes) -> tuple[NodeRange, ...]:
    return tuple(nodes_named(words, modules))


def _of_levels(keys: TopologyKeys, modules: Sizes) -> Iterator[Switch]:
    """Each module by itself: its leaves, then what is above them, level by level."""
    behind = 0
    for module, (name, nodes) in enumerate(modules):
        spans = [
            range(first, min(first + keys.levels[0], nodes)) for first in range(0, nodes, keys.levels[0])
        ]
        counts = [len(spans)]
        steps = [*keys.levels[1:], counts[0]] if keys.type == TREE else keys.levels[1:]
        for below in steps:
            if keys.type == DRAGONFLY or counts[-1] > 1:
                counts.append(-(-counts[-1] // below))
        begins = [behind]
        for one in counts:
            begins.append(begins[-1] + one)
        for level, one in enumerate(counts):
            for i in range(one):
                up = begins[level + 1] + i // steps[level] if level + 1 < len(counts) else NO_SWITCH
                own = (NodeRange(module, spans[i]),) if level == 0 else ()
                yield Switch(f"{name}-{level}-{i}", level, up, own)
        behind = begins[-1]


# -- what no single key can tell


def topology_problems(written: Any, modules: Sizes) -> Iterator[Problem]:
    """Check what must hold between the keys of a topology; works on unchecked data."""
    if not isinstance(written, dict):
        return
    kind = str(written.get("type", TREE)).lower()
    named = "blocks" if kind == BLOCK else "switches"
    other = "switches" if kind == BLOCK else "blocks"
    if written.get(other):
        yield Problem(("topology", other), f"found beside type {kind}; allowed: {named}, or levels")
    given = [key for key in ("levels", named) if written.get(key)]
    if len(given) != 1:
        said = f"both levels and {named}" if given else f"neither levels nor {named}"
        yield Problem(("topology",), f"found {said}; allowed: one of them")
    levels = written.get("levels")
    if kind == BLOCK and isinstance(levels, list) and len(levels) > 1:
        yield Problem(("topology", "levels"), f"{found(levels)} of blocks; allowed: one number, as [18]")
    yield from _odd_sizes(written.get("block_sizes"), kind)
    if isinstance(written.get(named), list) and written[named] and not levels:
        yield from _odd_switches(written[named], ("topology", named), modules)


def _odd_sizes(sizes: Any, kind: str) -> Iterator[Problem]:
    if not isinstance(sizes, list) or not sizes or not all(type(one) is int and one > 0 for one in sizes):
        return
    if kind != BLOCK:
        yield Problem(("topology", "block_sizes"), f"found beside type {kind}; allowed: with type block")
        return
    for before, one in pairwise(sizes):
        times = one // before
        if one % before or times < 2 or times & (times - 1):
            text = f"found {one} behind {before}; allowed: 2, 4, 8, ... times as many"
            yield Problem(("topology", "block_sizes"), text)


def _odd_switches(listing: list[Any], where: Location, modules: Sizes) -> Iterator[Problem]:
    """Names given twice or leading nowhere, nodes on two leaves or on none, switches below themselves."""
    entries = {
        i: one for i, one in enumerate(listing) if isinstance(one, dict) and one.get("name") is not None
    }
    places: dict[str, int] = {}
    for i, one in entries.items():
        name = str(one["name"])
        if places.setdefault(name.lower(), i) != i:
            yield Problem((*where, i, "name"), f"{found(name)} again; allowed: each once")
    yield from _odd_nodes(entries, where, modules)
    yield from _odd_tree(entries, places, where)


def _odd_nodes(entries: Mapping[int, Any], where: Location, modules: Sizes) -> Iterator[Problem]:
    holder: list[dict[int, str]] = [{} for _ in modules]
    whole_read = True
    for i, one in entries.items():
        try:
            ranges = nodes_named(as_list(one.get("nodes") or []), modules)
        except InputError as error:
            yield Problem((*where, i, "nodes"), str(error))
            whole_read = False
            continue
        except (TypeError, ValueError):
            whole_read = False
            continue  # told as a mistake of its own
        if bool(ranges) == bool(one.get("switches")):
            said = "both nodes and switches" if ranges else "neither nodes nor switches"
            yield Problem((*where, i), f"found {said}; allowed: one of them")
        for there in ranges:
            twice = [number for number in there.numbers if number in holder[there.module]]
            if twice:
                shown = f"node {twice[0]} of {modules[there.module][0]}"
                text = f"found {shown}, which is in {holder[there.module][twice[0]]!r}; allowed: each in one"
                yield Problem((*where, i, "nodes"), text)
            holder[there.module].update(dict.fromkeys(there.numbers, str(one["name"])))
    for held, (name, nodes) in zip(holder, modules, strict=True):
        if whole_read and held and len(held) < nodes:
            left = next(number for number in range(nodes) if number not in held)
            text = f"found node {left} of {name} on none, of {nodes - len(held):,} such nodes"
            yield Problem(where, f"{text}; allowed: all nodes of a module, or none of them")


def _odd_tree(entries: Mapping[int, Any], places: Mapping[str, int], where: Location) -> Iterator[Problem]:
    names = [str(one["name"]) for one in entries.values()]
    above: dict[str, str] = {}
    for i, one in entries.items():
        try:
            below = as_list(one.get("switches") or [])
        except (TypeError, ValueError):
            continue  # told as a mistake of its own
        for inner in below:
            if inner.lower() not in places:
                yield Problem(
                    (*where, i, "switches"), f"{found(inner)}, no such switch; {one_of(names, inner)}"
                )
            elif above.setdefault(inner.lower(), str(one["name"])) != str(one["name"]):
                text = f"{found(inner)}, which is below {above[inner.lower()]!r}; allowed: below one"
                yield Problem((*where, i, "switches"), text)
    for name, i in places.items():
        seen, at = {name}, above.get(name)
        while at is not None and at.lower() not in seen:
            seen.add(at.lower())
            at = above.get(at.lower())
        if at is not None and at.lower() == name:
            text = f"{found(entries[i]['name'])} below itself; allowed: no circle"
            yield Problem((*where, i, "switches"), text)
            return
