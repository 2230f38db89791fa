"""The models of a simulation: how long a component runs on each module, and what it asks for there."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.applications.checkpoint import CheckpointKeys
from scheduler_sim.applications.conversion import NO_TYPE, UNCHANGED, Conversion, relative_time, scaled
from scheduler_sim.applications.draw import Applications, Draw
from scheduler_sim.applications.keys import FASTEST_FIRST, OWN, SPEED, ModelsKeys, contradictions
from scheduler_sim.applications.names import Names
from scheduler_sim.applications.scaling import Scaling, with_profiles
from scheduler_sim.applications.spread import SpreadKeys
from scheduler_sim.arrays import Ints
from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Problem, found, listed, one_of
from scheduler_sim.config.yaml_file import YamlFile, read_yaml
from scheduler_sim.energy.layer import EnergyLayer, Files, without_files
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.streams import stream


@dataclass(frozen=True)
class Models:
    """Checked models. Build them with :meth:`from_yaml`, or with :meth:`of` from the same keys.

    Attributes
    ----------
    name : what reports call them.
    keys : as they were checked; what files hold stands in them in place of the paths.
    files : what was read for what: a role and a file each.
    """

    name: str
    keys: ModelsKeys
    files: Files = field(default=(), compare=False)
    scalings: tuple[Scaling | None, ...] = field(default=(), compare=False)

    @classmethod
    def from_yaml(cls, path: str | Path) -> Models:
        """Read a models file. Raises ConfigError with every problem, each with its line."""
        file = read_yaml(path)
        keys, scalings, problems = _checked(file.data, file.path.parent)
        if keys is None or problems:
            raise file.error(problems)
        return cls._whole(keys, scalings, file, (("models", file.path),))

    @classmethod
    def of(cls, *, folder: str | Path = ".", **keys: Any) -> Models:
        """Build models from the keys of a models file, paths from ``folder``.

        Raises ConfigError with every problem.
        """
        checked, scalings, problems = _checked(keys, Path(folder))
        if checked is None or problems:
            raise ConfigError(listed(f"models: {problem}" for problem in problems))
        return cls._whole(checked, scalings, YamlFile(Path(folder, "models"), keys, {}), ())

    @classmethod
    def _whole(
        cls, keys: ModelsKeys, scalings: tuple[Scaling | None, ...], file: YamlFile, files: Files
    ) -> Models:
        """Read the files that the keys of the energy layer name."""
        if keys.energy is not None:
            energy, more = without_files(keys.energy, file.part(("energy",)))
            keys, files = keys.model_copy(update={"energy": energy}), files + more
        return cls(keys.name or file.path.stem, keys, files, scalings)

    @classmethod
    def resolve(cls, models: Models | str | Path | Mapping[str, Any] | None) -> Models | None:
        """Return the models that are meant: models themselves, a file, or keys and values."""
        if models is None or isinstance(models, Models):
            return models
        return cls.of(**models) if isinstance(models, Mapping) else cls.from_yaml(models)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys of a models file, defaults filled in; files stand in it as what they hold."""
        keys = copy.deepcopy(self.keys.model_dump())
        return {name: value for name, value in keys.items() if name != "energy" or value is not None}

    @cached_property
    def energy(self) -> EnergyLayer | None:
        """What nodes draw and energy costs; None without."""
        return None if self.keys.energy is None else EnergyLayer.of(self.keys.energy)

    @property
    def chooses_clocks(self) -> bool:
        """Whether P-states, or modules, are chosen by energy, or under a power cap."""
        keys = self.keys.energy
        return keys is not None and (
            keys.choice is not None or (keys.cap is not None and keys.cap.pstates > 1)
        )

    @property
    def limited_by_energy(self) -> bool:
        """Whether there are other placements than without energy: at other clocks, or that ask for power."""
        keys = self.keys.energy
        return keys is not None and (keys.choice is not None or keys.cap is not None)

    def without_limits(self) -> Models:
        """Return these models at the reference clock everywhere, and without a power cap."""
        if self.keys.energy is None:
            return self
        energy = self.keys.energy.model_copy(update={"choice": None, "cap": None})
        return replace(self, keys=self.keys.model_copy(update={"energy": energy}))

    @property
    def change_times(self) -> bool:
        """Whether components may take other times than the trace has for them."""
        keys = self.keys
        slows = keys.energy is not None and keys.energy.cap is not None and keys.energy.cap.slow_running
        return self.chooses_clocks or slows or keys.applications is not None or bool(keys.conversions)

    # -- types of application --------------------------------------------------------

    @property
    def type_names(self) -> tuple[str, ...]:
        """Names of the types of application, in the order of their numbers; none without types."""
        types = self.keys.applications
        return tuple(one.name for one in types.types) if types else ()

    @cached_property
    def names(self) -> Names:
        """By which names the applications of a trace, and of signatures, are known."""
        types = self.keys.applications
        return Names(types.types if types else ())

    def named_type(self, application: str) -> int:
        """Return the type that a trace's application names, ``NO_TYPE`` if it names none.

        Raises InputError for an application that is none of the types.
        """
        types = self.keys.applications
        if types is None or not types.named or not application:
            return NO_TYPE
        found_type = self.names.type_of(application)
        if found_type is None:
            allowed = one_of(self.names.allowed, application)
            raise InputError(f"no such type of application in models {self.name}; {allowed}, or named: false")
        return found_type

    def drawn_types(self, number: Ints, seed: int) -> Ints:
        """Draw types for components that name none.

        Parameters
        ----------
        number : int64[n], of each component, in the order of the trace.

        Returns
        -------
        int64[n]; the same for the same seed, by ``hash`` also for any selection of the components.

        Raises
        ------
        InputError : the types have no percentages.
        """
        types = self.keys.applications
        if types is None or not len(number):
            return np.full(len(number), NO_TYPE, dtype=np.int64)
        percents = tuple(one.percent for one in types.types if one.percent is not None)
        if not percents:
            raise InputError(
                f"names no type of application, and models {self.name} have no percentages;"
                f" allowed: {', '.join(self.type_names)}"
            )
        key = int.from_bytes(stream(seed, "models/application key").bytes(8), "big")
        drawn = Applications(self.type_names, percents, cast(Draw, types.draw)).types(
            np.zeros(len(number), dtype=np.int64),
            number,
            key,
            lambda purpose: stream(seed, f"models/{purpose}"),
        )
        return drawn.astype(np.int64)

    @property
    def checkpoints(self) -> tuple[CheckpointKeys | None, ...]:
        """How jobs of each type write checkpoints, None if they write none."""
        types = self.keys.applications
        return tuple(one.checkpoint for one in types.types) if types else ()

    @property
    def spreads(self) -> tuple[SpreadKeys | None, ...]:
        """How much longer jobs of each type take whose nodes lie apart, None if they do not."""
        types = self.keys.applications
        return tuple(one.spread for one in types.types) if types else ()

    @property
    def draws_one_by_one(self) -> bool:
        """Whether the type of a component depends on nothing but itself."""
        types = self.keys.applications
        return types is None or types.draw == "hash"

    # -- modules -----------------------------------------------------------------------

    @property
    def chooses_modules(self) -> bool:
        """Whether the type of a component says where it may run, and not the trace."""
        types = self.keys.applications
        return types is not None and types.modules == FASTEST_FIRST

    def origin(self, asked: str) -> str:
        """Return the module whose run times the trace has, for a component that first asks for ``asked``."""
        types = self.keys.applications
        return asked if types is None or types.reference.lower() == OWN else types.reference

    def scaling(self, type_number: int) -> Scaling | None:
        """Return how a type scales, None if it has no profile."""
        return self.scalings[type_number] if self.scalings and type_number != NO_TYPE else None

    @property
    def scaled_types(self) -> NDArray[np.bool_]:
        """bool[types]: whether the run times of a type depend on the nodes that a component asks for."""
        return np.array([self.scaling(number) is not None for number in range(len(self.type_names))], bool)

    @property
    def offers_sizes(self) -> bool:
        """Whether some type may run on other numbers of nodes than the trace has."""
        return any(one is not None and one.offers_sizes for one in self.scalings)

    @property
    def types_by_problem(self) -> NDArray[np.bool_]:
        """bool[types]: whether the run times of a type depend on the size of a component's problem."""
        scalings = [self.scaling(number) for number in range(len(self.type_names))]
        return np.array([one is not None and one.by_problem for one in scalings], bool)

    def time_ratio(
        self, type_number: int, module: str, origin: str, nodes: int, problem: float | None = None
    ) -> float:
        """Return run time on so many nodes of a module / of the module of origin; NaN where it cannot run.

        Raises InputError if the type has no ratio for the origin, where the trace says that it ran.
        """
        types, scaling = self.keys.applications, self.scaling(type_number)
        if scaling is not None:
            return scaling.ratio(nodes, module, origin, problem)
        if types is None or type_number == NO_TYPE:
            return 1.0
        kind = types.types[type_number]
        if kind.ratios is None:
            return 1.0
        times = {
            name.lower(): relative_time(ratio, types.below_one == SPEED)
            for name, ratio in kind.ratios.items()
        }
        if origin.lower() not in times:
            raise InputError(
                f"{found(origin)} as the module of the trace's run times, for which type {kind.name} of"
                f" models {self.name} has no ratio; {one_of(list(kind.ratios), origin)}"
            )
        return times.get(module.lower(), np.nan) / times[origin.lower()]

    def warnings(self, modules: Sequence[str]) -> list[str]:
        """Return what a reader of run times on these modules should know first."""
        types = self.keys.applications
        if types is None or types.below_one == SPEED:
            return []
        there = {name.lower() for name in modules}
        ratios = (ratio for one in types.types for ratio in (one.ratios or {}).items())
        return [_jump()] if any(ratio < 1 and name.lower() in there for name, ratio in ratios) else []

    def conversion(self, origin: str, module: str) -> Conversion:
        """Return how a request changes between two modules."""
        for one in self.keys.conversions:
            if (one.origin.lower(), one.to.lower()) == (origin.lower(), module.lower()):
                alone = one.time if one.time_of_one_node is None else one.time_of_one_node
                return Conversion(one.nodes, one.time, alone)
        return UNCHANGED


def _jump() -> str:
    """Say with numbers what reading ratios below 1 as slower does at 1."""
    told = (
        f"{ratio:g} makes {int(scaled(np.array(1000), np.array(relative_time(ratio, is_speed=False)))):,} s"
        for ratio in (1.01, 0.99, 0.5)
    )
    return (
        "below_one: slower makes run times jump at ratio 1: of 1,000 s,"
        f" {', '.join(told)}; below_one: speed has no jump"
    )


def _checked(data: Any, folder: Path) -> tuple[ModelsKeys | None, tuple[Scaling | None, ...], list[Problem]]:
    """Check the keys of a models file, whose paths are relative to a folder."""
    keys, problems = check_keys(ModelsKeys, data)
    problems = problems or (list(contradictions(keys)) if keys is not None else [])
    if keys is None or problems:
        return None, (), problems
    return with_profiles(keys, folder)
