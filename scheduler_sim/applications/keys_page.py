"""The reference page on models files."""

from __future__ import annotations

from scheduler_sim.applications.keys import ModelsKeys
from scheduler_sim.config.page import tables

_INTRODUCTION = """\
# Models: run times, requests and power by module

<!-- Rendered from the keys by `python -m scheduler_sim.applications.keys_page`. -->

A models file says how long a component runs on each module, and what it asks for there:

```yaml
applications:
  reference: CM
  types:
    - {name: solver, percent: 60, ratios: {CM: 1, ESB: 4}}
    - {name: legacy, percent: 40, ratios: {CM: 1}}
```

A solver that runs 100 s on CM runs 25 s on ESB; legacy codes do not run there. It is given to `run
--models FILE`, to `simulate(..., models=...)`, and as `models` in a [study file](study.md).
`configs/models/` has the types of DEEP-EST, the conversions of its simulator, and four applications
that scale as published. Without models every module takes as long as the trace says.

A type may have a [profile](profile.md) instead of ratios, which says how it scales, and is **moldable**
by it:

```yaml
applications:
  sizes: powers_of_two
  floor: 0.7
  types:
    - {name: solver, apps: ["17"], profile: ../apps/solver.yaml}
    - {name: rest}
```


- **Whose type is what**: the application that the trace names (a type's name, one of its `apps`, or its
  number from 1; in any case), else drawn. A name that is no type is an error, unless `named: false`.
- **By which names an application is known**, wherever one is looked up, best first: what the trace calls
  it, its type's name, the type's `apps` in their order, the type's number. A number that is the name of
  a type, or one of its `apps`, is no other type's number. So a [signature](energy.md#in-a-simulation) is
  found under any of them, and each module takes the first that it has.
- **Names that mean nothing** in a run (types of which no component is, modules that the system does not
  have, signatures that no component has) change nothing, and are said: by `run` and `study`, in their
  reports, by name in `unmatched` of the manifest, by number in `counts`.
- **Times**: run time and time limit are multiplied, and rounded up to whole seconds. On the module of
  the trace they stay as they are. A time limit that the trace does not give is the partition's, as it
  is, else the run time there.
- **Ratios below 1** are speeds like all others: 0.5 takes twice as long. Table 7 of DEEP-EST deliverable
  D2.3 has 0.5 for a code that is "0.5 time slower"; `below_one: slower` takes that at its word: 1.5 times
  as long. It is the only reading under which the deliverable's ESB system waits less than its DAM system
  at the load of its workload, and [its study](../../analysis/modular_vs_homogeneous.md) has both. But it
  jumps: of a run of 1,000 s 1.01 makes 991 s, 0.99 makes 1,990 s and 0.5 makes 1,500 s. A run that
  reads ratios so has these numbers among its [warnings](metrics.md#warnings).
- **Profiles**: the run time in the trace is that on its own nodes of its own module, and stays to the
  bit; on n nodes of module m it is T · W(n, m) / W(own), as under [scaling
  models](scaling.md#run-times). The own size comes first in each partition, then the sizes that the
  profile offers there, rising: those with at least the least efficiency, up to the fastest. A component
  of a heterogeneous job keeps its size, as does an application that scales weakly. Conversions are not
  for types with a profile, and policy `slurm` takes `sizes: own` alone.
- **Problems of their own**: where a profile depends on the [size of the
  problem](scaling.md#several-parameters), each job has its own: what a column `problem_size` of the trace
  (a table, such as CSV or Parquet) states, else its type's `problem_size`, else the profile's `size`. The
  sizes worth offering are worked out for that problem. `clocks` says at which clock each module runs, for
  profiles that depend on it; the profile's nominal clock where nothing is said.
- **Which size**: what the [strategy](policy.md) of the policy ranks first, such as `placement:
  earliest_end`; a partition's MaxTime leaves out sizes whose limit is longer. `nodes` and `module` in
  `components.parquet` have the choice, `counts` in `metrics.json` how many could choose
  (`several_sizes`) and how many ran on fewer or more nodes than in their first placement (`resized`).
  [How to](../how-to/moldable-jobs.md).
- **What if**: `edits` change the profile, and so the run times of the whole trace: a kernel
  `accelerate`d, a serial phase `remove`d, a factor `replace`d (noise taken away: serialization by a
  constant 1), a component `move`d to another module, whatever partitions the trace names.
- **Nodes**: conversions change how many nodes a request has on another module, and its times once more.
- **Power and energy**: `energy` names a power profile; then the run counts joules, and P-states may be
  chosen by them. [Energy](energy.md) says how. It changes no schedule unless `choice`, `cap`, `shift` or
  `idle_off` is given.
- **Where it runs**: in one of the partitions that the trace names, or, with `modules: fastest_first`,
  that lead to a module its type has a ratio for. [Strategies](policy.md) choose among them. It never
  runs where its type has no ratio: one without any other place is REJECTED (`application`).
- **Checkpoints**: a type may say how its jobs write [checkpoints](../semantics.md#checkpoints), so that a
  run that is lost to a failure or a requeue costs what was done since the last. The best interval by Daly
  or Young is that of the nodes that the job has and of the [failures](system.md#failures) of their module;
  without these it is an error to ask for one. [How to](../how-to/failures.md).
- **Where the nodes lie**: a type may say how much longer its jobs take whose nodes [lie
  apart](../semantics.md#topology), on a system with a topology, under all policies but `slurm`. That is known
  as a job starts, on the nodes that it gets; time limits and plans do not change. Not for types with
  checkpoints.
- Time limits do not change during a run whose models change times: `update(time_limit=...)` and
  `extend_job: grant` are errors.
"""


def keys_page() -> str:
    """Return the page: one table for each mapping, the whole file first."""
    return f"{_INTRODUCTION}\n{tables(ModelsKeys)}"


if __name__ == "__main__":
    import sys

    sys.stdout.write(keys_page())
