"""Which compiled loop a policy needs, and the policy as the numbers that loop reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scheduler_sim.engine import drive, orders
from scheduler_sim.engine import state as slot
from scheduler_sim.engine.jit import COMPILED, is_cached
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy import order
from scheduler_sim.policy.policy import Policy

STRATEGIES = {
    "preferred": slot.PREFERRED,
    "first_available": slot.FIRST_AVAILABLE,
    "earliest_start": slot.EARLIEST_START,
    "earliest_end": slot.EARLIEST_END,
    "least_cost": slot.LEAST_COST,
}


@dataclass(frozen=True)
class Scheme:
    """A policy made ready to run: the loop, the fillers of its keys, the order functions."""

    policy: Policy
    loop: Callable[..., None]
    filler: Any
    second_filler: Any
    dynamic: bool
    second_dynamic: bool
    order_function: Callable[..., Any] | None
    second_function: Callable[..., Any] | None
    united: bool
    planned: bool
    switched: bool

    def run(self, core: slot.Core, until: int, steps: int) -> None:
        """Let the loop work on every instant before ``until``, at most up to so many steps in all."""
        self.loop(core, self.filler, self.second_filler, until, steps)

    def write_rules(self, core: slot.Core, *, complex_components: bool) -> None:
        """Write the policy into the core's rules."""
        policy, rules = self.policy, core.rules
        rules[slot.DEPTH] = policy.reservation_depth
        rules[slot.STRATEGY] = STRATEGIES[policy.placement]
        rules[slot.ONE_EVENT] = policy.passes == "event"
        rules[slot.EXTRA] = policy.extra_rule
        rules[slot.STATIC_SHADOW] = policy.shadow == "static"
        rules[slot.BY_RUN] = policy.candidate_time == "run"
        rules[slot.DYNAMIC] = self.dynamic
        rules[slot.TWO_ORDERS] = 0 if policy.backfill_order is None else 1 + self.second_dynamic
        rules[slot.COMPLEX] = complex_components
        rules[slot.FIRST_FIT] = policy.backfill == "first_fit"
        rules[slot.RESERVED] = policy.delay == "reserved"
        rules[slot.EXTEND] = policy.extend_job == "grant"
        rules[slot.OVERRUN] = policy.overrun_s
        rules[slot.SWITCHING] = self.switched


def scheme_of(
    policy: Policy, *, rigid: bool, united: bool = False, planned: bool = False, switched: bool = False
) -> Scheme:
    """Choose the loop.

    ``rigid``: every component has one placement and no shared resources; ``united``: some start by one plan;
    ``planned``: there is less of something from a known instant on, so that also fcfs has to look ahead;
    ``switched``: idle nodes are switched off, which only loops that plan can do.

    Raises ConfigError for a dialect that is defined on rigid components only, and for one that switches no
    nodes off.
    """
    function, second = policy.order_function(), policy.backfill_order_function()
    name, second_name = str(policy.order), str(policy.backfill_order or "fifo")
    dynamic = order.depends_on_time(name, function)
    second_dynamic = order.depends_on_time(second_name, second)
    return Scheme(
        policy,
        _loop(policy, rigid and not united, united or planned, switched),
        _filler(name, function, dynamic),
        _filler(second_name, second, second_dynamic),
        dynamic,
        second_dynamic,
        function,
        second,
        united,
        planned,
        switched,
    )


def expansion(policy: Policy) -> dict[str, Any]:
    """Return the options with which placements are made for a policy."""
    slurm = policy.backfill == "slurm"
    return {
        "only_first": policy.placement == "preferred",
        "by_sets": policy.names_nodes,
        "beyond": policy.slurm.EnforcePartLimits if slurm else "ANY",
    }


def needs_compiling(policy: Policy) -> bool:
    """Whether running this policy will first compile its loop (about ten seconds, once)."""
    return is_to_compile(scheme_of(policy, rigid=True))


def is_to_compile(scheme: Scheme) -> bool:
    """Whether the loop of a scheme is yet to be compiled on this machine."""
    return COMPILED and not is_cached(scheme.loop.__name__)


def _loop(policy: Policy, rigid: bool, plans: bool, switched: bool) -> Callable[..., None]:
    if policy.backfill == "slurm" and switched:
        raise ConfigError(
            "policy.backfill: found 'slurm' where idle nodes are switched off; allowed here: none, easy,"
            " conservative, first_fit"
        )
    if policy.backfill == "slurm":
        return drive.drive_slurm
    if policy.reservation_depth == 0 and not (plans or switched):
        return drive.drive_greedy
    if policy.replan == "keep":
        return drive.drive_keep
    if policy.reservation_depth == 1 and rigid and not switched:
        return drive.drive_easy
    if policy.shadow != "dynamic":
        raise ConfigError(
            f"policy.shadow: found {policy.shadow!r}; this dialect of EASY is defined for components with "
            "one placement and no shared resources, on nodes that stay on; allowed here: 'dynamic'"
        )
    return drive.drive_plan


@lru_cache(maxsize=64)
def _built_in(name: str) -> Any:
    """Take a filler from the cache on disk once a process: that costs as much as to simulate a few jobs."""
    return orders.built_in(name)


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
            f"order function {getattr(function, '__name__', function)!r} cannot be compiled: {first}; "
            "allowed: plain arithmetic on its parameters and functions of math and numpy"
        ) from error
