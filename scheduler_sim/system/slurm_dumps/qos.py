"""QOS as ``policy.slurm.qos`` has them, and reading ``sacctmgr show qos -P``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scheduler_sim.system.slurm_conf.ignored import PREEMPTION
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes, note_within
from scheduler_sim.system.slurm_conf.values import WITHIN_OR_PRIORITY, without_words
from scheduler_sim.system.slurm_dumps.accounts import counted
from scheduler_sim.system.slurm_dumps.associations import NOT_READ
from scheduler_sim.system.slurm_dumps.options import OF_QOS, option_named, reader
from scheduler_sim.system.slurm_dumps.table import read_table

COMMAND = "sacctmgr show qos -P"

_PLAIN = {
    "GraceTime": 0,
    "PreemptMode": "cluster",
    "UsageFactor": 1.0,
    "MinPrioThreshold": 0,
    "LimitFactor": 0.0,
}
"""What Slurm has where nothing is set."""

_PLACED = ("name", "description", "descr", "id")


def read_qos(path: str | Path, notes: Notes) -> dict[str, Any]:
    """Read what ``sacctmgr show qos -P`` printed: QOS with what is set of them, as ``policy.slurm.qos``.

    Raises ConfigError for files that cannot be read.
    """
    form: dict[str, Any] = {}
    headers: dict[str, str] = {}
    for row in read_table(path, COMMAND, ("Name",), notes.problems):
        headers = row.headers
        name, own = row.text("name").lower(), dict[str, Any]()
        for column in row.cells:
            found = option_named(OF_QOS, column) if column not in _PLACED else None
            if found is not None:
                option, resource = found
                value = notes.read(row.pair(column), reader(option, resource), None)
                give(own, option.name, value)
        if not name or name in form:
            notes.wrong(
                row.place, "Name", f"found {name!r}{' again' if name else ''}; allowed: each name once"
            )
        form[name] = qos_form(own, row.place, notes)
    for key, header in headers.items():
        if key not in _PLACED and option_named(OF_QOS, key) is None:
            notes.ignore(Pair(header, "", f"{path}:1"), NOT_READ)
    return form


def give(own: dict[str, Any], name: str, value: Any) -> None:
    """Set what a QOS has; None clears it. Of amounts of resources, those that are named."""
    if isinstance(value, dict):
        left = {**own.get(name, {}), **value}
        value = {resource: amount for resource, amount in left.items() if amount is not None}
    if value is None or value in ({}, []):
        own.pop(name, None)
    else:
        own[name] = sorted(value) if isinstance(value, list) else value


def qos_form(own: Mapping[str, Any], place: str, notes: Notes) -> int | dict[str, Any]:
    """A QOS as ``policy.slurm.qos`` has it: its priority alone, or all that is set; the rest is noted."""
    form: dict[str, Any] = {"priority": own.get("priority", 0)}
    for name in sorted(own.keys() - {"priority"}):
        if own[name] == _PLAIN.get(name):
            continue
        value = counted(own[name], Pair(name, "", place), notes)
        if name == "PreemptMode":
            value = _preempt_mode(Pair(name, own[name], place), notes)
        if value not in ({}, _PLAIN.get(name)):
            form[name] = value
    return form["priority"] if form.keys() == {"priority"} else form


def _preempt_mode(pair: Pair, notes: Notes) -> str:
    """Its word; suspension by QOS is not modelled, nor are the words beside it: noted."""
    note_within(pair, notes)
    mode = without_words(pair.value, (*WITHIN_OR_PRIORITY, "GANG")).lower()
    if mode in ("suspend", "on"):
        notes.ignore(pair, PREEMPTION)
        return "cluster"
    return mode or "cluster"
