"""What a person wants to know of a system, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scheduler_sim.cli.terminal import table
from scheduler_sim.cli.wording import number
from scheduler_sim.report.wording import count, duration, plain
from scheduler_sim.system.system import Partition, System


def system_text(system: System) -> str:
    """Return the page on a system: modules, partitions, shared resources, warnings."""
    title = f"{plain(system.name)}: {count(system.nodes, 'node')} in {count(len(system.modules), 'module')}"
    warnings = [f"  - {warning}" for warning in _warnings(system)]
    parts = [
        title,
        system.description,
        _modules(system),
        _node_sets(system),
        _partitions(system),
        _resources(system),
        _reservations(system),
        _swf(system),
        "\n".join(["warnings", *warnings]) if warnings else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _modules(system: System) -> str:
    rows: list[tuple[str, ...]] = [
        ("module", "features", "nodes", "cores/node", "GB/node", "GPUs/node", "cost/node")
    ]
    for module in system.modules:
        rows.append(
            (
                plain(module.name),
                ", ".join(module.features) or "-",
                f"{module.nodes:,}",
                _from_to(one.cores_per_node for one in module.sets),
                _from_to(one.memory_gb for one in module.sets),
                _from_to((one.gpus for one in module.sets), none="0"),
                number(module.cost_per_node),
            )
        )
    more = {
        "nodes are": ["shared" if module.shared else "whole" for module in system.modules],
        "resources": [_gres(module.gres) for module in system.modules],
    }
    if not any(module.shared for module in system.modules):
        del more["nodes are"]
    described = [f"  {plain(m.name)}: {m.description}" for m in system.modules if m.description]
    return "\n".join([table(_with(rows, more), left=2), *(["", *described] if described else [])])


def _from_to(amounts: Iterable[float], none: str = "not stated") -> str:
    """What nodes have: the same, or from the least to the most."""
    ends = sorted(set(amounts))
    words = [number(ends[0]) if ends[0] else none, *(number(end) for end in ends[-1:] if len(ends) > 1)]
    return " to ".join(words)


def _gres(gres: Mapping[str, float]) -> str:
    return ", ".join(f"{plain(name)}:{number(amount)}" for name, amount in gres.items())


def _with(rows: list[tuple[str, ...]], more: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the rows with further columns, but without those that say nothing of any."""
    for title, cells in more.items():
        if any(cells):
            rows = [(*row, cell) for row, cell in zip(rows, (title, *cells), strict=True)]
    return rows


def _node_sets(system: System) -> str:
    rows: list[tuple[str, ...]] = [("module", "node set", "features", "nodes", "cores", "GB", "weight")]
    sets = [(module, one) for module in system.modules if module.node_sets for one in module.sets]
    for module, one in sets:
        rows.append(
            (
                plain(module.name),
                plain(one.name),
                ", ".join(one.features) or "-",
                f"{one.nodes:,}",
                number(one.cores_per_node) if one.cores_per_node else "not stated",
                number(one.memory_gb) if one.memory_gb else "not stated",
                str(one.weight),
            )
        )
    more = {
        "GPUs": [number(one.gpus) if one.gpus else "" for _, one in sets],
        "resources": [_gres(one.gres) for _, one in sets],
    }
    return table(_with(rows, more), left=3) if sets else ""


def _partitions(system: System) -> str:
    rows: list[tuple[str, ...]] = [("partition", "module", "max time", "max nodes", "priority", "default")]
    rows += [_partition_row(partition, system) for partition in system.partitions]
    more = {
        "nodes": [f"{system.nodes_of(p.name):,}" if p.node_sets else "" for p in system.partitions],
        "default time": [duration(p.default_time_s) if p.default_time_s else "" for p in system.partitions],
        "min nodes": [str(p.min_nodes) if p.min_nodes > 1 else "" for p in system.partitions],
        "state": [p.state if p.state != "UP" else "" for p in system.partitions],
        "nodes for": [
            "one job" if p.exclusive and system.module(p.module).shared else "" for p in system.partitions
        ],
        "OverSubscribe": [said if (said := str(p.over_subscribe)) != "NO" else "" for p in system.partitions],
        "job factor": [str(p.priority_job_factor) for p in system.partitions],
    }
    if set(more["job factor"]) == {"1"}:
        del more["job factor"]
    return table(_with(rows, more), left=2)


def _partition_row(partition: Partition, system: System) -> tuple[str, ...]:
    return (
        plain(partition.name),
        plain(partition.module),
        "no limit" if partition.max_time_s is None else duration(partition.max_time_s),
        "no limit" if partition.max_nodes is None else f"{partition.max_nodes:,}",
        str(partition.priority),
        "yes" if partition is system.default_partition else "",
    )


def _resources(system: System) -> str:
    if not system.resources:
        return "shared resources: none are stated, so none are limited"
    rows: list[tuple[str, ...]] = [("shared resource", "unit", "amount")]
    rows += [(plain(resource.name), resource.unit, f"{resource.amount:,}") for resource in system.resources]
    return table(rows, left=2)


def _reservations(system: System) -> str:
    rows: list[tuple[str, ...]] = [("reservation", "nodes", "for", "flags", "from", "until")]
    for one in system.reservations:
        until = duration(one.duration) if one.duration else "a year" if one.end is None else ""
        count_of = (
            "" if one.node_count is None else f"{one.node_count:,} of {plain(one.partition or 'default')}"
        )
        count_of += f" with {plain(one.features)}" if one.features else ""
        rows.append(
            (
                plain(one.name),
                plain(",".join(one.nodes)) or count_of or "-",
                plain(", ".join([*one.users, *one.groups, *one.accounts])),
                ", ".join(one.flags) or "-",
                _moment(one.at if one.start is None else one.start) or "the beginning",
                f"{until} later" if until else _moment(one.end),
            )
        )
    return table(rows, left=4) if system.reservations else ""


def _moment(moment: int | str | None) -> str:
    """A date, or seconds on the clock of the trace."""
    return "" if moment is None else plain(moment) if isinstance(moment, str) else f"second {moment:,}"


def _swf(system: System) -> str:
    pairs = [f"{key} is {plain(name)}" for key, name in system.swf_partitions.items()]
    return f"partitions or queues of traces in SWF: {', '.join(pairs)}" if pairs else ""


def _warnings(system: System) -> Iterator[str]:
    for partition in system.partitions:
        there = system.nodes_of(partition.name)
        if partition.max_nodes is not None and partition.max_nodes > there:
            what = "it" if partition.node_sets else f"module {plain(partition.module)}"
            yield (
                f"partition {plain(partition.name)} admits {count(partition.max_nodes, 'node')},"
                f" {what} has {there:,}"
            )
    if len(system.modules) > 1 and not system.swf_partitions:
        yield "several modules and no swf: {partitions: ...}: traces in SWF cannot be replayed here"
