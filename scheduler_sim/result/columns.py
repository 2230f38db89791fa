"""The columns of a result, as data: name, type, unit, meaning.

The writers, the loader, the checks and ``docs/reference/result.md`` all read this
table; a column is added or changed here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from scheduler_sim.texts import TextColumn, is_text_column

NEVER = -1
"""Stands in int64 columns for what never happened or is not known."""

TOTAL = "total"
"""The name under which the timeline gives the whole system."""

STATES = ("COMPLETED", "TIMEOUT", "FAILED", "CANCELLED", "REJECTED", "PENDING", "PREEMPTED")


Columns: TypeAlias = "Mapping[str, Any] | pd.DataFrame"
"""A table of a result by its columns: arrays, text as :class:`TextColumn`; a DataFrame is one."""


Dtype = Literal["int64", "float64", "text"]


@dataclass(frozen=True, slots=True)
class Column:
    """One documented column of a table; ``text`` is a categorical in a DataFrame."""

    name: str
    dtype: Dtype
    unit: str
    meaning: str


COMPONENTS = (
    Column("modular_job_id", "int64", "", "the job this component belongs to"),
    Column("component_id", "int64", "", "number of the component; in SWF the job number"),
    Column("name", "text", "", "name of the job or component in the trace; empty if it has none"),
    Column("user", "text", "", "user who submitted it, as in the trace; empty if not known"),
    Column("app", "text", "", "the application it runs, as in the trace; empty if not known"),
    Column("module", "text", "", "where it ran; if it never started, module of its first placement"),
    Column("nodes", "int64", "nodes", "nodes held; if it never started, nodes of its first placement"),
    Column("frequency_khz", "int64", "kHz", "P-state of its nodes; −1 without an energy model"),
    Column("submit_time", "int64", "s", "when it was submitted"),
    Column(
        "eligible_time",
        "int64",
        "s",
        "when it became eligible: from then on it waited only for nodes, resources and its turn",
    ),
    Column("start_time", "int64", "s", "when it started; −1 if it never did"),
    Column(
        "end_time",
        "int64",
        "s",
        "when it ended; if CANCELLED while waiting, when that was; otherwise −1 if it never started",
    ),
    Column("time_limit", "int64", "s", "requested time, which the scheduler plans with"),
    Column("run_time", "int64", "s", "as simulated: end − start; −1 if it never started"),
    Column("state", "text", "", "one of " + ", ".join(STATES)),
    Column("wait_dependency", "int64", "s", "eligible − submit; −1 if it never started"),
    Column(
        "wait_priority",
        "int64",
        "s",
        "waited after eligibility though a placement would have fitted; −1 if it never started",
    ),
    Column(
        "wait_resources",
        "int64",
        "s",
        "waited after eligibility while no placement fitted the free nodes and resources of its module;"
        " −1 if it never started",
    ),
    Column("power_w", "float64", "W", "mean power over its run, all its nodes; NaN without an energy model"),
    Column("energy_j", "float64", "J", "power × run time; NaN without an energy model"),
)
"""``components``: one row a component, in the order of the trace file."""

REASONS = (
    Column("partition", "text", "", "where it ran; if it never started, the first it asked for"),
    Column("nodes_able", "int64", "nodes", "nodes of that partition that have what it asked for"),
    Column(
        "rejected_because",
        "text",
        "",
        "why it was rejected, as in `counts.rejected_because`; empty if it was not",
    ),
    Column(
        "asked",
        "text",
        "",
        "generic resources and licences it asked for in all, in Slurm's notation:"
        " `gres/gpu:a100=2,license/cfd=1`",
    ),
    Column(
        "held_by", "text", "", "list of what keeps, or kept, it from being eligible, in the words of `squeue`"
    ),
    Column(
        "wait_array",
        "int64",
        "s",
        "waited after eligibility while its array ran as many tasks as allowed; −1 if it never started",
    ),
    Column(
        "wait_licences",
        "int64",
        "s",
        "waited after eligibility while too few of its licences were free; −1 if it never started",
    ),
)
"""Further columns of ``components``, at its end, in a run under policy slurm."""

LIMITED = (
    Column("account", "text", "", "the account it is charged to; `root` without one"),
    Column("qos", "text", "", "its QOS, its association's default if it named none"),
    Column(
        "limit_reason",
        "text",
        "",
        "the last limit of a QOS or an association that held it, rejected it or ended it,"
        " in the words of `squeue`",
    ),
    Column(
        "wait_limit",
        "int64",
        "s",
        "time waited (up to now if it still waits) while such a limit held it at the last"
        " check of the schedulers; this time also counts in the other waits. Passes that start nothing may be"
        " left out (`accelerate`, the default), so it may be wrong by the time from one pass to the next",
    ),
    Column(
        "limit_waits",
        "text",
        "",
        "the same for each limit by itself, in s, in the words of `squeue`:"
        " `QOSMaxJobsPerUserLimit=60,AssocGrpCpuLimit=30`; empty if none held it",
    ),
)
"""... where QOS or associations have limits."""

RESERVED = (
    Column("reservation", "text", "", "the advance reservation that it names"),
    Column(
        "reservation_reason",
        "text",
        "",
        "why it was rejected, or waits for ever, because of it: `access denied`, `no such"
        " reservation`, `reservation is gone`, `does not fit in its reservation`",
    ),
)
"""... where the system has advance reservations."""

SUSPENDED = (
    Column("suspended_time", "int64", "s", "how long it was suspended for other jobs since its start"),
    Column("suspended", "text", "", "intervals of suspension, s: `40-65,90-100`; empty if there were none"),
)
"""... where components may be suspended, at the end of ``runs`` as well."""

SLOWED = (
    Column("slowed_time", "int64", "s", "how long it ran below its own clock because of a power cap"),
    Column(
        "slowed",
        "text",
        "",
        "intervals in which it was slowed, s, with the power of its nodes, W:"
        " `40-65:350.5,70-90:300`; empty if there were none",
    ),
)
"""... where a power cap that falls slows what runs, at the end of ``runs`` as well."""

CLOCKED = (
    Column("gpu_frequency_khz", "int64", "kHz", "clock of its GPUs; 0 where signatures tell nothing of them"),
)
"""... where signatures tell what the GPUs of a node draw."""

RECORDED = (
    Column("recorded_wait", "int64", "s", "start − submit as recorded in the trace; −1 if it records none"),
    Column("recorded_run_time", "int64", "s", "run time as recorded in the trace; −1 if it records none"),
)
"""... where the trace records when components started."""

OF_ARRAYS = (
    Column("array_job_id", "int64", "", "the array it is a task of; −1 if of none"),
    Column("array_task_id", "int64", "", "which of its tasks; −1 if of none"),
)
"""... where the trace has tasks of arrays."""

TIMELINE = (
    Column("time", "int64", "s", "instant from which the values hold, until the next row of this module"),
    Column("module", "text", "", f"name of a module, or `{TOTAL}` for the whole system"),
    Column("nodes_busy", "int64", "nodes", "nodes that run a component"),
    Column(
        "nodes_reserved_idle",
        "int64",
        "nodes",
        "nodes on which nothing runs, held for a certain component or by a suspended component",
    ),
    Column("nodes_down", "int64", "nodes", "nodes out of service (failed or drained)"),
    Column("queue_components", "int64", "components", "components that are eligible and wait"),
    Column("queue_nodes", "int64", "nodes", "sum of the nodes of their placements"),
    Column("power_w", "float64", "W", "power of all nodes, including idle ones; NaN without an energy model"),
)
"""``timeline``: one row per module (and ``total``) and instant at which a value changes."""

SWITCHED = (
    Column("nodes_off", "int64", "nodes", "nodes that are switched off"),
    Column("nodes_booting", "int64", "nodes", "nodes on their way from off to idle"),
    Column("nodes_stopping", "int64", "nodes", "nodes on their way from idle to off"),
)
"""Further columns of ``timeline``, at its end, in a run that switches idle nodes off."""


NODE_LIST = Column(
    "node_list", "text", "", "its nodes, numbered from 0 in the module: `0-3,7`; empty if it never ran"
)

PARTS = (
    Column(
        "cores",
        "float64",
        "cores",
        "cores held on all its nodes; while it waits, requested; 0 if rejected",
    ),
    Column(
        "memory_kb",
        "int64",
        "KB",
        "memory held on all its nodes; while it waits, requested; 0 if rejected",
    ),
    Column(
        "gpus",
        "float64",
        "GPUs",
        "GPUs held on all its nodes; while it waits, requested; 0 if rejected",
    ),
    NODE_LIST,
    Column("exclusive", "int64", "", "1 if it has exclusive nodes, or asks for them; else 0"),
    Column(
        "able_list",
        "text",
        "",
        "nodes that have what it asks for when idle, numbered likewise: nodes of its partition that are large"
        " enough and have its features and generic resources; with several placements, those of all of them"
        " on its module",
    ),
)
"""Further columns of ``components``, at its end, in a run in which jobs share nodes."""

SHARES = (
    Column(
        "node_shares",
        "text",
        "",
        "its share of each node, in the order of `node_list`, for each resource of which it differs: "
        "`cores=7,1;gpus=1,0`",
    ),
    Column(
        "gres",
        "text",
        "",
        "generic resources it held on all its nodes beside GPUs, and GPUs of each type where nodes have"
        " several: `gpu:a100=2,tmp=20`",
    ),
)
"""Further columns behind those under Slurm, which deals what a component asks for in all to its nodes."""

DEVICES = (
    Column(
        "gpu_list",
        "text",
        "",
        "GPUs that it had on each of its nodes, numbered from 0, in the order of the"
        " nodes: `0-1;3`; empty for a node on which it had none",
    ),
)
"""A further column of ``components``, at its end, in a run in which GPUs are told apart."""

SPREAD = (
    Column("leaves", "int64", "", "leaf switches, or base blocks, that its nodes are on; 0 if it never ran"),
    Column(
        "groups",
        "int64",
        "",
        "switches of the next level, or groups of a dragonfly, that its nodes are under; 0 where there is no"
        " such level",
    ),
    Column(
        "hops",
        "int64",
        "",
        "largest number of [links between the leaves](metrics.md#topology) of two of its"
        " nodes; 0 on one leaf",
    ),
)
"""Further columns of ``components``, at its end, in a run on a system with a topology.

Where nodes are whole under Slurm ``node_list`` stands before them.
"""

USED = (
    Column(
        "cores_busy",
        "float64",
        "cores",
        "cores allocated to jobs; a core that several jobs have counts once for each",
    ),
    Column("memory_busy_kb", "int64", "KB", "memory allocated to jobs"),
    Column("gpus_busy", "float64", "GPUs", "GPUs allocated to jobs"),
)
"""Further columns of ``timeline``, at its end, in a run in which jobs share nodes."""

BUSY = {"cores": "cores_busy", "memory_kb": "memory_busy_kb", "gpus": "gpus_busy"}
"""What components have of nodes, and the column of the timeline that counts it."""


REQUEUED, NODE_FAIL = "REQUEUED", "NODE_FAIL"
"""How runs end that were lost, besides ``PREEMPTED``: by an operator, and with a node."""

RUNS = (
    Column("component_id", "int64", "", "the component, in the order of `components`"),
    Column("run", "int64", "", "number of the run of this component, from 1"),
    Column("module", "text", "", "where it ran"),
    Column("nodes", "int64", "nodes", "nodes held"),
    Column("parts", "int64", "nodes / 10⁶", "nodes held; for shared nodes the part of each that it had"),
    Column("cores", "float64", "cores", "cores held on all its nodes; NaN where nodes are only counted"),
    Column("start_time", "int64", "s", "when it started"),
    Column("end_time", "int64", "s", "when it ended"),
    Column(
        "state",
        "text",
        "",
        f"how it ended: {REQUEUED} by an operator, {NODE_FAIL}, PREEMPTED; otherwise the state of its"
        " component, of which it was the last run",
    ),
    Column(
        "work_s",
        "int64",
        "s",
        "work left at its start, at the speed of these nodes; −1 without checkpoints",
    ),
    Column("checkpoint_s", "int64", "s", "time spent on completed checkpoints"),
    Column("restart_s", "int64", "s", "time spent on restarting from a checkpoint"),
    Column(
        "lost_s",
        "int64",
        "s",
        f"time lost, if the run was not the last or ended {NODE_FAIL} or PREEMPTED: all of it except time"
        " for checkpoints and restarts and the work up to its last checkpoint; 0 for other runs",
    ),
    Column("node_seconds_lost", "float64", "node-seconds", "parts / 10⁶ × lost_s"),
    Column("power_w", "float64", "W", "mean power over the run, all its nodes; NaN without an energy model"),
    Column("energy_lost_j", "float64", "J", "power × lost_s; NaN without an energy model"),
)
"""``runs``: all runs of the components that ran more than once, lost their only one, or wrote checkpoints."""


CARRIED = "trace_"
"""Begins the names of columns that are carried on from a trace, behind all others."""

REPAIRS = (
    Column("component_id", "int64", "", "the component"),
    Column("line", "int64", "", "its line in the trace; −1 if rows are not lines"),
    Column("kind", "text", "", "what was impossible"),
    Column("field", "text", "", "the column that was changed"),
    Column("found", "int64", "", "the value found"),
    Column("made", "int64", "", "the value used instead"),
)
"""``repairs``: what was changed in the trace when it was read, a row a change."""


class Further(NamedTuple):
    """Which further columns the tables of a result have.

    Attributes
    ----------
    reasons : why components wait under Slurm
    switched : nodes that are switched off
    shared : parts of nodes that jobs share
    devices : which GPUs they had
    limited : limits of QOS and associations
    reserved : advance reservations
    suspended : components that are suspended for others
    runs : whether there is a table of runs, as some were lost
    spread : over how many leaves of a topology their nodes are spread
    recorded : when components started by the trace
    carried : columns of the trace that none of the workload's are: (name, dtype) of each
    slowed : components that a power cap slows
    clocked : clocks of GPUs
    arrays : of which arrays components are tasks
    """

    reasons: bool = False
    switched: bool = False
    shared: bool = False
    devices: bool = False
    limited: bool = False
    reserved: bool = False
    suspended: bool = False
    runs: bool = False
    spread: bool = False
    recorded: bool = False
    carried: tuple[tuple[str, Dtype], ...] = ()
    slowed: bool = False
    clocked: bool = False
    arrays: bool = False

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Further:
        """Return those of a result, by its manifest."""
        energy = manifest.get("energy") or {}
        return cls(
            bool(manifest.get("reasons")),
            bool(energy.get("switched") or manifest.get("switched")),
            bool(manifest.get("shared_nodes")),
            bool(manifest.get("devices")),
            bool(manifest.get("limited")),
            bool(manifest.get("reserved")),
            bool(manifest.get("suspended")),
            bool(manifest.get("runs")),
            bool(manifest.get("topology")),
            bool(manifest.get("recorded")),
            tuple((manifest.get("carried") or {}).items()),
            bool(manifest.get("slowed")),
            bool(energy.get("gpu_clocks")),
            bool(manifest.get("arrays")),
        )


def component_columns(further: Further) -> tuple[Column, ...]:
    """Return the columns of ``components`` in a run."""
    dealt = further.reasons and further.shared
    return (
        COMPONENTS
        + REASONS * further.reasons
        + LIMITED * further.limited
        + RESERVED * further.reserved
        + SUSPENDED * further.suspended
        + SLOWED * further.slowed
        + CLOCKED * further.clocked
        + PARTS * further.shared
        + SHARES * dealt
        + DEVICES * further.devices
        + (NODE_LIST,) * (further.spread and not further.shared)
        + SPREAD * further.spread
        + RECORDED * further.recorded
        + OF_ARRAYS * further.arrays
        + tuple(Column(name, dtype, "", "as in the trace") for name, dtype in further.carried)
    )


def run_columns(further: Further) -> tuple[Column, ...]:
    """Return the columns of ``runs`` in a run."""
    return RUNS + SUSPENDED * further.suspended + SLOWED * further.slowed


def timeline_columns(further: Further) -> tuple[Column, ...]:
    """Return the columns of ``timeline`` in a run."""
    return TIMELINE + SWITCHED * further.switched + USED * further.shared


def frame(columns: Mapping[str, Any], table: Sequence[Column]) -> pd.DataFrame:
    """Build a result table from its columns without copying what already has the right type.

    Parameters
    ----------
    columns : mapping of name to array of equal length. Text may be a TextColumn, a pandas Categorical
        or any sequence of str. Float columns may be left out: NaN. Nothing else may.
    table : ``COMPONENTS`` or ``TIMELINE``.
    """
    unknown = set(columns) - {column.name for column in table}
    if unknown:
        raise ValueError(f"not columns of this table: {', '.join(sorted(unknown))}")
    rows = len(columns[table[0].name])
    built: dict[str, Any] = {}
    for column in table:
        if column.dtype == "float64" and column.name not in columns:
            built[column.name] = not_known(rows)
        elif column.dtype == "text":
            built[column.name] = _as_categorical(columns[column.name])
        else:
            built[column.name] = np.asarray(columns[column.name], dtype=column.dtype)
    return pd.DataFrame(built, copy=False)


def column_problems(data: pd.DataFrame, table: Sequence[Column]) -> list[str]:
    """Say in what the columns of a table differ from the documented ones; empty if in nothing."""
    found, wanted = list(data.columns), [column.name for column in table]
    problems = [f"column {name} is missing" for name in wanted if name not in found]
    problems += [f"column {name} is unknown" for name in found if name not in wanted]
    if problems:
        return problems
    if found != wanted:
        return [f"columns are in the order {', '.join(found)} instead of {', '.join(wanted)}"]
    for column, dtype in zip(table, data.dtypes, strict=True):
        fits = is_text(data[column.name]) if column.dtype == "text" else dtype == np.dtype(column.dtype)
        if not fits:
            problems.append(f"column {column.name} is {dtype} instead of {column.dtype}")
    return problems


def not_known(rows: int) -> np.ndarray:
    """Return a column of NaN: what is not known without an energy model."""
    return np.full(rows, np.nan)


def numbers(table: Columns, name: str) -> np.ndarray:
    """Return a column of numbers: int64[rows] or float64[rows]."""
    values: np.ndarray = np.asarray(table[name])
    return values


def is_text(values: pd.Series) -> bool:
    """Tell whether a column holds text, categorical or plain."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.cat.categories.to_series()
    return len(values) == 0 or pd.api.types.is_string_dtype(values.dtype)


def rows_named(values: Any, name: str) -> np.ndarray:
    """Tell for each row of a text column, of a table or of columns, whether it is ``name``.

    Returns
    -------
    bool[rows]
    """
    column = getattr(values, "array", values)  # of a series
    if not is_text_column(column):
        return np.asarray(column == name, dtype=bool)
    rows: np.ndarray = TextColumn.of(column) == name
    return rows


def _as_categorical(values: Any) -> Any:
    column = getattr(values, "array", values)  # of a series
    return column if isinstance(column, pd.Categorical) else TextColumn.of(column).categorical()
