"""The reference page on models files."""

from __future__ import annotations

from scheduler_sim.applications.keys import ModelsKeys
from scheduler_sim.config.page import tables

_INTRODUCTION = """\
# Models: run times, requests and power by module

<!-- Rendered from the keys by `python -m scheduler_sim.applications.keys_page`. -->

A models file states how long a component runs on each module, and what it asks for there:

```yaml
applications:
  reference: CM
  types:
    - {name: solver, percent: 60, ratios: {CM: 1, ESB: 4}}
    - {name: legacy, percent: 40, ratios: {CM: 1}}
```

A solver that runs 100 s on CM runs 25 s on ESB; legacy codes do not run there. The file is given to `run
--models FILE`, to `simulate(..., models=...)`, and as `models` in a [study file](study.md).
`configs/models/` has the types of DEEP-EST, the conversions of its simulator, and four applications that
scale as published. Without models a job takes as long on every module as the trace says.

A type may have a [profile](profile.md) instead of ratios. The profile describes how it scales, and makes it
**moldable**:

```yaml
applications:
  sizes: powers_of_two
  floor: 0.7
  types:
    - {name: solver, apps: ["17"], profile: ../apps/solver.yaml}
    - {name: rest}
```


- **Type of a job**: the application named in the trace (a type's name, one of its `apps`, or its number
  from 1; ignoring case), else drawn at random. A name that is no type is an error, unless `named: false`.
- **Names of an application**, wherever one is looked up, in order of rank: its name in the trace, its
  type's name, the type's `apps` in their order, the type's number. A number that is the name of a type, or
  one of its `apps`, is no other type's number. So a [signature](energy.md#in-a-simulation) is found under
  any of them, and each module uses the first one that it has.
- **Names that match nothing** in a run (types without a component, modules that the system does not have,
  signatures that match no component) change nothing, and are reported: by `run` and `study`, in their
  reports, by name in `unmatched` of the manifest, by number in `counts`.
- **Times**: run time and time limit are multiplied, and rounded up to whole seconds. On the module of the
  trace they do not change. If the trace gives no time limit, it is the partition's, unchanged, else the run
  time there.
- **Ratios below 1** are speeds like all others: 0.5 takes twice as long. Table 7 of DEEP-EST deliverable
  D2.3 has 0.5 for a code that is "0.5 time slower"; `below_one: slower` takes this literally: 1.5 times as
  long. Only under this interpretation does the deliverable's ESB system wait less than its DAM system at the
  load of its workload, and [its study](../../analysis/modular_vs_homogeneous.md) shows both. But it is not
  continuous: for a run of 1,000 s, 1.01 gives 991 s, 0.99 gives 1,990 s and 0.5 gives 1,500 s. A run that
  uses this interpretation lists these numbers among its [warnings](metrics.md#warnings).
- **Profiles**: the run time in the trace is that on its own nodes of its own module, and does not change at
  all there; on n nodes of module m it is T · W(n, m) / W(own), as under [scaling
  models](scaling.md#run-times). In each partition its own size comes first, then the sizes that the profile
  offers there, from small to large: those with at least the minimum efficiency, up to the fastest.
  Components of a heterogeneous job keep their size, and so do applications with weak scaling. Conversions
  do not apply to types with a profile, and policy `slurm` allows only `sizes: own`.
- **Problem sizes**: if a profile depends on the [size of the problem](scaling.md#several-parameters), each
  job has its own: the column `problem_size` of the trace (a table, such as CSV or Parquet), else its type's
  `problem_size`, else the profile's `size`. The sizes offered are computed for that problem. `clocks` gives
  the clock of each module, for profiles that depend on it; by default it is the profile's nominal clock.
- **Choice of the size**: the [strategy](policy.md) of the policy decides, for instance `placement:
  earliest_end`. A partition's MaxTime excludes sizes with a longer limit. `nodes` and `module` in
  `components.parquet` show the choice, `counts` in `metrics.json` how many components could choose
  (`several_sizes`) and how many ran on fewer or more nodes than in their first placement (`resized`). [How
  to](../how-to/moldable-jobs.md).
- **What if**: `edits` change the profile, and so the run times of the whole trace: a kernel `accelerate`d,
  a serial phase `remove`d, a factor `replace`d (to remove noise, replace serialization by a constant 1), a
  component `move`d to another module, whatever partitions the trace names.
- **Nodes**: conversions change the number of nodes of a request on another module, and multiply its times
  again.
- **Power and energy**: `energy` names a power profile; the run then counts energy, and P-states may be
  chosen by it, see [energy](energy.md). This changes no schedule unless `choice`, `cap`, `shift` or
  `idle_off` is given.
- **Where a component runs**: in one of the partitions that the trace names, or, with `modules:
  fastest_first`, in those of modules for which its type has a ratio. [Strategies](policy.md) choose among
  them. It never runs where its type has no ratio; if no place is left it is REJECTED (`application`).
- **Checkpoints**: a type may define how its jobs write [checkpoints](../semantics.md#checkpoints), so that
  a run that is lost to a failure or a requeue loses only the work since the last one. The best interval by
  Daly or Young follows from the number of nodes of the job and the [failures](system.md#failures) of their
  module; without failures it is an error to ask for it. [How to](../how-to/failures.md).
- **Location of nodes**: a type may define how much longer its jobs take if their nodes [are far
  apart](../semantics.md#topology), on a system with a topology. That is
  known only when a job starts, on the nodes that it gets; time limits and plans do not change. It cannot be
  combined with checkpoints.
- If models change times, time limits cannot be changed during a run: `update(time_limit=...)` and
  `extend_job: grant` are errors.
"""


def keys_page() -> str:
    """Return the page: one table for each mapping, the whole file first."""
    return f"{_INTRODUCTION}\n{tables(ModelsKeys)}"


if __name__ == "__main__":
    import sys

    sys.stdout.write(keys_page())
