"""What is run: one workload under each way to save energy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from scheduler_sim import Policy, Recipe, System, Workload
from scheduler_sim.applications.models import Models
from scheduler_sim.energy.profile import PowerProfiles

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "workloads" / "sample-modular.yaml"
SYSTEM = ROOT / "configs" / "systems" / "deep-est-prototype.yaml"
TABLE_7 = ROOT / "configs" / "models" / "deep-est-applications.yaml"
POWER = ROOT / "configs" / "power" / "deep-est-prototype.yaml"

POLICIES = ("easy", "conservative")
MAIN_POLICY = "easy"

ON_GPUS = ("Correlator", "GROMACS", "xPIC")
"""Applications that Table 7 has as faster on both modules with GPUs: there one draws its typical watts."""

HOUR, DAYS = 3600, 90
DAY_PRICE = {0: 0.18, 6: 0.30, 9: 0.22, 16: 0.38, 21: 0.24}
"""A made-up price of a kWh from an hour of the day on."""

BASE = "as asked"
CHOICE, MODULES, CLOCKS, SCHEDULER, CAP, SHIFT, OFF = (
    "module and clock",
    "module alone",
    "clock alone",
    "module by the scheduler",
    "power cap",
    "cheap hours",
    "idle nodes off",
)


@dataclass(frozen=True)
class Saver:
    """A way to save energy: name, kind, the keys of ``energy`` that it adds, the policy's strategy.

    With ``lists`` a job may run on all modules that it lists, else on the first alone.
    """

    name: str
    kind: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    placement: str = "earliest_start"
    lists: bool = False

    def workload(self, base: Workload) -> Workload:
        """Return the jobs with the modules on which they may run."""
        if self.lists:
            return base
        return base.replace(partition=base.table["partition"].astype(str).str.partition(",")[0].to_numpy())

    def policy(self, name: str) -> Policy:
        """Return a policy by name, with the strategy."""
        return Policy.named(name).with_settings({"placement": self.placement})


def _choice(name: str, kind: str, of: str, objective: str, slowdown: float | None = None) -> Saver:
    bound = {} if slowdown is None else {"slowdown": slowdown}
    keys = {"choice": {"objective": objective, "of": of, **bound}}
    return Saver(name, kind, keys, lists=kind != CLOCKS)


def _cap(kw: int, pstates: int) -> Saver:
    how = "waiting" if pstates == 1 else "lower clocks, too"
    return Saver(f"cap {kw} kW, {how}", CAP, {"cap": {"power_w": 1000 * kw, "pstates": pstates}})


def _shift(hours: int) -> Saver:
    return Saver(f"shift up to {hours} h", SHIFT, {"shift": {"by": "price", "bound_s": hours * HOUR}})


def _off(minutes: int) -> Saver:
    return Saver(f"off after {minutes} min", OFF, {"idle_off": {"timeout_s": 60 * minutes}})


CAPS = (46, 42, 39)
"""kW; of the peak of the jobs as asked about 97, 88 and 82 %."""

SHIFTS = (6, 12, 24)
TIMEOUTS = (4, 60)
"""Minutes; 4 are a little more than the profile's break-even."""

_MODULE = _choice("module: least energy", MODULES, "module", "min_energy")
SAVERS = (
    Saver(BASE, BASE),
    _choice("least time", CHOICE, "both", "min_time"),
    _choice("least energy", CHOICE, "both", "min_energy"),
    _choice("least energy, 5 %", CHOICE, "both", "min_energy", 0.05),
    _choice("least energy, 20 %", CHOICE, "both", "min_energy", 0.2),
    _choice("energy × time", CHOICE, "both", "edp"),
    _choice("sum of squares", CHOICE, "both", "sum_of_squares"),
    _choice("module: least time", MODULES, "module", "min_time"),
    _MODULE,
    _choice("module: sum of squares", MODULES, "module", "sum_of_squares"),
    _choice("clock: least energy, 5 %", CLOCKS, "frequency", "min_energy", 0.05),
    _choice("clock: least energy, 20 %", CLOCKS, "frequency", "min_energy", 0.2),
    _choice("clock: least energy", CLOCKS, "frequency", "min_energy"),
    Saver("the first to start", SCHEDULER, lists=True),
    Saver("the first to end", SCHEDULER, placement="earliest_end", lists=True),
    *(_cap(kw, pstates) for kw in CAPS for pstates in (1, 4)),
    *(_shift(hours) for hours in SHIFTS),
    *(_off(minutes) for minutes in TIMEOUTS),
    replace(_MODULE, name=f"{_MODULE.name}, off after {TIMEOUTS[0]} min", kind=OFF,
            keys={**_MODULE.keys, **_off(TIMEOUTS[0]).keys}),
)  # fmt: skip
"""In the order of the page."""

KINDS = tuple(dict.fromkeys(saver.kind for saver in SAVERS))
BY_NAME = {saver.name: saver for saver in SAVERS}


@lru_cache(maxsize=1)
def system() -> System:
    """Return the DEEP-EST prototype."""
    return System.from_yaml(SYSTEM)


def recipe() -> Recipe:
    """Return the recipe of a week on the three modules."""
    return Recipe.from_yaml(RECIPE)


@lru_cache(maxsize=64)
def models(saver: str) -> Models:
    """Return Table 7 on the modules that a job lists, what nodes draw, and a way to save, by name."""
    table_7 = Models.from_yaml(TABLE_7).to_dict()["applications"]
    energy = {"power": str(POWER), "signatures": signatures(), "price": prices(), **BY_NAME[saver].keys}
    return Models.of(applications={**table_7, "reference": "own", "modules": "trace"}, energy=energy)


def signatures() -> dict[str, list[Any]]:
    """Return what each application draws on each module: typical watts, with a busy GPU where it uses one."""
    profiles = PowerProfiles.from_yaml(POWER)
    rows = []
    for name, profile in profiles.modules.items():
        gpu = profile.keys.gpu
        busy = 0.0 if gpu is None else gpu.count * (gpu.typical_w.value - gpu.idle_w.value)
        for kind in Models.from_yaml(TABLE_7).type_names:
            watts = profile.typical_w + busy * (kind in ON_GPUS)
            rows.append((kind, profile.reference_khz, watts, name))
    columns = ("workload", "frequency_khz", "power_w", "module")
    return {name: list(column) for name, column in zip(columns, zip(*rows, strict=True), strict=True)}


def idle_shares() -> tuple[float, float]:
    """Return the least and the most that an idle node draws, as a share of a busy one."""
    table, profiles = signatures(), PowerProfiles.from_yaml(POWER)
    rows = zip(table["module"], table["power_w"], strict=True)
    shares = [profiles[module].idle_w / watts for module, watts in rows]
    return min(shares), max(shares)


@lru_cache(maxsize=1)
def reference_khz() -> dict[str, int]:
    """Return the P-state of each module that a job has unless another is chosen, kHz."""
    profiles = PowerProfiles.from_yaml(POWER)
    return {name: profile.reference_khz for name, profile in profiles.modules.items()}


def prices() -> dict[str, list[Any]]:
    """Return the made-up price over many days."""
    steps = [(24 * day + hour, price) for day in range(DAYS) for hour, price in DAY_PRICE.items()]
    time, value = zip(*steps, strict=True)
    return {"time": [HOUR * hour for hour in time], "value": list(value)}
