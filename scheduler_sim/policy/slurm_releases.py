"""What differs between releases of Slurm, as far as it decides when and where jobs start.

A rule asks for a difference by its name, and never for a number. The page docs/reference/slurm.md has the
table. Of a release its last patch counts; a patch level may be written (26.05.3), and changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_sim.system.releases import RELEASES


class Difference(NamedTuple):
    """A rule that holds from one release on."""

    name: str
    since: str
    what: str
    source: str


DIFFERENCES = (
    Difference(
        "aligned",
        "22.05",
        "groups of planned ends begin at half minutes of the clock; backfill tries where its plan gains"
        " nodes",
        "22.05 cons_common/job_test.c 2008, backfill.c 2392",
    ),
    Difference(
        "plans_started",
        "22.05",
        "what backfill starts on whole nodes stands in its plan",
        "22.05 backfill.c 2703",
    ),
    Difference(
        "array_limit_planned",
        "23.02",
        "backfill plans no more tasks of an array than its limit lets run beside those that do",
        "23.02.8 backfill.c 3099",
    ),
    Difference(
        "leaves_by_cpus",
        "23.02",
        "topology/tree: whether a leaf holds what is still wanted goes by CPUs, too",
        "26.05.3 topology/tree/eval_nodes_tree.c 60",
    ),
    Difference(
        "near_leaves_first",
        "24.05",
        "topology/tree: a nearer leaf comes first if it suffices, whatever fits more tightly; nodes taken"
        " count no more for what is above their leaf",
        "26.05.3 topology/tree/eval_nodes_tree.c 124, 800",
    ),
    Difference(
        "run_minutes_of_each",
        "24.05",
        "MaxTRESRunMinsPerUser and MaxTRESRunMinsPerAccount of a QOS are enforced",
        "26.05.3 slurmctld/acct_policy.c 2801, 2839",
    ),
    Difference(
        "preempted_in_grace",
        "24.05",
        "a job that ends by itself in its GraceTime is preempted: PREEMPTED, or requeued if that is its mode",
        "26.05.3 slurmctld/job_mgr.c 6196, 6270, proc_req.c 2418",
    ),
    Difference(
        "main_on_seconds",
        "23.11",
        "the main scheduler's passes begin on whole seconds, and see what happened before",
        "26.05.3 slurmctld/controller.c 2673",
    ),
    Difference(
        "completing_last",
        "23.11",
        "a slot that would begin now has completing nodes last; weights by limits of nodes hold for starts,"
        " not for plans",
        "26.05.3 cons_tres/job_test.c 2538, 2962",
    ),
    Difference(
        "window_kept",
        "23.11",
        "a job is not tried at a start behind the window of the plan",
        "23.11.11 backfill.c 2436",
    ),
    Difference(
        "ends_rounded_up",
        "24.11",
        "the end of a slot in the plan is rounded up to bf_resolution, not down",
        "26.05.3 backfill.c 1902, 1616",
    ),
    Difference(
        "overlap_first",
        "24.11",
        "whether a slot ahead overlaps the plan is asked before anything else of it",
        "26.05.3 backfill.c 3271",
    ),
    Difference(
        "plans_know_nodes",
        "24.11",
        "to limits of nodes, a node of a plan counts nothing on which others run that count there",
        "26.05.3 acct_policy.c 174, cons_tres/job_test.c 2253",
    ),
    Difference(
        "ranked_at_requeue",
        "24.11",
        "a job that is requeued gets a new priority at once: under priority/basic it goes behind all others",
        "26.05.3 slurmctld/job_mgr.c 16947",
    ),
    Difference(
        "future_starts",
        "24.11",
        "a job tried at a start ahead is tested with what will have ended by then, and not with what is free"
        " now; of what ends later only that counts which ends by the next try",
        "26.05.3 cons_tres/job_test.c 2492, 2668, 2727, 2954",
    ),
    Difference(
        "next_slot_tried",
        "24.11",
        "a job behind which no nodes are gained is tried again behind the next slot",
        "26.05.3 backfill.c 3111",
    ),
    Difference(
        "end_of_chosen",
        "25.05",
        "a predicted start is the end of the last job that leaves the nodes chosen, not of the last in its"
        " group",
        "26.05.3 cons_tres/job_test.c 2668, 2886",
    ),
    Difference(
        "requeue_delay_read",
        "25.11",
        "requeue_delay says when a requeued job is eligible, in place of cred_expire",
        "26.05.3 slurmctld/job_mgr.c 16764",
    ),
    Difference(
        "first_that_fits",
        "26.05",
        "a job that may have one node takes the first that fits, by weight and number, not the tightest",
        "26.05.3 cons_tres/job_test.c 801, slurmctld/job_mgr.c 8990",
    ),
)
_SINCE = {one.name: one.since for one in DIFFERENCES}
OF_RULES = tuple(_SINCE)
"""Names of the differences that the engine asks for."""


def holds_in(name: str, release: str) -> bool:
    """Return whether a difference holds in a release."""
    return RELEASES.index(release) <= RELEASES.index(_SINCE[name])
