"""Energy models as YAML files: what ``fit energy`` writes and power profiles name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from pydantic import Field

from scheduler_sim.config.keys import Keys, check_keys
from scheduler_sim.config.problem import Problem
from scheduler_sim.config.value import Text, Title, choice
from scheduler_sim.config.yaml_file import YamlFile, read_yaml
from scheduler_sim.energy.keys import Khz
from scheduler_sim.energy.laws import (
    COUNTERS,
    FORMS,
    ONE,
    TIME_LAWS,
    CpiTime,
    LinearPower,
    Stall,
    power_law,
    time_law,
)
from scheduler_sim.energy.model import Model
from scheduler_sim.energy.points import POWER
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.output.rule import Kind


class PowerKeys(Keys):
    """The law of power, linear in measured columns."""

    form: Annotated[str, choice(*FORMS)] = Field(
        description="affine: in W; ratio: of the measured power; counters: in W, at one frequency"
    )
    terms: list[Text] = Field(description="columns of a signature; 1 is the constant")


class TimeKeys(Keys):
    """The law of time, linear in measured columns."""

    form: Annotated[str, choice(*TIME_LAWS)] = Field(description="cpi: gives CPI; stall: gives α")
    terms: list[Text] = Field(description="columns of a signature; 1 is the constant")


class PairKeys(Keys):
    """Coefficients from one frequency to another."""

    source: Khz = Field(alias="from", description="frequency at which the signature was measured, kHz")
    target: Khz = Field(alias="to", description="frequency for which it is projected, kHz")
    power: list[float] = Field(description="coefficients of the law of power")
    time: list[float] = Field(description="coefficients of the law of time")


class ModelKeys(Keys):
    """The whole file."""

    name: Title = Field(description="name of the model in reports")
    khz: list[Khz] = Field(description="frequencies of the model, kHz")
    turbo_khz: Khz | None = Field(default=None, description="frequency that stands for turbo, kHz")
    power: PowerKeys = Field(description="law of power")
    time: TimeKeys = Field(description="law of time")
    quality: Annotated[str, choice("measured", "scaled", "guess")] = Field(
        default="measured", description="quality of the measurements it was fitted to"
    )
    errors: dict[str, Any] = Field(default={}, description="errors on held-out workloads, for the reader")
    pairs: list[PairKeys] = Field(
        description="coefficients for pairs of frequencies; pairs of a frequency with itself are only"
        " written for counters"
    )


def model_text(model: Model, head: Mapping[str, Any] | None = None) -> str:
    """Write a model of linear laws as YAML, with more keys for people after its name."""
    power, time = model.power, model.time
    assert isinstance(power, LinearPower)
    assert isinstance(time, CpiTime | Stall)
    khz = model.pstates.khz.tolist()
    known = power.map.available() & time.map.available()
    pairs = [
        {
            "from": khz[i],
            "to": khz[j],
            "power": [float(f"{x:.12g}") for x in power.map.coefficients[i, j]],
            "time": [float(f"{x:.12g}") for x in time.map.coefficients[i, j]],
        }
        for i, j in np.argwhere(known).tolist()
        if i != j or power.form == COUNTERS
    ]
    data = {
        "name": model.name,
        **(head or {}),
        "khz": khz,
        **({"turbo_khz": khz[-1]} if model.pstates.turbo else {}),
        "power": {"form": power.form, "terms": list(power.map.terms)},
        "time": {"form": "cpi" if isinstance(time, CpiTime) else "stall", "terms": list(time.map.terms)},
        "pairs": pairs,
    }
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True)


def read_model(path: str | Path) -> Model:
    """Read a model that :func:`model_text` wrote. Raises ConfigError with everything that is wrong."""
    return model_in(read_yaml(path))


MODEL = Kind.read_by("an energy model", read_model)


def model_in(file: YamlFile) -> Model:
    """Return the model that a file holds. Raises ConfigError with everything that is wrong."""
    keys, problems = check_keys(ModelKeys, file.data)
    if keys is None or problems:
        raise file.error(problems)
    problems += _odd_pairs(keys)
    if problems:
        raise file.error(problems)
    return _model(file, keys)


def _odd_pairs(keys: ModelKeys) -> list[Problem]:
    problems = []
    if keys.power.form == COUNTERS:
        if POWER in keys.power.terms or len(keys.khz) > 1:
            text = "found power_w, or several frequencies; allowed: counters at one frequency"
            problems.append(Problem(("power", "form"), text))
    elif (carrier := POWER if keys.power.form == "affine" else ONE) not in keys.power.terms:
        text = f"found {', '.join(keys.power.terms)}; allowed: {carrier} among them"
        problems.append(Problem(("power", "terms"), text))
    for i, pair in enumerate(keys.pairs):
        for key, khz in (("from", pair.source), ("to", pair.target)):
            if khz not in keys.khz:
                allowed = ", ".join(map(str, keys.khz))
                problems.append(Problem(("pairs", i, key), f"found {khz} kHz; allowed: {allowed}"))
        for law, numbers in (("power", pair.power), ("time", pair.time)):
            terms = getattr(keys, law).terms
            if len(numbers) != len(terms) or not np.isfinite(numbers).all():
                text = f"found {len(numbers)} numbers; allowed: one for each of {', '.join(terms)}"
                problems.append(Problem(("pairs", i, law), text))
    return problems


def _model(file: YamlFile, keys: ModelKeys) -> Model:
    if keys.turbo_khz is not None and keys.turbo_khz != max(keys.khz):
        text = f"found {keys.turbo_khz}; allowed: the highest, {max(keys.khz)}"
        raise file.error([Problem(("turbo_khz",), text)])
    pstates = PStates.of(keys.khz, keys.turbo_khz)
    k = len(pstates)
    power = np.full((k, k, len(keys.power.terms)), np.nan)
    time = np.full((k, k, len(keys.time.terms)), np.nan)
    for pair in keys.pairs:
        place = tuple(int(i) for i in pstates.index([pair.source, pair.target]))
        power[place], time[place] = pair.power, pair.time
    return Model(
        keys.name,
        pstates,
        power_law(keys.power.form, keys.power.terms, pstates, power),
        time_law(keys.time.form, keys.time.terms, pstates, time),
    )
