"""The reference page on recipes."""

from __future__ import annotations

from scheduler_sim.config.page import tables
from scheduler_sim.generation.keys import RecipeKeys

_INTRODUCTION = """\
# Recipes

<!-- Rendered from the keys by `python -m scheduler_sim.generation.keys_page`. -->

A recipe is a YAML file that describes how a trace is generated; with the seed it determines every byte. A
minimal recipe:

```yaml
modules: [{name: cluster, nodes: 128, jobs: 1000}]
```

A key that is absent, or has no value, has its default. Unknown keys are errors; mistakes are listed together,
each with its line: first those of single keys, then, once each is right by itself, those between keys.
`workloads/` has ready recipes; [how to generate traces](../how-to/generate.md) shows them at work, and
[workload models](models.md) has the laws.
"""


def keys_page() -> str:
    """Return the page: one table for each mapping, the whole file first."""
    return f"{_INTRODUCTION}\n{tables(RecipeKeys)}"


if __name__ == "__main__":
    import sys

    sys.stdout.write(keys_page())
