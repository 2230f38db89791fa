"""The energy layer of a simulation: profiles, signatures, tariffs, and what is chosen by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.config.yaml_file import YamlFile, read_yaml
from scheduler_sim.energy.clocks import Clocks
from scheduler_sim.energy.facility import Facility, facility_in
from scheduler_sim.energy.facility_keys import FacilityKeys
from scheduler_sim.energy.layer_keys import (
    MEASURED,
    CapKeys,
    ChoiceKeys,
    EnergyKeys,
    IdleOffKeys,
    ShiftKeys,
)
from scheduler_sim.energy.learnt import Learnt, application_of
from scheduler_sim.energy.measured import READS
from scheduler_sim.energy.points import MODULE, WORKLOAD, Points
from scheduler_sim.energy.profile import PowerProfile, PowerProfiles
from scheduler_sim.energy.tariff import Series, rows_of_csv
from scheduler_sim.errors import ConfigError

SERIES = ("price", "carbon")

Files = tuple[tuple[str, Path], ...]
"""What was read for what: a role and a file each."""


@dataclass(frozen=True, eq=False)
class EnergyLayer:
    """What nodes draw, what applications do, what energy costs.

    Attributes
    ----------
    profiles : of the modules; signatures : of applications, None without.
    facility : its keys; pue : power of the facility / power of its nodes, without such keys.
    tariffs : ``price`` (per kWh) and ``carbon`` (g of CO2 per kWh), where there are such.
    choice : how P-states and modules are chosen; None: the reference clock everywhere.
    cap : on the power of all nodes; shift : of begin times; None: there is none.
    idle_off : when idle nodes are switched off; None: never.
    learnt : power of jobs by user, application and size, None without.
    replays : whether jobs draw what was measured of them, where it was.
    currency : of the prices, as it is written; empty where it is not told.
    """

    profiles: PowerProfiles
    signatures: Points | None
    pue: float
    facility: FacilityKeys | None
    tariffs: Mapping[str, Any]
    choice: ChoiceKeys | None
    cap: CapKeys | None = None
    shift: ShiftKeys | None = None
    idle_off: IdleOffKeys | None = None
    learnt: Learnt | None = None
    replays: bool = False
    currency: str = ""

    @classmethod
    def of(cls, keys: EnergyKeys) -> EnergyLayer:
        """Return the layer of keys that name no file, as :func:`without_files` returns them.

        Raises ConfigError for begin times that are to follow a series which is not given, and for clocks of
        jobs that draw what they drew at another.
        """
        profiles = PowerProfiles.within(YamlFile(Path("energy.power"), keys.power, {}))
        points = (
            None
            if keys.signatures is None
            else Points.of(keys.signatures, name="energy.signatures", metered=False)
        )
        tariffs = {name: getattr(keys, name) for name in SERIES if getattr(keys, name) is not None}
        if keys.shift is not None and keys.shift.by not in tariffs:
            by = keys.shift.by
            raise ConfigError(
                f"energy.shift.by: found {by!r}, and no energy.{by}; allowed: one that is given"
            )
        replays = keys.jobs == MEASURED
        lower = keys.cap is not None and keys.cap.pstates > 1
        if replays and (keys.choice is not None or lower):
            where = "choice" if keys.choice is not None else "cap.pstates above 1"
            raise ConfigError(
                f"energy.jobs: found {MEASURED} beside energy.{where}: the power was measured at"
                " one clock only; allowed: one of the two"
            )
        learnt = None if keys.learnt is None else Learnt.of(keys.learnt, name="energy.learnt")
        return cls(
            *(profiles, points, keys.pue, _facility(keys), tariffs),
            *(keys.choice, keys.cap, keys.shift, keys.idle_off),
            learnt=learnt,
            replays=replays,
            currency=keys.currency,
        )

    def signatures_of(self, profile: PowerProfile) -> Points | None:
        """Return the signatures of applications on a module, None where there are none."""
        if self.signatures is None:
            return None
        own = self.signatures.of_module(profile.name)
        return own if len(own) else None

    def clocks(self, module: str) -> Clocks:
        """Return the clocks that nodes of a module may have. Raises InputError as :meth:`Clocks.of`."""
        profile = self.profiles[module]
        return Clocks.of(profile, self.signatures_of(profile))

    def spelt(self, names: Iterable[tuple[str, ...]], module: str) -> dict[tuple[str, ...], str]:
        """Return how the signatures of a module call applications; empty for those that have none there.

        It is the first of an application's names that they have, in any case.
        """
        signatures = self.signatures_of(self.profiles[module])
        known = {} if signatures is None else {name.lower(): name for name in signatures.table[WORKLOAD]}
        return {
            one: next((known[name.lower()] for name in one if name.lower() in known), "") for one in names
        }

    def switches(self, module: str) -> bool:
        """Whether idle nodes of a module are switched off, by what the models say."""
        if self.idle_off is None:
            return False
        own = {name.lower(): rule for name, rule in self.idle_off.modules.items()}
        return own.get(module.lower(), self.idle_off).timeout_s is not None

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of a trace that tell what its jobs draw."""
        more = [*(("user", "name", "nodes") if self.learnt else ()), *(READS if self.replays else ())]
        return tuple(dict.fromkeys(["app", "hint", "reference_power_w", *more]))

    def told(self, jobs: Mapping[str, Any]) -> tuple[Floats | None, Ints | None]:
        """Return what was learnt of such jobs: W of a node, and the place in LEVELS; None where nothing was.

        ``jobs`` has the (n,) columns that :attr:`reads` names.
        """
        if self.learnt is None:
            return None, None
        return self.learnt.predict(jobs["user"], application_of(jobs["app"], jobs["name"]), jobs["nodes"])

    def facility_of(self, unix_start: int | None) -> Facility:
        """Return the facility on the clock of a trace that began at ``unix_start``. Raises TraceError."""
        if self.facility is None:
            return Facility.of_pue(self.pue)
        cooling = self.facility.cooling
        outside = None if cooling is None else cooling.temperature
        return Facility.of(
            self.facility, None if outside is None else series_of(outside, "temperature", unix_start)
        )

    def series(self, name: str, unix_start: int | None) -> Series | None:
        """Return the prices or carbon intensities on the clock of a trace that began at ``unix_start``.

        None without. Raises TraceError for a series that is none, and for dates where that is not known.
        """
        given = self.tariffs.get(name)
        return None if given is None else series_of(given, name, unix_start)


def _facility(keys: EnergyKeys) -> FacilityKeys | None:
    """Return the keys of the facility. Raises ConfigError for what cannot be, and beside a PUE."""
    if keys.facility is None:
        return None
    if keys.pue != 1:
        raise ConfigError("energy.pue: found beside energy.facility; allowed: facility.cooling.pue in it")
    return facility_in(YamlFile(Path("energy.facility"), keys.facility, {}))


def series_of(given: Any, name: str, unix_start: int | None) -> Series:
    """Return what stands in the keys as a series: a number, or times and values. Raises TraceError."""
    if isinstance(given, int | float):
        return Series.constant(given, name)
    return Series.of(given["time"], given["value"], name=str(given.get("name", name)), unix_start=unix_start)


def without_files(keys: EnergyKeys, file: YamlFile) -> tuple[EnergyKeys, Files]:
    """Check what files hold and put it in place of their paths; return the files, too.

    ``file`` is what the keys stand in; paths start from its folder.
    Raises ConfigError or TraceError for a file that cannot be read, and for anything wrong in it.
    """
    folder, given = file.path.parent, dict[str, Any]()
    files: list[tuple[str, Path]] = []
    if isinstance(keys.power, str):
        files.append(("power profile", folder / keys.power))
        profiles = PowerProfiles.from_yaml(folder / keys.power)
    else:
        profiles = PowerProfiles.within(file.part(("power",)))
    given["power"] = {"name": profiles.name, "modules": []}
    for profile in profiles.modules.values():
        module = profile.keys.model_dump(exclude_defaults=True)
        if isinstance(profile.keys.model, str):
            files.append(("energy model", profiles.folder / profile.keys.model))
            module["model"] = read_yaml(files[-1][1]).data
        given["power"]["modules"].append(module)
    if isinstance(keys.signatures, str):
        files.append(("signatures", folder / keys.signatures))
        points = Points.from_csv(folder / keys.signatures, metered=False)
        given["signatures"] = {str(name): column.tolist() for name, column in points.table.items()}
    elif keys.signatures is not None:
        Points.of(keys.signatures, name=f"{file.path}: signatures", metered=False)
    if isinstance(keys.learnt, str):
        files.append(("learnt power", folder / keys.learnt))
        learnt = Learnt.from_csv(folder / keys.learnt)
        given["learnt"] = {str(name): column.tolist() for name, column in learnt.table.items()}
    elif keys.learnt is not None:
        Learnt.of(keys.learnt, name=f"{file.path}: learnt")
    if keys.facility is not None:
        given["facility"], more = _facility_without_files(keys.facility, file)
        files += more
    for name in SERIES:
        if isinstance(path := getattr(keys, name), str):
            files.append((name, folder / path))
            given[name] = rows_of_csv(folder / path)
    if keys.cap is not None and isinstance(path := keys.cap.power_w, str):
        files.append(("power cap", folder / path))
        given["cap"] = keys.cap.model_copy(update={"power_w": rows_of_csv(folder / path)})
    return keys.model_copy(update=given), tuple(files)


def _facility_without_files(written: Any, file: YamlFile) -> tuple[dict[str, Any], Files]:
    """Return the keys of a facility that name no file, and what was read."""
    read: list[tuple[str, Path]] = []
    inside = file.part(("facility",)) if isinstance(written, dict) else read_yaml(file.path.parent / written)
    if isinstance(written, str):
        read.append(("facility", inside.path))
    keys = facility_in(inside)
    made = keys.model_dump(exclude_defaults=True)
    if keys.cooling is not None and isinstance(path := keys.cooling.temperature, str):
        read.append(("temperature", inside.path.parent / path))
        made["cooling"]["temperature"] = rows_of_csv(read[-1][1])
    return made, tuple(read)


def figures_of(profiles: PowerProfiles, modules: list[str]) -> pd.DataFrame:
    """Return every figure of some modules with its quality, under the names the system has for them."""
    tables = [profiles[name].figures().assign(**{MODULE: name}) for name in modules]
    return pd.concat(tables, ignore_index=True)
