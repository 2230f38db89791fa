"""The reference page on what named sources read, rendered from the column maps that ship."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import yaml

from scheduler_sim.loaders.sources import MAPS
from scheduler_sim.workload.fields import FIELDS

_INTRODUCTION = """\
# What named sources read

<!-- Rendered from scheduler_sim/loaders/sources/ by `python -m scheduler_sim.loaders.sources_page`. -->

Each source is a [column map](sources.md#column-maps) from columns of the data, or formulas of these, to
[columns of the workload](fields.md), or to the start or end of a job. All other columns of the data are
carried on to the results, with `trace_` before their names. Where several rows make a job (`eacct`), such a
column has the value on which all rows agree, otherwise the mean of numbers, or all texts and ids, each once,
with commas (the first 100); for `philly` these are the number of `attempts` of a job, and everything else in
the log. `frontier` is SWF with three more fields, of which the last tells the nodes; `slurm-sim-events` are
[commands](traces.md#events-of-the-slurm-simulators).
"""

_TIMES = {"start_time": "when the job started", "end_time": "when the job ended"}


def sources_page() -> str:
    """Return the reference page in Markdown."""
    return "\n".join([_INTRODUCTION, *(line for name in MAPS for line in _section(name))])


def _section(name: str) -> Iterator[str]:
    file = files("scheduler_sim.loaders").joinpath("sources", f"{name}.yaml")
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    about = data["source"]
    yield f"## `{name}`"
    yield ""
    yield f"[{about['title']}]({about['url']}). Licence: {about['licence']}. To cite: {about['cite']}."
    if "note" in about:
        yield ""
        yield about["note"].strip()
    if "time_zone" in data:
        yield ""
        yield f"Dates without an offset are on the clock of {data['time_zone']}."
    yield ""
    yield "| column | meaning | in the data | how |"
    yield "|---|---|---|---|"
    for ours, theirs in data["columns"].items():
        meaning = _TIMES.get(ours) or FIELDS[ours].description
        yield f"| `{ours}` | {meaning} | `{_formula(theirs)}` | {_how(theirs)} |"
    yield ""


def _formula(entry: Any) -> str:
    """Return what is taken of theirs, or the value of every row."""
    return str(entry.get("formula", entry.get("value")) if isinstance(entry, dict) else entry)


def _how(entry: Any) -> str:
    """Return in what unit it is, what is taken of lists, and what words mean."""
    if not isinstance(entry, dict):
        return ""
    told = [f"in {entry['unit']}"] if "unit" in entry else []
    told += [f"{entry['of_list']} of the list"] if "of_list" in entry else []
    told += [f"dates as `{entry['time_format']}`"] if "time_format" in entry else []
    told += [f"clock of {entry['time_zone']}"] if "time_zone" in entry else []
    told += [f"{_word(word)} is {_word(value)}" for word, value in entry.get("values", {}).items()]
    return ", ".join(told)


def _word(word: Any) -> str:
    return "any other" if word == "*" else f"`{word}`"


if __name__ == "__main__":
    import sys

    sys.stdout.write(sources_page())
