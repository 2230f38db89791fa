"""The keys of a power profile, and what must hold between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Location, Problem, found
from scheduler_sim.config.value import Amount, Check, Count, Name, Positive, Text, Title, choice, whole

MOST_PSTATES = 10_000
QUALITIES = ("measured", "scaled", "guess")

Quality = Annotated[str, choice(*QUALITIES)]
Khz = Annotated[int, whole(1, 10**8)]
"""A clock frequency in kHz, at most 100 GHz."""


class Figure(Keys):
    """A number, how good it is, and where it comes from. A bare number is a guess."""

    value: Amount = Field(description="the number, in the unit of its key")
    quality: Quality = Field(
        default="guess", description="measured on such nodes, scaled from other nodes, or a guess"
    )
    low: Amount | None = Field(default=None, description="the least it may be")
    high: Amount | None = Field(default=None, description="the most it may be")
    source: Text = Field(default="", description="where it comes from")


def _figure(written: Any) -> Any:
    if isinstance(written, bool) or not isinstance(written, int | float | str | dict | Figure):
        raise TypeError
    return written if isinstance(written, dict | Figure) else {"value": written}


AnyFigure = Annotated[
    Figure, BeforeValidator(Check("a number >= 0, or a mapping of value, quality, source", _figure))
]


def _file_or_keys(written: Any) -> Any:
    if not isinstance(written, str | dict) or not written:
        raise TypeError
    return written


FileOrKeys = Annotated[Any, BeforeValidator(Check("the path of a file, or what stands in it", _file_or_keys))]
"""What may stand in a file of its own, or here."""


class TransitionKeys(Keys):
    """Switching a node off or on."""

    time_s: AnyFigure = Field(default=Figure(value=0), description="how long it takes, s")
    energy_j: AnyFigure = Field(default=Figure(value=0), description="what the node takes meanwhile, J")


class TurboKeys(Keys):
    """Turbo: a P-state of its own, whose clock is not its name."""

    khz: Khz = Field(description="how the P-state is called, kHz; above all others")
    effective_khz: Khz = Field(description="the clock that the node then really has, kHz")
    quality: Quality = Field(default="guess", description="of the effective clock")


class RangeKeys(Keys):
    """P-states in equal steps."""

    lowest_khz: Khz = Field(description="lowest P-state, kHz")
    highest_khz: Khz = Field(description="highest P-state without turbo, kHz; a whole number of steps above")
    step_khz: Khz = Field(default=100_000, description="from one to the next, kHz")


class GpuKeys(Keys):
    """The GPUs of a node."""

    count: Count = Field(default=1, description="GPUs of a node")
    idle_w: AnyFigure = Field(description="power of an idle one, W; the node's idle_w contains it")
    peak_w: AnyFigure = Field(description="the most that one draws, W")
    typical_w: AnyFigure = Field(description="one under an ordinary application at its reference clock, W")
    reference_khz: Khz = Field(description="core clock of typical_w, kHz")
    clocks_khz: list[Khz] = Field(default=[], description="core clocks, kHz; by default the reference alone")
    exponent: AnyFigure = Field(
        default=Figure(value=2),
        description="power above idle goes with this power of the clock; 2 by default",
    )
    sensitivity: AnyFigure = Field(
        default=Figure(value=1),
        description="share of the run time that follows the GPU clock, 0 to 1; 1 by default",
    )


class ModuleKeys(Keys):
    """The nodes of a module."""

    name: Name = Field(description="the module, as the system file calls it")
    description: Text = Field(default="", description="text for the reader")
    idle_w: AnyFigure = Field(description="an idle node, W")
    typical_w: AnyFigure = Field(
        description="a node under an ordinary application at reference_khz, W: of whatever has no signature"
    )
    peak_w: AnyFigure = Field(description="the most that a node draws, W")
    off_w: AnyFigure = Field(default=Figure(value=0), description="a node switched off, W; 0 by default")
    boot: TransitionKeys = Field(default=TransitionKeys(), description="from off to idle")
    shutdown: TransitionKeys = Field(default=TransitionKeys(), description="from idle to off")
    reference_khz: Khz = Field(description="P-state of typical_w, and of applications that name none, kHz")
    pstates_khz: list[Khz] = Field(default=[], description="P-states without turbo, kHz")
    pstates: RangeKeys | None = Field(default=None, description="or P-states in equal steps")
    turbo: TurboKeys | None = Field(default=None, description="turbo, if the node has it")
    exponent: AnyFigure = Field(
        default=Figure(value=2),
        description="power above idle goes with this power of the clock; 2 by default",
    )
    dynamic_share: dict[str, Positive] = Field(
        default={},
        description="or power above idle at each P-state (kHz), as a share of that at reference_khz",
    )
    sensitivity: AnyFigure = Field(
        default=Figure(value=1),
        description="share of the run time that follows the clock, 0 to 1; 1 by default",
    )
    hints: dict[str, AnyFigure] = Field(
        default={}, description="or that share by a job's hint, such as cpu_intensive"
    )
    cores: Count = Field(default=0, description="cores of a node; 0: not stated")
    core_share: dict[str, Amount] = Field(
        default={},
        description="share of the power above idle that so many busy cores take; between: on a line",
    )
    gpu: GpuKeys | None = Field(default=None, description="GPUs, if the node has them")
    node_sigma: AnyFigure = Field(
        default=Figure(value=0),
        description="spread of what nodes draw above idle: sigma of a log-normal factor of mean 1, by the"
        " seed of the run, the same under every policy; 0, none, by default",
    )
    model: FileOrKeys | None = Field(
        default=None,
        description="energy model that `fit energy` wrote: a file, from the profile's directory, or its keys",
    )


class ProfileKeys(Keys):
    """The whole file."""

    name: Title = Field(default="", description="name of the profile in reports; by default the file's name")
    description: Text = Field(default="", description="text for the reader")
    modules: list[ModuleKeys] = Field(description="at least one module")


def contradictions(data: dict[str, Any]) -> Iterator[Problem]:
    """Check what no single key can tell, on unchecked data, so that all problems show together."""
    modules = data.get("modules")
    if not isinstance(modules, list):
        return
    if not modules:
        yield Problem(("modules",), "found an empty list; allowed: at least one module")
    seen: set[str] = set()
    for i, entry in enumerate(modules):
        if not isinstance(entry, dict):
            continue
        name = str(entry.get("name")).lower()
        if name in seen:
            yield Problem(("modules", i, "name"), f"{found(entry.get('name'))} again; allowed: once")
        seen.add(name)
        for problem in _of_module(entry):
            yield Problem(("modules", i, *problem.where), problem.text)


def _of_module(entry: dict[str, Any]) -> Iterator[Problem]:
    if bool(entry.get("pstates_khz")) == bool(entry.get("pstates")):
        yield Problem((), "allowed: either pstates_khz or pstates, one of them")
    watts = {key: _value(entry.get(key)) for key in ("off_w", "idle_w", "typical_w", "peak_w")}
    known = {key: value for key, value in watts.items() if value is not None}
    for (low, least), (high, most) in zip(list(known.items())[:-1], list(known.items())[1:], strict=True):
        if least > most:
            yield Problem((high,), f"found {most:g} W; allowed: at least {low}, {least:g} W")
    hints = entry.get("hints")
    shares: dict[Location, Any] = {("sensitivity",): entry.get("sensitivity")}
    shares |= (
        {("hints", str(word)): share for word, share in hints.items()} if isinstance(hints, dict) else {}
    )
    for where, written in shares.items():
        if (value := _value(written)) is not None and value > 1:
            yield Problem(where, f"found {value:g}; allowed: a number from 0 to 1")


def uneven(steps: RangeKeys) -> Iterator[Problem]:
    """Check that a range has steps, whole ones, and not too many."""
    low, high, step = steps.lowest_khz, steps.highest_khz, steps.step_khz
    if high < low or (high - low) % step:
        text = f"found {high}; allowed: {low} plus a whole number of steps of {step} kHz"
        yield Problem(("pstates", "highest_khz"), text)
    elif (high - low) // step >= MOST_PSTATES:
        states = (high - low) // step + 1
        text = f"found {step}, which makes {states:,} P-states; allowed: at most {MOST_PSTATES:,}"
        yield Problem(("pstates", "step_khz"), text)


def _value(written: Any) -> float | None:
    """Return the number of a figure not yet checked; None where it is none."""
    value = written.get("value") if isinstance(written, dict) else written
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None  # told as a mistake of its own
