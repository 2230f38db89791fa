"""A case played in several ways that must agree to the second."""

from __future__ import annotations

import copy
import hashlib
import json
import tempfile
from collections.abc import Callable, Collection, Generator
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim import Policy, Result, Simulation, System
from scheduler_sim.errors import InputError
from tests.fuzz.rules.operations import Operation, carry_out
from tests.fuzz.rules.own import OF_POLICY
from tests.fuzz.rules.workloads import workload

Case = dict[str, Any]

OF_PASSES = ("wait_limit", "limit_waits")
"""Columns that count from look to look: wrong, as they say of themselves, where accelerate leaves some out."""


class FoundError(Exception):
    """What is against a law; ``kind`` tells one from another."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class Play:
    """One simulation of a case.

    Attributes
    ----------
    ids : components in order of submission. done : operations that were carried out.
    refused : what operations were refused, in their words.
    """

    def __init__(self, case: Case, **slurm: Any) -> None:
        self.case = case
        self.ids: list[int] = [one["component_id"] for one in case["jobs"]]
        self.done: list[Operation] = []
        self.refused: list[str] = []
        self.sim = Simulation(
            System.from_dict(copy.deepcopy(case["system"])),
            workload(case["jobs"]),
            policy(case, slurm),
            models=copy.deepcopy(case["models"]),
            seed=case["seed"],
        )

    def by_processes(self) -> Result:
        """Each operation is done by a SimPy process, for which ``run`` waits."""

        def process(operation: Operation) -> Generator[Any, Any, None]:
            yield self.sim.env.timeout(max(0, operation["time"] - int(self.sim.env.now)))
            self._act(operation)

        for operation in self.case["operations"]:
            self.sim.process(process(operation))
        return self.sim.run()

    def by_driver(self, exchange: Callable[[Simulation], Simulation] | None = None) -> Result:
        """Run up to each operation, and do it; at the time ``cut`` go on with another simulation."""
        steps: list[tuple[int, Operation | None]] = [(one["time"], one) for one in self.case["operations"]]
        if exchange is not None:
            steps = sorted([(self.case["cut"], None), *steps], key=lambda step: step[0])
        for time, operation in steps:
            if time > self.sim.env.now:
                self.sim.env.run(until=time)
            if operation is not None:
                self._act(operation)
            elif exchange is not None:
                self.sim = exchange(self.sim)
        return self.sim.run()

    def _act(self, operation: Operation) -> None:
        try:
            carry_out(self.sim, operation, self.ids)
            self.done.append(operation)
        except InputError as error:
            self.refused.append(str(error))


def policy(case: Case, slurm: dict[str, Any]) -> Policy:
    """Return the policy of a case, its own code by name, with some keys of Slurm's changed."""
    keys = copy.deepcopy(case["policy"])
    for key, known in OF_POLICY.items():
        if keys.get(key) in known:
            keys[key] = known[keys[key]]()
    if "slurm" in keys:
        keys["slurm"] |= slurm
    return Policy(**keys)


def has_own_code(case: Case) -> bool:
    return any(case["policy"].get(key) in known for key, known in OF_POLICY.items())


def compare(case: Case, first: Result) -> None:
    """Play a case in the other ways. Raises FoundError where the result is another one."""
    driven = Play(case).by_driver()
    if not _goes_on_by_itself(case):
        require_same("processes and driver", first, driven)
    if "slurm" in case["policy"]:
        slow = Play(case, accelerate=False).by_driver()
        require_same("accelerate", driven, slow, but=OF_PASSES)
    up_to_cut = Play(case).by_driver(lambda sim: sim)
    require_same("branch", up_to_cut, Play(case).by_driver(Simulation.branch))
    if not has_own_code(case):
        require_same("save and load", up_to_cut, Play(case).by_driver(_saved_and_loaded))


def compare_bytes(case: Case) -> None:
    """Twice the same is the same bytes, and what is read back is what was written."""
    result = Play(case).by_driver()
    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder, "one"), Path(folder, "other")
        result.save(one)
        Play(case).by_driver().save(other)
        if difference := _digests(one) ^ _digests(other):
            raise FoundError("same bytes", f"differ: {sorted(name for name, _ in difference)}")
        loaded = Result.load(one)
        loaded.check()
        require_same("saved result", result, loaded)


def _goes_on_by_itself(case: Case) -> bool:
    """Whether a driver may let more happen than ``run`` alone would."""
    recurring = ("HOURLY", "DAILY")
    reserved = case["system"].get("reservations", [])
    early = min(job["submit_time"] for job in case["jobs"])
    return (
        "failures" in case["system"]
        or any(flag in one.get("flags", []) for one in reserved for flag in recurring)
        or any(operation["time"] < early for operation in case["operations"])
    )


def _saved_and_loaded(sim: Simulation) -> Simulation:
    with tempfile.TemporaryDirectory() as folder:
        sim.save(Path(folder, "s.sim"))
        return Simulation.load(Path(folder, "s.sim"))


def _digests(folder: Path) -> set[tuple[str, str]]:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return {(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files}


def require_same(ways: str, first: Result, other: Result, but: Collection[str] = ()) -> None:
    """Raise FoundError where two ways to play a case end in different tables, some columns apart, or metrics."""
    for table in ("components", "timeline", "runs"):
        a, b = (getattr(result, table) for result in (first, other))
        if [*a.columns] != [*b.columns] or len(a) != len(b):
            raise FoundError(f"differs: {ways}", f"{table}: {len(a)} and {len(b)} rows of {[*a.columns]}")
        for name in (name for name in a.columns if name not in but):
            ours, theirs = np.asarray(a[name]), np.asarray(b[name])
            if not np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"):
                raise FoundError(
                    f"differs: {ways}", f"{table}: {name}: {ours.tolist()} and {theirs.tolist()}"
                )
    if _text(first.metrics) != _text(other.metrics):
        raise FoundError(f"differs: {ways}", "metrics")


def _text(metrics: Any) -> str:
    return json.dumps(metrics, sort_keys=True, default=str)
