"""The energy layer of a simulation: profiles, signatures, tariffs, and what is chosen by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scheduler_sim.config.yaml_file import YamlFile, read_yaml
from scheduler_sim.energy.layer_keys import ChoiceKeys, EnergyKeys, IdleOffKeys
from scheduler_sim.energy.points import MODULE, Points
from scheduler_sim.energy.profile import PowerProfile, PowerProfiles
from scheduler_sim.energy.tariff import Series, rows_of_csv

SERIES = ("price", "carbon")

Files = tuple[tuple[str, Path], ...]
"""What was read for what: a role and a file each."""


@dataclass(frozen=True, eq=False)
class EnergyLayer:
    """What nodes draw, what applications do, what energy costs.

    Attributes
    ----------
    profiles : of the modules; signatures : of applications, None without.
    pue : power of the facility / power of its nodes.
    tariffs : ``price`` (per kWh) and ``carbon`` (g of CO2 per kWh), where there are such.
    choice : how P-states and modules are chosen; None: the reference clock everywhere.
    idle_off : when idle nodes are switched off; None: never.
    """

    profiles: PowerProfiles
    signatures: Points | None
    pue: float
    tariffs: Mapping[str, Any]
    choice: ChoiceKeys | None
    idle_off: IdleOffKeys | None = None

    @classmethod
    def of(cls, keys: EnergyKeys) -> EnergyLayer:
        """Return the layer of keys that name no file, as :func:`without_files` returns them."""
        profiles = PowerProfiles.within(YamlFile(Path("energy.power"), keys.power, {}))
        points = None if keys.signatures is None else Points.of(keys.signatures, name="energy.signatures")
        tariffs = {name: getattr(keys, name) for name in SERIES if getattr(keys, name) is not None}
        return cls(profiles, points, keys.pue, tariffs, keys.choice, keys.idle_off)

    def signatures_of(self, profile: PowerProfile) -> Points | None:
        """Return the signatures of applications on a module, None where there are none."""
        if self.signatures is None:
            return None
        own = self.signatures.of_module(profile.name)
        return own if len(own) else None

    def series(self, name: str, unix_start: int | None) -> Series | None:
        """Return the prices or carbon intensities on the clock of a trace that began at ``unix_start``.

        None without. Raises TraceError for a series that is none, and for dates where that is not known.
        """
        given = self.tariffs.get(name)
        if given is None:
            return None
        if isinstance(given, int | float):
            return Series.constant(given, name)
        return Series.of(
            given["time"], given["value"], name=str(given.get("name", name)), unix_start=unix_start
        )


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
        points = Points.from_csv(folder / keys.signatures)
        given["signatures"] = {str(name): column.tolist() for name, column in points.table.items()}
    elif keys.signatures is not None:
        Points.of(keys.signatures, name=f"{file.path}: signatures")
    for name in SERIES:
        if isinstance(path := getattr(keys, name), str):
            files.append((name, folder / path))
            given[name] = rows_of_csv(folder / path)
    return keys.model_copy(update=given), tuple(files)


def figures_of(profiles: PowerProfiles, modules: list[str]) -> pd.DataFrame:
    """Return every figure of some modules with its quality, under the names the system has for them."""
    tables = [profiles[name].figures().assign(**{MODULE: name}) for name in modules]
    return pd.concat(tables, ignore_index=True)
