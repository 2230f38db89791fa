"""What the reader of a slurm.conf found wrong, and what it left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from scheduler_sim.errors import InputError
from scheduler_sim.system.slurm_conf.ignored import BY_PRIORITY, HARMLESS
from scheduler_sim.system.slurm_conf.lines import HIDDEN, Pair, Record
from scheduler_sim.system.slurm_conf.values import WITHIN_OR_PRIORITY

Value = TypeVar("Value")

SPELT_TWICE = (("feature", "features"),)
"""Keys with two names."""


@dataclass(frozen=True)
class Ignored:
    """Something that the file says and the simulation does without.

    Attributes
    ----------
    place : ``file:line``.
    key : as it was written; of a list of parameters, the one that is meant.
    value : what it was set to.
    why : why it does not matter, or that it is not modelled.
    """

    place: str
    key: str
    value: str
    why: str

    @property
    def matters(self) -> bool:
        """Whether the schedule may differ from the site's for it."""
        return self.why not in HARMLESS


@dataclass
class Notes:
    """Collects mistakes, so that all of them show at once, and what is ignored."""

    problems: list[str] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    moved: list[Pair] = field(default_factory=list)
    """Included files that were read from beside the slurm.conf, and not from where their lines say."""

    def wrong(self, place: str, key: str, why: object) -> None:
        """Note a mistake."""
        self.problems.append(f"{place}: {key}: {why}")

    def ignore(self, pair: Pair, why: str, *, key: str = "", value: str | None = None) -> None:
        """Note what is left out; ``key`` and ``value`` name one of several in the pair's value."""
        shown = pair.value if value is None else value
        shown = HIDDEN if pair.hidden and shown else shown
        self.ignored.append(Ignored(pair.place, key or pair.key, shown, why))

    def read(self, pair: Pair | None, reader: Callable[[str], Value], default: Value) -> Value:
        """Read a value; the default where it is absent, or wrong and noted."""
        if pair is None:
            return default
        try:
            return reader(pair.value)
        except InputError as error:
            self.wrong(pair.place, pair.key, f"found what is {HIDDEN}" if pair.hidden else error)
            return default


def note_within(pair: Pair, notes: Notes) -> None:
    """Note the words beside a PreemptMode that are read, and not modelled."""
    for word in (part.strip().upper() for part in pair.value.split(",")):
        if word in WITHIN_OR_PRIORITY:
            notes.ignore(pair, BY_PRIORITY, value=word)


def with_defaults(record: Record, defaults: dict[str, Pair]) -> Record:
    """The record with what a line named DEFAULT said before it."""
    pairs = {**defaults, **record.pairs}
    for now, once in SPELT_TWICE:  # Slurm looks for both on the line, then for both in its defaults
        said = [there[key] for there in (record.pairs, defaults) for key in (now, once) if key in there]
        pairs.pop(once, None)
        if said:
            pairs[now] = said[0]
    return Record(record.kind, record.name, pairs, record.place)
