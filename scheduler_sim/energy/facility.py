"""From the power of the nodes to that of the facility: conversion stage by stage, then cooling.

A device of a stage takes (load + what else it feeds + loss) / efficiency. With one efficiency that is the
model of RAPS (Brewer et al., SC 2024: voltage converters, then rectifiers); with a curve the load is
taken to be spread evenly over the devices of a module. Cooling multiplies by a PUE that may follow the
temperature outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Problem
from scheduler_sim.config.yaml_file import YamlFile
from scheduler_sim.energy.accounting import Account
from scheduler_sim.energy.facility_keys import FacilityKeys, StageKeys
from scheduler_sim.energy.tariff import Series
from scheduler_sim.errors import InputError


@dataclass(frozen=True)
class Curve:
    """A value by another: a line between points, flat beyond them; one point is a constant."""

    at: tuple[float, ...]
    value: tuple[float, ...]

    @classmethod
    def of(cls, written: float | Mapping[str, float]) -> Curve:
        """Take what the keys have: a number, or points in any order."""
        if not isinstance(written, Mapping):
            return cls((0.0,), (float(written),))
        points = sorted((float(at), value) for at, value in written.items())
        return cls(tuple(at for at, _ in points), tuple(value for _, value in points))

    @property
    def is_constant(self) -> bool:
        """Whether it is the same everywhere."""
        return len(set(self.value)) == 1

    def __call__(self, at: Floats) -> Floats:
        """Return the value at each place."""
        return np.interp(at, self.at, self.value)


@dataclass(frozen=True)
class Stage:
    """A kind of device between nodes and grid, see :class:`StageKeys` for the figures."""

    name: str
    nodes: int
    feeds_w: float
    loss_w: float
    efficiency: Curve

    @classmethod
    def of(cls, keys: StageKeys) -> Stage:
        """Return the stage of its keys."""
        return cls(keys.name, keys.nodes, keys.feeds_w, keys.loss_w, Curve.of(keys.efficiency))

    def taken(self, load_w: Floats, nodes: int) -> Floats:
        """Return what all devices for so many nodes take together under a load of all, W."""
        devices = nodes / self.nodes
        each = load_w / devices + self.feeds_w
        return devices * (each + self.loss_w) / self.efficiency(each)


class Use(NamedTuple):
    """What a facility, or a module with its share of it, takes over time.

    Attributes
    ----------
    edges : (n + 1,) int64, s; watts : (n,) W from each to the next, of the whole facility.
    it_j, conversion_j, cooling_j : energy of the nodes, of what stands between, and of cooling, J.
    """

    edges: Ints
    watts: Floats
    it_j: float
    conversion_j: float
    cooling_j: float

    @property
    def facility_j(self) -> float:
        """All of it, J."""
        return self.it_j + self.conversion_j + self.cooling_j

    def at_prices(self, series: Series) -> float:
        """Return the energy at a price, or carbon intensity, of a J, over time: J × its unit."""
        return float((self.watts * series.integral(self.edges[:-1], self.edges[1:])).sum())


@dataclass(frozen=True)
class Facility:
    """A facility.

    Attributes
    ----------
    stages : of conversion, from the nodes on; fixed_w : what else the system takes behind them, W.
    pue : power with cooling over power without, by temperature; temperature : outside, where it counts.
    """

    stages: tuple[Stage, ...] = ()
    fixed_w: float = 0.0
    pue: Curve = field(default=Curve((0.0,), (1.0,)))
    temperature: Series | None = None

    @classmethod
    def of_pue(cls, pue: float) -> Facility:
        """Return the facility of a constant PUE. Raises InputError for one below 1."""
        if not 1.0 <= pue < float("inf"):
            raise InputError(f"pue: found {pue}; allowed: a number >= 1")
        return cls(pue=Curve.of(pue))

    @classmethod
    def of(cls, keys: FacilityKeys, temperature: Series | None) -> Facility:
        """Return the facility of its keys, with the temperature on the clock of the trace."""
        stages = tuple(Stage.of(stage) for stage in keys.conversion)
        pue = Curve.of(1.0 if keys.cooling is None else keys.cooling.pue)
        return cls(stages, keys.fixed_w, pue, temperature)

    @property
    def constant_pue(self) -> float | None:
        """The PUE where it never changes and nothing else counts; None for any other facility."""
        plain = self.pue.is_constant and not self.stages and not self.fixed_w
        return self.pue.value[0] if plain else None

    def use(self, account: Account, nodes: Mapping[str, int], modules: Sequence[str]) -> Use:
        """Return what modules take with their part of the facility, which is that of their nodes.

        ``nodes`` has those of all modules. Raises InputError where the temperature does not cover the span.
        """
        steps = {name: account.steps(name) for name in modules}
        edges = self._edges([one for one, _ in steps.values()], account)
        it, behind = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
        for name, (own, watts) in steps.items():
            held = np.append(0.0, watts)[np.searchsorted(own[:-1], edges[:-1], side="right")]
            it += held
            behind += self._behind(held, nodes[name], sum(nodes.values()))
        watts = behind * self._pue(edges)
        seconds = np.diff(edges)
        joules = [float(part @ seconds) for part in (it, behind - it, watts - behind)]
        return Use(edges, watts, *joules)

    def _behind(self, load_w: Floats, nodes: int, of_all: int) -> Floats:
        for stage in self.stages:
            load_w = stage.taken(load_w, nodes)
        return load_w + self.fixed_w * nodes / of_all

    def _edges(self, edges: Sequence[Ints], account: Account) -> Ints:
        """Return the instants at which anything changes, within the span."""
        more = [] if self.temperature is None or self.pue.is_constant else [self.temperature.time]
        every = np.unique(np.concatenate([*edges, *more]))
        return every[(every >= account.start) & (every <= account.end)]

    def _pue(self, edges: Ints) -> Floats:
        if self.pue.is_constant:
            return np.full(len(edges) - 1, self.pue.value[0])
        assert self.temperature is not None
        self.temperature.covers(int(edges[0]), int(edges[-1]))
        return self.pue(self.temperature.at(edges[:-1]))


def facility_in(file: YamlFile) -> FacilityKeys:
    """Return the keys of a facility in a file. Raises ConfigError with everything that is wrong."""
    keys, problems = check_keys(FacilityKeys, file.data)
    if keys is not None:
        problems += _odd(keys)
    if keys is None or problems:
        raise file.error(problems)
    return keys


def _odd(keys: FacilityKeys) -> list[Problem]:
    """Return what is wrong with a facility that no single key can tell."""
    problems = []
    cooling = keys.cooling
    if cooling is not None and isinstance(cooling.pue, Mapping) and cooling.temperature is None:
        text = "found nothing; allowed: a temperature, as pue depends on it"
        problems.append(Problem(("cooling", "temperature"), text))
    for i, (first, then) in enumerate(pairwise(keys.conversion)):
        if then.nodes % first.nodes:
            text = f"found {then.nodes}; allowed: a multiple of {first.nodes}, the nodes of {first.name}"
            problems.append(Problem(("conversion", i + 1, "nodes"), text))
    return problems
