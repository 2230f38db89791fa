"""An explanation in words."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_sim.report.explanation import Explanation, Lack, Phase, Reason, Reserved, Times, Verdict
from scheduler_sim.report.module_view import NEVER
from scheduler_sim.report.slurm_words import meaning
from scheduler_sim.report.wording import clock, count, date, duration, listing, paragraph, percent, plain

MEANING = {
    "dependency": "waiting for other components, or for its begin time",
    "priority": "enough nodes were idle, but the policy kept them for others",
    "resources": "not enough nodes were idle",
}


MEANING_OF_PARTS = {
    "priority": "enough nodes had what it asked for, but the policy kept them for others",
    "resources": "not enough nodes had what it asked for",
}
"""Where jobs share nodes."""

MEANING_UNDIVIDED = {
    "priority": "for nodes or for its turn: under slurm these are not told apart where jobs share nodes",
    "resources": "too few of its licences were free",
}
"""... under policy slurm."""


def text_of(said: Explanation) -> str:
    """Return the whole story, its parts apart by empty lines."""
    parts = [_headline(said), _moments(said), _waits(said), _reasons(said), _dependency(said)]
    parts += [_shortage(said), _licences(said), _kept(said), _arrival(said), _phases(said), _overtaking(said)]
    parts += [paragraph("Note: " + note) for note in said.notes]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _headline(said: Explanation) -> list[str]:
    asked = said.request
    who = [f"user {plain(asked.user)}"] if _known(asked.user) else []
    who += [f"app {plain(asked.app)}"] if _known(asked.app) else []
    who += [f"job {asked.modular_job_id}"] if asked.modular_job_id != asked.component_id else []
    title = f"Component {asked.component_id}"
    title += f" {plain(asked.name)!r}" if _known(asked.name) else ""
    title += f" ({', '.join(who)})" if who else ""
    limit = f" for up to {duration(asked.time_limit)}" if asked.time_limit >= 0 else ""
    of = f" of {asked.capacity:,}" if asked.capacity >= 0 else ""
    asks = f"asked for {asked.nodes:,}{of} nodes of {plain(asked.module)}{limit}"
    ran = said.times.end - said.times.start
    state = f"{said.state} after {duration(ran)}" if said.times.start >= 0 else said.state
    away = said.times.suspended
    state += f", of which it was suspended for others for {duration(away)}" if away else ""
    return paragraph(f"{title} {asks}: {state}. Policy {said.policy}.")


def _moments(said: Explanation) -> list[str]:
    times = said.times
    rows = [("submitted", times.submit), ("eligible", times.eligible)]
    rows += [("started", times.start), ("ended", times.end)]
    lines = []
    for word, moment in rows:
        if moment < 0:
            lines.append(f"  {word:<12}never")
            continue
        when = f"{at(times, moment):>14}"
        if times.unix_start is not None:
            when += f"   {date(times.unix_start + moment)}"
        lines.append(f"  {word:<12}{when}")
    return ["Times are days and h:mm:ss after the first submission of the trace.", *lines]


def _waits(said: Explanation) -> list[str]:
    if said.state == "REJECTED":
        return paragraph(f"It was rejected when it was submitted: {said.reason}.")
    if not said.wait and said.times.start >= 0:
        return ["It did not wait: it started at the instant it was submitted."]
    if said.times.start >= 0:
        head = f"It waited {duration(said.wait)}:"
    elif said.state == "CANCELLED":
        head = f"It was cancelled after {duration(said.wait)} of waiting:"
    else:
        head = f"It never started; at the end of the record it had waited {duration(said.wait)}:"
    of_parts = MEANING_UNDIVIDED if said.reasons and not said.shortage else MEANING_OF_PARTS
    meaning_of = MEANING if said.whole_nodes else MEANING | of_parts
    if said.licences:
        meaning_of = meaning_of | {"resources": "too few of its licences, or of what it asked for, were free"}
    lines = [head]
    for wait in said.waits:
        if wait.seconds:
            length, share = duration(wait.seconds), percent(wait.share)
            lines.append(f"  {wait.kind:<12}{length:>14}{share:>7}   {meaning_of[wait.kind]}")
    if said.reason:
        lines += paragraph(f"The reason: {said.reason}.")
    return lines


def _reasons(said: Explanation) -> list[str]:
    """What squeue would have shown, and the nodes in question."""
    lines = [f"In Slurm's words (the REASON that squeue shows) it waited {duration(said.wait)} for:"]
    for reason in said.reasons:
        words = ", ".join(reason.words)
        lines.append(f"  {words:<20}{duration(reason.seconds):>14}   {'; '.join(_meaning(said, reason))}")
    return (lines if said.reasons else []) + (paragraph(said.confined) if said.confined else [])


def _meaning(said: Explanation, reason: Reason) -> Iterable[str]:
    """What the words of a reason mean; of nodes that jobs share, not that they were idle."""
    of_parts = {"Resources": "resources", "Priority": "priority"}
    word = reason.words[0]
    if said.shortage and said.shortage.each and len(reason.words) == 1 and word in of_parts:
        return [MEANING_OF_PARTS[of_parts[word]]]
    return meaning(reason)


def _dependency(said: Explanation) -> list[str]:
    if said.dependency is None:
        return []
    times = said.times
    text = f"It could not be scheduled before {at(times, times.eligible)}"
    ids = said.dependency.component_ids
    if ids:
        verb = "is what" if len(ids) == 1 else "are what"
        text += (
            f". {_components(ids)} ended at that very instant and probably {verb} it waited for (a result"
            " does not record dependencies)."
        )
    else:
        text += (
            ": it depended on other components, was held, or had a begin time"
            " (a result does not record which)."
        )
    return paragraph(text)


def _shortage(said: Explanation) -> list[str]:
    """What it lacked of nodes that jobs share, and who had that."""
    found = said.shortage
    if found is None:
        return []
    if found.in_percent:
        asked = (
            f"On {count(said.request.nodes, 'node')} it needed {found.each} in all. While it was in the queue"
            " so much of that was free on the best ones, at most as many:"
        )
    else:
        asked = (
            f"Of each of the {said.request.nodes:,} it needed it asked for {found.each or 'all there is'}."
            " While it was in the queue there were, with enough of it free:"
        )
    lines = paragraph(f"It could use {count(found.nodes, 'node')} of {found.where}. {asked}")
    unit, too = ("%", "too little") if found.in_percent else ("nodes", "too few")
    width = max(14, *(len(lack.resource) + 1 for lack in found.lacks))
    for lack in found.lacks:
        nodes = f"{_range(lack.least, lack.most)} {unit}"
        few = f"{too} for {duration(lack.seconds)}" if lack.seconds else f"never {too}"
        lines.append(f"  {lack.resource:<{width}}{nodes:>18}   {few}")
    for kind in found.kinds:
        had = f"{_range(kind.least, kind.most)} of {kind.nodes:,}"
        lines.append(f"  of {kind.name:<{width - 3}}{had:>12} nodes   had all of it")
    if said.shortage and found.together:
        lines += paragraph(f"Short, at a time: {'; '.join(_together(*one) for one in found.together)}.")
    for lack in found.lacks:
        lines += _holders(
            said, f"While {lack.resource} {'was' if lack.resource == 'memory' else 'were'} short", lack
        )
    return lines


def _together(names: tuple[str, ...], seconds: int) -> str:
    if not names:
        return f"for {duration(seconds)} nothing by itself, but not enough nodes had all of it"
    alone = " alone" if len(names) == 1 else ""
    return f"for {duration(seconds)} {listing(names)}{alone}"


def _licences(said: Explanation) -> list[str]:
    lines = []
    for lack in said.licences:
        free = _range(lack.least, lack.most)
        lines.append(f"Licence {lack.resource}: {free} free, too few for {duration(lack.seconds)}.")
        lines += _holders(said, "Meanwhile", lack)
    return lines


def _holders(said: Explanation, when: str, lack: Lack) -> list[str]:
    """Who had a resource while it was short."""
    if not lack.holders:
        return []
    more = lack.holding - len(lack.holders)
    who = listing(
        f"{one.component_id} ({f'user {plain(one.user)}, ' if _known(one.user) else ''}{percent(one.share)})"
        for one in lack.holders
    )
    what = "them" if lack in said.licences else f"{plain(lack.resource)} on these nodes"
    text = (
        f"{when}, who had {what}, by amount and time: component{'s' if len(lack.holders) > 1 else ''} {who}"
    )
    users = [f"{plain(user)} {percent(share)}" for user, share in lack.users if _known(user)]
    text += f" and {more:,} more" if more > 0 else ""
    text += f"; by user: {', '.join(users)}" if more > 0 and users else ""
    return paragraph(text + ".")


def _kept(said: Explanation) -> list[str]:
    """For whom nodes were kept that it could have had."""
    kept, times = said.kept, said.times
    if kept is None or not any("Priority" in one.words for one in said.reasons):
        return []
    span = f"From {at(times, kept.moment)} on, for {duration(kept.until - kept.moment)},"
    text = f"{span} there was enough for it ({count(kept.nodes, 'node')}). "
    if kept.reservations:
        text += (
            f"Reservation{'s' if len(kept.reservations) > 1 else ''} {listing(kept.reservations)} had some of"
            " these nodes before its limit was over. "
        )
    if kept.takers:
        who = listing(
            f"{one.component_id} ({count(one.nodes, 'node')}, from {at(times, one.start)})"
            for one in kept.takers
        )
        text += (
            f"{'These' if len(kept.takers) > 1 else 'This'} waited, too, and took some of these nodes before"
            f" its limit would have been over, so that they were kept for it or for them: {who}."
        )
    elif not kept.reservations:
        text += (
            "Nobody who waited took these nodes within its limit: it waited for the next pass of the"
            " schedulers, for nodes that were completing, or behind others by its priority or a limit."
        )
    note = " (A result does not hold the plans of the backfill scheduler.)" if kept.takers else ""
    return paragraph(text.strip() + note)


def _range(least: int, most: int) -> str:
    return f"{least:,} to {most:,}" if most > least else f"{least:,}"


def _arrival(said: Explanation) -> list[str]:
    arrival, asked, times = said.arrival, said.request, said.times
    if arrival is None:
        return []
    down = f" and {arrival.down:,} out of service" if arrival.down else ""
    whole, where = asked.capacity, plain(asked.module)
    if said.shortage:
        whole, where = said.shortage.nodes, said.shortage.where
    text = (
        f"When it became eligible, {arrival.idle:,} of the {whole:,} nodes of {where}"
        f" {said.were_idle}{down}; it needed {asked.nodes:,}. "
    )
    if arrival.ahead > 0:
        text += f"{count(arrival.ahead, 'component')} stood before it in the queue, asking for"
        text += f" {count(arrival.ahead_nodes, 'node')} in all. "
    elif arrival.ahead == 0:
        text += "Nothing stood before it in the queue. "
    if not arrival.holders:
        return paragraph(text)
    most = (
        "by nodes and time left these held the most"
        if arrival.running > len(arrival.holders)
        else "they were"
    )
    text += f"{count(arrival.running, 'component')} ran there; {most}:"
    lines = paragraph(text)
    for holder in arrival.holders:
        until = f"until {at(times, holder.end)}"
        if holder.planned_end != holder.end:
            until += f", planned until {at(times, holder.planned_end)}"
        who = f"user {plain(holder.user)}" if _known(holder.user) else ""
        lines.append(f"  {holder.component_id:>9}  {who:<16} {count(holder.nodes, 'node'):>12}  {until}")
    return lines


def _phases(said: Explanation) -> list[str]:
    times, phases = said.times, said.phases
    if not phases:
        return []
    shown = sum(phase.seconds for phase in phases)
    if said.phase_count > len(phases):
        head = (
            f"The first in the queue changed; of {said.phase_count:,} phases the {len(phases)} longest"
            f" make up {percent(shown / said.phase_seconds)} of the time:"
        )
    else:
        head = "While it was in the queue:"
    lines = paragraph(head)
    for phase in phases:
        share = percent(phase.seconds / said.phase_seconds)
        lines.append(
            f"  {at(times, phase.start)} to {at(times, phase.end)} ({duration(phase.seconds)}, {share})"
        )
        lines += paragraph(_phase(said, phase), indent=4)
    return lines


def _phase(said: Explanation, phase: Phase) -> str:
    idle, were, had = _range(phase.idle_least, phase.idle_most), said.were_idle, "idle"
    if said.shortage and said.shortage.each:
        had = "had"
    own = phase.front == said.request.component_id
    if own:
        text = "It was first in the queue itself."
    elif phase.front >= 0:
        user = f"user {plain(phase.front_user)}, " if _known(phase.front_user) else ""
        text = f"Component {phase.front} ({user}{count(phase.front_nodes, 'node')}) was first in the queue."
    else:
        text = ""
    if phase.resources and phase.priority:
        text += (
            f" For {duration(phase.resources)} too few nodes {were}, for {duration(phase.priority)} enough"
            f" ({idle} {had}, {said.request.nodes:,} needed)."
        )
    elif phase.resources:
        text += f" Too few nodes {were} all the time ({idle} {had}, {said.request.nodes:,} needed)."
    else:
        text += f" Enough nodes {were} all the time ({idle} {had}, {said.request.nodes:,} needed)."
    if phase.verdict is not None:
        text += " " + _verdict(said, phase, phase.verdict)
    return text.strip()


def _verdict(said: Explanation, phase: Phase, verdict: Verdict) -> str:
    times, nodes = said.times, said.request.nodes
    moment, end = at(times, verdict.moment), at(times, verdict.would_end)
    front = f"component {phase.front}"
    many = f" (one of {phase.passes:,} such instants)" if phase.passes > 1 else ""
    if verdict.rule == "blocked":
        return f"Without backfill nothing may pass a blocked front: it sat behind {front}."
    if verdict.rule == "shadow":
        shadow = f"the shadow time {at(times, verdict.bound)}" if verdict.bound < NEVER else "any shadow time"
        extra = (
            "none was extra" if verdict.left <= 0 else f"only {verdict.left:,} {_were(verdict.left)} extra"
        )
        asked = f"it asked for {count(nodes, 'node')} where {extra}"
        if 0 <= nodes <= verdict.left:
            asked = "this policy lets nothing use the extra nodes"
        return (
            f"It sat behind the reservation of {front}: at {moment}{many}, with {verdict.idle:,} idle, it"
            f" would have ended at {end}, after {shadow}, and {asked}."
        )
    if verdict.rule == "reserved" and verdict.bound >= 0:
        met = f", reserved for {_reserved(times, verdict.reserved)}" if verdict.reserved else ""
        return (
            f"At {moment}{many} it would have run until {end}, but from {at(times, verdict.bound)} on only"
            f" {verdict.left:,} of the {nodes:,} nodes it needed {_were(verdict.left)} free{met}."
        )
    if verdict.rule == "reserved" and phase.front == said.request.component_id:
        return (
            "The idle nodes were promised to components that stood before it earlier; promises that are kept"
            " cannot be recomputed from a result."
        )
    if verdict.rule == "reserved":
        return (
            f"It sat behind the reservations of the components before it, first {front}; they cannot all be"
            " recomputed from a result."
        )
    if said.kept and (said.kept.takers or said.kept.reservations):
        return "For whom nodes were kept is told above."
    if said.licences:
        return "Its licences are told of above."
    return (
        f"Nodes alone do not say why it was kept at {moment}{many}: another module it may use, a shared"
        " resource, or a rule of the policy that a result does not record."
    )


def _reserved(times: Times, reserved: tuple[Reserved, ...]) -> str:
    return listing(
        f"{one.component_id} ({count(one.nodes, 'node')} {at(times, one.start)} to {at(times, one.end)})"
        for one in reserved
    )


def _overtaking(said: Explanation) -> list[str]:
    passed, times = said.overtaking, said.times
    if passed is None:
        return []
    if not passed.count:
        return ["Nothing that stood later in the queue of its module started before it."]
    text = (
        f"{count(passed.count, 'component')} that stood later in the queue of its module started before it,"
        f" with {passed.node_seconds:,} node-seconds in all."
        f" {_of_them(passed.smaller, passed.count)} asked for fewer nodes than it;"
        f" {_of_them(passed.gone, passed.count).lower()} had ended by the time it started."
    )
    text += " The largest:" if passed.count > len(passed.top) else " These were:"
    lines = paragraph(text)
    for one in passed.top:
        who = f"user {plain(one.user)}" if _known(one.user) else ""
        lines.append(
            f"  {one.component_id:>9}  {who:<16} {count(one.nodes, 'node'):>12}  {at(times, one.start)} to"
            f" {at(times, one.end)}"
        )
    return lines


def at(times: Times, moment: int) -> str:
    """Write a moment as the time since the first submission."""
    return "never" if moment >= NEVER else clock(moment - times.origin)


def _components(ids: tuple[int, ...]) -> str:
    return ("Component " if len(ids) == 1 else "Components ") + listing(ids)


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _known(name: str) -> bool:
    return name not in ("", "-1", "NA")


def _of_them(number: int, whole: int) -> str:
    if number == whole:
        return "All of them"
    return f"{number:,} of them" if number else "None of them"
