"""What is written of replays: all of it as JSON, or a row a process as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scheduler_sim.errors import InputError
from scheduler_sim.messages.outcome import Outcome
from scheduler_sim.messages.replay import Efficiency
from scheduler_sim.messages.trace import PS
from scheduler_sim.output.rule import Kind, check_place, head
from scheduler_sim.output.whole import whole_file

VERSION = 1
_START = f'{{\n  "message_replay": {VERSION},'.encode()
COLUMNS = ("trace", "process", "module", "node", "useful_s", "waiting_s", "transfer_s", "end_s")
_HEAD = ",".join(COLUMNS)

RESULT = Kind(
    "a result of replay-messages", lambda path: head(path, 200).startswith((_START, _HEAD.encode()))
)


def check_result(path: str | Path, *, force: bool = False) -> None:
    """Raise InputError unless a result may be written here."""
    if Path(path).suffix.lower() not in (".json", ".csv"):
        raise InputError(f"--out: found {str(path)!r}; allowed: a name ending in .json or .csv")
    check_place(path, RESULT, force=force)


def write_result(outcomes: Sequence[Outcome], path: str | Path, *, force: bool = False) -> None:
    """Write what came of some traces, whole or not at all; the same traces give the same bytes."""
    as_json = Path(path).suffix.lower() == ".json"
    text = json.dumps(document(outcomes), indent=2) if as_json else "\n".join(_rows(outcomes))
    with whole_file(path, None if force else RESULT) as file:
        file.write(f"{text}\n".encode())


def document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return all that is known, as the JSON file has it; times in seconds."""
    return {"message_replay": VERSION, "traces": [_trace(one) for one in outcomes]}


def _trace(one: Outcome) -> dict[str, Any]:
    places = one.network.places(one.trace.processes)
    modules = list(one.network.modules)
    return {
        "name": one.trace.name,
        "network": one.network.name,
        "processes": one.trace.processes,
        "records": one.trace.counts(),
        "skipped": dict(sorted(one.trace.skipped.items())),
        "messages": one.messages,
        "bytes": one.bytes,
        "messages_not_received": one.not_received,
        **_efficiency(one.efficiency),
        "what_ifs": [{"what": text, **_efficiency(found)} for text, found in one.what_ifs.items()],
        "per_process": {
            "module": [modules[i] for i in places.module],
            "node": places.node.tolist(),
            "useful_s": _seconds(one.real.useful),
            "waiting_s": _seconds(one.real.waiting),
            "transfer_s": _seconds(one.real.transfer),
            "end_s": _seconds(one.real.finish),
        },
    }


def _efficiency(found: Efficiency) -> dict[str, Any]:
    return {
        "run_time_s": found.run_time / PS,
        "ideal_run_time_s": found.ideal / PS,
        "load_balance": round(float(found.load_balance), 9),
        "serialization": round(float(found.serialization), 9),
        "transfer": round(float(found.transfer), 9),
        "parallel_efficiency": round(float(found.parallel), 9),
    }


def _seconds(ps: Any) -> list[float]:
    return [value / PS for value in ps.tolist()]


def _rows(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield _HEAD
    for one in outcomes:
        name = '"' + one.trace.name.replace('"', '""') + '"'
        every = _trace(one)["per_process"]
        for process, row in enumerate(zip(*(every[column] for column in COLUMNS[2:]), strict=True)):
            yield ",".join([name, str(process), *map(str, row)])
