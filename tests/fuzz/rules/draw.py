"""What a case is drawn with: numbers, and which rules are on together."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


class Draw(random.Random):
    """Random numbers of one case."""

    def chance(self, share: float) -> bool:
        return self.random() < share

    def pick(self, *values: T) -> T:
        return self.choice(values)

    def some(self, table: Mapping[str, Sequence[Any]], share: float) -> dict[str, Any]:
        """Return each key with a share of probability, with one of its values."""
        return {key: self.choice(values) for key, values in table.items() if self.chance(share)}


SCHEMES = {"none": 12, "easy": 18, "conservative": 20, "first_fit": 8, "slurm": 34, "scheduler": 8}
"""Weights of values of ``policy.backfill``."""

RULES = {
    "partitions": 0.7,
    "node_sets": 0.35,
    "features": 0.2,
    "units": 0.25,
    "dependencies": 0.5,
    "singletons": 0.12,
    "calls": 0.15,
    "arrays": 0.2,
    "holds": 0.2,
    "begin_times": 0.2,
    "choice": 0.3,
    "licences": 0.25,
    "gpu_parts": 0.15,
    "reservations": 0.2,
    "events": 0.25,
    "failures": 0.15,
    "preemption": 0.22,
    "gang": 0.04,
    "topology": 0.25,
    "energy": 0.25,
    "power_saving": 0.15,
    "power_cap": 0.12,
    "tariff": 0.04,
    "pstates": 0.05,
    "ratios": 0.12,
    "checkpoints": 0.12,
    "spread": 0.1,
    "moldable": 0.08,
    "priorities": 0.4,
    "limits": 0.35,
    "own": 0.12,
    "operations": 0.55,
}
"""Each rule, and how often it is on."""

APART = (
    ("moldable", "slurm"),
    ("own", "slurm"),
    ("gpu_parts", "slurm"),
    ("gpu_parts", "counted"),
    ("tariff", "slurm", "units"),
    ("units", "shared"),
    ("units", "named"),
    ("units", "reservations"),
    ("units", "gang"),
    ("units", "preemption"),
    ("units", "moldable"),
    ("preemption", "named"),
    ("preemption", "scheduler"),
    ("power_saving", "named"),
    ("power_saving", "scheduler"),
    ("power_saving", "preemption"),
    ("power_saving", "gang"),
    ("power_saving", "units", "slurm"),
    ("power_cap", "named"),
    ("power_cap", "preemption"),
    ("energy", "gang"),
    ("pstates", "named"),
    ("pstates", "shared"),
    ("reservations", "named"),
    ("reservations", "preemption", "textbook"),
    ("tariff", "named"),
    ("choice", "preemption"),
    ("choice", "named", "easy"),
    ("choice", "named", "scheduler"),
    ("choice", "named", "units"),
    ("licences", "named", "easy"),
    ("licences", "named", "scheduler"),
    ("licences", "preemption", "textbook"),
    ("own", "preemption"),
    ("checkpoints", "preemption"),
    ("tariff", "preemption"),
    ("calls", "preemption"),
    ("events", "preemption"),
    ("failures", "preemption"),
    ("ratios", "pstates"),
    ("spread", "checkpoints"),
)
"""Rules of which the first is refused beside the others, or often is: they come together but now and then."""


@dataclass
class Setting:
    """What the parts of one case have in common.

    Attributes
    ----------
    scheme : value of ``policy.backfill``. shared : whether jobs share nodes.
    scale : s, of which times are multiples. first : s, the first submission.
    rules : those that are on.
    """

    draw: Draw
    scheme: str
    shared: bool
    scale: int
    first: int
    rules: set[str]

    @property
    def slurm(self) -> bool:
        return self.scheme == "slurm"

    def has(self, *rules: str) -> bool:
        return self.rules.issuperset(rules)

    def time(self, *values: int) -> int:
        """Return one of some times, in units of the scale or in seconds."""
        return self.draw.choice(values) * self.draw.pick(1, self.scale)


def setting(draw: Draw) -> Setting:
    """Draw what a case is about."""
    scheme = draw.choices(list(SCHEMES), list(SCHEMES.values()))[0]
    shared = draw.chance(0.38)
    rules = {rule for rule, share in RULES.items() if draw.chance(share)}
    words = {scheme, "shared" if shared else "counted"}
    if scheme != "slurm":
        words.add("textbook")
        if shared or rules.issuperset({"node_sets", "partitions"}):
            words.add("named")  # nodes are told apart
    for rule, *others in APART:
        if (rules | words).issuperset({rule, *others}) and draw.chance(0.98):
            rules.discard(rule)
    if "topology" not in rules:
        rules.discard("spread")
    scale = draw.choices([1, 60, 3600], [75, 21, 4 * (scheme != "slurm")])[0]
    first = draw.pick(0, 0, 0, 0, 0, 0, 0, 0, 10**6, 1_700_000_000)
    return Setting(draw, scheme, shared, scale, first, rules)
