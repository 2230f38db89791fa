"""Energy and power in words: units that fit, the bill, and how good the figures are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_sim.report.wording import count, plain

QUALITIES = {
    "measured": "measured on such nodes",
    "scaled": "scaled from other nodes",
    "guess": "a guess",
}
WATT_HOURS = {1e9: "GWh", 1e6: "MWh", 1e3: "kWh", 1.0: "Wh"}
WATTS = {1e6: "MW", 1e3: "kW", 1.0: "W"}


def energy(joules: float) -> str:
    """Write an energy, given in J: ``12.3 kWh``."""
    return _with_unit(joules / 3600, WATT_HOURS)


def power(watts: float) -> str:
    """Write a power, given in W: ``12.3 kW``."""
    return _with_unit(watts, WATTS)


def energy_lines(found: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[str]:
    """Say what the facility takes and costs, and how far the watts can be believed.

    ``found`` is ``energy`` of the metrics, ``model`` that of the manifest.
    """
    parts = []
    if found.get("pue", 1) != 1:
        parts.append(f"with a PUE of {found['pue']:g}: {energy(found['facility_j'])}")
    if found.get("cost") is not None:
        parts.append(f"cost {found['cost']:,.2f}")
    if found.get("carbon_g") is not None:
        parts.append(f"{found['carbon_g'] / 1000:,.1f} kg of CO2")
    if parts:
        yield ", ".join(parts)
    if "above_cap_s" in found:
        seconds, joules = found["above_cap_s"], energy(found["above_cap_j"])
        yield (
            f"above the power cap for {seconds:,} s, by {joules}" if seconds else "never above the power cap"
        )
    yield f"power of components from: {_listed(model.get('power_from') or {})}"
    yield f"power profile {plain(model.get('profile'))}: {quality(model)}"


def quality(model: Mapping[str, Any]) -> str:
    """Say how many figures of a power profile are how good."""
    found = model.get("quality") or {}
    words = [f"{found[key]} {word}" for key, word in QUALITIES.items() if found.get(key)]
    return f"{count(sum(found.values()), 'figure')}, {', '.join(words)}"


def _listed(origins: Mapping[str, int]) -> str:
    return ", ".join(f"{plain(name)} {number:,}" for name, number in origins.items()) or "nothing ran"


def _with_unit(value: float, units: Mapping[float, str]) -> str:
    size = next((size for size in units if abs(value) >= size), min(units))
    return f"{value / size:.4g} {units[size]}"
