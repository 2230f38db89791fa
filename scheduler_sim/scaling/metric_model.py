"""Models of metrics other than run time, such as flops or visits, in files of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Problem
from scheduler_sim.config.value import Title
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.output.rule import Kind
from scheduler_sim.scaling.curves import Curve, read_curve
from scheduler_sim.scaling.parameters import CLOCK, PARAMETERS
from scheduler_sim.scaling.profile import Profile
from scheduler_sim.scaling.profile_file import plain_text, profile_dict
from scheduler_sim.scaling.profile_keys import (
    HeaderKeys,
    Mapping,
    Positive,
    ProvenanceKeys,
    RanksPerNode,
    Scaling,
)
from scheduler_sim.scaling.targets import EVERYWHERE


class MetricKeys(HeaderKeys):
    """The file of a model of a metric."""

    metric: Title = Field(
        description="name of the metric, such as flops, in the unit in which it was measured"
    )
    scaling: Scaling = Field(description="scaling of the measured runs, as in a profile")
    ranks_per_node: RanksPerNode = Field(default=1, description="processes on a node")
    size: Positive | None = Field(default=None, description="size of the problem in its usual runs")
    clock_khz: Positive | None = Field(
        default=None, description="usual clock, for a curve that depends on it"
    )
    value: Mapping = Field(
        description="one curve of the values; if it gives work, the value is work / processes"
    )
    provenance: ProvenanceKeys = Field(default=ProvenanceKeys(), description="where the numbers come from")


@dataclass(frozen=True)
class MetricModel:
    """A metric, and how it grows: a law as of run times, whose seconds are the unit of the metric."""

    metric: str
    law: Profile


def read_metric_model(path: str | Path) -> MetricModel:
    """Read a model of a metric. Raises ConfigError with every problem, each with its line."""
    file = read_yaml(path)
    model, problems = metric_model_of(file.data)
    if model is None:
        raise file.error(problems)
    return model


METRIC_MODEL = Kind.read_by("a model of a metric", read_metric_model)


def metric_model_of(data: dict[str, Any]) -> tuple[MetricModel | None, list[Problem]]:
    """Build a model from the keys of its file: the model, or None and all problems."""
    keys, problems = check_keys(MetricKeys, data)
    curve: Curve | None = None
    if isinstance(data.get("value"), dict):
        curve, more = read_curve(data["value"], ("value",))
        problems += more
    if curve is not None and (
        curve.quantity not in ("time", "work") or not set(curve.inputs) <= set(PARAMETERS)
    ):
        said = f"{curve.NAME} gives a {curve.quantity} of {', '.join(curve.inputs)}"
        problems.append(
            Problem(("value", "curve"), f"{said}; allowed here: time or work of {', '.join(PARAMETERS)}")
        )
    if keys is not None and not isinstance(keys.ranks_per_node, int):
        problems.append(Problem(("ranks_per_node",), "found one for each module; allowed here: an integer"))
    if keys is not None and curve is not None and CLOCK in curve.inputs and keys.clock_khz is None:
        problems.append(
            Problem((CLOCK,), f"missing; allowed: the usual clock, as the curve depends on {CLOCK}")
        )
    if keys is None or curve is None or problems:
        return None, problems
    law = Profile(
        keys.app,
        keys.scaling,
        curve,
        keys.ranks_per_node,
        1,
        {EVERYWHERE: 1.0},
        nominal_khz=int(keys.clock_khz or 1),
        size=keys.size,
        provenance=keys.provenance,
    )
    return MetricModel(keys.metric, law), []


def metric_text(metric: str, law: Profile) -> str:
    """Return the text of the file of a metric that was learnt as if it were a run time."""
    of_profile = profile_dict(law)
    written = {"version": of_profile["version"], "app": law.app, "metric": metric, "scaling": law.scaling}
    written["ranks_per_node"] = of_profile["ranks_per_node"]
    if law.size is not None:
        written["size"] = law.size
    if CLOCK in law.depends_on:
        written[CLOCK] = law.nominal_khz
    written["value"] = of_profile["time"]
    if "provenance" in of_profile:
        written["provenance"] = of_profile["provenance"]
    return plain_text(written)


def is_metric_model(path: str | Path) -> bool:
    """Whether a file has the key ``metric``. Raises ConfigError where it cannot be read."""
    return "metric" in read_yaml(path).data
