"""The keys of a models file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from scheduler_sim.applications.checkpoint import CheckpointKeys
from scheduler_sim.applications.draw import DRAWS
from scheduler_sim.applications.spread import SpreadKeys
from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.config.value import (
    Flag,
    Name,
    Percent,
    Positive,
    PositiveCount,
    Text,
    Title,
    between,
    choice,
)
from scheduler_sim.energy.layer_keys import EnergyKeys

OWN, OFFERED, POWERS_OF_TWO = "own", "offered", "powers_of_two"
TRACE, FASTEST_FIRST = "trace", "fastest_first"
SLOWER, SPEED = "slower", "speed"


class TypeKeys(Keys):
    """One type of application."""

    name: Name = Field(
        description="name in the application column of a trace; the number of the type, from 1, may"
        " stand there, too"
    )
    percent: Percent | None = Field(
        default=None,
        description="percentage of the jobs that name no type; if no type has a percentage, every job"
        " must name its type",
    )
    apps: list[Text] = Field(
        default=[], description="other names of the type in the application column of a trace"
    )
    ratios: dict[Name, Positive] | None = Field(
        default=None,
        description="speed on each module relative to the module with ratio 1; the type cannot run on"
        " other modules",
    )
    profile: Any | None = Field(
        default=None,
        description="instead of ratios: how the type scales, a [profile](profile.md) file or its"
        " keys. With neither, run times are the same on all modules",
    )
    component: Name | None = Field(
        default=None, description="component of the profile, if that is of a modular application"
    )
    edits: list[dict[str, Any]] = Field(
        default=[],
        description="what-ifs, as [edits of a profile](profile.md#edits), applied after those of the profile",
    )
    problem_size: Positive | None = Field(
        default=None,
        description="problem size of the jobs, for a profile that depends on it, instead of the size"
        " in the profile; a column `problem_size` of the trace overrides it for each job",
    )
    checkpoint: CheckpointKeys | None = Field(
        default=None, description="how jobs of the type write checkpoints; by default they write none"
    )
    spread: SpreadKeys | None = Field(
        default=None,
        description="increase of run times when the nodes of a job are far apart, on a system with a"
        " [topology](system.md#topology); by default none",
    )


class TypesKeys(Keys):
    """Types of application and their ratios on the modules."""

    reference: Name = Field(
        default=OWN,
        description="module to which run times and time limits of the trace refer; own: the first"
        " module that a component asks for",
    )
    below_one: Annotated[str, choice(SLOWER, SPEED)] = Field(
        default=SPEED,
        description="meaning of a ratio q below 1. speed: 1/q times as long, as for ratios above 1; slower: q"
        " times slower, 1 + q times as long, which is not continuous at 1",
    )
    modules: Annotated[str, choice(TRACE, FASTEST_FIRST)] = Field(
        default=TRACE,
        description="trace: the partitions named in the trace, in its order; fastest_first: all modules for"
        " which the type has a ratio, shortest run time first",
    )
    draw: Annotated[str, choice(*DRAWS)] = Field(
        default="hash",
        description="how jobs that name no type get one. hash: by a hash of the component's number,"
        " independent of other jobs; sequence: random, in the order of the trace; quota:"
        " exactly in the given shares, in random order",
    )
    sizes: Annotated[str, choice(OFFERED, POWERS_OF_TWO, OWN)] = Field(
        default=OFFERED,
        description="offered: a type with a profile is moldable, on every number of nodes that the"
        " profile offers; powers_of_two: only on the powers of two of these; own: on the"
        " number of nodes in the trace",
    )
    clocks: dict[Name, PositiveCount] = Field(
        default={},
        description="clock of each module, kHz, for profiles that depend on it; by default that of"
        " the profile",
    )
    floor: Annotated[float, between(0, 1)] | None = Field(
        default=None,
        description="efficiency below which no size is offered, instead of the floor of each profile",
    )
    named: Flag = Field(
        default=True, description="whether the application named in the trace determines the type of a job"
    )
    types: list[TypeKeys] = Field(description="the types; their percentages sum to 100")


class ConversionKeys(Keys):
    """How a request changes from the first module that a component asks for to another one."""

    origin: Name = Field(description="module of the request")
    to: Name = Field(description="module for which the request is converted")
    nodes: Positive = Field(
        default=1.0, description="factor for the nodes; the product is rounded down, to at least one"
    )
    time: Positive = Field(
        default=1.0, description="factor for run time and time limit, in addition to any ratio"
    )
    time_of_one_node: Positive | None = Field(
        default=None, description="the same for requests of one node; by default `time`"
    )


class ModelsKeys(Keys):
    """The whole file."""

    name: Title = Field(default="", description="name of the models in reports; by default the file's name")
    description: Text = Field(default="", description="text for the reader")
    applications: TypesKeys | None = Field(default=None, description="run times by type and module")
    conversions: list[ConversionKeys] = Field(
        default=[],
        description="how requests change from one module to another; for a pair that is not listed"
        " they stay the same",
    )
    energy: EnergyKeys | None = Field(
        default=None, description="power and energy, and choices that depend on them"
    )


def contradictions(keys: ModelsKeys) -> Iterator[Problem]:
    """Check what no single key can tell."""
    if keys.applications is not None:
        yield from _types(keys.applications)
    pairs = [(one.origin.lower(), one.to.lower()) for one in keys.conversions]
    for i, (origin, to) in enumerate(pairs):
        where: Location = ("conversions", i)
        if origin == to:
            yield Problem(where, f"found {keys.conversions[i].to!r} twice; allowed: two different modules")
        elif (origin, to) in pairs[:i]:
            yield Problem(where, "found a second conversion of this pair; allowed: one")


def _types(keys: TypesKeys) -> Iterator[Problem]:
    above: Location = ("applications",)
    if not keys.types:
        yield Problem((*above, "types"), "found an empty list; allowed: at least one type")
    if keys.modules == FASTEST_FIRST and keys.reference.lower() == OWN:
        text = "found 'own' with modules: fastest_first, which does not look at the trace's partitions"
        yield Problem((*above, "reference"), f"{text}; allowed: the name of a module")
    seen: list[str] = []
    for i, one in enumerate(keys.types):
        where: Location = (*above, "types", i)
        for place, name in [(("name",), one.name), *((("apps", j), app) for j, app in enumerate(one.apps))]:
            if name.lower() in seen:
                yield Problem((*where, *place), f"{found(name)} again; allowed: each type once")
            seen.append(name.lower())
        if one.ratios is not None:
            yield from _ratios(one.ratios, keys.reference, (*where, "ratios"))
        yield from _profile(one, where)
    percents = [one.percent for one in keys.types]
    given = [percent for percent in percents if percent is not None]
    if given and (len(given) < len(percents) or abs(sum(given) - 100) > 1e-6):
        text = f"found percentages that sum to {sum(given):g}"
        if len(given) < len(percents):
            text = f"found {len(given)} types with a percentage and {len(percents) - len(given)} without"
        yield Problem((*above, "types"), f"{text}; allowed: a sum of 100, or no percentages at all")


def _profile(one: TypeKeys, where: Location) -> Iterator[Problem]:
    if one.profile is None:
        for name, given in (
            ("component", one.component),
            ("edits", one.edits),
            ("problem_size", one.problem_size),
        ):
            if given:
                yield Problem((*where, name), "found without a profile; allowed: beside profile")
    elif one.ratios is not None:
        yield Problem((*where, "profile"), "found beside ratios; allowed: one of them")
    elif not isinstance(one.profile, str | dict):
        text = f"{found(one.profile)}; allowed: the path of a profile, or a mapping with its keys"
        yield Problem((*where, "profile"), text)


def _ratios(ratios: dict[str, Any], reference: str, where: Location) -> Iterator[Problem]:
    modules = [name.lower() for name in ratios]
    for name in ratios:
        if modules.count(name.lower()) > 1:
            yield Problem(
                (*where, name), "found the module twice; allowed: names that differ in more than case"
            )
    if reference.lower() != OWN and reference.lower() not in modules:
        text = f"found none for {reference}, the reference; {one_of(list(ratios), reference)}"
        yield Problem(where, f"{text}, or another reference")
