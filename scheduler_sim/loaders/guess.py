"""Guessing which columns of a table are which of ours, where their names leave no doubt."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.column_map import ColumnMap, Entry
from scheduler_sim.loaders.formula import Formula, read_formula
from scheduler_sim.loaders.values import UNITS
from scheduler_sim.workload.fields import FIELDS

NAMES: dict[str, tuple[str, ...]] = {
    "component_id": ("job_id", "jobid", "id", "job", "job_number", "jobnumber", "jid"),
    "submit_time": (
        *("submit", "submitted", "submission", "submission_time", "submitted_time", "submit_timestamp"),
        *("submission_timestamp", "queued_timestamp", "queue_time", "queued_time", "qtime", "ctime"),
        *("creation_time", "created", "created_at", "arrival", "arrival_time", "subtime"),
    ),
    "start_time": ("start", "started", "start_timestamp", "begin", "scheduled_time", "started_at"),
    "end_time": (
        *("end", "ended", "end_timestamp", "finish", "finish_time", "finished", "completion_time"),
        *("deletion_time", "stop_time", "ended_at"),
    ),
    "run_time": ("runtime", "duration", "elapsed", "elapsed_time", "elapsed_raw", "execution_time", "run"),
    "time_limit": (
        *("timelimit", "limit", "walltime", "requested_walltime", "req_walltime", "requested_time"),
        *("wall_time", "walltime_requested", "wallclock_limit", "reqtime", "estimate", "time_requested"),
    ),
    "nodes": (
        *("num_nodes", "nnodes", "node_count", "nodes_requested", "requested_nodes", "num_nodes_alloc"),
        *("nodes_used", "alloc_nodes", "nodes_alloc", "node_num", "n_nodes", "size"),
    ),
    "user": ("username", "user_id", "userid", "uid", "username_genid"),
    "group": ("groupname", "group_id", "gid"),
    "account": ("project", "project_name", "project_name_genid"),
    "partition": ("partition_name", "queue", "queue_name"),
    "qos": (),
    "name": ("job_name", "jobname"),
}
"""What a column may be called, in any case; the first of several that are there counts."""

FIELDS_NEEDED = ("submit_time", "nodes")
_UNIT_AT_END = re.compile(
    r"^(.*?)[_ (]*\b(seconds|secs?|s|minutes|mins?|min|hours?|hrs?|h|ms|milliseconds)\)?$"
)
_SPELLED = {
    **dict.fromkeys(("seconds", "secs", "sec", "s"), "s"),
    **dict.fromkeys(("minutes", "mins", "min"), "min"),
    **dict.fromkeys(("hours", "hour", "hrs", "hr", "h"), "h"),
    **dict.fromkeys(("ms", "milliseconds"), "ms"),
}
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # submitTime is submit_Time
_DURATIONS = ("run_time", "time_limit")


def guessed(names: Sequence[str], file: str, likely: str | None = None) -> ColumnMap:
    """Return the map that the names of columns leave no doubt of.

    Columns that are called as ours are ours. Raises TraceError where one that is needed is not among them,
    with the source that they are likely of.
    """
    columns = dict(_found(names))
    if missing := _missing(columns):
        raise TraceError(
            f"no column that is called as {' nor as '.join(missing)}",
            file=file,
            found=", ".join(names)[:300],
            allowed="--columns MAP.yaml, which describes the columns; or --from, if these are public data"
            if likely is None
            else f"--from {likely}, whose columns these are; or --columns MAP.yaml, which describes them",
        )
    if "run_time" in columns:
        columns.pop("end_time", None)
    return ColumnMap(columns)


def is_guessable(names: Sequence[str]) -> bool:
    """Whether the names of columns leave no doubt of all that are needed."""
    return not _missing(dict(_found(names)))


def _missing(columns: Container[str]) -> list[str]:
    missing = [name for name in FIELDS_NEEDED if name not in columns]
    if "run_time" not in columns and not ("start_time" in columns and "end_time" in columns):
        missing.append("run_time, or start_time and end_time")
    return missing


def _found(names: Sequence[str]) -> Iterator[tuple[str, Entry]]:
    by_name = {
        spelt: name for name in reversed(names) for spelt in (_plain(_WORD_ENDS.sub("_", name)), _plain(name))
    }
    for ours in [*NAMES, *(name for name in FIELDS if name not in NAMES)]:
        called = (ours, *NAMES.get(ours, ()))
        theirs = next((by_name[word] for word in called if word in by_name), None)
        if theirs is not None:
            yield ours, Entry(_name(theirs))
        elif ours in _DURATIONS:
            for name in names:
                match = _UNIT_AT_END.match(name.lower().replace("_", " "))
                if match and match[1].strip().replace(" ", "_") in called:
                    yield ours, Entry(_name(name), scale=UNITS[_SPELLED[match[2]]])
                    break


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _name(column: str) -> Formula:
    quote = "`" if '"' in column else '"'
    return read_formula(f"{quote}{column}{quote}" if not re.fullmatch(r"[^\W\d][\w.]*", column) else column)
