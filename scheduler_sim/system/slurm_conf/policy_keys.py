"""The keys of ``policy.slurm`` in a slurm.conf, under Slurm's own names, times in seconds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_sim.system.slurm_conf.bounds import within_bounds
from scheduler_sim.system.slurm_conf.ignored import (
    ALSO_CORES,
    IN_TURN,
    LIMITS,
    OF_EACH_THREAD,
    OF_STEPS,
    OTHER_TOPOLOGY,
    ROUTES,
    RUNNING,
    SHARING,
    TRES,
    WEIGHED,
    why_ignored,
)
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes, note_within
from scheduler_sim.system.slurm_conf.values import (
    WITHIN_OR_PRIORITY,
    count,
    flag,
    idle_seconds,
    job_defaults,
    parameters,
    seconds,
    short_count,
    size_mb,
    unlimited_or,
    without_words,
)

SHORTEST_CREDENTIAL_S = 5
NO_LIMIT_MIN = 10**9  # minutes: longer than any trace
LISTS = ("SchedulerParameters", "DependencyParameters", "PreemptParameters")
_ONCE_OF_THE_SCHEDULER = ("reorder_count", "strict_order", "youngest_first")
"""Words of PreemptParameters that are ``preempt_...`` of SchedulerParameters in 22.05, and here."""
_ONLY_22_05_ELSEWHERE = ("kill_invalid_depend",)
OF_PREEMPTION = (
    *("PreemptType", "PreemptMode", "PreemptExemptTime"),
    *("preempt_reorder_count", "preempt_strict_order", "preempt_youngest_first"),
)
"""Keys that count where jobs are requeued or cancelled."""
OF_POWER_SAVING = (
    *("SuspendTime", "SuspendTimeout", "ResumeTimeout", "SuspendRate", "ResumeRate"),
    *("SuspendExcNodes", "SuspendExcParts", "power_save_interval"),
)
"""Keys that count where idle nodes are powered down."""
_LIMITING = ("limits", "2", "safe", "qos", "all")
_FLAGS_WITHOUT_EFFECT = {"CALCULATE_RUNNING": RUNNING}
_FLAGS_OF_LATER = {"MAX_TRES_GRES": "MAX_TRES"}
"""Flags of later versions, and what Slurm 22.05 reads in them."""
_TOPOLOGY_WITHOUT_EFFECT = {
    **dict.fromkeys(("ROUTEPART", "ROUTETREE", "SWITCHASNODERANK", "TOPOMAXSIZEUNROLL"), ROUTES),
    **dict.fromkeys(("NOCTLDINADDRANY", "NOINADDRANY"), ROUTES),
}
_SELECTED_WITHOUT_EFFECT = {
    "CR_PACK_NODES": OF_STEPS,
    "CR_CORE_DEFAULT_DIST_BLOCK": IN_TURN,
    "CR_ONE_TASK_PER_CORE": OF_EACH_THREAD,
    **dict.fromkeys(("LL_SHARED_GRES", "MULTIPLE_SHARING_GRES_PJ", "ONE_TASK_PER_SHARING_GRES"), SHARING),
    **dict.fromkeys(("ENFORCE_BINDING_GRES", "OTHER_CONS_RES", "OTHER_CONS_TRES"), SHARING),
}


def _time(text: str) -> int | str:
    found = seconds(text)
    return "UNLIMITED" if found is None else found


def _idle(text: str) -> int | str:
    found = idle_seconds(text)
    return "UNLIMITED" if found is None else found


def _minutes(text: str) -> int:
    found = seconds(text)
    return NO_LIMIT_MIN if found is None else -(-found // 60)


def _enforce(text: str) -> str:
    """YES is ANY (slurm.conf(5), EnforcePartLimits)."""
    if text.upper() in ("ANY", "ALL"):
        return text.upper()
    return "ANY" if flag(text) else "NO"


READERS: dict[str, Callable[[str], Any]] = {
    "SchedulerType": str.lower,
    "SelectType": str.lower,
    "EnforcePartLimits": _enforce,
    "OverTimeLimit": _minutes,
    "KillWait": short_count,
    "MessageTimeout": short_count,
    "SchedulerTimeSlice": short_count,
    "PreemptType": str.lower,
    "JobRequeue": flag,
    "PreemptExemptTime": lambda text: seconds(text) or 0,
    "AccountingStorageType": str.lower,
    "PriorityType": str.lower,
    "PriorityMaxAge": _time,
    "PriorityCalcPeriod": _time,
    "PriorityDecayHalfLife": _time,
    "PriorityUsageResetPeriod": str.upper,
    "PriorityFavorSmall": flag,
    "PriorityWeightAge": count,
    "PriorityWeightAssoc": count,
    "PriorityWeightFairshare": count,
    "PriorityWeightJobSize": count,
    "PriorityWeightPartition": count,
    "PriorityWeightQOS": count,
    "FairShareDampeningFactor": short_count,
    "SuspendTime": _idle,
    "SuspendTimeout": short_count,
    "ResumeTimeout": short_count,
    "SuspendRate": short_count,
    "ResumeRate": short_count,
    "SuspendExcNodes": str,
    "SuspendExcParts": str,
    "DefMemPerCPU": unlimited_or(size_mb),
    "DefMemPerNode": unlimited_or(size_mb),
    "MaxMemPerCPU": unlimited_or(size_mb),
    "DefCpuPerGPU": unlimited_or(count),
    "DefMemPerGPU": unlimited_or(size_mb),
}
"""How each key is read; a few more need their own rules below."""

OWN_RULES = (
    *("AccountingStorageEnforce", "PriorityFlags", "PriorityWeightTRES", "JobDefaults"),
    *("SelectTypeParameters", "TopologyPlugin", "TopologyParam", "PreemptMode", "AuthInfo"),
)

_SPELLING = {name.lower(): name for name in (*READERS, *LISTS, *OWN_RULES)}


def is_policy_key(pair: Pair) -> bool:
    """Tell whether a key of the whole file belongs to the policy."""
    return pair.key.lower() in _SPELLING


def read_policy_key(pair: Pair, notes: Notes) -> dict[str, Any]:
    """Return what one ``Key=Value`` says of the policy: usually one key, of a list several."""
    name = _SPELLING[pair.key.lower()]
    if name in LISTS:
        return _listed(pair, name, notes)
    if name == "AccountingStorageEnforce":
        return {name: _enforced(pair, notes)}
    if name == "PriorityFlags":
        return {name: _flags(_with_effect(pair, _FLAGS_WITHOUT_EFFECT, notes), pair, notes)}
    if name == "SelectTypeParameters":
        return {name: _selected(pair, notes)}
    if name == "TopologyPlugin":
        return _plugin(pair, notes)
    if name == "TopologyParam":
        return {name: _with_effect(pair, _TOPOLOGY_WITHOUT_EFFECT, notes)}
    if name == "PriorityWeightTRES":
        return _weighed(pair, name, notes)
    if name == "PreemptMode":
        note_within(pair, notes)
        return {name: without_words(pair.value, WITHIN_OR_PRIORITY).upper() or "OFF"}
    if name == "AuthInfo":
        return _credential(pair, notes)
    if name == "JobDefaults":
        return notes.read(pair, job_defaults, dict[str, Any]())
    found = notes.read(pair, READERS[name], None)
    return {} if found is None else {name: found}


def _listed(pair: Pair, name: str, notes: Notes) -> dict[str, Any]:
    """Each parameter of a list by its own name."""
    nothing: dict[str, int | str | bool] = {}
    found = {key.lower(): value for key, value in notes.read(pair, parameters, nothing).items()}
    if name == "SchedulerParameters":
        for key in _ONLY_22_05_ELSEWHERE:
            if key in found:
                notes.ignore(pair, why_ignored("parameter", key), key=key, value="")
                del found[key]
    if name == "PreemptParameters":
        found = {f"preempt_{key}" if key in _ONCE_OF_THE_SCHEDULER else key: found[key] for key in found}
    return found if name == "DependencyParameters" else within_bounds(found, pair, notes)


def _enforced(pair: Pair, notes: Notes) -> str:
    """All words count for what is charged; that some limit which jobs may run is noted."""
    words = pair.value.replace(" ", "").lower()
    for word in words.split(","):
        if word in _LIMITING:
            notes.ignore(pair, LIMITS, value=word)
    return words


def _plugin(pair: Pair, notes: Notes) -> dict[str, str]:
    """How nodes lie together; other plugins than those that are modelled are noted."""
    word = pair.value.strip().lower()
    if word in ("topology/none", "topology/default", "topology/flat"):
        return {"TopologyPlugin": "topology/none"}
    if word not in ("topology/tree", "topology/block"):
        notes.ignore(pair, OTHER_TOPOLOGY)
        return {}
    return {"TopologyPlugin": word}


def _selected(pair: Pair, notes: Notes) -> str:
    """The words that say what is given out, among them one for cores."""
    words = _with_effect(pair, _SELECTED_WITHOUT_EFFECT, notes).split(",")
    if not any(word.startswith(("CR_CPU", "CR_CORE", "CR_SOCKET")) for word in words):
        notes.ignore(pair, ALSO_CORES)
        words = [
            *(word for word in words if word != "CR_MEMORY"),
            "CR_CORE" + "_MEMORY" * ("CR_MEMORY" in words),
        ]
    return ",".join(filter(None, words))


def _credential(pair: Pair, notes: Notes) -> dict[str, int]:
    """How long a credential is valid, and with it how long a requeued job waits (interfaces/cred.c 127)."""
    found = re.search(r"cred_expire=([0-9]{0,9})", pair.value)
    if found is None:
        return {}
    if int(found[1] or 0) < SHORTEST_CREDENTIAL_S:
        notes.ignore(pair, f"less than {SHORTEST_CREDENTIAL_S} s, so Slurm takes its default")
        return {}
    return {"cred_expire": int(found[1])}


def _flags(kept: str, pair: Pair, notes: Notes) -> str:
    for later, read in _FLAGS_OF_LATER.items():
        if later in kept.split(","):
            notes.ignore(pair, f"Slurm 22.05 reads {read} in it", value=later)
            kept = kept.replace(later, read)
    return kept


def _with_effect(pair: Pair, without: Mapping[str, str], notes: Notes) -> str:
    """The words of a list but those that change nothing here, which are noted."""
    kept = []
    for word in filter(None, (part.strip().upper() for part in pair.value.split(","))):
        if word in without:
            notes.ignore(pair, without[word], value=word)
        else:
            kept.append(word)
    return ",".join(kept)


def _weighed(pair: Pair, name: str, notes: Notes) -> dict[str, str]:
    """Weights of the resources that count; nothing where none does."""
    kept = []
    for part in filter(None, (part.strip() for part in pair.value.split(","))):
        resource, equals, _ = part.partition("=")
        if equals and resource.strip().lower() not in WEIGHED:
            notes.ignore(pair, TRES, value=part)
        else:
            kept.append(part)
    return {name: ",".join(kept)} if kept else {}
