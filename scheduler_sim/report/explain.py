"""Why a component waited, told from a result alone.

The result holds what ran when, and the policy; the queue order, the fronts, their
shadow times and reservations are recomputed from that by the rules of the clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scheduler_sim.policy.order import MOVING
from scheduler_sim.report import reserved_wait, slurm_words
from scheduler_sim.report.component_named import row_named
from scheduler_sim.report.explanation import Dependency, Explanation, Phase, Request, Times, Wait
from scheduler_sim.report.fronts import MOST_LOOKS
from scheduler_sim.report.kept_for import kept_for
from scheduler_sim.report.licence_wait import short_licences
from scheduler_sim.report.module_view import ModuleView, ints, module_sizes, unix_start
from scheduler_sim.report.pending_words import never_starts
from scheduler_sim.report.replay import MULTIFACTOR, TIERS, TOP, Replay, Rules
from scheduler_sim.report.reserved_reasons import REFUSED, reserved_seconds
from scheduler_sim.report.shared_wait import amount_in_words, in_service, shared_wait, told_apart, unsure
from scheduler_sim.report.wording import REJECTED, plain
from scheduler_sim.result.node_use import capacities
from scheduler_sim.result.schedule import Schedule

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

UNTOLD = (
    "A result does not record what was free of everything that matters here: nodes"
    " out of service, licences, other resources of a node, or cores that several jobs"
    " have at once. So nothing is said about what it lacked."
)


def explain(result: Result, component_id: int | str) -> Explanation:
    """Explain the wait of one component.

    Parameters
    ----------
    result : of a run just made, or loaded from its directory
    component_id : as in the result's ``component_id`` column, or as Slurm writes it: 30_1 for task 1 of array
        30, 40+1 for component 1 of heterogeneous job 40

    Raises
    ------
    InputError
        If the result has no such component; near ids are named.
    """
    table = result.components
    row = row_named(table, component_id)
    policy = result.manifest.get("policy") or {}
    facts = {str(name): value for name, value in table.iloc[row].items()}
    submit = int(facts["submit_time"])
    start, eligible = int(facts["start_time"]), int(facts["eligible_time"])
    until = _waited_until(result, facts)
    said = Explanation(
        request=_request(facts, module_sizes(result.manifest)),
        times=Times(
            submit=submit,
            eligible=eligible,
            start=start,
            end=int(facts["end_time"]),
            waited_until=until,
            origin=int(ints(table, "submit_time").min()),
            unix_start=unix_start(result.manifest),
            suspended=int(facts.get("suspended_time", 0)),
        ),
        state=str(facts["state"]),
        policy=plain(policy.get("name") or policy.get("order") or "unnamed"),
        waits=_recorded_waits(facts),
        whole_nodes=not told_apart(result, str(facts["module"])),
    )
    under_slurm, reserved = "held_by" in facts, reserved_wait.is_reserved(result.manifest)
    because = reserved_wait.why_not(facts)
    if said.state == "REJECTED":
        why = because or _why_rejected(result, facts)
        if facts.get("limit_reason"):
            return replace(said, reason=f"{facts['limit_reason']}: {slurm_words.OF_LIMITS} at submission")
        told = REFUSED.get(str(facts.get("reservation_reason"))) or slurm_words.rejected_word(why)
        word = f"{told}: " if under_slurm else ""
        return replace(said, reason=word + why)
    if under_slurm and until > submit:
        said = replace(said, confined=slurm_words.confinement(facts, result.manifest))
    if eligible < 0:
        waits = (Wait("dependency", until - submit, 1.0),)
        return replace(
            said,
            waits=waits,
            reasons=slurm_words.reasons(facts, waits, 0, undivided=False) if under_slurm else (),
            reason=_why_never_eligible(result.manifest, facts, str(policy.get("backfill"))),
        )
    said = replace(said, notes=_of_its_job(result, facts))
    if eligible > submit:
        said = replace(said, dependency=_dependency(table, row, facts))
    unavailable = 0
    if until > eligible and reserved:
        notes = reserved_wait.notes(result.manifest, facts, said.times)
        said = replace(said, reason=because, notes=(*said.notes, *notes))
    elif until > eligible:
        said, unavailable = _with_replay(said, result, row, Rules.of(policy))
    if under_slurm:
        undivided = not said.whole_nodes and said.shortage is None
        beside = reserved_seconds(result.manifest, facts, eligible, until)
        words = slurm_words.reasons(facts, said.waits, unavailable, undivided=undivided, reserved=beside)
        said = replace(said, reasons=words, reason=said.reason or because or _why_never_starts(facts))
    return said


def _why_never_starts(facts: Mapping[str, Any]) -> str:
    """Say of one that waits for a limit at the end whether it can ever start under it."""
    word = str(facts.get("limit_reason") or "")
    if facts["state"] != "PENDING" or not never_starts(word):
        return ""
    return f"by itself it is beyond {word}: it never starts as long as this limit is as it is"


def _with_replay(said: Explanation, result: Result, row: int, rules: Rules) -> tuple[Explanation, int]:
    """Add what happened on the module between eligibility and start; return how long nodes lacked, s."""
    times, asked = said.times, said.request
    view = ModuleView.of(result, asked.module, times.eligible, times.waited_until)
    beside = None
    schedule = Schedule(result.components, result.timeline, result.metrics, result.manifest, result.runs)
    said = replace(said, licences=short_licences(schedule, row, times.eligible, times.waited_until))
    found = None
    if told_apart(result, asked.module):
        recorded = next((wait.seconds for wait in said.waits if wait.kind == "resources"), None)
        found = shared_wait(schedule, row, view, recorded)
        rules = rules.among(_priorities(result.manifest, asked.module))
        if found is None:
            passed = Replay.of(view, row, rules, result.components, times.origin).overtaking()
            return replace(said, overtaking=passed, notes=(*said.notes, *_of_order(rules), UNTOLD)), 0
        view = replace(view, able=in_service(found.able, view))
        said = replace(said, shortage=found.shortage(view, schedule, asked.nodes))
        said = replace(said, notes=(*said.notes, *unsure(schedule, view)))
        beside = found.beside
    if schedule.policy.get("backfill") == "slurm":
        said = replace(said, kept=kept_for(result, schedule, view, view.position(row), found))
    replay = Replay.of(view, row, rules, result.components, times.origin)
    phases = replay.phases()
    longest = sorted(phases, key=lambda phase: (-phase.seconds, phase.start))[:TOP]
    shown = [replay.judged(phase) for phase in sorted(longest, key=lambda phase: phase.start)]
    resources = sum(phase.resources for phase in phases)
    priority = sum(phase.priority for phase in phases)
    waits = said.waits or _shares(times.eligible - times.submit, priority, resources)
    if said.shortage and "node_shares" in result.components:
        waits = _divided(waits, resources)
    told = replace(
        said,
        waits=waits,
        arrival=replay.arrival(beside),
        phases=tuple(shown),
        phase_count=len(phases),
        phase_seconds=sum(phase.seconds for phase in phases),
        overtaking=replay.overtaking(),
        notes=(*said.notes, *_notes(rules, waits, resources, shown, len(view.instants()), said)),
    )
    return told, replay.unavailable()


def _priorities(manifest: Mapping[str, Any], module: str) -> set[int]:
    """Return the priorities that partitions of a module have."""
    partitions = (manifest.get("system") or {}).get("partitions") or []
    return {int(one.get("priority") or 0) for one in partitions if one.get("module") == module}


def _of_its_job(result: Result, facts: dict[str, Any]) -> tuple[str, ...]:
    """Say of a component of a heterogeneous job that it does not start by itself."""
    job = int(facts["modular_job_id"])
    slurm = (result.manifest.get("policy") or {}).get("backfill") == "slurm"
    count = int(np.count_nonzero(ints(result.components, "modular_job_id") == job))
    if count == 1 or not (slurm or (result.manifest.get("counts") or {}).get("units")):
        return ()
    text = f"It is one of {count:,} components of job {job}, which start together, once all have nodes"
    if slurm:
        return (
            f"{text}; only the backfill scheduler starts them, or reserves nodes for all if some have a"
            " delay.",
        )
    return (
        f"{text}. One with a delay gets an appointment when they do, and is eligible when that comes; one"
        " that waits for another of its own job starts by itself.",
    )


def _notes(
    rules: Rules,
    waits: tuple[Wait, ...],
    resources: int,
    shown: list[Phase],
    instants: int,
    said: Explanation,
) -> list[str]:
    """Say where this account is less than certain."""
    notes = _of_order(rules)
    if not notes and any(phase.front < 0 for phase in shown):
        notes.append(
            f"The queue order was {plain(rules.order)}, a function of the user's own: it cannot be recomputed"
            " from a result, so nothing is said about what stood before it or overtook it."
        )
    if rules.order in MOVING and instants > MOST_LOOKS:
        notes.append(
            f"The order {rules.order} changes with time; it was evaluated at {MOST_LOOKS:,} of"
            f" {instants:,} instants."
        )
    unexplained = any(phase.verdict and phase.verdict.rule == "other" for phase in shown)
    if unexplained and rules.scheme.passing and not rules.kept_back:
        scheme = rules.scheme
        notes.append(f"What may pass a blocked component under {scheme.name}: {scheme.passing}.")
    if rules.vetoes:
        notes.append(
            "A result does not record when the policy's may_start, a function of the user's"
            " own, kept it from starting; that wait counts as priority."
        )
    recorded = next(wait.seconds for wait in waits if wait.kind == "resources")
    if recorded != resources and not said.licences:
        notes.append(
            f"By the nodes of {said.request.module} alone the wait for resources would be {resources:,} s,"
            f" not {recorded:,} s: other placements of it, or shared resources such as licences, played a"
            " part."
        )
    return notes


def _of_order(rules: Rules) -> list[str]:
    """Say that the queue order is not in a result, if it is one that no result has."""
    known = {
        MULTIFACTOR: "The queue was in the order of Slurm's multifactor priorities, which a result does not"
        " record",
        TIERS: "Partitions of its module have different priorities, and a result does not record"
        " which component was in which",
    }
    nothing = ", so nothing is said about what stood before it or overtook it."
    return [known[rules.order] + nothing] if rules.order in known else []


def _request(facts: Mapping[str, Any], sizes: Mapping[str, int]) -> Request:
    module = str(facts["module"])
    return Request(
        component_id=int(facts["component_id"]),
        modular_job_id=int(facts["modular_job_id"]),
        name=str(facts["name"]),
        user=str(facts["user"]),
        app=str(facts["app"]),
        module=module,
        capacity=sizes.get(module, -1),
        nodes=int(facts["nodes"]),
        time_limit=int(facts["time_limit"]),
    )


def _waited_until(result: Result, facts: Mapping[str, Any]) -> int:
    """Return when the wait ended: at the start, the cancellation, or with the record."""
    if facts["start_time"] >= 0:
        return int(facts["start_time"])
    if facts["state"] in ("CANCELLED", "REJECTED"):
        return max(int(facts["end_time"]), int(facts["submit_time"]))
    table = result.components
    moments = [ints(table, column).max() for column in ("submit_time", "eligible_time", "end_time")]
    return int(max(moments))


def _recorded_waits(facts: Mapping[str, Any]) -> tuple[Wait, ...]:
    """Return the waits as the run recorded them; nothing for one that never started."""
    if facts["start_time"] < 0:
        return ()
    return _shares(int(facts["wait_dependency"]), int(facts["wait_priority"]), int(facts["wait_resources"]))


def _divided(waits: tuple[Wait, ...], resources: int) -> tuple[Wait, ...]:
    """Divide what Slurm's runs on shared nodes record as one: what it waited for nodes, and for its turn."""
    dependency, priority, licences = (wait.seconds for wait in waits)
    short = min(max(resources - licences, 0), priority)
    return _shares(dependency, priority - short, licences + short)


def _shares(dependency: int, priority: int, resources: int) -> tuple[Wait, ...]:
    whole = max(dependency + priority + resources, 1)
    return (
        Wait("dependency", dependency, dependency / whole),
        Wait("priority", priority, priority / whole),
        Wait("resources", resources, resources / whole),
    )


def _dependency(table: pd.DataFrame, row: int, facts: Mapping[str, Any]) -> Dependency:
    """Guess what it waited for: what ended at the very instant it became eligible."""
    ended = np.flatnonzero(ints(table, "end_time") == int(facts["eligible_time"]))
    ended = ended[ended != row]
    job = ints(table, "modular_job_id")[ended] == int(facts["modular_job_id"])
    user = (table["user"].iloc[ended] == facts["user"]).to_numpy()
    close = ended[job | user]
    likely = close if len(close) else ended
    return Dependency(tuple(ints(table, "component_id")[likely[:TOP]].tolist()))


def _why_rejected(result: Result, facts: Mapping[str, Any]) -> str:
    """Say which limit it broke, or what it asked for that no node has, as far as a result tells."""
    manifest, module, nodes = result.manifest, str(facts["module"]), int(facts["nodes"])
    sizes = module_sizes(manifest)
    if nodes > sizes.get(module, nodes):
        largest = max(sizes.values())
        elsewhere = " (no module has as many)" if nodes > largest else ""
        return f"it asked for {nodes:,} nodes, and {plain(module)} has {sizes[module]:,}{elsewhere}"
    beyond = "; ".join(reason for reasons in _beyond(manifest, facts) for reason in reasons)
    because = REJECTED.get(str(facts.get("rejected_because")))
    if because and not beyond:
        return f"it is one of those {because}{_largest(result, facts)}"
    return beyond or (
        "no placement can ever hold it; nodes, MaxNodes and MaxTime do not explain it, so memory, features,"
        " shared resources or another component of its job do"
    )


def _largest(result: Result, facts: Mapping[str, Any]) -> str:
    """Say what the largest node of its module has of what it asked too much of."""
    because, module = str(facts["rejected_because"]), str(facts["module"])
    kind = {"memory": "memory_kb", "cores": "cores", "gpus": "gpus"}.get(because)
    if kind is None:
        return ""
    schedule = Schedule(result.components, result.timeline, result.metrics, result.manifest, result.runs)
    most = int(capacities(schedule, module)[kind].max(initial=0))
    return f"; those of {plain(module)} have at most {amount_in_words(kind, most)}" if most else ""


def _why_never_eligible(manifest: Mapping[str, Any], facts: Mapping[str, Any], backfill: str) -> str:
    """Say what it waited for in vain; under policy slurm that may be other limits of its partition."""
    beyond = _beyond(manifest, facts) if backfill == "slurm" else []
    if beyond and all(beyond):
        reasons = "; ".join(reason for reasons in beyond for reason in reasons)
        return f"with EnforcePartLimits=NO a job beyond the limits of its partition waits for ever: {reasons}"
    return (
        "its dependency was never satisfied, it was never released, or its begin time is after the last event"
    )


def _beyond(manifest: Mapping[str, Any], facts: Mapping[str, Any]) -> list[list[str]]:
    """Return for each partition of its module which of the limits it is beyond."""
    nodes, limit = int(facts["nodes"]), int(facts["time_limit"])
    found = []
    for partition in (manifest.get("system") or {}).get("partitions") or []:
        if partition.get("module") != str(facts["module"]):
            continue
        most_nodes, most_time = partition.get("max_nodes"), partition.get("max_time")
        name = plain(partition.get("name"))
        reasons = []
        if most_nodes is not None and nodes > most_nodes:
            reasons.append(f"it asked for {nodes:,} nodes, above MaxNodes {most_nodes:,} of partition {name}")
        if most_time is not None and limit > most_time:
            reasons.append(
                f"its time limit of {limit:,} s is above MaxTime {most_time:,} s of partition {name}"
            )
        found.append(reasons)
    return found
