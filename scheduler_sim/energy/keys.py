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
    """A number with its quality and source. A bare number is a guess."""

    value: Amount = Field(description="the number, in the unit of its key")
    quality: Quality = Field(
        default="guess", description="measured on such nodes, scaled from other nodes, or a guess"
    )
    low: Amount | None = Field(default=None, description="lower bound of the value")
    high: Amount | None = Field(default=None, description="upper bound of the value")
    source: Text = Field(default="", description="source of the value")


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


FileOrKeys = Annotated[Any, BeforeValidator(Check("the path of a file, or its contents", _file_or_keys))]
"""What may stand in a file of its own, or here."""


class TransitionKeys(Keys):
    """Switching a node off or on."""

    time_s: AnyFigure = Field(default=Figure(value=0), description="duration, s")
    energy_j: AnyFigure = Field(default=Figure(value=0), description="energy of the node during this time, J")


class TurboKeys(Keys):
    """Turbo: a P-state whose actual clock differs from the frequency that names it."""

    khz: Khz = Field(description="frequency that names the P-state, kHz; above all others")
    effective_khz: Khz = Field(description="actual clock of the node in this P-state, kHz")
    quality: Quality = Field(default="guess", description="quality of effective_khz")


class RangeKeys(Keys):
    """P-states in equal steps."""

    lowest_khz: Khz = Field(description="lowest P-state, kHz")
    highest_khz: Khz = Field(
        description="highest P-state without turbo, kHz; a whole number of steps above the lowest"
    )
    step_khz: Khz = Field(default=100_000, description="step between P-states, kHz")


class GpuKeys(Keys):
    """The GPUs of a node."""

    count: Count = Field(default=1, description="GPUs of a node")
    idle_w: AnyFigure = Field(description="power of an idle GPU, W; it is part of the node's idle_w")
    peak_w: AnyFigure = Field(description="maximum power of a GPU, W")
    typical_w: AnyFigure = Field(
        description="power of a GPU under an ordinary application at its reference clock, W"
    )
    reference_khz: Khz = Field(description="core clock at which typical_w holds, kHz")
    clocks_khz: list[Khz] = Field(
        default=[], description="available core clocks, kHz; by default only reference_khz"
    )
    exponent: AnyFigure = Field(
        default=Figure(value=2),
        description="power above idle is proportional to the clock raised to this exponent; 2 by default",
    )
    sensitivity: AnyFigure = Field(
        default=Figure(value=1),
        description="share of the run time that scales with the GPU clock, 0 to 1; 1 by default",
    )


class ModuleKeys(Keys):
    """The nodes of a module."""

    name: Name = Field(description="name of the module in the system file")
    description: Text = Field(default="", description="text for the reader")
    idle_w: AnyFigure = Field(description="power of an idle node, W")
    typical_w: AnyFigure = Field(
        description="power of a node under an ordinary application at reference_khz, W; used for"
        " applications without a signature"
    )
    peak_w: AnyFigure = Field(description="maximum power of a node, W")
    off_w: AnyFigure = Field(
        default=Figure(value=0), description="power of a node that is switched off, W; 0 by default"
    )
    boot: TransitionKeys = Field(default=TransitionKeys(), description="time and energy from off to idle")
    shutdown: TransitionKeys = Field(default=TransitionKeys(), description="time and energy from idle to off")
    reference_khz: Khz = Field(
        description="P-state at which typical_w holds, and in which applications run that name none, kHz"
    )
    pstates_khz: list[Khz] = Field(default=[], description="P-states without turbo, kHz")
    pstates: RangeKeys | None = Field(
        default=None, description="instead of pstates_khz: P-states in equal steps"
    )
    turbo: TurboKeys | None = Field(default=None, description="turbo P-state, if the node has one")
    exponent: AnyFigure = Field(
        default=Figure(value=2),
        description="power above idle is proportional to the clock raised to this exponent; 2 by default",
    )
    dynamic_share: dict[str, Positive] = Field(
        default={},
        description="instead of exponent: power above idle at each P-state (kHz), as a share of that"
        " at reference_khz",
    )
    sensitivity: AnyFigure = Field(
        default=Figure(value=1),
        description="share of the run time that scales with the clock, 0 to 1; 1 by default",
    )
    hints: dict[str, AnyFigure] = Field(
        default={}, description="the same share for jobs with a hint, such as cpu_intensive"
    )
    cores: Count = Field(default=0, description="cores of a node; 0: not stated")
    core_share: dict[str, Amount] = Field(
        default={},
        description="share of the power above idle by the number of busy cores; linear in between",
    )
    gpu: GpuKeys | None = Field(default=None, description="GPUs of a node, if it has any")
    node_sigma: AnyFigure = Field(
        default=Figure(value=0),
        description="variation of the power above idle between nodes: sigma of a log-normal factor"
        " with mean 1, drawn by the seed of the run, the same under every policy; a power cap goes by the"
        " mean; 0 (none) by default",
    )
    model: FileOrKeys | None = Field(
        default=None,
        description="energy model written by `fit energy`: a file, relative to the profile's"
        " directory, or its keys",
    )


class ProfileKeys(Keys):
    """The whole file."""

    name: Title = Field(default="", description="name of the profile in reports; by default the file's name")
    description: Text = Field(default="", description="text for the reader")
    modules: list[ModuleKeys] = Field(description="power of the nodes of each module; at least one module")


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
