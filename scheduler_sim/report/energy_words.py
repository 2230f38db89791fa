"""Energy and power in words: units that fit, the bill, and how good the figures are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_sim.report.wording import count, percent, plain

QUALITIES = {
    "measured": "measured on such nodes",
    "scaled": "scaled from other nodes",
    "guess": "a guess",
}
GROUPS = {
    "size": "user, application and size",
    "application": "user and application",
    "user": "user",
    "all": "nothing but the mean of all",
}
WATT_HOURS = {1e9: "GWh", 1e6: "MWh", 1e3: "kWh", 1.0: "Wh"}
MOST_LISTED = 5
"""Applications named in a sentence."""

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
    if found.get("pue") not in (None, 1):
        parts.append(f"with a PUE of {found['pue']:.4g}: {energy(found['facility_j'])}")
    if "conversion_j" in found:
        parts.append(f"of which conversion {energy(found['conversion_j'])}")
        parts.append(f"cooling {energy(found['cooling_j'])}, at most {power(found['max_facility_w'])}")
    if found.get("cost") is not None:
        parts.append(f"cost {found['cost']:,.2f} {plain(model.get('currency') or '')}".rstrip())
    if found.get("carbon_g") is not None:
        parts.append(f"{found['carbon_g'] / 1000:,.1f} kg of CO2")
    if parts:
        yield ", ".join(parts)
    if "above_cap_s" in found:
        seconds, joules = found["above_cap_s"], energy(found["above_cap_j"])
        yield (
            f"above the power cap for {seconds:,} s, by {joules}" if seconds else "never above the power cap"
        )
    yield f"source of the power of components: {_origins(found, model)}"
    if levels := model.get("learnt_from"):
        listed = (f"{GROUPS.get(name, plain(name))} {number:,}" for name, number in levels.items())
        yield f"learnt power of components by {', '.join(listed)}"
    if without := model.get("without_signature"):
        yield f"applications without a signature, of the node-seconds: {_applications(without, found)}"
    yield f"power profile {plain(model.get('profile'))}: {quality(model)}"


def quality(model: Mapping[str, Any]) -> str:
    """Say how many figures of a power profile are how good."""
    found = model.get("quality") or {}
    words = [f"{found[key]} {word}" for key, word in QUALITIES.items() if found.get(key)]
    return f"{count(sum(found.values()), 'figure')}, {', '.join(words)}"


def _origins(found: Mapping[str, Any], model: Mapping[str, Any]) -> str:
    """Say how many components have their power from where, and how much of the work that is."""
    shares = {name: one.get("share") for name, one in (found.get("power_from") or {}).items()}
    listed: list[str] = []
    for name, number in (model.get("power_from") or {}).items():
        share = shares.get(name.replace(" ", "_"))
        of = "" if listed else " of the node-seconds"
        listed.append(f"{plain(name)} {number:,}" + ("" if share is None else f" ({percent(share)}{of})"))
    return ", ".join(listed) or "nothing ran"


def _applications(work: Mapping[str, int], found: Mapping[str, Any]) -> str:
    """List applications by the share of all work that they were, the most first."""
    total = sum(one["node_seconds"] for one in (found.get("power_from") or {}).values())
    told = (percent(seconds / total) if total else f"{seconds:,} s" for seconds in work.values())
    listed = [f"{plain(name) or 'no name'} ({share})" for name, share in zip(work, told, strict=True)]
    more = len(listed) - MOST_LISTED
    return ", ".join(listed[:MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _with_unit(value: float, units: Mapping[float, str]) -> str:
    size = next((size for size in units if abs(value) >= size), min(units))
    return f"{value / size:.4g} {units[size]}"
