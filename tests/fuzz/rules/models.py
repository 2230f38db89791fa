"""Small models: application types, power of nodes, what is made of it."""

from __future__ import annotations

from typing import Any

from tests.fuzz.rules.draw import Setting

Keys = dict[str, Any]
PSTATES = [1_000_000, 1_500_000, 2_000_000]


def models(of: Setting, system: Keys) -> Keys | None:
    """Draw models, as the keys of their file; None without any."""
    made: Keys = {}
    modules = system["modules"]
    if of.has("ratios") or of.has("checkpoints") or of.has("spread") or of.has("moldable"):
        made["applications"] = _applications(of, [one["name"] for one in modules])
    if any(of.has(rule) for rule in ("energy", "power_saving", "power_cap", "tariff", "pstates")):
        made["energy"] = _energy(of, modules)
    return made or None


def _applications(of: Setting, names: list[str]) -> Keys:
    draw = of.draw
    rules = [rule for rule in ("ratios", "checkpoints", "spread", "moldable") if of.has(rule)]
    types = [
        {"name": f"t{number}", "percent": 50, **_type(of, draw.choice(rules), names)} for number in (0, 1)
    ]
    made: Keys = {"named": False, "types": types}
    made["reference"] = names[0] if any("ratios" in one for one in types) else "own"
    if any("profile" in one for one in types):
        made["sizes"] = draw.pick("offered", "powers_of_two", "own")
    return made


def _type(of: Setting, rule: str, names: list[str]) -> Keys:
    draw = of.draw
    if rule == "ratios":
        return {"ratios": {name: 1 if name == names[0] else draw.pick(1, 2, 0.5) for name in names}}
    if rule == "checkpoints":
        times = {"interval": draw.pick(4, 20), "cost": draw.pick(0, 1, 3), "restart": draw.pick(0, 2)}
        return {"checkpoint": {name: time * of.scale for name, time in times.items()}}
    if rule == "spread":
        return {"spread": {"by": draw.pick("leaves", "groups", "hops"), "percent": draw.pick(10, 50, 100)}}
    profile: Keys = {"version": 1, "app": "solver", "scaling": "strong"}
    profile["modules"] = {name: draw.pick(1.0, 1.5, 0.75) for name in names}
    profile["speedup"] = {"curve": "downey", "A": 8, "sigma": 0.8}
    return {"profile": profile | {"nodes": {"floor": 0.2}}}


def _energy(of: Setting, modules: list[Keys]) -> Keys:
    draw = of.draw
    made: Keys = {"power": {"modules": [_power(of, one["name"]) for one in modules]}}
    nodes = sum(one["nodes"] for one in modules)
    if of.has("power_saving"):
        made["idle_off"] = {"timeout_s": of.time(1, 5, 30, 100), "min_awake": draw.pick(0, 0, 1, 2)}
    if of.has("power_cap"):
        watts = [nodes * (100 + draw.pick(20, 60, 120)) for _ in range(3)]
        times = [of.first, of.first + 40 * of.scale, of.first + 90 * of.scale]
        made["cap"] = {"power_w": draw.pick(watts[0], {"time": times, "value": watts})}
        if not of.slurm:
            made["cap"] |= draw.some({"pstates": [3], "slow_running": [True]}, 0.35)
    if of.has("pstates"):
        objective = draw.pick("min_energy", "sum_of_squares")
        made["choice"] = {"objective": objective, "slowdown": draw.pick(0.05, 0.5)}
    if of.has("tariff"):
        times = [of.first, of.first + 50 * of.scale, of.first + 10**7 * of.scale]
        made |= {"price": {"time": times, "value": [1.0, 0.2, 0.5]}, "currency": "EUR"}
        made["shift"] = {"by": "price", "bound_s": 100 * of.scale}
    return made


def _power(of: Setting, name: str) -> Keys:
    draw = of.draw
    made: Keys = {"name": name, "idle_w": draw.pick(50, 100, 100.5), "peak_w": 1000, "pstates_khz": PSTATES}
    made |= {"typical_w": draw.pick(150, 200, 340.25), "reference_khz": PSTATES[-1]}
    if of.has("power_saving"):
        made["off_w"] = draw.pick(0, 1, 10)
        made["boot"] = {"time_s": draw.pick(1, 5, 50), "energy_j": draw.pick(100, 5000)}
        made["shutdown"] = {"time_s": draw.pick(1, 7), "energy_j": draw.pick(0, 10, 100)}
    return made | draw.some({"node_sigma": [0.05, 0.2]}, 0.1)
