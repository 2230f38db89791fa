"""Power saving drawn at random, as keys and for the plain model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.oracle.plain_power_saving import Power

BOOT, STOP = 50, 7


def models(*names: str, boot: int = BOOT, stop: int = STOP, **more: Any) -> dict[str, Any]:
    """Energy models of modules whose nodes are alike: 10 W idle, 20 W as they boot, 5 W as they shut down."""
    node = {"idle_w": 10, "typical_w": 100, "peak_w": 100, "off_w": 1, "reference_khz": 1, "pstates_khz": [1]}
    node["boot"] = {"time_s": boot, "energy_j": 20 * boot}
    node["shutdown"] = {"time_s": stop, "energy_j": 5 * stop}
    power = {"modules": [{"name": name, **node} for name in names or ("cluster",)]}
    return {"energy": {"power": power, **more}}


@st.composite
def powers(draw: st.DrawFn, modules: Mapping[str, range]) -> tuple[Power, list[str]]:
    """When nodes of modules are powered down, and what of them stays on, as SuspendExcNodes has it."""
    words: list[str] = []
    never, kept = frozenset[int](), []
    for name, nodes in modules.items():
        how = draw(st.sampled_from(["", "", "all", "some"]))
        if how == "all":
            never |= {nodes[0]}
            words.append(f"{name}[0]")
        if how == "some" and len(nodes) > 1:
            kept.append((frozenset(nodes), 1))
            words.append(f"{name}:1")
    timeout = draw(st.integers(1, 70))
    power = Power(
        suspend_time=draw(st.sampled_from([0, 5, 30, 100])),
        suspend_timeout=timeout,
        boot=draw(st.integers(1, 90)),
        stop=draw(st.integers(1, timeout)),
        suspend_rate=draw(st.sampled_from([0, 60, 1, 2])),
        resume_rate=draw(st.sampled_from([0, 300, 1, 2])),
        interval=draw(st.sampled_from([10, 10, 1, 45])),
        never=never,
        kept=tuple(kept),
    )
    return power, words


def keys_of(power: Power, words: list[str]) -> dict[str, Any]:
    """The same as keys of ``policy.slurm``; boots and shutdowns are for models to say."""
    return {
        "SuspendTime": power.suspend_time,
        "SuspendTimeout": power.suspend_timeout,
        "SuspendRate": power.suspend_rate,
        "ResumeRate": power.resume_rate,
        "power_save_interval": power.interval,
        "SuspendExcNodes": words,
    }
