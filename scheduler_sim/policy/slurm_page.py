"""The tables of docs/reference/slurm.md, rendered from the keys and from what is left out of Slurm."""

from __future__ import annotations

from typing import Any

from scheduler_sim.config.keys import Keys, words_for
from scheduler_sim.config.page import filled as page_with
from scheduler_sim.config.page import row
from scheduler_sim.policy.limits import AssociationLimits, LimitKeys, QosKeys
from scheduler_sim.policy.shares import AccountKeys, UserKeys
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.policy.slurm_releases import DIFFERENCES
from scheduler_sim.system.slurm_conf.ignored import HARMLESS, NOT_MODELLED, PARAMETERS

GROUPS = {
    "version": "Which Slurm",
    "SelectTypeParameters": "Nodes that jobs share",
    "TopologyPlugin": "Where nodes lie",
    "SuspendTime": "Power saving",
    "sched_interval": "Main scheduler",
    "bf_interval": "Backfill scheduler",
    "kill_invalid_depend": "Dependencies and limits",
    "PreemptType": "Preemption",
    "PriorityType": "Priorities",
    "clock": "The daemon",
    "fixed_nodes": "Rules that can be switched off",
}
"""Heading of each group of keys, by its first key."""

UNITS = {
    "s": "sched_interval batch_sched_delay bf_interval bf_window_linear bf_resolution bf_min_age_reserve"
    " KillWait PreemptExemptTime MessageTimeout SchedulerTimeSlice"
    " PriorityMaxAge PriorityCalcPeriod PriorityDecayHalfLife"
    " epoch epilog_s launch_s max_switch_wait SuspendTime SuspendTimeout ResumeTimeout power_save_interval"
    " killed_epilog_s limit_check_s starts_before_s requeue_delay_s requeue_delay cred_expire",
    "ms": "killed_epilog_ms main_wait_ms",
    "µs": "sched_min_interval",
    "minutes": "bf_window OverTimeLimit",
    "jobs": "default_queue_depth partition_job_depth bf_max_job_test bf_max_job_part bf_max_job_user"
    " bf_max_job_user_part bf_max_job_start bf_job_part_count_reserve",
    "tasks": "bf_max_job_array_resv",
    "nodes a minute": "SuspendRate ResumeRate",
    "times": "preempt_reorder_count",
    "MB": "DefMemPerCPU DefMemPerNode MaxMemPerCPU DefMemPerGPU",
    "cores": "DefCpuPerGPU",
    "records": "bf_node_space_size",
    "priority": "bf_min_prio_reserve",
}
EFFECTLESS = {
    "sched_min_interval": "below a second: the daemon runs its checks once a second",
    "kill_invalid_depend": "in SchedulerParameters: 22.05 reads it in DependencyParameters, where it has an"
    " effect",
}
"""Keys that may change no schedule, and when."""

MISSED = {
    "allow_zero_lic": "jobs that ask for licences that the site does not have",
    "bf_max_job_assoc": "a limit on the jobs of one association that are tried in a pass",
    "bf_busy_nodes": "reservations that prefer busy nodes to idle ones",
    "bf_licenses": "reservations of licences",
    "defer_batch": "interactive jobs that start at submission",
    "extra_constraints": "constraints of `--extra`",
    "ignore_prefer_validation": "features of `--prefer`",
    "permit_job_expansion": "jobs that grow while they run",
    "reduce_completing_frag": "`CompleteWait`, during which nothing starts while jobs complete",
    "sched_max_job_start": "a limit on the starts in one pass of the main scheduler",
    "time_min_as_soft_limit": "`--time-min`, which plans would use instead of the time limit",
}
"""What Slurm has the parameters for that are not modelled."""

_UNIT = {name: unit for unit, names in UNITS.items() for name in names.split()}


def filled(page: str) -> str:
    """Return the page with its tables rendered anew, each between its marks."""
    tables = {
        "keys": keys_tables,
        "accounts": accounts_table,
        "users": lambda: _table_of(UserKeys),
        "limits": limits_table,
        "qos": lambda: _table_of(QosKeys, without=LimitKeys),
        "releases": releases_table,
        "harmless": harmless_table,
        "missed": missed_table,
    }
    return page_with(page, tables)


def keys_tables() -> str:
    """Return all keys of ``policy.slurm``, a table a group."""
    settled = [SlurmKeys(version=version) for version in ("22.05", "19.05")]
    lines: list[str] = []
    for name in SlurmKeys.model_fields:
        if name in GROUPS:
            lines += [
                "",
                f"### {GROUPS[name]}",
                "",
                row(("key", "unit or values", "default", "19.05", "meaning")),
            ]
            lines.append("|---|---|---|---|---|")
        defaults = (_spelt(keys.settled(name)) for keys in settled)
        lines.append(row((f"`{name}`", _allowed(SlurmKeys, name), *defaults, _meaning(SlurmKeys, name))))
    return "\n".join(lines).strip()


def releases_table() -> str:
    """Return what differs between releases, with the source of each rule."""
    rows = [row((one.since, one.what, one.source)) for one in DIFFERENCES]
    return "\n".join([row(("since", "what", "source")), "|---|---|---|", *rows])


def accounts_table() -> str:
    """Return the keys of an account."""
    return _table_of(AccountKeys)


def limits_table() -> str:
    """Return the limits that a QOS and an association may have, then those of associations alone."""
    return _table_of(AssociationLimits)


def _table_of(model: type[Keys], without: type[Keys] = Keys) -> str:
    """Return the keys of a mapping, without those of another one."""
    rows = [
        row((f"`{name}`", _allowed(model, name), _spelt(info.default), _meaning(model, name)))
        for name, info in model.model_fields.items()
        if name not in without.model_fields
    ]
    return "\n".join([row(("key", "values", "default", "meaning")), "|---|---|---|---|", *rows])


def harmless_table() -> str:
    """Return the SchedulerParameters without which every schedule is the same, with the reason."""
    rows = [row((_names(why), why)) for why in dict.fromkeys(PARAMETERS.values()) if why in HARMLESS]
    rows += [row((f"`{name}`", why)) for name, why in EFFECTLESS.items()]
    return "\n".join([row(("parameter", "why")), "|---|---|", *rows])


def missed_table() -> str:
    """Return the SchedulerParameters that may change a schedule in Slurm and are no keys here."""
    others = (why for why in dict.fromkeys(PARAMETERS.values()) if why not in (*HARMLESS, NOT_MODELLED))
    rows = [row((_names(why), why)) for why in others if _names(why)]
    rows += [row((f"`{name}`", what)) for name, what in MISSED.items()]
    return "\n".join([row(("parameter", "what is missing")), "|---|---|", *rows])


def _names(why: str) -> str:
    found = (name for name, reason in PARAMETERS.items() if reason == why)
    return " ".join(f"`{name}`" for name in found if name not in SlurmKeys.model_fields)


def _allowed(model: type[Keys], name: str) -> str:
    if name in _UNIT:
        return _UNIT[name]
    return "by name, as below" if name in ("accounts", "users", "qos", "limits") else words_for(model, name)


def _meaning(model: type[Keys], name: str) -> str:
    return str(model.model_fields[name].description)


def _spelt(default: Any) -> str:
    if default is None or default in ((), {}) or isinstance(default, Keys):
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    path = Path(sys.argv[1])
    path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
