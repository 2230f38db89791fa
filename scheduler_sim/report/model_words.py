"""Names in the models of a run that mean nothing in it, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from scheduler_sim.report.wording import count, plain

KINDS = {
    "types": ("application type", "of which no component is"),
    "modules": ("module", "which the system does not have"),
    "signatures": ("signature", "which no component has"),
}
MOST_LISTED = 8

TITLE = "names in the models that mean nothing here"


def unmatched_lines(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Say, kind by kind, how many names there are, and which."""
    found = manifest.get("unmatched") or {}
    for kind, (word, what) in KINDS.items():
        if names := found.get(kind):
            yield f"{count(len(names), word)} {what}: {_listed(names)}"


def unmatched_in_runs(index: pd.DataFrame) -> Iterator[str]:
    """Say, kind by kind, in how many runs of a study there are such names; ``index`` has a row a run."""
    for kind, (word, what) in KINDS.items():
        column = f"counts_unmatched_{kind}"
        runs = int((index[column] > 0).sum()) if column in index else 0
        if runs:
            yield f"{count(runs, 'run')} with a {word} {what}: manifest.json names it"


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_LISTED
    told = ", ".join(plain(name) for name in names[:MOST_LISTED])
    return told + (f" and {more:,} more" if more > 0 else "")
