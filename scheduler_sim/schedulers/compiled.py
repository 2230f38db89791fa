"""The mark of a scheduler that is to be compiled."""

from __future__ import annotations

from typing import TypeVar

from scheduler_sim.schedulers.caller import MARK

Class = TypeVar("Class", bound=type)


def compiled(kind: Class) -> Class:
    """Have the methods of a scheduler compiled where it makes the passes of a simulation.

    The class stays what it is in Python, and gives the same schedule there. In compiled methods a
    module is a number, and the attributes of ``self`` are the numbers, and arrays of numbers, that it has
    when it is made.
    """
    setattr(kind, MARK, True)
    return kind
