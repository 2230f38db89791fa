"""The reference page on facilities."""

from __future__ import annotations

from scheduler_sim.config.page import tables
from scheduler_sim.energy.facility_keys import FacilityKeys

_INTRODUCTION = """\
# Facilities: from the nodes to the grid

<!-- Rendered from the keys by `python -m scheduler_sim.energy.facility_page`. -->

`energy.facility` of a [models file](applications.md) says what stands between the nodes and the grid: a file
(`configs/facilities/`), or its keys. It takes the place of `pue`. Schedules do not change; `facility_j`,
`conversion_j`, `cooling_j`, `max_facility_w`, cost and CO2 of the [metrics](metrics.md#energy) do.

- A device of a stage takes (load + `feeds_w` + `loss_w`) / `efficiency`. The load is what the nodes, or the
  devices of the stage before, take. There are as many devices as the nodes of a module need, all at work, and
  the load is spread evenly over them: with one efficiency that makes no difference, with a curve it does.
  Nodes that are switched off have their devices, too.
- Behind the conversion `fixed_w` is added; modules have their part of it by their nodes.
- Cooling multiplies by a PUE, which may follow the temperature outside: a series over time, as of
  [prices](energy.md#accounting). One that does not cover the schedule is an error.
- The price and the carbon intensity hold for all that the facility takes, at each instant.

With the figures of RAPS (Brewer et al., SC 2024), `configs/facilities/frontier.yaml` and
`configs/power/frontier.yaml`, the 9,472 nodes of Frontier take what RAPS itself says when it is run:

| nodes | RAPS, kW | here, kW |
|---|---|---|
| all idle | 7,306.52 | 7,306.52 |
| CPU at 33 %, GPUs at 79 % | 22,954.45 | 22,954.45 |
| all at their most | 28,227.88 | 28,227.88 |

RAPS was run at commit 6c142bf of 2026-08-18, with its load spread evenly over rectifiers. Its cooling is a
simulation of fluids, which is not here.
"""


def facility_page() -> str:
    """Return the page: one table for each mapping, the whole file first."""
    return f"{_INTRODUCTION}\n{tables(FacilityKeys)}"


if __name__ == "__main__":
    import sys

    sys.stdout.write(facility_page())
