"""The reference page of a result directory, rendered from the tables that define it.

``python -m scheduler_sim.result.reference > docs/reference/result.md`` renews it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from scheduler_sim.result.check import INVARIANTS
from scheduler_sim.result.columns import (
    COMPONENTS,
    DEVICES,
    LIMITED,
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
| `components.parquet` | what became of each component |
| `timeline.parquet` | nodes and queue of each module over time |
| `runs.parquet` | all runs of components that lost some: only where a requeue, a failure of nodes or \
preemption cost a run |
| `repairs.parquet` | what was changed in the trace when it was read: only where [something \
was](sources.md#tables) |
| `metrics.json` | the numbers that sum up the run, see [metrics](metrics.md) |
| `manifest.json` | what was run: version, seed, system, policy, models, modules with their nodes, sha256 of \
every input, counts; names in the models that mean nothing in this run (`unmatched`); with an energy model \
every figure of its power profile with its quality, and the work of applications without a signature |
| `run.log` | the only file that may hold times, hosts, paths and worker counts; from the command line only |

- The files are put in place all or none: they are written under hidden names in the directory, then renamed
  one by one, `manifest.json` stepping aside first and coming last. Whatever kills that leaves the older
  result, the new one, or one without a manifest, which no reader takes for whole and the next run there
  writes over. An older result is replaced; no other file in the directory is touched. A directory that holds
  anything but a result is refused; `--force` (`force=True`) writes into it. Of two that write at the same
  time, the second is refused.
- The same inputs and seed give the same bytes in every file but `run.log`. Measured floats, in the tables and
  in `metrics.json`, are rounded to 1e-6; those of the configuration, in `manifest.json`, are exact. In JSON,
  what does not exist is `null`.
- Times are whole seconds on the trace's own clock. −1 stands for what never happened, NaN for a float
  that no model gave.
- Parquet files hold text as dictionaries; pandas reads it as categoricals. The version of pyarrow stands
  in each file, so bytes are compared under one version.
"""

WAITS = """\
The three waits sum to start − submit. After a component has become eligible, the time from one scheduling
pass to the next counts as `wait_resources` if at the end of the first pass none of its placements fits the
free nodes and resources of its module, and as `wait_priority` otherwise: then it waits for its turn, or
behind a reservation. Under policy slurm, on nodes that jobs share, nodes are not looked at for that: there
`wait_priority` is waiting for them, too.
"""

SLOWNESS = """While a component is slowed it does less: its run time and its limit grow. `power_w` and
`frequency_khz` are of its own clock, and `energy_j` is what it drew: `power_w` × the rest of its run time,
and what `slowed` says. The same two columns stand at the end of `runs`; `energy_lost_j` there is by
`power_w`.
"""

SUSPENSION = """\
While a component is suspended it keeps its nodes and does nothing. `run_time` is end − start as always, but
`energy_j`, its time limit and its node-seconds in the metrics are of the time it worked. In the timeline its
nodes are `nodes_busy` while another component works on them, else `nodes_reserved_idle`: a node counts once.
Nothing of its work is lost. If it was requeued by hand, that run is in `runs.parquet` with the same two
columns at the end, and `lost_s` is of what it worked.
"""

ROWS = """\
A row stands at every instant at which a value of its module differs from the row before, with the values
after everything at that instant has been handled. Before the first row of a module all counts are 0. With
an energy model every module has a row at the first instant. A
component waits from `eligible_time` to `start_time` and counts in the module of its reservation, or else
of its first placement.
"""

LOST = """\
All runs of the components that ran more than once, lost their only run, or wrote
[checkpoints](../semantics.md#checkpoints); what ran once and to its own end without any is not there. Of
those that write checkpoints, run time = work that was kept + `checkpoint_s` + `restart_s` + `lost_s`.
`components` has the last run of each, with its waits since the submission. Without such
components there is no such file, no `runs` in the manifest and no block [`lost`](metrics.md#lost-work) in
the metrics, and `Result.runs` has no rows.
"""

CHECKS = """\
`Result.check()` tests these laws from the directory alone, in this order, and raises `InvariantError` with
the name of the first one broken, the component or instant, and the two values that disagree.

- The module in which a component waited is known only if it had one placement: with
  `counts.several_placements` in the manifest above 0, `queue` looks at the total alone and `queue-order`
  at nothing. How long the same work takes elsewhere is not in the tables either: `work-done-once` looks at
  each run by itself.
- Nor are the nodes that its reservation had, if models offer it several sizes: with
  `counts.several_sizes` above 0, `queue` looks at the components alone, not at their nodes.
- Components that start by one plan may pass others by their appointments: with `counts.units` above 0,
  `queue-order` is left out.
- Who might not start at a time, by the policy's `may_start`, is in no table: with it, `queue-order` is left
  out.
- Nor is the partition: where partitions differ in `priority`, `queue-order` is left out.
- When a component that lost a run was in the queue is not in the tables, nor which parts of nodes that run
  had: with `counts.requeued` above 0, `queue`, `queue-order` and `parts-busy` are left out.
- Nor is the time that a component was in the queue before it was held, or what it asked for there before
  an update of its partition or nodes: with `counts.held_back` or `counts.updated` above 0, `queue` and
  `queue-order` are left out.
- A limit may be set to less than a component has run already: with `counts.shortened` above 0,
  `time-limit` is left out.
"""


def page() -> str:
    """Render the page."""
    laws = [f"| `{name}` | {' '.join((law.__doc__ or '').split())} |" for name, law in INVARIANTS.items()]
    parts = [
        INTRODUCTION,
        "## components.parquet\n\nOne row a component, in trace order.\n",
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
        "Where [a power cap that falls slows what runs](energy.md#slowing-what-runs):\n",
        _table(SLOWED),
        SLOWNESS,
        "Where [jobs share nodes](system.md#nodes-that-jobs-share), or a partition covers part of a module;"
        " what is not stated of nodes is 0:\n",
        _table(PARTS),
        "Where GPUs are told apart, as some component asks for a part of one or the packing scores nodes:\n",
        _table(DEVICES),
        "On a system with a [topology](system.md#topology), and `node_list` where there is none yet:\n",
        _table(SPREAD),
        "Where the trace records when any component started ([how near is the simulation?]"
        "(../how-to/recorded.md)):\n",
        _table(RECORDED),
        "Columns of the trace that none of ours are stand behind all others, with `trace_` before their names"
        " ([tables](sources.md#tables)): numbers as int64 or float64, all else as text.\n",
        WAITS,
        "## timeline.parquet\n\nOne row per module (and `total`) and instant.\n",
        _table(TIMELINE),
        "Where idle nodes are switched off there are these, too:\n",
        _table(SWITCHED),
        "Where jobs share nodes, or a partition covers part of a module:\n",
        _table(USED),
        ROWS,
        "## runs.parquet\n\nOne row a run, by component in trace order, then by time.\n",
        _table(RUNS),
        LOST,
        "## repairs.parquet\n\nOne row a change, by component in trace order.\n",
        _table(REPAIRS),
        "## Checks\n",
        CHECKS,
        "\n".join(["| law | what it says |", "|---|---|", *laws]) + "\n",
    ]
    return "\n".join(parts)


def _table(columns: Sequence[Column]) -> str:
    rows = [f"| `{column.name}` | {column.dtype} | {column.unit} | {column.meaning} |" for column in columns]
    return "\n".join(["| column | type | unit | meaning |", "|---|---|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
