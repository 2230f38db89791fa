"""A failing case made small: whatever can go without the finding going, goes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.fuzz.rules.plays import Case

Path = tuple[Any, ...]
LONGEST = {"operations", "jobs"}
"""Lists that are tried first: without one of these much is gone."""


def minimised(case: Case, sign_of: Callable[[Case], str]) -> Case:
    """Return a case with the same sign from which nothing more can be taken away."""
    sign = sign_of(case)
    while True:
        for smaller in _smaller(case):
            if sign_of(smaller) == sign:
                case = smaller
                break
        else:
            return case


def as_test(name: str, case: Case) -> str:
    """Return a case as the file that keeps it among those that were found."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in case.items())
    return f"found/{name}.json\n{{\n" + ",\n".join(lines) + "\n}"


def _smaller(case: Case) -> Iterator[Case]:
    """Yield the case without one of its parts, large ones first; then with a smaller number somewhere."""
    paths = sorted(_paths(case, ()), key=lambda path: (path[0] not in LONGEST, len(path)))
    for path in paths:
        if smaller := _without(case, path):
            yield smaller
    for path in paths:
        value = _at(case, path)
        if isinstance(value, int) and not isinstance(value, bool) and "id" not in str(path[-1]):
            for less in sorted({0, 1, value // 2, value - 1}):
                if 0 <= less < value:
                    made = copy.deepcopy(case)
                    _at(made, path[:-1])[path[-1]] = less
                    yield made


def _paths(part: Any, path: Path) -> Iterator[Path]:
    keys = part.keys() if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
    for key in keys:
        yield (*path, key)
        yield from _paths(part[key], (*path, key))


def _at(case: Case, path: Path) -> Any:
    part: Any = case
    for key in path:
        part = part[key]
    return part


KEPT = {"system", "jobs", "policy", "models", "operations", "seed", "cut", "level"}
NEEDED = {"component_id", "modular_job_id", "submit_time", "run_time", "nodes"}


def _without(case: Case, path: Path) -> Case | None:
    """Return the case without a part; None where it cannot go. Who waits for a job that goes waits no more."""
    if len(path) == 1:
        return case | {"models": None} if path[0] == "models" and case["models"] else None
    if path[0] == "jobs" and len(path) == 3 and path[2] in NEEDED:
        return None
    made = copy.deepcopy(case)
    _at(made, path[:-1]).pop(path[-1])
    if path[0] == "jobs":
        left = {job["component_id"] for job in made["jobs"]}
        for job in made["jobs"]:
            others = job.get("dependency_ids")
            is_whole = others is not None and "dependency_kinds" in job
            if not is_whole or not {int(one) for one in others.split(",") if one} <= left:
                for key in [key for key in job if key.startswith("dependency")]:
                    job.pop(key)
    return made if made["jobs"] and made != case else None
