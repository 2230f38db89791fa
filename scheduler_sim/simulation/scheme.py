"""Which compiled loop a policy needs, and the policy as the numbers that loop reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from scheduler_sim.arrays import Floats
from scheduler_sim.engine.core import loop, orders, state
from scheduler_sim.engine.core.scheme import Scheme as Pass
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.errors import BesideJobs, ConfigError
from scheduler_sim.policy import order
from scheduler_sim.policy.policy import Policy
from scheduler_sim.policy.schemes import AHEAD, PLACEMENTS, RESERVED, SHARED, SWITCHING, UNITS, unable
from scheduler_sim.workload.fields import SEVERAL, TOGETHER

STRATEGIES = {
    "preferred": state.PREFERRED,
    "first_available": state.FIRST_AVAILABLE,
    "earliest_start": state.EARLIEST_START,
    "earliest_end": state.EARLIEST_END,
    "least_cost": state.LEAST_COST,
}


class Order(NamedTuple):
    """An order made ready to run.

    Attributes
    ----------
    fill : writes the keys while the loop runs
    keys : returns them, by float64[len(COLUMNS), n]; None where they depend on time
    """

    fill: Any
    keys: Callable[[Floats], Floats] | None


@dataclass(frozen=True)
class Scheme:
    """A policy made ready to run: the name of its pass, the two orders, and what the run needs of a pass."""

    policy: Policy
    name: str
    order: Order
    second_order: Order
    asked: Mapping[str, bool]
    drive: Callable[[FullCore, int, int], None] = loop.drive

    @property
    def switched(self) -> bool:
        """Whether idle nodes are switched off."""
        return self.asked[SWITCHING]

    def run(self, core: FullCore, until: int, steps: int) -> None:
        """Let the loop work on every instant before ``until``, at most up to so many steps in all."""
        self.drive(core, until, steps)

    @property
    def ordered(self) -> bool:
        """Whether more is looked at than when jobs come: all orders but fifo, and vetoes, read columns."""
        others = self.policy.backfill_order, self.policy.may_start
        return str(self.policy.order) != "fifo" or any(other is not None for other in others)

    def put(self, core: FullCore) -> FullCore:
        """Return the core with this pass."""
        return core._replace(scheme=Pass(self.name))

    def for_several(self) -> Scheme:
        """Return the scheme for components that have several placements, or need shared resources.

        Raises ConfigError for a dialect that is not defined for them.
        """
        asked = {**self.asked, PLACEMENTS: True}
        return replace(self, name=_pass(self.policy, asked), asked=asked)

    def write_rules(self, core: FullCore, *, complex_components: bool) -> FullCore:
        """Return the core with the policy as its rules and orders."""
        policy, rules = self.policy, core.rules
        rules.depth = policy.reservation_depth
        rules.strategy = STRATEGIES.get(str(policy.placement), state.LEAST_COST)
        rules.extra = policy.extra_rule
        rules.static_shadow = policy.shadow == "static"
        rules.by_run = policy.candidate_time == "run"
        rules.dynamic = self.order.keys is None
        rules.two_orders = 0 if policy.backfill_order is None else 1 + (self.second_order.keys is None)
        rules.complex = complex_components
        rules.first_fit = policy.backfill == "first_fit"
        rules.named = self.asked[SHARED]
        rules.overrun = policy.overrun_s
        return self.with_fillers(core)

    def with_fillers(self, core: FullCore) -> FullCore:
        """Return the core with what writes the keys of both orders."""
        if has(core, "second_order"):
            core = core._replace(second_order=core.second_order._replace(fill=self.second_order.fill))
        return core._replace(orders=core.orders._replace(fill=self.order.fill))


def scheme_of(
    policy: Policy,
    *,
    rigid: bool,
    united: bool = False,
    planned: bool = False,
    switched: bool = False,
    shared: bool = False,
    reserved: bool = False,
) -> Scheme:
    """Choose the loop.

    ``rigid``: every component has one placement and no shared resources; ``united``: some start by one plan;
    ``planned``: there is less of something from a known instant on, so that also fcfs has to look ahead;
    ``switched``: idle nodes are switched off, which only loops that plan can do; ``shared``: nodes are told
    apart, as jobs share them or a partition covers part of a module; ``reserved``: nodes are set aside for
    some users, for a time.

    Raises ConfigError for a dialect that is defined on rigid components only, and for one that switches no
    nodes off.
    """
    orders = (
        _order(str(policy.order), policy.order_function()),
        _order(str(policy.backfill_order or "fifo"), policy.backfill_order_function()),
    )
    asked = {
        PLACEMENTS: not rigid,
        UNITS: united,
        AHEAD: planned,
        SWITCHING: switched,
        SHARED: shared,
        RESERVED: reserved,
    }
    return Scheme(policy, _pass(policy, asked), *orders, asked)


def expansion(policy: Policy) -> dict[str, Any]:
    """Return the options with which placements are made for a policy."""
    slurm = policy.backfill == "slurm"
    return {
        "only_first": policy.placement == "preferred",
        "by_sets": policy.names_nodes,
        "beyond": policy.slurm.EnforcePartLimits if slurm else "ANY",
    }


def _pass(policy: Policy, asked: Mapping[str, bool]) -> str:
    """Name the first pass of its scheme that is for such a policy, and handles what the run needs."""
    needs = [need for need, is_asked in asked.items() if is_asked]
    if (name := _first(policy, needs)) is not None:
        return name
    problem = _problem(policy, needs)
    for those, what in ASKED_BY_JOBS.items():
        if those.intersection(needs) and _first(policy, [one for one in needs if one not in those]):
            raise BesideJobs(problem, what)
    raise ConfigError(problem)


ASKED_BY_JOBS = {
    frozenset({UNITS}): TOGETHER,
    frozenset({PLACEMENTS}): SEVERAL,
    frozenset({UNITS, PLACEMENTS}): TOGETHER,
}
"""What a run needs for the sake of some components, and what these ask for."""


def _first(policy: Policy, needs: Collection[str]) -> str | None:
    """The name of the first pass; None if there is none."""
    for one in policy.scheme.passes:
        as_defined = all(getattr(policy, key) == value for key, value in one.only.items())
        if as_defined and one.handles.issuperset(needs):
            return one.name
    return None


def _problem(policy: Policy, needs: Collection[str]) -> str:
    """Why there is no pass."""
    able = [one for one in policy.scheme.passes if one.handles.issuperset(needs)]
    if not able:
        return unable(policy.scheme, needs)
    one = able[-1]
    key = next(key for key, value in one.only.items() if getattr(policy, key) != value)
    told = {"reservation_depth": "depth"}.get(key, key)
    return (
        f"policy.{told}: found {getattr(policy, key)!r}; this dialect of {policy.backfill} is defined for"
        " components with one placement and no shared resources, on nodes that stay on and are not shared;"
        f" allowed here: {one.only[key]!r}"
    )


def _order(name: str, function: Callable[..., Any] | None) -> Order:
    dynamic = order.depends_on_time(name, function)
    return Order(
        _filler(name, function, dynamic), None if dynamic else partial(order.static_keys, name, function)
    )


@lru_cache(maxsize=64)
def _built_in(name: str) -> Any:
    """Take a filler from the cache on disk once a process: that costs as much as to simulate a few jobs."""
    return orders.built_in(name)


def filler_of(function: Callable[..., Any]) -> Any:
    """Return a user's function of the columns of orders as what the loop calls."""
    return _filler(str(function), function, True)


def _filler(name: str, function: Callable[..., Any] | None, dynamic: bool) -> Any:
    if not dynamic:
        return _built_in("static")
    if function is None:
        return _built_in(name)
    columns = {name: i for i, name in enumerate(order.COLUMNS)}
    columns |= {"now": orders.NOW_COLUMN, "wait": orders.WAIT_COLUMN}
    try:
        return orders.compiled(function, tuple(columns[p] for p in order.parameters_of(function)))
    except ConfigError:
        raise
    except Exception as error:  # the compiler's own errors come in many kinds
        first = str(error).strip().splitlines()[0] if str(error).strip() else ""
        raise ConfigError(
            f"function {getattr(function, '__name__', function)!r} cannot be compiled: {first}; "
            "allowed: plain arithmetic on its parameters and functions of math and numpy"
        ) from error
