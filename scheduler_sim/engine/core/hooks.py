"""Moments in the life of a job, and the rules that have something to do or to say at them.

The core names moments, not rules. An ``event`` is told to every rule that the run has, in the order of the
parts of the core; a ``question`` is answered by the first of these that has an answer, else by its own body;
an ``agreement`` needs a yes of each, for a ``suspicion`` a yes of any is enough.
A rule hangs a function on a moment with ``on``. What the run has is known from the types of the parts: an
absent part is the empty tuple, and of what hangs on it nothing is compiled, nor looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from scheduler_sim.engine.core.jit import part

F = TypeVar("F", bound=Callable[..., Any])

ABSENT = ()
"""A part of the core that the run does not need."""


def is_absent(value: Any) -> bool:
    """Tell whether a part of the core is absent."""
    return isinstance(value, tuple) and len(value) == 0


class Hook(NamedTuple):
    """A function that hangs on a moment.

    Attributes
    ----------
    part : the part of the core that it belongs to
    needs : the parts without which it is nothing, that one among them
    unless : the parts each of which has a rule of its own for this
    """

    part: str
    needs: frozenset[str]
    unless: frozenset[str]
    function: Any


class Moment:
    """Something that happens, or is asked: called by the core, done or answered by rules.

    Parameters
    ----------
    otherwise : what is done, or the answer, where no rule of the run has any
    joined : makes one function of two, where all rules are told or asked; without, the first one answers
    instead : a compiled function that stands for ``otherwise``
    """

    def __init__(self, otherwise: Callable[..., Any], *, joined: Any = None, instead: Any = None) -> None:
        self.otherwise, self.joined, self.instead = otherwise, joined, instead
        self.__name__, self.__doc__ = otherwise.__name__, otherwise.__doc__
        self.hooks: list[Hook] = []
        self._chosen: dict[tuple[Hook, ...], Any] = {}
        self._chosen_without: dict[Set[str], Any] = {}

    @cached_property
    def _numba_type_(self) -> Any:
        from scheduler_sim.engine.compiler.reference import MomentType

        return MomentType(self)

    def __call__(self, core: Any, *arguments: Any) -> Any:
        """Do what the compiled core does, in plain Python."""
        if core.absent not in self._chosen_without:
            self._chosen_without[core.absent] = self.chosen(core._fields, core.absent)
        return self._chosen_without[core.absent](core, *arguments)

    def chosen(self, parts: Sequence[str], absent: Set[str]) -> Any:
        """Return the function for a core with such parts, in their order, some of which are absent."""
        hooks = [
            hook for hook in self.hooks if hook.needs.isdisjoint(absent) and hook.unless - absent == set()
        ]
        key = tuple(sorted(hooks, key=lambda hook: parts.index(hook.part)))
        if key not in self._chosen:
            self._chosen[key] = self._made([hook.function for hook in key])
        return self._chosen[key]

    def _made(self, functions: list[Any]) -> Any:
        if not functions:
            return self.instead or _answer(self.otherwise)
        if self.joined is None:
            return functions[0]
        made = functions[-1]
        for function in reversed(functions[:-1]):
            made = self.joined(function, made)
        return made


def _answer(function: Callable[..., Any]) -> Any:
    """Return a question's own answer, compiled: once for all questions, where it is a constant."""
    code, nothing = function.__code__, _nothing.__code__
    if code.co_code == nothing.co_code and not code.co_names:
        return _constant(code.co_consts[-1])
    return part(function)


def _nothing() -> Any:
    """A function that returns a constant, as it stands in memory."""
    return None


@lru_cache(typed=True)
def _constant(value: Any) -> Any:
    """Return a function of anything that returns always the same."""

    @part
    def absent(core: Any, *rest: Any) -> Any:
        return value

    return absent


def _one_after_another(first: Any, second: Any) -> Any:
    @part
    def both(core: Any, *arguments: Any) -> None:
        first(core, *arguments)
        second(core, *arguments)

    return both


def _if_both_agree(first: Any, second: Any) -> Any:
    @part
    def both(core: Any, *arguments: Any) -> bool:
        return bool(first(core, *arguments) and second(core, *arguments))

    return both


def _if_either_does(first: Any, second: Any) -> Any:
    @part
    def either(core: Any, *arguments: Any) -> bool:
        return bool(first(core, *arguments) or second(core, *arguments))

    return either


def event(function: F) -> F:
    """Name a moment that rules are told of; the function has no body but its documentation."""
    return cast(F, Moment(function, joined=_one_after_another, instead=_constant(None)))


def question(function: F) -> F:
    """Name a question that a rule may answer; the function is the answer where none does."""
    return cast(F, Moment(function))


def answered_by(compiled: F) -> F:
    """Name a question that a rule may answer; a part of the core is the answer where none does."""
    return cast(F, Moment(getattr(compiled, "__wrapped__", compiled), instead=compiled))


def agreement(function: F) -> F:
    """Name a question to which every rule has to say yes; the function is the answer where there is none."""
    return cast(F, Moment(function, joined=_if_both_agree))


def suspicion(function: F) -> F:
    """Name a question to which one rule that says yes is enough; the function is the answer where none is."""
    return cast(F, Moment(function, joined=_if_either_does))


def on(moment: Callable[..., Any], *needs: str, unless: str | tuple[str, ...] = ()) -> Callable[[F], F]:
    """Hang a function on a moment, for runs that have the parts ``needs`` of the core, and not ``unless``."""

    def hang(function: F) -> F:
        compiled = part(function)
        without = frozenset({unless} if isinstance(unless, str) else unless)
        cast(Any, moment).hooks.append(Hook(needs[0], frozenset(needs), without, compiled))
        return compiled

    return hang


def only_with(name: str, otherwise: Any = None) -> Callable[[F], F]:
    """Name a function of a rule that others call: where its part is absent, it returns ``otherwise``."""

    def decorate(function: F) -> F:
        moment = Moment(function, instead=_constant(otherwise))
        moment.hooks.append(Hook(name, frozenset({name}), frozenset(), part(function)))
        return cast(F, moment)

    return decorate
