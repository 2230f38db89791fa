"""Power profiles: what the nodes of each module draw, idle, busy, off and in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.config.yaml_file import YamlFile, read_yaml
from scheduler_sim.energy.keys import (
    Figure,
    GpuKeys,
    ModuleKeys,
    ProfileKeys,
    TransitionKeys,
    contradictions,
    uneven,
)
from scheduler_sim.energy.laws import COUNTERS, IdleDynamic, LinearPower, Stall
from scheduler_sim.energy.model import Model
from scheduler_sim.energy.model_file import model_in, read_model
from scheduler_sim.energy.points import KHZ, POWER, TIME, WORKLOAD, Points
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import InputError
from scheduler_sim.numerals import is_digits
from scheduler_sim.streams import stream

UNITS = {"_w": "W", "_s": "s", "_j": "J", "_khz": "kHz"}


class Watts(NamedTuple):
    """What a node draws in each state, W; transitions at their mean power over whole seconds."""

    idle: float
    off: float
    booting: float
    stopping: float


@dataclass(frozen=True, eq=False)
class PowerProfile:
    """The nodes of a module.

    Attributes
    ----------
    name : the module; keys : its figures as they were written, each with quality and source.
    pstates : its P-states, kHz; share : (k,) power above idle at each, relative to ``reference_khz``.
    fitted : energy model from measurements, if the profile names one.
    counted : or a law of power from counters at one clock.
    """

    name: str
    keys: ModuleKeys
    pstates: PStates
    share: Floats
    fitted: Model | None = None
    counted: Model | None = None

    @property
    def idle_w(self) -> float:
        """An idle node, W."""
        return self.keys.idle_w.value

    @property
    def typical_w(self) -> float:
        """A node under an ordinary application at the reference frequency, W."""
        return self.keys.typical_w.value

    @property
    def peak_w(self) -> float:
        """The most that a node draws, W."""
        return self.keys.peak_w.value

    @property
    def reference_khz(self) -> int:
        """P-state of applications that name none, kHz."""
        return self.keys.reference_khz

    @property
    def boot_s(self) -> int:
        """From off to idle, in whole seconds."""
        return ceil(self.keys.boot.time_s.value)

    @property
    def shutdown_s(self) -> int:
        """From idle to off, in whole seconds."""
        return ceil(self.keys.shutdown.time_s.value)

    @property
    def watts(self) -> Watts:
        """Power of a node in each state, W."""
        return Watts(
            self.idle_w,
            self.keys.off_w.value,
            _mean_power(self.keys.boot, self.boot_s),
            _mean_power(self.keys.shutdown, self.shutdown_s),
        )

    @property
    def switching(self) -> dict[str, float]:
        """What a node draws that is off, boots or shuts down (W); what one boot or shutdown takes (J, s)."""
        draws, keys = self.watts, self.keys
        return {
            "off_w": draws.off,
            "boot_w": draws.booting,
            "shutdown_w": draws.stopping,
            "boot_j": keys.boot.energy_j.value,
            "boot_s": self.boot_s,
            "shutdown_j": keys.shutdown.energy_j.value,
            "shutdown_s": self.shutdown_s,
        }

    @property
    def break_even_s(self) -> float:
        """How long a node must be unused for switching it off and on to pay, s; infinite if it never does."""
        keys, off = self.keys, self.keys.off_w.value
        if self.idle_w <= off:
            return float("inf")
        both = keys.boot.energy_j.value + keys.shutdown.energy_j.value
        meanwhile = off * (keys.boot.time_s.value + keys.shutdown.time_s.value)
        return max((both - meanwhile) / (self.idle_w - off), 0.0)

    @property
    def model(self) -> Model:
        """The fitted model, or the physical one."""
        return self.physical if self.fitted is None else self.fitted

    def metered(self, signatures: Points) -> Points:
        """Return signatures with their power: as measured, else from counters by the law at one clock.

        Raises InputError where neither is known, or a signature is of another clock.
        """
        if signatures.has(POWER):
            return signatures
        if self.counted is None:
            raise InputError(
                "found no power_w; allowed: measured powers, or a model in the profile that"
                " predicts them from counters at one clock"
            )
        clock = self.counted.pstates
        clock.index(signatures.khz)
        watts = self.counted.power.power(signatures, clock.khz)[:, 0].clip(self.idle_w, self.peak_w)
        return Points(signatures.table.assign(**{POWER: watts}))

    @cached_property
    def physical(self) -> Model:
        """The physical model: idle, and what follows the clock."""
        return Model(
            "physical",
            self.pstates,
            IdleDynamic(self.idle_w, self.pstates, self.share),
            Stall.constant(self.pstates, self.keys.sensitivity.value),
        )

    def typical(self, rows: int = 1) -> Points:
        """Return signatures for applications that have none: typical power and 1 s at the reference."""
        return _signatures(rows, self.reference_khz, self.typical_w)

    def gpu_model(self) -> Model:
        """Return how one GPU follows its clock. Raises InputError for a module without GPUs."""
        gpu = self._gpu()
        clocks = PStates.of([*gpu.clocks_khz, gpu.reference_khz])
        power = IdleDynamic.of_exponent(gpu.idle_w.value, clocks, gpu.exponent.value)
        return Model("gpu", clocks, power, Stall.constant(clocks, gpu.sensitivity.value))

    def gpu_typical(self, rows: int = 1) -> Points:
        """Return signatures of one GPU under an ordinary application, likewise."""
        gpu = self._gpu()
        return _signatures(rows, gpu.reference_khz, gpu.typical_w.value)

    def partial(self, power_w: Floats | float, busy_cores: Ints) -> Floats:
        """Return the power of a node with some cores busy, from that of the full one, W.

        The part above idle is taken by the cores on a line, or as ``core_share`` says.
        Raises InputError for a module that states no cores, and for more cores than it has.
        """
        cores = self.keys.cores
        if not cores:
            raise InputError(f"{self.name}: cores not stated; allowed: cores of a node in its power profile")
        busy = np.asarray(busy_cores, dtype=np.int64)
        if (busy < 0).any() or (busy > cores).any():
            raise InputError(f"{self.name}: found {busy.max()} busy cores; allowed: 0 to {cores}")
        given = {0: 0.0, cores: 1.0} | {int(n): share for n, share in self.keys.core_share.items()}
        places = sorted(given)
        share = np.interp(busy, places, [given[n] for n in places])
        return self.idle_w + (np.asarray(power_w) - self.idle_w) * share

    def node_factors(self, nodes: int, seed: int) -> Floats:
        """Return how much more or less each node draws than the profile says, (nodes,); all 1 by default.

        Log-normal of mean 1, from the random stream ``node power <module>``.
        """
        sigma = self.keys.node_sigma.value
        if sigma == 0:
            return np.ones(nodes)
        normal = stream(seed, f"node power {self.name}").standard_normal(nodes)
        return np.exp(sigma * normal - sigma * sigma / 2)

    def figures(self) -> pd.DataFrame:
        """Return every figure with its unit, quality, range and source, one row each."""
        rows = [
            (self.name, key, figure.value, _unit(key), figure.quality, figure.low, figure.high, figure.source)
            for key, figure in _figures(self.keys, "")
        ]
        columns = ["module", "figure", "value", "unit", "quality", "low", "high", "source"]
        return pd.DataFrame(rows, columns=columns)

    def _gpu(self) -> GpuKeys:
        if self.keys.gpu is None or self.keys.gpu.count == 0:
            raise InputError(f"{self.name}: has no GPUs; allowed: a power profile with gpu")
        return self.keys.gpu


@dataclass(frozen=True, eq=False)
class PowerProfiles:
    """The power profiles of a system, by module.

    Attributes
    ----------
    name : what reports call it; modules : each module's profile, by its name as written.
    folder : that the energy models they name are looked for in.
    """

    name: str
    modules: dict[str, PowerProfile]
    folder: Path = Path()

    @classmethod
    def from_yaml(cls, path: str | Path) -> PowerProfiles:
        """Read profiles from a file. Raises ConfigError with everything that is wrong in it."""
        return cls.within(read_yaml(path))

    @classmethod
    def within(cls, file: YamlFile) -> PowerProfiles:
        """Return the profiles that a file holds. Raises ConfigError with everything that is wrong."""
        keys, problems = check_keys(ProfileKeys, file.data)
        problems += contradictions(file.data)
        if keys is None or problems:
            raise file.error(problems)
        made = {module.name: _profile(file, i, module) for i, module in enumerate(keys.modules)}
        return cls(keys.name or file.path.stem, made, file.path.parent)

    def __getitem__(self, module: str) -> PowerProfile:
        """Return a module's profile, by its name in any case. Raises InputError for one without."""
        for name, profile in self.modules.items():
            if name.lower() == module.lower():
                return profile
        raise InputError(f"power profile {self.name}: module {module}: {one_of(list(self.modules), module)}")

    def figures(self) -> pd.DataFrame:
        """Return every figure of every module with its quality."""
        return pd.concat([profile.figures() for profile in self.modules.values()], ignore_index=True)


def _profile(file: YamlFile, place: int, keys: ModuleKeys) -> PowerProfile:
    where = ("modules", place)
    steps = keys.pstates
    if steps is not None and (problems := list(uneven(steps))):
        raise file.error([Problem((*where, *problem.where), problem.text) for problem in problems])
    given = keys.pstates_khz or (
        range(steps.lowest_khz, steps.highest_khz + 1, steps.step_khz) if steps is not None else []
    )
    turbo = keys.turbo
    if turbo is not None and turbo.khz <= max(given):
        raise file.error(
            [Problem((*where, "turbo", "khz"), f"found {turbo.khz}; allowed: above {max(given)} kHz")]
        )
    pstates = PStates.of(given, turbo.khz, turbo.effective_khz) if turbo else PStates.of(given)
    if keys.reference_khz not in pstates.khz:
        allowed = f"one of the P-states, {pstates.words()} kHz"
        raise file.error(
            [Problem((*where, "reference_khz"), f"found {keys.reference_khz}; allowed: {allowed}")]
        )
    problems = [*_odd_shares(keys, pstates), *_odd_cores(keys)]
    if problems:
        raise file.error([Problem((*where, *problem.where), problem.text) for problem in problems])
    model = _fitted(file, keys, where) if keys.model else None
    at_one_clock = model is not None and isinstance(model.power, LinearPower) and model.power.form == COUNTERS
    fitted, counted = (None, model) if at_one_clock else (model, None)
    if counted is not None and counted.pstates.khz[0] not in pstates.khz:
        text = f"found one of {counted.pstates.words()} kHz; allowed: of a P-state, {pstates.words()} kHz"
        raise file.error([Problem((*where, "model"), text)])
    if fitted is not None and (unknown := np.setdiff1d(pstates.khz, fitted.pstates.khz)).size:
        allowed = f"a model of all P-states of the profile; it has {fitted.pstates.words()} kHz"
        raise file.error([Problem((*where, "model"), f"found none of {unknown[0]} kHz; allowed: {allowed}")])
    return PowerProfile(keys.name, keys, pstates, _shares(keys, pstates), fitted, counted)


def _fitted(file: YamlFile, keys: ModuleKeys, where: Location) -> Model:
    if isinstance(keys.model, str):
        return read_model(file.path.parent / keys.model)
    return model_in(file.part((*where, "model")))


def _shares(keys: ModuleKeys, pstates: PStates) -> Floats:
    if keys.dynamic_share:
        share = np.array([keys.dynamic_share[str(khz)] for khz in pstates.khz])
    else:
        share = pstates.effective_khz.astype(np.float64) ** keys.exponent.value
    shares: Floats = share / share[pstates.index(keys.reference_khz)]
    return shares


def _odd_shares(keys: ModuleKeys, pstates: PStates) -> Iterator[Problem]:
    wanted = {str(khz) for khz in pstates.khz}
    if keys.dynamic_share and set(keys.dynamic_share) != wanted:
        odd = sorted(set(keys.dynamic_share) ^ wanted)[0]
        how = "is no P-state" if odd in keys.dynamic_share else "is missing"
        yield Problem(("dynamic_share",), f"{odd} kHz {how}; allowed: each of {pstates.words()} kHz")


def _odd_cores(keys: ModuleKeys) -> Iterator[Problem]:
    for text, share in keys.core_share.items():
        if not (is_digits(text) and 0 < int(text) <= keys.cores) or share > 1:
            allowed = f"cores from 1 to {keys.cores} with shares from 0 to 1"
            yield Problem(("core_share", text), f"{found(share)}; allowed: {allowed}")


def _figures(keys: ModuleKeys | TransitionKeys | GpuKeys, before: str) -> Iterator[tuple[str, Figure]]:
    for name in type(keys).model_fields:
        value = getattr(keys, name)
        if isinstance(value, Figure):
            yield before + name, value
        elif name == "hints":
            yield from ((f"hints.{word}", figure) for word, figure in value.items())
        elif isinstance(value, TransitionKeys | GpuKeys):
            yield from _figures(value, f"{name}.")


def _mean_power(transition: TransitionKeys, seconds: int) -> float:
    return transition.energy_j.value / seconds if seconds else 0.0


def _unit(key: str) -> str:
    return next((unit for suffix, unit in UNITS.items() if key.endswith(suffix)), "")


def _signatures(rows: int, khz: int, watts: float) -> Points:
    names = [f"typical {row}" for row in range(rows)]
    return Points.of({WORKLOAD: names, KHZ: [khz] * rows, POWER: [watts] * rows, TIME: [1.0] * rows})
