"""The wait of one component, replayed from the result: phases, verdicts, overtaking."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scheduler_sim.arrays import Ints
from scheduler_sim.policy.schemes import BY_NAME, KeptBack, Scheme
from scheduler_sim.report.explanation import Arrival, Holder, Overtaker, Overtaking, Phase, Reserved, Verdict
from scheduler_sim.report.fronts import fronts
from scheduler_sim.report.module_view import NEVER, ModuleView
from scheduler_sim.report.queue_order import QueueOrder, can_be_recomputed
from scheduler_sim.report.reservations import Plan, shadow_of
from scheduler_sim.result.steps import value_at

TOP = 5
MOST_PLANNED = 300
"""Reservations recomputed for one verdict; those of the first in the queue matter most."""


MULTIFACTOR = "priority/multifactor"
"""Slurm's own order, of ages, shares and more that a result does not record."""

TIERS = "priority of partitions"
"""An order by partitions first, of which the result does not say who was in which."""

MOST_TRIED = 200
"""Moments tried for a verdict under an order that moves: the front may have changed unseen."""


@dataclass(frozen=True)
class Rules:
    """What of a policy decides which components may pass which."""

    order: Any
    scheme: Scheme
    kept_back: KeptBack
    depth: int
    replan: str
    candidate_order: Any
    extra_rule: bool
    candidate_time: str
    shadow: str
    vetoes: bool

    @classmethod
    def of(cls, policy: Mapping[str, Any]) -> Rules:
        """Read them from the policy in a manifest; a missing key has its default."""
        backfill = str(policy.get("backfill") or "none")
        order = policy.get("order") or "fifo"
        if backfill == "slurm" and (policy.get("slurm") or {}).get("PriorityType") == MULTIFACTOR:
            order = MULTIFACTOR
        scheme = BY_NAME.get(backfill, Scheme.unknown(backfill))
        depth = int(policy.get("depth") or scheme.depth)
        extra_rule, vetoes = policy.get("extra_rule"), bool(policy.get("may_start"))
        kept_back: KeptBack = "plan" if depth > 1 else scheme.kept_back
        return cls(
            order=order,
            scheme=scheme,
            kept_back="" if vetoes else kept_back,
            depth=NEVER if depth < 0 else depth,
            replan=str(policy.get("replan") or "scratch"),
            candidate_order=policy.get("backfill_order") or order,
            extra_rule=True if extra_rule is None else bool(extra_rule),
            candidate_time=str(policy.get("candidate_time") or "limit"),
            shadow=str(policy.get("shadow") or "dynamic"),
            vetoes=vetoes,
        )

    def among(self, priorities: Collection[int]) -> Rules:
        """Return the rules where partitions of these priorities share nodes."""
        if len(priorities) < 2 or self.order == MULTIFACTOR:
            return self
        return replace(self, order=TIERS, candidate_order=TIERS)


@dataclass(frozen=True)
class Replay:
    """One component's wait in its module.

    Attributes
    ----------
    view : what touched the wait; one : its position there
    order : the queue order, None where it cannot be recomputed
    candidates : the order in which candidates are tried, None likewise
    ids, users : component id and user by row of the result
    """

    view: ModuleView
    one: int
    rules: Rules
    order: QueueOrder | None
    candidates: QueueOrder | None
    ids: NDArray[np.int64]
    users: pd.Series[Any]

    @classmethod
    def of(cls, view: ModuleView, row: int, rules: Rules, table: pd.DataFrame, first_submit: int) -> Replay:
        """Prepare the replay of the component in ``row`` of the result's components."""

        def order(name: Any) -> QueueOrder | None:
            return view.queue_order(name, first_submit) if can_be_recomputed(name) else None

        ids = table["component_id"].to_numpy(dtype=np.int64)
        orders = order(rules.order), order(rules.candidate_order)
        return cls(view, view.position(row), rules, *orders, ids, table["user"])

    def id(self, position: int) -> int:
        """Return the component id at a position."""
        return int(self.ids[self.view.row[position]])

    def user(self, position: int) -> str:
        """Return the user of the component at a position."""
        return str(self.users.iloc[int(self.view.row[position])])

    def arrival(self, beside: Ints | None = None) -> Arrival:
        """Return how the module stood when the component became eligible.

        ``beside`` are the rows of those that had nodes it could use, if not all did.
        """
        view, one = self.view, self.one
        moment = view.first
        running = view.running(moment)
        running = running[running != one]
        if beside is not None:
            running = running[np.isin(view.row[running], beside)]
        held = view.nodes[running].astype(np.float64) * (view.end[running] - moment)
        most = running[np.argsort(-held, kind="stable")[:TOP]]
        planned = view.planned_end(most, moment)
        waiting = view.waiting(moment)
        ahead = waiting[~self.order.after(waiting, one, moment)] if self.order else waiting[:0]
        ahead = ahead[ahead != one]
        return Arrival(
            moment=moment,
            idle=int(view.idle(moment)),
            down=int(value_at(view.down, np.asarray(moment))),
            running=len(running),
            ahead=len(ahead) if self.order else -1,
            ahead_nodes=int(view.nodes[ahead].sum()),
            holders=tuple(
                Holder(self.id(p), self.user(p), int(view.nodes[p]), int(view.end[p]), int(end))
                for p, end in zip(most.tolist(), planned, strict=True)
            ),
        )

    def unavailable(self) -> int:
        """Return the seconds in which nodes out of service would have been enough, with the idle ones."""
        view, needed = self.view, self.view.nodes[self.one]
        instants = view.instants()
        spans = np.diff(np.append(instants, view.last))
        idle = view.idle(instants)
        return int(spans[(idle < needed) & (idle + value_at(view.down, instants) >= needed)].sum())

    def phases(self) -> list[Phase]:
        """Return the wait after eligibility, split where the front of the queue changed."""
        view, one = self.view, self.one
        instants = view.instants()
        spans = np.diff(np.append(instants, view.last))
        idle = view.idle(instants)
        fits = idle >= view.nodes[one]
        first = fronts(view, self.order, one, instants) if self.order else np.full(len(instants), -1)
        begins = np.flatnonzero(np.diff(first, prepend=-2))
        kept = np.where(fits, spans, 0)
        columns = zip(
            instants[begins].tolist(),
            [*instants[begins[1:]].tolist(), view.last],
            np.add.reduceat(spans - kept, begins).tolist(),
            np.add.reduceat(kept, begins).tolist(),
            first[begins].tolist(),
            np.minimum.reduceat(idle, begins).tolist(),
            np.maximum.reduceat(idle, begins).tolist(),
            np.add.reduceat(fits.astype(np.int64), begins).tolist(),
            strict=True,
        )
        return [
            Phase(
                start=start,
                end=end,
                resources=resources,
                priority=priority,
                front=self.id(front) if front >= 0 else -1,
                front_user=self.user(front) if front >= 0 else "",
                front_nodes=int(view.nodes[front]) if front >= 0 else -1,
                idle_least=least,
                idle_most=most,
                passes=passes,
            )
            for start, end, resources, priority, front, least, most, passes in columns
        ]

    def judged(self, phase: Phase) -> Phase:
        """Return the phase with the verdict of the longest stretch in which enough nodes were idle."""
        if not phase.priority or self.order is None:
            return phase
        near = self.view.cut(phase.start, phase.end)
        local = replace(
            self,
            view=near,
            one=near.position(int(self.view.row[self.one])),
            order=_over(near, self.order),
            candidates=_over(near, self.candidates),
        )
        front = int(np.flatnonzero(self.ids[near.row] == phase.front)[0])
        moment = local.telling_moment(front, phase)
        return phase if moment < 0 else replace(phase, verdict=local.verdict(front, moment, phase.start))

    def telling_moment(self, front: int, phase: Phase) -> int:
        """Return where the longest stretch begins that had enough nodes idle behind this front, or -1."""
        view, order = self.view, self.order
        assert order is not None
        instants = view.instants()
        spans = np.diff(np.append(instants, phase.end))
        kept = np.flatnonzero(view.idle(instants) >= view.nodes[self.one])
        longest = kept[np.argsort(-spans[kept], kind="stable")]
        if not order.moves:
            return int(instants[longest[0]])
        moments = instants[longest[:MOST_TRIED]].tolist()
        return next((m for m in moments if order.first(view.waiting(m), m) == front), -1)

    def verdict(self, front: int, moment: int, since: int) -> Verdict:
        """Return why the component did not start at ``moment`` with enough nodes idle.

        ``since`` is when ``front`` became the front, for schedulers that keep its first shadow.
        """
        view, one, rules = self.view, self.one, self.rules
        idle = int(view.idle(moment))
        ran = int(view.end[one] - view.start[one])
        span = ran if rules.candidate_time == "run" and ran > 0 else int(view.limit[one])
        verdict = Verdict("other", moment, idle, moment + span)
        if rules.kept_back == "blocked" and front != one:
            return replace(verdict, rule="blocked")
        if view.able is not None:  # planned node by node: what is free at a time does not tell
            behind = rules.kept_back in ("shadow", "plan") and front != one
            return replace(verdict, rule="reserved" if behind else "other")
        if rules.kept_back == "shadow" and front != one:
            return self._against_shadow(verdict, front, since if rules.shadow == "static" else moment)
        if rules.kept_back == "plan" and rules.replan == "scratch":
            verdict = self._against_plan(verdict)
        if verdict.rule == "other" and rules.kept_back == "plan" and (front != one or rules.replan == "keep"):
            return replace(verdict, rule="reserved")
        return verdict

    def _against_shadow(self, verdict: Verdict, front: int, planned_at: int) -> Verdict:
        """Apply the two tests of EASY as they stood when the component was tried."""
        view, one = self.view, self.one
        running = view.running(planned_at)
        nodes = int(view.nodes[front])
        shadow = shadow_of(view, nodes, running, int(view.idle(planned_at)), planned_at)
        later = running[view.start[running] == planned_at]
        if self.candidates is not None:
            later = later[self.candidates.after(later, one, planned_at)]
        past_shadow = later[view.planned_end(later, planned_at) > shadow.time]
        extra = shadow.extra + int(view.nodes[past_shadow].sum())
        passes = verdict.would_end <= shadow.time or (self.rules.extra_rule and view.nodes[one] <= extra)
        if shadow.fits_now or passes:
            return verdict
        return replace(verdict, rule="shadow", bound=shadow.time, left=extra)

    def _against_plan(self, verdict: Verdict) -> Verdict:
        """Reserve for everyone before the component and say which reservations it would have hit."""
        view, one, order = self.view, self.one, self.order
        assert order is not None
        moment = verdict.moment
        running = view.running(moment)
        late = running[view.start[running] == moment]
        late = late[order.after(late, one, moment)]
        running = np.setdiff1d(running, late)
        idle = verdict.idle + int(view.nodes[late].sum())
        plan = Plan(moment, idle, view.planned_end(running, moment), view.nodes[running])
        waiting = order.sorted(view.waiting(moment), moment)
        ahead = waiting[: int(np.flatnonzero(waiting == one)[0])]
        promised: list[Reserved] = []
        for position in ahead[: min(self.rules.depth, MOST_PLANNED)].tolist():
            nodes, limit = int(view.nodes[position]), int(view.limit[position])
            start = plan.earliest(nodes, limit)
            if start < NEVER:
                plan.take(nodes, start, start + limit)
                promised.append(Reserved(self.id(position), nodes, start, start + limit))
        lack = plan.lack(int(view.nodes[one]), verdict.would_end)
        if lack is None:
            return verdict
        bound, left = lack
        met = [one for one in promised if one.start <= bound < one.end]
        met.sort(key=lambda one: -one.nodes)
        return replace(verdict, rule="reserved", bound=bound, left=left, reserved=tuple(met[:TOP]))

    def overtaking(self) -> Overtaking | None:
        """Return what started before the component though later in queue order, None if unknown."""
        if self.order is None:
            return None
        view, one = self.view, self.one
        started = np.flatnonzero((view.start >= view.first) & (view.start < view.last))
        passed = started[self.order.after(started, one, view.start[started])]
        work = view.nodes[passed] * (view.end[passed] - view.start[passed])
        top = passed[np.argsort(-work, kind="stable")[:TOP]]
        return Overtaking(
            count=len(passed),
            node_seconds=int(work.sum()),
            smaller=int((view.nodes[passed] < view.nodes[one]).sum()),
            gone=int((view.end[passed] <= view.last).sum()),
            top=tuple(
                Overtaker(self.id(p), self.user(p), int(view.nodes[p]), int(view.start[p]), int(view.end[p]))
                for p in top.tolist()
            ),
        )


def _over(view: ModuleView, order: QueueOrder | None) -> QueueOrder | None:
    return None if order is None else view.queue_order(order.name, order.first_submit)
