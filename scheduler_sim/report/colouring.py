"""What the colours of components mean: a class for each component, a colour for each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.metrics.slices import size_classes
from scheduler_sim.report.look import TONES, shades
from scheduler_sim.report.module_view import ints
from scheduler_sim.report.wording import count, plain
from scheduler_sim.result.columns import NEVER

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

Colours = tuple[Any, ...]

WAITS = {"at once": 1, "< 10 min": 600, "< 1 h": 3600, "< 6 h": 21600, "< 1 d": 86400}
"""Classes of wait and the wait, in seconds, at which each ends."""

LONGEST = "1 d or more"
OTHERS, UNKNOWN = "#AAAAAA", "#DDDDDD"


@dataclass(frozen=True)
class Colouring:
    """The colours of the components of a result.

    Attributes
    ----------
    title : what the colours tell
    code : int64[components], the number of each one's class
    colours : the colour of each class
    keys : what the legend says, and the colours it says it of
    """

    title: str
    code: NDArray[np.int64]
    colours: Colours
    keys: list[tuple[str, Colours]]


def colouring(result: Result, by: str) -> Colouring:
    """Colour the components by a key of ``COLOURINGS``; raises InputError if it is none."""
    if by not in COLOURINGS:
        allowed = ", ".join(COLOURINGS)
        raise InputError(f"colours by {by!r}; allowed: {allowed}{did_you_mean(by, list(COLOURINGS))}")
    return COLOURINGS[by](result.components)


def _wait(components: pd.DataFrame) -> Colouring:
    waited = ints(components, "start_time") - ints(components, "submit_time")
    code = np.searchsorted(list(WAITS.values()), waited, side="right")
    return _ordered("Wait from submission to start", code, [*WAITS, LONGEST])


def _size(components: pd.DataFrame) -> Colouring:
    classes = size_classes(ints(components, "nodes"))
    return _ordered("Nodes of a component", np.asarray(classes.codes), list(classes.categories))


def _ordered(title: str, code: np.ndarray, labels: list[str]) -> Colouring:
    colours = tuple(shades(len(labels)))
    keys = [(label, (colour,)) for label, colour in zip(labels, colours, strict=True)]
    return Colouring(title, code.astype(np.int64), colours, keys)


def _named(column: str, title: str) -> Callable[[pd.DataFrame], Colouring]:
    """Colour by a name: those that used the most node-seconds one by one, the others in grey."""

    def colours(components: pd.DataFrame) -> Colouring:
        code, names = pd.factorize(components[column].astype(str), sort=True)
        used = np.bincount(code, _node_seconds(components), minlength=len(names))
        known = [i for i in np.argsort(-used, kind="stable") if names[i] != ""]
        most, others = known[: len(TONES)], known[len(TONES) :]
        place = np.full(len(names), len(TONES) + 1)
        place[most], place[others] = np.arange(len(most)), len(TONES)
        keys: list[tuple[str, Colours]] = [
            (plain(names[i]), (tone,)) for i, tone in zip(most, TONES, strict=False)
        ]
        keys += [(count(len(others), "other"), (OTHERS,))] if others else []
        keys += [("not known", (UNKNOWN,))] if len(known) < len(names) else []
        return Colouring(title, place[code].astype(np.int64), (*TONES, OTHERS, UNKNOWN), keys)

    return colours


def _workflow(components: pd.DataFrame) -> Colouring:
    """Give the components of one job one colour; a job of one component is grey."""
    _, code, parts = np.unique(ints(components, "modular_job_id"), return_inverse=True, return_counts=True)
    several = parts > 1
    place = np.where(several, (np.cumsum(several) - 1) % len(TONES), len(TONES))
    keys: list[tuple[str, Colours]] = []
    if several.any():
        words = "of several components: one colour each, which repeats"
        keys.append((f"{count(int(several.sum()), 'job')} {words}", TONES))
    if not several.all():
        keys.append((f"{count(int((~several).sum()), 'job')} of one component", (OTHERS,)))
    return Colouring("Modular job", place[code].astype(np.int64), (*TONES, OTHERS), keys)


def _node_seconds(components: pd.DataFrame) -> np.ndarray:
    run = ints(components, "end_time") - ints(components, "start_time")
    return ints(components, "nodes") * np.where(ints(components, "start_time") == NEVER, 0, run)


COLOURINGS: dict[str, Callable[[pd.DataFrame], Colouring]] = {
    "wait": _wait,
    "size": _size,
    "user": _named("user", "User"),
    "app": _named("app", "Application"),
    "workflow": _workflow,
}
"""What a picture of the nodes can be coloured by."""
