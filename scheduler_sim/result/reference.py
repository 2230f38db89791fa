"""The reference page of a result directory, rendered from the tables that define it.

``python -m scheduler_sim.result.reference > docs/reference/result.md`` renews it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from scheduler_sim.result.check import INVARIANTS
from scheduler_sim.result.columns import (
    CLOCKED,
    COMPONENTS,
    DEVICES,
    LIMITED,
    OF_ARRAYS,
    PARTS,
    REASONS,
    RECORDED,
    REPAIRS,
    RESERVED,
    RUNS,
    SLOWED,
    SPREAD,
    SUSPENDED,
    SWITCHED,
    TIMELINE,
    USED,
    Column,
)

INTRODUCTION = """\
# Result directory

<!-- Rendered by `python -m scheduler_sim.result.reference`; a test keeps it current. -->

`scheduler-sim run --out DIR` and `Result.save(DIR)` write a directory; `Result.load(DIR)` reads it back.

| file | what |
|---|---|
| `components.parquet` | outcome of each component |
| `timeline.parquet` | nodes and queue of each module over time |
| `runs.parquet` | all runs of components that lost some: only where a requeue, a failure of nodes or \
preemption cost a run |
| `repairs.parquet` | what was changed in the trace when it was read: only where [something \
was](sources.md#tables) |
| `metrics.json` | summary of the run, see [metrics](metrics.md) |
| `manifest.json` | what was run: version, seed, system, policy, models, modules with their nodes, sha256 of \
every input, counts; names in the models that match nothing in this run (`unmatched`); with an energy model \
every figure of its power profile with its quality, and the work of applications without a signature |
| `run.log` | the only file that may hold times, hosts, paths and worker counts; from the command line only |

- All files are put in place, or none: they are written under hidden names in the directory and then renamed
  one by one; the old `manifest.json` is removed first and the new one comes last. If the process is killed,
  what remains is the older result, the new one, or one without a manifest, which no reader accepts and the
  next run overwrites. An older result is replaced; no other file in the directory is touched. A directory
  that contains anything but a result is refused; `--force` (`force=True`) writes into it. If two processes
  write at the same time, the second is refused.
- The same inputs and seed give the same bytes in every file but `run.log`. Measured floats, in the tables
  and in `metrics.json`, are rounded to 1e-6; those of the configuration, in `manifest.json`, are exact. In
  JSON, a missing value is `null`.
- Times are whole seconds on the trace's own clock. −1 means that something never happened, NaN that no
  model gave a value.
- Parquet files store text as dictionaries; pandas reads it as categoricals. Each file contains the version
  of pyarrow, so bytes can be compared only under the same version.
"""

WAITS = """\
The three waits sum to start − submit. After a component has become eligible, the time from one scheduling
pass to the next counts as `wait_resources` if at the end of the first pass none of its placements fits the
free nodes and resources of its module, and as `wait_priority` otherwise: then it waits for its turn, or
behind a reservation. Under policy slurm, on shared nodes, free nodes are not considered for this: there
`wait_priority` includes waiting for nodes.
"""

SLOWNESS = """\
While a component is slowed its run time and its limit grow. `power_w` and `frequency_khz` are those at
its own clock, that of its placement. `energy_j` is its actual energy: `power_w` × the rest of its run time,
plus the energy in the intervals of `slowed`. `runs` has the same two columns at its end; `energy_lost_j`
there is computed with `power_w`.
"""

SUSPENSION = """\
While a component is suspended it keeps its nodes and does not work. `run_time` is end − start as always, but
`energy_j`, its time limit and its node-seconds in the metrics cover only the time it worked. In the timeline
its nodes are `nodes_busy` while another component works on them, else `nodes_reserved_idle`: a node counts
once. Where nodes are shared, its cores are not in `cores_busy`; it keeps its memory and GPUs. Turns
([gang scheduling](slurm.md#gang-scheduling)) are suspensions, too. None of its work is lost. If it was
requeued by hand, that run is in `runs.parquet` with the same two columns at the end, and `lost_s` covers the
time it worked.
"""

ROWS = """\
There is a row at every instant at which a value of the module differs from the row before, with the values
after everything at that instant has been handled. Before the first row of a module all counts are 0. With
an energy model every module has a row at the first instant. A
component waits from `eligible_time` to `start_time` and counts in the module of its reservation, or else
of its first placement.
"""

LOST = """\
All runs of the components that ran more than once, lost their only run, or wrote
[checkpoints](../semantics.md#checkpoints); components that ran once, to their own end and without
checkpoints, are not included. With checkpoints, run time = work that was kept + `checkpoint_s` +
`restart_s` + `lost_s`.
`components` has the last run of each, with its waits since the submission. Without such
components there is no such file, no `runs` in the manifest and no block [`lost`](metrics.md#lost-work) in
the metrics, and `Result.runs` has no rows.
"""

CHECKS = """\
`Result.check()` runs the checks below, in this order, on the directory alone, and raises `InvariantError`
with the name of the first one that fails, the component or instant, and the two values that disagree.

- The module in which a component waited is known only if it had one placement: with
  `counts.several_placements` in the manifest above 0, `queue` checks only the total, and `queue-order`
  nothing. The tables do not say either how long the same work takes elsewhere: `work-done-once` checks each
  run separately.
- The nodes of its reservation are not known if models offer it several sizes: with `counts.several_sizes`
  above 0, `queue` checks only the number of components, not their nodes.
- Components that start by one plan may overtake others because of their appointments: with `counts.units`
  above 0, `queue-order` is left out.
- The tables do not show which jobs the policy's `may_start` kept from starting: with it, `queue-order` is
  left out.
- The tables do not contain the partition: if partitions differ in `priority`, `queue-order` is left out.
- The tables do not show when a component that lost a run was in the queue, or which parts of nodes that run
  had: with `counts.requeued` above 0, `queue`, `queue-order` and `parts-busy` are left out.
- They do not show the time that a component was in the queue before it was held, or what it asked for
  before an update of its partition or nodes: with `counts.held_back` or `counts.updated` above 0, `queue`
  and `queue-order` are left out.
- A limit may be set to less than a component has already run: with `counts.shortened` above 0, `time-limit`
  is left out. With which limit it started they do not show: with `counts.limits_changed` above 0, limits of
  minutes are left out.
"""


def page() -> str:
    """Render the page."""
    laws = [f"| `{name}` | {' '.join((law.__doc__ or '').split())} |" for name, law in INVARIANTS.items()]
    parts = [
        INTRODUCTION,
        "## components.parquet\n\nOne row per component, in trace order.\n",
        _table(COMPONENTS),
        "Under policy slurm there are these ([why it waited](../how-to/explain.md#under-policy-slurm)):\n",
        _table(REASONS),
        "Where [QOS or associations have limits](slurm.md#limits-of-qos-and-associations):\n",
        _table(LIMITED),
        "Where the system has [advance reservations](system.md#advance-reservations):\n",
        _table(RESERVED),
        "Where components may be suspended for others ([under slurm](slurm.md#preemption),"
        " [otherwise](policy.md#preemption)):\n",
        _table(SUSPENDED),
        SUSPENSION,
        "Where [a falling power cap slows running components](energy.md#slowing-what-runs):\n",
        _table(SLOWED),
        SLOWNESS,
        "Where [signatures tell what GPUs draw](energy.md#clocks-of-gpus):\n",
        _table(CLOCKED),
        "Where [jobs share nodes](system.md#nodes-that-jobs-share), or a partition covers part of a module;"
        " values that are not stated for nodes are 0:\n",
        _table(PARTS),
        "Where GPUs are individual devices (a component asks for a part, or the packing scores nodes):\n",
        _table(DEVICES),
        "On a system with a [topology](system.md#topology), with `node_list` if it is not there already:\n",
        _table(SPREAD),
        "Where the trace records when any component started ([how near is the simulation?]"
        "(../how-to/recorded.md)):\n",
        _table(RECORDED),
        "Where the trace has tasks of arrays (`explain DIR 30_1` finds one by them):\n",
        _table(OF_ARRAYS),
        "Further columns of the trace come after all others, with names that begin with `trace_`"
        " ([tables](sources.md#tables)): numbers as int64 or float64, everything else as text.\n",
        WAITS,
        "## timeline.parquet\n\nOne row per module (and `total`) and instant.\n",
        _table(TIMELINE),
        "Where idle nodes are switched off:\n",
        _table(SWITCHED),
        "Where jobs share nodes, or a partition covers part of a module:\n",
        _table(USED),
        ROWS,
        "## runs.parquet\n\nOne row per run, by component in trace order, then by time.\n",
        _table(RUNS),
        LOST,
        "## repairs.parquet\n\nOne row per change, by component in trace order.\n",
        _table(REPAIRS),
        "## Checks\n",
        CHECKS,
        "\n".join(["| check | what must hold |", "|---|---|", *laws]) + "\n",
    ]
    return "\n".join(parts)


def _table(columns: Sequence[Column]) -> str:
    rows = [f"| `{column.name}` | {column.dtype} | {column.unit} | {column.meaning} |" for column in columns]
    return "\n".join(["| column | type | unit | meaning |", "|---|---|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
