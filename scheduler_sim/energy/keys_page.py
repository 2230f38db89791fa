"""The reference page on power profiles."""

from __future__ import annotations

from scheduler_sim.config.page import tables
from scheduler_sim.energy.keys import ProfileKeys

_INTRODUCTION = """\
# Power profiles

<!-- Rendered from the keys by `python -m scheduler_sim.energy.keys_page`. -->

A power profile states the power of the nodes of each module. A minimal profile:

```yaml
modules:
  - name: CM
    idle_w: 120
    typical_w: 345
    peak_w: 412
    reference_khz: 3200000
    pstates: {lowest_khz: 1200000, highest_khz: 3200000}
```

Every figure may say how good it is and where it comes from, by the keys of `modules[].idle_w`:
`idle_w: {value: 120, quality: measured, source: our meter}`. A bare number is a guess. Reports carry the
quality along. Powers are of one node, with its GPUs, in W; clocks are whole kHz. `configs/power/` has a
profile of the DEEP-EST prototype; [energy](energy.md) says what is made of it.
"""


def keys_page() -> str:
    """Return the page: one table for each mapping, the whole file first."""
    return f"{_INTRODUCTION}\n{tables(ProfileKeys)}"


if __name__ == "__main__":
    import sys

    sys.stdout.write(keys_page())
