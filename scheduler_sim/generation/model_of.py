"""From the keys of a recipe to a workload model with all its parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar, cast

from scheduler_sim.config.keys import Keys
from scheduler_sim.generation.arrivals import Arrivals, Cycle, Process
from scheduler_sim.generation.cirne import Cirne, cycle_of_site
from scheduler_sim.generation.lublin import BATCH, INTERACTIVE, Lublin
from scheduler_sim.generation.model_keys import ArrivalKeys, DurationKeys, LublinKeys, ModelKeys
from scheduler_sim.generation.single import Model, SingleTrace, Streams
from scheduler_sim.generation.sizes import SizeLaw
from scheduler_sim.generation.times import Accuracy, Cancellations, LogUniform
from scheduler_sim.generation.tsafrir import UserEstimates

PRESETS = {
    "deep-est": Cirne(),
    "cirne-berman": Cirne(sizes=SizeLaw(0.12, 0.20, 0.75), cancellations=Cancellations(0.15)),
}
"""Deliverable D2.3's constants, and the authors' own: other sizes, and 15 % of the jobs cancelled."""

RIVALS = ({"slope", "largest"}, {"site", "hourly", "polynomial"})
"""Keys that say the same thing in different ways."""

Some = TypeVar("Some", bound=Keys)


def merged(general: Some, particular: Some | None) -> Some:
    """Return keys in which those that ``particular`` gives replace the general ones, key by key."""
    if particular is None:
        return general
    if "kind" in particular.model_fields_set and getattr(particular, "kind", "") != getattr(
        general, "kind", ""
    ):
        return particular
    general = _without_rivals(general, particular.model_fields_set)
    changed = {}
    for name in particular.model_fields_set:
        value, before = getattr(particular, name), getattr(general, name)
        changed[name] = (
            merged(before, value) if isinstance(value, Keys) and isinstance(before, Keys) else value
        )
    together = general.model_copy(update=changed)
    together.__pydantic_fields_set__.update(general.model_fields_set | particular.model_fields_set)
    return together


def _without_rivals(keys: Some, given: set[str]) -> Some:
    """Drop what cannot stand beside the keys given: of each group one counts."""
    dropped = {name for group in RIVALS if group & given for name in group - given}
    kept = {name: getattr(keys, name) for name in keys.model_fields_set - dropped}
    return type(keys).model_construct(_fields_set=set(kept), **kept)


def cirne_of(keys: ModelKeys, nodes: int) -> Cirne:
    """Return Cirne's model for a module of some nodes; what the keys leave open is the preset's."""
    preset = PRESETS[keys.preset]
    sizes, accuracy, cancellations = keys.sizes, keys.accuracy, keys.cancellations
    return Cirne(
        arrivals=arrivals_of(keys.arrivals, nodes),
        sizes=SizeLaw(
            _given(sizes.slope, preset.sizes.slope),
            _given(sizes.intercept, preset.sizes.intercept),
            _given(sizes.power_of_two, preset.sizes.power_of_two),
            sizes.largest,
        ),
        requests=_durations(keys.requests, preset.requests),
        accuracy=Accuracy(
            _given(accuracy.shape, preset.accuracy.shape), _given(accuracy.scale, preset.accuracy.scale)
        ),
        cancellations=Cancellations(
            _given(cancellations.probability, preset.cancellations.probability),
            _durations(cancellations.lag, preset.cancellations.lag),
        ),
        load_multiplier=keys.load_multiplier,
        reduction_factor=keys.reduction_factor,
        size_time_correlation=keys.size_time_correlation,
    )


def arrivals_of(keys: ArrivalKeys, nodes: int) -> Arrivals:
    """Return the process of submissions to a module of some nodes."""
    return Arrivals(_cycle(keys, nodes), cast(Process, keys.process), keys.offered_load)


def _cycle(keys: ArrivalKeys, nodes: int) -> Cycle:
    given = keys.hourly or keys.polynomial
    site = cycle_of_site(keys.site)
    return Cycle(
        reference_nodes=(keys.reference_nodes or nodes) if given else site.reference_nodes,
        polynomial=() if keys.hourly else tuple(keys.polynomial or site.polynomial),
        hourly=tuple(keys.hourly or ()),
        weekly=tuple(keys.weekly or ()),
        clamp=keys.clamp,
    )


def _durations(keys: DurationKeys, preset: LogUniform) -> LogUniform:
    return LogUniform(_given(keys.slope, preset.slope), _given(keys.intercept, preset.intercept))


def _given(value: float | None, preset: float) -> float:
    return preset if value is None else value


@dataclass(frozen=True)
class WithEstimates:
    """A model whose time limits are drawn anew, as users estimate the run times."""

    model: Model
    estimates: UserEstimates

    def draw(self, jobs: int, nodes: int, streams: Streams) -> SingleTrace:
        """Draw jobs for a module of some nodes."""
        trace = self.model.draw(jobs, nodes, streams)
        return trace._replace(time_limit=self.estimates.estimates(trace.run_time, streams))


def model_of(keys: ModelKeys, nodes: int) -> Model:
    """Return the model for a module of some nodes. Raises ConfigError for parameters out of range."""
    model: Model = cirne_of(keys, nodes) if keys.kind == "cirne" else _lublin(keys.lublin)
    if keys.estimates is None:
        return model
    return WithEstimates(model, UserEstimates(keys.estimates.max_estimate, keys.estimates.max_share))


def _lublin(keys: LublinKeys) -> Lublin:
    return Lublin(
        **keys.law,
        types=keys.types,
        batch=replace(BATCH, **keys.batch),
        interactive=replace(INTERACTIVE, **keys.interactive),
        inter_arrival_factor=keys.inter_arrival_factor,
    )
