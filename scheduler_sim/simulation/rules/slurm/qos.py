"""Whose jobs are, by association and QOS: what limits and preemption by QOS go by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scheduler_sim.arrays import Ints
from scheduler_sim.policy.shares import Associations, associations, default_qos
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.simulation.rules.numbers import Jobs, Numbering, numbered


class Whose(NamedTuple):
    """n components, in the order of their rows.

    Attributes
    ----------
    tree : all associations
    rows : int64[n], the association of each
    qos : [n], the QOS of each by name
    """

    tree: Associations
    rows: Ints
    qos: list[str]


class Owners:
    """Tells whose jobs are; associations keep their rows when more components come."""

    def __init__(self, keys: SlurmKeys) -> None:
        self._accounts = keys.accounts
        self._known: Numbering = {}

    def of(self, jobs: Jobs) -> Whose:
        """Return whose these jobs are."""
        pairs = numbered(self._known, jobs.text("user"), jobs.text("account"))
        users, accounts = zip(*self._known, strict=True) if self._known else ((), ())
        tree = associations(self._accounts, users, accounts)
        rows = tree.row[pairs]
        return Whose(tree, rows, qos_of(tree, rows.tolist(), jobs.text("qos").tolist()))


def qos_of(tree: Associations, rows: Sequence[int], named: Sequence[str]) -> list[str]:
    """Return the QOS of jobs of associations ``rows``: the one that is named, else the default one."""
    return [name or default_qos(tree, row) for name, row in zip(named, rows, strict=True)]
