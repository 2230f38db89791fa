"""A run as its result tells it, to be made once more."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scheduler_sim.errors import InputError
from scheduler_sim.loaders.read import read_trace
from scheduler_sim.policy.policy import Policy
from scheduler_sim.result.result import Result
from scheduler_sim.simulation import Simulation
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

Progress = Callable[[int, int], None]
TRACE_ROLES = ("workload", "columns")


@dataclass(frozen=True)
class Setup:
    """All that makes a run.

    Attributes
    ----------
    models : the keys of a models file, None without one
    """

    system: System
    workload: Workload
    policy: Policy
    models: dict[str, Any] | None
    seed: int
    honour_status: bool
    on_error: str = "stop"

    @classmethod
    def of(cls, result: Result, workload: Workload) -> Setup:
        """Take system, policy, models and seed from the manifest of a result, and the trace as given.

        Raises InputError for a policy of a user's own functions, which no manifest holds.
        """
        manifest = result.manifest
        policy = dict(manifest["policy"])
        own = [policy[key] for key in ("order", "backfill_order") if ":" in str(policy.get(key))]
        if own:
            raise InputError(
                f"the run ordered its queue by {own[0]}, a function of your own, which is not in"
                " its manifest; allowed: results of runs with an order by name"
            )
        reading = manifest.get("workload") or {}
        return cls(
            System.from_dict(manifest["system"]),
            workload,
            Policy.resolve(policy),
            manifest.get("models"),
            int(manifest["seed"]),
            bool(reading.get("honour_status")),
            str(reading.get("on_error") or "stop"),
        )

    def run(self, progress: Progress | None = None) -> Result:
        """Simulate it."""
        return Simulation(
            self.system,
            self.workload,
            self.policy,
            models=self.models,
            seed=self.seed,
            honour_status=self.honour_status,
            on_error=self.on_error,
            progress=progress,
        ).run()

    def with_policy(self, policy: Policy) -> Setup:
        """Return it under another policy."""
        return replace(self, policy=policy)


def read_again(result: Result, trace: str | Path, columns: str | Path | None = None) -> Workload:
    """Read the trace of a result once more, as it was read then.

    Parameters
    ----------
    trace : the file; columns : the column map, if one was given.

    Raises
    ------
    InputError : it is another trace, or column map, than that of the result.
    """
    from scheduler_sim.simulation.outcome import digest_of_file

    wanted = {one["role"]: one for one in result.manifest["inputs"] if one["role"] in TRACE_ROLES}
    if "columns" in wanted and columns is None:
        raise InputError(
            f"the trace was read with the column map {wanted['columns']['name']}; allowed: that map with"
            " --columns"
        )
    for role, path in (("workload", trace), ("columns", columns)):
        if path is None:
            continue
        if not os.path.isfile(path):
            raise InputError(f"{path}: no such file; allowed: the trace of this result, and its column map")
        found = digest_of_file(role, Path(path))
        if role not in wanted or found["sha256"] != wanted[role]["sha256"]:
            name = wanted.get(role, {}).get("name")
            allowed = f"{name} with sha256 {wanted[role]['sha256'][:12]}…" if name else "none"
            what = "the trace" if role == "workload" else "the column map"
            raise InputError(f"{path} is not {what} of this result; allowed: {allowed}")
    reading = result.manifest.get("workload") or {}
    return read_trace(
        trace, reading.get("format"), columns=columns, on_error=reading.get("on_error") or "stop"
    )
