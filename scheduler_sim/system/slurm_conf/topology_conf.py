"""The topology.conf beside a slurm.conf: which switches nodes hang on, or which blocks they form."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from scheduler_sim.system.node_events import written
from scheduler_sim.system.slurm_conf.hostlist import expand
from scheduler_sim.system.slurm_conf.ignored import NO_SUCH_NODE, PARTLY_ON_SWITCHES
from scheduler_sim.system.slurm_conf.lines import Pair, Record, read_lines
from scheduler_sim.system.slurm_conf.nodes import named_line
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_conf.values import count
from scheduler_sim.system.topology import BLOCK, TREE, TopologyKeys

FILE = "topology.conf"
LINK_SPEED = "Slurm itself does not use it"

_KEYS = {"switchname": ("nodes", "switches", "linkspeed"), "blockname": ("nodes",)}


def read_topology(path: Path, known: Collection[str], notes: Notes) -> dict[str, Any]:
    """Read a topology.conf: ``switches`` by name, each with its nodes or its switches; or ``blocks``.

    Nodes are kept as they are written, as hostlists. ``known`` are the names of nodes in the slurm.conf;
    ``block_sizes`` are in nodes. Raises ConfigError for files that cannot be read.
    """
    said = list(read_lines(path, notes.problems, notes.moved, what=f"a {FILE}", records=tuple(_KEYS)))
    switches: dict[str, Any] = {}
    blocks: dict[str, Any] = {}
    form: dict[str, Any] = {}
    for one in said:
        if isinstance(one, Pair):
            if one.key.lower() == "blocksizes":
                form["block_sizes"] = notes.read(one, _sizes, list[int]())
            else:
                notes.wrong(
                    one.place, one.key, "found at the beginning; allowed: SwitchName, BlockName, BlockSizes"
                )
            continue
        _check_nodes(one, known, notes)
        keys = _of_switch(one, notes) if one.kind == "switchname" else {"nodes": one.text("nodes") or ""}
        if one.kind == "blockname" and not keys["nodes"]:
            notes.wrong(one.place, "BlockName", "found no Nodes; allowed: the nodes of the block")
        for name in notes.read(Pair("SwitchName", one.name, one.place), expand, list[str]()):
            there = switches if one.kind == "switchname" else blocks
            if name in there:
                notes.wrong(one.place, "SwitchName" if there is switches else "BlockName", _again(name))
            there[name] = keys
    if switches and blocks:
        notes.wrong(str(path), "BlockName", "found beside SwitchName; allowed: one of them")
    _check_tree(switches, {one.name: one.place for one in said if isinstance(one, Record)}, notes)
    return form | ({"switches": switches} if switches else {}) | ({"blocks": blocks} if blocks else {})


def nodes_of(form: Mapping[str, Any]) -> set[str]:
    """The nodes that hang on a switch, or are in a block."""
    listed = (form.get("blocks") or form.get("switches") or {}).values()
    return {node for keys in listed if "nodes" in keys for node in expand(keys["nodes"])}


def topology_keys(
    form: Mapping[str, Any], numbers: Mapping[str, tuple[str, int]], records: Iterable[Record], notes: Notes
) -> TopologyKeys | None:
    """The keys of a system file that say the same; None where there is nothing, or it is not modelled.

    ``numbers``: module and number of each node that is simulated; ``records``: the lines of the slurm.conf.
    """
    listed = form.get("blocks") or form.get("switches") or {}
    nodes = {name: expand(keys["nodes"]) for name, keys in listed.items() if "nodes" in keys}
    on = nodes_of(form)
    missing = [node for node in numbers if node not in on]
    touched = {numbers[node][0] for node in on if node in numbers}
    if not touched:
        return None
    if any(numbers[node][0] in touched for node in missing):
        notes.ignore(named_line(missing, records), PARTLY_ON_SWITCHES)
        return None
    named = {name: _words(names, numbers) for name, names in nodes.items()}
    if "blocks" in form:
        made = [{"name": name, "nodes": words} for name, words in named.items() if words]
        keys = {"type": BLOCK, "blocks": made, "block_sizes": form.get("block_sizes", [])}
        return TopologyKeys.model_validate(keys)
    return TopologyKeys.model_validate({"type": TREE, "switches": _switches(listed, named)})


def _switches(listed: Mapping[str, Any], named: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """Those that have nodes that are simulated below them."""
    made, kept = {name: {"name": name, "nodes": words} for name, words in named.items() if words}, True
    while kept:
        kept = False
        for name, keys in listed.items():
            below = [inner for inner in keys.get("switches", ()) if inner in made]
            if below and made.get(name, {}).get("switches") != below:
                made[name], kept = {"name": name, "switches": below}, True
    return [made[name] for name in listed if name in made]


def _words(names: list[str], numbers: Mapping[str, tuple[str, int]]) -> list[str]:
    """Nodes by number in their modules, as main[0-3,7]."""
    places = [numbers[name] for name in names if name in numbers]
    return [
        f"{module}[{written(tuple(sorted(number for home, number in places if home == module)))}]"
        for module in dict.fromkeys(home for home, _ in places)
    ]


def _again(name: str) -> str:
    return f"found {name!r} again; allowed: each once"


def _sizes(text: str) -> list[int]:
    return [count(part.strip(), 1) for part in text.split(",")]


def _check_nodes(record: Record, known: Collection[str], notes: Notes) -> None:
    """Nodes of a line that the slurm.conf does not have are noted; keys that mean nothing are told."""
    pair: Pair | None
    for key, pair in record.pairs.items():
        if key not in _KEYS[record.kind]:
            notes.wrong(pair.place, pair.key, f"no key of a {FILE}; allowed: Nodes, Switches, LinkSpeed")
        elif key == "linkspeed":
            notes.ignore(pair, LINK_SPEED)
    pair = record.pairs.get("nodes")
    names = notes.read(pair, expand, list[str]())
    if pair is not None and (unknown := [name for name in names if name not in known]):
        more = f" and {len(unknown) - 1} more" if unknown[1:] else ""
        notes.ignore(pair, NO_SUCH_NODE, value=unknown[0] + more)


def _of_switch(record: Record, notes: Notes) -> dict[str, Any]:
    nodes, inner = record.text("nodes"), record.pairs.get("switches")
    if (nodes is None) == (inner is None):
        found = "both Nodes and Switches" if inner else "neither Nodes nor Switches"
        notes.wrong(record.place, "SwitchName", f"found {found}; allowed: one of them")
    return {"nodes": nodes} if nodes is not None else {"switches": notes.read(inner, expand, list[str]())}


def _check_tree(switches: Mapping[str, Any], places: Mapping[str, str], notes: Notes) -> None:
    """Every switch that is named is there, below one other at most, and none below itself."""
    above: dict[str, str] = {}
    for name, keys in switches.items():
        place = places.get(name, FILE)
        for inner in keys.get("switches", ()):
            if inner not in switches:
                notes.wrong(place, "Switches", f"found {inner!r}; allowed: names of SwitchName lines")
            elif above.setdefault(inner, name) != name:
                notes.wrong(
                    place, "Switches", f"found {inner!r}, which is below {above[inner]!r}; allowed: below one"
                )
    for name in switches:
        seen, at = {name}, above.get(name)
        while at is not None and at not in seen:
            seen.add(at)
            at = above.get(at)
        if at == name:
            notes.wrong(
                places.get(name, FILE), "Switches", f"found {name!r} below itself; allowed: no circle"
            )
            return
