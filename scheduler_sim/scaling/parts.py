"""What the run time of an application is made of at some place, and how each part grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.curves import Curve, LostCycles, Mixture, Phases, Pmnf
from scheduler_sim.scaling.curves.time import PmnfTerm
from scheduler_sim.scaling.fitting.fit import label_of
from scheduler_sim.scaling.names import FACTORS
from scheduler_sim.scaling.page import curve_text
from scheduler_sim.scaling.parameters import PROCESSES
from scheduler_sim.scaling.profile import Profile
from scheduler_sim.scaling.targets import Target
from scheduler_sim.scaling.tree import Counts, Factor, Tree

COMPUTING = "useful computation"
"""What is left of the time where efficiencies take the rest."""


@dataclass(frozen=True)
class Part:
    """One part of the run time.

    Attributes
    ----------
    name : of the phase, term, category or factor
    law : how it grows, a formula of p, the processes
    share : float64[q], of the run time at each place; of a factor that gains time below 0
    growth : float64[q], its seconds over those at the first place
    """

    name: str
    law: str
    share: Floats
    growth: Floats


def ranked(profile: Profile, places: Sequence[Target]) -> list[Part]:
    """Return the parts of the run time at places, the largest at the last place first.

    Of a model of times these are its phases, its categories of lost cycles, or the terms of its (most
    probable) formula; none where a curve has no parts. Of a tree of efficiencies with the global efficiency E
    the share E of the time is useful computation, and 1 − E is lost: to each factor e of a product in
    proportion to −ln e, of an additive group to 1 − e. How to share out a product is our choice: so the order
    of factors does not matter, and the parts add up.
    """
    each = [_parts(profile, place) for place in places]
    times = np.array([_time(profile, place) for place in places])
    found = []
    for name, law, _ in each[0]:
        share = np.array([next(part[2] for part in parts if part[0] == name) for parts in each])
        seconds = share * times
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = seconds / seconds[0]
        found.append(Part(name, law, share, growth))
    return sorted(found, key=lambda part: -part.share[-1])


def _time(profile: Profile, place: Target) -> float:
    nodes, module, size, khz = place
    return float(profile.relative_time(nodes, module, size, khz) * profile.slowdown(khz))


def _parts(profile: Profile, place: Target) -> list[tuple[str, str, float]]:
    """Return name, law and share of the time of each part at one place."""
    counts = profile.counts(*place)
    if not isinstance(profile.model, Curve):
        return list(_lost(profile.model, counts))
    seconds = list(_seconds(profile.model, counts))
    whole = sum(value for _, _, value in seconds)
    return [(name, law, value / whole if whole else 0.0) for name, law, value in seconds]


def _seconds(curve: Curve, counts: Counts) -> Iterator[tuple[str, str, float]]:
    """Yield name, law and seconds of the parts of a model of times."""
    p = float(counts[PROCESSES])
    if isinstance(curve, Phases):
        for name, part in curve.phases.items():
            yield name, law_of(part), float(part.at(counts)) / (p if part.quantity == "work" else 1)
    elif isinstance(curve, LostCycles):
        yield "computation", f"{curve.computation:.4g} / p", curve.computation / p
        for name, part in curve.overheads.items():
            yield name, f"({law_of(part)}) / p", float(part.at(counts)) / p
    elif isinstance(form := curve.first if isinstance(curve, Mixture) else curve, Pmnf):
        for number, term in enumerate(_terms_of_time(form), start=1):
            alone = Pmnf.of(terms=[term])
            yield f"term {number}", label_of(alone), float(alone.at(counts))


def _terms_of_time(form: Pmnf) -> list[PmnfTerm]:
    """Return the terms of the seconds of a normal form, those of work over p, the constant first."""
    constant = [PmnfTerm(c=form.constant)] if form.constant else []
    fall = 1 if form.gives == "work" else 0
    return [term.model_copy(update={"i": term.i - fall}) for term in (*constant, *form.terms)]


def _lost(tree: Tree, counts: Counts) -> Iterator[tuple[str, str, float]]:
    """Yield useful computation, and what each factor loses."""
    whole = float(tree.values(counts))
    yield COMPUTING, "", whole
    seen: dict[str, int] = {}
    for factor, share in _losses(tree, counts, _per_log(whole)):
        label = FACTORS[factor.name].label if factor.name in FACTORS else factor.name
        seen[label] = seen.get(label, 0) + 1
        again = f" ({seen[label]})" if seen[label] > 1 else ""
        yield f"{label}{again}", curve_text(factor.curve), share


def _losses(tree: Tree, counts: Counts, per_log: float) -> Iterator[tuple[Factor, float]]:
    """Yield factors with what they lose: ``per_log`` for each unit of the −logarithm of an efficiency."""
    value = float(tree.values(counts))
    if isinstance(tree, Factor):
        yield tree, -per_log * float(np.log(value))
        return
    for part in tree.parts:
        inside = per_log
        if tree.compose == "additive":
            inside = per_log / _per_log(value) * _per_log(float(part.values(counts)))
        yield from _losses(part, counts, inside)


def _per_log(efficiency: float) -> float:
    """Return (1 − e) / −ln e, 1 at e = 1."""
    return 1.0 if abs(efficiency - 1) < 1e-12 else (1 - efficiency) / -float(np.log(efficiency))


def law_of(curve: Curve) -> str:
    """Return how a curve grows on one line; of a mixture its most probable form, marked ``~``."""
    return f"~ {curve_text(curve.first)}" if isinstance(curve, Mixture) else curve_text(curve)
