"""What a run drew and took, by module, and every figure it rests on with its quality."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scheduler_sim.report.column_unit import energy_unit, power_unit
from scheduler_sim.report.energy_words import QUALITIES, energy_lines
from scheduler_sim.report.html.markup import Markup, section, table, tag
from scheduler_sim.report.html.provenance import whole
from scheduler_sim.report.wording import plain

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

PARTS = {
    "job_j": "jobs", "idle_j": "idle nodes", "transition_j": "switching", "off_j": "off", "system_j": "all",
}  # fmt: skip
POWERS = {"mean_power_w": "mean power", "max_power_w": "peak"}


def energy_section(result: Result) -> list[Markup]:
    """Return the section on energy; nothing without an energy model."""
    found, model = result.metrics.get("energy") or {}, result.manifest.get("energy")
    if not model or found.get("system_j") is None:
        return []
    lines = [tag("li", line) for line in energy_lines(found, model)]
    note = (
        "Energy of jobs, of idle nodes, of switching nodes on and off, and of nodes that"
        " are off add up exactly to the total. Nodes out of service count as idle. The"
        " result is only as good as the figures below."
    )
    body = [_by_module(found), tag("ul", lines), tag("p", note, class_="note"), _figures(model)]
    return [section("energy", "Power and energy", body)]


def _by_module(found: Mapping[str, Any]) -> Markup:
    modules = {**found["modules"], "all modules": found}
    energies = {name: [one[key] for key in PARTS] for name, one in modules.items()}
    powers = {name: [one.get(key) for key in POWERS] for name, one in modules.items()}
    joules, watts = energy_unit(*energies.values()), power_unit(*powers.values())
    rows = [
        [plain(name), *map(joules.written, energies[name]), *map(watts.written, powers[name])]
        for name in modules
    ]
    header = [*map(joules.headed, PARTS.values()), *map(watts.headed, POWERS.values())]
    return table("Energy by module", ["module", *header], rows)


def _figures(model: Mapping[str, Any]) -> Markup:
    rows = [
        [
            plain(one["module"]),
            plain(one["figure"]),
            f"{one['value']:g} {one['unit']}".rstrip(),
            _range(one),
            QUALITIES.get(one["quality"], plain(one["quality"])),
            whole(one["source"]),
        ]
        for one in model.get("figures") or []
    ]
    header = ["module", "figure", "value", "may be", "quality", "source"]
    summary = tag("summary", f"Every figure of the power profile, and how good it is ({len(rows)})")
    return tag("details", summary, table("Figures of the power profile", header, rows, text=6))


def _range(one: Mapping[str, Any]) -> str:
    low, high = one.get("low"), one.get("high")
    return "" if low is None and high is None else f"{_number(low)} to {_number(high)}"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"
