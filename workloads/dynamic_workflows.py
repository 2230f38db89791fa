"""The ten traces of D2.3, section 3.4: 24 % and 33 % of the jobs in workflows, in five scenarios.

``python workloads/dynamic_workflows.py DIRECTORY`` writes them, one file a scenario and share. Within a
share all five are one base workload: the same components in the same rows.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scheduler_sim import Recipe, System, write_trace
from scheduler_sim.generation.generate import Generated
from scheduler_sim.generation.scenarios import SCENARIOS

HERE = Path(__file__).parent
SEED = 11
EXTENSION_PERCENT = {24: 13, 33: 20}
"""Probability that a component is followed by another one, for each share of jobs in workflows."""


def main(directory: Path) -> None:
    """Write the ten traces, and say how many jobs are in workflows."""
    prototype = System.from_yaml(HERE.parent / "configs" / "systems" / "deep-est-prototype.yaml")
    for share, extension in EXTENSION_PERCENT.items():
        recipe = Recipe.of(
            name=f"DEEP-EST workflows, {share} %",
            system=prototype,
            jobs=1000,
            modules=[{"name": "CM"}, {"name": "ESB"}, {"name": "DAM", "model": {"reduction_factor": 2}}],
            workflows={"extension_percent": extension, "max_components": 3},
        )
        generated = Generated(recipe, SEED)
        for scenario in SCENARIOS:
            name = f"workflows-{share}-{scenario.lower().replace('+', '-')}.mwf"
            write_trace(generated.scenario(scenario), directory / name)
        inside = generated.workflows.components() / len(generated.base.nodes)
        print(f"{share} %: {100 * inside:.1f} % of the jobs are in workflows")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
