"""The kinds of scaling curves, and reading one from a mapping."""

from __future__ import annotations

from typing import Any

from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.scaling.curves.efficiency import Amdahl, Constant, Pipeline
from scheduler_sim.scaling.curves.kind import READINGS, Curve
from scheduler_sim.scaling.curves.machine import GatherScatter, LinearArchitecture, Roofline, Wavefront
from scheduler_sim.scaling.curves.measured import Formula, Table
from scheduler_sim.scaling.curves.speedup import AmdahlSpeedup, Downey, Gustafson, Usl
from scheduler_sim.scaling.curves.time import LostCycles, Mixture, Phases, Pmnf, Segments

KINDS: dict[str, type[Curve]] = {
    kind.NAME: kind
    for kind in (
        Constant, Amdahl, Pipeline, AmdahlSpeedup, Gustafson, Usl, Downey, Pmnf, Mixture, Phases, Segments,
        LostCycles, LinearArchitecture, GatherScatter, Wavefront, Roofline, Table, Formula,
    )
}  # fmt: skip

__all__ = [
    "KINDS", "READINGS", "Amdahl", "AmdahlSpeedup", "Constant", "Curve", "Downey", "Formula",
    "GatherScatter", "Gustafson", "LinearArchitecture", "LostCycles", "Mixture", "Phases", "Pipeline", "Pmnf",
    "Roofline", "Segments", "Table", "Usl", "Wavefront", "read_curve",
]  # fmt: skip


def read_curve(data: Any, where: Location = ()) -> tuple[Curve | None, list[Problem]]:
    """Read ``{curve: KIND, parameter: value, ...}``: the curve, or None and all problems."""
    if not isinstance(data, dict):
        return None, [Problem(where, f"{found(data)}; allowed: a mapping with the key curve")]
    name = data.get("curve")
    if name is None:
        return None, [Problem((*where, "curve"), f"missing; allowed: {', '.join(KINDS)}")]
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        return None, [Problem((*where, "curve"), f"{found(name)}; {one_of(list(KINDS), name)}")]
    given = {key: value for key, value in data.items() if key != "curve"}
    problems: list[Problem] = []
    inside = given.get(kind.PARTS) if kind.PARTS else None
    if isinstance(inside, dict) and inside:
        read = {part: read_curve(value, (*where, kind.PARTS, part)) for part, value in inside.items()}
        problems = [problem for _, found_here in read.values() for problem in found_here]
        if problems:
            return None, problems
        given[kind.PARTS] = {part: curve for part, (curve, _) in read.items()}
    curve, found_here = check_keys(kind, given)
    return curve, [Problem((*where, *problem.where), problem.text) for problem in found_here]
