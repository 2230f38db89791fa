"""Methods that tell their lines: what they do stays the same, and what cannot be told is left as it is."""

from __future__ import annotations

from inspect import getsourcelines
from typing import Any

from scheduler_sim.schedulers.lines import telling


class View:
    def __init__(self) -> None:
        self.lines: list[int] = []

    def at_line(self, line: int) -> None:
        self.lines.append(line)


class Walks:
    __step = 2
    FAR = 3

    def walk(self, view: NotKnown, far: int = FAR) -> int:  # noqa: F821
        """Every statement, and the test of a loop after each turn."""
        done = 0
        while done < far:
            if done == 1:
                done += 2
            else:
                done += 1
        return done

    def steps(self, view: Any) -> int:
        return self.__step

    def other(self, job: Any) -> int:
        return 1


def test_each_statement_is_told_with_its_line():
    view, first = View(), getsourcelines(Walks.walk)[1]
    told = telling(Walks.walk, sees=False)
    assert told(Walks(), view) == Walks().walk(None) == 3
    assert [line - first for line in view.lines] == [1, 2, 3, 4, 7, 3, 4, 5, 3, 8]
    assert (told.__defaults__, told.__qualname__) == ((3,), "Walks.walk")


def test_what_would_be_something_else_is_left_as_it_is():
    """A name that a class mangles, an argument that is no view, source that there is none of."""
    space: dict[str, Any] = {}
    exec("def made(self, view): return 1", space)
    for method in (Walks.steps, Walks.other, space["made"]):
        assert telling(method, sees=False) is method

    far = 3

    def closes(self: Any, view: Any) -> int:
        return far

    assert telling(closes, sees=True) is closes
