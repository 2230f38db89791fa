"""What-ifs as edits of a profile: each returns another profile, which remembers what was measured."""

from __future__ import annotations

from dataclasses import replace

from scheduler_sim.config.problem import one_of
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import Constant, Curve
from scheduler_sim.scaling.profile import Profile
from scheduler_sim.scaling.tree import replaced


def with_factor(profile: Profile, factor: str, curve: Curve) -> Profile:
    """Give one factor another curve. InputError for a model of times, or a factor it has not."""
    if isinstance(profile.model, Curve):
        raise InputError(
            f"{profile.app}: found a model of times; allowed: a factor of a tree of efficiencies"
        )
    return replace(_edited(profile), model=replaced(profile.model, factor, curve))


def without_noise(profile: Profile, factor: str = "serialization") -> Profile:
    """Take away delays that come and go, which the hierarchy shows as serialization: the factor is 1.

    D2.3, sections 4.3 and 4.8: sporadic delays of computations add up along chains of messages.
    """
    return with_factor(profile, factor, Constant.of(value=1.0))


def accelerated(profile: Profile, share: float, by: float) -> Profile:
    """Make the kernel that takes this share of the run time ``by`` times faster; the rest stays."""
    if not 0 < share <= 1 or not by > 1:
        raise InputError(
            f"accelerate: found {share:g} by {by:g}; allowed: a share above 0 up to 1, by more than 1"
        )
    return replace(_edited(profile), time_factor=profile.time_factor * (1 - share + share / by))


def without_phase(profile: Profile, share: float) -> Profile:
    """Remove a serial phase that takes this share of the run time."""
    if not 0 < share < 1:
        raise InputError(f"remove: found {share:g}; allowed: a share above 0 and under 1")
    return replace(_edited(profile), time_factor=profile.time_factor * (1 - share))


def moved(profile: Profile, module: str) -> Profile:
    """Have it run on another module only. InputError for a module it cannot run on."""
    if module not in profile.speeds:
        raise InputError(f"{profile.app}: move: found {module!r}; {one_of(list(profile.speeds), module)}")
    return replace(_edited(profile), speeds={module: profile.speeds[module]})


def _edited(profile: Profile) -> Profile:
    return profile if profile.measured is not None else replace(profile, measured=profile)
