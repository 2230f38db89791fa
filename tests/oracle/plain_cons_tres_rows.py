"""The jobs of a partition in rows, in which no core is had twice (part_data.c, job_resources.c).

Slurm puts the rows in order, the fullest first, when a test goes through them; here they always are. The jobs
that are gone in a prediction leave it together, where Slurm makes the rows anew after each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.oracle.plain_cons_tres_records import Share, SharedPartition


@dataclass(eq=False)
class Tenant:
    """A job that runs: its shares, its partition, the kind of its nodes, and the CPUs that it asked for."""

    number: int
    shares: dict[int, Share]
    part: SharedPartition
    kind: int
    cpus: int = 0

    @property
    def first_core(self) -> tuple[int, int]:
        node = min(self.shares)
        return node, min(self.shares[node].cores)

    @property
    def size(self) -> int:
        return sum(len(share.cores) for share in self.shares.values())

    def meets(self, other: Tenant) -> bool:
        """Whether they have a core in common."""
        both = self.shares.keys() & other.shares.keys()
        return any(self.shares[node].cores & other.shares[node].cores for node in both)


class Rows:
    """The rows of a partition, the fullest first."""

    def __init__(self, rows: Iterable[list[Tenant]]):
        self.rows = [list(row) for row in rows]

    def join(self, tenant: Tenant) -> None:
        """A job goes into the first row that has room for it."""
        assert _put(self.rows, tenant)

    def leave(self, gone: set[int]) -> None:
        """Jobs have ended: all others are put in anew, by their first cores, then by their CPUs.

        If that leaves one without a row, all stay where they were.
        """
        self.rows = [[tenant for tenant in row if tenant.number not in gone] for row in self.rows]
        _sort(self.rows)
        left = [tenant for row in self.rows for tenant in row]
        anew: list[list[Tenant]] = [[] for _ in self.rows]
        placed = [_put(anew, one) for one in sorted(left, key=lambda one: (one.first_core, one.cpus))]
        if all(placed):
            self.rows = anew


def _put(rows: list[list[Tenant]], tenant: Tenant) -> bool:
    for row in rows:
        if not any(tenant.meets(other) for other in row):
            row.append(tenant)
            _sort(rows)
            return True
    return False


def _sort(rows: list[list[Tenant]]) -> None:
    """As Slurm does it: rows change places, so that equal ones may come in another order."""
    size = [sum(tenant.size for tenant in row) for row in rows]
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            if size[j] > size[i]:
                rows[i], rows[j], size[i], size[j] = rows[j], rows[i], size[j], size[i]
