"""What a profile predicts at targets: nodes, module, size of the problem, clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from scheduler_sim.config.problem import one_of
from scheduler_sim.errors import InputError
from scheduler_sim.numerals import finite
from scheduler_sim.scaling.curves import Curve
from scheduler_sim.scaling.parameters import CLOCK, PROCESSES, SIZE, parameter
from scheduler_sim.scaling.profile import Profile, Reference
from scheduler_sim.scaling.profile_keys import MOST_NODES

NODES, MODULE, TIME = "nodes", "module", "time"

EVERYWHERE = ""
"""Module of a model that knows of none: a metric counts the same on each."""

LEVEL = 0.9
"""Share of the weight of the forms of a mixture that lies within its band."""


class Target(NamedTuple):
    """Where to predict: nodes, module, size of the problem (None: the usual), clock (kHz, None: nominal)."""

    nodes: int
    module: str
    size: float | None = None
    khz: int | None = None


@dataclass(frozen=True)
class Prediction:
    """What a profile says of a target.

    Attributes
    ----------
    time : s; None where it holds efficiencies, and no run is known
    low, high : within which 90 % of the forms lie that the profile holds, by weight; both ``time`` with one
    efficiency : as ``Profile.efficiency`` has it
    beyond : processes over the most that were fitted; None where the profile does not say them
    warnings : what speaks against it
    """

    target: Target
    time: float | None
    low: float | None
    high: float | None
    efficiency: float
    beyond: float | None
    warnings: tuple[str, ...]

    @property
    def node_hours(self) -> float | None:
        """Return nodes x hours."""
        return None if self.time is None else self.target.nodes * self.time / 3600


def asked_for(profile: Profile) -> tuple[str, ...]:
    """Return what a target of this profile may state."""
    depends = profile.depends_on
    clock = (CLOCK,) if CLOCK in depends or profile.beta else ()
    modules = () if EVERYWHERE in profile.speeds else (MODULE,)
    return (NODES, *modules, *((SIZE,) if SIZE in depends else ()), *clock)


def read_targets(profile: Profile, text: str) -> list[Target]:
    """Read ``nodes=64,128,size=1e9``: every combination, of all modules where none is named.

    Raises InputError for what the profile does not depend on, and values that cannot be.
    """
    given = _given(profile, text, asked_for(profile), "--at")
    if NODES not in given:
        raise InputError(f"--at: found no nodes in {text!r:.60}; allowed: nodes=N,...")
    nodes = [_whole(NODES, word) for word in given[NODES]]
    modules = [_module(profile, word, "--at") for word in given.get(MODULE, profile.speeds)]
    sizes = [_size(word) for word in given[SIZE]] if SIZE in given else [None]
    clocks = [_whole(CLOCK, word) for word in given[CLOCK]] if CLOCK in given else [None]
    return [Target(n, module, size, khz) for module, size, khz, n in product(modules, sizes, clocks, nodes)]


def read_known(profile: Profile, text: str) -> Reference:
    """Read a run that is known: ``time=3600,nodes=8``, module, size and clock where there are several."""
    given = _given(profile, text, (TIME, *asked_for(profile)), "--known")
    for name in (TIME, NODES, *([MODULE] if len(profile.speeds) > 1 else [])):
        if name not in given:
            raise InputError(f"--known: found no {name} in {text!r:.60}; allowed: time=S,nodes=N,module=NAME")
    for name, words in given.items():
        if len(words) > 1:
            raise InputError(f"--known: found {', '.join(words)} as {name}; allowed: one, of one run")
    seconds = _number(given[TIME][0])
    if not seconds > 0:
        raise InputError(f"--known: found {given[TIME][0]!r:.40} as time; allowed: a number above 0, in s")
    return Reference(
        seconds,
        _whole(NODES, given[NODES][0]),
        _module(profile, given.get(MODULE, list(profile.speeds))[0], "--known"),
        _whole(CLOCK, given[CLOCK][0]) if CLOCK in given else None,
        _size(given[SIZE][0]) if SIZE in given else None,
    )


def predicted(profile: Profile, target: Target, known: Reference | None = None) -> Prediction:
    """Return what the profile says of a target, in seconds of the run that is known.

    Without one a model of times gives the seconds of the runs that were measured. The band of a mixture
    is that of its forms at the target, over their median at the known run.

    Raises InputError where nobody says the size of the problem.
    """
    nodes, module, size, khz = target
    size = size if size is not None or known is None else known.size
    time = None
    if known is not None:
        time = profile.run_time(nodes, module, known, khz, size)
    elif isinstance(profile.model, Curve):
        time = float(profile.relative_time(nodes, module, size, khz) * profile.slowdown(khz))
    low, high = (float(end) for end in profile.band(nodes, module, size, khz, LEVEL))
    most = max(profile.provenance.fitted, default=None)
    beyond = None if most is None else float(profile.counts(nodes, module)[PROCESSES]) / most
    return Prediction(
        target,
        time,
        None if time is None else time * low,
        None if time is None else time * high,
        float(profile.efficiency(nodes, module, size, khz)),
        beyond,
        tuple(profile.check(nodes, module, size, khz)),
    )


def _given(profile: Profile, text: str, allowed: Sequence[str], option: str) -> Mapping[str, list[str]]:
    """Split at commas; a word without ``=`` is one more value of the name before it."""
    given: dict[str, list[str]] = {}
    name = ""
    for piece in text.split(","):
        before, equals, after = piece.partition("=")
        word = (after if equals else before).strip()
        if equals:
            name = _name(profile, before.strip(), allowed, option)
            if name in given:
                raise InputError(
                    f"{option}: found {name} twice; allowed: once, with several values separated by commas"
                )
            given[name] = []
        if not name or not word:
            raise InputError(
                f"{option}: found {piece!r:.40}; allowed: NAME=VALUE,... of {', '.join(allowed)}"
            )
        given[name].append(word)
    return given


def _name(profile: Profile, written: str, allowed: Sequence[str], option: str) -> str:
    word = written.lower()
    name = word if word in (NODES, MODULE, TIME) else parameter(word) or word
    if name in allowed:
        return name
    said = f"found {written!r:.40}, on which {profile.app} does not depend; {one_of(list(allowed), name)}"
    if name == PROCESSES:
        each = {m: f"{float(profile.counts(1, m)[PROCESSES]):g}" for m in profile.speeds}
        words = ", ".join(f"{number} on {m}" if m else number for m, number in each.items())
        said += f"; it counts nodes, with processes of each: {words}"
    raise InputError(f"{option}: {said}")


def _number(word: str) -> float:
    try:
        return finite(word)
    except ValueError:
        return float("nan")


def _whole(name: str, word: str) -> int:
    value, most = _number(word), MOST_NODES if name == NODES else 10**8
    if not (1 <= value <= most and value == int(value)):
        raise InputError(f"{name}: found {word!r:.40}; allowed: an integer from 1 to {most:,}")
    return int(value)


def _size(word: str) -> float:
    value = _number(word)
    if not 1 <= value <= 1e300:
        raise InputError(f"{SIZE}: found {word!r:.40}; allowed: a number from 1")
    return value


def _module(profile: Profile, word: str, option: str) -> str:
    if word not in profile.speeds:
        raise InputError(
            f"{option}: found the module {word!r:.40}, on which {profile.app} cannot run;"
            f" {one_of(list(profile.speeds), word)}"
        )
    return word
