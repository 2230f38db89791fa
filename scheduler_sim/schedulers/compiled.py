"""The decorator of a scheduler that is to be compiled."""

from __future__ import annotations

from typing import TypeVar

from scheduler_sim.schedulers.caller import MARK

Class = TypeVar("Class", bound=type)


def compiled(kind: Class) -> Class:
    """Compile the methods of a scheduler when it makes the passes of a simulation.

    The class does not change in Python, and gives the same schedule there. In compiled methods a module is a
    number, and the attributes of ``self`` are the numbers and arrays of numbers that exist when the object is
    created.
    """
    setattr(kind, MARK, True)
    return kind
