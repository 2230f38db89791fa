"""By which names an application is known: one rule for types, scaling profiles and signatures.

A trace names an application; its type has a name, further names (``apps``) and a number, counted from 1.
In any case, and best first: the trace's own name, the type's name, its ``apps`` in their order, its number.
A number that is the name of a type, or one of its ``apps``, is no other type's number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.applications.keys import TypeKeys
from scheduler_sim.arrays import Ints
from scheduler_sim.texts import TextColumn


class Known(NamedTuple):
    """The applications of n components: ``place``, int64[n], of each in ``names``; all its names each."""

    place: Ints
    names: list[tuple[str, ...]]


class Names:
    """The names of types of application.

    Attributes
    ----------
    allowed : all that mean a type, as they are spelt.
    """

    def __init__(self, types: Sequence[TypeKeys]) -> None:
        spelt = {name: number for number, one in enumerate(types) for name in (one.name, *one.apps)}
        self._types = {name.lower(): number for name, number in spelt.items()}
        numbers = [str(number + 1) for number in range(len(types))]
        free = {text: number for number, text in enumerate(numbers) if text not in self._types}
        self._types |= free
        self.allowed = [*spelt, *numbers]
        self._of_type = [
            (one.name, *one.apps, *([text] if text in free else []))
            for one, text in zip(types, numbers, strict=True)
        ]

    def type_of(self, name: str) -> int | None:
        """Return the number (from 0) of the type that a name means, None if it means none."""
        return self._types.get(name.lower())

    def known(self, app: TextColumn, type_number: Ints) -> Known:
        """Return all names of each component's application: what the trace calls it, then those of its type.

        ``app`` (n,), what the trace has, empty where it has nothing; ``type_number`` (n,), of its type.
        """
        kinds = max(len(self._of_type), 1)
        pairs = np.asarray(app.codes, dtype=np.int64) * kinds + type_number
        place, used = pd.factorize(pairs)
        spelt = [divmod(pair, kinds) for pair in used.tolist()]
        return Known(place, [self._all(str(app.categories[code]), kind) for code, kind in spelt])

    def _all(self, app: str, type_number: int) -> tuple[str, ...]:
        of_type = self._of_type[type_number] if self._of_type else ()
        return tuple(dict.fromkeys(name for name in (app, *of_type) if name))
