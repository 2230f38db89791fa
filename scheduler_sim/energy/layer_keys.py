"""The keys of a models file that say what nodes draw and energy costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_serializer

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import (
    NO_LIMIT,
    Amount,
    Check,
    Count,
    Duration,
    Flag,
    Name,
    PositiveCount,
    Seconds,
    Title,
    choice,
    real,
)
from scheduler_sim.energy.choice import OBJECTIVES
from scheduler_sim.energy.keys import FileOrKeys

FREQUENCY, MODULE, BOTH = "frequency", "module", "both"
PRICE, CARBON = "price", "carbon"
MEASURED, MODELLED = "measured", "modelled"


def _tariff(written: Any) -> Any:
    if isinstance(written, bool) or not isinstance(written, int | float | str | dict):
        raise TypeError
    if isinstance(written, int | float) and not 0 <= written < float("inf"):
        raise ValueError
    if isinstance(written, dict) and not {"time", "value"} <= set(written) <= {"name", "time", "value"}:
        raise ValueError
    if isinstance(written, dict):
        for key in ("time", "value"):
            if isinstance(written[key], str) or not isinstance(written[key], Sequence):
                raise TypeError
    return written


_ALLOWED = "a number >= 0, a CSV file of time and value, or a mapping of time and value, a list each"
Tariff = Annotated[Any, BeforeValidator(Check(_ALLOWED, _tariff))]


class ChoiceKeys(Keys):
    """The P-state, and the module, of each component, chosen before the run."""

    objective: Annotated[str, choice(*OBJECTIVES)] = Field(
        description="what is minimised: run time, energy, energy × run time, or (E / E_min)² + (T / T_min)²"
    )
    slowdown: Amount | None = Field(
        default=None,
        description="largest allowed increase of a component's run time, as a fraction of that at the"
        " reference clock in its first placement; by default there is no bound",
    )
    of: Annotated[str, choice(FREQUENCY, MODULE, BOTH)] = Field(
        default=BOTH,
        description="frequency: the P-state on each module of the component's list; module: one"
        " module of the list, at the reference clock; both: one module of the list, and"
        " the P-state",
    )


class CapKeys(Keys):
    """A limit on the power of all nodes, kept by later starts and, optionally, lower clocks."""

    power_w: Tariff = Field(
        description="limit on the power of all nodes, including idle ones, W: a number, or a CSV file"
        " of time and value; the last value holds for ever, and plans take future changes"
        " into account"
    )
    pstates: PositiveCount = Field(
        default=1,
        description="number of P-states in which the scheduler may start a component: its own and"
        " lower ones, evenly spaced down to the lowest; 1: only its own, so that the"
        " component can only wait",
    )
    slow_running: Flag = Field(
        default=False,
        description="true: running components are set to lower P-states when the cap falls, as far as"
        " their laws of power and time cover these, and to higher ones when there is"
        " power again; starts then consider only the present cap",
    )
    slowdown: Amount | None = Field(
        default=None,
        description="largest allowed increase of a component's run time in a lower P-state, as a"
        " fraction of that at the reference clock; by default there is no bound; the"
        " slowdown of choice applies, too",
    )


class ShiftKeys(Keys):
    """A later begin time, chosen at submission: in the cheapest or cleanest hours."""

    by: Annotated[str, choice(PRICE, CARBON)] = Field(
        description="the series whose mean over the time limit is minimised"
    )
    bound_s: Seconds = Field(description="longest time from submission to the begin time, s")


class TimeoutKeys(Keys):
    """When idle nodes are switched off."""

    timeout_s: Duration = Field(description="idle time after which a node is switched off")
    min_awake: Count = Field(default=0, description="idle nodes of each module that are kept on")

    @field_serializer("timeout_s")
    def _spelt(self, timeout_s: int | None) -> int | str:
        return NO_LIMIT[0] if timeout_s is None else timeout_s


class IdleOffKeys(TimeoutKeys):
    """When idle nodes are switched off, in all modules except those with their own rules."""

    modules: dict[Name, TimeoutKeys] = Field(default={}, description="modules with rules of their own")


Drawn = Annotated[str, choice(MODELLED, MEASURED)]
"""What says what jobs draw."""


class EnergyKeys(Keys):
    """Power of nodes and applications, and the cost of energy; paths are relative to the models file."""

    power: FileOrKeys = Field(description="power profile: a file, or its keys")
    signatures: FileOrKeys | None = Field(
        default=None,
        description="signatures of applications: a CSV file with the columns workload (any name of"
        " the application), frequency_khz, power_w, and module if signatures differ by"
        " module; or a mapping of these columns to lists; with gpu_power_w, and gpu_sensitivity if it differs"
        " from the profile, the clock of the GPUs is chosen, too",
    )
    learnt: FileOrKeys | None = Field(
        default=None,
        description="power of jobs by user, application and size: the CSV file that `fit energy --jobs`"
        " wrote, or a mapping of its columns to lists",
    )
    jobs: Drawn = Field(
        default=MODELLED,
        description="measured: jobs with a measured power in the trace draw that power again, the others the"
        " power given by the models",
    )
    pue: Annotated[float, real(1)] = Field(
        default=1.0, description="power of the facility / power of its nodes"
    )
    facility: FileOrKeys | None = Field(
        default=None,
        description="power conversion and cooling, instead of pue: a file, or its keys; paths in the"
        " file are relative to it",
    )
    price: Tariff | None = Field(
        default=None, description="price per kWh: a number, or a CSV file of time and value"
    )
    currency: Title = Field(
        default="",
        description="currency of the price, such as EUR or €, shown with the cost of energy",
    )
    carbon: Tariff | None = Field(default=None, description="g of CO2 per kWh, in the same form as price")
    idle_off: IdleOffKeys | None = Field(
        default=None, description="switch idle nodes off; by default nodes are always on"
    )
    choice: ChoiceKeys | None = Field(
        default=None,
        description="choice of P-states and modules by energy; by default the reference clock everywhere",
    )
    cap: CapKeys | None = Field(
        default=None, description="a power cap of the system; by default there is none"
    )
    shift: ShiftKeys | None = Field(
        default=None, description="later begin times, in cheap or clean hours; by default as soon as possible"
    )
