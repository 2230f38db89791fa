"""How a type of application scales: its profile, held against runs at the sizes and modules of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_sim.applications.keys import OWN, POWERS_OF_TWO, ModelsKeys, TypeKeys, TypesKeys
from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.parameters import SIZE

if TYPE_CHECKING:
    from scheduler_sim.arrays import Floats, Ints
    from scheduler_sim.scaling.modular_profile import ModularProfile
    from scheduler_sim.scaling.profile import Profile


class Scaling:
    """The run times of a type of application, against that of the trace.

    Parameters
    ----------
    profile : with what-ifs or without
    sizes : those offered besides the trace's own, one of the words of ``TypesKeys.sizes``
    clocks : of modules, kHz, for a profile that depends on them

    Results are kept: the components of a trace ask for few sizes on few modules. ``problem`` is the size of a
    component's problem, None = the usual one of its profile.
    """

    def __init__(self, profile: Profile, sizes: str, clocks: Mapping[str, int] | None = None) -> None:
        self.profile, self.sizes = profile, sizes
        self._khz = {name.lower(): khz for name, khz in (clocks or {}).items()}
        self.offers_sizes = sizes != OWN and profile.scaling == "strong"
        self.is_moved = set(profile.speeds) < set((profile.measured or profile).speeds)
        self._measured: dict[tuple[int, str, float | None], float] = {}
        self._times: dict[tuple[int, str, float | None], float] = {}
        self._offered: dict[tuple[str, int, float | None], tuple[list[int], list[float]]] = {}

    @property
    def by_problem(self) -> bool:
        """Whether run times depend on the size of the problem."""
        return SIZE in self.profile.depends_on

    def ratio(self, nodes: int, module: str, origin: str, problem: float | None = None) -> float:
        """Return run time of a component's own size on a module / in the trace; NaN where it cannot run.

        At the trace's own point it is 1, unless there are what-ifs.
        Raises InputError if the profile does not have the module of origin, where the trace ran.
        """
        if module.lower() == origin.lower() and self.profile.measured is None:
            self._known(nodes, origin, problem)
            return 1.0
        name = _spelt(self.profile.speeds, module)
        if name is None or (nodes > self.profile.sizes.most and module.lower() != origin.lower()):
            return np.nan
        if (nodes, name, problem) not in self._times:
            self._times[nodes, name, problem] = float(self._relative(self.profile, nodes, name, problem))
        return self._times[nodes, name, problem] / self._known(nodes, origin, problem)

    def other_sizes(
        self, nodes: int, module: str, origin: str, most: int, problem: float | None = None
    ) -> list[tuple[int, float]]:
        """Return the sizes offered on a module, and run time there / in the trace, without the own size."""
        name = _spelt(self.profile.speeds, module)
        if name is None or not self.offers_sizes:
            return []
        if (name, most, problem) not in self._offered:
            sizes = self.profile.offered(name, most, problem)
            if self.sizes == POWERS_OF_TWO:
                sizes = sizes[sizes & (sizes - 1) == 0]
            times = self._relative(self.profile, sizes, name, problem) if len(sizes) else np.empty(0)
            self._offered[name, most, problem] = sizes.tolist(), times.tolist()
        known = self._known(nodes, origin, problem)
        sizes_, times_ = self._offered[name, most, problem]
        return [(size, time / known) for size, time in zip(sizes_, times_, strict=True) if size != nodes]

    def _relative(self, profile: Profile, nodes: int | Ints, module: str, problem: float | None) -> Floats:
        return profile.relative_time(nodes, module, problem, self._khz.get(module.lower()))

    def _known(self, nodes: int, origin: str, problem: float | None) -> float:
        """Relative run time where the trace ran: of the profile before what-ifs."""
        measured = self.profile.measured or self.profile
        name = _spelt(measured.speeds, origin)
        if name is None:
            raise InputError(
                f"{found(origin)} as the module of the trace's run times, for which the profile of"
                f" {measured.app} has no speed; {one_of(list(measured.speeds), origin)}"
            )
        if (nodes, name, problem) not in self._measured:
            self._measured[nodes, name, problem] = float(self._relative(measured, nodes, name, problem))
        return self._measured[nodes, name, problem]


def _spelt(speeds: Mapping[str, float], module: str) -> str | None:
    """Return the profile's spelling of a module, None if it does not have it."""
    return next((name for name in speeds if name.lower() == module.lower()), None)


def with_profiles(
    keys: ModelsKeys, folder: Path
) -> tuple[ModelsKeys, tuple[Scaling | None, ...], list[Problem]]:
    """Read the profiles of the types; files, relative to ``folder``, are replaced by what stands in them.

    Raises ConfigError for a file that cannot be read.
    """
    if keys.applications is None or all(one.profile is None for one in keys.applications.types):
        return keys, (), []
    types, scalings, problems = [], [], []
    for i, one in enumerate(keys.applications.types):
        where: Location = ("applications", "types", i)
        one, scaling, more = _read(one, keys.applications, folder, where)
        types.append(one)
        scalings.append(scaling)
        problems += more
    applications = keys.applications.model_copy(update={"types": types})
    return keys.model_copy(update={"applications": applications}), tuple(scalings), problems


def _read(
    one: TypeKeys, types: TypesKeys, folder: Path, where: Location
) -> tuple[TypeKeys, Scaling | None, list[Problem]]:
    from scheduler_sim.scaling.profile_file import profile_of  # loaded where profiles are in use

    if one.profile is None:
        return one, None, []
    data = one.profile if isinstance(one.profile, dict) else read_yaml(folder / one.profile).data
    own: Any = data.get("edits") or []
    edited = {**data, "edits": [*own, *one.edits]} if one.edits and isinstance(own, list) else data
    whole, problems = profile_of(edited)
    problems = [Problem(_place(problem.where, where, len(own)), problem.text) for problem in problems]
    if whole is None:
        return one, None, problems
    try:
        profile = _of_component(whole, one.component)
    except InputError as error:
        return one, None, [Problem((*where, "component"), str(error))]
    if types.floor is not None:
        profile = replace(profile, sizes=replace(profile.sizes, floor=types.floor))
    if one.problem_size is not None:
        if SIZE not in profile.depends_on:
            said = f"{found(one.problem_size)} for a profile that does not depend on the size; allowed: none"
            return one, None, [Problem((*where, "problem_size"), said)]
        profile = replace(profile, size=one.problem_size)
    scaling = Scaling(profile, types.sizes, types.clocks)
    return one.model_copy(update={"profile": data}), scaling, []


def _place(inside: Location, where: Location, own_edits: int) -> Location:
    """Where in the models file a problem of a profile stands: what-ifs of the type follow its own."""
    if len(inside) > 1 and inside[0] == "edits" and isinstance(inside[1], int) and inside[1] >= own_edits:
        return (*where, "edits", inside[1] - own_edits, *inside[2:])
    return (*where, "profile", *inside)


def _of_component(whole: Profile | ModularProfile, component: str | None) -> Profile:
    """Return the profile itself, or that of a component of a modular application, moved where it is."""
    from scheduler_sim.scaling.edits import moved
    from scheduler_sim.scaling.modular_profile import ModularProfile

    if not isinstance(whole, ModularProfile):
        if component is not None:
            raise InputError(f"{found(component)} of an application without components; allowed: none")
        return whole
    names: Sequence[str] = list(whole.parts)
    if component is None:
        raise InputError(f"found none of a modular application; {one_of(names, component)}")
    part = whole.part(component)
    return part.profile if part.module == part.reference.module else moved(part.profile, part.module)
