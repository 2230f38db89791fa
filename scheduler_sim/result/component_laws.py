"""What holds for the components of every schedule. Each law returns its breach in words, or None."""

from __future__ import annotations

import numpy as np

from scheduler_sim.result.columns import NEVER, STATES, column_problems
from scheduler_sim.result.columns import component_columns as columns_of_components
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import value_at

Breach = str | None


def component_columns(schedule: Schedule) -> Breach:
    """The components have exactly the documented columns and types."""
    columns = columns_of_components(schedule.further)
    return "; ".join(column_problems(schedule.components, columns)) or None


def known_states(schedule: Schedule) -> Breach:
    """Every state is one of the documented ones."""
    row = _first(~schedule.in_state(*STATES))
    if row is None:
        return None
    return f"{schedule.name(row)} is {schedule.components['state'].iloc[row]!r}, which is no state"


def known_modules(schedule: Schedule) -> Breach:
    """A component that ran did so on a module of the system, on at least one node and no more than it has."""
    size = np.zeros(len(schedule.components), dtype=np.int64)
    for module, nodes in schedule.modules.items():
        size[schedule.in_module(module)] = nodes
    used = schedule.of("nodes")
    row = _first(schedule.ran & ((used > size) | (used < 1)))
    if row is None:
        return None
    module = schedule.components["module"].iloc[row]
    return f"{schedule.name(row)} ran on {used[row]} nodes of {module!r}, which has {size[row]}"


def started_or_not(schedule: Schedule) -> Breach:
    """COMPLETED, TIMEOUT, FAILED and PREEMPTED started; REJECTED and PENDING did not."""
    must, never = (
        schedule.in_state("COMPLETED", "TIMEOUT", "FAILED", "PREEMPTED"),
        schedule.in_state("REJECTED", "PENDING"),
    )
    row = _first((must & ~schedule.ran) | (never & schedule.ran))
    if row is None:
        return None
    state = schedule.components["state"].iloc[row]
    return f"{schedule.name(row)} is {state} and its start_time is {schedule.of('start_time')[row]}"


def never_started(schedule: Schedule) -> Breach:
    """A component that did not start has −1 for end (unless CANCELLED), run time and waits."""
    waiting = ~schedule.ran
    for column in ("end_time", "run_time", "wait_dependency", "wait_priority", "wait_resources"):
        wrong = waiting & (schedule.of(column) != NEVER)
        if column == "end_time":
            wrong &= ~schedule.in_state("CANCELLED")
        row = _first(wrong)
        if row is not None:
            return (
                f"{schedule.name(row)} never started and its {column} is {schedule.of(column)[row]}, not −1"
            )
    return None


def time_order(schedule: Schedule) -> Breach:
    """Submit ≤ eligible ≤ start ≤ end."""
    submit, eligible, start, end = (
        schedule.of(f"{name}_time") for name in ("submit", "eligible", "start", "end")
    )
    ever_eligible, ran = schedule.ran | (eligible != NEVER), schedule.ran
    cancelled = ~ran & (end != NEVER)
    for earlier, later, mask, words in (
        (submit, eligible, ever_eligible, ("submitted", "eligible")),
        (eligible, start, ran, ("eligible", "started")),
        (start, end, ran, ("started", "ended")),
        (np.maximum(submit, eligible), end, cancelled, ("submitted or eligible", "cancelled")),
    ):
        row = _first(mask & (later < earlier))
        if row is not None:
            before, after = words
            return f"{schedule.name(row)} is {after} at {later[row]}, before it is {before} at {earlier[row]}"
    return None


def run_time(schedule: Schedule) -> Breach:
    """Run time = end − start."""
    ran = schedule.ran
    between = schedule.of("end_time") - schedule.of("start_time")
    row = _first(ran & (schedule.of("run_time") != between))
    if row is None:
        return None
    return f"{schedule.name(row)} has run_time {schedule.of('run_time')[row]}, end − start is {between[row]}"


def time_limit(schedule: Schedule) -> Breach:
    """No component runs past its time limit + overrun; TIMEOUT ran exactly that long, or was found late.

    The time of suspensions does not count, and each suspension may delay the check. If a component was slowed
    for a power cap its limit is extended as its run time is.
    A component that ended with its reservation, or because the minutes of its QOS or association ran out,
    may have run for less, and so may one that was preempted and ended on its own in its grace time.
    """
    if schedule.shortened:
        return None
    allowed = schedule.of("time_limit") + schedule.overrun_s
    ran_for = schedule.of("end_time") - schedule.of("start_time") - schedule.suspended_time
    most = allowed + schedule.late_s * (1 + schedule.times_suspended)  # while suspended it is not found
    most = most + schedule.slowed_time  # of that, its limit grows by a part that no table has
    row = _first(schedule.ran & (ran_for > most))
    if row is not None:
        return f"{schedule.name(row)} ran for {ran_for[row]} s, its limit + overrun is {allowed[row]} s"
    least = allowed - schedule.launch_s * schedule.times_suspended  # so much longer it worked, in truth
    off = ((ran_for < least) & ~np.bool_(schedule.graced)) | (ran_for > most)
    row = _first(schedule.in_state("TIMEOUT") & off & ~_used_up(schedule) & ~_reserved(schedule))
    if row is not None:
        return (
            f"{schedule.name(row)} is TIMEOUT after {ran_for[row]} s, its limit + overrun is {allowed[row]} s"
        )
    return None


def _used_up(schedule: Schedule) -> np.ndarray:
    """bool[n]: held, or ended, by a limit of minutes."""
    if "limit_reason" not in schedule.components:
        return np.zeros(len(schedule.components), dtype=bool)
    words: np.ndarray = (
        schedule.components["limit_reason"].astype(str).str.contains("Minutes|GrpWall").to_numpy()
    )
    return words


def _reserved(schedule: Schedule) -> np.ndarray:
    """bool[n]: in a reservation, with which it may have ended."""
    if "reservation" not in schedule.components:
        return np.zeros(len(schedule.components), dtype=bool)
    named: np.ndarray = (schedule.components["reservation"].astype(str) != "").to_numpy()
    return named


def wait_dependency(schedule: Schedule) -> Breach:
    """Wait for dependencies = eligible − submit."""
    between = schedule.of("eligible_time") - schedule.of("submit_time")
    waited = schedule.of("wait_dependency")
    row = _first(schedule.ran & (waited != between))
    if row is None:
        return None
    return f"{schedule.name(row)} has wait_dependency {waited[row]}, eligible − submit is {between[row]}"


def waits_sum(schedule: Schedule) -> Breach:
    """The three waits are not negative and sum to start − submit."""
    waits = {name: schedule.of(f"wait_{name}") for name in ("dependency", "priority", "resources")}
    for name, wait in waits.items():
        row = _first(schedule.ran & (wait < 0))
        if row is not None:
            return f"{schedule.name(row)} has wait_{name} {wait[row]}, below 0"
    together = waits["dependency"] + waits["priority"] + waits["resources"]
    waited = schedule.of("start_time") - schedule.of("submit_time")
    row = _first(schedule.ran & (together != waited))
    if row is None:
        return None
    return f"{schedule.name(row)} has waits that sum to {together[row]}, start − submit is {waited[row]}"


def nodes_in_use(schedule: Schedule) -> Breach:
    """At no instant are more nodes of a module in use than it has in service."""
    for module, nodes in schedule.modules.items():
        if module in schedule.shared:
            continue  # nodes are not for one alone
        in_use, down = schedule.nodes_in_use(module), schedule.recorded(module, "nodes_down")
        instants = np.union1d(in_use[0], down[0])
        used, in_service = value_at(in_use, instants), nodes - value_at(down, instants)
        at = _first(used > in_service)
        if at is not None:
            instant = instants[at]
            inside = (
                schedule.in_module(module)
                & (schedule.of("start_time") <= instant)
                & (schedule.of("end_time") > instant)
            )
            ids = schedule.of("component_id")[inside & schedule.ran]
            some = ", ".join(map(str, ids[:5])) + (", ..." if len(ids) > 5 else "")
            return (
                f"{used[at]} nodes of {module} are in use at {instant} (components {some}),"
                f" {in_service[at]} are in service"
            )
    return None


def queue_order(schedule: Schedule) -> Breach:
    """Without backfill, in submission order, no component starts on a module before one ahead of it.

    Components that name an advance reservation wait for its nodes, others for the rest.
    """
    policy = schedule.policy
    if policy.get("backfill") != "none" or policy.get("order") != "fifo" or policy.get("may_start"):
        return None
    if schedule.several_placements or schedule.units or schedule.lost_runs or schedule.lost_waits:
        return None  # where a component waited is not in the tables
    if len({one.get("priority", 0) for one in schedule.system.get("partitions") or ()}) > 1:
        return None  # nor is its partition, and some go before others
    for module in schedule.modules:
        there = schedule.in_module(module) & ~schedule.in_reservation
        breach = _overtaken(schedule, np.flatnonzero(schedule.queued & there), there, module)
        if breach:
            return breach
    return None


def _overtaken(schedule: Schedule, waited: np.ndarray, there: np.ndarray, module: str) -> Breach:
    """Find one that waited while one behind it in the queue started on its module; both are ``there``.

    A component made eligible at an instant by a dependency may come too late for the
    pass in which another one starts at that instant, so its wait counts from the next. With a pass after
    each event so may one that only a place in its array let go.
    """
    submit, eligible, start = (schedule.of(f"{name}_time") for name in ("submit", "eligible", "start"))
    position = np.empty(len(submit), dtype=np.int64)
    position[np.argsort(submit, kind="stable")] = np.arange(len(submit))
    ran = np.flatnonzero(schedule.ran & there)
    by_start = ran[np.argsort(start[ran], kind="stable")]
    single = schedule.policy.get("passes") == "event"
    waits_from = eligible[waited] + ((eligible[waited] > submit[waited]) | single)
    low = np.searchsorted(start[by_start], waits_from)
    high = np.searchsorted(start[by_start], schedule.left_queue[waited])
    last = _largest_in(position[by_start], low, high)
    found = _first(last > position[waited])
    if found is None:
        return None
    ahead = int(waited[found])
    meanwhile = by_start[low[found] : high[found]]
    behind = int(meanwhile[np.argmax(position[meanwhile] > position[ahead])])
    return (
        f"{schedule.name(behind)} starts on {module} at {start[behind]} though {schedule.name(ahead)},"
        f" ahead of it in the queue, waits there from {eligible[ahead]}"
        f" to {_instant(schedule.left_queue[ahead])}"
    )


def _largest_in(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the largest of ``values[low:high]`` for each pair; −1 where that is empty.

    Every range is covered by two overlapping blocks whose length is a power of two.
    """
    largest = np.full(len(low), -1, dtype=np.int64)
    width, blocks = 1, values
    while len(blocks):
        mine = (high - low >= width) & (high - low < 2 * width)
        largest[mine] = np.maximum(blocks[low[mine]], blocks[high[mine] - width])
        blocks = np.maximum(blocks[:-width], blocks[width:])
        width *= 2
    return largest


def _instant(time: int) -> str:
    return "the end" if time == np.iinfo(np.int64).max else str(time)


def _first(wrong: np.ndarray) -> int | None:
    return int(np.argmax(wrong)) if wrong.any() else None
