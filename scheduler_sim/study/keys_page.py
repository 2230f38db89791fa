"""The reference page on study files."""

from __future__ import annotations

from scheduler_sim.config.page import tables
from scheduler_sim.study.keys import StudyKeys

_INTRODUCTION = """\
# Study files

<!-- Rendered from the keys by `python -m scheduler_sim.study.keys_page`. -->

A study runs all combinations of systems, workloads, policies, parameters and seeds. A minimal study:

```yaml
systems: [cluster.yaml]
workloads: [trace.swf]
policies: [fcfs, easy]
```

Paths start from the study file. A workload is a trace, run once, or a recipe (`.yaml`), run for every
seed. A policy is a name, a file, or keys; `{policy: easy, set: {policy.depth: 2}}` changes some.
`configs/studies/` has ready studies; [how to study](../how-to/study.md) shows them at work. `models` are
those of a [models file](applications.md). With `search` the study finds the [best mix of
modules](../how-to/best-mix.md) for a budget: there is one system, whose modules have prices, and one
recipe; the number of seeds is the search's own.
"""


def keys_page() -> str:
    """Return the page: one table for each mapping, the whole file first."""
    return f"{_INTRODUCTION}\n{tables(StudyKeys)}"


if __name__ == "__main__":
    import sys

    sys.stdout.write(keys_page())
