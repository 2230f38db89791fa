"""What a person wants to know of a slurm.conf, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from scheduler_sim.cli.system_page import system_text
from scheduler_sim.cli.terminal import table
from scheduler_sim.report.wording import plain
from scheduler_sim.system.slurm_conf.ignored import rank
from scheduler_sim.system.slurm_conf.notes import Ignored
from scheduler_sim.system.slurm_conf.site import BY_DEFAULT, Site

LINES_SHOWN = 4

MEMORY_OF_JOBS = "DefMemPerNode"
DECIDING = (
    *("SelectType", "SelectTypeParameters", MEMORY_OF_JOBS, "SchedulerType", "PriorityType"),
    *("PreemptType", "EnforcePartLimits", "OverTimeLimit", "KillWait", "AccountingStorageEnforce"),
    *("sched_interval", "default_queue_depth", "bf_interval", "bf_window", "bf_resolution"),
    "bf_max_job_test",
)
"""Keys that decide when jobs start, whether they are stated or not."""

OF_FACTORS = ("AccountingStorageType", "PriorityMaxAge", "PriorityDecayHalfLife", "PriorityCalcPeriod")
"""Those that count for priority/multifactor alone."""


def site_text(site: Site, path: str) -> str:
    """Return the page on a slurm.conf: the system, the policy keys, what is left out and why."""
    matter = [one for one in site.ignored if one.matters]
    rest = [one for one in site.ignored if not one.matters]
    parts = [
        system_text(site.system),
        _policy(site, path),
        _ignored("left out, which may matter", matter, path),
        _ignored("left out, which does not matter", rest, path),
    ]
    return "\n\n".join(part for part in parts if part)


def _policy(site: Site, path: str) -> str:
    """The keys that ``--policy slurm`` takes from the file."""
    rows = [("policy.slurm.", "value", "line")]
    rows += [
        (name, plain(_spelt(value)), _line(site.places[name], path))
        for name, value in site.policy.items()
        if site.places[name] != BY_DEFAULT
    ]
    stated = table(rows, left=2) if rows[1:] else "policy slurm: the file sets none of its keys"
    return f"{stated}\n\n{_defaults(site)}"


def _defaults(site: Site) -> str:
    """What decides starts, and is left to Slurm's default."""
    from scheduler_sim.policy.slurm_keys import SlurmKeys

    rows = [("left to Slurm", "value", "line")]
    by_factors = site.policy.get("PriorityType") == "priority/multifactor"
    for name in (*DECIDING, *(OF_FACTORS if by_factors else ())):
        if name in site.policy and site.places[name] == BY_DEFAULT:
            rows.append((name, _spelt(site.policy[name]), BY_DEFAULT))
        elif name == MEMORY_OF_JOBS and not site.policy.keys() & {name, "DefMemPerCPU"}:
            rows.append((name, "all memory of the nodes", BY_DEFAULT))
        elif name not in site.policy and name in SlurmKeys.model_fields and name != MEMORY_OF_JOBS:
            rows.append((name, _spelt(SlurmKeys().settled(name)), BY_DEFAULT))
    for name, left in site.node_defaults.items():
        more = f" and {len(left.names) - 1:,} more" if left.names[1:] else ""
        value = "1" if left.counts else "not looked at"
        rows.append((f"{name} of {plain(left.names[0])}{more}", value, BY_DEFAULT))
    return table(rows, left=2)


def _ignored(title: str, ignored: Iterable[Ignored], path: str) -> str:
    """What is left out, by reason, what decides starts first; a key that comes often is named once."""
    by_reason: dict[str, dict[str, list[Ignored]]] = {}
    for one in ignored:
        by_reason.setdefault(one.why, {}).setdefault(one.key, []).append(one)
    lines = [line for why in sorted(by_reason, key=rank) for line in _reason(why, by_reason[why], path)]
    return "\n".join([title, *lines]) if lines else ""


def _reason(why: str, keys: dict[str, list[Ignored]], path: str) -> Iterator[str]:
    yield f"  - {why}"
    for key, several in keys.items():
        values = list(dict.fromkeys(one.value for one in several))
        value = f"={plain(values[0])}" if len(values) == 1 and values[0] else ""
        places = list(dict.fromkeys(_line(one.place, path) for one in several))
        value = value or (f"={plain(','.join(values))}" if len(places) == 1 and values[-1] else "")
        more = f" and {len(places) - LINES_SHOWN} more" if len(places) > LINES_SHOWN else ""
        lines = "lines" if len(places) > 1 else "line"
        yield f"      {plain(key)}{value}  ({lines} {', '.join(places[:LINES_SHOWN])}{more})"


def _line(place: str, path: str) -> str:
    """The line's number; with the name of the file where another one was included."""
    file, _, line = place.rpartition(":")
    return line if Path(file) == Path(path) else f"{plain(Path(file).name)}:{line}"


def _spelt(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
