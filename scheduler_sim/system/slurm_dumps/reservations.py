"""Reading reservations: what ``scontrol show res -o`` and ``sacctmgr show reservation -P`` print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import InputError
from scheduler_sim.system.slurm_conf.hostlist import expand
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_conf.values import seconds
from scheduler_sim.system.slurm_dumps.associations import of_cluster
from scheduler_sim.system.slurm_dumps.moments import date, moment
from scheduler_sim.system.slurm_dumps.options import words
from scheduler_sim.system.slurm_dumps.table import MOST_BYTES, Row, read_table

LATEST = 253_402_300_799  # the last second of the year 9999
COMMAND = "sacctmgr show reservation -P"
SCONTROL = "scontrol show res -o"
OF_CORES = "reservations of some cores of a node are not modelled"
NOT_MODELLED = "this part of reservations is not modelled"
USERS_NAMED = "its users are named in another field"
BY_NUMBER = "sacctmgr gives its users by numbers without names; scontrol prints names"

_PAIRS = re.compile(r"(\w+)=(\S*(?:\s+[^\s=]+(?=\s|$))*)")
"""Keys and values; a value may have blanks, up to the next key: ``StartTime=2 Mar 07:00``."""

_CHOSEN_BY_DAEMON = ("SPEC_NODES", "ALL_NODES", "PART_NODES")
_NONE = ("", "(null)", "none", "n/a", "0")
_WORDS = {"partitionname": "partition", "features": "features"}
_UNUSED = ("licenses", "burstbuffer", "watts")


def read_reservations(path: str | Path, cluster: str, notes: Notes) -> list[dict[str, Any]]:
    """Read reservations, printed by either: ``name``, ``start``, ``end``, ``nodes``, and what is said.

    Times are dates on the clock of the site; ``nodes`` are those it had when it was printed. Raises
    ConfigError for files that cannot be read.
    """
    text = read_text(Path(path), f"what {SCONTROL} prints", MOST_BYTES)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if "|" in first and "ReservationName=" not in first:
        rows = list(read_table(path, COMMAND, ("Name", "TimeStart", "TimeEnd"), notes.problems))
        return [_of_row(row, notes) for row in of_cluster(rows, cluster, str(path))]
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("No reservations"):
            found += _of_line(line, f"{path}:{number}", notes)
    return found


def _of_row(row: Row, notes: Notes) -> dict[str, Any]:
    form: dict[str, Any] = {"name": row.text("name")}
    _times(form, row.pair("timestart"), row.pair("timeend"), notes)
    if "nodename" in row.headers:
        form["nodes"] = notes.read(row.pair("nodename"), _nodes, list[str]())
    if "flags" in row.headers:
        _take_flags(form, row.pair("flags"), notes)
    if row.text("assocs") or row.text("assoc"):
        notes.ignore(Pair("Assocs", form["name"], row.place), BY_NUMBER)
    return form


def _of_line(line: str, place: str, notes: Notes) -> list[dict[str, Any]]:
    """The reservation of a line; none where it is something else, or not whole nodes."""
    pairs = {key.lower(): Pair(key, value, place) for key, value in _PAIRS.findall(line)}
    if missing := [key for key in ("ReservationName", "StartTime", "EndTime") if key.lower() not in pairs]:
        notes.wrong(place, missing[0], f"found {line.strip()[:60]!r}; allowed: what {SCONTROL} prints")
        return []
    form: dict[str, Any] = {"name": pairs["reservationname"].value}
    if "coreids" in pairs:
        notes.ignore(Pair("CoreIDs", form["name"], place), OF_CORES)
        return []
    _times(form, pairs["starttime"], pairs["endtime"], notes)
    form["nodes"] = notes.read(pairs.get("nodes"), _nodes, list[str]())
    for key, name in _WORDS.items():
        if key in pairs and pairs[key].value.lower() not in _NONE:
            form[name] = pairs[key].value
    for key in ("users", "groups", "accounts"):
        if key in pairs and (found := _listed(pairs[key].value)):
            form[key] = found
    if "users" in form and form.pop("groups", None):
        notes.ignore(pairs["groups"], USERS_NAMED)
    _take_flags(form, pairs.get("flags"), notes)
    if "maxstartdelay" in pairs and (delay := notes.read(pairs["maxstartdelay"], _delay, None)):
        form["max_start_delay"] = delay
    for key in _UNUSED:
        if key in pairs and pairs[key].value.lower() not in _NONE:
            notes.ignore(pairs[key], NOT_MODELLED)
    return [form]


def _times(form: dict[str, Any], start: Pair, end: Pair, notes: Notes) -> None:
    begins, ends = notes.read(start, _moment, 0), notes.read(end, _moment, None)
    if ends is not None and ends < begins:
        notes.wrong(end.place, end.key, f"found {end.value!r} before {start.value}; allowed: a later date")
    form["start"], form["end"] = date(begins), date(ends)


def _moment(text: str) -> int:
    found = moment(text)
    if found is None:
        raise InputError(f"found {text[:60]!r}; allowed: a date")
    if found > LATEST:
        raise InputError(f"found {text[:60]!r}; allowed: a date before the year 10000")
    return found


def _nodes(text: str) -> list[str]:
    return [] if text.lower() in _NONE else expand(text)


def _listed(text: str) -> list[str]:
    return [] if text.lower() in _NONE else words(text)


def _take_flags(form: dict[str, Any], pair: Pair | None, notes: Notes) -> None:
    """The flags; those that tell how its nodes were named say nothing beside the nodes."""
    flags = []
    for flag in _listed(pair.value) if pair is not None else ():
        name, _, time = flag.partition("=")
        if time and pair is not None:
            form["purge_comp_s"] = notes.read(Pair(name, time, pair.place), _delay, None)
        if name.upper() not in _CHOSEN_BY_DAEMON:
            flags.append(name)
    if flags:
        form["flags"] = flags


def _delay(text: str) -> int | None:
    return None if text.lower() in _NONE else seconds(text)
